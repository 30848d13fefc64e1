/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace import: a trace of somebody else's, as one of ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/host.h"
#include "commands.h"
#include "conversion.h"
#include "options.h"
#include "progress.h"
#include "replace.h"
#include "say.h"

#define PAGE_SIZE_MAX (UINT64_C(1) << 30)

struct options {
	struct lpl_import_options import;	/* `input` is the file */
	const char *output;
	bool overwrite, json;
	enum cli_when progress;
};

enum { OPT_REDUCTION = 256, OPT_PAGE_SIZE, OPT_ADDRESSES, OPT_TITLE };

static const struct argp_option option_table[] = {
	{ "from", 'f', "FORMAT", 0, "", 0 },
	{ "output", 'o', "TRACE", 0, "The trace to write", 0 },
	{ "reduction", OPT_REDUCTION, "SPEC", 0,
	  "How FILE was reduced before (none; unknown for formats of reduced traces, and for "
	  "references to whole pages)", 0 },
	{ "memory", 'k', "PAGES", 0, "The memory of a behaviour sequence", 0 },
	{ "page-size", OPT_PAGE_SIZE, "BYTES", 0, "The size of the pages in FILE (4096)", 0 },
	{ "addresses", OPT_ADDRESSES, "KIND", 0, "virtual (the default) or canonical", 0 },
	{ "title", OPT_TITLE, "TEXT", 0, "Kept in the trace", 0 },
	{ "level", 'l', "N", 0, "Compression level of zstd, 1 to 19 (3)", 0 },
	{ 0 }
};

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == 'f' ? cli_format_help(text, 0) : (char *)text;
}

static void check_arguments(const struct argp_state *state, const struct options *options)
{
	const struct lpl_import_options *import = &options->import;
	const unsigned int traits = import->format ? lpl_format_traits(import->format) : 0;
	const bool behaviour = traits & LPL_FORMAT_BEHAVIOUR;
	char list[LPL_FORMAT_LIST_SIZE];

	if (!import->input)
		argp_error(state, "which file?  - is standard input");
	else if (!import->format)
		argp_error(state, "which format?  --from names one of %s",
			   lpl_format_list(list, 0, ", "));
	else if (!options->output)
		argp_error(state, "where to?  -o names the trace to write");
	else if (behaviour && !import->memory)
		argp_error(state, "of a memory of how many pages?  -k tells");
	else if (!behaviour && import->memory)
		argp_error(state, "-k is for --from behaviour");
	else if (import->page_size && !(traits & LPL_FORMAT_PAGES))
		argp_error(state, "--page-size is for formats that tell pages, not for %s",
			   lpl_format_name(import->format));
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	struct lpl_import_options *import = &options->import;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->overwrite;
		state->child_inputs[1] = &options->json;
		state->child_inputs[2] = &options->progress;
		return 0;
	case 'f':
		import->format = cli_format(state, arg, 0);
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case OPT_REDUCTION:
		import->reduction = arg;
		return 0;
	case 'k':
		import->memory = cli_number(state, "-k", arg, 1);
		return 0;
	case OPT_PAGE_SIZE:
		import->page_size = cli_number(state, "--page-size", arg, 1 << LPL_PAGE_SHIFT);
		if (import->page_size > PAGE_SIZE_MAX ||
		    (import->page_size & (import->page_size - 1)))
			argp_error(state, "--page-size takes a power of two from 4096 to %" PRIu64,
				   PAGE_SIZE_MAX);
		return 0;
	case OPT_ADDRESSES:
		if (strcmp(arg, "virtual") != 0 && strcmp(arg, "canonical") != 0)
			argp_error(state, "--addresses is virtual or canonical, not '%s'", arg);
		import->canonical = strcmp(arg, "canonical") == 0;
		return 0;
	case OPT_TITLE:
		import->title = arg;
		return 0;
	case 'l':
		import->writer.level = (int)cli_number(state, "--level", arg, 1);
		if (import->writer.level > 19)
			argp_error(state, "--level is 1 to 19");
		return 0;
	case ARGP_KEY_ARG:
		if (import->input)
			argp_error(state, "one file at a time");
		import->input = arg;
		return 0;
	case ARGP_KEY_END:
		check_arguments(state, options);
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
	option_table, parse_option, "--from FORMAT -o TRACE FILE",
	"Read FILE, a memory trace in another format, and write it as TRACE."
	"\v"
	"SPEC is written as for laplace reduce: sad:64, say.  It decides what the results of "
	"simulations are exact for.  See laplace-import(1).",
	children, help, NULL
};

/* ---- the run ---- */

struct run {
	const struct options *options;
	uint64_t size;			/* of the file; 0: not known */
	struct cli_progress progress;
};

static void show(const struct lpl_importer *importer, void *context)
{
	struct run *run = context;
	struct cli_progress *progress = &run->progress;
	const struct lpl_import_result *result = lpl_importer_result(importer);
	char refs[CLI_HUMAN_SIZE], rate[CLI_HUMAN_SIZE], left[CLI_HUMAN_SIZE];
	double seconds;

	if (!cli_progress_due(progress))
		return;
	seconds = (double)(lpl_now_ns() - progress->start_ns) / 1e9;
	cli_human(refs, result->refs);
	cli_human(rate, (uint64_t)((double)result->refs / seconds));
	if (run->size && result->bytes && result->bytes <= run->size) {
		double done = (double)result->bytes / (double)run->size;

		cli_duration(left, (uint64_t)(seconds * (1 / done - 1) + 0.5));
		cli_progress_line(progress, "%3.0f%%  %s references  %s/s  %s left", 100 * done,
				  refs, rate, left);
	} else {
		cli_progress_line(progress, "%s references  %s/s", refs, rate);
	}
}

/* *fd is to be closed if it is none of the standard ones.  Returns an exit status. */
static int open_input(const char *path, int *fd, uint64_t *size)
{
	struct stat about;

	*fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &about) != 0)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (S_ISDIR(about.st_mode))
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(EISDIR));
	if (S_ISREG(about.st_mode))
		*size = (uint64_t)about.st_size;
	return CLI_DONE;
}

static int print_summary(const struct options *options, const struct lpl_import_result *result)
{
	/* the trace may be going to stdout */
	FILE *out = strcmp(options->output, "-") == 0 ? stderr : stdout;

	if (!options->json) {
		cli_say(out, "%s: %" PRIu64 " references, %" PRIu64 " events, %" PRIu64 " bytes, "
			"reduction %s, exact for %s", options->output, result->refs,
			result->events, result->trace_bytes, result->reduction, result->exact);
		return CLI_DONE;
	}
	return cli_print_json(out,
		json_pack("{s:o, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:s}",
			  "file", cli_json_text(options->output),
			  "source", cli_json_text(options->import.input),
			  "format", lpl_format_name(options->import.format),
			  "references", (json_int_t)result->refs,
			  "events", (json_int_t)result->events,
			  "spaces", (json_int_t)result->spaces,
			  "page_size", (json_int_t)result->page_size,
			  "bytes", (json_int_t)result->trace_bytes,
			  "reduction", result->reduction, "exact", result->exact));
}

/* From an open file to a trace.  Returns an exit status. */
static int import(struct lpl_importer *importer, int fd, struct run *run)
{
	const struct options *options = run->options;
	const struct lpl_import_result *result = lpl_importer_result(importer);
	struct lpl_report report = { 0 };
	char text[LPL_WARNINGS_SIZE];
	enum lpl_error error;
	int status;

	cli_progress_start(&run->progress, options->progress);
	error = lpl_importer_write(importer, fd, options->output, &report);
	cli_progress_clear(&run->progress);
	if (!error) {
		cli_warn(options->import.input, lpl_importer_warnings(importer, text));
		return print_summary(options, result);
	}
	status = cli_report(&report);
	if (result->part)
		cli_complain(status, "%s.part: holds the %" PRIu64 " references before that",
			     options->output, result->refs);
	return status;
}

int cmd_import(int argc, char **argv)
{
	struct options options = {
		.import = { .producer = "laplace " PACKAGE_VERSION, .progress = show },
	};
	struct run run = { .options = &options };
	struct lpl_report report = { 0 };
	struct lpl_importer *importer;
	int status, fd = -1;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not written to a terminal");
	options.import.context = &run;
	options.import.overwrite = options.overwrite;
	options.import.writer.jobs = cli_jobs(0);
	if (lpl_importer_open(&importer, &options.import, &report))
		return cli_report(&report);
	status = cli_refuse_input(options.output, options.import.input);
	if (!status)
		status = cli_refuse_existing(options.output, options.overwrite);
	if (!status)
		status = open_input(options.import.input, &fd, &run.size);
	if (!status)
		status = import(importer, fd, &run);
	lpl_importer_close(importer);
	if (fd > STDIN_FILENO)
		close(fd);
	return status;
}
