/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When it is recorded: while somebody wants it, and within windows of time. */
#ifndef LAPLACE_INSTRUMENT_TIME_WINDOWS_H
#define LAPLACE_INSTRUMENT_TIME_WINDOWS_H

#include <cstdint>

#include "collect/windows.h"

/* From power-on.  No windows (NULL) are one without an end; `wanted`: see laplace_want(). */
void laplace_time_windows_begin(struct lpl_windows *windows, bool wanted);

/* The bochsrc, the guest, the debugger or whoever steers the run wants it recorded from now on, or not. */
void laplace_want(bool on);
/* The same where a trace of instructions begins next: for a timer's or a display's callback. */
void laplace_want_soon(bool on);
/* What was wanted last. */
bool laplace_is_wanted(void);

/* The guest's kernel says this, and it is not yet in the trace. */
void laplace_time_windows_before(const struct kernel_trace_record *record);

/* Record, or do not, as it should be now. */
void laplace_time_windows_look(void);
/* To be called whenever that has changed. */
void laplace_when_switched(void (*switched)(void));

/* Go on from a checkpoint. */
void laplace_time_windows_continue(bool wanted, uint64_t begun);

/* How many have begun. */
uint64_t laplace_time_windows_begun(void);

#endif
