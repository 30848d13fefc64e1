/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The recency axis. */
#include "axis.h"

#include <string.h>

void lpl_axis_init(struct lpl_axis *axis, size_t stride)
{
	memset(axis, 0, sizeof(*axis));
	axis->stride = stride;
	axis->newest = LPL_NO_NODE;
	axis->oldest = LPL_NO_NODE;
}

void lpl_axis_cut(struct lpl_axis *axis, uint64_t place)
{
	uint32_t i = axis->boundaries;

	for (uint32_t j = 0; j < i; j++)
		if (axis->boundary[j] == place)
			return;
	for (; i != 0 && axis->boundary[i - 1] > place; i--)
		axis->boundary[i] = axis->boundary[i - 1];
	axis->boundary[i] = place;
	axis->at[axis->boundaries++] = LPL_NO_NODE;
}

uint32_t lpl_axis_boundary(const struct lpl_axis *axis, uint64_t place)
{
	uint32_t i = 0;

	while (axis->boundary[i] != place)
		i++;
	return i;
}

static void link_front(struct lpl_axis *axis, uint32_t i)
{
	struct lpl_axis_node *node = lpl_axis_node(axis, i);

	node->newer = LPL_NO_NODE;
	node->older = axis->newest;
	node->region = 0;
	if (axis->newest != LPL_NO_NODE)
		lpl_axis_node(axis, axis->newest)->newer = i;
	else
		axis->oldest = i;
	axis->newest = i;
}

static void unlink_node(struct lpl_axis *axis, uint32_t i)
{
	struct lpl_axis_node *node = lpl_axis_node(axis, i);

	if (node->newer != LPL_NO_NODE)
		lpl_axis_node(axis, node->newer)->older = node->older;
	else
		axis->newest = node->older;
	if (node->older != LPL_NO_NODE)
		lpl_axis_node(axis, node->older)->newer = node->newer;
	else
		axis->oldest = node->newer;
}

/* Something came in at the front: who stood at boundary b goes into the next region. */
static void shift(struct lpl_axis *axis, uint32_t b)
{
	struct lpl_axis_node *node = lpl_axis_node(axis, axis->at[b]);

	node->region++;
	axis->at[b] = node->newer;
}

void lpl_axis_push(struct lpl_axis *axis, uint32_t i)
{
	link_front(axis, i);
	axis->count++;
	for (uint32_t b = 0; b < axis->boundaries; b++) {
		if (axis->at[b] != LPL_NO_NODE) {
			shift(axis, b);
			continue;
		}
		if (axis->count == axis->boundary[b])
			axis->at[b] = axis->oldest;
		break;	/* the axis is shorter than the boundaries behind */
	}
}

void lpl_axis_touch(struct lpl_axis *axis, uint32_t i)
{
	uint32_t region = lpl_axis_region(axis, i);
	uint32_t newer = lpl_axis_node(axis, i)->newer;

	if (newer == LPL_NO_NODE)
		return;
	if (region < axis->boundaries && axis->at[region] == i)
		axis->at[region] = newer;
	unlink_node(axis, i);
	link_front(axis, i);
	for (uint32_t b = 0; b < region; b++)
		shift(axis, b);
}

void lpl_axis_drop(struct lpl_axis *axis, uint32_t i)
{
	unlink_node(axis, i);
	axis->count--;
}
