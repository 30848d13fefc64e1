/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The history of GLRU and EELRU. */
#include "history.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool lpl_history_init(struct lpl_history *history)
{
	memset(history, 0, sizeof(*history));
	lpl_lru_list_init(&history->list, sizeof(*history->node));
	history->spare = LPL_NO_NODE;
	history->newest = LPL_NO_NODE;
	history->oldest = LPL_NO_NODE;
	return lpl_frame_map_init(&history->map);
}

void lpl_history_free(struct lpl_history *history)
{
	lpl_frame_map_free(&history->map);
	free(history->node);
}

uint32_t lpl_history_add_early(struct lpl_history *history, uint64_t place)
{
	uint32_t boundary = lpl_lru_list_boundary(&history->list, place);
	uint32_t i = 0;

	while (i < history->earlies && history->early[i] != boundary)
		i++;
	if (i == history->earlies) {
		assert(i < LPL_MOST_EARLY);
		history->early[i] = boundary;
		history->candidate[i] = LPL_NO_NODE;
		history->earlies++;
	}
	return i;
}

uint32_t lpl_history_region(const struct lpl_history *history, uint32_t page)
{
	uint32_t i = lpl_frame_map_find(&history->map, page);

	return i == LPL_NO_NODE ? history->list.boundaries : history->node[i].place.region;
}

/* ---- those in memory ---- */

static void enter_memory(struct lpl_history *history, uint32_t i)
{
	struct lpl_history_node *node = &history->node[i];

	node->newer = LPL_NO_NODE;
	node->older = history->newest;
	if (history->newest != LPL_NO_NODE)
		history->node[history->newest].newer = i;
	else
		history->oldest = i;
	history->newest = i;
}

/* Leave the list of those in memory, to come back at its front or not. */
static void leave_memory(struct lpl_history *history, uint32_t i)
{
	const struct lpl_history_node *node = &history->node[i];

	for (uint32_t e = 0; e < history->earlies; e++)
		if (history->candidate[e] == i)
			history->candidate[e] = node->older;
	if (node->newer != LPL_NO_NODE)
		history->node[node->newer].older = node->older;
	else
		history->newest = node->older;
	if (node->older != LPL_NO_NODE)
		history->node[node->older].newer = node->newer;
	else
		history->oldest = node->newer;
}

/* ---- all that are known ---- */

/* Forget a page that is out of memory and beyond the last boundary. */
static void forget_far(struct lpl_history *history, uint32_t i)
{
	struct lpl_history_node *node = &history->node[i];

	if (node->frame != LPL_NO_FRAME || node->place.region != history->list.boundaries)
		return;
	lpl_lru_list_remove(&history->list, i);
	lpl_frame_map_remove(&history->map, node->page);
	node->newer = history->spare;
	history->spare = i;
}

/* A node for a page that is not known; LPL_NO_NODE: no memory. */
static uint32_t add_node(struct lpl_history *history, uint32_t page)
{
	uint32_t i = history->spare;

	if (i != LPL_NO_NODE) {
		history->spare = history->node[i].newer;
	} else {
		i = history->used;
		if (i == LPL_NO_NODE || !lpl_reach(history->node, history->node_room, i))
			return LPL_NO_NODE;
		history->list.nodes = history->node;
		history->used++;
	}
	history->node[i].page = page;
	return lpl_frame_map_add(&history->map, page, i) ? i : LPL_NO_NODE;
}

/* A node is at the front now, and in memory; `far` stood at the last boundary before. */
static void settle(struct lpl_history *history, uint32_t i, uint32_t far)
{
	enter_memory(history, i);
	for (uint32_t e = 0; e < history->earlies; e++) {
		uint32_t at = history->list.at[history->early[e]];

		if (at != LPL_NO_NODE && history->node[at].frame != LPL_NO_FRAME)
			history->candidate[e] = at;
	}
	if (far != LPL_NO_NODE)
		forget_far(history, far);
}

static uint32_t last_at(const struct lpl_history *history)
{
	assert(history->list.boundaries > 0);
	return history->list.at[history->list.boundaries - 1];
}

uint32_t lpl_history_admit(struct lpl_history *history, uint32_t page, uint32_t frame)
{
	uint32_t i = lpl_frame_map_find(&history->map, page);
	uint32_t far = last_at(history);
	bool comes_back = i != LPL_NO_NODE;

	if (!comes_back)
		i = add_node(history, page);
	if (i == LPL_NO_NODE)
		return LPL_NO_NODE;
	assert(!comes_back || history->node[i].frame == LPL_NO_FRAME);
	history->node[i].frame = frame;
	if (comes_back)
		lpl_lru_list_reference(&history->list, i);
	else
		lpl_lru_list_add(&history->list, i);
	settle(history, i, far);
	return i;
}

void lpl_history_hit(struct lpl_history *history, uint32_t i)
{
	uint32_t far = last_at(history);

	assert(history->node[i].frame != LPL_NO_FRAME);
	leave_memory(history, i);
	lpl_lru_list_reference(&history->list, i);
	settle(history, i, far);
}

bool lpl_history_is_here(const struct lpl_history *history, uint32_t boundary)
{
	uint32_t at = history->list.at[boundary];

	return at != LPL_NO_NODE && history->node[at].frame != LPL_NO_FRAME;
}

uint32_t lpl_history_oldest_region(const struct lpl_history *history)
{
	return history->node[history->oldest].place.region;
}

static uint32_t evict(struct lpl_history *history, uint32_t i)
{
	uint32_t frame = history->node[i].frame;

	assert(i < history->used && frame != LPL_NO_FRAME);
	leave_memory(history, i);
	history->node[i].frame = LPL_NO_FRAME;
	forget_far(history, i);
	return frame;
}

uint32_t lpl_history_evict_early(struct lpl_history *history, uint32_t early)
{
	return evict(history, history->candidate[early]);
}

uint32_t lpl_history_evict_oldest(struct lpl_history *history)
{
	return evict(history, history->oldest);
}
