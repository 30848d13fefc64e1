/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* References by page and time; see survey_heatmap.h. */
#include "survey_heatmap.h"

/* Two rows become one; the upper half is empty then. */
static void fold_rows(struct lpl_survey_heatmap *map)
{
	for (unsigned int row = 0; row < LPL_SURVEY_ROWS; row++) {
		bool is_filled = row < LPL_SURVEY_ROWS / 2;

		for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++)
			map->references[row][bin] = !is_filled ? 0 :
				map->references[2 * row][bin] + map->references[2 * row + 1][bin];
		for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
			map->pages[row][kind] = !is_filled ? 0 :
				map->pages[2 * row][kind] + map->pages[2 * row + 1][kind];
	}
	map->row_shift++;
}

void lpl_survey_heatmap_add_page(struct lpl_survey_heatmap *map, uint64_t page,
				 enum lpl_page_kind kind)
{
	while (page >> map->row_shift >= LPL_SURVEY_ROWS)
		fold_rows(map);
	map->pages[page >> map->row_shift][kind]++;
}

void lpl_survey_heatmap_fold_bins(struct lpl_survey_heatmap *map)
{
	for (unsigned int row = 0; row < LPL_SURVEY_ROWS; row++) {
		uint64_t *references = map->references[row];

		for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++)
			references[bin] = bin >= LPL_SURVEY_BINS / 2 ? 0 :
				references[2 * bin] + references[2 * bin + 1];
	}
}
