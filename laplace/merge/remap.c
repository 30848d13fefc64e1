/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * KTR_REMAP: a range grows, shrinks or moves, and its pages go with it.
 */
#include "state.h"

/* No more pages are made of one range that were not touched; ranges are a guest's word. */
#define UNTOUCHED_PAGES (UINT64_C(1) << 20)

/*
 * Anonymous pages of the range that were not referenced so far, and that forks share, become
 * pages that are held in common: a mapping of them in two places would make two of each.
 */
static bool make_shared_pages(struct space *space, struct range range)
{
	struct runs runs = { 0 };
	bool done = lpl_tree_collect(&space->mapped, range.first, range.last, &runs);

	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];

		if (!slot_is_mapping(run->slot) || run->last - run->first >= UNTOUCHED_PAGES ||
		    slot_mapping(run->slot)->sharing != MAPPING_ANONYMOUS)
			continue;
		for (uint64_t at = run->first; at <= run->last && done; at++) {
			struct page *page;
			bool shared;

			(void)lpl_tree_find(&space->mapped, at, &shared);
			if (!shared)
				continue;
			page = lpl_page_like(run->slot, at);
			done = page != NULL && lpl_tree_fill(&space->mapped, at, page);
			if (page != NULL)
				lpl_slot_release(slot_of_page(page));
		}
	}
	lpl_runs_free(&runs);
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
			done = lpl_space_put_page(merge, space, range.first, slot_page(run->slot));
			continue;
		}
		/* the holes between touched pages are mostly of one mapping */
		if (last_from != slot_mapping(run->slot)) {
			if (last_to != NULL)
				lpl_slot_release(slot_of_mapping(last_to));
			last_from = slot_mapping(run->slot);
			last_to = lpl_mapping_new(last_from->store, last_from);
			if (last_to == NULL)
				return false;
			last_to->delta -= move;
		}
		done = lpl_space_put(merge, space, range, slot_of_mapping(last_to));
	}
	if (last_to != NULL)
		lpl_slot_release(slot_of_mapping(last_to));
	return done;
}

/* Map `range` as what follows the page `slot`, which was found at `at`. */
static bool extend(struct lpl_merge *merge, struct space *space, struct range range,
		   tree_slot slot, uint64_t at)
{
	struct mapping mapping = mapping_beneath(slot, at);

	mapping.delta += at + 1 - range.first;
	return lpl_space_put_mapping(merge, space, range, &mapping);
}

static bool resize(struct lpl_merge *merge, struct space *space, uint64_t old_last,
		   uint64_t new_last)
{
	tree_slot slot;
	bool shared;

	if (new_last == old_last)
		return true;
	if (new_last < old_last)
		return lpl_space_put(merge, space, (struct range){ new_last + 1, old_last },
				 TREE_EMPTY);
	slot = lpl_tree_find(&space->mapped, old_last, &shared);
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
	space->moved = old;
	done = make_shared_pages(space, kept) &&
	       lpl_tree_collect(&space->mapped, kept.first, kept.last, &runs) &&
	       lpl_space_put(merge, space, old, TREE_EMPTY) &&
	       lpl_space_put(merge, space, new, TREE_EMPTY) &&
	       put_runs(merge, space, &runs, new.first - old.first);
	last = runs.count == 0 ? NULL : &runs.run[runs.count - 1];
	new.first += old.last - old.first + 1;
	if (done && new.first <= new.last && last != NULL && last->last == old.last)
		done = extend(merge, space, new, last->slot, old.last);
	lpl_runs_free(&runs);
	return done;
}

bool lpl_on_remap(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = lpl_space_find(merge, event->arg[KTR_REMAP_SPACE]);
	struct range old, new;

	if (!lpl_user_range(merge, event, event->arg[KTR_REMAP_OLD_START],
			    event->arg[KTR_REMAP_OLD_END], &old) ||
	    !lpl_user_range(merge, event, event->arg[KTR_REMAP_NEW_START],
			    event->arg[KTR_REMAP_NEW_END], &new))
		return true;
	if (space == NULL || !lpl_space_maps(space, old)) {
		lpl_merge_anomaly(merge, LPL_ANOMALY_REMAP, event);
		return true;
	}
	if (old.first == new.first)
		return resize(merge, space, old.last, new.last);
	return move(merge, space, old, new);
}
