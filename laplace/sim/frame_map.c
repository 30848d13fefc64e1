/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frame maps: growth, adding, removing.  The search is in frame_map.h. */
#include "frame_map.h"

#include <assert.h>
#include <stdlib.h>

enum { FIRST_BITS = 5, MOST_BITS = 31 };

static bool make_places(struct lpl_frame_map *map, unsigned int bits)
{
	struct lpl_frame_map old = *map;

	map->place = calloc((size_t)1 << bits, sizeof(*map->place));
	if (map->place == NULL) {
		*map = old;
		return false;
	}
	map->mask = (UINT32_C(1) << bits) - 1;
	map->shift = 32 - bits;
	map->count = 0;
	if (old.place != NULL)
		for (size_t i = 0; i <= old.mask; i++)
			if (old.place[i].page != 0)
				(void)lpl_frame_map_add(map, old.place[i].page,
							old.place[i].frame);
	free(old.place);
	return true;
}

bool lpl_frame_map_init(struct lpl_frame_map *map)
{
	*map = (struct lpl_frame_map){0};
	return make_places(map, FIRST_BITS);
}

void lpl_frame_map_free(struct lpl_frame_map *map)
{
	free(map->place);
	*map = (struct lpl_frame_map){0};
}

bool lpl_frame_map_add(struct lpl_frame_map *map, uint32_t page, uint32_t frame)
{
	unsigned int bits = 32 - map->shift;
	uint32_t i;

	assert(page != 0 && lpl_frame_map_find(map, page) == LPL_NO_FRAME);
	if (map->count > map->mask / 2 &&
	    (bits == MOST_BITS || !make_places(map, bits + 1)))
		return false;
	i = lpl_frame_map_home(map, page);
	while (map->place[i].page != 0)
		i = (i + 1) & map->mask;
	map->place[i].page = page;
	map->place[i].frame = frame;
	map->count++;
	assert(map->count <= map->mask);	/* a place is free, where searches end */
	return true;
}

void lpl_frame_map_remove(struct lpl_frame_map *map, uint32_t page)
{
	uint32_t hole = lpl_frame_map_home(map, page);
	uint32_t i;

	while (map->place[hole].page != page) {
		assert(map->place[hole].page != 0);	/* the page is there */
		hole = (hole + 1) & map->mask;
	}
	for (i = (hole + 1) & map->mask; map->place[i].page != 0;
	     i = (i + 1) & map->mask) {
		uint32_t home = lpl_frame_map_home(map, map->place[i].page);

		/* it may move to the hole if that is on the way from its home */
		if (((i - home) & map->mask) >= ((i - hole) & map->mask)) {
			map->place[hole] = map->place[i];
			hole = i;
		}
	}
	map->place[hole].page = 0;
	map->count--;
}
