/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's system calls, by number. */
#ifndef LAPLACE_SURVEY_SURVEY_CALLS_H
#define LAPLACE_SURVEY_SURVEY_CALLS_H

#include <laplace/survey.h>

/* Count a KTR_SYSCALL_ENTER or KTR_SYSCALL_EXIT, here and for the task that made the call. */
void lpl_survey_calls_count(struct lpl_survey_calls *calls, const struct lpl_event *event,
			    struct lpl_survey_task *task);

#endif
