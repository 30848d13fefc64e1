/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TLBs by brute force; see oracle_tlb.h. */
#include "oracle_tlb.h"

#include <stdlib.h>
#include <string.h>

static const unsigned int sizes[TLB_SIZES] = { 12, 16, 20, 21, 30 };

enum { FETCH, READ, WRITE };

/* What there is to know of a reference. */
struct access {
	uint64_t address, space, frame;
	unsigned int size;		/* of the page that maps it, a power of two */
	bool global;
	int type;
};

/* ---- where an address is ---- */

static bool contains(const struct lpl_event *event, uint64_t address)
{
	const uint64_t shift = event->arg[LPL_EVENT_TRANSLATION_SHIFT];

	return shift == 64 ? address < UINT64_C(1) << 32 :
	       event->arg[LPL_EVENT_TRANSLATION_ADDRESS] >> shift == address >> shift;
}

static bool is_translation(const struct item *item)
{
	return item->is_event && (item->event.tag == LPL_EVENT_TRANSLATION ||
				  item->event.tag == LPL_EVENT_RETRANSLATION);
}

static bool is_gap(const struct item *item)
{
	return item->is_event && item->event.tag == LPL_EVENT_GAP && item->event.arg[LPL_EVENT_GAP_EVENTS] != 0;
}

/* What was reported before it does not count. */
static bool forgets(const struct item *item)
{
	return is_gap(item) || (is_translation(item) && item->event.arg[LPL_EVENT_TRANSLATION_SHIFT] == 64 &&
				item->event.arg[LPL_EVENT_TRANSLATION_GLOBAL] != 0 &&
				item->event.arg[LPL_EVENT_TRANSLATION_FRAME] == KTR_NONE);
}

/* The latest report before record `at`, since all were forgotten, of a page that has the address. */
static const struct lpl_event *report_of(const struct stream *in, size_t at, const struct lpl_ref *ref,
					 uint64_t address)
{
	while (at-- > 0) {
		const struct item *item = &in->item[at];
		const struct lpl_event *event = &item->event;

		if (forgets(item))
			return NULL;
		if (is_translation(item) && contains(event, address) &&
		    (event->arg[LPL_EVENT_TRANSLATION_GLOBAL] != 0 || event->space == ref->space))
			return event->arg[LPL_EVENT_TRANSLATION_FRAME] == KTR_NONE ? NULL : event;
	}
	return NULL;
}

/* false: without paging */
static bool translate(struct oracle_tlb *tlb, const struct stream *in, size_t at, const struct lpl_ref *ref,
		      struct access *access)
{
	const struct lpl_event *event = tlb->translations ? report_of(in, at, ref, access->address) : NULL;

	access->size = 12;
	access->frame = KTR_NONE;
	access->global = false;
	if (event != NULL) {
		access->size = (unsigned int)event->arg[LPL_EVENT_TRANSLATION_SHIFT];
		access->frame = event->arg[LPL_EVENT_TRANSLATION_FRAME] +
			(access->address - event->arg[LPL_EVENT_TRANSLATION_ADDRESS]) / 4096;
		access->global = event->arg[LPL_EVENT_TRANSLATION_GLOBAL] != 0;
	} else if (tlb->translations) {
		tlb->unknown++;
	}
	if (access->size == 64) {
		tlb->unpaged++;
		return false;
	}
	return true;
}

/* ---- huge pages ---- */

void oracle_touches(struct oracle_tlb *tlb, const struct stream *in)
{
	const struct oracle_tlb before = *tlb;

	tlb->touch = calloc(2 * in->count + 1, sizeof(*tlb->touch));
	if (tlb->touch == NULL)
		abort();
	for (size_t i = 0; i < in->count; i++) {
		const struct lpl_ref *ref = &in->item[i].ref;
		struct access access;

		if (in->item[i].is_event || ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE)
			continue;
		for (uint64_t page = ref->address / 4096; page <= (ref->address + ref->length - 1) / 4096;
		     page++) {
			access.address = page * 4096;
			if (translate(tlb, in, i, ref, &access))
				tlb->touch[tlb->touches++] = (struct tlb_touch){
					access.global ? KTR_NONE : ref->space, page, access.size >= 21
				};
		}
	}
	tlb->unknown = before.unknown;
	tlb->unpaged = before.unpaged;
}

unsigned int oracle_touched(const struct oracle_tlb *tlb, uint64_t space, uint64_t region, bool small)
{
	unsigned int count = 0;

	for (size_t i = 0; i < tlb->touches; i++) {
		const struct tlb_touch *touch = &tlb->touch[i];
		bool again = false;

		if (touch->space != space || touch->page / 512 != region)
			continue;
		if (small && touch->huge)
			return 0;
		for (size_t j = 0; j < i; j++)
			again |= tlb->touch[j].space == space && tlb->touch[j].page == touch->page;
		count += !again;
	}
	return count;
}

/* What is simulated in place of what was. */
static void replace(const struct oracle_tlb *tlb, struct access *access)
{
	const uint64_t space = access->global ? KTR_NONE : access->space;

	if (tlb->pages >= 0)
		access->size = sizes[tlb->pages];
	else if (tlb->promote != 0 && access->size < 21 &&
		 oracle_touched(tlb, space, access->address >> 21, true) >= tlb->promote)
		access->size = 21;
	else
		return;
	access->frame = KTR_NONE;
}

/* ---- arrays ---- */

static uint32_t sets_of(const struct tlb_array *array)
{
	return array->entries / array->ways;
}

/* Bit `ways` and below: the tree's nodes from the root on, as a path of halves. */
static void use(struct oracle_tlb *tlb, struct tlb_array *array, uint32_t place)
{
	const uint32_t set = place / array->ways;
	uint32_t low = 0, high = array->ways, node = 1;

	array->entry[place].used = ++tlb->now;
	if (array->order != TLB_PLRU)
		return;
	while (high - low > 1) {
		const uint32_t middle = (low + high) / 2;
		const bool right = place % array->ways >= middle;

		array->right[set][node] = !right;
		node = 2 * node + right;
		if (right)
			low = middle;
		else
			high = middle;
	}
}

static uint32_t by_tree(const struct tlb_array *array, uint32_t set)
{
	uint32_t low = 0, high = array->ways, node = 1;

	while (high - low > 1) {
		const uint32_t middle = (low + high) / 2;
		const bool right = array->right[set][node];

		node = 2 * node + right;
		if (right)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint32_t by_chance(struct tlb_array *array)
{
	uint64_t z = array->seed + ++array->draws * UINT64_C(11400714819323198485);

	z ^= z >> 30;
	z *= UINT64_C(13787848793156543929);
	z ^= z >> 27;
	z *= UINT64_C(10723151780598845931);
	z ^= z >> 31;
	return (uint32_t)((z >> 32) * array->ways >> 32);
}

static void put(struct oracle_tlb *tlb, struct tlb_level *level, struct tlb_array *array,
		const struct tlb_entry *entry)
{
	const uint32_t set = (uint32_t)(entry->page % sets_of(array)), first = set * array->ways;
	uint32_t way = array->ways;

	for (uint32_t i = 0; i < array->entries && entry->global; i++) {
		struct tlb_entry *other = &array->entry[i];

		if (other->here && other->page == entry->page && other->size == entry->size) {
			other->here = false;
			level->stale++;
		}
	}
	for (uint32_t i = array->ways; i-- > 0;)
		if (!array->entry[first + i].here)
			way = i;
	if (way == array->ways) {
		level->evictions++;
		if (array->order == TLB_PLRU)
			way = by_tree(array, set);
		else if (array->order == TLB_RANDOM)
			way = by_chance(array);
		else
			way = 0;
		for (uint32_t i = 0; i < array->ways && array->order == TLB_LRU; i++)
			if (array->entry[first + i].used < array->entry[first + way].used)
				way = i;
	}
	array->entry[first + way] = *entry;
	use(tlb, array, first + way);
}

static bool fits(const struct tlb_entry *entry, uint64_t address, uint64_t space)
{
	return entry->here && entry->page == address >> entry->size && (entry->global || entry->space == space);
}

/* ---- walks ---- */

static bool hits_table(struct oracle_tlb *tlb, struct tlb_level *level, const struct access *access)
{
	struct tlb_array *array = &level->array[0];

	level->references[access->type]++;
	for (uint32_t i = 0; i < array->entries; i++)
		if (fits(&array->entry[i], access->address, access->space)) {
			use(tlb, array, i);
			return true;
		}
	level->misses[access->type]++;
	return false;
}

static void walk(struct oracle_tlb *tlb, const struct access *access)
{
	const int table = access->size < 21 ? 1 : access->size < 30 ? 2 : 3;
	const unsigned int covered[5] = { 0, 0, tlb->levels == 2 ? 22 : 21, 30, 39 };
	struct tlb_level *total = &tlb->level[TLB_WALK];
	int found = 0, from = (int)tlb->levels;

	for (int c = table + 1; c <= 4 && found == 0; c++)
		if (tlb->level[TLB_PDE + c - 2].arrays > 0 &&
		    hits_table(tlb, &tlb->level[TLB_PDE + c - 2], access))
			found = c;
	for (int c = table + 1; c <= 4 && (found == 0 || c < found); c++) {
		struct tlb_level *level = &tlb->level[TLB_PDE + c - 2];
		const struct tlb_entry entry = { .here = true, .size = covered[c],
						 .page = access->address >> covered[c], .space = access->space };

		if (level->arrays > 0)
			put(tlb, level, &level->array[0], &entry);
	}
	total->references[access->type]++;
	if (found > 0)
		from = found - 1;
	else if (from < table)
		from = table;
	total->loads += (uint64_t)(from - table + 1);
	for (int t = from; t >= table && tlb->walks != NULL; t--)
		oracle_walks_load(tlb->walks, (unsigned int)t, access->address, access->space, access->global);
}

/* ---- lookups ---- */

static int index_of(unsigned int size)
{
	int index = 0;

	for (int i = 0; i < TLB_SIZES; i++)
		if (sizes[i] <= size)
			index = i;
	return index;
}

/* Which array, and at which size? */
static struct tlb_array *array_for(struct tlb_level *level, int *size)
{
	for (; *size >= 0; --*size)
		for (int i = 0; i < level->arrays; i++)
			if (level->array[i].has[*size])
				return &level->array[i];
	abort();
}

static bool hits(struct oracle_tlb *tlb, struct tlb_level *level, const struct access *access,
		 const struct tlb_entry *page)
{
	bool hit = false;

	for (int i = 0; i < level->arrays; i++)
		for (uint32_t j = 0; j < level->array[i].entries; j++) {
			struct tlb_entry *entry = &level->array[i].entry[j];

			if (!fits(entry, access->address, access->space))
				continue;
			if (entry->size == page->size && entry->frame == page->frame &&
			    entry->global == page->global) {
				hit = true;
				use(tlb, &level->array[i], j);
			} else {
				entry->here = false;
				level->stale++;
			}
		}
	return hit;
}

static void look_up(struct oracle_tlb *tlb, const int *path, const struct access *access)
{
	struct tlb_level *level = &tlb->level[*path];
	int size = index_of(access->size);
	struct tlb_array *array;
	struct tlb_entry entry = { .here = true, .global = access->global, .space = access->space };

	if (*path == TLB_WALK) {
		level->missed_pages[size]++;
		walk(tlb, access);
		return;
	}
	array = array_for(level, &size);
	entry.size = sizes[size];
	entry.page = access->address >> entry.size;
	entry.frame = access->frame;
	if (access->frame != KTR_NONE)
		entry.frame -= (access->address - (entry.page << entry.size)) / 4096;
	level->references[access->type]++;
	if (hits(tlb, level, access, &entry))
		return;
	level->misses[access->type]++;
	level->missed_pages[size]++;
	look_up(tlb, path + 1, access);
	put(tlb, level, array, &entry);
}

static void refer(struct oracle_tlb *tlb, const struct access *access)
{
	const bool fetch = access->type == FETCH;
	int path[3], count = 0;

	if (tlb->level[TLB_L1].arrays > 0)
		path[count++] = TLB_L1;
	else
		path[count++] = fetch ? TLB_L1I : TLB_L1D;
	if (tlb->level[TLB_L2].arrays > 0)
		path[count++] = TLB_L2;
	else if (tlb->level[TLB_L2I].arrays > 0)
		path[count++] = fetch ? TLB_L2I : TLB_L2D;
	path[count] = TLB_WALK;
	look_up(tlb, path, access);
}

/* ---- flushes ---- */

enum { ALL, NOT_GLOBAL, SPACE, PAGE };

static void flush(struct oracle_tlb *tlb, int kind, uint64_t space, uint64_t address)
{
	for (int i = 0; i < TLB_WALK; i++)
		for (int j = 0; j < tlb->level[i].arrays; j++)
			for (uint32_t k = 0; k < tlb->level[i].array[j].entries; k++) {
				struct tlb_entry *entry = &tlb->level[i].array[j].entry[k];
				const bool own = !entry->global && entry->space == space;
				const bool goes = kind == ALL || (kind == NOT_GLOBAL && !entry->global) ||
					(kind == SPACE && own) || (kind == PAGE &&
					(i >= TLB_PDE ? own : fits(entry, address, space)));

				if (!entry->here || !goes)
					continue;
				entry->here = false;
				tlb->level[i].invalidations++;
			}
}

static void load_cr3(struct oracle_tlb *tlb, uint64_t before, uint64_t loaded)
{
	if (!tlb->tags)
		flush(tlb, NOT_GLOBAL, 0, 0);
	else if (before == loaded)
		flush(tlb, SPACE, loaded, 0);
}

static void take_event(struct oracle_tlb *tlb, const struct item *item)
{
	const struct lpl_event *event = &item->event;
	const uint64_t kind = event->arg[LPL_EVENT_TLB_FLUSH_KIND];

	if (is_gap(item) || event->tag == LPL_EVENT_TRACING)
		flush(tlb, ALL, 0, 0);
	if (!tlb->translations || event->tag != LPL_EVENT_TLB_FLUSH)
		return;
	if (kind == LPL_TLB_ALL)
		flush(tlb, ALL, 0, 0);
	else if (kind == LPL_TLB_NONGLOBAL)
		load_cr3(tlb, event->space, event->arg[LPL_EVENT_TLB_FLUSH_SPACE]);
	else
		flush(tlb, PAGE, event->space, event->arg[LPL_EVENT_TLB_FLUSH_ADDRESS]);
}

void oracle_tlb_run(struct oracle_tlb *tlb, const struct stream *in)
{
	const struct lpl_ref *last = NULL;

	oracle_touches(tlb, in);
	if (tlb->walks != NULL)
		oracle_walks_begin(tlb->walks, in);
	for (size_t i = 0; i < in->count; i++) {
		const struct item *item = &in->item[i];
		const struct lpl_ref *ref = &item->ref;
		struct access access = { .space = ref->space, .type = ref->type == LPL_FETCH ? FETCH :
					 ref->type == LPL_READ ? READ : WRITE };

		if (item->is_event) {
			take_event(tlb, item);
			continue;
		}
		if (ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE)
			continue;
		if (!tlb->translations && last != NULL && last->space != ref->space)
			load_cr3(tlb, last->space, ref->space);
		last = ref;
		if (tlb->walks != NULL)
			oracle_walks_learn(tlb->walks, in, i);
		for (uint64_t page = ref->address / 4096; page <= (ref->address + ref->length - 1) / 4096;
		     page++) {
			const uint64_t end = ref->address + ref->length < (page + 1) * 4096 ?
				ref->address + ref->length : (page + 1) * 4096;
			uint64_t frame;
			bool paged;

			access.address = page == ref->address / 4096 ? ref->address : page * 4096;
			paged = translate(tlb, in, i, ref, &access);
			frame = access.frame;
			replace(tlb, &access);
			if (paged)
				refer(tlb, &access);
			if (tlb->walks != NULL)
				oracle_walks_access(tlb->walks, access.address, end - access.address, ref->space,
						    frame, ref->type);
		}
	}
	if (tlb->walks != NULL)
		oracle_walks_end(tlb->walks);
}
