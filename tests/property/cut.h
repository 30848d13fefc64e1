/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stream that is cut: one merge reads it whole, another one the state at the cut and what
 * comes after it, record by record at the same time.  What they say of each record must be the
 * same but for numbers, and these must correspond one to one: the two may differ in
 * nothing else (docs/merging.md, "A state").
 */
#ifndef LAPLACE_TESTS_CUT_H
#define LAPLACE_TESTS_CUT_H

#include <laplace/merge.h>

#include "base/map.h"
#include "merge/guest_state.h"

struct cut_side {
	struct lpl_merge_output output;
	struct lpl_merge *merge;
	struct lpl_merged merged;		/* the last reference's */
	uint64_t serial, process;		/* of its task, or the event's */
	uint32_t tid;
	struct lpl_merge_page *page;		/* by number; without names */
	uint64_t *page_name;			/* a number made of the name */
	size_t page_room, name_room;
	uint64_t pages;
	struct lpl_merge_task *task;		/* by serial number, as last reported */
	size_t task_room;
	uint64_t *changed;			/* serial numbers since the last event */
	size_t changes, changed_room;
	struct lpl_map living;			/* tid -> serial number */
};

/* Numbers of the whole and numbers of the part that stand for the same. */
struct cut_pairs {
	struct lpl_map there, back;		/* both + 1 */
};

struct cut {
	struct cut_side whole, part;
	struct lpl_state *state;
	bool references_too;		/* the state sees references, too */
	bool may_split;			/* one page of the whole may be several of the part */
	bool is_cut;
	uint64_t pages_before;		/* of the whole, at the cut */
	uint64_t anomalies_before[LPL_ANOMALIES];
	bool snapshot_after;		/* the guest makes one after the cut */
	struct cut_pairs pages, tasks, processes;
	uint64_t state_events;		/* that the state was made of */
	char why[600];			/* it fails; empty: not yet */
};

struct cut *cut_open(bool references_too, bool audit);
void cut_close(struct cut *cut);

/* The next record; after the first failure nothing happens any more. */
void cut_ref(struct cut *cut, const struct lpl_ref *ref);
void cut_event(struct cut *cut, const struct lpl_event *event);
/* Here is the cut. */
void cut_here(struct cut *cut);
/* The stream is over; the books are compared, too. */
void cut_finish(struct cut *cut);

#endif
