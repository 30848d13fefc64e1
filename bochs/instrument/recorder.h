/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording on and off, flushed, and marked: what is the same in both simulators; see recorder.cc. */
#ifndef LAPLACE_RECORDER_H
#define LAPLACE_RECORDER_H

#include <cstdint>

void laplace_start(void);		/* OFF -> ON, with a TRACING event */
void laplace_stop(void);
void laplace_stop_for_good(void);	/* wherever the processor is */
void laplace_pause(void);		/* ON -> OFF, without an event: for a checkpoint ... */
/* ... and on from there: so many references until then, and what the tracer made. */
void laplace_continue(uint64_t references, uint64_t tracer_refs, bool on);
void laplace_suppress(void);		/* ON -> SUPPRESSED */
void laplace_resume(void);		/* SUPPRESSED -> ON */

void laplace_flush(void);
void laplace_rotate(void);		/* a flush, and the end of a segment */
void laplace_ask_flush(void);		/* from any thread: flush soon */
void laplace_flush_if_due(void);

void laplace_mark(const char *text);	/* by whoever steers the run */

#endif
