/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages to which a write was dropped that no reference kept since then shows: the next
 * one kept has to become a write.
 */
#ifndef LAPLACE_REDUCE_DROPPED_WRITES_H
#define LAPLACE_REDUCE_DROPPED_WRITES_H

#include "pages.h"

struct lpl_dropped_writes {
	struct lpl_pages pages;		/* that ever had one; with a bool: has it one now? */
};

static inline bool lpl_dropped_writes_init(struct lpl_dropped_writes *writes)
{
	return lpl_pages_init_with(&writes->pages, sizeof(bool));	/* false: no memory */
}

static inline void lpl_dropped_writes_free(struct lpl_dropped_writes *writes)
{
	lpl_pages_free(&writes->pages);
}

/* false: no memory. */
static inline bool lpl_dropped_writes_add(struct lpl_dropped_writes *writes, struct lpl_page page)
{
	uint32_t i = lpl_pages_find(&writes->pages, page);

	if (i == 0)
		i = lpl_pages_add(&writes->pages, page);
	if (i != 0)
		*LPL_PAYLOAD(&writes->pages, bool, i) = true;
	return i != 0;
}

/* Is there one to the page?  From now on there is none. */
static inline bool lpl_dropped_writes_take(struct lpl_dropped_writes *writes,
					   struct lpl_page page)
{
	uint32_t i = lpl_pages_find(&writes->pages, page);
	bool *now = LPL_PAYLOAD(&writes->pages, bool, i);
	bool had = i != 0 && *now;

	if (had)
		*now = false;
	return had;
}

#endif
