/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One array of a TLB: where entries are, and which one leaves.
 *
 * A page is in the set of its own number, so pages of several sizes lie in an array side by side.  LRU
 * keeps the ways of a set in order of their last use, so that most hits find the entry in the first one.
 */
#include "tlb.h"

#include <stdlib.h>
#include <string.h>

bool lpl_tlb_array_init(struct lpl_tlb_array *array)
{
	array->entry = calloc(array->entries, sizeof(*array->entry));
	array->tree = array->order == LPL_WAYS_PLRU ? calloc(array->sets, sizeof(*array->tree)) : NULL;
	return array->entry != NULL && (array->tree != NULL || array->order != LPL_WAYS_PLRU);
}

void lpl_tlb_array_free(struct lpl_tlb_array *array)
{
	free(array->entry);
	free(array->tree);
}

/* The first way of the set that a page is in. */
static struct lpl_tlb_entry *set_of(const struct lpl_tlb_array *array, uint64_t page)
{
	return &array->entry[(page & (array->sets - 1)) * array->ways];
}

static bool is_page(const struct lpl_tlb_entry *entry, uint64_t page, unsigned int size)
{
	return entry->page == page && entry->size == size && entry->here;
}

struct lpl_tlb_entry *lpl_tlb_find(const struct lpl_tlb_array *array, uint64_t page, unsigned int size,
				   uint64_t space)
{
	struct lpl_tlb_entry *set = set_of(array, page);

	for (uint32_t i = 0; i < array->ways && array->held[size] > 0; i++)
		if (is_page(&set[i], page, size) && (set[i].global || set[i].space == space))
			return &set[i];
	return NULL;
}

struct lpl_tlb_entry *lpl_tlb_use(struct lpl_tlb_array *array, struct lpl_tlb_entry *entry)
{
	const uint64_t place = (uint64_t)(entry - array->entry), way = place % array->ways;
	struct lpl_tlb_entry used = *entry, *set = entry - way;

	if (array->order == LPL_WAYS_PLRU)
		lpl_ways_turn(&array->tree[place / array->ways], array->ways, (uint32_t)way);
	if (array->order != LPL_WAYS_LRU)
		return entry;
	memmove(set + 1, set, way * sizeof(*set));
	*set = used;
	return set;
}

static struct lpl_tlb_entry *victim(struct lpl_tlb_array *array, uint64_t page)
{
	struct lpl_tlb_entry *set = set_of(array, page);

	for (uint32_t i = 0; i < array->ways; i++)
		if (!set[i].here)
			return &set[i];
	switch (array->order) {
	case LPL_WAYS_PLRU:
		return &set[lpl_ways_lead(array->tree[page & (array->sets - 1)], array->ways)];
	case LPL_WAYS_RANDOM:
		return &set[lpl_ways_draw(&array->random, array->ways)];
	case LPL_WAYS_LRU:
		break;
	}
	return &set[array->ways - 1];
}

static uint64_t remove_in_spaces(struct lpl_tlb_array *array, uint64_t page, unsigned int size)
{
	struct lpl_tlb_entry *set = set_of(array, page);
	uint64_t removed = 0;

	for (uint32_t i = 0; i < array->ways; i++) {
		if (!is_page(&set[i], page, size))
			continue;
		lpl_tlb_remove(array, &set[i]);
		removed++;
	}
	return removed;
}

bool lpl_tlb_put(struct lpl_tlb_array *array, const struct lpl_tlb_entry *entry, uint64_t *removed)
{
	struct lpl_tlb_entry *way;
	bool evicts;

	if (entry->global)
		*removed += remove_in_spaces(array, entry->page, entry->size);
	way = victim(array, entry->page);
	evicts = way->here;
	if (evicts)
		lpl_tlb_remove(array, way);
	*way = *entry;
	array->held[entry->size]++;
	(void)lpl_tlb_use(array, way);
	return evicts;
}

void lpl_tlb_remove(struct lpl_tlb_array *array, struct lpl_tlb_entry *entry)
{
	entry->here = false;
	array->held[entry->size]--;
}

/* ---- flushes ---- */

/* Remove entries of one space, or of all; those that are global, too, or not. */
static uint64_t clear(struct lpl_tlb_array *array, bool globals, bool all, uint64_t space)
{
	uint64_t removed = 0;

	for (uint32_t i = 0; i < array->entries; i++) {
		struct lpl_tlb_entry *entry = &array->entry[i];

		if (!entry->here || (entry->global && !globals) || (!all && entry->space != space))
			continue;
		lpl_tlb_remove(array, entry);
		removed++;
	}
	return removed;
}

uint64_t lpl_tlb_clear(struct lpl_tlb_array *array)
{
	return clear(array, true, true, 0);
}

uint64_t lpl_tlb_clear_single(struct lpl_tlb_array *array)
{
	return clear(array, false, true, 0);
}

uint64_t lpl_tlb_clear_space(struct lpl_tlb_array *array, uint64_t space)
{
	return clear(array, false, false, space);
}
