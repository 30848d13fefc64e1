/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GLRU, generalized LRU (E. B. Fernandez, T. Lang, C. Wood: "Effect of replacement
 * algorithms on a paged buffer database system", 1978), as section 3.2 of the
 * EELRU paper describes it under the name WFL (policy_eelru.c has the reference).
 *
 * Two places on the recency axis, an early point e in memory and a late point l, not
 * before the memory's size M.  A fault evicts the page at e, so that less recently used
 * ones stay a little longer; but if the page at l is in memory, and the fault is on
 * one that is less recently used than it, or never was, then the page at l goes.  So
 * pages up to e are always in memory, those beyond l never.  With e = M, or with l = M, it
 * is LRU.
 */
#include "history.h"
#include "simulation.h"

enum { OPTION_EARLY, OPTION_LATE };

static const struct lpl_policy_option glru_options[] = {
	[OPTION_EARLY] = {"early", 1, 100, 40},
	[OPTION_LATE] = {"late", 100, 100000, 160},
	{NULL, 0, 0, 0},
};

struct glru {
	struct lpl_history history;
	uint32_t late;		/* a boundary */
};

static uint64_t early_point(const struct lpl_memory *memory)
{
	uint64_t place = lpl_percent(memory->size, memory->option[OPTION_EARLY]);

	return place != 0 ? place : 1;
}

static enum lpl_error no_memory(const struct lpl_memory *memory, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "glru: no memory for %u frames", memory->used);
}

static enum lpl_error glru_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct glru *glru = memory->state;
	uint64_t late = memory->size > UINT32_MAX ? memory->size :
		lpl_percent(memory->size, memory->option[OPTION_LATE]);

	if (!lpl_history_init(&glru->history))
		return no_memory(memory, report);
	lpl_lru_list_cut(&glru->history.list, early_point(memory));
	lpl_lru_list_cut(&glru->history.list, late);
	(void)lpl_history_add_early(&glru->history, early_point(memory));
	glru->late = lpl_lru_list_boundary(&glru->history.list, late);
	return LPL_OK;
}

static void glru_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct glru *glru = memory->state;

	lpl_history_hit(&glru->history, ((uint32_t *)memory->frame)[frame]);
}

static uint32_t glru_evict(struct lpl_memory *memory, uint32_t page)
{
	struct glru *glru = memory->state;

	if (lpl_history_is_here(&glru->history, glru->late) &&
	    lpl_history_region(&glru->history, page) > glru->late)
		return lpl_history_evict_oldest(&glru->history);
	return lpl_history_evict_early(&glru->history, 0);
}

static enum lpl_error glru_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				 struct lpl_report *report)
{
	struct glru *glru = memory->state;
	uint32_t node = lpl_history_admit(&glru->history, page, frame);

	((uint32_t *)memory->frame)[frame] = node;
	return node != LPL_NO_NODE ? LPL_OK : no_memory(memory, report);
}

static void glru_close(struct lpl_memory *memory)
{
	lpl_history_free(&((struct glru *)memory->state)->history);
}

const struct lpl_policy lpl_policy_glru = {
	.name = "glru",
	.options = glru_options,
	.state_size = sizeof(struct glru),
	.frame_size = sizeof(uint32_t),	/* the page's node */
	.open = glru_open,
	.hit = glru_hit,
	.evict = glru_evict,
	.admit = glru_admit,
	.close = glru_close,
	.lru_part = early_point,
};
