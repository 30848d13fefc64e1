/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FBR, frequency-based replacement (J. T. Robinson, M. V. Devarakonda: "Data cache
 * management using frequency-based replacement", SIGMETRICS 1990, sections 2 and 3).
 *
 * The pages in memory are in LRU order, and each has a count, 1 when it comes in.  The
 * first `new` percent of the order are the new section, the last `old` percent the old one.
 * A hit brings a page to the front and adds one to its count, but not if it was in the new
 * section: so a burst of references counts once.  Out goes the page in the old section with
 * the least count, the least recently used of these; where all its counts are above
 * `cmax`, its least recently used page.  When the average count is above `amax` all
 * counts are halved, rounded up.
 *
 * Each section is of one page at least, but the old one in a memory of a single page.
 *
 * Pages in the old section with one count are in a chain, in LRU order, from 1 to cmax; the
 * lowest chain that may have a page is known.  A page comes into the old section from
 * before all that are in it, thus at its chain's front.
 */
#include "lru_list.h"
#include "simulation.h"

#include <stdlib.h>

enum { OPTION_NEW, OPTION_OLD, OPTION_CMAX, OPTION_AMAX };

static const struct lpl_policy_option fbr_options[] = {
	[OPTION_NEW] = {"new", 1, 99, 25},
	[OPTION_OLD] = {"old", 1, 99, 60},
	[OPTION_CMAX] = {"cmax", 1, 65536, 100},
	[OPTION_AMAX] = {"amax", 1, UINT32_MAX, 100},
	{NULL, 0, 0, 0},
};

struct frame {
	struct lpl_lru_node node;
	uint32_t newer, older;		/* in its chain */
	uint32_t reserved;
	uint64_t count;
};

struct chain {
	uint32_t newest, oldest;
};

struct fbr {
	struct lpl_lru_list list;
	uint32_t old;			/* the region that is the old section; none: above all */
	struct chain *chain;		/* by count, from 1 to cmax */
	uint64_t cmax, lowest;
	uint64_t sum;			/* of the counts of the pages in memory */
};

static uint64_t new_section(const struct lpl_memory *memory)
{
	uint64_t pages = lpl_percent(memory->size, memory->option[OPTION_NEW]);

	return pages != 0 ? pages : 1;
}

static enum lpl_error fbr_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct fbr *fbr = memory->state;
	uint64_t old = lpl_percent(memory->size, memory->option[OPTION_OLD]);

	if (memory->option[OPTION_NEW] + memory->option[OPTION_OLD] > 100)
		return lpl_fail(report, LPL_ERR_USAGE,
				"fbr: new and old sections of %llu and %llu percent are more "
				"than all", (unsigned long long)memory->option[OPTION_NEW],
				(unsigned long long)memory->option[OPTION_OLD]);
	fbr->cmax = memory->option[OPTION_CMAX];
	fbr->lowest = fbr->cmax + 1;
	fbr->chain = malloc((fbr->cmax + 1) * sizeof(*fbr->chain));
	if (fbr->chain == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "fbr: no memory for %llu chains",
				(unsigned long long)fbr->cmax);
	for (uint64_t i = 0; i <= fbr->cmax; i++)
		fbr->chain[i] = (struct chain){LPL_NO_NODE, LPL_NO_NODE};
	lpl_lru_list_init(&fbr->list, sizeof(struct frame));
	lpl_lru_list_cut(&fbr->list, new_section(memory));
	fbr->old = UINT32_MAX;
	if (memory->size > 1) {
		lpl_lru_list_cut(&fbr->list, memory->size - (old != 0 ? old : 1));
		fbr->old = fbr->list.boundaries;
	}
	return LPL_OK;
}

static void chain_page(struct fbr *fbr, struct frame *frames, uint32_t i)
{
	struct frame *frame = &frames[i];
	struct chain *chain;

	if (frame->count > fbr->cmax)
		return;
	chain = &fbr->chain[frame->count];
	frame->newer = LPL_NO_NODE;
	frame->older = chain->newest;
	if (chain->newest != LPL_NO_NODE)
		frames[chain->newest].newer = i;
	else
		chain->oldest = i;
	chain->newest = i;
	if (frame->count < fbr->lowest)
		fbr->lowest = frame->count;
}

static void unchain_page(struct fbr *fbr, struct frame *frames, uint32_t i)
{
	const struct frame *frame = &frames[i];
	struct chain *chain;

	if (frame->count > fbr->cmax)
		return;
	chain = &fbr->chain[frame->count];
	if (frame->newer != LPL_NO_NODE)
		frames[frame->newer].older = frame->older;
	else
		chain->newest = frame->older;
	if (frame->older != LPL_NO_NODE)
		frames[frame->older].newer = frame->newer;
	else
		chain->oldest = frame->newer;
}

/* Halve all counts, and chain the old section anew. */
static void age(struct fbr *fbr, struct frame *frames)
{
	for (uint64_t i = 1; i <= fbr->cmax; i++)
		fbr->chain[i] = (struct chain){LPL_NO_NODE, LPL_NO_NODE};
	fbr->lowest = fbr->cmax + 1;
	fbr->sum = 0;
	for (uint32_t i = fbr->list.oldest; i != LPL_NO_NODE; i = frames[i].node.newer) {
		frames[i].count -= frames[i].count / 2;
		fbr->sum += frames[i].count;
		if (frames[i].node.region == fbr->old)
			chain_page(fbr, frames, i);
	}
}

/* Bring a page to the front, or in; another may come into the old section for that. */
static void bring_forward(struct fbr *fbr, struct frame *frames, uint32_t i)
{
	bool enters = i == fbr->list.count;
	uint32_t last_young;

	if (enters)
		lpl_lru_list_add(&fbr->list, i);
	else
		lpl_lru_list_reference(&fbr->list, i);
	if (fbr->old == UINT32_MAX)
		return;
	last_young = fbr->list.at[fbr->old - 1];
	if (last_young != LPL_NO_NODE && frames[last_young].node.older != LPL_NO_NODE)
		chain_page(fbr, frames, frames[last_young].node.older);
}

static void fbr_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct fbr *fbr = memory->state;
	struct frame *frames = memory->frame;
	uint32_t region = frames[frame].node.region;

	fbr->list.nodes = frames;
	if (region == fbr->old) {
		unchain_page(fbr, frames, frame);
		bring_forward(fbr, frames, frame);
	} else {
		lpl_lru_list_reference(&fbr->list, frame);
	}
	if (region == 0)
		return;
	frames[frame].count++;
	if (++fbr->sum > memory->option[OPTION_AMAX] * memory->used)
		age(fbr, frames);
}

static uint32_t fbr_evict(struct lpl_memory *memory, uint32_t page)
{
	struct fbr *fbr = memory->state;
	struct frame *frames = memory->frame;
	uint32_t victim = fbr->list.oldest;

	(void)page;
	while (fbr->lowest <= fbr->cmax && fbr->chain[fbr->lowest].oldest == LPL_NO_NODE)
		fbr->lowest++;
	if (fbr->lowest <= fbr->cmax)
		victim = fbr->chain[fbr->lowest].oldest;
	if (frames[victim].node.region == fbr->old)
		unchain_page(fbr, frames, victim);
	fbr->sum -= frames[victim].count;
	return victim;
}

static enum lpl_error fbr_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				struct lpl_report *report)
{
	struct fbr *fbr = memory->state;
	struct frame *frames = memory->frame;

	(void)page;
	(void)report;
	fbr->list.nodes = frames;
	frames[frame].count = 1;
	fbr->sum++;
	bring_forward(fbr, frames, frame);
	return LPL_OK;
}

static void fbr_close(struct lpl_memory *memory)
{
	free(((struct fbr *)memory->state)->chain);
}

static uint64_t fbr_lru_part(const struct lpl_memory *memory)
{
	return new_section(memory);
}

const struct lpl_policy lpl_policy_fbr = {
	.name = "fbr",
	.options = fbr_options,
	.state_size = sizeof(struct fbr),
	.frame_size = sizeof(struct frame),
	.open = fbr_open,
	.hit = fbr_hit,
	.evict = fbr_evict,
	.admit = fbr_admit,
	.close = fbr_close,
	.lru_part = fbr_lru_part,
};
