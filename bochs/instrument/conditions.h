/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conditions by which recording starts and stops and the run ends; see conditions.cc. */
#ifndef LAPLACE_INSTRUMENT_CONDITIONS_H
#define LAPLACE_INSTRUMENT_CONDITIONS_H

#include "select/when.h"

/* Read what the bochsrc says, before there is anything to be closed. */
void laplace_conditions_read(void);
/* Are there any? */
bool laplace_conditions_any(void);
/* From power-on. */
void laplace_conditions_begin(void);

/* For a checkpoint: have start and stop come?  And go on from one. */
void laplace_conditions_where(bool *started, bool *stopped);
void laplace_conditions_continue(bool started, bool stopped);

/* Has one come true by the host's clock, or the trace's size? */
void laplace_conditions_look_at_host(void);

/* The guest's kernel says this: before it is in the trace, and after. */
void laplace_conditions_before(const struct kernel_trace_record *record);
void laplace_conditions_after(const struct kernel_trace_record *record);

#endif
