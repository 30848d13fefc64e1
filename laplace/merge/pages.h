/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A merge without an output for each reference: the canonical pages of many references at once,
 * for whoever wants nothing else of them, fast.
 */
#ifndef LAPLACE_MERGE_PAGES_H
#define LAPLACE_MERGE_PAGES_H

#include <laplace/merge.h>

/*
 * The canonical pages of the next references of the stream, in pages[0] to pages[count - 1] at
 * most; how many these are.  The last of them may be a new page: then the output's `page` was
 * called, as just before that reference.  0: an error, which is reported, if `count` is not 0.
 *
 * Takes the place of the merge's sink for references (events go to that sink as ever), and gives
 * them the same pages.  The output's `reference` is not called, and references are not counted
 * by kind.  Not for a merge that keeps the books.
 */
size_t lpl_merge_pages(struct lpl_merge *merge, const struct lpl_ref *refs, size_t count,
		       uint64_t *pages, struct lpl_report *report);

/*
 * The canonical page that is at this address of a space, for events that name pages so; 0: nothing is known
 * to be mapped there, or the stream has canonical pages.  A page that was not referenced yet gets its number:
 * the output's `page` is called, as if it were read now.
 */
enum lpl_error lpl_merge_page_at(struct lpl_merge *merge, uint64_t space, uint64_t address,
				 uint64_t *page, struct lpl_report *report);

/*
 * Pages that are relied on to stay what they are, and which of them may have changed.  Each has a place,
 * which it shares with others, and with those of its number in other spaces.
 */
enum { LPL_WATCH_BITS = 16, LPL_WATCH_PLACES = 1 << LPL_WATCH_BITS, LPL_WATCH_CHANGES = 128 };
struct lpl_merge_watch {
	uint64_t noted[LPL_WATCH_PLACES / 64];	/* bits by place: a page is relied on */
	uint32_t place[LPL_WATCH_CHANGES];	/* where one may have changed */
	uint32_t places;
	bool changed;				/* all of them may have */
};
static inline uint32_t lpl_watch_place(uint64_t page)
{
	return (uint32_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LPL_WATCH_BITS));
}
/* From now on changes are noted there, until the merge is closed. */
void lpl_merge_watch(struct lpl_merge *merge, struct lpl_merge_watch *watch);
/*
 * May all pages have changed?  That takes more than the watch: where events are missing, the merge forgets what
 * it knows as soon as it is asked for a page, so it has to be asked.
 */
bool lpl_merge_all_changed(const struct lpl_merge *merge);

/* The task that makes the references that come next; valid until an event comes. */
const struct lpl_merge_task *lpl_merge_running(const struct lpl_merge *merge);

#endif
