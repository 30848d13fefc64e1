/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the charts share: colours, time, marks, and the numbers behind them; see chart.h.
 */
#include <inttypes.h>
#include <string.h>

#include "chart.h"

/* Okabe and Ito's. */
const char *const chart_colour[CHART_COLOURS] = {
	"#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c7a00", "#555555"
};

const char *chart_kind_colour(enum lpl_page_kind kind)
{
	static const char *const colour[LPL_PAGE_KINDS] = {
		[LPL_PAGE_ANONYMOUS] = "#e69f00", [LPL_PAGE_FILE] = "#0072b2",
		[LPL_PAGE_SHM] = "#009e73", [LPL_PAGE_SPECIAL] = "#cc79a7",
		[LPL_PAGE_CACHE] = "#56b4e9", [LPL_PAGE_KERNEL] = "#9a9a9a",
		[LPL_PAGE_PHYSICAL] = "#555555", [LPL_PAGE_UNRESOLVED] = "#d6cfa6"
	};

	return colour[kind];
}

/* ---- time ---- */

double chart_time_unit(const struct report *report)
{
	uint64_t second = report_cycles_a_second(report->trace);

	return report->survey->clock == CLOCK_CYCLES && second ? 1 / (double)second : 1;
}

double chart_end_time(const struct report *report)
{
	uint64_t end = report->survey->now ? report->survey->now : 1;

	return (double)end * chart_time_unit(report);
}

double chart_bin_time(const struct report *report, unsigned int bin)
{
	double time = (double)((uint64_t)bin << report->survey->axis.shift) *
		      chart_time_unit(report);
	double end = chart_end_time(report);

	return time < end ? time : end;
}

void chart_time_axis(const struct report *report, const struct svg_field *field, FILE *out)
{
	bool seconds = report->survey->clock == CLOCK_CYCLES &&
		       report_cycles_a_second(report->trace);

	svg_x_axis(out, field, seconds ? "seconds of the guest's time" :
		   survey_clock_name[report->survey->clock]);
}

/* ---- marks ---- */

#define MARK_WIDTH 15	/* of a number above the field */
#define MARK_COLUMNS 5

static uint64_t marks_kept(const struct survey *survey)
{
	return survey->marks < SURVEY_MARKS ? survey->marks : SURVEY_MARKS;
}

void chart_marks(const struct report *report, const struct svg_field *field, FILE *out)
{
	const struct survey *survey = report->survey;
	double last = -MARK_WIDTH, last_line = -MARK_WIDTH;
	char number[24];

	for (uint64_t i = 0; i < marks_kept(survey); i++) {
		double x = svg_x(field, (double)survey->mark[i].time * chart_time_unit(report));

		/* where they are near one another the first stands for all */
		if (x - last_line >= 3) {
			svg_line(out, x, field->top - 2, x, field->top + field->height, "#999",
				 true);
			last_line = x;
		}
		if (x - last < MARK_WIDTH)
			continue;
		snprintf(number, sizeof(number), "%" PRIu64, i + 1);
		svg_text(out, x, field->top - 5, SVG_MIDDLE, SVG_GREY, number);
		last = x;
	}
}

double chart_mark_list(const struct report *report, double x, double y, FILE *out)
{
	const struct survey *survey = report->survey;
	uint64_t count = marks_kept(survey), rows = (count + MARK_COLUMNS - 1) / MARK_COLUMNS;
	char text[64];

	if (!count)
		return 0;
	for (uint64_t i = 0; i < count && out; i++) {
		uint64_t column = i / rows;	/* which holds some 24 characters */

		snprintf(text, sizeof(text), "%" PRIu64 " %.20s", i + 1, survey->mark[i].text);
		svg_text(out, x + (double)column * (CHART_WIDTH - x - 10) / MARK_COLUMNS,
			 y + (double)(i % rows) * 16, SVG_LEFT, SVG_GREY, text);
	}
	return (double)rows * 16 + 8;
}

/* ---- the numbers ---- */

static uint64_t start_of(const struct survey *survey, unsigned int bin)
{
	return (uint64_t)bin << survey->axis.shift;
}

/* The bins of a task, or of all that are told of in sum, which wait for different things. */
static void task_csv(const struct survey *survey, const struct survey_task *task, FILE *out)
{
	for (unsigned int bin = 0; bin < survey_bins(survey); bin++) {
		uint64_t runs = series_get(&task->doing[SURVEY_RUNS], bin);
		uint64_t ready = series_get(&task->doing[SURVEY_READY], bin);
		uint64_t blocked = series_get(&task->doing[SURVEY_BLOCKED], bin);
		uint64_t references = series_get(&task->referenced, bin);

		if (!(runs | ready | blocked | references))
			continue;
		if (task == &survey->other_task) {
			fprintf(out, "%" PRIu64 ",,,,\"%" PRIu64 " others\",%" PRIu64 ",,,%"
				PRIu64 "\n", start_of(survey, bin), survey->other_tasks, runs,
				references);
			continue;
		}
		fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",",
			start_of(survey, bin), task->serial, task->tid, task->tgid);
		lpl_text_print_cell(out, task->name);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", runs, ready,
			blocked, references);
	}
}

static void timeline_csv(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;

	fprintf(out, "%s,task,tid,tgid,name,runs,ready,blocked,references\n",
		survey_clock_name[survey->clock]);
	for (uint64_t i = 0; i < report->tasks; i++)
		task_csv(survey, report->task[i], out);
	task_csv(survey, &survey->other_task, out);
}

static void footprint_csv(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;

	fputs(survey_clock_name[survey->clock], out);
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (kind != LPL_PAGE_CACHE)
			fprintf(out, ",%s", lpl_page_kind_name((enum lpl_page_kind)kind));
	}
	fputs(",working_set\n", out);
	for (unsigned int bin = 0; bin < survey_bins(survey); bin++) {
		fprintf(out, "%" PRIu64, start_of(survey, bin));
		for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
			if (kind != LPL_PAGE_CACHE)
				fprintf(out, ",%" PRIu64, series_get(&survey->resident[kind], bin));
		}
		fprintf(out, ",%" PRIu64 "\n", survey_working_set(survey, bin));
	}
}

static void processes_csv(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;

	fprintf(out, "%s,process,tgid,name,pages\n", survey_clock_name[survey->clock]);
	for (uint64_t i = 0; i < report->processes; i++) {
		const struct survey_process *process = report->process[i];

		for (unsigned int bin = 0; bin < survey_bins(survey); bin++) {
			if (!series_get(&process->resident, bin))
				continue;
			fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",", start_of(survey, bin),
				process->number, process->tgid);
			lpl_text_print_cell(out, process->name);
			fprintf(out, ",%" PRIu64 "\n", series_get(&process->resident, bin));
		}
	}
}

static void heatmap_csv(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;

	fprintf(out, "%s,first_page,pages,references\n", survey_clock_name[survey->clock]);
	for (unsigned int bin = 0; bin < survey_bins(survey); bin++) {
		for (unsigned int row = 0; row < HEAT_ROWS; row++) {
			if (survey->heat[row][bin])
				fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
					start_of(survey, bin),
					(uint64_t)row << survey->heat_shift,
					UINT64_C(1) << survey->heat_shift, survey->heat[row][bin]);
		}
	}
}

void chart_csv(enum chart_kind kind, const struct report *report, FILE *out)
{
	static void (*const write[CHARTS])(const struct report *report, FILE *out) = {
		timeline_csv, footprint_csv, processes_csv, heatmap_csv
	};

	write[kind](report, out);
}
