/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace report: one page on a whole-system trace.
 */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "replace.h"
#include "report/report.h"
#include "report/guest_symbols.h"
#include "report/symbols.h"
#include "say.h"
#include "surveyed_trace.h"
#include "text_output.h"

enum form { TEXT, HTML, JSON, FORMS };

struct options {
	enum form form;			/* FORMS: not given */
	const char *output, *symbols;
	bool overwrite, json;
	struct surveyed_trace_options trace;
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static void check_all(struct argp_state *state, void *config)
{
	struct options *options = config;

	if (options->json && options->form != FORMS && options->form != JSON)
		argp_error(state, "--json and --format %s exclude each other",
			   options->form == TEXT ? "text" : "html");
	if (options->json)
		options->form = JSON;
	if (options->form == FORMS)
		options->form = ends_with(options->output, ".html") ? HTML :
				ends_with(options->output, ".json") ? JSON : TEXT;
}

static const struct cli_option option_table[] = {
	{ "output", CLI_FILE, 'o', CLI_INTO(struct options, output), .argument = "FILE",
	  .help = "Where to write (standard output)" },
	{ "format", CLI_WORD, 'f', CLI_INTO(struct options, form), .argument = "FORMAT",
	  .words = "text html json", .wrong = "no format '%s': there are %a",
	  .help = "text, html (one page that needs nothing else) or json; else as FILE's name "
	  "ends: .html, .json"},
	{ "top", CLI_NUMBER, CLI_INTO(struct options, trace.top), .argument = "N", .least = 1,
	  .most = 100000, .standard = "10", .wrong = "%n takes a number up to %m",
	  .help = "How many lines a table has at most (%d)" },
	CLI_CLOCK(struct options, trace.survey.clock, 0),
	CLI_KERNEL_BASE(struct options, trace.survey.kernel_base, 0),
	{ "symbols", CLI_FILE, CLI_INTO(struct options, symbols), .argument = "FILE",
	  .help = "Say which symbols the kernel's hottest pages begin with: a System.map of the "
	  "guest's kernel, or what its /proc/kallsyms says to root"},
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, trace.progress),
	CLI_WITH(choice, struct options, trace.choice),
	CLI_TRACE_ARGUMENT(struct options, trace.path),
	{ .type = CLI_CHECK, .check = check_all },
	{ 0 }
};
static const struct cli_usage usage = {
	"TRACE",
	"Show on one page what ran in TRACE, and which memory was used, shared and hot."
	"\v"
	"TRACE is a recording with the events of its guest's kernel, raw or reduced.  Where it "
	"is damaged or incomplete, what comes before is shown, with status 3.",
	option_table, 0
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
	struct symbols *guests = NULL;
	struct cli_output output;
	int status = cli_refuse_input(options->output, options->trace.path), written = CLI_FAILED;

	if (!status && options->symbols)
		status = cli_refuse_input(options->output, options->symbols);
	if (!status)
		status = cli_output_open(&output, options->output, options->overwrite);
	if (status)
		return status;
	status = surveyed_trace_read(&trace, &options->trace);
	if (trace.survey && !symbols)
		guests = guest_symbols(options->trace.path, trace.meta);
	trace.symbols = symbols ? symbols : guests;
	if (trace.survey)
		written = write_report(&trace, options->form, output.file);
	written = cli_output_close(&output, written);
	if (trace.survey && written)
		status = written;
	surveyed_trace_close(&trace);
	symbols_free(guests);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct options options = { .form = FORMS, .output = "-" };
	struct symbols *symbols = NULL;
	int status = CLI_DONE;

	cli_parse(&usage, argc, argv, &options);
	options.trace.survey.hottest = options.trace.top;
	if (options.symbols)
		status = symbols_read(&symbols, options.symbols);
	if (!status)
		status = make_report(&options, symbols);
	symbols_free(symbols);
	return status;
}
