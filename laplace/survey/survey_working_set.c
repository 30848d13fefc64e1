/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The working set over time; see survey_working_set.h. */
#include "survey_working_set.h"

void lpl_working_set_count(struct working_set *set, const struct survey_time *time, uint64_t last)
{
	unsigned int folds = WORKING_SET_COLUMNS;

	if (last != NEVER)
		folds = 32 - (unsigned int)__builtin_clz(bin_of(time, last) ^ time->bin);
	set->pages[time->bin][folds - 1]++;
}

void lpl_working_set_fold(struct working_set *set)
{
	const unsigned int never = WORKING_SET_COLUMNS - 1;

	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++) {
		bool is_filled = bin < LPL_SURVEY_BINS / 2;

		for (unsigned int i = 0; i <= never; i++) {
			unsigned int from = i < never ? i + 1 : never;

			/* the last but one is empty now: those beyond it never meet */
			set->pages[bin][i] = !is_filled || i + 1 == never ? 0 :
				set->pages[2 * bin][from] + set->pages[2 * bin + 1][from];
		}
	}
}

void lpl_working_set_finish(struct working_set *set, struct lpl_time_series *sizes)
{
	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++) {
		for (unsigned int i = 0; i < WORKING_SET_COLUMNS; i++)
			set->sum[bin] += set->pages[bin][i];
	}
	*sizes = (struct lpl_time_series){ .value = set->sum, .count = LPL_SURVEY_BINS };
}
