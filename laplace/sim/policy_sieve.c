/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SIEVE (Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson, K. V. Rashmi: "SIEVE is simpler than LRU: an
 * efficient turn-key eviction algorithm for web caches", NSDI 2024).
 *
 * Pages are in a queue in the order in which they were fetched, and a hit only marks a page as
 * visited.  The hand goes from the oldest page towards the newest, takes the mark of each page
 * that it meets, and evicts the first that has none; then it stands at the next newer one.  Past the
 * newest it goes on at the oldest.  Other than in CLOCK, pages that are kept stay where they are, and
 * new ones come to the queue's front, not to the hand.
 */
#include "lru_list.h"
#include "simulation.h"

struct frame {
	struct lpl_lru_node node;
	uint32_t visited;	/* 0 or 1 */
};

struct sieve {
	struct lpl_lru_list queue;
	uint32_t hand;		/* LPL_NO_NODE: at the oldest */
};

static enum lpl_error sieve_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct sieve *sieve = memory->state;

	(void)report;
	lpl_lru_list_init(&sieve->queue, sizeof(struct frame));
	sieve->hand = LPL_NO_NODE;
	return LPL_OK;
}

static void sieve_hit(struct lpl_memory *memory, uint32_t frame)
{
	((struct frame *)memory->frame)[frame].visited = 1;
}

static uint32_t sieve_evict(struct lpl_memory *memory, uint32_t page)
{
	struct sieve *sieve = memory->state;
	struct frame *frames = memory->frame;

	(void)page;
	for (;;) {
		const uint32_t here = sieve->hand != LPL_NO_NODE ? sieve->hand : sieve->queue.oldest;

		sieve->hand = frames[here].node.newer;
		if (frames[here].visited == 0) {
			lpl_lru_list_remove(&sieve->queue, here);
			return here;
		}
		frames[here].visited = 0;
	}
}

static enum lpl_error sieve_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				  struct lpl_report *report)
{
	struct sieve *sieve = memory->state;

	(void)page;
	(void)report;
	sieve->queue.nodes = memory->frame;
	lpl_lru_list_add(&sieve->queue, frame);
	((struct frame *)memory->frame)[frame].visited = 0;
	return LPL_OK;
}

const struct lpl_policy lpl_policy_sieve = {
	.name = "sieve",
	.state_size = sizeof(struct sieve),
	.frame_size = sizeof(struct frame),
	.open = sieve_open,
	.hit = sieve_hit,
	.evict = sieve_evict,
	.admit = sieve_admit,
};
