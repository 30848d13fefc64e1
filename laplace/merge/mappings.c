/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of mappings: KTR_MAP, KTR_UNMAP, KTR_BRK, KTR_SHM_ATTACH, KTR_SHM_DETACH. */
#include "state.h"

static uint64_t name_hash(const struct lpl_event *event)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);	/* FNV-1a */

	for (uint32_t i = 0; i < event->text_length && i < KTR_TEXT; i++)
		hash = (hash ^ (unsigned char)event->text[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * A special mapping is the same page in all processes when it is a device's or
 * has a name ("[vdso]"); the page within it counts then.
 */
static void name_special(struct lpl_merge *merge, struct mapping *mapping,
			 const struct lpl_event *event)
{
	uint64_t inode = event->arg[KTR_MAP_INODE];

	mapping->kind = LPL_PAGE_SPECIAL;
	mapping->sharing = MAPPING_SHARED;
	if (inode != 0 && inode != KTR_NONE)
		lpl_object_name(merge, mapping, OBJECT_FILE, event->arg[KTR_MAP_DEVICE], inode);
	else if (event->text_length > 0)
		lpl_object_name(merge, mapping, OBJECT_NAMED, 0, name_hash(event) >> 1);
	else
		mapping->sharing = MAPPING_ANONYMOUS;
}

/* What is mapped; false, and an anomaly: it is not known what. */
static bool read_mapping(struct lpl_merge *merge, const struct lpl_event *event,
			 struct mapping *mapping)
{
	uint64_t device = event->arg[KTR_MAP_DEVICE], inode = event->arg[KTR_MAP_INODE];

	*mapping = (struct mapping){ .kind = LPL_PAGE_ANONYMOUS, .sharing = MAPPING_ANONYMOUS };
	switch (event->arg[KTR_MAP_KIND]) {
	case KTR_MAP_ANONYMOUS:
	case KTR_MAP_STACK:
	case KTR_MAP_HEAP:
		return true;
	case KTR_MAP_FILE_PRIVATE:
		mapping->kind = LPL_PAGE_FILE;
		mapping->sharing = MAPPING_PRIVATE;
		lpl_object_name(merge, mapping, OBJECT_FILE, device, inode);
		return true;
	case KTR_MAP_FILE_SHARED:
		mapping->kind = LPL_PAGE_FILE;
		mapping->sharing = MAPPING_SHARED;
		lpl_object_name(merge, mapping, OBJECT_FILE, device, inode);
		return true;
	case KTR_MAP_SHM:
		mapping->kind = LPL_PAGE_SHM;
		mapping->sharing = MAPPING_SHARED;
		lpl_object_name(merge, mapping, OBJECT_SEGMENT, device, inode);
		return true;
	case KTR_MAP_ANONYMOUS_SHARED:
		mapping->kind = LPL_PAGE_SHM;
		mapping->sharing = MAPPING_SHARED;
		lpl_object_name(merge, mapping, OBJECT_FILE, device, inode);
		return true;
	case KTR_MAP_SPECIAL:
		name_special(merge, mapping, event);
		return true;
	default:
		lpl_merge_anomaly(merge, LPL_ANOMALY_MAP_KIND, event);
		return false;
	}
}

bool lpl_on_map(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct mapping mapping;
	struct space *space;
	struct range range;

	if (!lpl_user_range(merge, event, event->arg[KTR_MAP_START], event->arg[KTR_MAP_END],
			    &range))
		return true;
	space = lpl_space_make(merge, event->arg[KTR_MAP_SPACE]);
	if (space == NULL)
		return false;
	/* a snapshot repeats what was reported while it was being made */
	if (!merge->tasks.in_snapshot && lpl_space_maps(space, range))
		lpl_merge_anomaly(merge, LPL_ANOMALY_MAPPED_TWICE, event);
	/* something is there, and it is not known what: unresolved */
	if (!read_mapping(merge, event, &mapping))
		return lpl_space_put(merge, space, range, TREE_EMPTY);
	mapping.delta = event->arg[KTR_MAP_OFFSET] - range.first;
	return lpl_object_note_map(merge, &mapping, event) &&
	       lpl_space_put_mapping(merge, space, range, &mapping);
}

/* The kernel moves the pages of a remapped range first, and unmaps it then. */
static bool was_moved(const struct space *space, struct range range)
{
	return space->moved.first <= range.first && range.last <= space->moved.last;
}

bool lpl_on_unmap(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = lpl_space_find(merge, event->arg[KTR_UNMAP_SPACE]);
	struct range range;

	if (!lpl_user_range(merge, event, event->arg[KTR_UNMAP_START],
			    event->arg[KTR_UNMAP_END], &range))
		return true;
	if (space == NULL || (!lpl_space_maps(space, range) && !was_moved(space, range)))
		lpl_merge_anomaly(merge, LPL_ANOMALY_UNMAP, event);
	return space == NULL || lpl_space_put(merge, space, range, TREE_EMPTY);
}

/* Map like this what is not mapped in the range yet. */
static bool put_in_gaps(struct lpl_merge *merge, struct space *space, struct range range,
			const struct mapping *like)
{
	struct runs runs = { 0 };
	bool done = lpl_tree_collect(&space->mapped, range.first, range.last, &runs);

	for (size_t i = 0; i < runs.count && done; i++) {
		if (range.first < runs.run[i].first)
			done = lpl_space_put_mapping(merge, space,
					   (struct range){ range.first, runs.run[i].first - 1 },
					   like);
		range.first = runs.run[i].last + 1;
	}
	lpl_runs_free(&runs);
	return done && (range.first > range.last ||
			lpl_space_put_mapping(merge, space, range, like));
}

/*
 * The page in which the heap ends is mapped still, so only whole pages come and
 * go.  A kernel may have reported them by KTR_MAP and KTR_UNMAP already; what is
 * mapped then is left as it is.
 */
bool lpl_on_brk(struct lpl_merge *merge, const struct lpl_event *event)
{
	static const struct mapping heap = {
		.kind = LPL_PAGE_ANONYMOUS, .sharing = MAPPING_ANONYMOUS
	};
	uint64_t mask = (UINT64_C(1) << LPL_PAGE_SHIFT) - 1;
	uint64_t old = event->arg[KTR_BRK_OLD_END], new = event->arg[KTR_BRK_NEW_END];
	struct space *space;
	struct range range;

	if (old >= merge->kernel_base || new >= merge->kernel_base) {
		lpl_merge_anomaly(merge, LPL_ANOMALY_RANGE, event);
		return true;
	}
	old = (old + mask) & ~mask;
	new = (new + mask) & ~mask;
	if (old == new ||
	    !lpl_user_range(merge, event, old < new ? old : new, old < new ? new : old,
			    &range))
		return true;
	space = lpl_space_make(merge, event->arg[KTR_BRK_SPACE]);
	if (space == NULL)
		return false;
	return new < old ? lpl_space_put(merge, space, range, TREE_EMPTY) :
			   put_in_gaps(merge, space, range, &heap);
}

bool lpl_on_shm_attach(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct mapping mapping = { .kind = LPL_PAGE_SHM, .sharing = MAPPING_SHARED };
	struct space *space;
	struct range range;

	if (!lpl_user_range(merge, event, event->arg[KTR_SHM_ATTACH_START],
			    event->arg[KTR_SHM_ATTACH_END], &range))
		return true;
	space = lpl_space_make(merge, event->arg[KTR_SHM_ATTACH_SPACE]);
	if (space == NULL)
		return false;
	lpl_object_name(merge, &mapping, OBJECT_SEGMENT, 0, event->arg[KTR_SHM_ATTACH_INODE]);
	mapping.delta = -range.first;
	return lpl_space_put_mapping(merge, space, range, &mapping);
}

/*
 * All pieces that are left of the segment that begins at the address.  Where
 * nothing is mapped any more, KTR_UNMAP was first and said which pieces to remove.
 */
bool lpl_on_shm_detach(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = lpl_space_find(merge, event->arg[KTR_SHM_DETACH_SPACE]);
	uint64_t at = event->arg[KTR_SHM_DETACH_START] >> LPL_PAGE_SHIFT;
	const struct mapping *segment;
	struct runs runs = { 0 };
	bool done, shared;
	tree_slot slot;

	if (space == NULL) {
		lpl_merge_anomaly(merge, LPL_ANOMALY_DETACH, event);
		return true;
	}
	slot = lpl_tree_find(&space->mapped, at, &shared);
	if (slot == TREE_EMPTY)
		return true;
	segment = slot_origin(slot);
	if (segment->kind != LPL_PAGE_SHM || segment->delta != -at) {
		lpl_merge_anomaly(merge, LPL_ANOMALY_DETACH, event);
		return true;
	}
	done = lpl_tree_collect(&space->mapped, at, TREE_LAST, &runs);
	segment = runs.count == 0 ? NULL : slot_origin(runs.run[0].slot);
	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];

		if (mapping_same_pages(slot_origin(run->slot), segment))
			done = lpl_space_put(merge, space, range_of(run), TREE_EMPTY);
	}
	lpl_runs_free(&runs);
	return done;
}

