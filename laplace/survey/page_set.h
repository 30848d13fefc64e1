/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of canonical page numbers (which are above 0).
 *
 * It is no lpl_map (base/map.h), for three reasons.  It is walked, and the order of the walk
 * shows in a sum of fractions that is printed with all its digits, so it has to be the same in
 * each run; a map's depends on a random seed.  Page numbers cannot be chosen to collide, as
 * the merge gives them in their order.  And a place takes 8 bytes, not 16: the sets are the
 * largest part of a survey.  (It is also the faster one, by a quarter of the instructions:
 * `bench/tables`.)
 */
#ifndef LAPLACE_SURVEY_PAGE_SET_H
#define LAPLACE_SURVEY_PAGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_set {		/* all 0: empty */
	uint64_t *page;		/* 0: a free place; to be walked in the order of places */
	size_t room, count;	/* places: a power of two, or 0; pages in them */
};

bool lpl_page_set_has(const struct page_set *set, uint64_t page);
/*
 * *added: it was not there.  When the table is full, those pages that `is_needed` denies are
 * forgotten, so that it grows with what is needed alone.  false: no memory.
 */
bool lpl_page_set_add(struct page_set *set, uint64_t page, bool *added,
		      bool (*is_needed)(const void *context, uint64_t page), const void *context);
/* `set`, which is empty, gets the pages of another one.  false: no memory. */
bool lpl_page_set_copy(struct page_set *set, const struct page_set *other);
/* It is empty, and may be used again. */
void lpl_page_set_free(struct page_set *set);

#endif
