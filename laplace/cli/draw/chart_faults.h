/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Faults over time, of policies at sizes: as SVG, with characters, and as numbers. */
#ifndef LAPLACE_CLI_DRAW_CHART_FAULTS_H
#define LAPLACE_CLI_DRAW_CHART_FAULTS_H

#include <stdio.h>

#include <laplace/survey.h>

#include "cli/surveyed_trace.h"
#include "series.h"

/* A policy at a size. */
struct faults_line {
	const char *policy;
	uint64_t size;
	bool timed;			/* the size is a time, in references */
	uint64_t all;			/* its faults ... */
	uint64_t faults[LPL_SURVEY_BINS];	/* ... and when they were taken */
};

struct faults_chart {
	/* first, so that one is the other; of its survey there is nothing but the time */
	struct surveyed_trace trace;
	const char *addresses;		/* what pages are: "canonical" or "virtual" */
	struct faults_line *line;
	size_t lines, room;
};
#define FAULTS_LINES SERIES		/* as many as a picture has; CSV has any number */

/* The trace is a faults_chart's. */
void chart_faults(const struct surveyed_trace *trace, FILE *out);
void chart_faults_text(const struct surveyed_trace *trace, FILE *out);
void chart_faults_csv(const struct surveyed_trace *trace, FILE *out);

#endif
