/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The timeline: a row for each task.  A bar is as high as the part of the bin in which the task
 * ran; below it a line shows that it was ready, or blocked.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "chart.h"

#define ROW 22
#define BAR 15
#define RUNS "#0072b2"
#define READY "#e69f00"
#define BLOCKED "#c9c9c9"

static int by_begin(const void *a, const void *b)
{
	const struct lpl_survey_task *one = *(const struct lpl_survey_task *const *)a;
	const struct lpl_survey_task *other = *(const struct lpl_survey_task *const *)b;

	if (one->begin != other->begin)
		return one->begin < other->begin ? -1 : 1;
	return one->serial < other->serial ? -1 : 1;
}

/* Of the last bin only what the trace reaches. */
static uint64_t width_of(const struct lpl_survey_time *time, unsigned int bin)
{
	uint64_t start = lpl_survey_bin_start(time, bin), width = lpl_survey_bin_start(time, 1);

	return time->length - start < width && time->length > start ? time->length - start : width;
}

static void draw_runs(const struct surveyed_trace *trace, const struct lpl_survey_task *task,
		      const struct svg_field *field, double bottom, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	bool pen = false;

	fprintf(out, "<path fill=\"%s\" d=\"", RUNS);
	for (unsigned int bin = 0; bin <= survey->time->bins; bin++) {
		uint64_t runs = bin < survey->time->bins ?
			lpl_time_series_get(&task->activity[LPL_SURVEY_RUNNING], bin) : 0;
		double height = BAR * share_of(runs, width_of(survey->time, bin));

		/* steps, and down at the end of a stretch; what there is has to be seen */
		if (runs && !pen)
			fprintf(out, "M%.1f %.1f", chart_bin(trace, field, bin), bottom);
		if (runs)
			fprintf(out, "V%.1fH%.1f", bottom - (height < 1.5 ? 1.5 : height),
				chart_bin(trace, field, bin + 1));
		else if (pen)
			fprintf(out, "V%.1fz", bottom);
		pen = runs != 0;
	}
	fputs("\"/>\n", out);
}

/* What it did most when it did not run: stretches of bins with one line each. */
static void draw_waits(const struct surveyed_trace *trace, const struct lpl_survey_task *task,
		       const struct svg_field *field, double y, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	unsigned int from = 0;
	int before = -1;

	for (unsigned int bin = 0; bin <= survey->time->bins; bin++) {
		uint64_t ready = lpl_time_series_get(&task->activity[LPL_SURVEY_READY], bin);
		uint64_t blocked = lpl_time_series_get(&task->activity[LPL_SURVEY_BLOCKED], bin);
		int now = bin == survey->time->bins || !(ready | blocked) ? -1 :
			  ready > blocked ? LPL_SURVEY_READY : LPL_SURVEY_BLOCKED;

		if (now == before)
			continue;
		if (before >= 0) {
			double x = chart_bin(trace, field, from);

			svg_rect(out, x, y, chart_bin(trace, field, bin) - x, 3,
				 before == LPL_SURVEY_READY ? READY : BLOCKED);
		}
		from = bin;
		before = now;
	}
}

static void draw_rows(const struct surveyed_trace *trace, const struct lpl_survey_task **task,
		      uint64_t count, const struct svg_field *field, FILE *out)
{
	uint64_t time = trace->survey->tasks->running;
	char text[64];

	for (uint64_t i = 0; i < count; i++) {
		double bottom = field->top + (double)(i + 1) * ROW - 5;

		svg_line(out, field->left, bottom + 5, field->left + field->width, bottom + 5,
			 "#f0f0f0", false);
		draw_waits(trace, task[i], field, bottom + 0.5, out);
		draw_runs(trace, task[i], field, bottom, out);
		snprintf(text, sizeof(text), "%.15s (%" PRIu32 ")", task[i]->name, task[i]->tid);
		svg_text(out, field->left - 8, bottom - 2, SVG_RIGHT, SVG_INK, text);
		snprintf(text, sizeof(text), "%.1f%%",
			 100 * share_of(task[i]->time[LPL_SURVEY_RUNNING], time));
		svg_text(out, field->left + field->width + 8, bottom - 2, SVG_LEFT, SVG_GREY, text);
	}
}

void chart_timeline(const struct surveyed_trace *trace, FILE *out)
{
	const uint64_t count = trace_shown(trace, trace->tasks);
	const struct lpl_survey_task **task = calloc(count + 1, sizeof(*task));
	struct svg_field field = {
		.left = 165, .top = 52, .width = CHART_WIDTH - 165 - 60,
		.height = (double)count * ROW, .x_end = chart_end_time(trace), .y_end = 1
	};
	double list = field.top + field.height + 62, key;

	svg_begin(out, CHART_WIDTH, list + chart_mark_list(trace, 30, list, NULL) - 12, CHART_FONT,
		  "which task ran over time");
	for (uint64_t i = 0; task && i < count; i++)
		task[i] = trace->task[i];
	if (task)
		qsort(task, count, sizeof(struct survey_task *), by_begin);
	chart_time_axis(trace, &field, out);
	chart_marks(trace, &field, out);
	if (task)
		draw_rows(trace, task, count, &field, out);
	key = svg_key(out, field.left, 16, RUNS, "runs (as high as its part of the time)");
	key = svg_key(out, key, 16, READY, "ready");
	svg_key(out, key, 16, BLOCKED, "blocked");
	svg_text(out, CHART_WIDTH - 8, 16, SVG_RIGHT, SVG_GREY, "share of the time");
	chart_mark_list(trace, 30, list, out);
	svg_end(out);
	free(task);
}
