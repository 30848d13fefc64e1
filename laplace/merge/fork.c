/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fork and copy on write: KTR_SPACE_DUPLICATE, KTR_COW_BREAK. */
#include "state.h"

bool lpl_on_space_duplicate(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *parent = lpl_space_find(merge, event->arg[KTR_SPACE_DUPLICATE_PARENT]);
	struct space *child = lpl_space_make(merge, event->arg[KTR_SPACE_DUPLICATE_CHILD]);

	if (child == NULL)
		return false;
	if (parent == NULL || parent == child ||
	    lpl_space_maps(child, (struct range){ 0, TREE_LAST }))
		lpl_merge_anomaly(merge, LPL_ANOMALY_DUPLICATE, event);
	if (parent == child)
		return true;
	lpl_tree_free(&child->mapped);
	lpl_tree_free(&child->unresolved);
	child->asid = new_asid(merge);
	if (parent != NULL) {
		lpl_tree_share(&child->mapped, &parent->mapped);
		/* the parent's pages are no longer writable at once */
		parent->asid = new_asid(merge);
	}
	return true;
}

bool lpl_on_cow_break(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = lpl_space_find(merge, event->arg[KTR_COW_BREAK_SPACE]);
	uint64_t at = event->arg[KTR_COW_BREAK_ADDRESS] >> LPL_PAGE_SHIFT;
	uint64_t frame = event->arg[KTR_COW_BREAK_OLD_FRAME];
	bool kept = frame == event->arg[KTR_COW_BREAK_NEW_FRAME] && frame != KTR_NONE;
	tree_slot slot = TREE_EMPTY;
	struct page *page;
	bool shared, done;

	if (space != NULL)
		slot = lpl_tree_find(&space->mapped, at, &shared);
	if (slot == TREE_EMPTY || slot_origin(slot)->sharing == MAPPING_SHARED) {
		lpl_merge_anomaly(merge, LPL_ANOMALY_COW_BREAK, event);
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
	page = lpl_page_like(slot, at);
	if (page == NULL)
		return false;
	if (kept && slot_is_page(slot))
		lpl_page_succeed(page, slot_page(slot));
	done = lpl_space_put_page(merge, space, at, page);
	lpl_slot_release(slot_of_page(page));
	return done;
}
