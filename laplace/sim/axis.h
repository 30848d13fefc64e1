/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recency axis: things in order of recency, cut into regions at fixed places.
 *
 * Place 1 is the newest.  Boundaries b0 < b1 < ... cut the axis: region 0 is places 1 to
 * b0, region 1 b0 + 1 to b1, and so on; the last region has no end.  Each thing knows
 * its region, and the axis knows who stands at each boundary.  To bring something to
 * the front moves those between by one place, and of them only who stood at a boundary
 * into the next region: O(boundaries before its old place), and O(1) within region 0.
 *
 * Things are elements of an array that the axis does not own; each begins with an
 * lpl_axis_node.  Before a call `nodes` has to be where that array is now.
 */
#ifndef LAPLACE_SIM_AXIS_H
#define LAPLACE_SIM_AXIS_H

#include <stddef.h>
#include <stdint.h>

#define LPL_NO_NODE UINT32_MAX

struct lpl_axis_node {
	uint32_t newer, older;	/* LPL_NO_NODE at the ends */
	uint32_t region;
};

enum { LPL_MOST_BOUNDARIES = 48 };

struct lpl_axis {
	void *nodes;
	size_t stride;		/* bytes from one to the next */
	uint32_t newest, oldest;
	uint64_t count;
	uint32_t boundaries;
	uint64_t boundary[LPL_MOST_BOUNDARIES];
	uint32_t at[LPL_MOST_BOUNDARIES];	/* LPL_NO_NODE: the axis is shorter */
};

/* An axis of things of `stride` bytes, without boundaries. */
void lpl_axis_init(struct lpl_axis *axis, size_t stride);
/* Cut at `place`, from 1.  Only while the axis is empty; in any order, also twice. */
void lpl_axis_cut(struct lpl_axis *axis, uint64_t place);
/* The index of the boundary at `place`, which was cut there. */
uint32_t lpl_axis_boundary(const struct lpl_axis *axis, uint64_t place);

/* Element i comes in at the front; or it is there and is brought to it. */
void lpl_axis_push(struct lpl_axis *axis, uint32_t i);
void lpl_axis_touch(struct lpl_axis *axis, uint32_t i);
/* Take out an element of the last region. */
void lpl_axis_drop(struct lpl_axis *axis, uint32_t i);

static inline struct lpl_axis_node *lpl_axis_node(const struct lpl_axis *axis, uint32_t i)
{
	return (struct lpl_axis_node *)((char *)axis->nodes + axis->stride * i);
}

static inline uint32_t lpl_axis_region(const struct lpl_axis *axis, uint32_t i)
{
	return lpl_axis_node(axis, i)->region;
}

/* `percent` of `size`, rounded down. */
static inline uint64_t lpl_percent(uint64_t size, uint64_t percent)
{
	return size / 100 * percent + size % 100 * percent / 100;
}

#endif
