/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A map from numbers to numbers; see idmap.h.
 */
#include <stdlib.h>

#include "idmap.h"

#define LEAST_ROOM 1024

static size_t home_of(const struct idmap *map, uint64_t key)
{
	/* the high bits of a product depend on all of the key */
	return (size_t)(key * 0x9e3779b97f4a7c15U >> 20) & (map->room - 1);
}

/* Where the key is, or belongs. */
static size_t place_of(const struct idmap *map, uint64_t key)
{
	size_t i = home_of(map, key);

	while (map->slot[i].value && map->slot[i].key != key)
		i = (i + 1) & (map->room - 1);
	return i;
}

static bool grow(struct idmap *map)
{
	struct idmap larger = {
		.room = map->room ? 2 * map->room : LEAST_ROOM, .count = map->count,
	};

	larger.slot = calloc(larger.room, sizeof(*larger.slot));
	if (!larger.slot)
		return false;
	for (size_t i = 0; i < map->room; i++) {
		if (map->slot[i].value)
			larger.slot[place_of(&larger, map->slot[i].key)] = map->slot[i];
	}
	free(map->slot);
	*map = larger;
	return true;
}

uint64_t *idmap_reach(struct idmap *map, uint64_t key)
{
	struct idmap_slot *slot;

	if (2 * (map->count + 1) > map->room && !grow(map))
		return NULL;
	slot = &map->slot[place_of(map, key)];
	if (!slot->value) {
		slot->key = key;
		map->count++;
	}
	return &slot->value;
}

const uint64_t *idmap_find(const struct idmap *map, uint64_t key)
{
	const struct idmap_slot *slot;

	if (!map->room)
		return NULL;
	slot = &map->slot[place_of(map, key)];
	return slot->value ? &slot->value : NULL;
}

/* Whoever stands behind the gap and would be looked for from before it moves up. */
bool idmap_remove(struct idmap *map, uint64_t key)
{
	const size_t mask = map->room - 1;
	size_t gap;

	if (!map->room)
		return false;
	gap = place_of(map, key);
	if (!map->slot[gap].value)
		return false;
	for (size_t i = (gap + 1) & mask; map->slot[i].value; i = (i + 1) & mask) {
		size_t home = home_of(map, map->slot[i].key);

		if (((i - home) & mask) >= ((i - gap) & mask)) {
			map->slot[gap] = map->slot[i];
			gap = i;
		}
	}
	map->slot[gap].value = 0;
	map->count--;
	return true;
}

void idmap_free(struct idmap *map)
{
	free(map->slot);
	*map = (struct idmap){ 0 };
}
