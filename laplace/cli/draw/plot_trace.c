/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace plot timeline, footprint, heatmap: pictures of one trace, of the survey that
 * `laplace report` makes (chart.h says why they are not gnuplot's).
 */
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "cli/filter.h"
#include "plot.h"

static const struct {
	const char *name;
	enum chart_kind chart, by_process;
} kinds[] = {
	{ "timeline", CHART_TIMELINE, CHART_TIMELINE },
	{ "footprint", CHART_FOOTPRINT, CHART_PROCESSES },
	{ "heatmap", CHART_HEATMAP, CHART_HEATMAP }
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

bool plot_trace_knows(const char *kind)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(kinds[i].name, kind) == 0)
			return true;
	}
	return false;
}

static enum chart_kind chart_of(const char *kind, bool by_process)
{
	size_t i = 0;

	while (i < KINDS - 1 && strcmp(kinds[i].name, kind) != 0)
		i++;
	return by_process ? kinds[i].by_process : kinds[i].chart;
}

static void draw_svg(enum chart_kind chart, const struct report *report, FILE *out)
{
	static void (*const draw[CHARTS])(const struct report *report, FILE *out) = {
		chart_timeline, chart_footprint, chart_processes, chart_heatmap
	};

	draw[chart](report, out);
}

/* At twice the size, so that it is sharp. */
static int draw_png(enum chart_kind chart, const struct report *report, FILE *out)
{
	char program[] = "rsvg-convert", zoom[] = "--zoom=2", format[] = "--format=png";
	char *argv[] = { program, zoom, format, NULL };
	struct filter filter;
	int status = filter_start(&filter, argv, out, "rsvg-convert is not in $PATH: a PNG needs "
				  "it (Debian has it in librsvg2-bin); .svg does without");

	if (status)
		return status;
	draw_svg(chart, report, filter.in);
	return filter_end(&filter);
}

static int draw(enum chart_kind chart, const struct report *report, const char *format, FILE *out)
{
	if (format && strcmp(format, "png") == 0)
		return draw_png(chart, report, out);
	if (!format)
		report_text_chart(report, chart, out);
	else if (strcmp(format, "csv") == 0)
		chart_csv(chart, report, out);
	else
		draw_svg(chart, report, out);
	return CLI_DONE;
}

static int draw_survey(const struct survey *survey, const struct survey_trace *trace,
		       enum chart_kind chart, const struct plot_trace_options *options,
		       const char *format, FILE *out)
{
	struct report report;
	int status;

	if (!survey->begun)
		return cli_complain(CLI_FAILED, "%s: holds no record: there is nothing to draw",
				    trace->path);
	status = report_make(&report, survey, trace, options->top);
	if (!status)
		status = draw(chart, &report, format, out);
	report_free(&report);
	return status;
}

/* The output is opened first: who waits for a long trace shall not wait in vain. */
static int take_and_draw(struct survey *survey, enum chart_kind chart,
			 const struct plot_trace_options *options, const char *format,
			 const char *path, bool overwrite)
{
	struct survey_trace trace;
	struct cli_output output;
	int status = cli_refuse_input(path, options->survey.trace), drawn;

	if (!status)
		status = cli_output_open(&output, path, overwrite);
	if (status)
		return status;
	status = survey_take(survey, &trace, &options->survey);
	drawn = trace.taken ? draw_survey(survey, &trace, chart, options, format, output.file) :
			      CLI_FAILED;
	drawn = cli_output_close(&output, drawn);
	survey_trace_close(&trace);
	return trace.taken && drawn ? drawn : status;
}

int plot_trace(const char *kind, const struct plot_trace_options *options, const char *format,
	       const char *path, bool overwrite)
{
	struct survey *survey = malloc(sizeof(*survey));
	struct lpl_report report = { 0 };
	int status;

	if (!survey)
		return cli_complain(CLI_FAILED, "no memory");
	status = survey_init(survey, options->clock, 0, &report) ? cli_report(&report) :
		take_and_draw(survey, chart_of(kind, options->by_process), options, format, path,
			      overwrite);
	survey_free(survey);
	free(survey);
	return status;
}
