/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a merge makes of a state in a stream (guest_state.h).  Most of it is events as a kernel
 * sends them; here is what no kernel sends: where it begins and ends, spaces, and what two of
 * them share.
 */
#include "audit.h"
#include "state.h"

/* Outside of a state the event means nothing. */
static bool is_stray(struct lpl_merge *merge, const struct lpl_event *event)
{
	if (!merge->tasks.in_state)
		lpl_merge_anomaly(merge, LPL_ANOMALY_TAG, event);
	return !merge->tasks.in_state;
}

/* What a snapshot of the guest's remembers is still to be found again after the state. */
bool lpl_on_state(struct lpl_merge *merge, const struct lpl_event *event)
{
	if (event->arg[LPL_EVENT_STATE_BEGINS] != 0) {
		lpl_merge_forget(merge);
		lpl_merge_take_kernel_base(merge, event->arg[LPL_EVENT_STATE_KERNEL_BASE]);
		return true;
	}
	lpl_present_clear_reported(merge);
	if (merge->audit != NULL)
		lpl_audit_state(merge, event->arg[LPL_EVENT_STATE_SNAPSHOT]);
	return true;
}

bool lpl_on_space_state(struct lpl_merge *merge, const struct lpl_event *event)
{
	uint64_t start = event->arg[LPL_EVENT_SPACE_STATE_MOVED_START];
	uint64_t end = event->arg[LPL_EVENT_SPACE_STATE_MOVED_END];
	struct space *space;

	if (is_stray(merge, event))
		return true;
	space = lpl_space_make(merge, event->arg[LPL_EVENT_SPACE_STATE_SPACE]);
	if (space != NULL && start < end)
		space->moved = (struct range){ start >> LPL_PAGE_SHIFT,
					       (end - 1) >> LPL_PAGE_SHIFT };
	return space != NULL;
}

/* Neither may write at once what it could before. */
bool lpl_on_shared(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct space *space = lpl_space_find(merge, event->arg[LPL_EVENT_SHARED_SPACE]);
	struct space *other = lpl_space_find(merge, event->arg[LPL_EVENT_SHARED_OTHER]);
	struct range range;

	if (is_stray(merge, event) || space == NULL || other == NULL || space == other ||
	    !lpl_user_range(merge, event, event->arg[LPL_EVENT_SHARED_START],
			    event->arg[LPL_EVENT_SHARED_END], &range))
		return true;
	lpl_flush_range(merge, &other->asid, range.first, range.last);
	return lpl_space_put(merge, space, range, TREE_EMPTY) &&
	       lpl_tree_share_range(&space->mapped, &other->mapped, range.first, range.last);
}
