/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace export: a trace in another format, as a file.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <laplace/trace.h>

#include "commands.h"
#include "conversion.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "replace.h"
#include "say.h"
#include "text_output.h"

struct options {
	const struct lpl_format *format;
	const char *output;
	bool events, columns, overwrite, json;
	enum cli_when progress;
	const char *trace;
	struct lpl_choice_options choice;
	enum cli_addresses addresses;
	struct cli_addressing addressing;	/* what came of it */
};

enum { KEY_COLUMNS = 0x200 };

static const struct argp_option option_table[] = {
	{ "to", 't', "FORMAT", 0, "", 0 },
	{ "output", 'o', "FILE", 0, "The file to write", 0 },
	{ "events", 'e', NULL, 0, "Write kernel events and marks, too", 0 },
	{ "columns", KEY_COLUMNS, NULL, 0,
	  "Of npy: FILE is a directory that is made, with a file for each field", 0 },
	{ 0 }
};

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == 't' ? cli_format_help(text, LPL_FORMAT_IMPORT_ONLY) : (char *)text;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	char list[LPL_FORMAT_LIST_SIZE];

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->overwrite;
		state->child_inputs[1] = &options->json;
		state->child_inputs[2] = &options->progress;
		state->child_inputs[3] = &options->choice;
		state->child_inputs[4] = &options->addresses;
		return 0;
	case 't':
		options->format = cli_format(state, arg, LPL_FORMAT_IMPORT_ONLY);
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case 'e':
		options->events = true;
		return 0;
	case KEY_COLUMNS:
		options->columns = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->trace)
			argp_error(state, "one trace at a time");
		options->trace = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->trace)
			argp_error(state, "which trace?");
		else if (!options->format)
			argp_error(state, "which format?  --to names one of %s",
				   lpl_format_list(list, LPL_FORMAT_IMPORT_ONLY, ", "));
		else if (!options->output)
			argp_error(state, "where to?  -o names the file to write");
		else if (options->columns && strcmp(lpl_format_name(options->format), "npy") != 0)
			argp_error(state, "--columns is for --to npy");
		else if (options->columns && strcmp(options->output, "-") == 0)
			argp_error(state, "--columns makes a directory, which standard output is not");
		else if (options->columns && options->overwrite)
			argp_error(state, "--columns makes a new directory: there is nothing to "
				   "overwrite");
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
	{ &cli_addresses_argp, 0, NULL, 0 },
	{ 0 }
};
static const struct argp argp = {
	option_table, parse_option, "--to FORMAT -o FILE TRACE",
	"Write TRACE in another format."
	"\v"
	"What FORMAT cannot tell is lost, and said; a TRACE for which it would tell something "
	"wrong is refused.  See laplace-export(1).",
	children, help, NULL
};

static int print_summary(const struct options *options, const struct lpl_export_result *result)
{
	/* the records may be going to stdout */
	FILE *out = strcmp(options->output, "-") == 0 ? stderr : stdout;
	const char *format = lpl_format_name(options->format);

	if (!options->json) {
		cli_say(out, "%s: %" PRIu64 " references as %s, %" PRIu64 " bytes, %s addresses",
			options->output, result->refs, format, result->bytes,
			options->addressing.name);
		return CLI_DONE;
	}
	return cli_print_json(out,
		json_pack("{s:o, s:s, s:I, s:I, s:I, s:s}",
			  "file", cli_json_text(options->output), "format", format,
			  "references", (json_int_t)result->refs,
			  "events_left_out", (json_int_t)result->losses.events,
			  "bytes", (json_int_t)result->bytes,
			  "addresses", options->addressing.name));
}

/* What was lost, then what was written. */
static int tell(const struct options *options, const struct lpl_export_result *result)
{
	char text[LPL_WARNINGS_SIZE];

	cli_warn(options->trace, lpl_losses_text(&result->losses, text));
	return print_summary(options, result);
}

static int send(struct lpl_reader *reader, const struct options *options, struct lpl_sink *sink)
{
	struct cli_progress progress;
	struct cli_pass pass;

	cli_progress_start(&progress, options->progress);
	pass = (struct cli_pass){ .reader = reader, .path = options->trace, .sink = sink,
				  .progress = &progress, .choice = &options->choice,
				  .addressing = &options->addressing };
	return cli_pass_run(&pass);
}

/* Is there anything to show?  Of a damaged trace what precedes the damage. */
static bool has_result(int status)
{
	return status == CLI_DONE || status == CLI_DAMAGED;
}

/* From an open reader to an open output.  Returns an exit status. */
static int export(struct lpl_reader *reader, const struct options *options, int fd)
{
	struct lpl_report report = { 0 };
	struct lpl_export_result result;
	struct lpl_exporter *exporter;
	int status;

	if (lpl_exporter_open(&exporter, &(struct lpl_export_options){
			.format = options->format, .meta = lpl_reader_meta(reader), .fd = fd,
			.trace = options->trace, .output = options->output,
			.events = options->events }, &report))
		return cli_report(&report);
	status = send(reader, options, lpl_exporter_sink(exporter));
	lpl_exporter_result(exporter, &result);
	if (has_result(status) && tell(options, &result))
		status = CLI_FAILED;
	lpl_exporter_close(exporter);
	return status;
}

static int export_file(struct lpl_reader *reader, const struct options *options)
{
	struct cli_output output;
	int status = cli_output_open(&output, options->output, options->overwrite);

	if (status)
		return status;
	status = export(reader, options, fileno(output.file));
	return cli_output_close(&output, status);
}

static int export_columns(struct lpl_reader *reader, const struct options *options)
{
	struct lpl_report report = { 0 };
	struct lpl_npy_columns *columns;
	struct lpl_export_result result;
	int status;

	if (lpl_npy_columns_open(&columns, options->output, &report))
		return cli_report(&report);
	status = send(reader, options, lpl_npy_columns_sink(columns));
	result = *lpl_npy_columns_result(columns);
	if (!has_result(status))
		lpl_npy_columns_discard(columns);
	else if (lpl_npy_columns_commit(columns, &report))
		status = cli_report(&report);
	else if (tell(options, &result))
		status = CLI_FAILED;
	return status;
}

/*
 * A format that has each reference's space has all that makes its pages different ones, and the
 * addresses as they were used.
 */
static enum cli_addresses wanted_addresses(const struct options *options)
{
	return options->addresses == CLI_ADDRESSES_AUTO &&
			       (lpl_format_traits(options->format) & LPL_TELLS_SPACE) ?
		       CLI_ADDRESSES_KEPT : options->addresses;
}

int cmd_export(int argc, char **argv)
{
	struct options options = { 0 };
	struct lpl_reader *reader;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if ((lpl_format_traits(options.format) & LPL_FORMAT_BINARY) &&
	    strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "%s is not written to a terminal",
				    lpl_format_name(options.format));
	status = cli_refuse_input(options.output, options.trace);
	if (!status)
		status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	status = cli_addresses_decide(&options.addressing, wanted_addresses(&options), options.trace,
				      lpl_reader_meta(reader));
	if (!status)
		status = options.columns ? export_columns(reader, &options) :
					   export_file(reader, &options);
	lpl_reader_close(reader);
	return status;
}
