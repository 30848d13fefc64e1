/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The map.  A place that becomes free is filled with a later entry, so that there are no
 * tombstones, and no search is longer than it has to be.
 */
#include "map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_ROOM 64

void lpl_map_init(struct lpl_map *map, unsigned int words)
{
	assert(words >= 1 && words <= LPL_KEY_WORDS);
	*map = (struct lpl_map){ .words = words };
	/* without randomness only the resistance to chosen keys is lost */
	if (getrandom(&map->seed, sizeof(map->seed), GRND_NONBLOCK) < 0)
		map->seed = UINT64_C(0x9e3779b97f4a7c15);
}

void lpl_map_free(struct lpl_map *map)
{
	free(map->place);
	map->place = NULL;
	map->room = map->count = 0;
}

bool lpl_map_copy(struct lpl_map *copy, const struct lpl_map *map)
{
	const size_t size = map->room * (map->words + 1) * sizeof(*map->place);

	*copy = *map;
	if (size == 0)
		return true;
	copy->place = malloc(size);
	if (copy->place == NULL) {
		copy->room = copy->count = 0;
		return false;
	}
	memcpy(copy->place, map->place, size);
	return true;
}

static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static inline uint64_t *place_at(const struct lpl_map *map, size_t i)
{
	return map->place + i * (map->words + 1);
}

static inline uint64_t *value_at(const struct lpl_map *map, size_t i)
{
	return place_at(map, i) + map->words;
}

/* Where a search for the key begins; a key of one word takes a shorter way. */
static inline size_t home(const struct lpl_map *map, const uint64_t *word, unsigned int words)
{
	uint64_t mixed;

	if (words == 1) {
		mixed = (word[0] ^ map->seed) * UINT64_C(0xd6e8feb86659fd93);
		mixed ^= mixed >> 32;
		return mixed * UINT64_C(0x9e3779b97f4a7c15) >> (__builtin_clzll(map->room) + 1);
	}
	mixed = mix(word[0] ^ map->seed);
	for (unsigned int i = 1; i < words; i++)
		mixed = mix(mixed + word[i]);
	return mixed & (map->room - 1);
}

/* `words` is the map's, and is known where this is inlined: a search has no inner loops. */
static inline size_t probe_words(const struct lpl_map *map, const uint64_t *word,
				 unsigned int words)
{
	for (size_t i = home(map, word, words);; i = (i + 1) & (map->room - 1)) {
		const uint64_t *place = map->place + i * (words + 1);
		unsigned int same = 0;

		while (same < words && place[same] == word[same])
			same++;
		if (same == words || place[words] == 0)
			return i;
	}
}

/* The key's place, or the free one where it belongs.  The map is never full. */
static size_t probe(const struct lpl_map *map, const uint64_t *word)
{
	switch (map->words) {
	case 1:
		return probe_words(map, word, 1);
	case 2:
		return probe_words(map, word, 2);
	default:
		return probe_words(map, word, 3);
	}
}

uint64_t *lpl_map_find_words(const struct lpl_map *map, const uint64_t *word)
{
	uint64_t *value = map->room != 0 ? value_at(map, probe(map, word)) : NULL;

	return value != NULL && *value != 0 ? value : NULL;
}

/* The same in a table of `room` places. */
static bool rebuild(struct lpl_map *map, size_t room)
{
	struct lpl_map old = *map;
	const size_t size = (map->words + 1) * sizeof(*map->place);
	uint64_t *place = room <= SIZE_MAX / size ? calloc(room, size) : NULL;

	if (place == NULL)
		return false;
	map->place = place;
	map->room = room;
	map->count = 0;
	for (size_t i = 0; i < old.room; i++) {
		if (*value_at(&old, i) == 0)
			continue;
		memcpy(place_at(map, probe(map, place_at(&old, i))), place_at(&old, i), size);
		map->count++;
	}
	assert(map->count == old.count && map->count < map->room);
	free(old.place);
	return true;
}

uint64_t *lpl_map_reach_words(struct lpl_map *map, const uint64_t *word)
{
	size_t i = map->room != 0 ? probe(map, word) : 0;

	if (map->room != 0 && *value_at(map, i) != 0)
		return value_at(map, i);
	if (map->count >= map->room - map->room / 4) {
		if (!rebuild(map, map->room == 0 ? FIRST_ROOM : map->room * 2))
			return NULL;
		i = probe(map, word);
	}
	memcpy(place_at(map, i), word, map->words * sizeof(*word));
	map->count++;
	assert(map->count < map->room);		/* a place is free, where searches end */
	return value_at(map, i);
}

bool lpl_map_put(struct lpl_map *map, struct lpl_key key, uint64_t value)
{
	uint64_t *place = lpl_map_reach(map, key);

	assert(value != 0);
	if (place == NULL)
		return false;
	*place = value;
	return true;
}

bool lpl_map_remove(struct lpl_map *map, struct lpl_key key)
{
	const size_t mask = map->room - 1;
	size_t hole;

	if (lpl_map_find(map, key) == NULL)
		return false;
	hole = probe(map, key.word);
	/* what stands after the hole, and would be looked for from before it, moves up */
	for (size_t i = (hole + 1) & mask; *value_at(map, i) != 0; i = (i + 1) & mask) {
		size_t distance = (i - home(map, place_at(map, i), map->words)) & mask;

		if (distance < ((i - hole) & mask))
			continue;
		memcpy(place_at(map, hole), place_at(map, i),
		       (map->words + 1) * sizeof(*map->place));
		hole = i;
	}
	*value_at(map, hole) = 0;
	map->count--;
	return true;
}
