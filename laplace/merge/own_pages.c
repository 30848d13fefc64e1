/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which pages are a space's own, where that does not follow from mappings, forks
 * and writes: pages that are dropped while their mapping remains, that come into
 * being in one of several related spaces, that existed when a snapshot was made.
 *
 * A private mapping of a file may have pages that are the space's own though no task has
 * referenced them: it is a mapping of the file with MAPPING_ANONYMOUS.
 */
#include "base/array.h"

#include "state.h"

#include <assert.h>

/* More than any machine has in a row.  Ranges are a guest's word. */
#define PRESENT_PAGES (UINT64_C(1) << 20)

/* What is in the range, and if it can have pages of its own at all. */
static bool collect(struct lpl_merge *merge, const struct lpl_event *event,
		    const struct space *space, struct range range, struct runs *runs)
{
	bool any = false;

	if (space != NULL && !lpl_tree_collect(&space->mapped, range.first, range.last, runs))
		return false;
	for (size_t i = 0; i < runs->count; i++)
		any |= slot_origin(runs->run[i].slot)->sharing != MAPPING_SHARED;
	if (!any)
		lpl_merge_anomaly(merge, LPL_ANOMALY_OWN_PAGES, event);
	return true;
}

/* Does this run have, or may it have, pages that are not the mapped object's? */
static bool may_own(const struct run *run)
{
	const struct mapping *origin = slot_origin(run->slot);

	return slot_is_page(run->slot) || origin->sharing == MAPPING_ANONYMOUS;
}

bool lpl_on_discard(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = lpl_space_find(merge, event->arg[KTR_RANGE_SPACE]);
	struct runs runs = { 0 };
	struct range range;
	bool done;

	if (!lpl_user_range(merge, event, event->arg[KTR_RANGE_START],
			    event->arg[KTR_RANGE_END], &range))
		return true;
	done = collect(merge, event, space, range, &runs);
	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];
		struct mapping beneath = mapping_beneath(run->slot, run->first);

		/* what was not touched yet is from now on not shared either */
		if (may_own(run))
			done = lpl_space_put_mapping(merge, space, range_of(run), &beneath);
	}
	lpl_runs_free(&runs);
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
		return lpl_space_put_mapping(merge, space, range_of(run), &own);
	}
	(void)lpl_tree_find(&space->mapped, run->first, &shared);
	if (!shared)
		return true;
	page = lpl_page_like(run->slot, run->first);
	if (page == NULL)
		return false;
	done = lpl_space_put_page(merge, space, run->first, page);
	lpl_slot_release(slot_of_page(page));
	return done;
}

bool lpl_on_page_own(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = lpl_space_find(merge, event->arg[KTR_PAGE_OWN_SPACE]);
	uint64_t address = event->arg[KTR_PAGE_OWN_ADDRESS];
	uint64_t first = address >> LPL_PAGE_SHIFT, pages = event->arg[KTR_PAGE_OWN_PAGES];
	struct runs runs = { 0 };
	bool done;

	if (pages == 0 || address >= merge->kernel_base ||
	    pages > (merge->kernel_base >> LPL_PAGE_SHIFT) - first) {
		lpl_merge_anomaly(merge, LPL_ANOMALY_RANGE, event);
		return true;
	}
	done = collect(merge, event, space, (struct range){ first, first + pages - 1 }, &runs);
	for (size_t i = 0; i < runs.count && done; i++) {
		/* held here, a page would seem to be shared */
		struct run run = runs.run[i];

		lpl_slot_release(run.slot);
		runs.run[i].slot = TREE_EMPTY;
		done = own_run(merge, space, &run);
	}
	lpl_runs_free(&runs);
	return done;
}

/* ---- snapshots ---- */

/* The page that is known by this frame or swap entry; it is remembered.  NULL: none. */
static struct page *present_page(const struct lpl_merge *merge, enum present_by by, uint64_t first,
				 uint64_t i)
{
	if (first == KTR_NONE)
		return NULL;
	return (struct page *)(uintptr_t)lpl_map_get(&merge->present, LPL_KEY(by, first + i));
}

static bool remember(struct lpl_merge *merge, enum present_by by, uint64_t first, uint64_t i,
		     struct page *page)
{
	if (first == KTR_NONE || present_page(merge, by, first, i) != NULL)
		return true;
	if (!lpl_reach(merge->present_page, merge->present_room, merge->present_pages) ||
	    !lpl_map_put(&merge->present, LPL_KEY(by, first + i), (uintptr_t)page))
		return false;
	merge->present_page[merge->present_pages++] = (struct present){ page, by, first + i };
	lpl_slot_retain(slot_of_page(page));
	page->other_refs++;
	return true;
}

static bool put_present(struct lpl_merge *merge, struct space *space, tree_slot slot,
			uint64_t at, const struct lpl_event *event, uint64_t i)
{
	uint64_t frame = event->arg[KTR_PRESENT_FRAME], swap = event->arg[KTR_PRESENT_SLOT];
	struct page *page = present_page(merge, PRESENT_BY_FRAME, frame, i);
	bool done;

	if (page == NULL)
		page = present_page(merge, PRESENT_BY_SWAP, swap, i);
	if (page != NULL)
		lpl_slot_retain(slot_of_page(page));
	else
		page = lpl_page_like(slot, at);
	if (page == NULL)
		return false;
	done = lpl_space_put_page(merge, space, at, page) &&
	       remember(merge, PRESENT_BY_FRAME, frame, i, page) &&
	       remember(merge, PRESENT_BY_SWAP, swap, i, page);
	lpl_slot_release(slot_of_page(page));
	return done;
}

/*
 * May a guest number pages so, from `first` on?  Where pages have no such numbers `first` is
 * KTR_NONE.  What is above is a state's, which has numbers of its own (LPL_STATE_PAGES).
 */
static bool may_number(const struct lpl_merge *merge, uint64_t first, uint64_t pages)
{
	return merge->tasks.in_state || first == KTR_NONE || first <= LPL_STATE_PAGES - pages;
}

bool lpl_on_present(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = lpl_space_find(merge, event->arg[KTR_RANGE_SPACE]);
	uint64_t frame = event->arg[KTR_PRESENT_FRAME], swap = event->arg[KTR_PRESENT_SLOT];
	struct runs runs = { 0 };
	struct range range;
	bool done;

	if (!lpl_user_range(merge, event, event->arg[KTR_RANGE_START],
			    event->arg[KTR_RANGE_END], &range))
		return true;
	if (range.last - range.first >= PRESENT_PAGES || (frame == KTR_NONE && swap == KTR_NONE) ||
	    !may_number(merge, frame, range.last - range.first + 1) ||
	    !may_number(merge, swap, range.last - range.first + 1)) {
		lpl_merge_anomaly(merge, LPL_ANOMALY_RANGE, event);
		return true;
	}
	done = collect(merge, event, space, range, &runs);
	for (size_t i = 0; i < runs.count && done; i++) {
		const struct run *run = &runs.run[i];

		if (slot_origin(run->slot)->sharing == MAPPING_SHARED)
			continue;
		for (uint64_t at = run->first; at <= run->last && done; at++)
			done = put_present(merge, space, run->slot, at, event, at - range.first);
	}
	lpl_runs_free(&runs);
	return done;
}

static void release(struct page *page)
{
	assert(page->other_refs > 0);
	page->other_refs--;
	lpl_slot_release(slot_of_page(page));
}

void lpl_present_clear(struct lpl_merge *merge)
{
	while (merge->present_pages > 0)
		release(merge->present_page[--merge->present_pages].page);
	lpl_map_free(&merge->present);
}

void lpl_present_clear_reported(struct lpl_merge *merge)
{
	size_t kept = 0;

	for (size_t i = 0; i < merge->present_pages; i++) {
		struct present present = merge->present_page[i];

		if (present.number < LPL_STATE_PAGES) {
			merge->present_page[kept++] = present;
			continue;
		}
		(void)lpl_map_remove(&merge->present, LPL_KEY(present.by, present.number));
		release(present.page);
	}
	merge->present_pages = kept;
}
