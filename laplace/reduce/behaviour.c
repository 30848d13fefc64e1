/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The LRU behaviour of a trace: faults.  Hits, which are hot, are in behaviour.h. */
#include "behaviour.h"

#include "base/array.h"

#include <stdlib.h>

bool lpl_behaviour_init(struct lpl_behaviour *behaviour, uint32_t limit)
{
	*behaviour = (struct lpl_behaviour){.limit = limit};
	return lpl_pages_init(&behaviour->pages);
}

void lpl_behaviour_free(struct lpl_behaviour *behaviour)
{
	lpl_pages_free(&behaviour->pages);
	free(behaviour->dirty);
}

bool lpl_behaviour_fetch(struct lpl_behaviour *behaviour, const struct lpl_ref *ref,
			 uint32_t victim, struct lpl_fault *fault)
{
	struct lpl_pages *pages = &behaviour->pages;
	struct lpl_page page = lpl_page_of(ref);

	*fault = (struct lpl_fault){.place = victim, .evicts = victim != 0};
	if (victim != 0) {
		fault->victim = pages->node[victim].page;
		fault->dirty = behaviour->dirty[victim] != 0;
		lpl_pages_replace(pages, victim, page);
	} else {
		fault->place = lpl_pages_add(pages, page);
		if (fault->place == 0 ||
		    !lpl_reach(behaviour->dirty, behaviour->dirty_capacity, fault->place))
			return false;
	}
	behaviour->dirty[fault->place] = lpl_is_write(ref) ? 1 : 0;
	return true;
}
