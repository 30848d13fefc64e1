/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is to be done between two instructions: whoever has something to do there adds it here, and
 * it is done when it has become due.  The producer, which comes by, knows none of it.
 */
#ifndef LAPLACE_INSTRUMENT_DUTIES_H
#define LAPLACE_INSTRUMENT_DUTIES_H

#include <atomic>
#include <cstddef>

struct laplace_duty {
	void (*act)(void);		/* and clear `due`, unless it cannot be done yet */
	std::atomic<bool> due;		/* set by any thread */
	struct laplace_duty *next;
};

/* Once.  Those that are due at the same time are done in the order in which they were added. */
void laplace_duty_add(struct laplace_duty *duty);
/* It is done where a trace of instructions begins next, in every run. */
void laplace_duty_is_due(struct laplace_duty *duty);
/* Do what is due. */
void laplace_duties_do(void);

/* ---- requests: one duty, of everything that others may ask of the simulator's thread ---- */

/* What the guest, or a signal, may want. */
enum laplace_wants {
	LAPLACE_WANTS_FLUSH = 1,
	LAPLACE_WANTS_ROTATION = 2,
	LAPLACE_WANTS_CHECKPOINT = 4
};

/* Before all other duties: they are carried out by this. */
void laplace_requests_begin(void (*act)(void));
/* On the simulator's thread: the guest wants this. */
void laplace_request(unsigned wants);
/* From any thread: somebody asks for something.  Again and again, until it was noticed. */
void laplace_request_look(void);
/* Was there any? */
bool laplace_requests_are_due(void);
/* Whatever was asked for is being looked at, and this is what laplace_request() was called with. */
unsigned laplace_requests_take(void);

#endif
