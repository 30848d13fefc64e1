/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One level of a cache: where lines are, and which one leaves.
 *
 * LRU keeps the ways of a set in order of their last use, so that most hits find the line in the
 * first one.  PLRU is a binary tree over the ways: node 1 is the root, 2n and 2n + 1 are the halves
 * of node n, and its bit is the half that was used less recently.  `random` draws from SplitMix64, one
 * number for each line that is evicted: the upper 32 bits times the number of ways, divided by 2^32.
 */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

bool lpl_cache_store_init(struct lpl_cache_store *store)
{
	store->way = calloc(store->sets * store->level.ways, sizeof(*store->way));
	store->tree = store->replacement == LPL_CACHE_PLRU ?
		calloc(store->sets, sizeof(*store->tree)) : NULL;
	return store->way != NULL && (store->tree != NULL || store->replacement != LPL_CACHE_PLRU);
}

void lpl_cache_store_free(struct lpl_cache_store *store)
{
	free(store->way);
	free(store->tree);
}

struct lpl_cache_way *lpl_cache_find(const struct lpl_cache_store *store, uint64_t address,
				     uint64_t space)
{
	struct lpl_cache_way *set = lpl_cache_set(store, address);

	for (uint32_t i = 0; i < store->level.ways; i++)
		if (lpl_cache_holds(store, &set[i], address, space))
			return &set[i];
	return NULL;
}

/* On the way to leaf `way` each node's bit becomes the other half. */
static void turn_tree(struct lpl_cache_store *store, const struct lpl_cache_way *way)
{
	const uint64_t place = (uint64_t)(way - store->way);
	uint64_t *tree = &store->tree[place / store->level.ways];
	uint32_t node = store->level.ways + (uint32_t)(place % store->level.ways);

	for (; node > 1; node /= 2) {
		*tree &= ~(UINT64_C(1) << node / 2);
		*tree |= (uint64_t)(~node & 1) << node / 2;
	}
}

static uint32_t walk_tree(uint64_t tree, uint32_t ways)
{
	uint32_t node = 1;

	while (node < ways)
		node = 2 * node + (tree >> node & 1);
	return node - ways;
}

static uint32_t draw(struct lpl_cache_store *store)
{
	uint64_t mixed = store->random += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	mixed ^= mixed >> 31;
	return (uint32_t)((mixed >> 32) * store->level.ways >> 32);
}

struct lpl_cache_way *lpl_cache_use(struct lpl_cache_store *store, struct lpl_cache_way *way)
{
	struct lpl_cache_way used = *way, *set;

	switch (store->replacement) {
	case LPL_CACHE_PLRU:
		turn_tree(store, way);
		break;
	case LPL_CACHE_LRU:
		set = way - (uint64_t)(way - store->way) % store->level.ways;
		memmove(set + 1, set, (size_t)(way - set) * sizeof(*set));
		*set = used;
		return set;
	case LPL_CACHE_RANDOM:
		break;
	}
	return way;
}

struct lpl_cache_way *lpl_cache_victim(struct lpl_cache_store *store, uint64_t address)
{
	struct lpl_cache_way *set = lpl_cache_set(store, address);

	for (uint32_t i = 0; i < store->level.ways; i++)
		if (set[i].line == 0)
			return &set[i];
	switch (store->replacement) {
	case LPL_CACHE_PLRU:
		return &set[walk_tree(store->tree[lpl_cache_number(store, address)], store->level.ways)];
	case LPL_CACHE_RANDOM:
		return &set[draw(store)];
	case LPL_CACHE_LRU:
		break;
	}
	return &set[store->level.ways - 1];
}
