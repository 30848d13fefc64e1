/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Address spaces: which are known, and how what one maps is changed. */
#include <stdlib.h>

#include "audit.h"
#include "state.h"

struct space *lpl_space_find(const struct lpl_merge *merge, uint64_t number)
{
	return (struct space *)(uintptr_t)lpl_map_get(&merge->spaces, LPL_KEY(number));
}

struct space *lpl_space_make(struct lpl_merge *merge, uint64_t number)
{
	struct space *space = lpl_space_find(merge, number);

	if (space != NULL)
		return space;
	space = calloc(1, sizeof(*space));
	if (space == NULL)
		return NULL;
	if (!lpl_map_put(&merge->spaces, LPL_KEY(number), (uintptr_t)space)) {
		free(space);
		return NULL;
	}
	LIST_INSERT_HEAD(&merge->all_spaces, space, in_all);
	space->number = number;
	space->mapped.store = space->unresolved.store = &merge->store;
	lpl_space_clear(merge, space);
	merge->stats.spaces++;
	merge->stats.live_spaces++;
	if (merge->audit != NULL)
		lpl_audit_space_begins(merge, number);
	return space;
}

void lpl_space_free(struct space *space)
{
	LIST_REMOVE(space, in_all);
	lpl_tree_free(&space->mapped);
	lpl_tree_free(&space->unresolved);
	free(space);
}

void lpl_space_clear(struct lpl_merge *merge, struct space *space)
{
	lpl_tree_free(&space->mapped);
	lpl_tree_free(&space->unresolved);
	space->asid = new_asid(merge);
	space->moved = (struct range){ UINT64_MAX, 0 };	/* nothing was */
}

bool lpl_spaces_forget(struct lpl_merge *merge, const struct lpl_event *event)
{
	bool done = true;
	struct space *space = LIST_FIRST(&merge->all_spaces);

	merge->last_space = NULL;
	while (space != NULL) {
		struct space *next = LIST_NEXT(space, in_all);

		if (merge->audit != NULL)
			done &= lpl_audit_space_over(merge, space->number, true, event);
		lpl_space_free(space);
		space = next;
	}
	lpl_map_free(&merge->spaces);
	merge->stats.live_spaces = 0;
	return done;
}

bool lpl_on_space_end(struct lpl_merge *merge, const struct lpl_event *event)
{
	uint64_t number = event->arg[KTR_SPACE_END_SPACE];
	struct space *space = lpl_space_find(merge, number);

	if (space != NULL) {
		(void)lpl_map_remove(&merge->spaces, LPL_KEY(number));
		if (merge->last_space == space)
			merge->last_space = NULL;
		lpl_space_free(space);
		note_change(merge);
		merge->stats.live_spaces--;
	}
	return merge->audit == NULL || lpl_audit_space_over(merge, number, space != NULL, event);
}

/* ---- what is mapped ---- */

bool lpl_user_range(struct lpl_merge *merge, const struct lpl_event *event, uint64_t start,
		    uint64_t end, struct range *range)
{
	if (start >= end || end > merge->kernel_base)
		lpl_merge_anomaly(merge, LPL_ANOMALY_RANGE, event);
	if (start >= end || start >= merge->kernel_base)
		return false;
	if (end > merge->kernel_base)
		end = merge->kernel_base;
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

bool lpl_space_maps(const struct space *space, struct range range)
{
	return lpl_tree_walk(&space->mapped, range.first, range.last, stop_at_any, NULL) != 0;
}

bool lpl_space_put(struct lpl_merge *merge, struct space *space, struct range range,
		   tree_slot slot)
{
	lpl_flush_range(merge, &space->asid, range.first, range.last);
	return lpl_tree_set(&space->unresolved, range.first, range.last, TREE_EMPTY) &&
	       lpl_tree_set(&space->mapped, range.first, range.last, slot);
}

bool lpl_space_put_page(struct lpl_merge *merge, struct space *space, uint64_t at,
			struct page *page)
{
	return lpl_space_put(merge, space, (struct range){ at, at }, slot_of_page(page));
}

bool lpl_space_put_mapping(struct lpl_merge *merge, struct space *space, struct range range,
			   const struct mapping *like)
{
	struct mapping *mapping = lpl_mapping_new(&merge->store, like);
	bool done;

	if (mapping == NULL)
		return false;
	done = lpl_space_put(merge, space, range, slot_of_mapping(mapping));
	lpl_slot_release(slot_of_mapping(mapping));
	return done;
}
