/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LIRS (S. Jiang, X. Zhang: "LIRS: an efficient low inter-reference recency set replacement policy to
 * improve buffer cache performance", SIGMETRICS 2002, section 3.3).
 *
 * Most of the memory is for LIR pages, those that were referenced again soon; `hir` percent of it, one
 * page at least, are for HIR pages.  A stack S has all LIR pages, and every page that was referenced
 * after the LIR page at its bottom, in the order of their last references, whether it is in memory or
 * not.  A list Q has the HIR pages in memory; the page at its front is evicted.  A HIR page that is
 * referenced while it is in S becomes LIR, and the LIR page at the bottom of S becomes HIR, and goes to
 * the end of Q.  Whatever is at the bottom of S and is not LIR leaves S (pruning).
 *
 * The paper's stack has no end.  Here it has at most `stack` percent of the memory's pages, but for
 * those in memory: of the others, the one nearest to its bottom leaves it.  A memory of one page
 * has no LIR page, and an empty stack.
 *
 * Pages in S that are not in memory left it in the order of their last references, as Q has that order of
 * its pages that are in S; so a list of them has the one nearest to the bottom at its end.
 */
#include "base/array.h"
#include "directory.h"
#include "simulation.h"

#include <stdlib.h>

enum { OPTION_HIR, OPTION_STACK };
enum { STACK, OUTSIDE };	/* queues: S, and HIR pages in memory that are not in it */
enum { HIR, LIR };		/* marks */

static const struct lpl_policy_option lirs_options[] = {
	[OPTION_HIR] = {"hir", 1, 99, 1},
	[OPTION_STACK] = {"stack", 100, 100000, 200},
	{NULL, 0, 0, 0},
};

struct lirs {
	struct lpl_directory directory;
	uint64_t lir_pages, most_lir, most_stack;
	/* by entry: in which of the lists below it is */
	struct lpl_lru_node *node;
	size_t node_room;
	struct lpl_lru_list resident;	/* Q, its end the newest: HIR pages in memory */
	struct lpl_lru_list gone;	/* in S, but not in memory */
};

static enum lpl_error no_memory(const struct lpl_memory *memory, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "lirs: no memory for %u frames", memory->used);
}

static enum lpl_error lirs_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct lirs *lirs = memory->state;
	const uint64_t hir = lpl_percent(memory->size, memory->option[OPTION_HIR]);

	lirs->most_lir = memory->size - (hir != 0 ? hir : 1);
	lirs->most_stack = memory->size > UINT32_MAX ? memory->size :
		lpl_percent(memory->size, memory->option[OPTION_STACK]);
	lpl_lru_list_init(&lirs->resident, sizeof(struct lpl_lru_node));
	lpl_lru_list_init(&lirs->gone, sizeof(struct lpl_lru_node));
	return lpl_directory_init(&lirs->directory) ? LPL_OK : no_memory(memory, report);
}

/* Out of S, to where the page's state has it then. */
static void leave_stack(struct lirs *lirs, uint32_t i)
{
	if (lirs->directory.entry[i].frame != LPL_NO_FRAME) {
		lpl_directory_move(&lirs->directory, i, OUTSIDE);
		return;
	}
	lpl_lru_list_remove(&lirs->gone, i);
	(void)lpl_directory_forget(&lirs->directory, i);
}

static void prune(struct lirs *lirs)
{
	uint32_t bottom;

	while ((bottom = lpl_directory_oldest(&lirs->directory, STACK)) != LPL_NO_NODE &&
	       lirs->directory.entry[bottom].mark != LIR)
		leave_stack(lirs, bottom);
}

static void limit_stack(struct lirs *lirs)
{
	while (lpl_directory_count(&lirs->directory, STACK) > lirs->most_stack &&
	       lirs->gone.oldest != LPL_NO_NODE)
		leave_stack(lirs, lirs->gone.oldest);
}

/* A HIR page on top of S, in neither list, becomes LIR; the LIR page at the bottom does not stay so. */
static void promote(struct lirs *lirs, uint32_t i)
{
	const uint32_t bottom = lpl_directory_oldest(&lirs->directory, STACK);

	lirs->directory.entry[i].mark = LIR;
	lirs->directory.entry[bottom].mark = HIR;
	lpl_directory_move(&lirs->directory, bottom, OUTSIDE);
	lpl_lru_list_add(&lirs->resident, bottom);
	prune(lirs);
}

static void lirs_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct lirs *lirs = memory->state;
	const uint32_t i = ((uint32_t *)memory->frame)[frame];
	const struct lpl_entry *entry = &lirs->directory.entry[i];
	const bool in_stack = entry->queue == STACK;

	lpl_directory_move(&lirs->directory, i, STACK);
	if (entry->mark == LIR) {
		prune(lirs);
	} else if (in_stack) {
		lpl_lru_list_remove(&lirs->resident, i);
		promote(lirs, i);
	} else {
		lpl_lru_list_reference(&lirs->resident, i);
		prune(lirs);
		limit_stack(lirs);
	}
}

static uint32_t lirs_evict(struct lpl_memory *memory, uint32_t page)
{
	struct lirs *lirs = memory->state;
	const uint32_t front = lirs->resident.oldest;
	struct lpl_entry *entry = &lirs->directory.entry[front];
	const uint32_t frame = entry->frame;

	(void)page;
	lpl_lru_list_remove(&lirs->resident, front);
	if (entry->queue != STACK)
		return lpl_directory_forget(&lirs->directory, front);
	entry->frame = LPL_NO_FRAME;
	lpl_lru_list_add(&lirs->gone, front);
	return frame;
}

/* The page that is not in S: LIR as long as there are not enough of them. */
static void begin(struct lirs *lirs, uint32_t i)
{
	if (lirs->lir_pages < lirs->most_lir) {
		lirs->directory.entry[i].mark = LIR;
		lirs->lir_pages++;
		return;
	}
	lpl_lru_list_add(&lirs->resident, i);
	prune(lirs);
}

static enum lpl_error lirs_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				 struct lpl_report *report)
{
	struct lirs *lirs = memory->state;
	const uint32_t known = lpl_directory_find(&lirs->directory, page);
	uint32_t i;

	if (known != LPL_NO_NODE)
		lpl_lru_list_remove(&lirs->gone, known);
	i = lpl_directory_admit(&lirs->directory, page, frame, STACK);
	((uint32_t *)memory->frame)[frame] = i;
	if (i == LPL_NO_NODE || !lpl_reach(lirs->node, lirs->node_room, i))
		return no_memory(memory, report);
	lirs->resident.nodes = lirs->node;
	lirs->gone.nodes = lirs->node;
	if (known != LPL_NO_NODE)
		promote(lirs, i);
	else
		begin(lirs, i);
	limit_stack(lirs);
	return LPL_OK;
}

static void lirs_close(struct lpl_memory *memory)
{
	struct lirs *lirs = memory->state;

	lpl_directory_free(&lirs->directory);
	free(lirs->node);
}

const struct lpl_policy lpl_policy_lirs = {
	.name = "lirs",
	.options = lirs_options,
	.state_size = sizeof(struct lirs),
	.frame_size = sizeof(uint32_t),		/* the page's entry */
	.open = lirs_open,
	.hit = lirs_hit,
	.evict = lirs_evict,
	.admit = lirs_admit,
	.close = lirs_close,
};
