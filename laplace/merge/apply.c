/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which function makes which event take effect on spaces, files and the page cache. */
#include "state.h"

static lpl_event_handler *const handler[KTR_TAGS] = {
	/* mappings.c */
	[KTR_MAP] = lpl_on_map,
	[KTR_UNMAP] = lpl_on_unmap,
	[KTR_BRK] = lpl_on_brk,
	[KTR_SHM_ATTACH] = lpl_on_shm_attach,
	[KTR_SHM_DETACH] = lpl_on_shm_detach,
	/* remap.c */
	[KTR_REMAP] = lpl_on_remap,
	/* fork.c */
	[KTR_SPACE_DUPLICATE] = lpl_on_space_duplicate,
	[KTR_COW_BREAK] = lpl_on_cow_break,
	/* spaces.c */
	[KTR_SPACE_END] = lpl_on_space_end,
	/* own_pages.c */
	[KTR_DISCARD] = lpl_on_discard,
	[KTR_PAGE_OWN] = lpl_on_page_own,
	[KTR_PRESENT] = lpl_on_present,
	/* objects.c */
	[KTR_FILE] = lpl_on_file,
	/* page_cache.c */
	[KTR_CACHE_ADD] = lpl_on_cache_add,
	[KTR_CACHE_REMOVE] = lpl_on_cache_remove,
};

bool lpl_merge_apply(struct lpl_merge *merge, const struct lpl_event *event)
{
	/* state_events.c */
	switch (event->tag) {
	case LPL_EVENT_STATE:
		return lpl_on_state(merge, event);
	case LPL_EVENT_SPACE_STATE:
		return lpl_on_space_state(merge, event);
	case LPL_EVENT_SHARED:
		return lpl_on_shared(merge, event);
	default:
		break;
	}
	return event->tag >= KTR_TAGS || handler[event->tag] == NULL ||
	       handler[event->tag](merge, event);
}
