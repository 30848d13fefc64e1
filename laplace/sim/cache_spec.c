/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caches as they are written: SPEC, read (laplace/cache.h). */
#include "cache.h"

#include "base/try.h"
#include "spec_words.h"

#include <inttypes.h>
#include <string.h>

enum { LEAST_LINE = 16, MOST_LINE = 4096 };
#define MOST_SIZE (UINT64_C(1) << 30)

static const char *const names[LPL_CACHE_STORES] = {
	[LPL_CACHE_L1] = "l1", [LPL_CACHE_L1I] = "l1i", [LPL_CACHE_L1D] = "l1d",
	[LPL_CACHE_L2] = "l2", [LPL_CACHE_L3] = "l3"
};

static enum lpl_error refuse(const char *spec, struct lpl_word word, const char *why,
			     struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_USAGE, "cache '%.80s': '%.*s': %s", spec,
			(int)(word.length < 40 ? word.length : 40), word.text, why);
}

/* What an option decides, which it does once. */
enum decision { NOTHING, REPLACEMENT, WRITING, ALLOCATION };

static enum decision read_option(struct lpl_cache_store *store, struct lpl_word word)
{
	if (lpl_word_is(word, "through") || lpl_word_is(word, "back")) {
		store->through = lpl_word_is(word, "through");
		return WRITING;
	}
	if (lpl_word_is(word, "around") || lpl_word_is(word, "allocate")) {
		store->around = lpl_word_is(word, "around");
		return ALLOCATION;
	}
	return lpl_word_order(word, &store->replacement, &store->random) ? REPLACEMENT : NOTHING;
}

/* SIZE/WAYS/LINE of a level, which has to come to a power of two of sets. */
static const char *read_shape(struct lpl_cache_store *store, struct lpl_word size, struct lpl_word ways,
			      struct lpl_word line)
{
	uint64_t number;

	store->level.size = lpl_word_bytes(size, MOST_SIZE);
	store->level.line = (uint32_t)lpl_word_bytes(line, MOST_SIZE);
	if (store->level.size == 0)
		return "a size is a number of bytes, up to 1G";
	if (store->level.line < LEAST_LINE || store->level.line > MOST_LINE ||
	    !lpl_is_power_of_two(store->level.line))
		return "a line has a power of two of bytes from 16 to 4096";
	number = lpl_word_ways(ways, store->level.size / store->level.line);
	if (number == 0)
		return "ways are a number from 1 to 65536, or full";
	store->level.ways = (uint32_t)number;
	store->sets = store->level.size / (number * store->level.line);
	if (!lpl_is_power_of_two(store->sets) ||
	    store->sets * number * store->level.line != store->level.size)
		return "its size is no power of two of sets of so many lines";
	store->shift = (unsigned int)__builtin_ctz(store->level.line);
	return NULL;
}

/* NAME=SIZE/WAYS/LINE/... */
static enum lpl_error read_level(struct lpl_cache_store *store, const char *spec, struct lpl_word level,
				 const char *name, struct lpl_report *report)
{
	const char *rest = level.text + strlen(name) + 1, *end = level.text + level.length;
	struct lpl_word shape[3] = { { 0 } };
	const char *why = "a level is NAME=SIZE/WAYS/LINE";
	unsigned int decided = 0;

	if (store->level.ways != 0)
		return refuse(spec, level, "a level comes twice", report);
	for (int i = 0; i < 3 && rest != NULL; i++)
		shape[i] = lpl_word_cut(&rest, end, '/');
	store->level.name = name;
	if (shape[2].text != NULL)
		why = read_shape(store, shape[0], shape[1], shape[2]);
	if (why != NULL)
		return refuse(spec, level, why, report);
	while (rest != NULL) {
		struct lpl_word option = lpl_word_cut(&rest, end, '/');
		const enum decision decision = read_option(store, option);

		if (decision == NOTHING)
			return refuse(spec, option, "not one of lru, plru, random=SEED, back, through, "
				      "allocate, around", report);
		if (decided & 1U << decision)
			return refuse(spec, option, decision == REPLACEMENT ?
				      "a level has one of lru, plru, random=SEED" : decision == WRITING ?
				      "a level has one of back, through" :
				      "a level has one of allocate, around", report);
		decided |= 1U << decision;
	}
	if (store->replacement == LPL_WAYS_PLRU &&
	    (store->level.ways > LPL_WAYS_MOST_TREE || !lpl_is_power_of_two(store->level.ways)))
		return refuse(spec, level, "plru is a tree: of a power of two of ways, up to 64", report);
	return LPL_OK;
}

static enum lpl_error read_part(struct lpl_cache *cache, const char *spec, struct lpl_word part,
				struct lpl_report *report)
{
	if (lpl_word_is(part, "inclusive") || lpl_word_is(part, "exclusive")) {
		if (cache->relation != LPL_CACHE_NEITHER)
			return refuse(spec, part, "inclusive or exclusive comes once", report);
		cache->relation = lpl_word_is(part, "inclusive") ? LPL_CACHE_INCLUSIVE : LPL_CACHE_EXCLUSIVE;
		return LPL_OK;
	}
	for (size_t i = 0; i < LPL_CACHE_STORES; i++) {
		const size_t length = strlen(names[i]);

		if (part.length > length && memcmp(part.text, names[i], length) == 0 &&
		    part.text[length] == '=')
			return read_level(&cache->store[i], spec, part, names[i], report);
	}
	return refuse(spec, part, "not one of l1=, l1i=, l1d=, l2=, l3=, inclusive, exclusive", report);
}

static bool is_there(const struct lpl_cache *cache, int store)
{
	return cache->store[store].level.ways != 0;
}

/* Put `store` below another one. */
static void link_levels(struct lpl_cache_store *above, struct lpl_cache_store *store)
{
	above->below = store;
	store->above[store->above[0] != NULL] = above;
}

static void link_all(struct lpl_cache *cache)
{
	struct lpl_cache_store *store = cache->store;

	cache->first[LPL_CACHE_FETCH] = &store[is_there(cache, LPL_CACHE_L1) ? LPL_CACHE_L1 : LPL_CACHE_L1I];
	cache->first[LPL_CACHE_READ] = &store[is_there(cache, LPL_CACHE_L1) ? LPL_CACHE_L1 : LPL_CACHE_L1D];
	cache->first[LPL_CACHE_WRITE] = cache->first[LPL_CACHE_READ];
	for (int i = LPL_CACHE_L1; i <= LPL_CACHE_L1D && is_there(cache, LPL_CACHE_L2); i++)
		if (is_there(cache, i))
			link_levels(&store[i], &store[LPL_CACHE_L2]);
	if (is_there(cache, LPL_CACHE_L3))
		link_levels(&store[LPL_CACHE_L2], &store[LPL_CACHE_L3]);
}

/* What is wrong with the levels together; NULL: nothing. */
static const char *fault_of(const struct lpl_cache *cache)
{
	const struct lpl_cache_store *store = cache->store;
	const bool apart = is_there(cache, LPL_CACHE_L1I) && is_there(cache, LPL_CACHE_L1D);

	if (is_there(cache, LPL_CACHE_L1) ?
	    is_there(cache, LPL_CACHE_L1I) || is_there(cache, LPL_CACHE_L1D) : !apart)
		return "the first level is l1, or l1i and l1d";
	if (is_there(cache, LPL_CACHE_L3) && !is_there(cache, LPL_CACHE_L2))
		return "there is no l3 without l2";
	if (cache->relation != LPL_CACHE_NEITHER && !is_there(cache, LPL_CACHE_L2))
		return "inclusive and exclusive say how a second level goes with the first";
	for (int i = 0; i < LPL_CACHE_STORES; i++) {
		const struct lpl_cache_store *below = store[i].below;

		if (!is_there(cache, i))
			continue;
		if (below != NULL && below->level.line < store[i].level.line)
			return "lines do not get smaller from level to level";
		if (cache->relation == LPL_CACHE_EXCLUSIVE && (store[i].through || store[i].around))
			return "exclusive levels write back, and allocate";
		if (cache->relation == LPL_CACHE_EXCLUSIVE && below != NULL &&
		    below->level.line != store[i].level.line)
			return "the lines of exclusive levels are of one size";
		if (cache->relation == LPL_CACHE_INCLUSIVE && below != NULL && below->around)
			return "an inclusive level allocates";
	}
	return NULL;
}

enum lpl_error lpl_cache_parse(struct lpl_cache *cache, const char *spec, struct lpl_report *report)
{
	const char *rest = spec, *end = spec + strlen(spec), *why;

	if (strlen(spec) >= LPL_CACHE_SPEC_SIZE)
		return lpl_fail(report, LPL_ERR_USAGE, "cache '%.40s...': longer than %d characters", spec,
				LPL_CACHE_SPEC_SIZE - 1);
	while (rest != NULL)
		LPL_TRY(read_part(cache, spec, lpl_word_cut(&rest, end, ':'), report));
	link_all(cache);
	why = fault_of(cache);
	return why == NULL ? LPL_OK :
		lpl_fail(report, LPL_ERR_USAGE, "cache '%.80s': %s", spec, why);
}
