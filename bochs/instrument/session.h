/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the bochsrc asked for, as far as the rest of the producer needs it. */
#ifndef LAPLACE_SESSION_H
#define LAPLACE_SESSION_H

#include "collect/collector.h"

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
/*
 * The collector is closed without an end: another program goes on.
 * Returns a descriptor that it has to have; -1: none.
 */
int laplace_session_hand_over(void);
/*
 * Is anything to be done between two instructions?  What was asked for by another thread, or
 * what the time brings.
 */
void laplace_session_poll(void);
/* From any thread: somebody asks for something.  Again and again, until it was noticed. */
void laplace_session_ask(void);

/* What the guest, or a signal, may want; done by the next laplace_session_poll(). */
enum laplace_wants {
	LAPLACE_WANTS_FLUSH = 1,
	LAPLACE_WANTS_ROTATION = 2,
	LAPLACE_WANTS_CHECKPOINT = 4
};
void laplace_session_want(unsigned wants);

/*
 * Begin the next segment of the trace; save the machine.  Each returns why it cannot, or NULL.
 */
const char *laplace_session_rotate(void);
const char *laplace_session_checkpoint(void);

#endif
