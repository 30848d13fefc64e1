/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing a survey, and the three forms of a report, by what a guest may send (guest.h): its
 * names are shown on terminals, in JSON and in HTML.  The first byte chooses the clock, and how
 * many tasks and processes have records of their own.
 */
#include <stdio.h>

#include "cli/report/report.h"

#include "../cli/shown.h"
#include "guest.h"

/* ---- a report ---- */

static void check_form(const struct surveyed_trace *trace,
		       int (*write_form)(const struct surveyed_trace *trace, FILE *out),
		       const char *(*fault)(const char *text, size_t size))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	require(out != NULL);
	require(write_form(trace, out) == 0);
	require(fclose(out) == 0);
	require(size > 0 && fault(text, size) == NULL);
	free(text);
}

/* In any order: that is the reader's. */
static void list_all(struct surveyed_trace *trace)
{
	const struct lpl_survey *survey = trace->survey;

	trace->heatmap = survey->heatmap;
	trace->tasks = survey->tasks->recorded;
	trace->processes = survey->processes->recorded;
	trace->calls = survey->calls->count;
	trace->files = survey->files->count;
	trace->task = calloc(trace->tasks + 1, sizeof(*trace->task));
	trace->process = calloc(trace->processes + 1, sizeof(*trace->process));
	trace->call = calloc(trace->calls + 1, sizeof(*trace->call));
	trace->file = calloc(trace->files + 1, sizeof(*trace->file));
	require(trace->task && trace->process && trace->call && trace->file);
	for (size_t i = 0; i < trace->tasks; i++)
		trace->task[i] = lpl_survey_task_at(survey, i);
	for (size_t i = 0; i < trace->processes; i++)
		trace->process[i] = lpl_survey_process_at(survey, i);
	for (size_t i = 0; i < trace->calls; i++)
		trace->call[i] = &survey->calls->call[i];
	for (size_t i = 0; i < trace->files; i++)
		trace->file[i] = &survey->files->file[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lpl_survey_options options = { .hottest = 3 };
	struct surveyed_trace trace = { .path = "trace", .top = 5 };
	struct guest guest = { .is_orderly = true };
	struct lpl_meta *meta = lpl_meta_new();

	require(meta != NULL);
	if (size > 0) {
		options.clock = (enum lpl_survey_clock)(data[0] % LPL_SURVEY_CLOCKS);
		options.records = data[0] >> 2 & 7;
		guest.input = (struct input){ data + 1, size - 1 };
	}
	require(lpl_survey_open(&trace.survey, &options, NULL) == LPL_OK);
	guest.sink = lpl_survey_sink(trace.survey);
	guest_run(&guest);
	trace.meta = meta;
	trace.kind = cli_trace_kind(meta);
	list_all(&trace);
	check_form(&trace, report_text, shown_text);
	check_form(&trace, report_html, shown_markup);
	check_form(&trace, report_json, shown_json);
	surveyed_trace_close(&trace);
	lpl_meta_free(meta);
	return 0;
}
