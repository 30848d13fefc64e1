/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The merge as a sink: every reference gets its canonical page and its task. */
#include "internal.h"

#include <stdlib.h>

#define DEFAULT_KERNEL_BASE (UINT64_C(1) << 63)

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY,
			"merge: no memory left for the reconstructed address spaces");
}

struct space *merge_space(const struct lpl_merge *merge, uint64_t number)
{
	return (struct space *)(uintptr_t)table_get(&merge->spaces, (struct table_key){ number, 0, 0 });
}

struct space *merge_space_make(struct lpl_merge *merge, uint64_t number)
{
	struct space *space = merge_space(merge, number);

	if (space != NULL)
		return space;
	space = calloc(1, sizeof(*space));
	if (space == NULL)
		return NULL;
	if (!table_put(&merge->spaces, (struct table_key){ number, 0, 0 }, (uintptr_t)space)) {
		free(space);
		return NULL;
	}
	space->number = number;
	space->stamp = new_stamp(merge);
	space->moved_first = UINT64_MAX;	/* nothing was moved */
	merge->stats.spaces++;
	merge->stats.live_spaces++;
	return space;
}

static void space_free(struct space *space)
{
	tree_free(&space->mapped);
	tree_free(&space->unresolved);
	free(space);
}

void merge_space_end(struct lpl_merge *merge, struct space *space)
{
	table_remove(&merge->spaces, (struct table_key){ space->number, 0, 0 });
	if (merge->last_space == space)
		merge->last_space = NULL;
	space_free(space);
	merge->stats.live_spaces--;
}

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

void merge_name_object(struct lpl_merge *merge, struct mapping *mapping,
		       enum object_class class, uint64_t device, uint64_t inode)
{
	if ((class == OBJECT_FILE && inode == 0) || inode == KTR_NONE) {
		class = OBJECT_UNIQUE;
		device = 0;
		inode = ++merge->last_unique;
	} else if (inode >> 63 != 0) {
		class = OBJECT_SEGMENT;
	}
	if (class == OBJECT_SEGMENT)
		device = 0;
	mapping->space_of_object = object_class(class, device);
	mapping->object = inode;
}

static uint64_t new_canonical(struct lpl_merge *merge, enum lpl_page_kind kind)
{
	merge->stats.pages[kind]++;
	return ++merge->last_page;
}

/* The canonical page of an object's page; 0: no memory. */
static uint64_t identify(struct lpl_merge *merge, uint64_t class, uint64_t object,
			 uint64_t page, enum lpl_page_kind kind)
{
	struct table_key key = { class, object, page };
	uint64_t canonical = table_get(&merge->identities, key);

	if (canonical == 0) {
		if (!table_put(&merge->identities, key, merge->last_page + 1))
			return 0;
		canonical = new_canonical(merge, kind);
	}
	return canonical;
}

static uint64_t identify_mapped(struct lpl_merge *merge, const struct mapping *mapping,
				uint64_t virtual_page)
{
	return identify(merge, mapping->space_of_object, mapping->object,
			virtual_page + mapping->delta,
			mapping->kind == LPL_PAGE_CACHE ? LPL_PAGE_FILE : mapping->kind);
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
		page->canonical = new_canonical(merge, found->kind);
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
		found->page = identify(merge, object_class(OBJECT_KERNEL, 0), 0, at,
				       LPL_PAGE_KERNEL);
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
	found->page = identify(merge, object_class(OBJECT_PHYSICAL, 0), 0, at, LPL_PAGE_PHYSICAL);
	return found->page != 0;
}

/* The space of a user reference; NULL: no memory. */
static struct space *reference_space(struct lpl_merge *merge, uint64_t number)
{
	if (merge->last_space == NULL || merge->last_space->number != number)
		merge->last_space = merge_space_make(merge, number);
	return merge->last_space;
}

/* The reference's translation, valid until the next; NULL: no memory. */
static struct translation *translate(struct lpl_merge *merge, const struct lpl_ref *ref)
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
	translation->virtual_page = at;
	return translation;
}

static int merge_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		      struct lpl_report *report)
{
	struct lpl_merge *merge = (struct lpl_merge *)sink;
	struct lpl_merged merged = { .task = &merge->current };

	for (size_t i = 0; i < count; i++) {
		const struct translation *translation = translate(merge, &refs[i]);
		int error;

		if (translation == NULL)
			return no_memory(report);
		merged.ref = &refs[i];
		merged.page = translation->page;
		merged.kind = translation->kind;
		merge->stats.references[merged.kind]++;
		if (merged.kind == LPL_PAGE_UNRESOLVED && (refs[i].flags & LPL_USER) != 0)
			merge->stats.user_unresolved++;
		error = merge->output->reference(merge->output, &merged, report);
		if (error != LPL_OK)
			return error;
	}
	return LPL_OK;
}

static int merge_event(struct lpl_sink *sink, const struct lpl_event *event,
		       struct lpl_report *report)
{
	struct lpl_merge *merge = (struct lpl_merge *)sink;
	bool task_known = false, mapping_known = false;
	bool ours = event->tag >= LPL_EVENT_TRACING;
	struct lpl_merge_task task;

	merge->stats.events++;
	/* the simulator's own events know nothing of tasks */
	if (!ours && !merge_task_check(merge, event))
		return no_memory(report);
	task = merge->current;
	if (!merge_task_event(merge, event, &task_known) ||
	    !merge_mapping_event(merge, event, &mapping_known))
		return no_memory(report);
	if (!task_known && !mapping_known && event->tag != KTR_MARK &&
	    event->tag != KTR_CONTROL && event->tag != LPL_EVENT_TRACING &&
	    event->tag != LPL_EVENT_MARK)
		odd(merge, LPL_ODD_TAG);
	if (merge->output->event == NULL)
		return LPL_OK;
	return merge->output->event(merge->output, event, &task, report);
}

static int merge_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_merge *merge = (struct lpl_merge *)sink;

	return merge->output->finish(merge->output, report);
}

enum lpl_error lpl_merge_open(struct lpl_merge **merge, struct lpl_merge_output *output,
			      const struct lpl_merge_options *options,
			      struct lpl_report *report)
{
	static const struct mapping stray = {
		.kind = LPL_PAGE_UNRESOLVED, .sharing = MAPPING_ANONYMOUS
	};
	struct lpl_merge *made = calloc(1, sizeof(*made));

	*merge = NULL;
	if (made == NULL)
		return no_memory(report);
	made->stray = mapping_new(&stray);
	if (made->stray == NULL) {
		free(made);
		return no_memory(report);
	}
	made->sink = (struct lpl_sink){ merge_refs, merge_event, merge_finish };
	made->output = output;
	made->kernel_base = DEFAULT_KERNEL_BASE;
	if (options != NULL && options->kernel_base != 0)
		made->kernel_base = options->kernel_base;
	table_init(&made->tasks);
	table_init(&made->spaces);
	table_init(&made->identities);
	made->kernel_stamp = new_stamp(made);
	made->physical_stamp = new_stamp(made);
	*merge = made;
	return LPL_OK;
}

struct lpl_sink *lpl_merge_sink(struct lpl_merge *merge)
{
	return &merge->sink;
}

const struct lpl_merge_stats *lpl_merge_stats(const struct lpl_merge *merge)
{
	return &merge->stats;
}

void lpl_merge_close(struct lpl_merge *merge)
{
	if (merge == NULL)
		return;
	for (size_t i = 0; i < merge->spaces.size; i++)
		if (merge->spaces.entries[i].value != 0)
			space_free((struct space *)(uintptr_t)merge->spaces.entries[i].value);
	merge_tasks_free(merge);
	table_free(&merge->spaces);
	table_free(&merge->identities);
	tree_free(&merge->kernel);
	tree_free(&merge->frames);
	slot_release(slot_of_mapping(merge->stray));
	free(merge);
}
