/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The recency list. */
#include "lru_list.h"

#include <assert.h>
#include <string.h>

void lpl_lru_list_init(struct lpl_lru_list *list, size_t stride)
{
	memset(list, 0, sizeof(*list));
	list->stride = stride;
	list->newest = LPL_NO_NODE;
	list->oldest = LPL_NO_NODE;
}

void lpl_lru_list_cut(struct lpl_lru_list *list, uint64_t place)
{
	uint32_t i = list->boundaries;

	assert(list->count == 0 && place >= 1 && i < LPL_MOST_BOUNDARIES);
	for (uint32_t j = 0; j < i; j++)
		if (list->boundary[j] == place)
			return;
	for (; i != 0 && list->boundary[i - 1] > place; i--)
		list->boundary[i] = list->boundary[i - 1];
	list->boundary[i] = place;
	list->at[list->boundaries++] = LPL_NO_NODE;
}

uint32_t lpl_lru_list_boundary(const struct lpl_lru_list *list, uint64_t place)
{
	uint32_t i = 0;

	while (list->boundary[i] != place)
		i++;
	return i;
}

static void link_front(struct lpl_lru_list *list, uint32_t i)
{
	struct lpl_lru_node *node = lpl_lru_list_node(list, i);

	node->newer = LPL_NO_NODE;
	node->older = list->newest;
	node->region = 0;
	if (list->newest != LPL_NO_NODE)
		lpl_lru_list_node(list, list->newest)->newer = i;
	else
		list->oldest = i;
	list->newest = i;
}

static void unlink_node(struct lpl_lru_list *list, uint32_t i)
{
	struct lpl_lru_node *node = lpl_lru_list_node(list, i);

	assert(list->count > 0);
	assert(i == (node->newer == LPL_NO_NODE ? list->newest :
		     lpl_lru_list_node(list, node->newer)->older));
	assert(i == (node->older == LPL_NO_NODE ? list->oldest :
		     lpl_lru_list_node(list, node->older)->newer));
	if (node->newer != LPL_NO_NODE)
		lpl_lru_list_node(list, node->newer)->older = node->older;
	else
		list->newest = node->older;
	if (node->older != LPL_NO_NODE)
		lpl_lru_list_node(list, node->older)->newer = node->newer;
	else
		list->oldest = node->newer;
}

/* A node was put at the front: the one at boundary b goes into the next region. */
static void shift(struct lpl_lru_list *list, uint32_t b)
{
	struct lpl_lru_node *node = lpl_lru_list_node(list, list->at[b]);

	assert(list->at[b] != LPL_NO_NODE && node->region == b);
	node->region++;
	list->at[b] = node->newer;
}

void lpl_lru_list_add(struct lpl_lru_list *list, uint32_t i)
{
	link_front(list, i);
	list->count++;
	for (uint32_t b = 0; b < list->boundaries; b++) {
		if (list->at[b] != LPL_NO_NODE) {
			shift(list, b);
			continue;
		}
		if (list->count == list->boundary[b])
			list->at[b] = list->oldest;
		break;	/* the list is shorter than the remaining boundaries */
	}
}

void lpl_lru_list_reference(struct lpl_lru_list *list, uint32_t i)
{
	uint32_t region = lpl_lru_list_region(list, i);
	uint32_t newer = lpl_lru_list_node(list, i)->newer;

	if (newer == LPL_NO_NODE)
		return;
	if (region < list->boundaries && list->at[region] == i)
		list->at[region] = newer;
	unlink_node(list, i);
	link_front(list, i);
	for (uint32_t b = 0; b < region; b++)
		shift(list, b);
}

void lpl_lru_list_remove(struct lpl_lru_list *list, uint32_t i)
{
	assert(lpl_lru_list_region(list, i) == list->boundaries);
	unlink_node(list, i);
	list->count--;
}
