/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of pages; see page_set.h.  The numbers are given by the merge, in their order, so
 * nobody can choose them to collide.
 */
#include <stdlib.h>

#include "page_set.h"

void page_set_init(struct page_set *set, bool (*is_needed)(const void *context, uint64_t page),
		   const void *context)
{
	*set = (struct page_set){ .is_needed = is_needed, .context = context };
}

/* Where the page is, or would be. */
static size_t place_of(const uint64_t *table, size_t room, uint64_t page)
{
	size_t place = (size_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);

	while (table[place] != 0 && table[place] != page)
		place = (place + 1) & (room - 1);
	return place;
}

bool page_set_has(const struct page_set *set, uint64_t page)
{
	return set->room != 0 && set->page[place_of(set->page, set->room, page)] == page;
}

/* Make a table for twice of what is needed, and one more. */
static bool rebuild(struct page_set *set)
{
	size_t needed = 1, room = 16;
	uint64_t *table;

	for (size_t i = 0; i < set->room; i++)
		needed += set->page[i] != 0 && set->is_needed(set->context, set->page[i]);
	while (room < 3 * needed)
		room *= 2;
	table = calloc(room, sizeof(*table));
	if (!table)
		return false;
	for (size_t i = 0; i < set->room; i++) {
		uint64_t page = set->page[i];

		if (page != 0 && set->is_needed(set->context, page))
			table[place_of(table, room, page)] = page;
	}
	free(set->page);
	set->page = table;
	set->room = room;
	set->count = needed - 1;
	return true;
}

bool page_set_add(struct page_set *set, uint64_t page, bool *added)
{
	size_t place;

	*added = false;
	if (page_set_has(set, page))
		return true;
	if (2 * (set->count + 1) > set->room && !rebuild(set))
		return false;
	place = place_of(set->page, set->room, page);
	set->page[place] = page;
	set->count++;
	*added = true;
	return true;
}

void page_set_free(struct page_set *set)
{
	free(set->page);
	set->page = NULL;
	set->room = set->count = 0;
}
