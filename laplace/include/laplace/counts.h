/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts: how much of what is in a stream, of any trace.  Events by kind; and a sink that
 * counts references, too, and the windows of time in which they were recorded.
 */
#ifndef LAPLACE_COUNTS_H
#define LAPLACE_COUNTS_H

#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- events by kind ---- */

/* All 0 at first. */
struct lpl_event_counts {
	uint64_t all;
	uint64_t kind[LPL_EVENT_KINDS];	/* in the order of lpl_event_kinds() */
	uint64_t unknown;		/* with a tag that is in no table */
};

void lpl_event_counts_add(struct lpl_event_counts *counts, const struct lpl_event *event);

/* How many with this tag there are; 0 for a tag that is in no table. */
uint64_t lpl_event_counts_of(const struct lpl_event_counts *counts, uint32_t tag);

/* Call `each` for every kind of event that was counted, by ascending tags, "unknown" last. */
void lpl_event_counts_each(const struct lpl_event_counts *counts,
			   void (*each)(void *context, const char *name, uint64_t count),
			   void *context);

/* ---- a whole stream ---- */

/* What was recorded from where tracing went on to where it went off, or the stream ends. */
struct lpl_recorded_window {
	uint64_t first_instr, last_instr;	/* instruction counts there */
	uint64_t first_ref, last_ref;	/* numbers of the last references before; so many less so
					 * many were made in it */
	uint64_t kept;			/* of them in the stream */
	uint32_t tid;			/* the task that had the processor at its beginning, as
					 * the kernel reported; 0: not known, or the idle one */
	bool tasks_known;		/* the kernel had reported tasks by its end */
};

struct lpl_map;
struct lpl_counts {
	struct lpl_sink sink;		/* where to send the stream; ends it, too */
	uint64_t refs[LPL_TYPES], all_refs;
	uint64_t user_refs;		/* of them made in user mode */
	uint64_t synthetic;		/* of them put in by a reducer (LPL_SYNTHETIC) */
	struct lpl_ref first, last;	/* references; if there are any */
	size_t spaces;			/* distinct ones that references are in */
	struct lpl_map *known_spaces;	/* its own */
	struct lpl_event_counts events;
	struct lpl_recorded_window *window;	/* its own, in order */
	size_t windows;
	size_t window_room;
	bool recording;			/* the last window has no end yet */
};

/* Nothing was counted yet.  The sink's only error is LPL_ERR_MEMORY. */
void lpl_counts_init(struct lpl_counts *counts);
/*
 * So many references that are in one space and of one kind, by the first two and the last of them
 * (lpl_reader_fold()).  LPL_ERR_MEMORY.
 */
enum lpl_error lpl_counts_fold(struct lpl_counts *counts, const struct lpl_ref refs[3],
			       uint64_t count, struct lpl_report *report);
/* The numbers stay, but for the windows. */
void lpl_counts_free(struct lpl_counts *counts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
