/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which frames, and so which kernel addresses, hold pages of files. */
#include <assert.h>
#include <stdlib.h>

#include "audit.h"
#include "base/array.h"
#include "state.h"

/* Pages [first, first + count); false, and an anomaly: empty, or beyond the last page. */
static bool page_range(struct lpl_merge *merge, const struct lpl_event *event, uint64_t first,
		       uint64_t count, struct range *range)
{
	if (count == 0 || first > TREE_LAST || count - 1 > TREE_LAST - first) {
		lpl_merge_anomaly(merge, LPL_ANOMALY_RANGE, event);
		return false;
	}
	*range = (struct range){ first, first + count - 1 };
	return true;
}

/* The kernel addresses of frames are the kernel's own again, where they are theirs still. */
static bool remove_alias(struct lpl_merge *merge, const struct run *run)
{
	const struct mapping *held = slot_mapping(run->slot);
	struct runs seen = { 0 };
	bool done;

	assert(slot_is_mapping(run->slot));
	if (!held->aliased)
		return true;
	done = lpl_tree_collect(&merge->kernel, run->first + held->alias, run->last + held->alias,
				&seen);
	for (size_t i = 0; i < seen.count && done; i++) {
		const struct run *shown = &seen.run[i];

		if (!mapping_shows_frames(slot_mapping(shown->slot), held))
			continue;
		lpl_flush_range(merge, &merge->kernel_asid, shown->first, shown->last);
		done = lpl_tree_set(&merge->kernel, shown->first, shown->last, TREE_EMPTY);
	}
	lpl_runs_free(&seen);
	return done;
}

static bool audit_cache(struct lpl_merge *merge, const struct lpl_event *event,
			enum cache_change change, const struct run *run)
{
	return merge->audit == NULL ||
	       lpl_audit_cache(merge, change, range_of(run), slot_mapping(run->slot), event);
}

/* It is to be reported. */
static bool page_left(struct lpl_merge *merge, uint64_t page)
{
	if (!lpl_reach(merge->left_cache, merge->left_room, merge->left_count))
		return false;
	merge->left_cache[merge->left_count++] = page;
	return true;
}

static int by_number(const void *one, const void *other)
{
	uint64_t a = ((const struct object_page *)one)->number;
	uint64_t b = ((const struct object_page *)other)->number;

	return (a > b) - (a < b);
}

/*
 * Pages of files leave the page cache: those that were referenced are to be reported, in the
 * order of the file.  A run is as long as a guest says, so it is never walked when fewer pages
 * of the object were referenced.
 */
static bool leave_cache(struct lpl_merge *merge, const struct run *run)
{
	const struct mapping *mapping = slot_mapping(run->slot);
	const struct object *object = lpl_object_find(merge, mapping);
	uint64_t first = run->first + mapping->delta, count = run->last - run->first + 1;
	uint64_t identity = lpl_object_identity(mapping, object);

	if (merge->output->leave == NULL || object == NULL || object->pages == 0)
		return true;
	if (count <= object->pages) {
		for (uint64_t i = 0; i < count; i++) {
			uint64_t page = lpl_map_get(&merge->identities,
						    LPL_KEY(identity, mapping->object, first + i));

			if (page != 0 && !page_left(merge, page))
				return false;
		}
		return true;
	}
	qsort(object->page, object->pages, sizeof(*object->page), by_number);
	for (size_t i = 0; i < object->pages; i++)
		if (object->page[i].number - first < count &&
		    !page_left(merge, object->page[i].canonical))
			return false;
	return true;
}

/* What was in the frames leaves them; an object's own pages come again. */
static bool displace(struct lpl_merge *merge, const struct lpl_event *event,
		     struct range range, const struct mapping *mapping)
{
	struct runs runs = { 0 };
	bool done = lpl_tree_collect(&merge->frames, range.first, range.last, &runs);
	bool any = false;

	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];
		bool same = mapping_same_pages(slot_mapping(run->slot), mapping);

		any |= !same;
		done = remove_alias(merge, run) && (same || leave_cache(merge, run)) &&
		       audit_cache(merge, event, same ? CACHE_AGAIN : CACHE_DISPLACED, run);
	}
	lpl_runs_free(&runs);
	if (any)
		lpl_merge_anomaly(merge, LPL_ANOMALY_CACHE_ADD, event);
	return done && lpl_tree_set(&merge->frames, range.first, range.last, TREE_EMPTY);
}

/* The kernel's own mapping of the frames at `address`, if it reported one. */
static bool alias_frames(struct lpl_merge *merge, const struct lpl_event *event,
			 struct range frames, struct mapping *mapping)
{
	uint64_t address = event->arg[KTR_CACHE_ADD_ADDRESS];
	struct mapping alias = *mapping;
	struct mapping *made;
	struct range range;
	bool done;

	if (address == KTR_NONE)
		return true;
	if (address < merge->kernel_base) {
		lpl_merge_anomaly(merge, LPL_ANOMALY_RANGE, event);
		return true;
	}
	if (!page_range(merge, event, address >> LPL_PAGE_SHIFT, frames.last - frames.first + 1,
			&range))
		return true;
	mapping->aliased = true;
	mapping->alias = range.first - frames.first;
	alias.alias = mapping->alias;
	alias.delta = mapping->delta - mapping->alias;
	made = lpl_mapping_new(&merge->store, &alias);
	if (made == NULL)
		return false;
	lpl_flush_range(merge, &merge->kernel_asid, range.first, range.last);
	done = lpl_tree_set(&merge->kernel, range.first, range.last, slot_of_mapping(made));
	lpl_slot_release(slot_of_mapping(made));
	return done;
}

bool lpl_on_cache_add(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct mapping mapping = { .kind = LPL_PAGE_CACHE, .sharing = MAPPING_SHARED };
	struct mapping *made;
	struct range frames;
	bool done;

	if (!page_range(merge, event, event->arg[KTR_CACHE_FRAME], event->arg[KTR_CACHE_PAGES],
			&frames))
		return true;
	lpl_object_name(merge, &mapping, OBJECT_FILE, event->arg[KTR_CACHE_DEVICE],
			event->arg[KTR_CACHE_INODE]);
	mapping.delta = event->arg[KTR_CACHE_OFFSET] - frames.first;
	if (!displace(merge, event, frames, &mapping) ||
	    !alias_frames(merge, event, frames, &mapping))
		return false;
	made = lpl_mapping_new(&merge->store, &mapping);
	if (made == NULL)
		return false;
	done = lpl_tree_set(&merge->frames, frames.first, frames.last, slot_of_mapping(made)) &&
	       (merge->audit == NULL || lpl_audit_cache(merge, CACHE_ADDED, frames, made, event));
	lpl_slot_release(slot_of_mapping(made));
	return done;
}

bool lpl_on_cache_remove(struct lpl_merge *merge, const struct lpl_event *event)
{
	uint64_t inode = event->arg[KTR_CACHE_INODE];
	struct mapping removed = { .sharing = MAPPING_SHARED };
	struct mapping removed_segment = removed;
	struct runs runs = { 0 };
	struct range frames;
	bool done, any = false;

	if (!page_range(merge, event, event->arg[KTR_CACHE_FRAME], event->arg[KTR_CACHE_PAGES],
			&frames))
		return true;
	lpl_object_name(merge, &removed, OBJECT_FILE, event->arg[KTR_CACHE_DEVICE], inode);
	removed.delta = event->arg[KTR_CACHE_OFFSET] - frames.first;
	/*
	 * By the time a segment's pages leave, its kernel may have forgotten that it
	 * was one, and the inode number has no mark.
	 */
	lpl_object_name(merge, &removed_segment, OBJECT_SEGMENT, 0, inode | KTR_INODE_SYSV);
	removed_segment.delta = removed.delta;
	done = lpl_tree_collect(&merge->frames, frames.first, frames.last, &runs);
	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];
		const struct mapping *held = slot_mapping(run->slot);

		/* a frame that was given to another page meanwhile is not meant */
		if (!mapping_same_pages(held, &removed) &&
		    !mapping_same_pages(held, &removed_segment))
			continue;
		any = true;
		done = remove_alias(merge, run) && leave_cache(merge, run) &&
		       audit_cache(merge, event, CACHE_REMOVED, run) &&
		       lpl_tree_set(&merge->frames, run->first, run->last, TREE_EMPTY);
	}
	lpl_runs_free(&runs);
	if (!any)
		lpl_merge_anomaly(merge, LPL_ANOMALY_CACHE_REMOVE, event);
	return done;
}
