/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each kernel event changes in the reconstructed address spaces. */
#include "internal.h"

bool merge_user_range(struct lpl_merge *merge, uint64_t start, uint64_t end,
		       struct range *range)
{
	if (start >= end || start >= merge->kernel_base) {
		merge_odd(merge, LPL_ANOMALY_RANGE);
		return false;
	}
	if (end > merge->kernel_base) {
		merge_odd(merge, LPL_ANOMALY_RANGE);
		end = merge->kernel_base;
	}
	range->first = start >> LPL_PAGE_SHIFT;
	range->last = (end - 1) >> LPL_PAGE_SHIFT;
	return true;
}

static int stop_at_any(void *context, uint64_t first, uint64_t last, tree_slot slot)
{
	(void)context;
	(void)first;
	(void)last;
	(void)slot;
	return 1;
}

static bool anything_in(const struct tree *tree, struct range range)
{
	return tree_walk(tree, range.first, range.last, stop_at_any, NULL) != 0;
}

bool merge_put(struct lpl_merge *merge, struct space *space, struct range range,
		tree_slot slot)
{
	merge_forget(merge, &space->stamp, range.first, range.last);
	return tree_set(&space->unresolved, range.first, range.last, TREE_EMPTY) &&
	       tree_set(&space->mapped, range.first, range.last, slot);
}

bool merge_put_page(struct lpl_merge *merge, struct space *space, uint64_t at,
		     struct page *page)
{
	return merge_put(merge, space, (struct range){ at, at }, slot_of_page(page));
}

bool merge_put_mapping(struct lpl_merge *merge, struct space *space, struct range range,
			const struct mapping *like)
{
	struct mapping *mapping = mapping_new(like);
	bool done;

	if (mapping == NULL)
		return false;
	mapping->dead = merge->stray->dead;
	done = merge_put(merge, space, range, slot_of_mapping(mapping));
	slot_release(slot_of_mapping(mapping));
	return done;
}

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
	mapping->kind = LPL_PAGE_SPECIAL;
	mapping->sharing = MAPPING_SHARED;
	if (event->arg[6] != 0 && event->arg[6] != KTR_NONE)
		merge_name_object(merge, mapping, OBJECT_FILE, event->arg[5], event->arg[6]);
	else if (event->text_length > 0)
		merge_name_object(merge, mapping, OBJECT_NAMED, 0, name_hash(event) >> 1);
	else
		mapping->sharing = MAPPING_ANONYMOUS;
}

static bool on_map(struct lpl_merge *merge, const struct lpl_event *event)
{
	uint64_t device = event->arg[5], inode = event->arg[6];
	struct mapping mapping = { .kind = LPL_PAGE_ANONYMOUS, .sharing = MAPPING_ANONYMOUS };
	struct space *space;
	struct range range;

	if (!merge_user_range(merge, event->arg[1], event->arg[2], &range))
		return true;
	space = merge_space_make(merge, event->arg[0]);
	if (space == NULL)
		return false;
	/* a snapshot tells again what was told while it was being made */
	if (!merge->tasks.in_snapshot && anything_in(&space->mapped, range))
		merge_odd(merge, LPL_ANOMALY_MAPPED_TWICE);
	switch (event->arg[4]) {
	case KTR_MAP_ANONYMOUS:
	case KTR_MAP_STACK:
	case KTR_MAP_HEAP:
		break;
	case KTR_MAP_FILE_PRIVATE:
	case KTR_MAP_FILE_SHARED:
		mapping.kind = LPL_PAGE_FILE;
		mapping.sharing = event->arg[4] == KTR_MAP_FILE_SHARED ? MAPPING_SHARED :
									 MAPPING_PRIVATE;
		merge_name_object(merge, &mapping, OBJECT_FILE, device, inode);
		break;
	case KTR_MAP_SHM:
		mapping.kind = LPL_PAGE_SHM;
		mapping.sharing = MAPPING_SHARED;
		merge_name_object(merge, &mapping, OBJECT_SEGMENT, device, inode);
		break;
	case KTR_MAP_ANONYMOUS_SHARED:
		mapping.kind = LPL_PAGE_SHM;
		mapping.sharing = MAPPING_SHARED;
		merge_name_object(merge, &mapping, OBJECT_FILE, device, inode);
		break;
	case KTR_MAP_SPECIAL:
		name_special(merge, &mapping, event);
		break;
	default:
		/* something is there, but who knows what: unresolved */
		merge_odd(merge, LPL_ANOMALY_MAP_KIND);
		return merge_put(merge, space, range, TREE_EMPTY);
	}
	mapping.delta = event->arg[7] - range.first;
	return merge_note_object(merge, &mapping, event) &&
	       merge_put_mapping(merge, space, range, &mapping);
}

/* The kernel moves the pages of a remapped range first, and unmaps it then. */
static bool was_moved(const struct space *space, struct range range)
{
	return space->moved_first <= range.first && range.last <= space->moved_last;
}

static bool on_unmap(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = merge_space(merge, event->arg[0]);
	struct range range;

	if (!merge_user_range(merge, event->arg[1], event->arg[2], &range))
		return true;
	if (space == NULL ||
	    (!anything_in(&space->mapped, range) && !was_moved(space, range)))
		merge_odd(merge, LPL_ANOMALY_UNMAP);
	return space == NULL || merge_put(merge, space, range, TREE_EMPTY);
}

/* Map like this what is not mapped in the range yet. */
static bool put_in_gaps(struct lpl_merge *merge, struct space *space, struct range range,
			const struct mapping *like)
{
	struct runs runs = { 0 };
	bool done = tree_collect(&space->mapped, range.first, range.last, &runs);

	for (size_t i = 0; i < runs.count && done; i++) {
		if (range.first < runs.run[i].first)
			done = merge_put_mapping(merge, space,
					   (struct range){ range.first, runs.run[i].first - 1 },
					   like);
		range.first = runs.run[i].last + 1;
	}
	runs_free(&runs);
	return done && (range.first > range.last || merge_put_mapping(merge, space, range, like));
}

/*
 * The heap ends within a page that stays mapped, so only whole pages come and
 * go.  A kernel may have told of them by KTR_MAP and KTR_UNMAP already; what is
 * mapped then stays as it is.
 */
static bool on_brk(struct lpl_merge *merge, const struct lpl_event *event)
{
	static const struct mapping heap = {
		.kind = LPL_PAGE_ANONYMOUS, .sharing = MAPPING_ANONYMOUS
	};
	uint64_t mask = (UINT64_C(1) << LPL_PAGE_SHIFT) - 1;
	uint64_t old = event->arg[1], new = event->arg[2];
	struct space *space;
	struct range range;

	if (old >= merge->kernel_base || new >= merge->kernel_base) {
		merge_odd(merge, LPL_ANOMALY_RANGE);
		return true;
	}
	old = (old + mask) & ~mask;
	new = (new + mask) & ~mask;
	if (old == new ||
	    !merge_user_range(merge, old < new ? old : new, old < new ? new : old, &range))
		return true;
	space = merge_space_make(merge, event->arg[0]);
	if (space == NULL)
		return false;
	return new < old ? merge_put(merge, space, range, TREE_EMPTY) :
			   put_in_gaps(merge, space, range, &heap);
}

/* No more pages are made of one range that nobody touched; ranges are a guest's word. */
#define UNTOUCHED_PAGES (UINT64_C(1) << 20)

/*
 * Anonymous pages of the range that nobody referenced so far, and that forks share, become
 * pages that are held in common: a mapping of them in two places would make two of each.
 */
static bool make_shared_pages(struct space *space, struct range range)
{
	struct runs runs = { 0 };
	bool done = tree_collect(&space->mapped, range.first, range.last, &runs);

	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];

		if (!slot_is_mapping(run->slot) || run->last - run->first >= UNTOUCHED_PAGES ||
		    slot_mapping(run->slot)->sharing != MAPPING_ANONYMOUS)
			continue;
		for (uint64_t at = run->first; at <= run->last && done; at++) {
			struct page *page;
			bool shared;

			(void)tree_find(&space->mapped, at, &shared);
			if (!shared)
				continue;
			page = page_like(run->slot, at);
			done = page != NULL && tree_fill(&space->mapped, at, page);
			if (page != NULL)
				slot_release(slot_of_page(page));
		}
	}
	runs_free(&runs);
	return done;
}

/*
 * Put runs back, `move` pages further.  Mappings are made anew, for their pages
 * of the object are at other virtual pages now.  Pages go as they are, and stay shared
 * by whom they were.
 */
static bool put_runs(struct lpl_merge *merge, struct space *space, const struct runs *runs,
		     uint64_t move)
{
	const struct mapping *last_from = NULL;
	struct mapping *last_to = NULL;
	bool done = true;

	for (size_t i = 0; i < runs->count && done; i++) {
		const struct run *run = &runs->run[i];
		struct range range = { run->first + move, run->last + move };

		if (slot_is_page(run->slot)) {
			done = merge_put_page(merge, space, range.first, slot_page(run->slot));
			continue;
		}
		/* the holes between touched pages are mostly of one mapping */
		if (last_from != slot_mapping(run->slot)) {
			if (last_to != NULL)
				slot_release(slot_of_mapping(last_to));
			last_from = slot_mapping(run->slot);
			last_to = mapping_new(last_from);
			if (last_to == NULL)
				return false;
			last_to->delta -= move;
		}
		done = merge_put(merge, space, range, slot_of_mapping(last_to));
	}
	if (last_to != NULL)
		slot_release(slot_of_mapping(last_to));
	return done;
}

/* Map `range` as what follows the page `slot`, which was found at `at`. */
static bool extend(struct lpl_merge *merge, struct space *space, struct range range,
		   tree_slot slot, uint64_t at)
{
	struct mapping mapping = mapping_beneath(slot, at);

	mapping.delta += at + 1 - range.first;
	return merge_put_mapping(merge, space, range, &mapping);
}

static bool resize(struct lpl_merge *merge, struct space *space, uint64_t old_last,
		   uint64_t new_last)
{
	tree_slot slot;
	bool shared;

	if (new_last == old_last)
		return true;
	if (new_last < old_last)
		return merge_put(merge, space, (struct range){ new_last + 1, old_last },
				 TREE_EMPTY);
	slot = tree_find(&space->mapped, old_last, &shared);
	return slot == TREE_EMPTY ||
	       extend(merge, space, (struct range){ old_last + 1, new_last }, slot, old_last);
}

static bool move(struct lpl_merge *merge, struct space *space, struct range old,
		 struct range new)
{
	struct range kept = old;
	struct runs runs = { 0 };
	const struct run *last;
	bool done;

	if (old.last - old.first > new.last - new.first)
		kept.last = old.first + (new.last - new.first);
	space->moved_first = old.first;
	space->moved_last = old.last;
	done = make_shared_pages(space, kept) &&
	       tree_collect(&space->mapped, kept.first, kept.last, &runs) &&
	       merge_put(merge, space, old, TREE_EMPTY) &&
	       merge_put(merge, space, new, TREE_EMPTY) &&
	       put_runs(merge, space, &runs, new.first - old.first);
	last = runs.count == 0 ? NULL : &runs.run[runs.count - 1];
	new.first += old.last - old.first + 1;
	if (done && new.first <= new.last && last != NULL && last->last == old.last)
		done = extend(merge, space, new, last->slot, old.last);
	runs_free(&runs);
	return done;
}

static bool on_remap(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = merge_space(merge, event->arg[0]);
	struct range old, new;

	if (!merge_user_range(merge, event->arg[1], event->arg[2], &old) ||
	    !merge_user_range(merge, event->arg[3], event->arg[4], &new))
		return true;
	if (space == NULL || !anything_in(&space->mapped, old)) {
		merge_odd(merge, LPL_ANOMALY_REMAP);
		return true;
	}
	if (old.first == new.first)
		return resize(merge, space, old.last, new.last);
	return move(merge, space, old, new);
}

static bool on_shm_attach(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct mapping mapping = { .kind = LPL_PAGE_SHM, .sharing = MAPPING_SHARED };
	struct space *space;
	struct range range;

	if (!merge_user_range(merge, event->arg[1], event->arg[2], &range))
		return true;
	space = merge_space_make(merge, event->arg[0]);
	if (space == NULL)
		return false;
	merge_name_object(merge, &mapping, OBJECT_SEGMENT, 0, event->arg[4]);
	mapping.delta = -range.first;
	return merge_put_mapping(merge, space, range, &mapping);
}

/*
 * All pieces that are left of the segment that begins at the address.  Where
 * nothing is mapped any more, KTR_UNMAP came first and told which pieces went.
 */
static bool on_shm_detach(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = merge_space(merge, event->arg[0]);
	uint64_t at = event->arg[1] >> LPL_PAGE_SHIFT;
	const struct mapping *segment;
	struct runs runs = { 0 };
	bool done, shared;
	tree_slot slot;

	if (space == NULL) {
		merge_odd(merge, LPL_ANOMALY_DETACH);
		return true;
	}
	slot = tree_find(&space->mapped, at, &shared);
	if (slot == TREE_EMPTY)
		return true;
	segment = slot_origin(slot);
	if (segment->kind != LPL_PAGE_SHM || segment->delta != -at) {
		merge_odd(merge, LPL_ANOMALY_DETACH);
		return true;
	}
	done = tree_collect(&space->mapped, at, TREE_LAST, &runs);
	segment = runs.count == 0 ? NULL : slot_origin(runs.run[0].slot);
	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];

		if (mapping_same_pages(slot_origin(run->slot), segment))
			done = merge_put(merge, space, (struct range){ run->first, run->last },
				   TREE_EMPTY);
	}
	runs_free(&runs);
	return done;
}

static bool on_duplicate(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *parent = merge_space(merge, event->arg[0]);
	struct space *child = merge_space_make(merge, event->arg[1]);

	if (child == NULL)
		return false;
	if (parent == NULL || parent == child ||
	    anything_in(&child->mapped, (struct range){ 0, TREE_LAST }))
		merge_odd(merge, LPL_ANOMALY_DUPLICATE);
	if (parent == child)
		return true;
	tree_free(&child->mapped);
	tree_free(&child->unresolved);
	child->stamp = new_stamp(merge);
	if (parent != NULL) {
		tree_share(&child->mapped, &parent->mapped);
		/* the parent's pages are no longer writable at once */
		parent->stamp = new_stamp(merge);
	}
	return true;
}

static bool on_space_end(struct lpl_merge *merge, const struct lpl_event *event)
{
	return merge_space_end(merge, event->arg[0]);
}

static bool on_cow_break(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = merge_space(merge, event->arg[0]);
	uint64_t at = event->arg[1] >> LPL_PAGE_SHIFT;
	bool kept = event->arg[2] == event->arg[3] && event->arg[2] != KTR_NONE;
	tree_slot slot = TREE_EMPTY;
	struct page *page;
	bool shared, done;

	if (space != NULL)
		slot = tree_find(&space->mapped, at, &shared);
	if (slot == TREE_EMPTY || slot_origin(slot)->sharing == MAPPING_SHARED) {
		merge_odd(merge, LPL_ANOMALY_COW_BREAK);
		return true;
	}
	merge->stats.cow_breaks++;
	merge->stats.cow_kept += kept;
	if (kept && slot_is_page(slot) && !shared)
		return true;
	/*
	 * A new page; a kept one is the old one, now of this space alone.  A
	 * file's page cannot be kept by a write: where a mapping is not broken
	 * yet and the kernel keeps the frame, it was broken before the trace.
	 */
	page = page_like(slot, at);
	if (page == NULL)
		return false;
	if (kept && slot_is_page(slot))
		page_become_twin(page, slot_page(slot));
	done = merge_put_page(merge, space, at, page);
	slot_release(slot_of_page(page));
	return done;
}

static handler *mapping_handler(uint32_t tag)
{
	switch (tag) {
	case KTR_MAP:
		return on_map;
	case KTR_UNMAP:
		return on_unmap;
	case KTR_REMAP:
		return on_remap;
	case KTR_BRK:
		return on_brk;
	case KTR_SHM_ATTACH:
		return on_shm_attach;
	case KTR_SHM_DETACH:
		return on_shm_detach;
	case KTR_SPACE_DUPLICATE:
		return on_duplicate;
	case KTR_SPACE_END:
		return on_space_end;
	case KTR_COW_BREAK:
		return on_cow_break;
	case KTR_DISCARD:
		return merge_discard;
	case KTR_PAGE_OWN:
		return merge_page_own;
	case KTR_PRESENT:
		return merge_present;
	case KTR_FILE:
		return merge_file;
	case KTR_CACHE_ADD:
		return merge_cache_add;
	case KTR_CACHE_REMOVE:
		return merge_cache_remove;
	default:
		return NULL;
	}
}

bool merge_mapping_event(struct lpl_merge *merge, const struct lpl_event *event, bool *known)
{
	handler *handle = mapping_handler(event->tag);

	*known = handle != NULL;
	return handle == NULL || handle(merge, event);
}
