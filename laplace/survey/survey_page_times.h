/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is counted of pages by time: references to each, and how many distinct ones are referenced (the
 * working set).
 *
 * Pages have a fixed number of rows, which hold twice as many whenever a page's number lies beyond the last
 * one, as bins do of time.
 *
 * When two bins become one, a page that was referenced in both has to be counted once.  So the
 * first references that pages make in a bin are counted apart by how often bins have to be
 * folded until the page's bin before is the same one: at each fold those that meet their bin
 * before now are dropped, and all others are one fold nearer to it.
 */
#ifndef LAPLACE_SURVEY_SURVEY_PAGE_TIMES_H
#define LAPLACE_SURVEY_SURVEY_PAGE_TIMES_H

#include "survey_time.h"

/* The last column is of pages' first references ever, which never meet another bin. */
#define WORKING_SET_COLUMNS (BIN_BITS + 1)

struct survey_page_times {
	struct lpl_survey_heatmap heatmap;
	uint64_t first[LPL_SURVEY_BINS][WORKING_SET_COLUMNS];
	uint64_t working_set[LPL_SURVEY_BINS];	/* in the end */
};

/* There is a new page; rows become twice as high until it has one. */
void lpl_survey_heatmap_add(struct lpl_survey_heatmap *map, uint64_t page, enum lpl_page_kind kind);
/* Two bins become one. */
void lpl_survey_heatmap_fold(struct lpl_survey_heatmap *map);

/* There is a new page. */
void lpl_survey_page_times_add(struct survey_page_times *times, uint64_t page, enum lpl_page_kind kind);
/* It is referenced now for the first time in this bin, and was in a bin before, at `last` (or NEVER). */
void lpl_survey_page_times_enter(struct survey_page_times *times, const struct survey_time *time,
				 uint64_t last);
/* It is referenced now, and was at `last` (or NEVER). */
static inline void lpl_survey_page_times_count(struct survey_page_times *times,
					       const struct survey_time *time, uint64_t page,
					       uint64_t last)
{
	times->heatmap.references[page >> times->heatmap.row_shift][time->bin]++;
	if ((last ^ time->result.length) >> time->result.bin_shift)
		lpl_survey_page_times_enter(times, time, last);
}
/* Two bins become one. */
void lpl_survey_page_times_fold(struct survey_page_times *times);
/* The working set is a view, and not to be freed. */
struct lpl_time_series lpl_survey_page_times_finish(struct survey_page_times *times);

#endif
