/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace report: one page on a whole-system trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "report.h"

enum form { TEXT, HTML, JSON, FORMS };

static const char *const form_name[FORMS] = { "text", "html", "json" };

#define DEFAULT_TOP 10
#define MOST_TOP 100000

struct options {
	enum form form;			/* FORMS: not given */
	const char *output;
	enum survey_clock clock;
	uint64_t top;
	bool overwrite, json;
	struct survey_options survey;
};

enum { OPT_KERNEL_BASE = 256, OPT_TOP, OPT_CLOCK };

static const struct argp_option option_table[] = {
	{ "output", 'o', "FILE", 0, "Where to write (standard output)", 0 },
	{ "format", 'f', "FORMAT", 0,
	  "text, html (one page that needs nothing else) or json; else as FILE's name ends: "
	  ".html, .json", 0 },
	{ "top", OPT_TOP, "N", 0, "How many lines a table has at most (10)", 0 },
	{ "clock", OPT_CLOCK, "CLOCK", 0,
	  "What time is counted in: cycles, instructions, references (cycles)", 0 },
	{ "kernel-base", OPT_KERNEL_BASE, "ADDRESS", 0,
	  "Where the kernel's half of an address space begins (what the guest tells, "
	  "else 8000000000000000); a 32-bit Linux has c0000000", 0 },
	{ 0 }
};

static void parse_form(struct options *options, const char *arg, struct argp_state *state)
{
	for (options->form = 0; options->form < FORMS; options->form++) {
		if (strcmp(form_name[options->form], arg) == 0)
			return;
	}
	argp_error(state, "no format '%s': there are text, html and json", arg);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static void check_end(struct options *options, struct argp_state *state)
{
	if (!options->survey.trace)
		argp_error(state, "which trace?");
	if (options->json && options->form != FORMS && options->form != JSON)
		argp_error(state, "--json and --format %s exclude each other",
			   form_name[options->form]);
	if (options->json)
		options->form = JSON;
	if (options->form == FORMS)
		options->form = ends_with(options->output, ".html") ? HTML :
				ends_with(options->output, ".json") ? JSON : TEXT;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->overwrite;
		state->child_inputs[1] = &options->json;
		state->child_inputs[2] = &options->survey.progress;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case 'f':
		parse_form(options, arg, state);
		return 0;
	case OPT_TOP:
		options->top = cli_number(state, "--top", arg, 1);
		if (options->top > MOST_TOP)
			argp_error(state, "--top takes a number up to %d", MOST_TOP);
		return 0;
	case OPT_CLOCK:
		options->clock = survey_parse_clock(arg, state);
		return 0;
	case OPT_KERNEL_BASE:
		options->survey.kernel_base = cli_address(state, "--kernel-base", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (options->survey.trace)
			argp_error(state, "one trace at a time");
		options->survey.trace = arg;
		return 0;
	case ARGP_KEY_END:
		check_end(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &cli_overwrite_argp, 0, NULL, 0 },
	{ &cli_json_argp, 0, NULL, 0 },
	{ &cli_progress_argp, 0, NULL, 0 },
	{ 0 }
};
static const struct argp argp = {
	option_table, parse_option, "TRACE",
	"Tell on one page who ran in TRACE, and what memory was used, shared and hot."
	"\v"
	"TRACE is a recording with the events of its guest's kernel, raw or reduced.  Where it "
	"is damaged or incomplete, what comes before is told, with status 3.",
	children, NULL, NULL
};

static int write_report(const struct report *report, enum form form, FILE *out)
{
	if (form == JSON)
		return report_json(report, out);
	if (form == HTML)
		report_html(report, out);
	else
		report_text(report, out);
	return CLI_DONE;
}

static int tell(const struct options *options, const struct survey *survey,
		const struct survey_trace *trace, FILE *out)
{
	struct report report;
	int status = report_make(&report, survey, trace, options->top);

	if (!status)
		status = write_report(&report, options->form, out);
	report_free(&report);
	return status;
}

/* The output is opened first: who waits for a long trace shall not wait in vain. */
static int make_report(const struct options *options, struct survey *survey)
{
	struct survey_trace trace;
	struct cli_output output;
	int status = cli_refuse_input(options->output, options->survey.trace), told;

	if (!status)
		status = cli_output_open(&output, options->output, options->overwrite);
	if (status)
		return status;
	status = survey_take(survey, &trace, &options->survey);
	told = trace.taken ? tell(options, survey, &trace, output.file) : CLI_FAILED;
	told = cli_output_close(&output, told);
	survey_trace_close(&trace);
	return trace.taken && told ? told : status;
}

int cmd_report(int argc, char **argv)
{
	struct options options = { .form = FORMS, .output = "-", .top = DEFAULT_TOP };
	struct survey *survey = malloc(sizeof(*survey));
	struct lpl_report report = { 0 };
	int status;

	if (!survey)
		return cli_complain(CLI_FAILED, "no memory");
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	status = survey_init(survey, options.clock, options.top, &report) ?
		cli_report(&report) : make_report(&options, survey);
	survey_free(survey);
	free(survey);
	return status;
}
