/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulator thread's half of a recording of every reference: it watches kernel records and
 * fills the log.  One instance; all of it belongs to the simulator's thread.  What the other
 * files of this directory use of it has the names that it has where windows are sent
 * (producer.h).
 */
#ifndef LAPLACE_PRODUCER_ALL_H
#define LAPLACE_PRODUCER_ALL_H

#include <atomic>

#include "hooks_all.h"
#include "recorder.h"

struct laplace_producer {
	enum laplace_state state;
	bool failed;			/* the collector gave up */
	std::atomic<bool> flush_due;	/* another thread asks for it */
	bool ending;			/* the trace is being closed */
	bool user;			/* mode, as last logged ... */
	uint64_t space;			/* ... and address space */
	uint64_t flushes;		/* sent */
	uint64_t suppressed_since;	/* instruction count */
	uint64_t exception_at;		/* the count of the latest exception */
	uint64_t tracer_refs;		/* left out, as of the last laplace_references() */

	/* the latest read that a write may follow, where it takes the slow path */
	unsigned parts;			/* one for each page; 0: it was written, or was fast */
	struct {
		uint64_t address;
		unsigned length;
		bool second, supervisor;
	} part[2];

	struct laplace_watch watch;
};

extern struct laplace_producer laplace;

/* Bochs' count of instructions: of the one that is being executed. */
#define laplace_icount()	(BX_CPU(0)->laplace.icount)

/* producer_all.cc */
static inline void laplace_producer_attach(struct laplace_processor *)
{
}

#endif
