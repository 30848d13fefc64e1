/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers that charts are drawn from, as comma-separated values: a line for each that is
 * not 0, below a line of names.
 */
#include <inttypes.h>

#include "chart.h"

static uint64_t start_of(const struct lpl_survey *survey, unsigned int bin)
{
	return lpl_survey_bin_start(survey->time, bin);
}

/* The bins of a task, or of the sum of the others, which wait for different things. */
static void task_csv(const struct lpl_survey *survey, const struct lpl_survey_task *task,
		     FILE *out)
{
	for (unsigned int bin = 0; bin < survey->time->bins; bin++) {
		uint64_t runs = lpl_time_series_get(&task->activity[LPL_SURVEY_RUNNING], bin);
		uint64_t ready = lpl_time_series_get(&task->activity[LPL_SURVEY_READY], bin);
		uint64_t blocked = lpl_time_series_get(&task->activity[LPL_SURVEY_BLOCKED], bin);
		uint64_t references = lpl_time_series_get(&task->references_by_bin, bin);

		if (!(runs | ready | blocked | references))
			continue;
		if (task == survey->tasks->sum) {
			fprintf(out, "%" PRIu64 ",,,,\"%" PRIu64 " others\",%" PRIu64 ",,,%"
				PRIu64 "\n", start_of(survey, bin), survey->tasks->others, runs,
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

void chart_timeline_csv(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;

	fprintf(out, "%s,task,tid,tgid,name,runs,ready,blocked,references\n",
		lpl_survey_clock_name(survey->time->clock));
	for (uint64_t i = 0; i < trace->tasks; i++)
		task_csv(survey, trace->task[i], out);
	task_csv(survey, survey->tasks->sum, out);
}

void chart_footprint_csv(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_survey_pages *pages = survey->pages;

	fputs(lpl_survey_clock_name(survey->time->clock), out);
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (kind != LPL_PAGE_CACHE)
			fprintf(out, ",%s", lpl_page_kind_name((enum lpl_page_kind)kind));
	}
	fputs(",working_set\n", out);
	for (unsigned int bin = 0; bin < survey->time->bins; bin++) {
		fprintf(out, "%" PRIu64, start_of(survey, bin));
		for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
			if (kind != LPL_PAGE_CACHE)
				fprintf(out, ",%" PRIu64,
					lpl_time_series_get(&pages->alive_by_bin[kind], bin));
		}
		fprintf(out, ",%" PRIu64 "\n", lpl_time_series_get(&pages->working_set, bin));
	}
}

void chart_processes_csv(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;

	fprintf(out, "%s,process,tgid,name,pages\n", lpl_survey_clock_name(survey->time->clock));
	for (uint64_t i = 0; i < trace->processes; i++) {
		const struct lpl_survey_process *process = trace->process[i];

		for (unsigned int bin = 0; bin < survey->time->bins; bin++) {
			uint64_t pages = lpl_time_series_get(&process->alive_by_bin, bin);

			if (pages == 0)
				continue;
			fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",", start_of(survey, bin),
				process->number, process->tgid);
			lpl_text_print_cell(out, process->name);
			fprintf(out, ",%" PRIu64 "\n", pages);
		}
	}
}

void chart_heatmap_csv(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_survey_heatmap *map = trace->heatmap;

	fprintf(out, "%s,first_%s,%ss,references\n", lpl_survey_clock_name(survey->time->clock),
		trace->by_frame ? "frame" : "page", trace->by_frame ? "frame" : "page");
	for (unsigned int bin = 0; bin < survey->time->bins; bin++) {
		for (unsigned int row = 0; row < LPL_SURVEY_ROWS; row++) {
			if (map->references[row][bin] == 0)
				continue;
			fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
				start_of(survey, bin), (uint64_t)row << map->row_shift,
				UINT64_C(1) << map->row_shift, map->references[row][bin]);
		}
	}
}
