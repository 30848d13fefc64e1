/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers by bin of time.  Only the bins from a series' first to its last are kept, so that a
 * task that lives shortly costs little.
 */
#include "time_series.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

uint64_t *lpl_time_series_reach(struct lpl_time_series *series, unsigned int bin)
{
	bool is_empty = series->count == 0;
	unsigned int end = series->first + series->count;
	unsigned int new_first = is_empty || bin < series->first ? bin : series->first;
	unsigned int new_end = is_empty || bin >= end ? bin + 1 : end;
	unsigned int before = is_empty ? 0 : series->first - new_first;

	if (!lpl_reach(series->value, series->room, new_end - new_first - 1))
		return NULL;
	if (before > 0)
		memmove(series->value + before, series->value,
			series->count * sizeof(*series->value));
	memset(series->value, 0, before * sizeof(*series->value));
	/* beyond the end there may be what stood there before a fold */
	memset(series->value + before + series->count, 0,
	       (new_end - new_first - before - series->count) * sizeof(*series->value));
	series->first = new_first;
	series->count = new_end - new_first;
	assert(bin >= series->first && bin - series->first < series->count);
	return &series->value[bin - new_first];
}

uint64_t lpl_time_series_get(const struct lpl_time_series *series, unsigned int bin)
{
	return bin >= series->first && bin - series->first < series->count ?
		series->value[bin - series->first] : 0;
}

bool lpl_time_series_add_span(struct lpl_time_series *series, const struct survey_time *time,
			      uint64_t from, uint64_t to)
{
	while (from < to) {
		unsigned int bin = bin_of(time, from);
		uint64_t end = lpl_survey_bin_start(&time->result, bin + 1);
		uint64_t *value = lpl_time_series_reach(series, bin);

		if (!value)
			return false;
		if (end > to || end == 0)	/* 0: the end of all time */
			end = to;
		*value += end - from;
		from = end;
	}
	return true;
}

bool lpl_time_series_add(struct lpl_time_series *sum, const struct lpl_time_series *part)
{
	for (unsigned int i = 0; i < part->count; i++) {
		uint64_t *value;

		if (part->value[i] == 0)
			continue;
		value = lpl_time_series_reach(sum, part->first + i);
		if (!value)
			return false;
		*value += part->value[i];
	}
	return true;
}

void lpl_time_series_fold(struct lpl_time_series *series, enum fold how)
{
	uint32_t first = series->first / 2;
	uint32_t end = (series->first + series->count + 1) / 2;

	if (series->count == 0)
		return;
	for (uint32_t bin = first; bin < end; bin++) {
		uint64_t one = lpl_time_series_get(series, 2 * bin);
		uint64_t two = lpl_time_series_get(series, 2 * bin + 1);

		/* this place was read before, or is read now */
		series->value[bin - first] = how == FOLD_SUM ? one + two :
					     how == FOLD_MOST && one > two ? one : two;
	}
	series->first = first;
	series->count = end - first;
}

void lpl_time_series_free(struct lpl_time_series *series)
{
	free(series->value);
	*series = (struct lpl_time_series){ 0 };
}
