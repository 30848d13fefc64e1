/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which pages are a space's own, where that does not follow from mappings, forks
 * and writes: pages that are dropped though what is mapped stays, that come into
 * being in one of several related spaces, that existed when a snapshot was made.
 *
 * A private mapping of a file whose pages are the space's own though nobody has
 * referenced them is a mapping of the file with MAPPING_ANONYMOUS.
 */
#include "internal.h"

#include "base/array.h"

/* More than any machine has in a row.  Ranges are a guest's word. */
#define PRESENT_PAGES (UINT64_C(1) << 20)

/* What is in the range, and if it can have pages of its own at all. */
static bool collect(struct lpl_merge *merge, const struct space *space, struct range range,
		    struct runs *runs)
{
	bool any = false;

	if (space != NULL && !tree_collect(&space->mapped, range.first, range.last, runs))
		return false;
	for (size_t i = 0; i < runs->count; i++)
		any |= slot_origin(runs->run[i].slot)->sharing != MAPPING_SHARED;
	if (!any)
		merge_odd(merge, LPL_ANOMALY_OWN_PAGES);
	return true;
}

/* Does this run have, or may it have, pages that are not the mapped object's? */
static bool may_own(const struct run *run)
{
	const struct mapping *origin = slot_origin(run->slot);

	return slot_is_page(run->slot) || origin->sharing == MAPPING_ANONYMOUS;
}

bool merge_discard(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = merge_space(merge, event->arg[0]);
	struct runs runs = { 0 };
	struct range range;
	bool done;

	if (!merge_user_range(merge, event->arg[1], event->arg[2], &range))
		return true;
	done = collect(merge, space, range, &runs);
	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];
		struct mapping beneath = mapping_beneath(run->slot, run->first);

		/* what nobody touched yet is from now on shared with nobody, too */
		if (may_own(run))
			done = merge_put_mapping(merge, space,
						 (struct range){ run->first, run->last }, &beneath);
	}
	runs_free(&runs);
	return done;
}

/* The run's pages are the space's alone. */
static bool own_run(struct lpl_merge *merge, struct space *space, const struct run *run)
{
	struct mapping own = mapping_beneath(run->slot, run->first);
	struct page *page;
	bool shared, done;

	if (own.sharing == MAPPING_SHARED)
		return true;
	if (!slot_is_page(run->slot)) {
		own.sharing = MAPPING_ANONYMOUS;
		return merge_put_mapping(merge, space, (struct range){ run->first, run->last },
					 &own);
	}
	(void)tree_find(&space->mapped, run->first, &shared);
	if (!shared)
		return true;
	page = page_like(run->slot, run->first);
	if (page == NULL)
		return false;
	done = merge_put_page(merge, space, run->first, page);
	slot_release(slot_of_page(page));
	return done;
}

bool merge_page_own(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = merge_space(merge, event->arg[0]);
	uint64_t first = event->arg[1] >> LPL_PAGE_SHIFT, pages = event->arg[3];
	struct runs runs = { 0 };
	bool done;

	if (pages == 0 || event->arg[1] >= merge->kernel_base ||
	    pages > (merge->kernel_base >> LPL_PAGE_SHIFT) - first) {
		merge_odd(merge, LPL_ANOMALY_RANGE);
		return true;
	}
	done = collect(merge, space, (struct range){ first, first + pages - 1 }, &runs);
	for (size_t i = 0; i < runs.count && done; i++) {
		/* held here, a page would seem to be shared */
		struct run run = runs.run[i];

		slot_release(run.slot);
		runs.run[i].slot = TREE_EMPTY;
		done = own_run(merge, space, &run);
	}
	runs_free(&runs);
	return done;
}

/* ---- snapshots ---- */

enum { BY_FRAME = 1, BY_SWAP = 2 };

/* The page that is known by this frame or swap entry; it is remembered.  NULL: none. */
static struct page *present_page(const struct lpl_merge *merge, uint64_t how, uint64_t first,
				 uint64_t i)
{
	if (first == KTR_NONE)
		return NULL;
	return (struct page *)(uintptr_t)lpl_map_get(&merge->present, LPL_KEY(how, first + i));
}

static bool remember(struct lpl_merge *merge, uint64_t how, uint64_t first, uint64_t i,
		     struct page *page)
{
	if (first == KTR_NONE || present_page(merge, how, first, i) != NULL)
		return true;
	if (!lpl_reach(merge->kept, merge->kept_room, merge->kept_count) ||
	    !lpl_map_put(&merge->present, LPL_KEY(how, first + i), (uintptr_t)page))
		return false;
	merge->kept[merge->kept_count++] = page;
	slot_retain(slot_of_page(page));
	page->kept++;
	return true;
}

static bool put_present(struct lpl_merge *merge, struct space *space, tree_slot slot,
			uint64_t at, const struct lpl_event *event, uint64_t i)
{
	uint64_t frame = event->arg[3], swap = event->arg[4];
	struct page *page = present_page(merge, BY_FRAME, frame, i);
	bool done;

	if (page == NULL)
		page = present_page(merge, BY_SWAP, swap, i);
	if (page != NULL)
		slot_retain(slot_of_page(page));
	else
		page = page_like(slot, at);
	if (page == NULL)
		return false;
	done = merge_put_page(merge, space, at, page) &&
	       remember(merge, BY_FRAME, frame, i, page) &&
	       remember(merge, BY_SWAP, swap, i, page);
	slot_release(slot_of_page(page));
	return done;
}

bool merge_present(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = merge_space(merge, event->arg[0]);
	struct runs runs = { 0 };
	struct range range;
	bool done;

	if (!merge_user_range(merge, event->arg[1], event->arg[2], &range))
		return true;
	if (range.last - range.first >= PRESENT_PAGES ||
	    (event->arg[3] == KTR_NONE && event->arg[4] == KTR_NONE)) {
		merge_odd(merge, LPL_ANOMALY_RANGE);
		return true;
	}
	done = collect(merge, space, range, &runs);
	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];

		if (slot_origin(run->slot)->sharing == MAPPING_SHARED)
			continue;
		for (uint64_t at = run->first; at <= run->last && done; at++)
			done = put_present(merge, space, run->slot, at, event, at - range.first);
	}
	runs_free(&runs);
	return done;
}

void merge_snapshot(struct lpl_merge *merge, bool begins)
{
	tasks_snapshot(&merge->tasks, begins);
	while (merge->kept_count > 0) {
		struct page *page = merge->kept[--merge->kept_count];

		page->kept--;
		slot_release(slot_of_page(page));
	}
	lpl_map_free(&merge->present);
}
