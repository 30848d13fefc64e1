/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a reference to its canonical page. */
#include "internal.h"

#include <stdlib.h>

void merge_forget(struct lpl_merge *merge, uint64_t *stamp, uint64_t first, uint64_t last)
{
	if (last - first >= 64) {
		*stamp = new_stamp(merge);
		return;
	}
	for (uint64_t page = first; page <= last; page++) {
		struct translation *translation = &merge->cache[translation_index(page, *stamp)];

		if (translation->stamp == *stamp && translation->virtual_page == page)
			translation->stamp = 0;
	}
}

/* A new number, for what is told. */
static uint64_t new_canonical(struct lpl_merge *merge, const struct lpl_merge_page *fresh)
{
	merge->stats.pages[fresh->kind]++;
	merge->fresh = *fresh;
	merge->fresh.page = ++merge->last_page;
	return merge->last_page;
}

/* The canonical page of an object's page; 0: no memory. */
static uint64_t identify(struct lpl_merge *merge, struct lpl_key key,
			 const struct lpl_merge_page *fresh)
{
	uint64_t *canonical = lpl_map_reach(&merge->identities, key);

	if (canonical == NULL)
		return 0;
	if (*canonical == 0)
		*canonical = new_canonical(merge, fresh);
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

uint64_t merge_identity(const struct mapping *mapping, const struct object *object)
{
	return mapping->space_of_object +
	       (object == NULL ? 0 : object->incarnation << INCARNATION_SHIFT);
}

static uint64_t identify_mapped(struct lpl_merge *merge, const struct mapping *mapping,
				uint64_t virtual_page)
{
	struct object *object = merge_object(merge, mapping);
	uint64_t known = merge->last_page, canonical;
	uint64_t page = virtual_page + mapping->delta;
	enum object_class class = class_of(mapping);
	struct lpl_merge_page fresh = {
		.kind = kind_of_object(mapping, object), .inode = KTR_NONE, .offset = page
	};

	if (class == OBJECT_FILE || class == OBJECT_SEGMENT) {
		fresh.device = mapping->space_of_object >> OBJECT_CLASS_BITS;
		fresh.inode = mapping->object;
	}
	if (object != NULL) {
		fresh.generation = object->generation;
		fresh.name = object->name;
		fresh.name_length = object->name_length;
	}
	canonical = identify(merge,
			     LPL_KEY(merge_identity(mapping, object), mapping->object, page),
			     &fresh);
	/* who wants to know when it leaves memory */
	if (canonical > known && merge->output->leave != NULL) {
		object = merge_object_make(merge, mapping);
		if (object == NULL || !object_note_page(object, page, canonical))
			return 0;
	}
	return canonical;
}

/* What a page is counted and reported as: written pages of a file are anonymous. */
static enum lpl_page_kind page_kind(const struct page *page)
{
	return page->origin->kind == LPL_PAGE_FILE ? LPL_PAGE_ANONYMOUS : page->origin->kind;
}

/* No mapping is known there: the page is this space's, by its virtual page. */
static struct page *stray_page(struct lpl_merge *merge, struct space *space, uint64_t at)
{
	bool shared;
	tree_slot slot = tree_find(&space->unresolved, at, &shared);
	struct page *page;

	if (slot != TREE_EMPTY)
		return slot_page(slot);
	page = page_new(merge->stray, at);
	if (page == NULL)
		return NULL;
	if (!tree_set(&space->unresolved, at, at, slot_of_page(page))) {
		slot_release(slot_of_page(page));
		return NULL;
	}
	slot_release(slot_of_page(page));
	return page;
}

/* Put a fresh page there: for all who share the place, or for this space alone. */
static struct page *fresh_page(struct space *space, uint64_t at, tree_slot old, bool for_all)
{
	struct page *page = page_like(old, at);
	bool done;

	if (page == NULL)
		return NULL;
	done = for_all ? tree_fill(&space->mapped, at, page) :
			 tree_set(&space->mapped, at, at, slot_of_page(page));
	slot_release(slot_of_page(page));
	return done ? page : NULL;
}

/*
 * A user address.  A write that got this far was allowed by the page table, so
 * a page that would have to be parted first is parted already.
 */
static bool resolve_user(struct lpl_merge *merge, struct space *space, uint64_t at, bool write,
			 struct translation *found)
{
	bool shared;
	tree_slot slot = tree_find(&space->mapped, at, &shared);
	struct page *page;

	found->writable = true;
	if (slot == TREE_EMPTY) {
		page = stray_page(merge, space, at);
	} else if (slot_is_page(slot)) {
		page = slot_page(slot);
		if (shared && write) {
			/* never touched before: nothing was shared yet */
			if (page->canonical != 0)
				merge->stats.implied_breaks++;
			page = fresh_page(space, at, slot, false);
		} else {
			found->writable = !shared;
		}
	} else if (slot_mapping(slot)->sharing == MAPPING_ANONYMOUS) {
		page = fresh_page(space, at, slot, shared && !write);
		found->writable = !shared || write;
	} else if (slot_mapping(slot)->sharing == MAPPING_PRIVATE && write) {
		merge->stats.implied_breaks++;
		page = fresh_page(space, at, slot, false);
	} else {
		found->writable = slot_mapping(slot)->sharing == MAPPING_SHARED;
		found->kind = slot_mapping(slot)->kind;
		found->page = identify_mapped(merge, slot_mapping(slot), at);
		return found->page != 0;
	}
	if (page == NULL)
		return false;
	found->kind = page_kind(page);
	if (page->canonical == 0)
		page->canonical = new_canonical(merge, &(struct lpl_merge_page){
			.kind = page_kind(page), .space = space->number, .virtual_page = at });
	found->page = page->canonical;
	return true;
}

static bool resolve_kernel(struct lpl_merge *merge, uint64_t at, struct translation *found)
{
	bool shared;
	tree_slot slot = tree_find(&merge->kernel, at, &shared);

	found->writable = true;
	if (slot == TREE_EMPTY) {
		found->kind = LPL_PAGE_KERNEL;
		found->page = identify(merge, LPL_KEY(object_class(OBJECT_KERNEL, 0), 0, at),
				       &(struct lpl_merge_page){ .kind = LPL_PAGE_KERNEL,
								 .virtual_page = at });
	} else {
		found->kind = LPL_PAGE_CACHE;
		found->page = identify_mapped(merge, slot_mapping(slot), at);
	}
	return found->page != 0;
}

static bool resolve_physical(struct lpl_merge *merge, uint64_t at, struct translation *found)
{
	found->writable = true;
	found->kind = LPL_PAGE_PHYSICAL;
	found->page = identify(merge, LPL_KEY(object_class(OBJECT_PHYSICAL, 0), 0, at),
			       &(struct lpl_merge_page){ .kind = LPL_PAGE_PHYSICAL,
							 .offset = at });
	return found->page != 0;
}

/* The space of a user reference; NULL: no memory. */
static struct space *reference_space(struct lpl_merge *merge, uint64_t number)
{
	if (merge->last_space == NULL || merge->last_space->number != number)
		merge->last_space = merge_space_make(merge, number);
	return merge->last_space;
}

struct translation *merge_translate(struct lpl_merge *merge, const struct lpl_ref *ref)
{
	uint64_t at = ref->address >> LPL_PAGE_SHIFT;
	bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
	bool write = ref->type == LPL_WRITE;
	struct space *space = NULL;
	struct translation *translation;
	uint64_t stamp;
	bool found;

	if (walk) {
		stamp = merge->physical_stamp;
	} else if (ref->address >= merge->kernel_base) {
		stamp = merge->kernel_stamp;
	} else {
		space = reference_space(merge, ref->space);
		if (space == NULL)
			return NULL;
		stamp = space->stamp;
	}
	translation = &merge->cache[translation_index(at, stamp)];
	if (translation->stamp == stamp && translation->virtual_page == at &&
	    (!write || translation->writable))
		return translation;
	translation->stamp = 0;
	if (space != NULL)
		found = resolve_user(merge, space, at, write, translation);
	else if (walk)
		found = resolve_physical(merge, at, translation);
	else
		found = resolve_kernel(merge, at, translation);
	if (!found)
		return NULL;
	translation->stamp = stamp;
	translation->cached = 0;
	translation->virtual_page = at;
	return translation;
}

