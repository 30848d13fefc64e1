/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What charts share that are drawn as SVG: colours, time and marks; see chart.h.
 */
#include <inttypes.h>

#include "chart.h"

const char *chart_kind_colour(enum lpl_page_kind kind)
{
	static const char *const colour[LPL_PAGE_KINDS] = {
		[LPL_PAGE_ANONYMOUS] = "#e69f00", [LPL_PAGE_FILE] = "#0072b2",
		[LPL_PAGE_SHM] = "#009e73", [LPL_PAGE_SPECIAL] = "#cc79a7",
		[LPL_PAGE_CACHE] = "#56b4e9", [LPL_PAGE_KERNEL] = "#d0d0d0",
		[LPL_PAGE_PHYSICAL] = "#555555", [LPL_PAGE_UNRESOLVED] = "#8c7a00"
	};

	return colour[kind];
}

/* ---- time ---- */

double chart_time_unit(const struct surveyed_trace *trace)
{
	uint64_t second = trace->kind.cycles_a_second;

	return trace->survey->time->clock == LPL_SURVEY_CYCLES && second ? 1 / (double)second : 1;
}

double chart_end_time(const struct surveyed_trace *trace)
{
	uint64_t end = trace->survey->time->length ? trace->survey->time->length : 1;

	return (double)end * chart_time_unit(trace);
}

double chart_bin(const struct surveyed_trace *trace, const struct svg_field *field, unsigned int bin)
{
	double time = (double)lpl_survey_bin_start(trace->survey->time, bin) *
		      chart_time_unit(trace);
	double end = chart_end_time(trace);

	return svg_x(field, time < end ? time : end);
}

void chart_time_axis(const struct surveyed_trace *trace, const struct svg_field *field, FILE *out)
{
	const struct lpl_survey_clocks *first = &trace->survey->time->first;
	const enum lpl_survey_clock clock = trace->survey->time->clock;
	const uint64_t second = trace->kind.cycles_a_second;
	char text[160];

	if (clock == LPL_SURVEY_CYCLES && second)
		snprintf(text, sizeof(text), "seconds of the guest's time since the recording began, "
			 "%.3f s after power-on", (double)first->cycle / (double)second);
	else if (clock == LPL_SURVEY_REFERENCES)
		snprintf(text, sizeof(text), "references since the recording began");
	else
		snprintf(text, sizeof(text), "%s since the recording began, %" PRIu64
			 " after power-on", lpl_survey_clock_name(clock),
			 clock == LPL_SURVEY_CYCLES ? first->cycle : first->instr);
	svg_x_axis(out, field, text);
}

void chart_steps(const struct surveyed_trace *trace, const struct svg_field *field,
		 const uint64_t value[LPL_SURVEY_BINS], bool has_gaps, FILE *out)
{
	bool pen = false;

	for (unsigned int bin = 0; bin < trace->survey->time->bins; bin++) {
		const double y = svg_y(field, (double)value[bin]);
		const bool is_gap = has_gaps && value[bin] == 0;

		if (!is_gap)
			fprintf(out, "%c%.1f %.1fL%.1f %.1f", pen ? 'L' : 'M',
				chart_bin(trace, field, bin), y, chart_bin(trace, field, bin + 1), y);
		pen = !is_gap;
	}
}

void chart_values(const struct lpl_time_series *series, uint64_t value[LPL_SURVEY_BINS])
{
	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++)
		value[bin] = lpl_time_series_get(series, bin);
}

uint64_t chart_most(const uint64_t value[LPL_SURVEY_BINS])
{
	uint64_t most = 0;

	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++)
		most = value[bin] > most ? value[bin] : most;
	return most;
}

/* ---- marks ---- */

#define MARK_WIDTH 15	/* of a number above the field */
#define MARK_COLUMNS 5

void chart_marks(const struct surveyed_trace *trace, const struct svg_field *field, FILE *out)
{
	const struct lpl_survey_events *events = trace->survey->events;
	double last = -MARK_WIDTH, last_line = -MARK_WIDTH;
	char number[24];

	for (unsigned int i = 0; i < events->marks_kept; i++) {
		double x = svg_x(field, (double)events->mark[i].time * chart_time_unit(trace));

		/* where they are near one another the first stands for all */
		if (x - last_line >= 3) {
			svg_line(out, x, field->top - 2, x, field->top + field->height, "#999",
				 true);
			last_line = x;
		}
		if (x - last < MARK_WIDTH)
			continue;
		snprintf(number, sizeof(number), "%u", i + 1);
		svg_text(out, x, field->top - 5, SVG_MIDDLE, SVG_GREY, number);
		last = x;
	}
}

double chart_mark_list(const struct surveyed_trace *trace, double x, double y, FILE *out)
{
	const struct lpl_survey_events *events = trace->survey->events;
	unsigned int count = events->marks_kept, rows = (count + MARK_COLUMNS - 1) / MARK_COLUMNS;
	char text[64];

	if (!count)
		return 0;
	for (unsigned int i = 0; i < count && out; i++) {
		unsigned int column = i / rows;	/* which holds some 24 characters */

		snprintf(text, sizeof(text), "%u %.20s", i + 1, events->mark[i].text);
		svg_text(out, x + column * (CHART_WIDTH - x - 10) / MARK_COLUMNS,
			 y + i % rows * 16, SVG_LEFT, SVG_GREY, text);
	}
	return rows * 16 + 8;
}
