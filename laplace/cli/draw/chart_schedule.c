/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks and processors over time; see chart_schedule.h.  A lane for each process or task shows how
 * many of its tasks run, with those above that wait for a page, and above these the ready ones.
 * Below are the machine's faults, and how many processors are busy.
 */
#include "chart_schedule.h"

#include <inttypes.h>
#include <math.h>

#include "chart.h"
#include "cli/say.h"
#include "terminal.h"

#define LANE 27
#define LANE_BAR 21
#define PANEL 96		/* of faults, and of processors */
#define ABOVE 46		/* a panel: its label */
#define LEFT 165
#define RIGHT 120
#define RUNS "#0072b2"
#define PAGES "#e58a4e"
#define READY "#f3c969"
#define LIVES "#bdbdbd"

static uint64_t width_of(const struct schedule_chart *chart, unsigned int bin)
{
	const uint64_t begin = lpl_survey_bin_start(&chart->time, bin);
	const uint64_t end = lpl_survey_bin_start(&chart->time, bin + 1);

	return (end < chart->time.length ? end : chart->time.length) - begin;
}

/* How many did so, on average, in a bin. */
static double level_of(const struct schedule_chart *chart, uint64_t cycles, unsigned int bin)
{
	const uint64_t width = width_of(chart, bin);

	return width ? (double)cycles / (double)width : 0;
}

static uint64_t in_lane(const struct schedule_lane *lane, unsigned int bin)
{
	return lane->running[bin] + lane->paging[bin] + lane->ready[bin];
}

/* For how many tasks a lane's height is. */
static unsigned int height_of(const struct schedule_chart *chart, const struct schedule_lane *lane)
{
	double most = 1;

	for (unsigned int bin = 0; bin < chart->time.bins; bin++)
		most = fmax(most, level_of(chart, in_lane(lane, bin), bin));
	return (unsigned int)ceil(most - 1e-9);
}

/* ---- as SVG ---- */

static double x_of(const struct schedule_chart *chart, const struct svg_field *field, uint64_t cycle)
{
	const uint64_t end = chart->time.length;

	return svg_x(field, field->x_end * share_of(cycle < end ? cycle : end, end));
}

/* Steps from the field's bottom up; what is there at all has to be seen. */
static void draw_steps(const struct schedule_chart *chart, const struct svg_field *field,
		       const double value[LPL_SURVEY_BINS], const char *colour, FILE *out)
{
	const double bottom = svg_y(field, 0);
	bool pen = false;

	fprintf(out, "<path fill=\"%s\" d=\"", colour);
	for (unsigned int bin = 0; bin <= chart->time.bins; bin++) {
		const bool is_there = bin < chart->time.bins && value[bin] > 0;
		const double x = x_of(chart, field, lpl_survey_bin_start(&chart->time, bin));

		if (is_there && !pen)
			fprintf(out, "M%.1f %.1f", x, bottom);
		if (is_there)
			fprintf(out, "V%.1fH%.1f", fmin(svg_y(field, value[bin]), bottom - 1),
				x_of(chart, field, lpl_survey_bin_start(&chart->time, bin + 1)));
		else if (pen)
			fprintf(out, "V%.1fz", bottom);
		pen = is_there;
	}
	fputs("\"/>\n", out);
}

/* The higher first, so that each covers a part of it. */
static void draw_levels(const struct schedule_chart *chart, const struct schedule_lane *lane,
			const struct svg_field *field, FILE *out)
{
	double value[LPL_SURVEY_BINS];

	for (unsigned int bin = 0; bin < chart->time.bins; bin++)
		value[bin] = lane->ready[bin] ? level_of(chart, in_lane(lane, bin), bin) : 0;
	draw_steps(chart, field, value, READY, out);
	for (unsigned int bin = 0; bin < chart->time.bins; bin++)
		value[bin] = lane->paging[bin] ?
			level_of(chart, lane->running[bin] + lane->paging[bin], bin) : 0;
	draw_steps(chart, field, value, PAGES, out);
	for (unsigned int bin = 0; bin < chart->time.bins; bin++)
		value[bin] = level_of(chart, lane->running[bin], bin);
	draw_steps(chart, field, value, RUNS, out);
}

static void draw_lane(const struct schedule_chart *chart, const struct schedule_lane *lane,
		      const struct svg_field *field, FILE *out)
{
	const double bottom = svg_y(field, 0), begin = x_of(chart, field, lane->begin);
	const unsigned int height = (unsigned int)field->y_end;
	char text[64];
	int length;

	svg_line(out, field->left, bottom + 3.5, field->left + field->width, bottom + 3.5, SVG_FINE,
		 false);
	svg_rect(out, begin, bottom, x_of(chart, field, lane->end) - begin, 1.5, LIVES);
	draw_levels(chart, lane, field, out);
	svg_text(out, field->left - 8, bottom - 5, SVG_RIGHT, SVG_INK, lane->name);
	length = snprintf(text, sizeof(text), "%.1f%%",
			  100 * share_of(lane->all_running, chart->time.length) / chart->cpus);
	if (height > 1)
		snprintf(text + length, sizeof(text) - (size_t)length, ", %u tasks", height);
	svg_text(out, field->left + field->width + 8, bottom - 5, SVG_LEFT, SVG_GREY, text);
}

static void draw_lanes(const struct schedule_chart *chart, struct svg_field field, FILE *out)
{
	const double top = field.top;

	field.height = LANE_BAR;
	for (size_t i = 0; i < chart->lanes; i++) {
		field.top = top + (double)i * LANE + (LANE - LANE_BAR) - 2;
		field.y_end = height_of(chart, &chart->lane[i]);
		draw_lane(chart, &chart->lane[i], &field, out);
	}
}

/* Faults in a second, or a million cycles. */
static void draw_faults(const struct schedule_chart *chart, struct svg_field field, FILE *out)
{
	const uint64_t unit = chart->cycles_a_second ? chart->cycles_a_second : 1000000;
	double value[LPL_SURVEY_BINS];

	field.height = PANEL;
	field.y_end = 0;
	for (unsigned int bin = 0; bin < chart->time.bins; bin++) {
		value[bin] = level_of(chart, chart->faults[bin], bin) * (double)unit;
		field.y_end = fmax(field.y_end, 1.04 * value[bin]);
	}
	if (field.y_end <= 0)
		field.y_end = 1;
	svg_y_axis(out, &field, chart->cycles_a_second ? "faults a second" :
		   "faults in a million cycles");
	draw_steps(chart, &field, value, PAGES, out);
}

static void draw_busy(const struct schedule_chart *chart, struct svg_field field, FILE *out)
{
	double value[LPL_SURVEY_BINS];

	field.height = PANEL;
	field.y_end = chart->cpus;
	for (unsigned int bin = 0; bin < chart->time.bins; bin++)
		value[bin] = level_of(chart, chart->busy[bin], bin);
	svg_y_axis(out, &field, "busy processors");
	draw_steps(chart, &field, value, RUNS, out);
}

void schedule_svg(const struct schedule_chart *chart, FILE *out)
{
	const uint64_t end = chart->time.length ? chart->time.length : 1;
	struct svg_field field = {
		.left = LEFT, .top = 30, .width = CHART_WIDTH - LEFT - RIGHT,
		.x_end = (double)end / (chart->cycles_a_second ? (double)chart->cycles_a_second : 1)
	};
	const double faults = field.top + (double)chart->lanes * LANE + ABOVE;
	const double busy = faults + PANEL + ABOVE;
	double key;

	field.height = busy + PANEL - field.top;
	svg_begin(out, CHART_WIDTH, busy + PANEL + 48, CHART_FONT,
		  "what ran over time, the machine's faults and its busy processors");
	svg_x_axis(out, &field, chart->cycles_a_second ? "seconds of the machine's time" :
		   "cycles of the machine");
	draw_lanes(chart, field, out);
	field.top = faults;
	draw_faults(chart, field, out);
	field.top = busy;
	draw_busy(chart, field, out);
	key = svg_key(out, field.left, 16, RUNS, "runs");
	key = svg_key(out, key, 16, PAGES, "waits for a page");
	svg_key(out, key, 16, READY, "ready");
	svg_text(out, CHART_WIDTH - 8, 16, SVG_RIGHT, SVG_GREY, "share of the processors");
	svg_end(out);
}

/* ---- with characters ---- */

#define LABEL 27	/* of a line, before its strip */

/* The most in each column, of `whole` if that is not less than the most of all. */
static void put_strip(const char *name, const uint64_t value[LPL_SURVEY_BINS], uint64_t whole,
		      const struct schedule_chart *chart, FILE *out)
{
	const struct terminal terminal = terminal_of(out);
	const uint64_t most = chart_most(value);
	const struct strip_way way = { .room = (unsigned int)(terminal.columns - LABEL - 3),
				       .has_utf8 = terminal.has_utf8,
				       .most = whole > most ? whole : most };

	fprintf(out, "%-26.26s %s\n", name, level_strip(value, chart->time.bins, &way).text);
}

void schedule_text(const struct schedule_chart *chart, FILE *out)
{
	const uint64_t width = lpl_survey_bin_start(&chart->time, 1);

	fputs("\nRUNNING\n", out);
	for (size_t i = 0; i < chart->lanes; i++)
		put_strip(chart->lane[i].name, chart->lane[i].running, width, chart, out);
	fputs("\nTHE MACHINE\n", out);
	put_strip("faults", chart->faults, 0, chart, out);
	put_strip("busy processors", chart->busy, width * chart->cpus, chart, out);
}
