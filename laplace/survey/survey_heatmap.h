/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * References by page and time.  Pages have a fixed number of rows, which hold twice as many
 * whenever a page's number lies beyond the last one, as bins do of time.
 */
#ifndef LAPLACE_SURVEY_SURVEY_HEATMAP_H
#define LAPLACE_SURVEY_SURVEY_HEATMAP_H

#include <laplace/survey.h>

/* A reference in a bin, to a page that was added. */
static inline void lpl_survey_heatmap_count(struct lpl_survey_heatmap *map, uint64_t page,
					    unsigned int bin)
{
	map->references[page >> map->row_shift][bin]++;
}

void lpl_survey_heatmap_add_page(struct lpl_survey_heatmap *map, uint64_t page,
				 enum lpl_page_kind kind);
/* Two bins become one. */
void lpl_survey_heatmap_fold_bins(struct lpl_survey_heatmap *map);

#endif
