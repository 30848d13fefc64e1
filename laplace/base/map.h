/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A map from one to three words to one word that is not 0: open addressing, linear probing,
 * at most three quarters full.  Keys may be a guest's, or a file's, so where they fall depends
 * on a random seed: which ones collide cannot be known, and the order of places means nothing and
 * repeats in no other run.
 *
 * It takes `words` + 1 words for each place.  What is looked up for each reference has tables
 * of its own, which know more of their keys: pages in order of recency (reduce/pages.h), the frames
 * of the many memories of a simulation (sim/frame_map.h), a survey's pages (survey/page_set.h), the
 * pages of a window (bochs/instrument/window.cc) and translations (merge/resolve.c).
 * `bench/tables --builddir .` does the work of each of them with this map, too: it would take from
 * 1.4 times the instructions (page sets) to ten times (windows).
 */
#ifndef LAPLACE_BASE_MAP_H
#define LAPLACE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LPL_KEY_WORDS 3

struct lpl_key {
	uint64_t word[LPL_KEY_WORDS];	/* those that the map does not use are not looked at */
};

/* LPL_KEY(space, page) */
#define LPL_KEY(...) ((struct lpl_key){ .word = { __VA_ARGS__ } })

struct lpl_map {
	uint64_t *place;	/* of words + 1 words each: the key, the value; value 0: free */
	size_t room;		/* places: a power of two, or 0 */
	size_t count;		/* of them in use */
	unsigned int words;
	uint64_t seed;
};

/* An empty map, for keys of `words` words (1 to LPL_KEY_WORDS). */
void lpl_map_init(struct lpl_map *map, unsigned int words);
/* Frees what it holds; it is empty again. */
void lpl_map_free(struct lpl_map *map);
/* `copy`, which held nothing, has what `map` has.  false: no memory, it is empty. */
bool lpl_map_copy(struct lpl_map *copy, const struct lpl_map *map);

/* The next two by a key's words: a struct would be copied for each call. */
uint64_t *lpl_map_find_words(const struct lpl_map *map, const uint64_t *word);
uint64_t *lpl_map_reach_words(struct lpl_map *map, const uint64_t *word);

/* Where the value is, until the map is changed; NULL when the key is absent. */
static inline uint64_t *lpl_map_find(const struct lpl_map *map, struct lpl_key key)
{
	return lpl_map_find_words(map, key.word);
}

/*
 * The same, but an absent key is entered: *value is 0 then, and has to be set before the map
 * is used again.  NULL: no memory, nothing changed.
 */
static inline uint64_t *lpl_map_reach(struct lpl_map *map, struct lpl_key key)
{
	return lpl_map_reach_words(map, key.word);
}

/* The value; 0 when the key is absent. */
static inline uint64_t lpl_map_get(const struct lpl_map *map, struct lpl_key key)
{
	const uint64_t *value = lpl_map_find(map, key);

	return value != NULL ? *value : 0;
}

/* Set or replace; `value` is not 0.  false: no memory, nothing changed. */
bool lpl_map_put(struct lpl_map *map, struct lpl_key key, uint64_t value);
/* false: it was not there. */
bool lpl_map_remove(struct lpl_map *map, struct lpl_key key);

#endif
