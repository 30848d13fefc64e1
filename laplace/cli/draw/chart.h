/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures of a survey, as SVG and as CSV.
 *
 * They are drawn here and not by gnuplot, which draws the curves of `laplace sim`: a report
 * has to be one page that needs nothing else, gnuplot has nothing like a timeline with marks,
 * and so the same picture stands in the report and in a file of its own, with no program
 * to be installed.
 */
#ifndef LAPLACE_CLI_DRAW_CHART_H
#define LAPLACE_CLI_DRAW_CHART_H

#include "cli/report/report.h"
#include "svg.h"

enum chart_kind { CHART_TIMELINE, CHART_FOOTPRINT, CHART_PROCESSES, CHART_HEATMAP, CHARTS };

/* Who ran: the first report->top tasks, in the order in which they began; and the marks. */
void chart_timeline(const struct report *report, FILE *out);
/* Pages alive by kind, and the working set. */
void chart_footprint(const struct report *report, FILE *out);
/* Pages alive that the largest processes have referenced. */
void chart_processes(const struct report *report, FILE *out);
/* References by page, in the order of first touch, and time. */
void chart_heatmap(const struct report *report, FILE *out);

/* The numbers of each: a line for each value that is not 0, below a line of names. */
void chart_csv(enum chart_kind kind, const struct report *report, FILE *out);

/* With characters (report_text.c). */
void report_text_chart(const struct report *report, enum chart_kind chart, FILE *out);

/* ---- what they share ---- */

#define CHART_WIDTH 960

/* Of a kind of page; colours are told apart by those who see fewer of them. */
const char *chart_kind_colour(enum lpl_page_kind kind);
/* Of the i-th of several lines. */
#define CHART_COLOURS 8
extern const char *const chart_colour[CHART_COLOURS];

/* The axis of time: how many of its units a step of the survey's clock is, and its name. */
double chart_time_unit(const struct report *report);
void chart_time_axis(const struct report *report, const struct svg_field *field, FILE *out);
/* In its units: where a bin begins (no later than the end), and the end. */
double chart_bin_time(const struct report *report, unsigned int bin);
double chart_end_time(const struct report *report);
/* Marks as numbers above the field and lines in it; the same numbers stand in the list. */
void chart_marks(const struct report *report, const struct svg_field *field, FILE *out);
/* What the numbers are, from (x, y) down, in columns; returns the height that is needed. */
double chart_mark_list(const struct report *report, double x, double y, FILE *out);

#endif
