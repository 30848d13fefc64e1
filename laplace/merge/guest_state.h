/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a guest in the middle of a stream: what the kernel's events have reported so far,
 * reported once more, so that a reader that begins there knows as much as one of it all.
 *
 * A struct lpl_state takes each event in order.  lpl_state_send() then sends a sink events, in
 * order, from LPL_EVENT_STATE (begins) to LPL_EVENT_STATE (ends), in the vocabulary of a
 * snapshot (KTR_MAP, KTR_PAGE_OWN, KTR_PRESENT, KTR_FILE, KTR_CACHE_ADD) and, for what no kernel
 * has to say, LPL_EVENT_TASK_STATE, LPL_EVENT_SPACE_STATE and LPL_EVENT_SHARED (record.h).
 *
 * What holds (docs/merging.md, "A state").  Cut a stream anywhere, and put the state of the
 * first part before the rest.  A merge gives the references of the rest the tasks and
 * processes that it gives them in the whole stream, and the canonical pages, under other
 * numbers: two references go to one page if and only if they do in the whole stream.  An
 * audit finds nothing odd that it does not find in the whole.
 *
 * What is left to know:
 *
 *	A break of copy-on-write that no event reports shows by a write reference alone.  For
 *		guests that do not report theirs, lpl_state_refs() takes references, too.
 *	A page that its writer keeps (KTR_COW_BREAK with equal frames) while others still seem to
 *		share it has one number with theirs in a merge of the whole, and two here.
 *	What is over: tasks that have ended (but that children had a parent is known as long as
 *		it lives), files that are neither mapped nor cached once memory is short, how
 *		long a task has been waiting.
 *	Swap: no part of a merge follows where a page's data are, so nothing of it is reported.
 *
 * The guest's word is bounded.  Beyond the limits below all mappings and the page cache are
 * forgotten (as where events are missing), or the task that began first; it is counted, and the
 * state says so (LPL_EVENT_STATE_LEFT_OUT).  What is not known is then `unresolved`, and not
 * wrong.
 *
 * The same events make the same state, byte for byte.
 */
#ifndef LAPLACE_MERGE_GUEST_STATE_H
#define LAPLACE_MERGE_GUEST_STATE_H

#include <laplace/error.h>
#include <laplace/record.h>

/* Where 0 stands for a default. */
struct lpl_state_options {
	uint64_t kernel_base;	/* as in lpl_merge_options */
	/* How many pieces of mappings, pages of programs' own, and ranges of the page cache; each
	 * takes some 200 bytes.  Default 1 << 22. */
	uint64_t pieces;
	uint64_t tasks;		/* of some 300 bytes each; default 1 << 18 */
};

struct lpl_state;

/* Nothing is known yet.  `options` may be NULL.  LPL_ERR_MEMORY. */
enum lpl_error lpl_state_new(struct lpl_state **state, const struct lpl_state_options *options,
			     struct lpl_report *report);
void lpl_state_free(struct lpl_state *state);	/* NULL is fine */

/*
 * The next event of the stream; any is right, also a state, and those that mean nothing here.
 * LPL_ERR_MEMORY: nothing may be called any more but lpl_state_free().
 */
enum lpl_error lpl_state_take(struct lpl_state *state, const struct lpl_event *event,
			      struct lpl_report *report);

/*
 * The next references, for guests that do not report every break of copy-on-write; otherwise
 * they change nothing.  LPL_ERR_MEMORY as above.
 */
enum lpl_error lpl_state_refs(struct lpl_state *state, const struct lpl_ref *refs, size_t count,
			      struct lpl_report *report);

/*
 * Report what is known, by `sink->event` alone, with the clocks of the last event taken (a caller
 * that puts the events elsewhere sets others).  The state does not change, for further reports.
 * Returns the sink's first error, or LPL_ERR_MEMORY.
 */
enum lpl_error lpl_state_send(struct lpl_state *state, struct lpl_sink *sink,
			      struct lpl_report *report);

/* How often a limit was met: what is missing in the state for that. */
uint64_t lpl_state_left_out(const struct lpl_state *state);

#endif
