/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The recency axis of GLRU and EELRU. */
#include "history.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

bool lpl_history_init(struct lpl_history *history)
{
	memset(history, 0, sizeof(*history));
	lpl_axis_init(&history->axis, sizeof(*history->node));
	history->spare = LPL_NO_NODE;
	history->newest = LPL_NO_NODE;
	history->oldest = LPL_NO_NODE;
	return lpl_directory_init(&history->directory);
}

void lpl_history_free(struct lpl_history *history)
{
	lpl_directory_free(&history->directory);
	free(history->node);
}

uint32_t lpl_history_add_early(struct lpl_history *history, uint64_t place)
{
	uint32_t boundary = lpl_axis_boundary(&history->axis, place);
	uint32_t i = 0;

	while (i < history->earlies && history->early[i] != boundary)
		i++;
	if (i == history->earlies) {
		history->early[i] = boundary;
		history->first[i] = LPL_NO_NODE;
		history->earlies++;
	}
	return i;
}

uint32_t lpl_history_region(const struct lpl_history *history, uint32_t page)
{
	uint32_t i = lpl_directory_find(&history->directory, page);

	return i == LPL_NO_NODE ? history->axis.boundaries : history->node[i].place.region;
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
		if (history->first[e] == i)
			history->first[e] = node->older;
	if (node->newer != LPL_NO_NODE)
		history->node[node->newer].older = node->older;
	else
		history->newest = node->older;
	if (node->older != LPL_NO_NODE)
		history->node[node->older].newer = node->newer;
	else
		history->oldest = node->newer;
}

/* ---- those on the axis ---- */

/* Forget a page that is out of memory and beyond the last boundary. */
static void forget_far(struct lpl_history *history, uint32_t i)
{
	struct lpl_history_node *node = &history->node[i];

	if (node->frame != LPL_NO_FRAME || node->place.region != history->axis.boundaries)
		return;
	lpl_axis_drop(&history->axis, i);
	lpl_directory_forget(&history->directory, node->page);
	node->newer = history->spare;
	history->spare = i;
}

/* A node for a page that is not on the axis; LPL_NO_NODE: no memory. */
static uint32_t add_node(struct lpl_history *history, uint32_t page)
{
	uint32_t i = history->spare;

	if (i != LPL_NO_NODE) {
		history->spare = history->node[i].newer;
	} else {
		i = history->used;
		if (i == LPL_NO_NODE || !lpl_reach(history->node, history->capacity, i))
			return LPL_NO_NODE;
		history->axis.nodes = history->node;
		history->used++;
	}
	history->node[i].page = page;
	return lpl_directory_enter(&history->directory, page, i) ? i : LPL_NO_NODE;
}

/* A node is at the front now, and in memory; `far` stood at the last boundary before. */
static void settle(struct lpl_history *history, uint32_t i, uint32_t far)
{
	enter_memory(history, i);
	for (uint32_t e = 0; e < history->earlies; e++) {
		uint32_t at = history->axis.at[history->early[e]];

		if (at != LPL_NO_NODE && history->node[at].frame != LPL_NO_FRAME)
			history->first[e] = at;
	}
	if (far != LPL_NO_NODE)
		forget_far(history, far);
}

static uint32_t last_at(const struct lpl_history *history)
{
	return history->axis.at[history->axis.boundaries - 1];
}

uint32_t lpl_history_admit(struct lpl_history *history, uint32_t page, uint32_t frame)
{
	uint32_t i = lpl_directory_find(&history->directory, page);
	uint32_t far = last_at(history);
	bool comes_back = i != LPL_NO_NODE;

	if (!comes_back)
		i = add_node(history, page);
	if (i == LPL_NO_NODE)
		return LPL_NO_NODE;
	history->node[i].frame = frame;
	if (comes_back)
		lpl_axis_touch(&history->axis, i);
	else
		lpl_axis_push(&history->axis, i);
	settle(history, i, far);
	return i;
}

void lpl_history_hit(struct lpl_history *history, uint32_t i)
{
	uint32_t far = last_at(history);

	leave_memory(history, i);
	lpl_axis_touch(&history->axis, i);
	settle(history, i, far);
}

bool lpl_history_is_here(const struct lpl_history *history, uint32_t boundary)
{
	uint32_t at = history->axis.at[boundary];

	return at != LPL_NO_NODE && history->node[at].frame != LPL_NO_FRAME;
}

uint32_t lpl_history_oldest_region(const struct lpl_history *history)
{
	return history->node[history->oldest].place.region;
}

static uint32_t evict(struct lpl_history *history, uint32_t i)
{
	uint32_t frame = history->node[i].frame;

	leave_memory(history, i);
	history->node[i].frame = LPL_NO_FRAME;
	forget_far(history, i);
	return frame;
}

uint32_t lpl_history_evict_early(struct lpl_history *history, uint32_t early)
{
	return evict(history, history->first[early]);
}

uint32_t lpl_history_evict_oldest(struct lpl_history *history)
{
	return evict(history, history->oldest);
}
