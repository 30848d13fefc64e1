/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Series of numbers over an axis that grows coarser; see axis.h.  Only the bins between
 * a series' first and last are kept, so that what lives shortly costs little.
 */
#include <stdlib.h>
#include <string.h>

#include "series.h"

uint64_t *series_at(struct series *series, unsigned int bin)
{
	unsigned int first = series->count == 0 || bin < series->first ? bin : series->first;
	unsigned int end = series->first + series->count;
	unsigned int count = (series->count == 0 || bin >= end ? bin + 1 : end) - first;

	if (count > series->room) {
		unsigned int room = 2 * count < AXIS_BINS ? 2 * count : AXIS_BINS;
		uint64_t *value = realloc(series->value, room * sizeof(*value));

		if (!value)
			return NULL;
		series->value = value;
		series->room = room;
	}
	if (series->count == 0) {
		series->value[0] = 0;
	} else if (first < series->first) {
		memmove(series->value + (series->first - first), series->value,
			series->count * sizeof(*series->value));
		memset(series->value, 0, (series->first - first) * sizeof(*series->value));
	} else if (count > series->count) {
		memset(series->value + series->count, 0,
		       (count - series->count) * sizeof(*series->value));
	}
	series->first = first;
	series->count = count;
	return &series->value[bin - first];
}

uint64_t series_get(const struct series *series, unsigned int bin)
{
	return bin >= series->first && bin - series->first < series->count ?
		series->value[bin - series->first] : 0;
}

bool series_add_time(struct series *series, const struct time_axis *axis, uint64_t from,
		     uint64_t to)
{
	while (from < to) {
		unsigned int bin = axis_bin(axis, from);
		uint64_t end = ((uint64_t)bin + 1) << axis->shift;
		uint64_t *value = series_at(series, bin);

		if (!value)
			return false;
		if (end > to || end == 0)	/* 0: the end of all time */
			end = to;
		*value += end - from;
		from = end;
	}
	return true;
}

void series_fold(struct series *series, enum fold how)
{
	uint32_t first = series->first / 2;
	uint32_t end = (series->first + series->count + 1) / 2;

	if (series->count == 0)
		return;
	for (uint32_t bin = first; bin < end; bin++) {
		uint64_t one = series_get(series, 2 * bin), two = series_get(series, 2 * bin + 1);

		/* this place was read before, or is read now */
		series->value[bin - first] = how == FOLD_SUM ? one + two :
					     how == FOLD_MOST && one > two ? one : two;
	}
	series->first = first;
	series->count = end - first;
}

void series_free(struct series *series)
{
	free(series->value);
	*series = (struct series){ 0 };
}
