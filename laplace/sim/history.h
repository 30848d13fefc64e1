/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The history that GLRU and EELRU look at: pages in memory and pages that left it, in LRU order
 * (lru_list.h), the "recency axis" of their papers.
 *
 * A page that was referenced is in the list until it is out of memory and beyond the last
 * boundary.  The pages in memory are in a second list besides, in the same order.  At some
 * boundaries, the early points, pages may be evicted: for each it is known which page that
 * would be, the first from there on that is in memory.
 */
#ifndef LAPLACE_SIM_HISTORY_H
#define LAPLACE_SIM_HISTORY_H

#include "lru_list.h"
#include "frame_map.h"

enum { LPL_MOST_EARLY = 8 };

struct lpl_history_node {
	struct lpl_lru_node place;
	uint32_t page;
	uint32_t frame;			/* LPL_NO_FRAME: not in memory */
	uint32_t newer, older;		/* of those in memory */
};

struct lpl_history {
	struct lpl_lru_list list;
	struct lpl_history_node *node;
	size_t node_room;
	uint32_t used;			/* elements of node[] ever used */
	uint32_t spare;			/* free ones, linked by `newer` */
	struct lpl_frame_map map;	/* a page's node, in place of its frame */
	uint32_t newest, oldest;	/* in memory */
	uint32_t earlies;
	uint32_t early[LPL_MOST_EARLY];	/* boundaries */
	uint32_t candidate[LPL_MOST_EARLY];	/* what would be evicted; LPL_NO_NODE: nothing */
};

/* Then come the cuts (lpl_lru_list_cut), then the early points.  false: no memory. */
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
