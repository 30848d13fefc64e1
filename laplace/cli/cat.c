/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace cat: a trace's records as text.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "text.h"

struct options {
	int format;		/* enum text_format; -1: by what the trace is */
	bool events;
	enum cli_when progress;
	const char *trace;
};

static const struct argp_option option_table[] = {
	{ "format", 'f', "FORMAT", 0,
	  "raw, diff, sad, sad-diff, pages or csv (raw, or sad for a reduced trace)", 0 },
	{ "events", 'e', NULL, 0, "Print kernel events and marks, too", 0 },
	{ 0 }
};

static int find_format(const char *name)
{
	for (int i = 0; i < TEXT_FORMATS; i++) {
		if (strcmp(text_format_name[i], name) == 0)
			return i;
	}
	return -1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->progress;
		return 0;
	case 'f':
		options->format = find_format(arg);
		if (options->format < 0)
			argp_error(state, "no format '%s': there are raw, diff, sad, "
				   "sad-diff, pages and csv", arg);
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
	{ &cli_progress_argp, 0, NULL, 0 }, { 0 }
};
static const struct argp argp = {
	option_table, parse_option, "[TRACE]",
	"Print the records of TRACE (or of standard input), one a line."
	"\v"
	"raw: type, cycle, length, address space, address.  sad: type, cycle, instruction "
	"and reference time, address space, page.  diff, sad-diff: the same as differences.  "
	"pages: type, page.  Numbers are hexadecimal but for the length and for csv.  Types "
	"are r (read), w (write), i (instruction fetch), p and q (page-table walk: read, "
	"write).  See laplace-cat(1).",
	children, NULL, NULL
};

static bool is_reduced(const struct lpl_reader *reader)
{
	const char *reduction = lpl_meta_get(lpl_reader_meta(reader), LPL_META_REDUCTION);

	return reduction && strcmp(reduction, "none") != 0;
}

/* What the chosen format could not say. */
static void warn_losses(const struct text_printer *printer, const char *path)
{
	if (printer->lengthless &&
	    (printer->format == TEXT_RAW || printer->format == TEXT_DIFF))
		cli_complain(0, "warning: %s: reduced to pages: lengths are printed as 0, "
			     "addresses are those of pages", path);
	if (printer->spaces_mixed && printer->format == TEXT_PAGES)
		cli_complain(0, "warning: %s: has several address spaces, whose pages look "
			     "alike in this format", path);
}

int cmd_cat(int argc, char **argv)
{
	struct options options = { .format = -1, .trace = "-" };
	struct cli_progress progress;
	struct cli_pass pass;
	struct lpl_reader *reader;
	struct text_printer *printer;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	printer = malloc(sizeof(*printer));
	if (!printer) {
		lpl_reader_close(reader);
		return cli_complain(CLI_FAILED, "no memory");
	}
	if (options.format < 0)
		options.format = is_reduced(reader) ? TEXT_SAD : TEXT_RAW;
	text_printer_init(printer, (enum text_format)options.format, options.events,
			  STDOUT_FILENO);
	/* the lines themselves are the progress when they go to a terminal */
	if (options.progress == CLI_AUTO && isatty(STDOUT_FILENO))
		options.progress = CLI_NEVER;
	cli_progress_start(&progress, options.progress);
	pass = (struct cli_pass){ .reader = reader, .path = options.trace,
				  .sink = &printer->sink, .progress = &progress };
	status = cli_pass_run(&pass);
	warn_losses(printer, options.trace);
	free(printer);
	lpl_reader_close(reader);
	return status;
}
