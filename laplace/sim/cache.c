/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hardware caches: how levels work together.  docs/simulation.md has the definition that this
 * follows, and tests/property/oracle_lines.c another implementation of it.
 *
 * An access that misses goes down level by level; on the way back each level that allocates puts the
 * line in, the lowest first.  So what an inclusive level evicts has left the levels above before these
 * make room for the new line.
 */
#include "cache.h"

#include "base/try.h"
#include "reduce/pages.h"

#include <inttypes.h>
#include <stdlib.h>

/* A dirty line goes to the first level from `store` on that holds it, and keeps it; or to memory. */
static void write_back(struct lpl_cache *cache, struct lpl_cache_store *store, uint64_t address,
		       uint64_t space)
{
	for (; store != NULL; store = store->below) {
		struct lpl_cache_way *way = lpl_cache_find(store, address, space);

		if (way == NULL)
			continue;
		store->level.written++;
		if (!store->through) {
			way->line |= LPL_CACHE_DIRTY;
			return;
		}
	}
	cache->memory.written++;
}

/* ---- inclusive ---- */

static bool invalidate_above(struct lpl_cache_store *store, uint64_t address, uint64_t space);

/* The line of one level leaves it.  Was it dirty, there or further up? */
static bool invalidate(struct lpl_cache_store *store, uint64_t address, uint64_t space)
{
	bool dirty = invalidate_above(store, address, space);
	struct lpl_cache_way *way = lpl_cache_find(store, address, space);

	if (way == NULL)
		return dirty;
	dirty |= (way->line & LPL_CACHE_DIRTY) != 0;
	store->level.invalidations++;
	store->level.write_backs += dirty;
	way->line = 0;
	return dirty;
}

/* All that is above of the line of `store` at this address. */
static bool invalidate_above(struct lpl_cache_store *store, uint64_t address, uint64_t space)
{
	bool dirty = false;

	for (int i = 0; i < 2 && store->above[i] != NULL; i++) {
		const uint32_t line = store->above[i]->level.line;

		for (uint64_t at = 0; at < store->level.line; at += line)
			if (invalidate(store->above[i], address + at, space)) {
				store->level.written++;
				dirty = true;
			}
	}
	return dirty;
}

/* ---- neither, and inclusive ---- */

static void evict(struct lpl_cache *cache, struct lpl_cache_store *store, const struct lpl_cache_way *way)
{
	const uint64_t address = lpl_cache_address(store, way);
	bool dirty = (way->line & LPL_CACHE_DIRTY) != 0;

	store->level.evictions++;
	if (cache->relation == LPL_CACHE_INCLUSIVE)
		dirty |= invalidate_above(store, address, way->space);
	if (!dirty)
		return;
	store->level.write_backs++;
	write_back(cache, store->below, address, way->space);
}

static void put_line(struct lpl_cache_store *store, struct lpl_cache_way *way, uint64_t address,
		     uint64_t space, bool dirty)
{
	way->line = address >> store->shift | LPL_CACHE_VALID | (dirty ? LPL_CACHE_DIRTY : 0);
	way->space = space;
	(void)lpl_cache_use(store, way);
}

/* `writes`: data is written at this level, which a write that only misses above does not. */
static void access_level(struct lpl_cache *cache, struct lpl_cache_store *store, uint64_t address,
			 uint64_t space, enum lpl_cache_access type, bool writes)
{
	struct lpl_cache_way *way;

	if (store == NULL) {
		cache->memory.references[type]++;
		return;
	}
	store->level.references[type]++;
	way = lpl_cache_find(store, address, space);
	if (way != NULL) {
		way = lpl_cache_use(store, way);
		if (writes && store->through)
			access_level(cache, store->below, address, space, type, true);
		else if (writes)
			way->line |= LPL_CACHE_DIRTY;
		return;
	}
	store->level.misses[type]++;
	if (writes && store->around) {
		access_level(cache, store->below, address, space, type, true);
		return;
	}
	access_level(cache, store->below, address, space, type, writes && store->through);
	way = lpl_cache_victim(store, address);
	if (way->line != 0)
		evict(cache, store, way);
	put_line(store, way, address, space, writes && !store->through);
}

/* ---- exclusive ---- */

/* A line that left the level above; what makes room for it goes on. */
static void give(struct lpl_cache *cache, struct lpl_cache_store *store, struct lpl_cache_way line,
		 unsigned int shift)
{
	const uint64_t address = (line.line & ~(LPL_CACHE_VALID | LPL_CACHE_DIRTY)) << shift;
	const uint64_t dirty = line.line & LPL_CACHE_DIRTY;
	struct lpl_cache_way *way, victim;

	if (store == NULL) {
		cache->memory.written += dirty != 0;
		return;
	}
	store->level.written += dirty != 0;
	way = lpl_cache_find(store, address, line.space);
	if (way != NULL) {
		way->line |= dirty;
		return;
	}
	way = lpl_cache_victim(store, address);
	victim = *way;
	*way = line;
	(void)lpl_cache_use(store, way);
	if (victim.line == 0)
		return;
	store->level.evictions++;
	store->level.write_backs += (victim.line & LPL_CACHE_DIRTY) != 0;
	give(cache, store->below, victim, shift);
}

/* Take the line from below.  Was it dirty there? */
static bool take_line(struct lpl_cache *cache, struct lpl_cache_store *store, uint64_t address,
		      uint64_t space, enum lpl_cache_access type)
{
	for (; store != NULL; store = store->below) {
		struct lpl_cache_way *way = lpl_cache_find(store, address, space);
		bool dirty;

		store->level.references[type]++;
		if (way == NULL) {
			store->level.misses[type]++;
			continue;
		}
		dirty = (way->line & LPL_CACHE_DIRTY) != 0;
		way->line = 0;
		return dirty;
	}
	cache->memory.references[type]++;
	return false;
}

static void access_exclusive(struct lpl_cache *cache, struct lpl_cache_store *store, uint64_t address,
			     uint64_t space, enum lpl_cache_access type)
{
	const bool writes = type == LPL_CACHE_WRITE;
	struct lpl_cache_way *way = lpl_cache_find(store, address, space), victim;
	bool dirty;

	store->level.references[type]++;
	if (way != NULL) {
		way = lpl_cache_use(store, way);
		way->line |= writes ? LPL_CACHE_DIRTY : 0;
		return;
	}
	store->level.misses[type]++;
	dirty = take_line(cache, store->below, address, space, type);
	way = lpl_cache_victim(store, address);
	victim = *way;
	put_line(store, way, address, space, dirty || writes);
	if (victim.line == 0)
		return;
	store->level.evictions++;
	store->level.write_backs += (victim.line & LPL_CACHE_DIRTY) != 0;
	give(cache, store->below, victim, store->shift);
}

/* ---- the stream ---- */

/* The latest line of its set, most often: it is a hit, and nothing but perhaps the line changes. */
static inline bool hits_latest(struct lpl_cache_store *store, uint64_t address, uint64_t space,
			       enum lpl_cache_access type)
{
	struct lpl_cache_way *set = lpl_cache_set(store, address);

	if (store->replacement != LPL_WAYS_LRU || !lpl_cache_holds(store, set, address, space) ||
	    (type == LPL_CACHE_WRITE && store->through))
		return false;
	store->level.references[type]++;
	set->line |= type == LPL_CACHE_WRITE ? LPL_CACHE_DIRTY : 0;
	return true;
}

static inline void access_line(struct lpl_cache *cache, uint64_t address, uint64_t space,
			       enum lpl_cache_access type)
{
	struct lpl_cache_store *store = cache->first[type];

	if (hits_latest(store, address, space, type))
		return;
	if (cache->relation == LPL_CACHE_EXCLUSIVE)
		access_exclusive(cache, store, address, space, type);
	else
		access_level(cache, store, address, space, type, type == LPL_CACHE_WRITE);
}

void lpl_cache_access(struct lpl_cache *cache, uint64_t address, unsigned int length, uint64_t space,
		      enum lpl_cache_access type)
{
	const unsigned int shift = cache->first[type]->shift;
	const uint64_t offset = address & ((UINT64_C(1) << shift) - 1);
	const uint64_t more = length == 0 ? 0 : (offset + length - 1) >> shift;

	access_line(cache, address, space, type);
	for (uint64_t n = 1; n <= more; n++)
		access_line(cache, ((address >> shift) + n) << shift, space, type);
}

const struct lpl_cache_store *lpl_cache_holder(const struct lpl_cache *cache, uint64_t address, uint64_t space)
{
	const struct lpl_cache_store *store = cache->first[LPL_CACHE_READ];

	while (store != NULL && lpl_cache_find(store, address, space) == NULL)
		store = store->below;
	return store;
}

static enum lpl_error cache_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	static const enum lpl_cache_access access_of[LPL_TYPES] = {
		[LPL_READ] = LPL_CACHE_READ, [LPL_WRITE] = LPL_CACHE_WRITE,
		[LPL_FETCH] = LPL_CACHE_FETCH, [LPL_WALK_READ] = LPL_CACHE_READ,
		[LPL_WALK_WRITE] = LPL_CACHE_WRITE
	};
	struct lpl_cache *cache = (struct lpl_cache *)sink;

	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];
		const enum lpl_cache_access type = access_of[ref->type];
		const unsigned int shift = cache->first[type]->shift;
		const uint64_t space = lpl_page_of(ref, shift).space;

		if (ref->flags & LPL_PAGED && shift < LPL_PAGE_SHIFT)
			return lpl_fail(report, LPL_ERR_USAGE, "simulation: reference %" PRIu64
					" is to a whole page, and no line of it is known", ref->ref);
		lpl_cache_access(cache, ref->address, ref->length, space, type);
	}
	return LPL_OK;
}

static enum lpl_error cache_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static enum lpl_error cache_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

/* ---- opening and closing ---- */

enum lpl_error lpl_cache_open(struct lpl_cache **cache, const char *spec,
			      const struct lpl_cache_options *options, struct lpl_report *report)
{
	struct lpl_cache *opened = calloc(1, sizeof(*opened));
	enum lpl_error error;

	*cache = NULL;
	if (opened == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "cache '%.80s': no memory", spec);
	opened->sink = (struct lpl_sink){ cache_refs, cache_event, cache_finish };
	opened->memory.name = "memory";
	error = lpl_cache_parse(opened, spec, report);
	if (error == LPL_OK)
		error = lpl_cache_check(opened, spec, options, report);
	for (size_t i = 0; i < LPL_CACHE_STORES && error == LPL_OK; i++)
		if (opened->store[i].level.ways != 0 && !lpl_cache_store_init(&opened->store[i]))
			error = lpl_fail(report, LPL_ERR_MEMORY, "cache '%.80s': no memory for its lines",
					 spec);
	if (error != LPL_OK)
		lpl_cache_close(opened);
	else
		*cache = opened;
	return error;
}

struct lpl_sink *lpl_cache_sink(struct lpl_cache *cache)
{
	return &cache->sink;
}

size_t lpl_cache_levels(const struct lpl_cache *cache)
{
	size_t levels = 1;

	for (size_t i = 0; i < LPL_CACHE_STORES; i++)
		levels += cache->store[i].level.ways != 0;
	return levels;
}

const struct lpl_cache_level *lpl_cache_level(const struct lpl_cache *cache, size_t index)
{
	for (size_t i = 0; i < LPL_CACHE_STORES; i++)
		if (cache->store[i].level.ways != 0 && index-- == 0)
			return &cache->store[i].level;
	return &cache->memory;
}

bool lpl_cache_by_type(const struct lpl_cache *cache)
{
	return cache->by_type;
}

void lpl_cache_close(struct lpl_cache *cache)
{
	if (cache == NULL)
		return;
	for (size_t i = 0; i < LPL_CACHE_STORES; i++)
		lpl_cache_store_free(&cache->store[i]);
	free(cache);
}
