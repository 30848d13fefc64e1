/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hardware caches by brute force; see oracle_lines.h. */
#include "oracle_lines.h"
#include "page.h"

#include <stdio.h>
#include <stdlib.h>

/* Something at a place in memory: bytes [address, address + bytes) of a space. */
struct place {
	uint64_t address, bytes, space;
};

static int below(const struct oracle_cache *cache, int level)
{
	int next = level < ORACLE_L2 ? ORACLE_L2 : level + 1;

	return next < ORACLE_MEMORY && cache->level[next].ways == 0 ? ORACLE_MEMORY : next;
}

static struct place place_of(const struct oracle_level *level, const struct oracle_line *line)
{
	return (struct place){ line->number * level->line, level->line, line->space };
}

static bool lies_in(const struct place *inner, const struct place *outer)
{
	return inner->space == outer->space && inner->address >= outer->address &&
	       inner->address - outer->address < outer->bytes;
}

static struct oracle_line *look(struct oracle_level *level, const struct place *place)
{
	for (uint32_t i = 0; i < level->sets * level->ways; i++) {
		struct oracle_line *line = &level->lines[i];
		const struct place held = place_of(level, line);

		if (line->there && lies_in(place, &held))
			return line;
	}
	return NULL;
}

/* Halves [from, to) of the ways, and the node that says which of them is the older. */
static void mark_newer(bool *older, uint32_t node, uint32_t from, uint32_t to, uint32_t way)
{
	const uint32_t middle = from + (to - from) / 2;

	if (to - from == 1)
		return;
	older[node] = way < middle;
	if (way < middle)
		mark_newer(older, 2 * node + 1, from, middle, way);
	else
		mark_newer(older, 2 * node + 2, middle, to, way);
}

static uint32_t find_older(const bool *older, uint32_t node, uint32_t from, uint32_t to)
{
	const uint32_t middle = from + (to - from) / 2;

	if (to - from == 1)
		return from;
	return older[node] ? find_older(older, 2 * node + 2, middle, to) :
			     find_older(older, 2 * node + 1, from, middle);
}

static void use(struct oracle_cache *cache, struct oracle_level *level, struct oracle_line *line)
{
	const uint32_t i = (uint32_t)(line - level->lines), set = i / level->ways;

	line->used = ++cache->now;
	if (level->replacement == ORACLE_PLRU)
		mark_newer(&level->older[(size_t)set * level->ways], 0, 0, level->ways, i % level->ways);
}

/* SplitMix64, as its author has published it. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Where a line goes that is not there: the first empty way, or that of the line that has to leave. */
static struct oracle_line *choose(struct oracle_level *level, const struct place *place)
{
	const uint32_t set = (uint32_t)(place->address / level->line % level->sets);
	struct oracle_line *ways = &level->lines[(size_t)set * level->ways], *oldest = &ways[0];

	for (uint32_t i = 0; i < level->ways; i++)
		if (!ways[i].there)
			return &ways[i];
	if (level->replacement == ORACLE_RANDOM)
		return &ways[(next_random(&level->seed) >> 32) * level->ways >> 32];
	if (level->replacement == ORACLE_PLRU)
		return &ways[find_older(&level->older[(size_t)set * level->ways], 0, 0, level->ways)];
	for (uint32_t i = 1; i < level->ways; i++)
		if (ways[i].used < oldest->used)
			oldest = &ways[i];
	return oldest;
}

/* A dirty line from a level: to the first one after it that has it and keeps what is written. */
static void write_back(struct oracle_cache *cache, int from, const struct place *place)
{
	int i;

	for (i = below(cache, from); i != ORACLE_MEMORY; i = below(cache, i)) {
		struct oracle_line *line = look(&cache->level[i], place);

		if (line == NULL)
			continue;
		cache->level[i].written++;
		if (!cache->level[i].through) {
			line->dirty = true;
			return;
		}
	}
	cache->level[ORACLE_MEMORY].written++;
}

/* All lines of the levels above leave that lie in this line; what is dirty of them makes the next one dirty. */
static void clear_above(struct oracle_cache *cache, int level, const struct place *outer)
{
	for (int i = 0; i < level; i++) {
		struct oracle_level *above = &cache->level[i];

		for (uint32_t j = 0; j < above->sets * above->ways; j++) {
			struct oracle_line *line = &above->lines[j];
			const struct place place = place_of(above, line);

			if (!line->there || !lies_in(&place, outer))
				continue;
			above->invalidations++;
			line->there = false;
			if (!line->dirty)
				continue;
			above->write_backs++;
			look(&cache->level[below(cache, i)], &place)->dirty = true;
			cache->level[below(cache, i)].written++;
		}
	}
}

static void make_room(struct oracle_cache *cache, int i, struct oracle_line *line)
{
	struct oracle_level *level = &cache->level[i];
	const struct place place = place_of(level, line);

	if (!line->there)
		return;
	level->evictions++;
	if (cache->relation == ORACLE_INCLUSIVE && i >= ORACLE_L2)
		clear_above(cache, i, &place);
	line->there = false;
	if (line->dirty) {
		level->write_backs++;
		write_back(cache, i, &place);
	}
}

static void put(struct oracle_cache *cache, struct oracle_level *level, struct oracle_line *line,
		const struct place *place, bool dirty)
{
	*line = (struct oracle_line){ .there = true, .dirty = dirty, .number = place->address / level->line,
				      .space = place->space };
	use(cache, level, line);
}

/* `writes`: what is written arrives here. */
static void reach(struct oracle_cache *cache, int i, const struct place *place, int type, bool writes)
{
	struct oracle_level *level = &cache->level[i];
	struct oracle_line *line;

	level->references[type]++;
	if (i == ORACLE_MEMORY)
		return;
	line = look(level, place);
	if (line != NULL) {
		use(cache, level, line);
		if (writes && !level->through)
			line->dirty = true;
		if (writes && level->through)
			reach(cache, below(cache, i), place, type, true);
		return;
	}
	level->misses[type]++;
	reach(cache, below(cache, i), place, type, writes && (level->through || level->around));
	if (writes && level->around)
		return;
	line = choose(level, place);
	make_room(cache, i, line);
	put(cache, level, line, place, writes && !level->through);
}

/* ---- exclusive ---- */

/* What leaves a level is put into the next. */
static void hand_down(struct oracle_cache *cache, int from, struct oracle_line old)
{
	const int i = below(cache, from);
	struct oracle_level *level = &cache->level[i];
	const struct place place = place_of(&cache->level[from], &old);
	struct oracle_line *line, evicted;

	cache->level[from].evictions++;
	if (old.dirty) {
		cache->level[from].write_backs++;
		level->written++;
	}
	if (i == ORACLE_MEMORY)
		return;
	line = look(level, &place);
	if (line != NULL) {
		line->dirty = line->dirty || old.dirty;
		return;
	}
	line = choose(level, &place);
	evicted = *line;
	put(cache, level, line, &place, old.dirty);
	if (evicted.there)
		hand_down(cache, i, evicted);
}

static void reach_exclusive(struct oracle_cache *cache, int first, const struct place *place, int type)
{
	struct oracle_level *level = &cache->level[first];
	struct oracle_line *line, evicted;
	bool dirty = type == ORACLE_WRITE;
	int i;

	for (i = first; i != ORACLE_MEMORY; i = below(cache, i)) {
		cache->level[i].references[type]++;
		line = look(&cache->level[i], place);
		if (line != NULL)
			break;
		cache->level[i].misses[type]++;
	}
	if (i == first) {
		use(cache, level, line);
		line->dirty = line->dirty || dirty;
		return;
	}
	if (i == ORACLE_MEMORY) {
		cache->level[i].references[type]++;
	} else {
		dirty = dirty || line->dirty;
		line->there = false;
	}
	line = choose(level, place);
	evicted = *line;
	put(cache, level, line, place, dirty);
	if (evicted.there)
		hand_down(cache, first, evicted);
}

/* ---- the stream ---- */

void oracle_cache_access(struct oracle_cache *cache, const struct lpl_ref *ref)
{
	const int type = ref->type == LPL_FETCH ? ORACLE_FETCH : is_write(ref) ? ORACLE_WRITE : ORACLE_READ;
	const int first = cache->level[ORACLE_L1].ways != 0 ? ORACLE_L1 :
			  type == ORACLE_FETCH ? ORACLE_L1I : ORACLE_L1D;
	const uint64_t size = cache->level[first].line;
	uint64_t last = UINT64_MAX;

	for (uint64_t at = ref->address; at < ref->address + (ref->length != 0 ? ref->length : 1U); at++) {
		const struct place place = { at, 1, walk(ref) ? UINT64_MAX : ref->space };

		if (at / size == last)
			continue;
		last = at / size;
		if (cache->relation == ORACLE_EXCLUSIVE)
			reach_exclusive(cache, first, &place, type);
		else
			reach(cache, first, &place, type, type == ORACLE_WRITE);
	}
}

void oracle_cache_begin(struct oracle_cache *cache)
{
	for (int i = 0; i < ORACLE_MEMORY; i++) {
		struct oracle_level *level = &cache->level[i];
		const size_t lines = (size_t)level->sets * level->ways;

		level->lines = calloc(lines + 1, sizeof(*level->lines));
		level->older = calloc(lines + 1, sizeof(*level->older));
		if (level->lines == NULL || level->older == NULL) {
			(void)fprintf(stderr, "oracle: no memory\n");
			abort();
		}
	}
}

void oracle_cache_end(struct oracle_cache *cache)
{
	for (int i = 0; i < ORACLE_MEMORY; i++) {
		free(cache->level[i].lines);
		free(cache->level[i].older);
	}
}

void oracle_cache_run(struct oracle_cache *cache, const struct stream *in)
{
	oracle_cache_begin(cache);
	for (size_t i = 0; i < in->count; i++)
		if (!in->item[i].is_event)
			oracle_cache_access(cache, &in->item[i].ref);
	oracle_cache_end(cache);
}
