/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SEGQ, a segmented queue (the paper's section 7.2; hybrid FIFO-LRU, segmented FIFO).
 *
 * Of the memory's pages the first `fifo` are the FIFO segment, the others the LRU segment
 * after it.  A fetched page, and one that is hit in the LRU segment, goes to the front
 * of the FIFO; the page that leaves the FIFO's back so goes to the front of the LRU segment.  A
 * hit in the FIFO changes nothing.  The page that leaves the LRU segment's back is evicted.
 *
 * That is an LRU list with one boundary, on which hits in the first region do not count.
 */
#include "lru_list.h"
#include "simulation.h"

#include <assert.h>

static const struct lpl_policy_option segq_options[] = {
	{"fifo", 1, UINT64_MAX, 0},
	{NULL, 0, 0, 0},
};

static uint64_t fifo_of(const struct lpl_memory *memory)
{
	uint64_t asked = memory->option[0];

	return asked != 0 ? asked : memory->size - memory->size / 2;
}

static enum lpl_error segq_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct lpl_lru_list *list = memory->state;
	uint64_t fifo = fifo_of(memory);

	if (fifo > memory->size)
		return lpl_fail(report, LPL_ERR_USAGE,
				"segq: a FIFO segment of %llu pages is larger than a memory "
				"of %llu", (unsigned long long)fifo,
				(unsigned long long)memory->size);
	lpl_lru_list_init(list, sizeof(struct lpl_lru_node));
	lpl_lru_list_cut(list, fifo);
	return LPL_OK;
}

static void segq_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct lpl_lru_list *list = memory->state;

	list->nodes = memory->frame;
	if (lpl_lru_list_region(list, frame) != 0)
		lpl_lru_list_reference(list, frame);
}

static uint32_t segq_evict(struct lpl_memory *memory, uint32_t page)
{
	struct lpl_lru_list *list = memory->state;

	(void)page;
	return list->oldest;
}

static enum lpl_error segq_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				 struct lpl_report *report)
{
	struct lpl_lru_list *list = memory->state;

	(void)page;
	(void)report;
	assert(frame <= list->count);
	list->nodes = memory->frame;
	if (frame == list->count)
		lpl_lru_list_add(list, frame);
	else
		lpl_lru_list_reference(list, frame);
	return LPL_OK;
}

const struct lpl_policy lpl_policy_segq = {
	.name = "segq",
	.options = segq_options,
	.state_size = sizeof(struct lpl_lru_list),
	.frame_size = sizeof(struct lpl_lru_node),
	.open = segq_open,
	.hit = segq_hit,
	.evict = segq_evict,
	.admit = segq_admit,
};
