/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the bochsrc asked for, as far as the rest of the producer needs it. */
#ifndef LAPLACE_SESSION_H
#define LAPLACE_SESSION_H

#include <laplace/collector.h>

/* What is collected; no collector without the option, and after the end. */
struct laplace_collection {
	struct lpl_collector *collector;
	const char *trace, *reduce;
	bool writes;			/* the trace; else it only measures a stage */
};
struct laplace_collection laplace_session_collection(void);

bool laplace_session_starts_at_mark(void);
bool laplace_session_wants_handshake(void);
/* For a checkpoint: all that came is on its way to the disk, and the next segment begins. */
void laplace_session_suspend(struct lpl_collector_place *place);
/* The collector is closed without an end: another process goes on.  Ends the run if asked to. */
void laplace_session_hand_over(void);
/* A signal asked for the end: close the trace and leave. */
void laplace_session_poll(void);

#endif
