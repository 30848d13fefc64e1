/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of canonical page numbers (which are above 0): a hash table with open addressing.
 */
#ifndef LAPLACE_SURVEY_PAGE_SET_H
#define LAPLACE_SURVEY_PAGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_set {
	uint64_t *page;		/* 0: a free place */
	size_t room, count;	/* room: a power of two, or 0 */
	bool (*is_needed)(const void *context, uint64_t page);
	const void *context;
};

/*
 * Pages that `is_needed` denies may be forgotten at any time, so that a set is no
 * larger than what is needed.
 */
void page_set_init(struct page_set *set, bool (*is_needed)(const void *context, uint64_t page),
		   const void *context);
bool page_set_has(const struct page_set *set, uint64_t page);
/* *added: it was not there.  false: no memory. */
bool page_set_add(struct page_set *set, uint64_t page, bool *added);
void page_set_free(struct page_set *set);

#endif
