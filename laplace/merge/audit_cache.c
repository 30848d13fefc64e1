/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The audit of the page cache: which pages each object has in it, which enter it and leave it.
 *
 * Whether a file's page is in the page cache is looked up once for each cached translation,
 * and again when any page has left the page cache since: that is what the epoch is for.
 */
#include "audit.h"

/* The pages of the object that are in the frames; false: out of any file's range. */
static bool object_pages(struct range frames, const struct mapping *mapping,
			 struct range *pages)
{
	pages->first = frames.first + mapping->delta;
	pages->last = frames.last + mapping->delta;
	return pages->first <= pages->last && pages->last <= TREE_LAST;
}

/* The object's pages are in these frames, and in no others. */
static bool note_cached(struct lpl_merge *merge, const struct lpl_event *event,
			struct object *object, struct range pages, struct mapping *mapping)
{
	struct runs runs = { 0 };
	bool done = lpl_tree_collect(&object->cached, pages.first, pages.last, &runs);
	bool elsewhere = false;

	for (size_t i = 0; i < runs.count && done; i++)
		elsewhere |= slot_mapping(runs.run[i].slot)->delta != mapping->delta;
	lpl_runs_free(&runs);
	if (elsewhere)
		lpl_merge_anomaly(merge, LPL_ANOMALY_CACHED_TWICE, event);
	return done && lpl_tree_set(&object->cached, pages.first, pages.last,
				    slot_of_mapping(mapping));
}

/* The object's pages are no longer in these frames; they may be in others. */
static bool note_removed(struct object *object, struct range pages,
			 const struct mapping *mapping)
{
	struct runs runs = { 0 };
	bool done = lpl_tree_collect(&object->cached, pages.first, pages.last, &runs);

	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];

		if (slot_mapping(run->slot)->delta == mapping->delta)
			done = lpl_tree_set(&object->cached, run->first, run->last, TREE_EMPTY);
	}
	lpl_runs_free(&runs);
	return done;
}

bool lpl_audit_cache(struct lpl_merge *merge, enum cache_change change, struct range frames,
		     struct mapping *mapping, const struct lpl_event *event)
{
	struct lpl_merge_audit *books = &merge->audit->books;
	uint64_t count = frames.last - frames.first + 1;
	struct object *object;
	struct range pages;

	switch (change) {
	case CACHE_ADDED:
		books->cache_added += count;
		break;
	case CACHE_AGAIN:
		books->cache_added -= count;
		return true;
	case CACHE_DISPLACED:
		books->cache_displaced += count;
		merge->audit->epoch++;
		break;
	case CACHE_REMOVED:
		books->cache_removed += count;
		merge->audit->epoch++;
		break;
	}
	if (!object_pages(frames, mapping, &pages))
		return true;
	object = lpl_object_make(merge, mapping);
	if (object == NULL)
		return false;
	return change == CACHE_ADDED ? note_cached(merge, event, object, pages, mapping) :
				       note_removed(object, pages, mapping);
}

bool lpl_audit_is_cached(struct lpl_merge *merge, const struct lpl_ref *ref)
{
	uint64_t at = ref->address >> LPL_PAGE_SHIFT;
	bool shared;
	const struct space *space = lpl_reference_space(merge, ref->space);
	const struct mapping *mapping =
		slot_mapping(lpl_tree_find(&space->mapped, at, &shared));
	const struct object *object;

	/* nothing is reported of an unknown file */
	if (class_of(mapping) != OBJECT_FILE)
		return true;
	object = lpl_object_find(merge, mapping);
	return object != NULL && at + mapping->delta <= TREE_LAST &&
	       lpl_tree_find(&object->cached, at + mapping->delta, &shared) != TREE_EMPTY;
}

static int count_pages(void *context, uint64_t first, uint64_t last, tree_slot slot)
{
	(void)slot;
	*(uint64_t *)context += last - first + 1;
	return 0;
}

uint64_t lpl_audit_cached_pages(const struct lpl_merge *merge)
{
	uint64_t pages = 0;

	(void)lpl_tree_walk(&merge->frames, 0, TREE_LAST, count_pages, &pages);
	return pages;
}
