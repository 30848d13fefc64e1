/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conditions by which recording starts and stops and the run ends; see conditions.cc. */
#ifndef LAPLACE_INSTRUMENT_CONDITIONS_H
#define LAPLACE_INSTRUMENT_CONDITIONS_H

#include "select/when.h"

/* Read what the bochsrc says, before there is anything to be closed. */
void laplace_conditions_read(void);
/* From power-on. */
void laplace_conditions_begin(void);

/* For a checkpoint: have start and stop come?  And go on from one. */
void laplace_conditions_where(bool *started, bool *stopped);
void laplace_conditions_continue(bool started, bool stopped);

/* Recording was switched, so that what was waited for may have changed. */
void laplace_conditions_switched(void);

/* Has one come true?  Where a trace of instructions begins, if it may have become time ... */
extern bool laplace_conditions_due;
void laplace_conditions_look(void);
static inline void laplace_conditions_look_if_due(void)
{
	if (laplace_conditions_due)
		laplace_conditions_look();
}
/* ... and when the host's clock, and the trace's size, may be looked at. */
void laplace_conditions_look_at_host(void);

/* The guest's kernel says this: before it is in the trace, and after. */
void laplace_conditions_hear(const struct kernel_trace_record *record);
void laplace_conditions_heard(const struct kernel_trace_record *record);

#endif
