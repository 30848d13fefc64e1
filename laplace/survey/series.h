/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A time axis for traces of unknown length, in one pass: a fixed number of bins, which
 * become twice as wide whenever a time is beyond the last.  Widths are powers of two, so
 * a bin of a wide axis is exactly two of the axis before, and folding them is exact.
 */
#ifndef LAPLACE_SURVEY_SERIES_H
#define LAPLACE_SURVEY_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#define AXIS_BITS 8
#define AXIS_BINS (1U << AXIS_BITS)

struct time_axis {
	unsigned int shift;	/* a bin is 1 << shift wide */
};

static inline unsigned int axis_bin(const struct time_axis *axis, uint64_t time)
{
	return (unsigned int)(time >> axis->shift);
}

static inline bool axis_reaches(const struct time_axis *axis, uint64_t time)
{
	return time >> axis->shift < AXIS_BINS;
}

/* Numbers by bin: 0 before `first` and from first + count on. */
struct series {
	uint32_t first, count, room;
	uint64_t *value;
};

/* The place of a bin, made if need be; NULL: no memory. */
uint64_t *series_at(struct series *series, unsigned int bin);
uint64_t series_get(const struct series *series, unsigned int bin);
/* Give each bin its part of the time [from, to).  false: no memory. */
bool series_add_time(struct series *series, const struct time_axis *axis, uint64_t from,
		     uint64_t to);
/* Two bins become one: their sum, the second (of levels at the end of each), the greater. */
enum fold { FOLD_SUM, FOLD_LAST, FOLD_MOST };
void series_fold(struct series *series, enum fold how);
void series_free(struct series *series);

#endif
