/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A frame map: in which frame each of the pages in a memory is.
 *
 * A hash table with open addressing, at least half of it free.  A place that becomes free is
 * filled with a later entry, so that no search is longer than it has to be.  An array by page
 * would be a little faster, but cost all the trace's pages for each of the many memories of a
 * pass; this costs 16 to 32 bytes for each page in memory.  An lpl_map (base/map.h) would cost up to
 * twice that, and four times the instructions: `bench/tables`.
 */
#ifndef LAPLACE_SIM_FRAME_MAP_H
#define LAPLACE_SIM_FRAME_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LPL_NO_FRAME UINT32_MAX

struct lpl_frame_map {
	struct {
		uint32_t page, frame;	/* page 0: the place is free */
	} *place;
	uint32_t mask;		/* places - 1 */
	unsigned int shift;	/* 32 - log2(places) */
	uint32_t count;		/* pages in it */
};

bool lpl_frame_map_init(struct lpl_frame_map *map);	/* false: no memory */
void lpl_frame_map_free(struct lpl_frame_map *map);
/* Add a page that is not there.  false: no memory. */
bool lpl_frame_map_add(struct lpl_frame_map *map, uint32_t page, uint32_t frame);
/* Remove a page that is there. */
void lpl_frame_map_remove(struct lpl_frame_map *map, uint32_t page);

/* Where the search for a page begins. */
static inline uint32_t lpl_frame_map_home(const struct lpl_frame_map *map, uint32_t page)
{
	/* 2^32 divided by the golden ratio; the product's high bits are the mixed ones */
	return page * UINT32_C(0x9e3779b9) >> map->shift;
}

/* The page's frame; LPL_NO_FRAME: it is not there. */
static inline uint32_t lpl_frame_map_find(const struct lpl_frame_map *map, uint32_t page)
{
	uint32_t i = lpl_frame_map_home(map, page);

	while (map->place[i].page != page) {
		if (map->place[i].page == 0)
			return LPL_NO_FRAME;
		i = (i + 1) & map->mask;
	}
	return map->place[i].frame;
}

#endif
