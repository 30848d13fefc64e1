/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What walks load, through caches; see walk_loads.h.
 *
 * A table is known by the bits of an address that lead to it.  The entries that a processor's walk reads have
 * these bits in their offsets, so a trace with walks shows where tables are, whatever came of the walk.
 */
#include "walk_loads.h"

#include "base/map.h"
#include "base/try.h"
#include "cache.h"
#include "reduce/pages.h"

#include <stdlib.h>

enum { MOST_TABLES = 5, MOST_SEEN = 64 };

#define PHYSICAL	LPL_WALK_SPACE	/* the space of physical addresses in the caches, and ... */
#define EVERYWHERE	LPL_WALK_SPACE	/* ... in `frame`: of tables that lead to global pages */
#define OFFSET		((UINT64_C(1) << LPL_PAGE_SHIFT) - 1)

struct lpl_walk_loads {
	struct lpl_cache *caches;
	struct lpl_translations *translations;	/* NULL: the trace has none */
	unsigned int tables;
	unsigned int bits;		/* of an address that choose an entry of a table */
	unsigned int entry;		/* log2 of its bytes */
	struct lpl_map frame;		/* space, table, number of it -> frame + 1 */
	uint64_t made_up;		/* frames that were */
	uint64_t seen[MOST_SEEN];	/* addresses of entries that were read, since the last other reference */
	size_t seen_count;
	bool no_memory;
	struct lpl_tlb_loads count[MOST_TABLES + 1];
};

/* ---- where tables are ---- */

/* The number of the table that an address leads to: as many bits as the tables above it take. */
static uint64_t number_of(const struct lpl_walk_loads *loads, unsigned int table, uint64_t address)
{
	const unsigned int above = loads->bits * (loads->tables - table);

	return address >> (LPL_PAGE_SHIFT + loads->bits * table) & ((UINT64_C(1) << above) - 1);
}

static uint64_t entry_of(const struct lpl_walk_loads *loads, unsigned int table, uint64_t address)
{
	return address >> (LPL_PAGE_SHIFT + loads->bits * (table - 1)) & ((UINT64_C(1) << loads->bits) - 1);
}

static void put_frame(struct lpl_walk_loads *loads, uint64_t space, unsigned int table, uint64_t number,
		      uint64_t frame)
{
	loads->no_memory |= !lpl_map_put(&loads->frame, LPL_KEY(space, table, number), frame + 1);
}

void lpl_walk_loads_see(struct lpl_walk_loads *loads, const struct lpl_ref *ref)
{
	if (ref->type == LPL_WALK_READ && ref->length == 1U << loads->entry && loads->seen_count < MOST_SEEN)
		loads->seen[loads->seen_count++] = ref->address;
}

/* Walks begin at the top: in the frame that a space is named by. */
enum lpl_error lpl_walk_loads_learn(struct lpl_walk_loads *loads, uint64_t space, struct lpl_report *report)
{
	unsigned int table = 0;
	uint64_t number = 0;

	for (size_t i = 0; i < loads->seen_count; i++) {
		const uint64_t frame = loads->seen[i] >> LPL_PAGE_SHIFT;

		if (frame == space) {
			table = loads->tables;
			number = 0;
		}
		if (table == 0 || frame >= LPL_FRAMES) {
			table = 0;
			continue;
		}
		put_frame(loads, space, table, number, frame);
		if (table < loads->tables)
			put_frame(loads, EVERYWHERE, table, number, frame);
		number = number << loads->bits | (loads->seen[i] & OFFSET) >> loads->entry;
		table--;
	}
	loads->seen_count = 0;
	return loads->no_memory ? lpl_fail(report, LPL_ERR_MEMORY, "no memory for where page tables are") : LPL_OK;
}

/* Its frame, made up if it is not known. */
static uint64_t frame_of(struct lpl_walk_loads *loads, unsigned int table, uint64_t address, uint64_t space,
			 bool global)
{
	const bool top = table == loads->tables;
	uint64_t *frame;

	if (top && loads->translations != NULL && space < LPL_FRAMES)
		return space;
	frame = lpl_map_reach(&loads->frame, LPL_KEY(global && !top ? EVERYWHERE : space, table,
						     number_of(loads, table, address)));
	if (frame == NULL) {
		loads->no_memory = true;
		return LPL_FRAMES;
	}
	if (*frame == 0)
		*frame = LPL_FRAMES + loads->made_up++ + 1;
	return *frame - 1;
}

/* ---- through the caches ---- */

static enum lpl_tlb_found found_at(const struct lpl_cache *caches, const struct lpl_cache_store *store)
{
	if (store == NULL)
		return LPL_TLB_FOUND_MEMORY;
	return store == &caches->store[LPL_CACHE_L3] ? LPL_TLB_FOUND_L3 :
	       store == &caches->store[LPL_CACHE_L2] ? LPL_TLB_FOUND_L2 : LPL_TLB_FOUND_L1;
}

void lpl_walk_loads_load(struct lpl_walk_loads *loads, unsigned int table, uint64_t address, uint64_t space,
			 bool global)
{
	const unsigned int known = table < loads->tables ? table : loads->tables;
	const uint64_t frame = frame_of(loads, known, address, space, global);
	const uint64_t place = frame << LPL_PAGE_SHIFT | entry_of(loads, known, address) << loads->entry;
	struct lpl_tlb_loads *count = &loads->count[known];

	count->found[found_at(loads->caches, lpl_cache_holder(loads->caches, place, PHYSICAL))]++;
	count->known += frame < LPL_FRAMES;
	count->made_up += frame >= LPL_FRAMES;
	lpl_cache_access(loads->caches, place, 1U << loads->entry, PHYSICAL, LPL_CACHE_READ);
}

void lpl_walk_loads_access(struct lpl_walk_loads *loads, uint64_t address, unsigned int length, uint64_t space,
			   enum lpl_cache_access type)
{
	struct lpl_translation is;

	if (loads->translations != NULL && lpl_translate(loads->translations, space, address, &is)) {
		address = is.frame << LPL_PAGE_SHIFT | (address & OFFSET);
		space = PHYSICAL;
	}
	lpl_cache_access(loads->caches, address, length, space, type);
}

/* ---- opening, results, closing ---- */

enum lpl_error lpl_walk_loads_open(struct lpl_walk_loads **loads, const char *caches, unsigned int tables,
				   struct lpl_translations *translations, struct lpl_report *report)
{
	struct lpl_walk_loads *opened = calloc(1, sizeof(*opened));
	enum lpl_error error;

	*loads = NULL;
	if (opened == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for caches of a TLB");
	opened->translations = translations;
	opened->tables = tables;
	opened->bits = tables == 2 ? 10 : 9;
	opened->entry = tables == 2 ? 2 : 3;
	lpl_map_init(&opened->frame, 3);
	error = lpl_cache_open(&opened->caches, caches, NULL, report);
	if (error != LPL_OK)
		lpl_walk_loads_close(opened);
	else
		*loads = opened;
	return error;
}

const struct lpl_cache *lpl_walk_loads_caches(const struct lpl_walk_loads *loads)
{
	return loads->caches;
}

const struct lpl_tlb_loads *lpl_walk_loads_of(const struct lpl_walk_loads *loads, unsigned int table)
{
	return &loads->count[table];
}

void lpl_walk_loads_close(struct lpl_walk_loads *loads)
{
	if (loads == NULL)
		return;
	lpl_map_free(&loads->frame);
	lpl_cache_close(loads->caches);
	free(loads);
}
