/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of numbered pages: the space that a page is in, and its number there.
 *
 * They are added by the thread that numbers pages while others simulate, so nothing in here ever
 * moves: part k has the names of pages 2^k to 2^(k + 1) - 1.  A simulation asks only for pages in
 * a batch that it was sent (base/broadcast.h), and their names were there before the batch was.
 */
#ifndef LAPLACE_SIM_PAGE_NAMES_H
#define LAPLACE_SIM_PAGE_NAMES_H

#include "reduce/pages.h"

#include <assert.h>

struct lpl_page_names {		/* all 0 at first */
	struct lpl_page *part[32];
};

/* Add page `i`, the one after the last; the first is page 1.  false: no memory. */
bool lpl_page_names_add(struct lpl_page_names *names, uint32_t i, struct lpl_page name);
void lpl_page_names_free(struct lpl_page_names *names);

/* Which part has page i; the part's first page is 2 to that power. */
static inline unsigned int lpl_page_names_part(uint32_t i)
{
	assert(i >= 1);
	return 31 - (unsigned int)__builtin_clz(i);
}

static inline struct lpl_page lpl_page_name(const struct lpl_page_names *names, uint32_t i)
{
	const unsigned int part = lpl_page_names_part(i);

	return names->part[part][i - (UINT32_C(1) << part)];
}

#endif
