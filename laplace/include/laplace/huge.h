/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Huge pages: a sink that finds how much of each region of 2 MB is touched, and so what mapping regions by
 * huge pages would waste.  What it would save lpl_tlb_open() simulates (tlb.h).  docs/tlbs.md has
 * the definitions.
 *
 *	lpl_huge_open(&huge, reduction, translations, &report);
 *	lpl_reader_run(reader, lpl_huge_sink(huge), &report);
 *	lpl_huge_promotion(huge, 256, &promotion);
 *	lpl_huge_close(huge);
 *
 * Memory: some 150 bytes for each region.
 */
#ifndef LAPLACE_HUGE_H
#define LAPLACE_HUGE_H

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LPL_HUGE_SHIFT	21
#define LPL_HUGE_PAGES	512	/* of 4096 bytes in a region */

/* Regions in which so many pages were touched. */
struct lpl_huge_regions {
	uint64_t small;		/* never referenced by a page of 2 MB or more, */
	uint64_t huge;		/* or by one at least once */
};

/* What comes of it if regions of small pages are mapped by huge ones from so many touched pages on. */
struct lpl_huge_promotion {
	uint64_t regions;
	uint64_t touched;	/* pages in them */
	uint64_t wasted;	/* bytes in them that are of no touched page */
};

struct lpl_huge;

/*
 * `reduction` and `translations` are those of lpl_tlb_options.  Without translations regions are of single
 * spaces, and none is huge.  LPL_ERR_USAGE: the trace is reduced; LPL_ERR_MEMORY.
 */
enum lpl_error lpl_huge_open(struct lpl_huge **huge, const char *reduction, bool translations,
			     struct lpl_report *report);
/*
 * Where to send the trace, events and all; owned by it.  LPL_ERR_MEMORY, and errors of
 * lpl_translations_follow().
 */
struct lpl_sink *lpl_huge_sink(struct lpl_huge *huge);
/* Regions with `touched` pages that were touched, 1 to LPL_HUGE_PAGES. */
struct lpl_huge_regions lpl_huge_touched(const struct lpl_huge *huge, unsigned int touched);
/* From `least` touched pages on, 1 to LPL_HUGE_PAGES. */
void lpl_huge_promotion(const struct lpl_huge *huge, unsigned int least, struct lpl_huge_promotion *promotion);
/* How many pages were touched in the region of an address of a space, or of all; 0: none, or it was huge. */
unsigned int lpl_huge_small(const struct lpl_huge *huge, uint64_t space, bool global, uint64_t address);
void lpl_huge_close(struct lpl_huge *huge);	/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
