/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages in memory, in an LRU queue for each process.  A page belongs to the process that brought it
 * in; a reference by any process puts it at the newest end of its owner's queue.
 */
#ifndef LAPLACE_SCHEDULE_QUEUES_H
#define LAPLACE_SCHEDULE_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"

struct resident {			/* by page's number */
	uint32_t newer, older;		/* in its owner's queue; 0 at the ends */
	uint32_t owner;			/* process + 1; 0: the page is not in memory */
	bool dirty;
};

struct queue {
	uint32_t newest, oldest;	/* 0: none */
	uint64_t resident;		/* pages in it */
};

struct queues {				/* of zeros: empty */
	uint64_t used;			/* pages in memory */
	struct resident *page;
	size_t page_room;
	struct queue *queue;		/* by process */
	size_t queues;			/* one more than the largest of those that had pages */
	size_t queue_room;
};

/* Before any of the others for this page, and this process.  LPL_ERR_MEMORY. */
enum lpl_error lpl_queues_grow(struct queues *queues, uint32_t page, uint64_t process,
			       struct lpl_report *report);

static inline enum lpl_error lpl_queues_reach(struct queues *queues, uint32_t page, uint64_t process,
					      struct lpl_report *report)
{
	return page < queues->page_room && process < queues->queue_room ? LPL_OK :
		lpl_queues_grow(queues, page, process, report);
}

void lpl_queues_free(struct queues *queues);

/* A page that is in memory is referenced. */
void lpl_queues_put_first(struct queues *queues, uint32_t page);

static inline void lpl_queues_touch(struct queues *queues, uint32_t page)
{
	if (queues->queue[queues->page[page].owner - 1].newest != page)
		lpl_queues_put_first(queues, page);
}

/* One comes that is not. */
void lpl_queues_bring(struct queues *queues, uint32_t page, uint64_t process, bool write);
/* The process's oldest page leaves, which is counted in `memory`; it has one. */
void lpl_queues_drop_oldest(struct queues *queues, uint64_t process, struct page_memory *memory);
/* The oldest page of one becomes the newest of the other.  Returns which it was. */
uint32_t lpl_queues_give_oldest(struct queues *queues, uint64_t from, uint64_t to);

#endif
