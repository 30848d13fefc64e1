/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which pages are hot: the hottest ones by name, and of all how many have how many references.
 * A page is reported once, when all of its references are known.
 */
#ifndef LAPLACE_SURVEY_SURVEY_HOTTEST_H
#define LAPLACE_SURVEY_SURVEY_HOTTEST_H

#include <laplace/survey.h>

/* Numbers of references have a step each below 128, and 64 steps to each doubling above. */
#define HEAT_STEPS 4096

struct survey_hottest {
	struct lpl_survey_hottest result[LPL_SURVEY_SIDES];	/* in no order while pages come */
	size_t most;			/* pages kept of each side */
	struct heat_step {
		uint64_t pages, references;
	} step[HEAT_STEPS];
};

/* `hottest` is all 0.  false: no memory; lpl_survey_hottest_free() may be called all the same. */
bool lpl_survey_hottest_init(struct survey_hottest *hottest, size_t most);
void lpl_survey_hottest_free(struct survey_hottest *hottest);

void lpl_survey_hottest_add(struct survey_hottest *hottest,
			    const struct lpl_survey_hot_page *page, enum lpl_survey_side side);
/* Sort those that were kept: no page comes any more. */
void lpl_survey_hottest_sort(struct survey_hottest *hottest);

/* How many pages at least have so many references together. */
uint64_t lpl_survey_hottest_pages(const struct survey_hottest *hottest, uint64_t references);

#endif
