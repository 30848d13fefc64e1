/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hash-tables TABLE WAY STEPS: the work that one of our own hash tables is made for, done with it (own),
 * with base/map (map), or not at all (none), so that what is counted of the other two can be taken
 * less what draws the pages.  bench/tables runs it.
 *
 *	frames	the frames of a memory of 4096 pages: which page is there; on a fault one goes
 *	pages	a reducer's 4096 pages, in order of recency
 *	sets	the pages of a process: each reference asks for one, each new one is entered
 *	window	windows of 64 pages: each reference asks, and when the 65th page comes all go
 *	cache	translations: nearly all are there, and one that is lost is made again
 *
 * `window` and `cache` repeat what bochs/instrument/window.cc and merge/resolve.c do, as their
 * tables cannot be had without all the rest; the others are linked.  Prints the seconds of processor
 * time, the bytes of the table, and a sum, which must be the same both ways.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "reduce/pages.h"
#include "sim/frame_map.h"
#include "survey/page_set.h"

enum { FRAMES = 4096, DRAWN = 16384, WINDOW = 64, BUCKETS = 256, CACHE_BITS = 16 };
enum way { OWN, MAP, NONE };

static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* From 1 on; half of them are of a 64th of `pages`, half of the rest of an eighth. */
static uint32_t next_page(uint32_t pages)
{
	const uint64_t drawn = draw();
	const uint32_t most = drawn & 1 ? pages / 64 : drawn & 2 ? pages / 8 : pages;

	return 1 + (uint32_t)(drawn >> 8) % most;
}

static void must(bool done)
{
	if (!done) {
		fprintf(stderr, "tables: no memory\n");
		exit(1);
	}
}

static size_t map_bytes(const struct lpl_map *map)
{
	return map->room * (map->words + 1) * sizeof(*map->place);
}

/* ---- frames ---- */

static uint64_t frames(enum way way, uint64_t steps, size_t *bytes)
{
	static uint32_t in_frame[FRAMES];
	struct lpl_frame_map own;
	struct lpl_map map;
	uint64_t faults = 0;

	must(lpl_frame_map_init(&own));
	lpl_map_init(&map, 1);
	while (steps-- > 0) {
		const uint32_t page = next_page(DRAWN), hand = (uint32_t)(faults % FRAMES);
		const uint32_t victim = in_frame[hand];

		if (way == NONE ||
		    (way == OWN ? lpl_frame_map_find(&own, page) != LPL_NO_FRAME :
				  lpl_map_get(&map, LPL_KEY(page)) != 0))
			continue;
		if (way == OWN) {
			if (victim != 0)
				lpl_frame_map_remove(&own, victim);
			must(lpl_frame_map_add(&own, page, hand));
		} else {
			if (victim != 0)
				lpl_map_remove(&map, LPL_KEY(victim));
			must(lpl_map_put(&map, LPL_KEY(page), hand + 1));
		}
		in_frame[hand] = page;
		faults++;
	}
	*bytes = way == OWN ? ((size_t)own.mask + 1) * sizeof(*own.place) : map_bytes(&map);
	lpl_frame_map_free(&own);
	lpl_map_free(&map);
	return faults;
}

/* ---- pages in order of recency ---- */

static uint64_t pages(enum way way, uint64_t steps, size_t *bytes)
{
	struct lpl_pages own;	/* the list's nodes, for both */
	struct lpl_map map;
	uint64_t faults = 0;

	must(lpl_pages_init(&own));
	lpl_map_init(&map, 2);
	while (steps-- > 0) {
		const struct lpl_page page = { .space = 7, .number = next_page(DRAWN) };
		uint32_t i = lpl_pages_newest(&own), victim;

		if (way == NONE)
			continue;
		if (way == OWN) {
			i = lpl_pages_hit(&own, page);
		} else if (i == 0 || !lpl_same_page(own.node[i].page, page)) {
			i = (uint32_t)lpl_map_get(&map, LPL_KEY(page.space, page.number));
			if (i != 0)
				lpl_pages_touch(&own, i);
		}
		if (i != 0)
			continue;
		faults++;
		victim = own.count == FRAMES ? lpl_pages_oldest(&own) : 0;
		if (way == OWN) {
			must(lpl_pages_enter(&own, page, victim) != 0);
			continue;
		}
		/* with the nodes alone */
		if (victim != 0)
			lpl_map_remove(&map, LPL_KEY(own.node[victim].page.space,
						     own.node[victim].page.number));
		else
			victim = lpl_pages_add(&own, page);
		own.node[victim].page = page;
		lpl_pages_touch(&own, victim);
		must(lpl_map_put(&map, LPL_KEY(page.space, page.number), victim));
	}
	*bytes = own.capacity * sizeof(*own.node) +
		 (way == OWN ? ((size_t)1 << (64 - own.shift)) * sizeof(*own.bucket) : map_bytes(&map));
	lpl_pages_free(&own);
	lpl_map_free(&map);
	return faults;
}

/* ---- sets ---- */

static bool is_needed(const void *context, uint64_t page)
{
	(void)context;
	return page != 0;
}

static uint64_t sets(enum way way, uint64_t steps, size_t *bytes)
{
	struct page_set own = { .page = NULL };
	struct lpl_map map;
	uint64_t entered = 0;
	bool added;

	lpl_map_init(&map, 1);
	while (steps-- > 0) {
		const uint32_t page = next_page(DRAWN);
		uint64_t *place;

		if (way == OWN) {
			must(lpl_page_set_add(&own, page, &added, is_needed, NULL));
			entered += added;
		} else if (way == MAP) {
			place = lpl_map_reach(&map, LPL_KEY(page));
			must(place != NULL);
			entered += *place == 0;
			*place = 1;
		}
	}
	*bytes = way == OWN ? own.room * sizeof(*own.page) : map_bytes(&map);
	lpl_page_set_free(&own);
	lpl_map_free(&map);
	return entered;
}

/* ---- windows ---- */

static uint64_t windows(enum way way, uint64_t steps, size_t *bytes)
{
	static uint32_t bucket[BUCKETS];
	static struct lpl_page page[WINDOW];
	uint64_t ended = 0;
	uint32_t count = 0;
	struct lpl_map map;

	lpl_map_init(&map, 2);
	while (steps-- > 0) {
		const struct lpl_page wanted = { .space = 7, .number = next_page(2 * WINDOW) };
		uint32_t b = (uint32_t)((wanted.number ^ wanted.space * UINT64_C(0x9e3779b97f4a7c15)) *
					UINT64_C(0xd6e8feb86659fd93) >> 32) & (BUCKETS - 1);

		if (way == NONE)
			continue;
		if (way == OWN) {
			while (bucket[b] != 0 && !lpl_same_page(page[bucket[b] - 1], wanted))
				b = (b + 1) & (BUCKETS - 1);
			if (bucket[b] != 0)
				continue;
		} else if (lpl_map_get(&map, LPL_KEY(wanted.space, wanted.number)) != 0) {
			continue;
		}
		if (count == WINDOW) {
			for (uint32_t i = 0; way == MAP && i < count; i++)
				lpl_map_remove(&map, LPL_KEY(page[i].space, page[i].number));
			if (way == OWN)
				memset(bucket, 0, sizeof(bucket));
			count = 0;
			ended++;
		}
		page[count++] = wanted;
		if (way == MAP) {
			must(lpl_map_put(&map, LPL_KEY(wanted.space, wanted.number), count));
			continue;
		}
		/* it may be another place, now that the table is empty */
		b = (uint32_t)((wanted.number ^ wanted.space * UINT64_C(0x9e3779b97f4a7c15)) *
			       UINT64_C(0xd6e8feb86659fd93) >> 32) & (BUCKETS - 1);
		while (bucket[b] != 0)
			b = (b + 1) & (BUCKETS - 1);
		bucket[b] = count;
	}
	*bytes = way == OWN ? sizeof(bucket) : map_bytes(&map);
	lpl_map_free(&map);
	return ended;
}

/* ---- a cache ---- */

static uint64_t cache(enum way way, uint64_t steps, size_t *bytes)
{
	static struct {
		uint64_t asid, page, canonical;
	} own[1 << CACHE_BITS];
	struct lpl_map map;
	uint64_t sum = 0;

	lpl_map_init(&map, 2);
	while (steps-- > 0) {
		const uint64_t page = next_page(DRAWN), asid = 7;
		const size_t at = (page ^ asid << 7) * UINT64_C(0x9e3779b97f4a7c15) >>
				  (64 - CACHE_BITS);
		uint64_t *place;

		if (way == OWN) {
			if (own[at].asid != asid || own[at].page != page) {
				own[at].asid = asid;
				own[at].page = page;
				own[at].canonical = page;
			}
			sum += own[at].canonical;
		} else if (way == MAP) {
			place = lpl_map_reach(&map, LPL_KEY(asid, page));
			must(place != NULL);
			if (*place == 0)
				*place = page;
			sum += *place;
		}
	}
	*bytes = way == OWN ? sizeof(own) : map_bytes(&map);
	lpl_map_free(&map);
	return sum;
}

/* ---- all of them ---- */

static const struct {
	const char *name;
	uint64_t (*work)(enum way way, uint64_t steps, size_t *bytes);
} tables[] = {
	{ "frames", frames }, { "pages", pages }, { "sets", sets }, { "window", windows },
	{ "cache", cache },
};

int main(int argc, char **argv)
{
	static const char *const ways[] = { [OWN] = "own", [MAP] = "map", [NONE] = "none" };

	for (size_t i = 0; argc == 4 && i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (enum way way = OWN; way <= NONE; way++) {
			struct timespec from, to;
			uint64_t sum;
			size_t bytes;

			if (strcmp(argv[1], tables[i].name) != 0 || strcmp(argv[2], ways[way]) != 0)
				continue;
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
			sum = tables[i].work(way, strtoull(argv[3], NULL, 10), &bytes);
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
			printf("%.6f %zu %" PRIu64 "\n", (double)(to.tv_sec - from.tv_sec) +
			       (double)(to.tv_nsec - from.tv_nsec) / 1e9, bytes, sum);
			return 0;
		}
	}
	fprintf(stderr, "usage: tables frames|pages|sets|window|cache own|map|none STEPS\n");
	return 2;
}
