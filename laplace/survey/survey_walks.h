/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's page walks: for which references the processor read page tables. */
#ifndef LAPLACE_SURVEY_SURVEY_WALKS_H
#define LAPLACE_SURVEY_SURVEY_WALKS_H

#include "survey_pages.h"
#include "survey_tasks.h"

struct survey_walks {
	struct lpl_survey_walks result;
	struct lpl_walks *described;
	uint64_t pending;		/* made since the last reference that is none of them */
};

/* LPL_ERR_MEMORY. */
enum lpl_error lpl_survey_walks_init(struct survey_walks *walks, struct lpl_report *report);
void lpl_survey_walks_free(struct survey_walks *walks);		/* one of zeros is fine */
/* Each event, before the references after it. */
enum lpl_error lpl_survey_walks_follow(struct survey_walks *walks, const struct lpl_event *event,
				       struct lpl_report *report);
/* A reference of the task that runs, to a page that is known. */
void lpl_survey_walks_reference(struct survey_walks *walks, const struct lpl_merged *merged,
				struct survey_tasks *tasks, struct survey_pages *pages);
/* References may be missing here, or no more come. */
void lpl_survey_walks_break(struct survey_walks *walks);

#endif
