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
	/* what the axis of time needs (chart.h): of its survey there is nothing but the time */
	struct surveyed_trace trace;
	uint64_t page_size;		/* in bytes; 0: not known */
	const char *addresses;		/* what pages are: "canonical" or "virtual" */
	struct faults_line *line;
	size_t lines;
};
#define FAULTS_LINES SERIES		/* as many as a picture has; CSV has any number */

void faults_svg(const struct faults_chart *chart, FILE *out);
void faults_text(const struct faults_chart *chart, FILE *out);
void faults_csv(const struct faults_chart *chart, FILE *out);

#endif
