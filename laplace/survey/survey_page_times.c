/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is counted of pages by time; see survey_page_times.h. */
#include "survey_page_times.h"

#include <string.h>

/* Two rows become one; the upper half is empty then. */
static void fold(uint64_t *number, size_t rows, size_t width)
{
	for (size_t i = 0; i < rows / 2 * width; i++) {
		const size_t row = i / width, column = i % width;

		number[i] = number[2 * row * width + column] + number[(2 * row + 1) * width + column];
	}
	memset(number + rows / 2 * width, 0, rows / 2 * width * sizeof(*number));
}

void lpl_survey_heatmap_add(struct lpl_survey_heatmap *map, uint64_t page, enum lpl_page_kind kind)
{
	for (; page >> map->row_shift >= LPL_SURVEY_ROWS; map->row_shift++) {
		fold(*map->references, LPL_SURVEY_ROWS, LPL_SURVEY_BINS);
		fold(*map->pages, LPL_SURVEY_ROWS, LPL_PAGE_KINDS);
	}
	map->pages[page >> map->row_shift][kind]++;
}

void lpl_survey_heatmap_fold(struct lpl_survey_heatmap *map)
{
	for (unsigned int row = 0; row < LPL_SURVEY_ROWS; row++)
		fold(map->references[row], LPL_SURVEY_BINS, 1);
}

void lpl_survey_page_times_add(struct survey_page_times *times, uint64_t page, enum lpl_page_kind kind)
{
	lpl_survey_heatmap_add(&times->heatmap, page, kind);
}

void lpl_survey_page_times_enter(struct survey_page_times *times, const struct survey_time *time,
				 uint64_t last)
{
	unsigned int folds = WORKING_SET_COLUMNS;

	if (last != NEVER)
		folds = 32 - (unsigned int)__builtin_clz(bin_of(time, last) ^ time->bin);
	times->first[time->bin][folds - 1]++;
}

void lpl_survey_page_times_fold(struct survey_page_times *times)
{
	const unsigned int never = WORKING_SET_COLUMNS - 1;

	lpl_survey_heatmap_fold(&times->heatmap);
	fold(*times->first, LPL_SURVEY_BINS, WORKING_SET_COLUMNS);
	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++) {
		uint64_t *first = times->first[bin];

		memmove(first, first + 1, (never - 1) * sizeof(*first));
		first[never - 1] = 0;	/* those beyond it never meet */
	}
}

struct lpl_time_series lpl_survey_page_times_finish(struct survey_page_times *times)
{
	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++) {
		for (unsigned int i = 0; i < WORKING_SET_COLUMNS; i++)
			times->working_set[bin] += times->first[bin][i];
	}
	return (struct lpl_time_series){ .value = times->working_set, .count = LPL_SURVEY_BINS };
}
