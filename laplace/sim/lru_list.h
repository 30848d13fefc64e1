/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An LRU list, cut into regions at fixed places.
 *
 * Place 1 is the most recently used.  Boundaries b0 < b1 < ... cut the list: region 0 is places
 * 1 to b0, region 1 is b0 + 1 to b1, and so on; the last region has no end.  Each node knows its
 * region, and the list knows which node stands at each boundary.  When a node comes to the
 * front those between move by one place, and of them only the one at each boundary goes into
 * the next region: O(boundaries before its old place), and O(1) within region 0.
 *
 *	boundaries at 2 and 4	A B | C D | E	E is referenced:
 *				E A | B C | D	B and D changed their regions, and E its own
 *
 * Nodes are elements of an array of the user's, each of which begins with an lpl_lru_node.  As
 * that array may move, `nodes` has to be set to it before a call.
 */
#ifndef LAPLACE_SIM_LRU_LIST_H
#define LAPLACE_SIM_LRU_LIST_H

#include <stddef.h>
#include <stdint.h>

#define LPL_NO_NODE UINT32_MAX

struct lpl_lru_node {
	uint32_t newer, older;	/* LPL_NO_NODE at the ends */
	uint32_t region;
};

enum { LPL_MOST_BOUNDARIES = 48 };

struct lpl_lru_list {
	void *nodes;
	size_t stride;		/* bytes from one to the next */
	uint32_t newest, oldest;
	uint64_t count;
	uint32_t boundaries;
	uint64_t boundary[LPL_MOST_BOUNDARIES];
	uint32_t at[LPL_MOST_BOUNDARIES];	/* LPL_NO_NODE: the list is shorter */
};

/* An empty list of nodes of `stride` bytes, without boundaries. */
void lpl_lru_list_init(struct lpl_lru_list *list, size_t stride);
/* Cut at `place`, from 1.  Only while the list is empty; in any order, also twice. */
void lpl_lru_list_cut(struct lpl_lru_list *list, uint64_t place);
/* The index of the boundary at `place`, which was cut there. */
uint32_t lpl_lru_list_boundary(const struct lpl_lru_list *list, uint64_t place);

/* Node i comes in at the front; or it is there and is brought to it. */
void lpl_lru_list_add(struct lpl_lru_list *list, uint32_t i);
void lpl_lru_list_reference(struct lpl_lru_list *list, uint32_t i);
/* Take out a node of the last region. */
void lpl_lru_list_remove(struct lpl_lru_list *list, uint32_t i);

static inline struct lpl_lru_node *lpl_lru_list_node(const struct lpl_lru_list *list, uint32_t i)
{
	return (struct lpl_lru_node *)((char *)list->nodes + list->stride * i);
}

static inline uint32_t lpl_lru_list_region(const struct lpl_lru_list *list, uint32_t i)
{
	return lpl_lru_list_node(list, i)->region;
}

#endif
