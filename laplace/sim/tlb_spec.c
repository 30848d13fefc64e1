/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TLBs as they are written: SPEC, read (laplace/tlb.h). */
#include "tlb.h"

#include "base/try.h"
#include "spec_words.h"

#include <string.h>

enum { MOST_ENTRIES = 65536, LEAST_TABLES = 2, MOST_TABLES = 5, TABLES = 4 };

static const char *const names[LPL_TLB_STORES] = {
	[LPL_TLB_L1] = "l1", [LPL_TLB_L1I] = "l1i", [LPL_TLB_L1D] = "l1d", [LPL_TLB_L2] = "l2",
	[LPL_TLB_L2I] = "l2i", [LPL_TLB_L2D] = "l2d", [LPL_TLB_PDE] = "pde", [LPL_TLB_PDPTE] = "pdpte",
	[LPL_TLB_PML4E] = "pml4e"
};
static const char *const sizes[LPL_TLB_PAGES] = { "4K", "64K", "1M", "2M", "1G" };

enum { ALL_SIZES = (1 << LPL_TLB_PAGES) - 1 };

static enum lpl_error refuse(const char *spec, struct lpl_word word, const char *why,
			     struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_USAGE, "tlb '%.80s': '%.*s': %s", spec,
			(int)(word.length < 40 ? word.length : 40), word.text, why);
}

static bool find_size(struct lpl_word word, unsigned int *size)
{
	for (*size = 0; *size < LPL_TLB_PAGES; ++*size)
		if (lpl_word_is(word, sizes[*size]))
			return true;
	return false;
}

/* ENTRIES/WAYS, which have to come to a power of two of sets. */
static const char *read_shape(struct lpl_tlb_array *array, struct lpl_word entries, struct lpl_word ways)
{
	uint64_t number;

	if (!lpl_word_number(entries, &number) || number < 1 || number > MOST_ENTRIES)
		return "entries are a number from 1 to 65536";
	array->entries = (uint32_t)number;
	array->ways = lpl_word_ways(ways, number);
	if (array->ways == 0)
		return "ways are a number from 1 to 65536, or full";
	array->sets = array->entries / array->ways;
	if (!lpl_is_power_of_two(array->sets) || array->sets * array->ways != array->entries)
		return "its entries are no power of two of sets of so many ways";
	return NULL;
}

/* ENTRIES/WAYS/... */
static enum lpl_error read_array(struct lpl_tlb_array *array, bool paged, const char *spec,
				 struct lpl_word word, struct lpl_report *report)
{
	const char *rest = word.text, *end = word.text + word.length;
	const struct lpl_word entries = lpl_word_cut(&rest, end, '/');
	const char *why = "an array is ENTRIES/WAYS";
	bool ordered = false;
	unsigned int size;

	if (rest != NULL)
		why = read_shape(array, entries, lpl_word_cut(&rest, end, '/'));
	if (why != NULL)
		return refuse(spec, word, why, report);
	while (rest != NULL) {
		const struct lpl_word option = lpl_word_cut(&rest, end, '/');
		const bool is_size = paged && find_size(option, &size);
		const bool is_order = !is_size && lpl_word_order(option, &array->order, &array->random);

		if (!is_size && !is_order)
			return refuse(spec, option, paged ? "not one of 4K, 64K, 1M, 2M, 1G, lru, plru, random=SEED" :
				      "not one of lru, plru, random=SEED", report);
		if (is_size ? array->sizes >> size & 1 : ordered)
			return refuse(spec, option, is_size ? "a size comes twice" :
				      "an array has one of lru, plru, random=SEED", report);
		array->sizes |= is_size ? 1U << size : 0;
		ordered |= is_order;
	}
	if (array->sizes == 0)
		array->sizes = ALL_SIZES;
	if (array->order == LPL_WAYS_PLRU &&
	    (array->ways > LPL_WAYS_MOST_TREE || !lpl_is_power_of_two(array->ways)))
		return refuse(spec, word, "plru is a tree: of a power of two of ways, up to 64", report);
	return LPL_OK;
}

/* A page goes where its size is, or else the largest that is smaller; false: one is there twice, or no 4K. */
static bool assign_sizes(struct lpl_tlb_store *store)
{
	for (unsigned int size = 0; size < LPL_TLB_PAGES; size++) {
		for (size_t i = 0; i < store->arrays; i++) {
			if ((store->array[i].sizes >> size & 1) == 0)
				continue;
			if (store->of[size] != NULL)
				return false;
			store->of[size] = &store->array[i];
			store->as[size] = size;
		}
		if (store->of[size] == NULL && size == LPL_TLB_4K)
			return false;
		if (store->of[size] == NULL) {
			store->of[size] = store->of[size - 1];
			store->as[size] = store->as[size - 1];
		}
	}
	return true;
}

/* ARRAY+ARRAY... of a level, or ARRAY of a cache of walks. */
static enum lpl_error read_store(struct lpl_tlb_store *store, bool paged, const char *spec,
				 struct lpl_word part, struct lpl_word value, struct lpl_report *report)
{
	const char *rest = value.text, *end = value.text + value.length;

	if (store->arrays != 0)
		return refuse(spec, part, "a level comes twice", report);
	while (rest != NULL) {
		const struct lpl_word array = lpl_word_cut(&rest, end, '+');

		if (store->arrays == (paged ? LPL_TLB_PAGES : 1))
			return refuse(spec, part, paged ? "a level has one array for a size of pages" :
				      "a cache of walks has one array", report);
		LPL_TRY(read_array(&store->array[store->arrays], paged, spec, array, report));
		store->level.entries += store->array[store->arrays++].entries;
	}
	if (paged && !assign_sizes(store))
		return refuse(spec, part, "a level has one array for each size of pages that it has, and one "
			      "for 4K", report);
	return LPL_OK;
}

static enum lpl_error read_part(struct lpl_tlb *tlb, const char *spec, struct lpl_word part,
				struct lpl_report *report)
{
	struct lpl_word value;
	unsigned int size;
	uint64_t number;

	for (size_t i = 0; i < LPL_TLB_STORES; i++) {
		if (!lpl_word_follows(part, names[i], &value))
			continue;
		tlb->store[i].level.name = names[i];
		return read_store(&tlb->store[i], i < LPL_TLB_PDE, spec, part, value, report);
	}
	if (lpl_word_is(part, "tags")) {
		if (tlb->tags)
			return refuse(spec, part, "comes twice", report);
		tlb->tags = true;
	} else if (lpl_word_follows(part, "pages", &value)) {
		if (!find_size(value, &size))
			return refuse(spec, part, "pages are of 4K, 64K, 1M, 2M or 1G", report);
		if (tlb->pages != 0)
			return refuse(spec, part, "pages= comes twice", report);
		tlb->pages = lpl_tlb_shift[size];
	} else if (lpl_word_follows(part, "levels", &value)) {
		if (!lpl_word_number(value, &number) || number < LEAST_TABLES || number > MOST_TABLES)
			return refuse(spec, part, "a walk goes through 2 to 5 levels of tables", report);
		if (tlb->tables != 0)
			return refuse(spec, part, "levels= comes twice", report);
		tlb->tables = (unsigned int)number;
	} else {
		return refuse(spec, part, "not one of l1=, l1i=, l1d=, l2=, l2i=, l2d=, pde=, pdpte=, pml4e=, "
			      "tags, levels=, pages=, nor a processor, which comes first", report);
	}
	return LPL_OK;
}

static enum lpl_error read_parts(struct lpl_tlb *tlb, const char *spec, const char *parts,
				 struct lpl_report *report)
{
	const char *end = parts + strlen(parts);

	while (parts != NULL)
		LPL_TRY(read_part(tlb, spec, lpl_word_cut(&parts, end, ':'), report));
	return LPL_OK;
}

/* The parts of the processor that SPEC begins with, if it does; `*rest` is what follows. */
static enum lpl_error read_preset(struct lpl_tlb *tlb, const char *spec, const char **rest,
				  struct lpl_report *report)
{
	const char *after = spec;
	const struct lpl_word name = lpl_word_cut(&after, spec + strlen(spec), ':');
	size_t count;
	const struct lpl_tlb_preset *preset = lpl_tlb_presets(&count);

	*rest = spec;
	for (size_t i = 0; i < count; i++) {
		if (!lpl_word_is(name, preset[i].name))
			continue;
		*rest = after;
		return read_parts(tlb, spec, preset[i].spec, report);
	}
	return LPL_OK;
}

static bool is_there(const struct lpl_tlb *tlb, int store)
{
	return tlb->store[store].arrays != 0;
}

/* What is wrong with the levels together; NULL: nothing. */
static const char *fault_of(const struct lpl_tlb *tlb)
{
	const bool apart = is_there(tlb, LPL_TLB_L1I) && is_there(tlb, LPL_TLB_L1D);
	const bool second = is_there(tlb, LPL_TLB_L2I) && is_there(tlb, LPL_TLB_L2D);

	if (is_there(tlb, LPL_TLB_L1) ? is_there(tlb, LPL_TLB_L1I) || is_there(tlb, LPL_TLB_L1D) : !apart)
		return "the first level is l1, or l1i and l1d";
	if ((is_there(tlb, LPL_TLB_L2I) || is_there(tlb, LPL_TLB_L2D)) &&
	    (!second || !apart || is_there(tlb, LPL_TLB_L2)))
		return "the second level is l2, or, below l1i and l1d, l2i and l2d";
	if ((is_there(tlb, LPL_TLB_PML4E) && tlb->tables < 4) || (is_there(tlb, LPL_TLB_PDPTE) && tlb->tables < 3))
		return "a cache of walks is for tables that are not there";
	return NULL;
}

static void link_all(struct lpl_tlb *tlb)
{
	struct lpl_tlb_store *store = tlb->store;
	const bool second = is_there(tlb, LPL_TLB_L2);

	tlb->first[LPL_CACHE_FETCH] = &store[is_there(tlb, LPL_TLB_L1) ? LPL_TLB_L1 : LPL_TLB_L1I];
	tlb->first[LPL_CACHE_READ] = &store[is_there(tlb, LPL_TLB_L1) ? LPL_TLB_L1 : LPL_TLB_L1D];
	tlb->first[LPL_CACHE_WRITE] = tlb->first[LPL_CACHE_READ];
	if (second || is_there(tlb, LPL_TLB_L2I)) {
		tlb->first[LPL_CACHE_FETCH]->below = &store[second ? LPL_TLB_L2 : LPL_TLB_L2I];
		tlb->first[LPL_CACHE_READ]->below = &store[second ? LPL_TLB_L2 : LPL_TLB_L2D];
	}
}

enum lpl_error lpl_tlb_parse(struct lpl_tlb *tlb, const char *spec, struct lpl_report *report)
{
	const char *rest, *why;

	if (strlen(spec) >= LPL_TLB_SPEC_SIZE)
		return lpl_fail(report, LPL_ERR_USAGE, "tlb '%.40s...': longer than %d characters", spec,
				LPL_TLB_SPEC_SIZE - 1);
	LPL_TRY(read_preset(tlb, spec, &rest, report));
	if (rest != NULL)
		LPL_TRY(read_parts(tlb, spec, rest, report));
	if (tlb->tables == 0)
		tlb->tables = TABLES;
	why = fault_of(tlb);
	if (why != NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "tlb '%.80s': %s", spec, why);
	link_all(tlb);
	return LPL_OK;
}
