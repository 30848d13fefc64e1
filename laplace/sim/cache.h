/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caches as they are made: what their parts share. */
#ifndef LAPLACE_SIM_CACHE_H
#define LAPLACE_SIM_CACHE_H

#include <laplace/cache.h>

#include "ways.h"

enum lpl_cache_relation { LPL_CACHE_NEITHER, LPL_CACHE_INCLUSIVE, LPL_CACHE_EXCLUSIVE };

/* Lines have 16 bytes or more, so that the number of one leaves four bits. */
#define LPL_CACHE_VALID (UINT64_C(1) << 63)
#define LPL_CACHE_DIRTY (UINT64_C(1) << 62)

struct lpl_cache_way {
	uint64_t line;		/* address / size of a line, VALID and DIRTY; 0: nothing is in it */
	uint64_t space;
};

struct lpl_cache_store {
	struct lpl_cache_level level;	/* what it is, and what happened */
	enum lpl_ways_order replacement;
	bool through, around;		/* writes: are passed on; do not allocate */
	unsigned int shift;		/* log2 of a line's size */
	uint64_t sets;			/* a power of two */
	uint64_t random;		/* the state of its generator */
	struct lpl_cache_way *way;	/* `level.ways` for each set; of LRU the latest first */
	uint64_t *tree;			/* of PLRU: for each set a bit for each node, from 1 */
	struct lpl_cache_store *below;	/* NULL: memory */
	struct lpl_cache_store *above[2];
};

enum { LPL_CACHE_L1, LPL_CACHE_L1I, LPL_CACHE_L1D, LPL_CACHE_L2, LPL_CACHE_L3, LPL_CACHE_STORES };

struct lpl_cache {
	struct lpl_sink sink;		/* first */
	struct lpl_cache_store store[LPL_CACHE_STORES];	/* by name; those without ways are not there */
	struct lpl_cache_store *first[LPL_CACHE_ACCESSES];	/* the level where an access begins */
	struct lpl_cache_level memory;
	enum lpl_cache_relation relation;
	bool by_type;
};

/* Fill in, of `cache`, what SPEC says, and how its levels are linked.  (cache_spec.c) */
enum lpl_error lpl_cache_parse(struct lpl_cache *cache, const char *spec, struct lpl_report *report);
/* Is it exact on such a trace?  LPL_ERR_USAGE: no.  (cache_exact.c) */
enum lpl_error lpl_cache_check(struct lpl_cache *cache, const char *spec,
			       const struct lpl_cache_options *options, struct lpl_report *report);

/* ---- what others send through caches (cache.c) ---- */

/* An access to `length` bytes: to each line that it lies in. */
void lpl_cache_access(struct lpl_cache *cache, uint64_t address, unsigned int length, uint64_t space,
		      enum lpl_cache_access type);
/* The first level that has the datum at an address; NULL: memory.  It does not count as used. */
const struct lpl_cache_store *lpl_cache_holder(const struct lpl_cache *cache, uint64_t address, uint64_t space);

/* ---- one level (cache_store.c) ---- */

/* false: no memory. */
bool lpl_cache_store_init(struct lpl_cache_store *store);
void lpl_cache_store_free(struct lpl_cache_store *store);

/* The number of the set that an address is in. */
static inline uint64_t lpl_cache_number(const struct lpl_cache_store *store, uint64_t address)
{
	return (address >> store->shift) & (store->sets - 1);
}

/* Its first way. */
static inline struct lpl_cache_way *lpl_cache_set(const struct lpl_cache_store *store, uint64_t address)
{
	return &store->way[lpl_cache_number(store, address) * store->level.ways];
}

static inline bool lpl_cache_holds(const struct lpl_cache_store *store, const struct lpl_cache_way *way,
				   uint64_t address, uint64_t space)
{
	return (way->line & ~LPL_CACHE_DIRTY) == (address >> store->shift | LPL_CACHE_VALID) &&
	       way->space == space;
}

/* The way that an address is in; NULL: none. */
struct lpl_cache_way *lpl_cache_find(const struct lpl_cache_store *store, uint64_t address,
				     uint64_t space);
/* The way was used.  Returns where it is now. */
struct lpl_cache_way *lpl_cache_use(struct lpl_cache_store *store, struct lpl_cache_way *way);
/* The way that a line takes which is not there: an empty one, or that of the line to be evicted. */
struct lpl_cache_way *lpl_cache_victim(struct lpl_cache_store *store, uint64_t address);

/* The address of the line in a way. */
static inline uint64_t lpl_cache_address(const struct lpl_cache_store *store,
					 const struct lpl_cache_way *way)
{
	return (way->line & ~(LPL_CACHE_VALID | LPL_CACHE_DIRTY)) << store->shift;
}

#endif
