/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which frames, and so which kernel addresses, hold pages of files. */
#include "internal.h"

#include <stdlib.h>

#include "base/array.h"

/* Pages [first, first + count); false (and odd): empty, or beyond the last page. */
static bool page_range(struct lpl_merge *merge, uint64_t first, uint64_t count,
		       struct range *range)
{
	if (count == 0 || first > TREE_LAST || count - 1 > TREE_LAST - first) {
		merge_odd(merge, LPL_ANOMALY_RANGE);
		return false;
	}
	*range = (struct range){ first, first + count - 1 };
	return true;
}

/* The kernel addresses of frames are the kernel's own again. */
static bool forget_alias(struct lpl_merge *merge, const struct run *run)
{
	uint64_t alias = slot_mapping(run->slot)->alias;

	if (!slot_mapping(run->slot)->aliased)
		return true;
	merge_forget(merge, &merge->kernel_stamp, run->first + alias, run->last + alias);
	return tree_set(&merge->kernel, run->first + alias, run->last + alias, TREE_EMPTY);
}

static bool tell_audit(struct lpl_merge *merge, enum cache_change change, const struct run *run)
{
	return merge->audit == NULL ||
	       audit_cache(merge, change, (struct range){ run->first, run->last },
			   slot_mapping(run->slot));
}

static bool uncache(struct lpl_merge *merge, uint64_t page)
{
	if (!lpl_reach(merge->uncached.page, merge->uncached.room, merge->uncached.count))
		return false;
	merge->uncached.page[merge->uncached.count++] = page;
	return true;
}

static int by_number(const void *one, const void *other)
{
	uint64_t a = ((const struct object_page *)one)->number;
	uint64_t b = ((const struct object_page *)other)->number;

	return (a > b) - (a < b);
}

/*
 * Pages of files leave the page cache: those that were referenced are to be told, in the
 * order of the file.  A run is as long as a guest says, so it is never walked when fewer pages
 * of the object were referenced.
 */
static bool leave_cache(struct lpl_merge *merge, const struct run *run)
{
	const struct mapping *mapping = slot_mapping(run->slot);
	const struct object *object = merge_object(merge, mapping);
	uint64_t first = run->first + mapping->delta, count = run->last - run->first + 1;
	uint64_t identity = merge_identity(mapping, object);

	if (merge->output->leave == NULL || object == NULL)
		return true;
	if (count <= object->pages) {
		for (uint64_t i = 0; i < count; i++) {
			uint64_t page = lpl_map_get(&merge->identities,
						    LPL_KEY(identity, mapping->object, first + i));

			if (page != 0 && !uncache(merge, page))
				return false;
		}
		return true;
	}
	qsort(object->page, object->pages, sizeof(*object->page), by_number);
	for (size_t i = 0; i < object->pages; i++)
		if (object->page[i].number - first < count &&
		    !uncache(merge, object->page[i].canonical))
			return false;
	return true;
}

/* What was in the frames leaves them; an object's own pages come again. */
static bool evict_others(struct lpl_merge *merge, struct range range,
			 const struct mapping *mapping)
{
	struct runs runs = { 0 };
	bool done = tree_collect(&merge->frames, range.first, range.last, &runs);
	bool any = false;

	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];
		bool same = mapping_same_pages(slot_mapping(run->slot), mapping);

		any |= !same;
		done = forget_alias(merge, run) && (same || leave_cache(merge, run)) &&
		       tell_audit(merge, same ? CACHE_AGAIN : CACHE_DISPLACED, run);
	}
	runs_free(&runs);
	if (any)
		merge_odd(merge, LPL_ANOMALY_CACHE_ADD);
	return done && tree_set(&merge->frames, range.first, range.last, TREE_EMPTY);
}

/* The kernel's own mapping of the frames at `address`, if it told one. */
static bool alias_frames(struct lpl_merge *merge, struct range frames, uint64_t address,
			 struct mapping *mapping)
{
	struct mapping alias = *mapping;
	struct mapping *made;
	struct range range;
	bool done;

	if (address == KTR_NONE)
		return true;
	if (address < merge->kernel_base) {
		merge_odd(merge, LPL_ANOMALY_RANGE);
		return true;
	}
	if (!page_range(merge, address >> LPL_PAGE_SHIFT, frames.last - frames.first + 1, &range))
		return true;
	mapping->aliased = true;
	mapping->alias = range.first - frames.first;
	alias.delta = mapping->delta - mapping->alias;
	made = mapping_new(&alias);
	if (made == NULL)
		return false;
	merge_forget(merge, &merge->kernel_stamp, range.first, range.last);
	done = tree_set(&merge->kernel, range.first, range.last, slot_of_mapping(made));
	slot_release(slot_of_mapping(made));
	return done;
}

bool merge_cache_add(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct mapping mapping = { .kind = LPL_PAGE_CACHE, .sharing = MAPPING_SHARED };
	struct mapping *made;
	struct range frames;
	bool done;

	if (!page_range(merge, event->arg[3], event->arg[4], &frames))
		return true;
	merge_name_object(merge, &mapping, OBJECT_FILE, event->arg[0], event->arg[1]);
	mapping.delta = event->arg[2] - frames.first;
	if (!evict_others(merge, frames, &mapping) ||
	    !alias_frames(merge, frames, event->arg[5], &mapping))
		return false;
	made = mapping_new(&mapping);
	if (made == NULL)
		return false;
	done = tree_set(&merge->frames, frames.first, frames.last, slot_of_mapping(made)) &&
	       (merge->audit == NULL || audit_cache(merge, CACHE_ADDED, frames, made));
	slot_release(slot_of_mapping(made));
	return done;
}

bool merge_cache_remove(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct mapping gone = { .sharing = MAPPING_SHARED };
	struct mapping gone_segment = gone;
	struct runs runs = { 0 };
	struct range frames;
	bool done, any = false;

	if (!page_range(merge, event->arg[3], event->arg[4], &frames))
		return true;
	merge_name_object(merge, &gone, OBJECT_FILE, event->arg[0], event->arg[1]);
	gone.delta = event->arg[2] - frames.first;
	/*
	 * By the time a segment's pages leave, its kernel may have forgotten that it
	 * was one, and the inode number comes without its mark.
	 */
	merge_name_object(merge, &gone_segment, OBJECT_SEGMENT, 0, event->arg[1] | KTR_INODE_SYSV);
	gone_segment.delta = gone.delta;
	done = tree_collect(&merge->frames, frames.first, frames.last, &runs);
	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];
		const struct mapping *held = slot_mapping(run->slot);

		/* a frame that was given to another page meanwhile is not meant */
		if (!mapping_same_pages(held, &gone) && !mapping_same_pages(held, &gone_segment))
			continue;
		any = true;
		done = forget_alias(merge, run) && leave_cache(merge, run) &&
		       tell_audit(merge, CACHE_REMOVED, run) &&
		       tree_set(&merge->frames, run->first, run->last, TREE_EMPTY);
	}
	runs_free(&runs);
	if (!any)
		merge_odd(merge, LPL_ANOMALY_CACHE_REMOVE);
	return done;
}
