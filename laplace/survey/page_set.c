/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of pages: a table with open addressing and linear probing, at most half full. */
#include "page_set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16

/* Where the page is, or would be. */
static size_t place_of(const uint64_t *table, size_t room, uint64_t page)
{
	size_t place = (size_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);

	while (table[place] != 0 && table[place] != page)
		place = (place + 1) & (room - 1);
	return place;
}

bool lpl_page_set_has(const struct page_set *set, uint64_t page)
{
	return set->room != 0 && set->page[place_of(set->page, set->room, page)] == page;
}

/* A table a third full, or less, of the pages that are needed, and one more. */
static bool rebuild(struct page_set *set, bool (*is_needed)(const void *context, uint64_t page),
		    const void *context)
{
	size_t needed = 1, room = FIRST_ROOM;
	uint64_t *table;

	for (size_t i = 0; i < set->room; i++)
		needed += set->page[i] != 0 && is_needed(context, set->page[i]);
	while (room < 3 * needed)
		room *= 2;
	table = calloc(room, sizeof(*table));
	if (!table)
		return false;
	for (size_t i = 0; i < set->room; i++) {
		uint64_t page = set->page[i];

		if (page != 0 && is_needed(context, page))
			table[place_of(table, room, page)] = page;
	}
	free(set->page);
	set->page = table;
	set->room = room;
	set->count = needed - 1;
	return true;
}

bool lpl_page_set_add(struct page_set *set, uint64_t page, bool *added,
		      bool (*is_needed)(const void *context, uint64_t page), const void *context)
{
	assert(page != 0);
	*added = false;
	if (lpl_page_set_has(set, page))
		return true;
	if (2 * (set->count + 1) > set->room && !rebuild(set, is_needed, context))
		return false;
	set->page[place_of(set->page, set->room, page)] = page;
	set->count++;
	assert(2 * set->count <= set->room);
	*added = true;
	return true;
}

bool lpl_page_set_copy(struct page_set *set, const struct page_set *other)
{
	if (other->room == 0)
		return true;
	set->page = malloc(other->room * sizeof(*set->page));
	if (!set->page)
		return false;
	memcpy(set->page, other->page, other->room * sizeof(*set->page));
	set->room = other->room;
	set->count = other->count;
	return true;
}

void lpl_page_set_free(struct page_set *set)
{
	free(set->page);
	set->page = NULL;
	set->room = set->count = 0;
}
