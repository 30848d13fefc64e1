/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recency axis of GLRU and EELRU: pages in memory and pages that left it, and those
 * among them who may be evicted.
 *
 * Every page referenced is on the axis (axis.h) until it is out of memory and beyond the
 * last boundary.  The pages in memory are in a list of their own besides, in the same
 * order.  At some boundaries, the early points, pages may be evicted: for each the
 * page to go is known, the first from there on that is in memory.
 */
#ifndef LAPLACE_SIM_HISTORY_H
#define LAPLACE_SIM_HISTORY_H

#include "axis.h"
#include "directory.h"

enum { LPL_MOST_EARLY = 8 };

struct lpl_history_node {
	struct lpl_axis_node place;
	uint32_t page;
	uint32_t frame;			/* LPL_NO_FRAME: not in memory */
	uint32_t newer, older;		/* of those in memory */
};

struct lpl_history {
	struct lpl_axis axis;
	struct lpl_history_node *node;
	size_t capacity;
	uint32_t used;			/* elements of node[] ever used */
	uint32_t spare;			/* free ones, linked by `newer` */
	struct lpl_directory directory;	/* a page's node */
	uint32_t newest, oldest;	/* in memory */
	uint32_t earlies;
	uint32_t early[LPL_MOST_EARLY];	/* boundaries */
	uint32_t first[LPL_MOST_EARLY];	/* who would go; LPL_NO_NODE: the axis is shorter */
};

/* Then come the cuts (lpl_axis_cut), then the early points.  false: no memory. */
bool lpl_history_init(struct lpl_history *history);
void lpl_history_free(struct lpl_history *history);
/* Pages may be evicted at the boundary at `place`.  Returns the early point's index. */
uint32_t lpl_history_add_early(struct lpl_history *history, uint64_t place);

/* The region a page is in; the number of boundaries, which is the last, if on no place. */
uint32_t lpl_history_region(const struct lpl_history *history, uint32_t page);

/* A page is brought into `frame`: its node.  LPL_NO_NODE: no memory. */
uint32_t lpl_history_admit(struct lpl_history *history, uint32_t page, uint32_t frame);
/* The page of a node is referenced, and in memory. */
void lpl_history_hit(struct lpl_history *history, uint32_t i);

/* Is the page at a boundary in memory? */
bool lpl_history_is_here(const struct lpl_history *history, uint32_t boundary);
/* The region of the least recently used page in memory. */
uint32_t lpl_history_oldest_region(const struct lpl_history *history);

/* Evict the page to go at an early point, or the least recently used one: its frame. */
uint32_t lpl_history_evict_early(struct lpl_history *history, uint32_t early);
uint32_t lpl_history_evict_oldest(struct lpl_history *history);

#endif
