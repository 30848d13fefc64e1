/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers by bin of time (struct lpl_time_series), as they are gathered. */
#ifndef LAPLACE_SURVEY_TIME_SERIES_H
#define LAPLACE_SURVEY_TIME_SERIES_H

#include "survey_time.h"

/* The place of a bin, made if need be; NULL: no memory. */
uint64_t *lpl_time_series_reach(struct lpl_time_series *series, unsigned int bin);

/* Give each bin its part of the time [from, to).  false: no memory. */
bool lpl_time_series_add_span(struct lpl_time_series *series, const struct survey_time *time,
			      uint64_t from, uint64_t to);

/* Add the numbers of `part`, bin by bin.  false: no memory. */
bool lpl_time_series_add(struct lpl_time_series *sum, const struct lpl_time_series *part);

/* Two bins become one: their sum, the second one (of levels at a bin's end), the greater. */
enum fold { FOLD_SUM, FOLD_LAST, FOLD_MOST };
void lpl_time_series_fold(struct lpl_time_series *series, enum fold how);

void lpl_time_series_free(struct lpl_time_series *series);

#endif
