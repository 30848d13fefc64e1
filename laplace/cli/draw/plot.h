/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves, and the ways to draw them; pictures of traces.
 */
#ifndef LAPLACE_CLI_DRAW_PLOT_H
#define LAPLACE_CLI_DRAW_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "survey/survey.h"

struct point {
	double pages, faults;
};

/* One policy of one file. */
struct curve {
	char *name;
	struct point *point;
	size_t count, room;
};

struct curves {
	struct curve *curve;
	size_t count;
};

/* Add the curves in a CSV of `laplace sim`.  Complains; returns an exit status. */
int curves_read(struct curves *curves, const char *path, bool several_files);
void curves_free(struct curves *curves);

/* Draw with characters, for a terminal of 80 columns. */
void plot_text(const struct curves *curves, const char *title, FILE *out);

/* Have gnuplot draw to `out`; terminal is "png" or "svg".  Returns an exit status. */
int plot_gnuplot(const struct curves *curves, const char *title, const char *terminal,
		 FILE *out);

/* ---- pictures of traces (plot_trace.c) ---- */

struct plot_trace_options {
	struct survey_options survey;
	enum survey_clock clock;
	uint64_t top;
	bool by_process;
};

bool plot_trace_knows(const char *kind);
/* `format` is "png", "svg" or "csv"; NULL: characters.  Returns an exit status. */
int plot_trace(const char *kind, const struct plot_trace_options *options, const char *format,
	       const char *path, bool overwrite);

#endif
