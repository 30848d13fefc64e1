/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes' queues. */
#include "queues.h"

#include <stdlib.h>

#include "base/array.h"

enum lpl_error lpl_queues_grow(struct queues *queues, uint32_t page, uint64_t process,
			       struct lpl_report *report)
{
	if (process < UINT32_MAX && lpl_reach(queues->page, queues->page_room, page) &&
	    lpl_reach(queues->queue, queues->queue_room, process))
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory for the processes' pages");
}

void lpl_queues_free(struct queues *queues)
{
	free(queues->queue);
	free(queues->page);
}

static void take_out(struct queues *queues, uint32_t i)
{
	struct resident *page = &queues->page[i];
	struct queue *queue = &queues->queue[page->owner - 1];

	if (page->newer != 0)
		queues->page[page->newer].older = page->older;
	else
		queue->newest = page->older;
	if (page->older != 0)
		queues->page[page->older].newer = page->newer;
	else
		queue->oldest = page->newer;
}

static void put_first(struct queues *queues, uint32_t i)
{
	struct resident *page = &queues->page[i];
	struct queue *queue = &queues->queue[page->owner - 1];

	page->newer = 0;
	page->older = queue->newest;
	if (queue->newest != 0)
		queues->page[queue->newest].newer = i;
	else
		queue->oldest = i;
	queue->newest = i;
}

void lpl_queues_put_first(struct queues *queues, uint32_t page)
{
	take_out(queues, page);
	put_first(queues, page);
}

void lpl_queues_bring(struct queues *queues, uint32_t page, uint64_t process, bool write)
{
	if (process >= queues->queues)
		queues->queues = process + 1;
	queues->page[page].owner = (uint32_t)process + 1;
	queues->page[page].dirty = write;
	put_first(queues, page);
	queues->queue[process].resident++;
	queues->used++;
}

void lpl_queues_drop_oldest(struct queues *queues, uint64_t process, struct page_memory *memory)
{
	const uint32_t i = queues->queue[process].oldest;

	take_out(queues, i);
	queues->page[i].owner = 0;
	queues->queue[process].resident--;
	queues->used--;
	memory->evictions++;
	memory->dirty_evictions += queues->page[i].dirty;
}

uint32_t lpl_queues_give_oldest(struct queues *queues, uint64_t from, uint64_t to)
{
	const uint32_t i = queues->queue[from].oldest;

	take_out(queues, i);
	queues->page[i].owner = (uint32_t)to + 1;
	put_first(queues, i);
	queues->queue[from].resident--;
	queues->queue[to].resident++;
	return i;
}
