/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing a survey, and the three forms of a report, by what a guest may send (guest.h): its
 * names are shown on terminals, in JSON and in HTML.  The first byte chooses the clock, and how
 * many tasks and processes have records of their own.
 */
#include <stdio.h>

#include <jansson.h>

#include "cli/report/report.h"

#include "guest.h"

/* ---- what a terminal, and a reader, may get ---- */

/* Plain text: no byte that a terminal would obey, and valid UTF-8 (our own signs). */
static void check_text(const char *text, size_t size)
{
	json_t *string = json_stringn(text, size);	/* NULL: no UTF-8 */

	require(string != NULL);
	json_decref(string);
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)text[i];

		require(byte >= ' ' ? byte != 0x7f : byte == '\n' || byte == '\t');
		/* U+0080 to U+009f are controls, too */
		require(byte != 0xc2 || (unsigned char)text[i + 1] >= 0xa0);
	}
}

static void check_json(const char *text, size_t size)
{
	json_t *json = json_loadb(text, size, 0, NULL);

	check_text(text, size);
	require(json_is_object(json));
	json_decref(json);
}

/* Every < begins one of our own elements, so none is a guest's. */
static void check_html(const char *text, size_t size)
{
	static const char *const element[] = {
		"!DOCTYPE", "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div",
		"b", "span", "ul", "li", "table", "tr", "th", "td", "svg", "g", "rect", "line",
		"polyline", "path", "text", "circle", "polygon", "tspan", "defs", "clipPath"
	};
	const char *end = text + size;

	check_text(text, size);
	for (const char *at = text; (at = memchr(at, '<', (size_t)(end - at))); ) {
		bool is_ours = false;

		at += at[1] == '/' ? 2 : 1;
		for (size_t i = 0; i < sizeof(element) / sizeof(element[0]); i++) {
			size_t length = strlen(element[i]);

			is_ours |= (size_t)(end - at) > length &&
				   strncmp(at, element[i], length) == 0 &&
				   strchr(" >/\n", at[length]) != NULL;
		}
		require(is_ours);
	}
}

/* ---- a report ---- */

static void write_json(const struct surveyed_trace *trace, FILE *out)
{
	require(report_json(trace, out) == 0);
}

static void check_form(const struct surveyed_trace *trace,
		       void (*write_form)(const struct surveyed_trace *trace, FILE *out),
		       void (*check)(const char *text, size_t size))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	require(out != NULL);
	write_form(trace, out);
	require(fclose(out) == 0);
	check(text, size);
	free(text);
}

/* In any order: that is the reader's. */
static void list_all(struct surveyed_trace *trace)
{
	const struct lpl_survey *survey = trace->survey;

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
	list_all(&trace);
	check_form(&trace, report_text, check_text);
	check_form(&trace, report_html, check_html);
	check_form(&trace, write_json, check_json);
	surveyed_trace_close(&trace);
	lpl_meta_free(meta);
	return 0;
}
