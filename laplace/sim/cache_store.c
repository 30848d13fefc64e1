/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One level of a cache: where lines are, and which one leaves.
 *
 * LRU keeps the ways of a set in order of their last use, so that most hits find the line in the
 * first one.  `random` draws one number for each line that is evicted (ways.h).
 */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

bool lpl_cache_store_init(struct lpl_cache_store *store)
{
	store->way = calloc(store->sets * store->level.ways, sizeof(*store->way));
	store->tree = store->replacement == LPL_WAYS_PLRU ?
		calloc(store->sets, sizeof(*store->tree)) : NULL;
	return store->way != NULL && (store->tree != NULL || store->replacement != LPL_WAYS_PLRU);
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

struct lpl_cache_way *lpl_cache_use(struct lpl_cache_store *store, struct lpl_cache_way *way)
{
	struct lpl_cache_way used = *way, *set;
	uint64_t place;

	switch (store->replacement) {
	case LPL_WAYS_PLRU:
		place = (uint64_t)(way - store->way);
		lpl_ways_turn(&store->tree[place / store->level.ways], store->level.ways,
			      (uint32_t)(place % store->level.ways));
		break;
	case LPL_WAYS_LRU:
		set = way - (uint64_t)(way - store->way) % store->level.ways;
		memmove(set + 1, set, (size_t)(way - set) * sizeof(*set));
		*set = used;
		return set;
	case LPL_WAYS_RANDOM:
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
	case LPL_WAYS_PLRU:
		return &set[lpl_ways_lead(store->tree[lpl_cache_number(store, address)], store->level.ways)];
	case LPL_WAYS_RANDOM:
		return &set[lpl_ways_draw(&store->random, store->level.ways)];
	case LPL_WAYS_LRU:
		break;
	}
	return &set[store->level.ways - 1];
}
