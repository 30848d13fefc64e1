/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random replacement: the page in a random frame goes, whatever was referenced.
 *
 * The random numbers are those of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood: "Fast splittable
 * pseudorandom number generators", OOPSLA 2014) from `seed` on.  Each eviction takes one, which is
 * multiplied by the number of frames and divided by 2^64.  So results repeat, and those of another seed
 * show how much is chance.
 */
#include "simulation.h"
#include "ways.h"

static const struct lpl_policy_option random_options[] = {
	{"seed", 0, UINT64_MAX, 1},
	{NULL, 0, 0, 0},
};

static enum lpl_error random_open(struct lpl_memory *memory, struct lpl_report *report)
{
	(void)report;
	*(uint64_t *)memory->state = memory->option[0];
	return LPL_OK;
}

static uint32_t random_evict(struct lpl_memory *memory, uint32_t page)
{
	(void)page;
	return (uint32_t)((unsigned __int128)lpl_split_mix(memory->state) * memory->used >> 64);
}

const struct lpl_policy lpl_policy_random = {
	.name = "random",
	.options = random_options,
	.state_size = sizeof(uint64_t),
	.open = random_open,
	.evict = random_evict,
};
