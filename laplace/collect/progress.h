/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far a collection is, in numbers: what the collector counts, and what the lines of its status
 * (status.h) show.  C++ may include this header.
 */
#ifndef LAPLACE_COLLECT_PROGRESS_H
#define LAPLACE_COLLECT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* As it is at one moment. */
struct lpl_collector_status {
	uint64_t references, instructions, kept, events;
	uint64_t bytes;			/* of the file so far, or of all segments */
	uint64_t wait_ns, elapsed_ns;	/* that the producer waited; since it was opened */
	uint64_t flushes;		/* FLUSH records done: all before them is readable */
	uint64_t tracer_refs;		/* left out as the tracer's own, with a log */
	uint64_t syncs, sync_ns;	/* barriers, and how long they took */
	bool waiting_for_room;		/* the disk is full, just now */
	uint64_t room_wait_ns;		/* how long that was waited for */
	uint64_t segment;		/* the number of that being written; 0: one file is */
	bool tracing;			/* as of the last event that switched it */
};

/* How far a collection was when it was looked at; all zeros: at its start. */
struct lpl_pace {
	uint64_t instructions, references, bytes, wait_ns, elapsed_ns;
};

#endif
