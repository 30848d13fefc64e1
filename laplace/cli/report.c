/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace report: one page on a whole-system trace.
 */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "replace.h"
#include "report/report.h"
#include "report/symbols.h"
#include "say.h"
#include "surveyed_trace.h"
#include "text_output.h"

enum form { TEXT, HTML, JSON, FORMS };

static const char *const form_name[FORMS] = { "text", "html", "json" };

#define DEFAULT_TOP 10
#define MOST_TOP 100000

struct options {
	enum form form;			/* FORMS: not given */
	const char *output, *symbols;
	bool overwrite, json;
	struct surveyed_trace_options trace;
};

enum { OPT_KERNEL_BASE = 256, OPT_TOP, OPT_CLOCK, OPT_SYMBOLS };

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
	{ "symbols", OPT_SYMBOLS, "FILE", 0,
	  "Say which symbols the kernel's hottest pages begin with: a System.map of the guest's "
	  "kernel, or what its /proc/kallsyms says to root", 0 },
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
	if (!options->trace.path)
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
		state->child_inputs[2] = &options->trace.progress;
		state->child_inputs[3] = &options->trace.choice;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case 'f':
		parse_form(options, arg, state);
		return 0;
	case OPT_TOP:
		options->trace.top = cli_number(state, "--top", arg, 1);
		if (options->trace.top > MOST_TOP)
			argp_error(state, "--top takes a number up to %d", MOST_TOP);
		return 0;
	case OPT_CLOCK:
		options->trace.survey.clock = surveyed_trace_clock(arg, state);
		return 0;
	case OPT_KERNEL_BASE:
		options->trace.survey.kernel_base = cli_address(state, "--kernel-base", arg);
		return 0;
	case OPT_SYMBOLS:
		options->symbols = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (options->trace.path)
			argp_error(state, "one trace at a time");
		options->trace.path = arg;
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
	{ &cli_choice_argp, 0, NULL, 2 },
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

static int write_report(const struct surveyed_trace *trace, enum form form, FILE *out)
{
	if (form == JSON)
		return report_json(trace, out);
	if (form == HTML)
		report_html(trace, out);
	else
		report_text(trace, out);
	return CLI_DONE;
}

/* The output is opened first: who waits for a long trace shall not wait in vain. */
static int make_report(const struct options *options, const struct symbols *symbols)
{
	struct surveyed_trace trace;
	struct cli_output output;
	int status = cli_refuse_input(options->output, options->trace.path), written = CLI_FAILED;

	if (!status && options->symbols)
		status = cli_refuse_input(options->output, options->symbols);
	if (!status)
		status = cli_output_open(&output, options->output, options->overwrite);
	if (status)
		return status;
	status = surveyed_trace_read(&trace, &options->trace);
	trace.symbols = symbols;
	if (trace.survey)
		written = write_report(&trace, options->form, output.file);
	written = cli_output_close(&output, written);
	if (trace.survey && written)
		status = written;
	surveyed_trace_close(&trace);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct options options = { .form = FORMS, .output = "-", .trace.top = DEFAULT_TOP };
	struct symbols *symbols = NULL;
	int status = CLI_DONE;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	options.trace.survey.hottest = options.trace.top;
	if (options.symbols)
		status = symbols_read(&symbols, options.symbols);
	if (!status)
		status = make_report(&options, symbols);
	symbols_free(symbols);
	return status;
}
