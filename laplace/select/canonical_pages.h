/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The canonical pages of a stream, for a choice that is made by what the stream itself has:
 * addresses, spaces, events.
 *
 *	stream ─┬─► canonical_pages ─► a page for each reference ─┐
 *	        └────────────────────► choice ────────────────────┴─► references of canonical pages
 *
 * All references have to come by, those that are not chosen, too: a write of one process parts
 * what another one shares with it.
 */
#ifndef LAPLACE_SELECT_CANONICAL_PAGES_H
#define LAPLACE_SELECT_CANONICAL_PAGES_H

#include <laplace/merge.h>

enum { CANONICAL_BATCH = 1024 };

struct canonical_pages {
	struct lpl_merge_output output;
	struct lpl_merge *merge;
	bool is_new;			/* the last page that was found: what it is, ... */
	struct lpl_event event;		/* ... as an event to stand before it */
	uint64_t page[CANONICAL_BATCH];
};

enum lpl_error lpl_canonical_pages_open(struct canonical_pages **pages,
					struct lpl_report *report);
void lpl_canonical_pages_close(struct canonical_pages *pages);	/* NULL is fine */

/*
 * Find pages, in `page`, of the next references, of which there is one or more.  How many it
 * found: at least one, of which the last one alone may be new.  0: an error.
 */
size_t lpl_canonical_pages_find(struct canonical_pages *pages, const struct lpl_ref *refs,
				size_t count, struct lpl_report *report);
/* An event of the stream takes effect. */
enum lpl_error lpl_canonical_pages_follow(struct canonical_pages *pages,
					  const struct lpl_event *event, struct lpl_report *report);

/* The same reference to that page: only the page changes, not the offset in it. */
static inline void canonical_pages_put(struct lpl_ref *ref, uint64_t page)
{
	ref->space = 0;
	ref->address = page << LPL_PAGE_SHIFT |
		       (ref->address & ((UINT64_C(1) << LPL_PAGE_SHIFT) - 1));
}

#endif
