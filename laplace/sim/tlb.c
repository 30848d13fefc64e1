/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TLBs: how levels, walks and flushes work together.  docs/tlbs.md has the definition that this
 * follows, and tests/property/oracle_tlb.c another implementation of it.
 */
#include "tlb.h"

#include "base/try.h"
#include "reduce/pages.h"
#include "reduce/reduction.h"

#include <inttypes.h>
#include <stdlib.h>

const unsigned int lpl_tlb_shift[LPL_TLB_PAGES] = { LPL_PAGE_SHIFT, 16, 20, 21, 30 };

/* What a reference looks up. */
struct lookup {
	uint64_t address, space;
	struct lpl_translation is;	/* where it is now; frame KTR_NONE: not known, or of no account */
	enum lpl_cache_access type;
	bool known;			/* it was not made up for want of a translation */
};

/* ---- walks ---- */

/* Is a page of so many bytes mapped by an entry of the last table, or of the one before, or ...? */
static unsigned int table_of(unsigned int shift)
{
	return shift < 21 ? 0 : shift < 30 ? 1 : 2;
}

/* Of which addresses does the cache of walks have an entry for this one?  (PDEs of 32 bits have 4 MB.) */
static uint64_t covered(const struct lpl_tlb *tlb, unsigned int cache, uint64_t address)
{
	return tlb->tables == 2 ? address >> 22 : address >> (21 + 9 * cache);
}

/* So many entries of tables are loaded, the upper ones first. */
static void load_entries(struct lpl_tlb *tlb, const struct lookup *lookup, unsigned int leaf, unsigned int loads)
{
	tlb->walk.loads += loads;
	for (unsigned int table = leaf + loads; tlb->loads != NULL && table > leaf; table--)
		lpl_walk_loads_load(tlb->loads, table, lookup->address, lookup->space, lookup->is.global);
}

static bool find_table(struct lpl_tlb_store *store, uint64_t page, const struct lookup *lookup)
{
	struct lpl_tlb_entry *entry = lpl_tlb_find(store->array, page, 0, lookup->space);

	store->level.references[lookup->type]++;
	if (entry != NULL)
		(void)lpl_tlb_use(store->array, entry);
	else
		store->level.misses[lookup->type]++;
	return entry != NULL;
}

static void put_table(struct lpl_tlb_store *store, uint64_t page, const struct lookup *lookup)
{
	const struct lpl_tlb_entry entry = { .page = page, .space = lookup->space, .frame = KTR_NONE,
					     .here = true };

	store->level.evictions += lpl_tlb_put(store->array, &entry, &store->level.stale);
}

/* Caches are asked from below, up to the first that has the entry; those below it then get theirs. */
static void walk(struct lpl_tlb *tlb, const struct lookup *lookup)
{
	const unsigned int leaf = table_of(lookup->is.shift);
	struct lpl_tlb_store *cache = &tlb->store[LPL_TLB_PDE];
	unsigned int loads = tlb->tables > leaf ? tlb->tables - leaf : 1, found = leaf;

	for (; found < LPL_TLB_WALK_CACHES; found++) {
		if (cache[found].arrays != 0 &&
		    find_table(&cache[found], covered(tlb, found, lookup->address), lookup)) {
			loads = found - leaf + 1;
			break;
		}
	}
	load_entries(tlb, lookup, leaf, loads);
	for (unsigned int i = leaf; i < found; i++)
		if (cache[i].arrays != 0)
			put_table(&cache[i], covered(tlb, i, lookup->address), lookup);
	tlb->walk.references[lookup->type]++;
}

/* ---- levels ---- */

static enum lpl_tlb_page size_of(unsigned int shift)
{
	enum lpl_tlb_page size = LPL_TLB_1G;

	while (size > LPL_TLB_4K && lpl_tlb_shift[size] > shift)
		size--;
	return size;
}

/* The entry that an address has at a level where its page is of this size. */
static struct lpl_tlb_entry entry_for(const struct lookup *lookup, enum lpl_tlb_page size)
{
	const uint64_t page = lookup->address >> lpl_tlb_shift[size];
	const uint64_t inside = (lookup->address >> LPL_PAGE_SHIFT) -
				(page << (lpl_tlb_shift[size] - LPL_PAGE_SHIFT));

	return (struct lpl_tlb_entry){
		.page = page, .space = lookup->space, .size = (uint8_t)size,
		.frame = lookup->is.frame == KTR_NONE ? KTR_NONE : lookup->is.frame - inside,
		.global = lookup->is.global, .here = true
	};
}

/* The entry of a page of this size, if it is the one wanted; if it is another one, it leaves. */
static struct lpl_tlb_entry *find_in(struct lpl_tlb_store *store, struct lpl_tlb_array *array,
				     const struct lookup *lookup, unsigned int size,
				     const struct lpl_tlb_entry *wanted)
{
	struct lpl_tlb_entry *entry = lpl_tlb_find(array, lookup->address >> lpl_tlb_shift[size], size,
						   lookup->space);

	if (entry == NULL || (size == wanted->size && entry->frame == wanted->frame &&
			      entry->global == wanted->global))
		return entry;
	lpl_tlb_remove(array, entry);
	store->level.stale++;
	return NULL;
}

static struct lpl_tlb_entry *find(struct lpl_tlb_store *store, const struct lookup *lookup,
				  const struct lpl_tlb_entry *wanted)
{
	struct lpl_tlb_entry *found = NULL, *entry;

	for (size_t i = 0; i < store->arrays; i++) {
		for (unsigned int size = 0; size < LPL_TLB_PAGES; size++) {
			entry = store->array[i].held[size] != 0 ?
				find_in(store, &store->array[i], lookup, size, wanted) : NULL;
			found = entry != NULL ? entry : found;
		}
	}
	return found;
}

static void look_up(struct lpl_tlb *tlb, struct lpl_tlb_store *store, const struct lookup *lookup)
{
	enum lpl_tlb_page size = size_of(lookup->is.shift);
	struct lpl_tlb_entry wanted, *entry;
	struct lpl_tlb_array *array;

	if (store == NULL) {
		tlb->walk.missed_pages[size]++;
		walk(tlb, lookup);
		return;
	}
	array = store->of[size];
	size = store->as[size];
	wanted = entry_for(lookup, size);
	store->level.references[lookup->type]++;
	entry = find(store, lookup, &wanted);
	if (entry != NULL) {
		(void)lpl_tlb_use(array, entry);
		return;
	}
	store->level.misses[lookup->type]++;
	store->level.missed_pages[size]++;
	look_up(tlb, store->below, lookup);
	store->level.evictions += lpl_tlb_put(array, &wanted, &store->level.stale);
}

/* ---- flushes ---- */

typedef uint64_t clear_array(struct lpl_tlb_array *array, uint64_t space);

static uint64_t clear_all(struct lpl_tlb_array *array, uint64_t space)
{
	(void)space;
	return lpl_tlb_clear(array);
}

static uint64_t clear_single(struct lpl_tlb_array *array, uint64_t space)
{
	(void)space;
	return lpl_tlb_clear_single(array);
}

static void flush(struct lpl_tlb *tlb, clear_array *clear, uint64_t space)
{
	for (size_t i = 0; i < LPL_TLB_STORES; i++) {
		struct lpl_tlb_store *store = &tlb->store[i];

		store->has_last = false;
		for (size_t j = 0; j < store->arrays; j++)
			store->level.invalidations += clear(&store->array[j], space);
	}
}

/* The table of space `to` was loaded, after that of `from`. */
static void load_space(struct lpl_tlb *tlb, uint64_t from, uint64_t to)
{
	if (!tlb->tags)
		flush(tlb, clear_single, 0);
	else if (from == to)
		flush(tlb, lpl_tlb_clear_space, to);
}

static uint64_t clear_page(struct lpl_tlb_array *array, uint64_t address, uint64_t space)
{
	uint64_t removed = 0;

	for (unsigned int size = 0; size < LPL_TLB_PAGES; size++) {
		struct lpl_tlb_entry *entry = lpl_tlb_find(array, address >> lpl_tlb_shift[size], size, space);

		if (entry == NULL)
			continue;
		lpl_tlb_remove(array, entry);
		removed++;
	}
	return removed;
}

/* INVLPG: of caches of walks all that the space has. */
static void flush_page(struct lpl_tlb *tlb, uint64_t address, uint64_t space)
{
	for (size_t i = 0; i < LPL_TLB_STORES; i++) {
		struct lpl_tlb_store *store = &tlb->store[i];

		for (size_t j = 0; j < store->arrays; j++)
			store->level.invalidations += i >= LPL_TLB_PDE ?
				lpl_tlb_clear_space(&store->array[j], space) :
				clear_page(&store->array[j], address, space);
	}
}

/* ---- the stream ---- */

/* Without translations: a reference to another space says that its table was loaded. */
static void follow_space(struct lpl_tlb *tlb, uint64_t space)
{
	if (tlb->has_space && tlb->space != space)
		load_space(tlb, tlb->space, space);
	tlb->space = space;
	tlb->has_space = true;
}

static bool is_promoted(const struct lpl_tlb *tlb, const struct lookup *lookup)
{
	return tlb->huge != NULL && lookup->is.shift < LPL_HUGE_SHIFT &&
	       lpl_huge_small(tlb->huge, lookup->space, lookup->is.global, lookup->address) >= tlb->promote;
}

/* Where the address is now; false: it is looked up nowhere. */
static bool translate(struct lpl_tlb *tlb, struct lookup *lookup)
{
	lookup->is = (struct lpl_translation){ .frame = KTR_NONE, .shift = LPL_PAGE_SHIFT };
	lookup->known = tlb->translations == NULL ||
		lpl_translate(tlb->translations, lookup->space, lookup->address, &lookup->is);
	tlb->unknown += !lookup->known;
	if (lookup->is.shift == LPL_NO_PAGING) {
		tlb->unpaged++;
		return false;
	}
	if (tlb->pages != 0 || is_promoted(tlb, lookup)) {
		lookup->is.shift = tlb->pages != 0 ? tlb->pages : LPL_HUGE_SHIFT;
		lookup->is.frame = KTR_NONE;
	}
	return true;
}

static void look_up_page(struct lpl_tlb *tlb, uint64_t address, uint64_t space, enum lpl_cache_access type)
{
	struct lpl_tlb_store *store = tlb->first[type];
	struct lookup lookup = { .address = address, .space = space, .type = type };

	if (store->has_last && store->last_page == address >> LPL_PAGE_SHIFT && store->last_space == space) {
		store->level.references[type]++;
		return;
	}
	if (!translate(tlb, &lookup))
		return;
	look_up(tlb, store, &lookup);
	store->last_page = address >> LPL_PAGE_SHIFT;
	store->last_space = space;
	store->has_last = lookup.known;
}

/* What of an access of `length` bytes lies in the page of `address`. */
static void access_page(struct lpl_tlb *tlb, uint64_t address, unsigned int length, uint64_t space,
			enum lpl_cache_access type)
{
	const unsigned int rest = (1U << LPL_PAGE_SHIFT) - (address & ((1U << LPL_PAGE_SHIFT) - 1));

	look_up_page(tlb, address, space, type);
	if (tlb->loads != NULL)
		lpl_walk_loads_access(tlb->loads, address, length < rest ? length : rest, space, type);
}

static void access_pages(struct lpl_tlb *tlb, const struct lpl_ref *ref, enum lpl_cache_access type)
{
	const unsigned int more = lpl_pages_after(ref, LPL_PAGE_SHIFT);

	access_page(tlb, ref->address, ref->length, ref->space, type);
	for (unsigned int n = 1; n <= more; n++) {
		const uint64_t address = ((ref->address >> LPL_PAGE_SHIFT) + n) << LPL_PAGE_SHIFT;

		access_page(tlb, address, (unsigned int)(ref->length - (address - ref->address)), ref->space, type);
	}
}

/* What the trace's own walks say of page tables. */
static enum lpl_error follow_walks(struct lpl_tlb *tlb, const struct lpl_ref *ref, struct lpl_report *report)
{
	if (tlb->loads == NULL)
		return LPL_OK;
	if (!lpl_is_walk(ref))
		return lpl_walk_loads_learn(tlb->loads, ref->space, report);
	lpl_walk_loads_see(tlb->loads, ref);
	return LPL_OK;
}

static enum lpl_error tlb_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			       struct lpl_report *report)
{
	struct lpl_tlb *tlb = (struct lpl_tlb *)sink;

	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];
		const enum lpl_cache_access type = ref->type == LPL_FETCH ? LPL_CACHE_FETCH :
			ref->type == LPL_WRITE ? LPL_CACHE_WRITE : LPL_CACHE_READ;

		if (ref->flags & LPL_PAGED)
			return lpl_fail(report, LPL_ERR_USAGE, "simulation: reference %" PRIu64
					" is to a whole page, which a reduction has left", ref->ref);
		LPL_TRY(follow_walks(tlb, ref, report));
		if (lpl_is_walk(ref))
			continue;
		if (tlb->translations == NULL)
			follow_space(tlb, ref->space);
		access_pages(tlb, ref, type);
	}
	return LPL_OK;
}

static void take_flush(struct lpl_tlb *tlb, const struct lpl_event *event)
{
	switch (event->arg[LPL_EVENT_TLB_FLUSH_KIND]) {
	case LPL_TLB_NONGLOBAL:
		load_space(tlb, event->space, event->arg[LPL_EVENT_TLB_FLUSH_SPACE]);
		break;
	case LPL_TLB_PAGE:
		flush_page(tlb, event->arg[LPL_EVENT_TLB_FLUSH_ADDRESS], event->space);
		break;
	default:
		flush(tlb, clear_all, 0);
		break;
	}
}

static enum lpl_error tlb_event(struct lpl_sink *sink, const struct lpl_event *event,
				struct lpl_report *report)
{
	struct lpl_tlb *tlb = (struct lpl_tlb *)sink;

	if ((event->tag == LPL_EVENT_GAP && event->arg[LPL_EVENT_GAP_EVENTS] != 0) ||
	    event->tag == LPL_EVENT_TRACING)
		flush(tlb, clear_all, 0);
	if (tlb->translations == NULL)
		return LPL_OK;
	if (event->tag == LPL_EVENT_TLB_FLUSH)
		take_flush(tlb, event);
	for (size_t i = 0; i < LPL_TLB_STORES; i++)
		tlb->store[i].has_last = false;
	return lpl_translations_follow(tlb->translations, event, report);
}

static enum lpl_error tlb_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

/* ---- opening and closing ---- */

static enum lpl_error check_reduction(const char *spec, const char *name, struct lpl_report *report)
{
	struct lpl_reduction reduction;

	if (lpl_reduction_read(&reduction, name) && reduction.page_size == 0)
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_USAGE, "tlb '%.80s': is not exact on a trace reduced by %.80s; record "
			"every reference (-r none)", spec, name);
}

static enum lpl_error fill(struct lpl_tlb *tlb, const char *spec, const struct lpl_tlb_options *options,
			   struct lpl_report *report)
{
	LPL_TRY(check_reduction(spec, options->reduction != NULL ? options->reduction : "none", report));
	LPL_TRY(lpl_tlb_parse(tlb, spec, report));
	if (options->huge != NULL && tlb->pages != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "tlb '%.80s': pages= maps everything by pages of one size, so "
				"no region is promoted", spec);
	tlb->huge = options->huge;
	tlb->promote = options->promote;
	for (size_t i = 0; i < LPL_TLB_STORES; i++) {
		for (size_t j = 0; j < tlb->store[i].arrays; j++)
			if (!lpl_tlb_array_init(&tlb->store[i].array[j]))
				return lpl_fail(report, LPL_ERR_MEMORY, "tlb '%.80s': no memory for its "
						"entries", spec);
	}
	if (options->translations)
		LPL_TRY(lpl_translations_open(&tlb->translations, report));
	return options->caches == NULL ? LPL_OK :
	       lpl_walk_loads_open(&tlb->loads, options->caches, tlb->tables, tlb->translations, report);
}

enum lpl_error lpl_tlb_open(struct lpl_tlb **tlb, const char *spec,
			    const struct lpl_tlb_options *options, struct lpl_report *report)
{
	static const struct lpl_tlb_options none;
	struct lpl_tlb *opened = calloc(1, sizeof(*opened));
	enum lpl_error error;

	*tlb = NULL;
	if (opened == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "tlb '%.80s': no memory", spec);
	opened->sink = (struct lpl_sink){ tlb_refs, tlb_event, tlb_finish };
	opened->walk.name = "walk";
	error = fill(opened, spec, options != NULL ? options : &none, report);
	if (error != LPL_OK)
		lpl_tlb_close(opened);
	else
		*tlb = opened;
	return error;
}

struct lpl_sink *lpl_tlb_sink(struct lpl_tlb *tlb)
{
	return &tlb->sink;
}

size_t lpl_tlb_levels(const struct lpl_tlb *tlb)
{
	size_t levels = 1;

	for (size_t i = 0; i < LPL_TLB_STORES; i++)
		levels += tlb->store[i].arrays != 0;
	return levels;
}

const struct lpl_tlb_level *lpl_tlb_level(const struct lpl_tlb *tlb, size_t index)
{
	for (size_t i = 0; i < LPL_TLB_STORES; i++)
		if (tlb->store[i].arrays != 0 && index-- == 0)
			return &tlb->store[i].level;
	return &tlb->walk;
}

uint64_t lpl_tlb_unpaged(const struct lpl_tlb *tlb)
{
	return tlb->unpaged;
}

uint64_t lpl_tlb_unknown(const struct lpl_tlb *tlb)
{
	return tlb->unknown;
}

unsigned int lpl_tlb_tables(const struct lpl_tlb *tlb)
{
	return tlb->tables;
}

const struct lpl_cache *lpl_tlb_caches(const struct lpl_tlb *tlb)
{
	return tlb->loads != NULL ? lpl_walk_loads_caches(tlb->loads) : NULL;
}

const struct lpl_tlb_loads *lpl_tlb_loads(const struct lpl_tlb *tlb, unsigned int table)
{
	return tlb->loads != NULL ? lpl_walk_loads_of(tlb->loads, table) : NULL;
}

void lpl_tlb_close(struct lpl_tlb *tlb)
{
	if (tlb == NULL)
		return;
	for (size_t i = 0; i < LPL_TLB_STORES; i++)
		for (size_t j = 0; j < tlb->store[i].arrays; j++)
			lpl_tlb_array_free(&tlb->store[i].array[j]);
	lpl_walk_loads_close(tlb->loads);
	lpl_translations_close(tlb->translations);
	free(tlb);
}
