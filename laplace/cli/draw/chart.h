/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures of a trace's survey: as SVG and PNG, with characters, and as numbers (CSV).
 *
 * They are drawn here, as curves are (curves.h), with no program to be installed: a report has to be
 * one page that needs nothing else, and the same picture stands in it and in a file of its own.
 */
#ifndef LAPLACE_CLI_DRAW_CHART_H
#define LAPLACE_CLI_DRAW_CHART_H

#include "cli/surveyed_trace.h"
#include "svg.h"

enum chart_kind { CHART_TIMELINE, CHART_FOOTPRINT, CHART_PROCESSES, CHART_HEATMAP, CHARTS };

/* `format` is "svg", "png" or "csv"; NULL: characters.  Complains; returns an exit status. */
int chart_draw(enum chart_kind kind, const struct surveyed_trace *trace, const char *format,
	       FILE *out);

/* ---- as SVG ---- */

/* Who ran: the first trace->top tasks, in the order in which they began; and the marks. */
void chart_timeline(const struct surveyed_trace *trace, FILE *out);
/* Pages alive by kind, and the working set. */
void chart_footprint(const struct surveyed_trace *trace, FILE *out);
/* Pages alive that the largest processes have referenced. */
void chart_processes(const struct surveyed_trace *trace, FILE *out);
/* References by page, in the order of first references, and time. */
void chart_heatmap(const struct surveyed_trace *trace, FILE *out);

/* ---- otherwise ---- */

void chart_csv(enum chart_kind kind, const struct surveyed_trace *trace, FILE *out);
void chart_text(enum chart_kind kind, const struct surveyed_trace *trace, FILE *out);
/* Parts of these that a report has, too. */
void chart_text_tasks(const struct surveyed_trace *trace, FILE *out);
void chart_text_marks(const struct surveyed_trace *trace, FILE *out);
void chart_text_kinds(const struct surveyed_trace *trace, FILE *out);

/* ---- what those as SVG share (chart.c) ---- */

#define CHART_WIDTH 960

/* Of a kind of page; people who see fewer colours can distinguish these. */
const char *chart_kind_colour(enum lpl_page_kind kind);
#define CHART_FONT 13

/* The axis of time: how many of its units a step of the survey's clock is, and its name. */
double chart_time_unit(const struct surveyed_trace *trace);
void chart_time_axis(const struct surveyed_trace *trace, const struct svg_field *field, FILE *out);
/* In its units: where a bin begins (no later than the end), and the end. */
double chart_bin_time(const struct surveyed_trace *trace, unsigned int bin);
double chart_end_time(const struct surveyed_trace *trace);
/* Marks as numbers above the field and lines in it; the same numbers stand in the list. */
void chart_marks(const struct surveyed_trace *trace, const struct svg_field *field, FILE *out);
/* What the numbers are, from (x, y) down, in columns; returns the height that is needed. */
double chart_mark_list(const struct surveyed_trace *trace, double x, double y, FILE *out);

#endif
