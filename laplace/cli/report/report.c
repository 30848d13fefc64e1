/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace report: one page on a whole-system trace.
 */
#include <string.h>

#include "cli/commands.h"
#include "cli/function_faults.h"
#include "cli/options.h"
#include "cli/replace.h"
#include "cli/say.h"
#include "cli/surveyed_trace.h"
#include "cli/text_output.h"
#include "report.h"
#include "cli/code/symbols.h"

#define NO_FORM (TABLE_JSON + 1)	/* none is given */

struct options {
	enum table_form form;
	const char *output, *symbols, *files, *functions;
	bool overwrite, json, inlined;
	uint64_t kernel_text;
	struct surveyed_trace_options trace;
};

static void check_all(struct argp_state *state, void *config)
{
	struct options *options = config;

	if (options->json && options->form != NO_FORM && options->form != TABLE_JSON)
		argp_error(state, "--json and --format %s exclude each other",
			   options->form == TABLE_TEXT ? "text" : "html");
	if (options->json)
		options->form = TABLE_JSON;
	if (options->files && !options->functions)
		argp_error(state, "--files is for --functions");
	if (options->inlined && !options->functions)
		argp_error(state, "--inlined is for --functions");
	if (options->kernel_text && !options->symbols)
		argp_error(state, "--kernel-text is for --symbols");
	if (options->form == NO_FORM)
		options->form = cli_output_ends_with(options->output, ".html") ? TABLE_HTML :
				cli_output_ends_with(options->output, ".json") ? TABLE_JSON : TABLE_TEXT;
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
	CLI_KERNEL_TEXT(struct options, kernel_text),
	{ "functions", CLI_TEXT, CLI_INTO(struct options, functions), .argument = "SIZES",
	  .help = "Of a trace of every reference: say which functions take the faults of LRU in "
	  "up to four sizes of memory, in pages, bytes or percent (256,4M,50%)" },
	{ "files", CLI_FILE, CLI_INTO(struct options, files), .argument = "DIR",
	  .help = "With --functions: a directory that has the guest's files, with their symbols" },
	CLI_INLINED(struct options, inlined, "--functions"),
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

/* Before the survey: what is wrong with what is asked is said soon.  Nothing, if nothing is asked. */
static int read_functions(struct function_faults *functions, const struct options *options)
{
	const struct function_faults_options how = {
		.path = options->trace.path, .sizes = options->functions,
		.code = { .files = options->files, .symbols = options->symbols,
			  .inlined = options->inlined, .kernel_text = options->kernel_text },
		.choice = &options->trace.choice, .progress = options->trace.progress
	};

	*functions = (struct function_faults){ .functions = NULL };
	return options->functions ? function_faults_read(functions, &how) : CLI_DONE;
}

/* The output is tried first: whoever waits for a long trace shall not wait in vain. */
static int make_report(const struct options *options, const struct symbols *symbols)
{
	static int (*const write[])(const struct surveyed_trace *trace, FILE *out) = {
		[TABLE_TEXT] = report_text, [TABLE_HTML] = report_html, [TABLE_JSON] = report_json
	};
	struct surveyed_trace trace;
	struct function_faults functions;
	struct symbols *guests = NULL;
	struct cli_output output;
	int status = cli_refuse_input(options->output, options->trace.path), written = CLI_FAILED;

	if (!status && options->symbols)
		status = cli_refuse_input(options->output, options->symbols);
	if (!status)
		status = cli_output_hold(&output, options->output, options->overwrite);
	if (status)
		return status;
	status = read_functions(&functions, options);
	if (status) {
		function_faults_close(&functions);
		return cli_output_close(&output, status);
	}
	status = surveyed_trace_read(&trace, &options->trace);
	trace.functions = options->functions ? &functions : NULL;
	if (trace.survey && !symbols)
		guests = guest_symbols(options->trace.path, trace.meta);
	trace.symbols = symbols ? symbols : guests;
	if (trace.survey)
		written = write[options->form](&trace, output.file);
	written = cli_output_close(&output, written);
	if (trace.survey && written)
		status = written;
	surveyed_trace_close(&trace);
	symbols_free(guests);
	function_faults_close(&functions);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct options options = { .form = NO_FORM, .output = "-" };
	struct symbols *symbols = NULL;
	int status = CLI_DONE;

	cli_parse(&usage, argc, argv, &options);
	options.trace.survey.hottest = options.trace.top;
	if (options.symbols)
		status = symbols_read(&symbols, options.symbols);
	if (!status && options.kernel_text)
		status = symbols_move(symbols, options.kernel_text, options.symbols);
	if (!status)
		status = make_report(&options, symbols);
	symbols_free(symbols);
	return status;
}
