/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a reference to its canonical page. */
#include "state.h"

#include <assert.h>

/* ---- the cache of translations ---- */

/*
 * A cache and no map: a translation that falls on another's place takes it, so that nothing grows
 * and nothing is searched.  A map of them would take nine times the instructions (`bench/tables`).
 */
static inline size_t translation_index(uint64_t virtual_page, uint64_t asid)
{
	return ((virtual_page ^ asid << 7) * UINT64_C(0x9e3779b97f4a7c15)) >>
	       (64 - TRANSLATION_BITS);
}

/* Whoever watches is given it, if it is relied on; in case of too many, all. */
static void note_page_change(struct lpl_merge_watch *watch, uint32_t place)
{
	if ((watch->noted[place / 64] >> place % 64 & 1) == 0)
		return;
	if (watch->places < LPL_WATCH_CHANGES)
		watch->place[watch->places++] = place;
	else
		watch->changed = true;
}

void lpl_flush_range(struct lpl_merge *merge, uint64_t *asid, uint64_t first, uint64_t last)
{
	assert(first <= last);
	if (last - first >= 64) {
		*asid = new_asid(merge);
		return;
	}
	for (uint64_t page = first; page <= last; page++) {
		struct translation *translation = &merge->cache[translation_index(page, *asid)];

		if (translation->asid == *asid && translation->virtual_page == page)
			translation->asid = 0;
		if (merge->watch != NULL)
			note_page_change(merge->watch, lpl_watch_place(page));
	}
}

void lpl_flush_all(struct lpl_merge *merge)
{
	struct space *space;

	merge->kernel_asid = new_asid(merge);
	LIST_FOREACH(space, &merge->all_spaces, in_all)
		space->asid = new_asid(merge);
}

void lpl_merge_watch(struct lpl_merge *merge, struct lpl_merge_watch *watch)
{
	merge->watch = watch;
}

bool lpl_merge_all_changed(const struct lpl_merge *merge)
{
	return merge->watch->changed || merge->gap || merge->tasks.in_state;
}

/* ---- canonical pages ---- */

/* A new number for a page like this. */
static uint64_t new_canonical(struct lpl_merge *merge, const struct lpl_merge_page *page,
			      struct effect *effect)
{
	merge->stats.pages[page->kind]++;
	effect->page = *page;
	effect->page.page = effect->page.number = ++merge->last_page;
	return merge->last_page;
}

/* The canonical page of an object's page, which is like this; 0: no memory. */
static uint64_t identify(struct lpl_merge *merge, struct lpl_key key,
			 const struct lpl_merge_page *page, struct effect *effect)
{
	uint64_t *canonical = lpl_map_reach(&merge->identities, key);

	if (canonical == NULL)
		return 0;
	if (*canonical == 0)
		*canonical = new_canonical(merge, page, effect);
	return *canonical;
}

/* Pages of files that are seen through the kernel's mapping are pages of files. */
static enum lpl_page_kind kind_of_object(const struct mapping *mapping,
					 const struct object *object)
{
	if (mapping->kind != LPL_PAGE_CACHE)
		return mapping->kind;
	return class_of(mapping) == OBJECT_SEGMENT || (object != NULL && object->memory) ?
	       LPL_PAGE_SHM : LPL_PAGE_FILE;
}

static uint64_t identify_mapped(struct lpl_merge *merge, const struct mapping *mapping,
				uint64_t virtual_page, struct effect *effect)
{
	struct object *object = lpl_object_find(merge, mapping);
	uint64_t number = virtual_page + mapping->delta, canonical;
	enum object_class class = class_of(mapping);
	struct lpl_merge_page page = {
		.kind = kind_of_object(mapping, object), .inode = KTR_NONE, .offset = number
	};

	if (class == OBJECT_FILE || class == OBJECT_SEGMENT) {
		page.device = device_of(mapping);
		page.inode = mapping->object;
	}
	if (object != NULL) {
		page.generation = object->generation;
		page.name = object->name;
		page.name_length = object->name_length;
	}
	canonical = identify(merge,
			     LPL_KEY(lpl_object_identity(mapping, object), mapping->object,
				     number),
			     &page, effect);
	if (canonical == 0 || canonical != effect->page.page)
		return canonical;
	/* reports on the object count from now on; an output may want to know of its pages */
	object = lpl_object_make(merge, mapping);
	if (object == NULL)
		return 0;
	lpl_object_note_reference(merge, object);
	if (merge->output->leave != NULL && !lpl_object_add_page(object, number, canonical))
		return 0;
	return canonical;
}

/* What a page is counted and reported as: written pages of a file are anonymous. */
static enum lpl_page_kind page_kind(const struct page *page)
{
	return page->origin->kind == LPL_PAGE_FILE ? LPL_PAGE_ANONYMOUS : page->origin->kind;
}

/* ---- what is mapped ---- */

/* No mapping is known there: the page is this space's, by its virtual page. */
static struct page *unresolved_page(struct lpl_merge *merge, struct space *space, uint64_t at)
{
	bool shared;
	tree_slot slot = lpl_tree_find(&space->unresolved, at, &shared);
	struct page *page;

	assert(slot == TREE_EMPTY || slot_is_page(slot));
	if (slot != TREE_EMPTY)
		return slot_page(slot);
	page = lpl_page_new(merge->unresolved, at);
	if (page == NULL)
		return NULL;
	if (!lpl_tree_set(&space->unresolved, at, at, slot_of_page(page))) {
		lpl_slot_release(slot_of_page(page));
		return NULL;
	}
	lpl_slot_release(slot_of_page(page));
	return page;
}

/* Put a new page there: for all spaces that share the place, or for this one alone. */
static struct page *new_page(struct space *space, uint64_t at, tree_slot old, bool for_all)
{
	struct page *page = lpl_page_like(old, at);
	bool done;

	if (page == NULL)
		return NULL;
	done = for_all ? lpl_tree_fill(&space->mapped, at, page) :
			 lpl_tree_set(&space->mapped, at, at, slot_of_page(page));
	lpl_slot_release(slot_of_page(page));
	return done ? page : NULL;
}

/*
 * A user address.  A write that got this far was allowed by the page table, so
 * a page that would have to be parted first is parted already.
 */
static bool resolve_user(struct lpl_merge *merge, struct space *space, uint64_t at, bool write,
			 struct translation *found, struct effect *effect)
{
	bool shared;
	tree_slot slot = lpl_tree_find(&space->mapped, at, &shared);
	struct page *page;

	found->writable = true;
	if (slot == TREE_EMPTY) {
		page = unresolved_page(merge, space, at);
	} else if (slot_is_page(slot)) {
		page = slot_page(slot);
		if (shared && write) {
			/* never touched before: nothing was shared yet */
			effect->implied_break = page->canonical != 0;
			page = new_page(space, at, slot, false);
		} else {
			found->writable = !shared;
		}
	} else if (slot_mapping(slot)->sharing == MAPPING_ANONYMOUS) {
		page = new_page(space, at, slot, shared && !write);
		found->writable = !shared || write;
	} else if (slot_mapping(slot)->sharing == MAPPING_PRIVATE && write) {
		effect->implied_break = true;
		page = new_page(space, at, slot, false);
	} else {
		found->writable = slot_mapping(slot)->sharing == MAPPING_SHARED;
		found->kind = slot_mapping(slot)->kind;
		found->page = identify_mapped(merge, slot_mapping(slot), at, effect);
		return found->page != 0;
	}
	if (page == NULL)
		return false;
	found->kind = page_kind(page);
	if (page->canonical == 0)
		page->canonical = new_canonical(merge, &(struct lpl_merge_page){
			.kind = page_kind(page), .space = space->number, .virtual_page = at },
			effect);
	found->page = page->canonical;
	return true;
}

static bool resolve_kernel(struct lpl_merge *merge, uint64_t at, struct translation *found,
			   struct effect *effect)
{
	bool shared;
	tree_slot slot = lpl_tree_find(&merge->kernel, at, &shared);

	found->writable = true;
	if (slot == TREE_EMPTY) {
		found->kind = LPL_PAGE_KERNEL;
		found->page = identify(merge, LPL_KEY(object_domain(OBJECT_KERNEL, 0), 0, at),
				       &(struct lpl_merge_page){ .kind = LPL_PAGE_KERNEL,
								 .virtual_page = at }, effect);
	} else {
		found->kind = LPL_PAGE_CACHE;
		found->page = identify_mapped(merge, slot_mapping(slot), at, effect);
	}
	return found->page != 0;
}

static bool resolve_physical(struct lpl_merge *merge, uint64_t at, struct translation *found,
			     struct effect *effect)
{
	found->writable = true;
	found->kind = LPL_PAGE_PHYSICAL;
	found->page = identify(merge, LPL_KEY(object_domain(OBJECT_PHYSICAL, 0), 0, at),
			       &(struct lpl_merge_page){ .kind = LPL_PAGE_PHYSICAL,
							 .offset = at }, effect);
	return found->page != 0;
}

/* ---- a reference ---- */

struct space *lpl_reference_space(struct lpl_merge *merge, uint64_t number)
{
	if (merge->last_space == NULL || merge->last_space->number != number)
		merge->last_space = lpl_space_make(merge, number);
	return merge->last_space;
}

struct translation *lpl_merge_translate(struct lpl_merge *merge, const struct lpl_ref *ref,
					struct effect *effect)
{
	uint64_t at = ref->address >> LPL_PAGE_SHIFT;
	bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
	bool write = ref->type == LPL_WRITE;
	struct space *space = NULL;
	struct translation *translation;
	uint64_t asid;
	bool found;

	if (walk) {
		asid = merge->physical_asid;
	} else if (ref->address >= merge->kernel_base) {
		asid = merge->kernel_asid;
	} else {
		space = lpl_reference_space(merge, ref->space);
		if (space == NULL)
			return NULL;
		asid = space->asid;
	}
	translation = &merge->cache[translation_index(at, asid)];
	if (translation->asid == asid && translation->virtual_page == at &&
	    (!write || translation->writable))
		return translation;
	translation->asid = 0;
	if (space != NULL)
		found = resolve_user(merge, space, at, write, translation, effect);
	else if (walk)
		found = resolve_physical(merge, at, translation, effect);
	else
		found = resolve_kernel(merge, at, translation, effect);
	if (!found)
		return NULL;
	assert(translation->page >= 1 && translation->page <= merge->last_page);
	translation->asid = asid;
	translation->cached = 0;
	translation->virtual_page = at;
	return translation;
}

size_t lpl_merge_translate_cached(const struct lpl_merge *merge, const struct lpl_ref *refs,
				  size_t count, uint64_t *pages)
{
	/* in locals, which stores into `pages` cannot change */
	const struct space *const space = merge->last_space;
	const uint64_t number = space != NULL ? space->number : UINT64_MAX;
	const uint64_t space_asid = space != NULL ? space->asid : UINT64_MAX;
	const uint64_t kernel_base = merge->kernel_base, kernel_asid = merge->kernel_asid;
	const uint64_t physical_asid = merge->physical_asid;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct lpl_ref *const ref = &refs[i];
		const uint64_t at = ref->address >> LPL_PAGE_SHIFT;
		const struct translation *translation;
		uint64_t asid = space_asid;

		if (ref->type >= LPL_WALK_READ)
			asid = physical_asid;
		else if (ref->address >= kernel_base)
			asid = kernel_asid;
		else if (ref->space != number)
			break;
		translation = &merge->cache[translation_index(at, asid)];
		if (translation->asid != asid || translation->virtual_page != at ||
		    (ref->type == LPL_WRITE && !translation->writable))
			break;
		pages[i] = translation->page;
	}
	return i;
}
