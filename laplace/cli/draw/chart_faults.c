/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Faults over time; see chart.h. */
#include <inttypes.h>

#include "chart.h"
#include "cli/say.h"
#include "log_axis.h"
#include "terminal.h"

#define HEIGHT 320
#define TOP 76		/* with one line of the legend */
#define LEGEND 22	/* a line of it, which has so many columns: */
#define COLUMNS 4
#define APART 16	/* bins from a mark to the next one of its line, at least */

static const struct faults_chart *chart_of(const struct surveyed_trace *trace)
{
	return (const struct faults_chart *)trace;
}

/* "lru, 1024 pages (4M)", "ws, 1000 references" */
static void name_line(const struct surveyed_trace *trace, const struct faults_line *line, char *text,
		      size_t size)
{
	char pages[LOG_LABEL], bytes[LOG_LABEL];

	if (line->timed)
		snprintf(text, size, "%.30s, tau %" PRIu64, line->policy, line->size);
	else if (trace->kind.page_size == 0)
		snprintf(text, size, "%.30s, %s pages", line->policy,
			 log_axis_pages(pages, (double)line->size));
	else
		snprintf(text, size, "%.30s, %s pages (%s)", line->policy,
			 log_axis_pages(pages, (double)line->size),
			 log_axis_bytes(bytes, (double)line->size * (double)trace->kind.page_size));
}

/* ---- as SVG ---- */

static void draw_line(const struct surveyed_trace *trace, const struct svg_field *field, size_t i,
		      FILE *out)
{
	const uint64_t *faults = chart_of(trace)->line[i].faults;

	series_begin_path(out, i, 1.8);
	chart_steps(trace, field, faults, false, out);
	series_end_path(out);
	for (unsigned int bin = 0, next = (unsigned int)(series_offset(i) * APART);
	     bin < trace->survey->time->bins; bin++) {
		if (bin < next || !faults[bin])
			continue;
		series_mark(out, i, (chart_bin(trace, field, bin) + chart_bin(trace, field, bin + 1)) / 2,
			    svg_y(field, (double)faults[bin]));
		next = bin + APART;
	}
}

/* "faults in each 2.62 ms of the guest's time" */
static void name_bins(const struct surveyed_trace *trace, char *text, size_t size)
{
	const struct lpl_survey_time *time = trace->survey->time;
	const uint64_t width = lpl_survey_bin_start(time, 1);
	char number[CLI_HUMAN_SIZE];

	if (time->clock == LPL_SURVEY_CYCLES && trace->kind.cycles_a_second)
		snprintf(text, size, "faults in each %.4g ms of the guest's time",
			 1000 * (double)width / (double)trace->kind.cycles_a_second);
	else
		snprintf(text, size, "faults in each %s %s", cli_human(number, width),
			 lpl_survey_clock_name(time->clock));
}

void chart_faults(const struct surveyed_trace *trace, FILE *out)
{
	const struct faults_chart *chart = chart_of(trace);
	struct svg_field field = {
		.left = 76, .width = CHART_WIDTH - 76 - 24, .height = HEIGHT,
		.x_end = chart_end_time(trace), .y_end = 1
	};
	const size_t more_rows = (chart->lines - 1) / COLUMNS;	/* of the legend */
	char text[160], label[200];

	field.top = TOP + LEGEND * (double)more_rows;
	for (size_t i = 0; i < chart->lines; i++) {
		const double most = 1.04 * (double)chart_most(chart->line[i].faults);

		field.y_end = most > field.y_end ? most : field.y_end;
	}
	name_bins(trace, text, sizeof(text));
	svg_begin(out, CHART_WIDTH, field.top + HEIGHT + 48, CHART_FONT, "faults over time");
	chart_time_axis(trace, &field, out);
	snprintf(label, sizeof(label), "%s (%s pages)", text, chart->addresses);
	svg_y_axis(out, &field, label);
	/* the first line is drawn last: where they meet, it is the one seen */
	for (size_t i = chart->lines; i-- > 0;)
		draw_line(trace, &field, i, out);
	for (size_t i = 0; i < chart->lines; i++) {
		const size_t row = i / COLUMNS;
		const double x = 20 + (double)(i % COLUMNS) * (CHART_WIDTH - 20) / COLUMNS;
		const double y = 16 + LEGEND * (double)row;

		name_line(trace, &chart->line[i], text, sizeof(text));
		series_sample(out, i, x, y, 1.8);
		svg_text(out, x + SERIES_SAMPLE + 6, y + 5, SVG_LEFT, SVG_INK, text);
	}
	svg_end(out);
}

/* ---- with characters ---- */

#define LABEL 43	/* of a line, before its strip */

void chart_faults_text(const struct surveyed_trace *trace, FILE *out)
{
	const struct faults_chart *chart = chart_of(trace);
	const struct terminal terminal = terminal_of(out);
	const int room = terminal.columns < LABEL + 20 ? 20 - 3 : terminal.columns - LABEL - 3;
	const struct strip_way way = { .room = (unsigned int)room, .has_sums = true,
				       .has_utf8 = terminal.has_utf8 };
	char text[160], heading[32];

	name_bins(trace, text, sizeof(text));
	snprintf(heading, sizeof(heading), "FAULTS, %s pages", chart->addresses);
	fprintf(out, "\n%-31s %10s %s\n", heading, "in all", text);
	for (size_t i = 0; i < chart->lines; i++) {
		name_line(trace, &chart->line[i], text, sizeof(text));
		fprintf(out, "%-31s %10" PRIu64 " %s\n", text, chart->line[i].all,
			level_strip(chart->line[i].faults, trace->survey->time->bins, &way).text);
	}
}

/* ---- as numbers ---- */

void chart_faults_csv(const struct surveyed_trace *trace, FILE *out)
{
	const struct faults_chart *chart = chart_of(trace);
	const struct lpl_survey_time *time = trace->survey->time;

	fprintf(out, "%s,policy,size,faults,addresses\n", lpl_survey_clock_name(time->clock));
	for (size_t i = 0; i < chart->lines; i++) {
		const struct faults_line *line = &chart->line[i];

		for (unsigned int bin = 0; bin < time->bins; bin++) {
			if (line->faults[bin])
				fprintf(out, "%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%s\n",
					lpl_survey_bin_start(time, bin), line->policy, line->size,
					line->faults[bin], chart->addresses);
		}
	}
}
