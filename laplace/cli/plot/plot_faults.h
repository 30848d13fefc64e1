/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace plot faults: a simulation, and when its faults are taken. */
#ifndef LAPLACE_CLI_PLOT_PLOT_FAULTS_H
#define LAPLACE_CLI_PLOT_PLOT_FAULTS_H

#include "cli/addresses.h"
#include "cli/draw/chart.h"
#include "cli/surveyed_trace.h"

struct plot_faults {
	/* what is wanted: */
	const struct surveyed_trace_options *options;	/* path, progress, choice and clock count */
	char *policies;			/* a list, cut at its commas */
	const char *sizes;
	enum cli_addresses addresses;
	size_t most_lines;		/* 0: any number */
	/* the result: */
	struct faults_chart chart;
	/* and what it is made with: */
	struct cli_addressing addressing;
	struct lpl_simulator *simulator;
	struct lpl_fault_times *times;
	struct lpl_survey survey;	/* the time alone */
};

/* As surveyed_trace_read(), of chart.trace; to be closed in any case. */
int plot_faults_read(struct plot_faults *faults);
void plot_faults_close(struct plot_faults *faults);

#endif
