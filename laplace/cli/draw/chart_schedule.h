/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a machine's tasks and processors did over time: as SVG, and with characters. */
#ifndef LAPLACE_CLI_DRAW_CHART_SCHEDULE_H
#define LAPLACE_CLI_DRAW_CHART_SCHEDULE_H

#include <stdint.h>
#include <stdio.h>

#include <laplace/survey.h>

#define SCHEDULE_LANES 12	/* of processes or tasks; one more for all others */

/* Cycles by bin that a lane's tasks spent so, all together. */
struct schedule_lane {
	char name[40];
	uint64_t begin, end;
	uint64_t all_running;		/* not by bin */
	uint64_t running[LPL_SURVEY_BINS], paging[LPL_SURVEY_BINS], ready[LPL_SURVEY_BINS];
};

struct schedule_chart {
	struct lpl_survey_time time;	/* in cycles of the machine, from 0 */
	unsigned int cpus;
	uint64_t cycles_a_second;	/* 0: not known */
	size_t lanes;
	struct schedule_lane lane[SCHEDULE_LANES + 1];
	uint64_t faults[LPL_SURVEY_BINS];
	uint64_t busy[LPL_SURVEY_BINS];	/* cycles of all processors */
};

void schedule_svg(const struct schedule_chart *chart, FILE *out);
void schedule_text(const struct schedule_chart *chart, FILE *out);

#endif
