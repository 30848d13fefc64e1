/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures of a trace: as SVG and PNG, with characters, and as numbers (CSV).
 *
 * They are drawn here, as curves are (curves.h), with no program to be installed: a report has to be
 * one page that needs nothing else, and the same picture stands in it and in a file of its own.
 */
#ifndef LAPLACE_CLI_DRAW_CHART_H
#define LAPLACE_CLI_DRAW_CHART_H

#include "cli/surveyed_trace.h"
#include "series.h"
#include "svg.h"

/* Faults over time, of policies at sizes. */
struct faults_chart {
	/* first, so that one is the other; of its survey there is nothing but the time */
	struct surveyed_trace trace;
	const char *addresses;		/* what pages are: "canonical" or "virtual" */
	struct faults_line {
		const char *policy;
		uint64_t size;
		bool timed;		/* the size is a time, in references */
		uint64_t all;		/* its faults ... */
		uint64_t faults[LPL_SURVEY_BINS];	/* ... and when they were taken */
	} *line;
	size_t lines, room;
};
#define FAULTS_LINES SERIES		/* as many as a picture has; CSV has any number */

/* ---- as SVG ---- */

/* What ran: the first trace->top tasks, in the order in which they began; and the marks. */
void chart_timeline(const struct surveyed_trace *trace, FILE *out);
/* Pages alive by kind, and the working set. */
void chart_footprint(const struct surveyed_trace *trace, FILE *out);
/* Pages alive that the largest processes have referenced. */
void chart_processes(const struct surveyed_trace *trace, FILE *out);
/* References by page, in the order of first references, and time. */
void chart_heatmap(const struct surveyed_trace *trace, FILE *out);
/* The trace is a faults_chart's. */
void chart_faults(const struct surveyed_trace *trace, FILE *out);

/* ---- their numbers, a line for each that is not 0, as CSV ---- */

void chart_timeline_csv(const struct surveyed_trace *trace, FILE *out);
void chart_footprint_csv(const struct surveyed_trace *trace, FILE *out);
void chart_processes_csv(const struct surveyed_trace *trace, FILE *out);
void chart_heatmap_csv(const struct surveyed_trace *trace, FILE *out);
void chart_faults_csv(const struct surveyed_trace *trace, FILE *out);

/* ---- with characters; the others have tables (report/report_page.c) ---- */

void chart_heatmap_text(const struct surveyed_trace *trace, FILE *out);
void chart_faults_text(const struct surveyed_trace *trace, FILE *out);

/* ---- what those as SVG share (chart.c) ---- */

#define CHART_WIDTH 960

/* Of a kind of page; the colour-blind can distinguish these. */
const char *chart_kind_colour(enum lpl_page_kind kind);
#define CHART_FONT 13

/* The axis of time: how many of its units a step of the survey's clock is, and its name. */
double chart_time_unit(const struct surveyed_trace *trace);
void chart_time_axis(const struct surveyed_trace *trace, const struct svg_field *field, FILE *out);
/* Its end, in its units; and where a bin begins in a field, no later than there. */
double chart_end_time(const struct surveyed_trace *trace);
double chart_bin(const struct surveyed_trace *trace, const struct svg_field *field, unsigned int bin);
/*
 * The path of a value for each bin, each of which holds over the whole bin; where it is 0 and `has_gaps`,
 * there is no line.
 */
void chart_steps(const struct surveyed_trace *trace, const struct svg_field *field,
		 const uint64_t value[LPL_SURVEY_BINS], bool has_gaps, FILE *out);
/* The values of a series. */
void chart_values(const struct lpl_time_series *series, uint64_t value[LPL_SURVEY_BINS]);
uint64_t chart_most(const uint64_t value[LPL_SURVEY_BINS]);
/* Marks as numbers above the field and lines in it; the same numbers stand in the list. */
void chart_marks(const struct surveyed_trace *trace, const struct svg_field *field, FILE *out);
/* What the numbers are, from (x, y) down, in columns; returns the height that is needed. */
double chart_mark_list(const struct surveyed_trace *trace, double x, double y, FILE *out);

/* ---- lines over time, of characters (strip.c) ---- */

#define STRIP 32	/* columns in a table, at most */

/* "|  .#+ |" */
struct strip {
	char text[3 * LPL_SURVEY_BINS + 3];
};

struct strip strip_of(const char *text, unsigned int columns);

/* The column of a bin, where there is room for so many. */
static inline unsigned int strip_column(unsigned int bin, unsigned int bins, unsigned int room)
{
	return bins <= room ? bin : bin * room / bins;
}

struct strip_way {
	unsigned int room;
	bool has_sums;		/* a column stands for the sum of its bins, not for the most of them */
	bool has_utf8;
	uint64_t most;		/* the highest; 0: that of these columns */
};
/* By height: nothing where there is none, and something where is. */
struct strip level_strip(const uint64_t value[LPL_SURVEY_BINS], unsigned int bins,
			 const struct strip_way *way);
/* The most in each of a table's columns. */
struct strip series_strip(const struct lpl_survey *survey, const struct lpl_time_series *series,
			  uint64_t most);

#endif
