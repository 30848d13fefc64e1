/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run's picture: which process ran when, faults and busy processors. */
#ifndef LAPLACE_CLI_SCHEDULE_TIMELINE_H
#define LAPLACE_CLI_SCHEDULE_TIMELINE_H

#include <laplace/schedule.h>

#include "draw/picture.h"
#include "schedule_report.h"

/* What is gathered in a run: of each task its states by bins of time, as a survey has them (survey_time.h). */
struct cli_timeline;

/* NULL: no memory. */
struct cli_timeline *cli_timeline_open(void);
struct lpl_schedule_observer *cli_timeline_observer(struct cli_timeline *timeline);
/* After the run.  Complains; returns an exit status. */
int cli_timeline_draw(const struct cli_timeline *timeline, const struct cli_schedule_report *run,
		      enum picture_format format, FILE *out);
void cli_timeline_close(struct cli_timeline *timeline);		/* NULL is fine */

#endif
