/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace taken apart: what its tasks did, each by itself (split.c makes it), and in which order
 * they ran.  It does not change once it is made, and any number of machines may run it.
 */
#ifndef LAPLACE_SCHEDULE_PARTS_H
#define LAPLACE_SCHEDULE_PARTS_H

#include <laplace/schedule.h>

#include "sequence.h"

struct lpl_part {			/* a task */
	struct lpl_chain chain;
	bool exists;			/* it has a record */
	bool created;			/* by a task, which is seen: that releases it */
	uint32_t tid, tgid;		/* these as they were in the end */
	uint64_t process, parent;
	char name[4 * LPL_TASK_NAME + 1];	/* escaped */
};

#define SEVERAL_TASKS UINT32_MAX

/* Pages have indices from 1, in the order in which the trace has them. */
struct lpl_part_page {
	uint64_t number;		/* canonical */
	uint64_t fact;			/* where the spool says what it is: block << 16 | offset */
	uint32_t task;			/* the only one that references it, and 1; SEVERAL_TASKS */
	bool physical;			/* of a page table */
};

struct lpl_parts {
	struct lpl_spool *spool;
	struct lpl_part *part;		/* by serial; 0: the idle task */
	size_t parts, part_room;
	struct lpl_part_page *page;	/* by index */
	size_t page_room;
	uint32_t pages;
	struct lpl_chain bursts;	/* LPL_ITEM_BURST */
	struct lpl_chain state;		/* events before all others, with clocks of their own */
	struct lpl_chain facts;		/* LPL_EVENT_PAGE */
	uint64_t first_ref;		/* the output counts from here */
	uint64_t first_instr, first_cycle;
	uint64_t wakes;			/* that end a wait, and gives */
	struct lpl_schedule_trace summary;	/* for callers */
};

#endif
