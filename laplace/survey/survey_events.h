/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's events: how many of each kind, what was marked, what moved in memory, and system calls. */
#ifndef LAPLACE_SURVEY_SURVEY_EVENTS_H
#define LAPLACE_SURVEY_SURVEY_EVENTS_H

#include <laplace/survey.h>

/* An event that happens at `time`. */
void lpl_survey_events_count(struct lpl_survey_events *events, const struct lpl_event *event,
			     uint64_t time);
/* Count a KTR_SYSCALL_ENTER or KTR_SYSCALL_EXIT, here and for the task that made the call. */
void lpl_survey_calls_count(struct lpl_survey_calls *calls, const struct lpl_event *event,
			    struct lpl_survey_task *task);

#endif
