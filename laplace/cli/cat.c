/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace cat: a trace's records as text.
 */
#include <string.h>
#include <unistd.h>

#include <laplace/trace.h>

#include "commands.h"
#include "conversion.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "say.h"

#define NOT_TEXT LPL_FORMAT_BINARY

struct options {
	const struct lpl_format *format;	/* NULL: by what the trace is */
	bool events;
	struct lpl_choice_options choice;
	enum cli_when progress;
	const char *trace;
};

static const struct argp_option option_table[] = {
	{ "format", 'f', "FORMAT", 0, " (raw, or sad for a reduced trace)", 0 },
	{ "events", 'e', NULL, 0, "Print kernel events and marks, too", 0 },
	{ 0 }
};

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == 'f' ? cli_format_help(text, NOT_TEXT) : (char *)text;
}

static const struct lpl_format *text_format(struct argp_state *state, const char *name)
{
	const struct lpl_format *format = lpl_format_find(name);
	const unsigned int traits = format ? lpl_format_traits(format) : 0;

	if ((traits & NOT_TEXT) && !(traits & LPL_FORMAT_IMPORT_ONLY))
		argp_error(state, "the format '%s' is no text; `laplace export' writes it", name);
	return cli_format(state, name, NOT_TEXT);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->progress;
		state->child_inputs[1] = &options->choice;
		return 0;
	case 'f':
		options->format = text_format(state, arg);
		return 0;
	case 'e':
		options->events = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_error(state, "one trace at a time");
		options->trace = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &cli_progress_argp, 0, NULL, 0 }, { &cli_choice_argp, 0, NULL, 2 }, { 0 }
};
static const struct argp argp = {
	option_table, parse_option, "[TRACE]",
	"Print the records of TRACE (or of standard input), one a line."
	"\v"
	"raw: type, cycle, length, address space, address.  sad: type, cycle, instruction "
	"and reference time, address space, page.  diff, sad-diff: the same as differences.  "
	"pages: type, page.  behaviour: of a behaviour sequence, the page fetched and the page "
	"evicted or NF.  Numbers are hexadecimal but for lengths and for csv.  Types "
	"are r (read), w (write), i (instruction fetch), p and q (page-table walk: read, "
	"write).  See laplace-cat(1).",
	children, help, NULL
};

static const struct lpl_format *default_format(const struct lpl_meta *meta)
{
	const char *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);

	return lpl_format_find(reduction && strcmp(reduction, "none") != 0 ? "sad" : "raw");
}

static void tell_losses(const struct lpl_exporter *exporter, const struct options *options)
{
	struct lpl_export_result result;
	char text[LPL_WARNINGS_SIZE];

	lpl_exporter_result(exporter, &result);
	if (!options->events)
		result.losses.events = 0;	/* nobody asked for them */
	cli_warn(options->trace, lpl_losses_text(&result.losses, text));
}

static int print(struct lpl_reader *reader, const struct options *options)
{
	const struct lpl_meta *meta = lpl_reader_meta(reader);
	struct lpl_report report = { 0 };
	struct cli_progress progress;
	struct lpl_exporter *exporter;
	struct cli_pass pass;
	int status;

	if (lpl_exporter_open(&exporter, &(struct lpl_export_options){
			.format = options->format ? options->format : default_format(meta),
			.meta = meta, .trace = options->trace, .output = "standard output",
			.fd = STDOUT_FILENO, .events = options->events }, &report))
		return cli_report(&report);
	/* the lines themselves are the progress when they go to a terminal */
	cli_progress_start(&progress, options->progress == CLI_AUTO && isatty(STDOUT_FILENO) ?
				      CLI_NEVER : options->progress);
	pass = (struct cli_pass){ .reader = reader, .path = options->trace,
				  .sink = lpl_exporter_sink(exporter), .progress = &progress,
				  .choice = &options->choice,
				  .without_events = !options->events };
	status = cli_pass_run(&pass);
	tell_losses(exporter, options);
	lpl_exporter_close(exporter);
	return status;
}

int cmd_cat(int argc, char **argv)
{
	struct options options = { .trace = "-" };
	struct lpl_reader *reader;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	status = print(reader, &options);
	lpl_reader_close(reader);
	return status;
}
