/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * MRU: the most recently used page goes, which is the one that was referenced right before the
 * fault.  A loop over more pages than there is memory for is what it is best at: once memory is full
 * a part of the loop just stays in it.  (H.-T. Chou, D. J. DeWitt: "An evaluation of buffer management
 * strategies for relational database systems", VLDB 1985, use it for loops.)
 */
#include "simulation.h"

static void mru_hit(struct lpl_memory *memory, uint32_t frame)
{
	*(uint32_t *)memory->state = frame;
}

static uint32_t mru_evict(struct lpl_memory *memory, uint32_t page)
{
	(void)page;
	return *(uint32_t *)memory->state;
}

static enum lpl_error mru_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				struct lpl_report *report)
{
	(void)page;
	(void)report;
	*(uint32_t *)memory->state = frame;
	return LPL_OK;
}

const struct lpl_policy lpl_policy_mru = {
	.name = "mru",
	.state_size = sizeof(uint32_t),	/* the frame referenced last */
	.hit = mru_hit,
	.evict = mru_evict,
	.admit = mru_admit,
};
