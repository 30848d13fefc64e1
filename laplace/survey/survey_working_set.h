/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The working set over time: how many distinct pages are referenced in each bin.
 *
 * When two bins become one, a page that was referenced in both has to be counted once.  So the
 * first references that pages make in a bin are counted apart by how often bins have to be
 * folded until the page's bin before is the same one: at each fold those that meet their bin
 * before now are dropped, and all others are one fold nearer to it.
 */
#ifndef LAPLACE_SURVEY_SURVEY_WORKING_SET_H
#define LAPLACE_SURVEY_SURVEY_WORKING_SET_H

#include "survey_time.h"

/* The last column is of pages' first references ever, which never meet another bin. */
#define WORKING_SET_COLUMNS (BIN_BITS + 1)

struct working_set {
	uint64_t pages[LPL_SURVEY_BINS][WORKING_SET_COLUMNS];
	uint64_t sum[LPL_SURVEY_BINS];	/* in the end */
};

/* A page is referenced now, and was referenced last in a bin before (or NEVER). */
void lpl_working_set_count(struct working_set *set, const struct survey_time *time,
			   uint64_t last);
/* Two bins become one. */
void lpl_working_set_fold(struct working_set *set);
/* Distinct pages of each bin; `sizes` is a view of `set`, and not to be freed. */
void lpl_working_set_finish(struct working_set *set, struct lpl_time_series *sizes);

#endif
