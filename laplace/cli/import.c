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

struct options {
	struct lpl_import_options import;	/* `input` is the file */
	const char *output;
	bool overwrite, json;
	enum cli_when progress;
};

static const char *formats(char list[CLI_WORDS_SIZE])
{
	return lpl_format_list(list, LPL_FORMAT_EXPORT_ONLY, ", ");
}

static void take_format(struct argp_state *state, const struct cli_option *option, const char *name,
			void *config)
{
	((struct options *)config)->import.format = cli_format(state, option, name);
}

static void take_page_size(struct argp_state *state, const struct cli_option *option, const char *value,
			   void *config)
{
	const uint64_t size = cli_limited(state, option, value);

	if (size & (size - 1))
		cli_wrong(state, option, value);
	((struct options *)config)->import.page_size = size;
}

static void check_all(struct argp_state *state, void *config)
{
	const struct options *options = config;
	const struct lpl_import_options *import = &options->import;
	const unsigned int traits = import->format ? lpl_format_traits(import->format) : 0;
	const bool behaviour = traits & LPL_FORMAT_BEHAVIOUR;

	if (!options->output)
		argp_error(state, "where to?  -o names the trace to write");
	else if (behaviour && !import->memory)
		argp_error(state, "of a memory of how many pages?  Say so with -k");
	else if (!behaviour && import->memory)
		argp_error(state, "-k is for --from behaviour and annotated");
	else if (import->page_size && !(traits & LPL_FORMAT_PAGES))
		argp_error(state, "--page-size is for formats with pages, not for %s",
			   import->format ? lpl_format_name(import->format) : "one that is recognised");
	else if (import->events && strcmp(import->events, "-") == 0 && strcmp(import->input, "-") == 0)
		argp_error(state, "standard input is one of the two logs");
}

static const struct cli_option option_table[] = {
	{ "from", CLI_TEXT, 'f', .argument = "FORMAT", .take = take_format, .find_words = formats,
	  .help = "%o (din, hex, pdats and pdats2 are recognised)", .wrong = CLI_NO_FORMAT },
	{ "output", CLI_FILE, 'o', CLI_INTO(struct options, output), .argument = "TRACE",
	  .help = "The trace to write" },
	{ "reduction", CLI_CHAIN, CLI_INTO(struct options, import.reduction), .argument = "SPEC",
	  .words = "none unknown sad:64 window:64",
	  .help = "How FILE was reduced before (none; unknown for formats of reduced traces, and "
	  "for references to whole pages)"},
	{ "memory", CLI_NUMBER, 'k', CLI_INTO(struct options, import.memory), .argument = "PAGES",
	  .least = 1, .help = "The memory of a behaviour sequence" },
	{ "events", CLI_FILE, CLI_INTO(struct options, import.events), .argument = "LOG",
	  .help = "A log of kernel events, each of which is put in its place by its cycle" },
	{ "page-size", CLI_NUMBER, CLI_INTO(struct options, import.page_size), .argument = "BYTES",
	  .least = 16, .most = 1 << 30, .take = take_page_size,
	  .wrong = "%n takes a power of two from %l to %m",
	  .help = "The size of the pages in FILE (4096)" },
	{ "addresses", CLI_WORD, CLI_INTO(struct options, import.canonical), .argument = "KIND",
	  .words = "virtual canonical", .help = "virtual (the default) or canonical" },
	{ "title", CLI_TEXT, CLI_INTO(struct options, import.title), .argument = "TEXT",
	  .help = "Kept in the trace" },
	CLI_LEVEL(struct options, import.writer.level, .group = 0),
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	{ .type = CLI_ARGUMENT, .argument = "FILE", CLI_INTO(struct options, import.input),
	  .wrong = "which file?  - is standard input", .again = "one file at a time" },
	{ .type = CLI_CHECK, .check = check_all },
	{ 0 }
};
static const struct cli_usage usage = {
	"-o TRACE FILE",
	"Read FILE, a memory trace in another format, and write it as TRACE."
	"\v"
	"SPEC is written as for laplace reduce: sad:64, say.  It decides what the results of "
	"simulations are exact for.  See laplace-import(1).",
	option_table, 0
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

/* Of a format of these traits.  *fd is to be closed if it is none of the standard ones.  Returns an exit status. */
static int open_file(const char *path, unsigned int traits, int *fd, struct stat *about)
{
	const bool directory = traits & LPL_FORMAT_DIRECTORY;

	*fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, about) != 0)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(about->st_mode) != !directory && !(traits & LPL_FORMAT_EITHER))
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(directory ? ENOTDIR : EISDIR));
	return CLI_DONE;
}

/* Likewise, both logs. */
static int open_input(struct options *options, int *fd, uint64_t *size)
{
	struct lpl_import_options *import = &options->import;
	struct stat about = { 0 };
	int status = CLI_DONE;

	if (import->events)
		status = open_file(import->events, 0, &import->events_fd, &about);
	if (!status)
		status = open_file(import->input,
				   import->format ? lpl_format_traits(import->format) : 0, fd, &about);
	if (!status && S_ISREG(about.st_mode))
		*size = (uint64_t)about.st_size;
	return status;
}

static int print_summary(const struct options *options, const struct lpl_import_result *result)
{
	/* the trace may be going to stdout */
	FILE *out = strcmp(options->output, "-") == 0 ? stderr : stdout;

	if (!options->json && !options->import.format)
		cli_say(out, "%s: is %s", options->import.input, lpl_format_name(result->format));
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
			  "format", lpl_format_name(result->format),
			  "references", (json_int_t)result->refs,
			  "events", (json_int_t)result->events,
			  "spaces", (json_int_t)result->spaces,
			  "page_size", (json_int_t)result->page_size,
			  "bytes", (json_int_t)result->trace_bytes,
			  "reduction", result->reduction, "exact", result->exact));
}

/* From open files to a trace.  Returns an exit status. */
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

static int refuse_files(const struct options *options)
{
	int status = cli_refuse_input(options->output, options->import.input);

	if (!status && options->import.events)
		status = cli_refuse_input(options->output, options->import.events);
	return status ? status : cli_refuse_existing(options->output, options->overwrite);
}

static int import_files(struct options *options)
{
	struct run run = { .options = options };
	struct lpl_report report = { 0 };
	struct lpl_importer *importer = NULL;
	int fd = -1, status = refuse_files(options);

	options->import.context = &run;
	options->import.overwrite = options->overwrite;
	options->import.writer.jobs = cli_jobs(0);
	if (!status)
		status = open_input(options, &fd, &run.size);
	if (!status && lpl_importer_open(&importer, &options->import, &report))
		status = cli_report(&report);
	if (!status)
		status = import(importer, fd, &run);
	lpl_importer_close(importer);
	if (fd > STDIN_FILENO)
		close(fd);
	if (options->import.events_fd > STDIN_FILENO)
		close(options->import.events_fd);
	options->import.context = NULL;
	return status;
}

int cmd_import(int argc, char **argv)
{
	struct options options = {
		.import = { .producer = "laplace " PACKAGE_VERSION, .progress = show },
	};

	cli_parse(&usage, argc, argv, &options);
	if (strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not written to a terminal");
	return import_files(&options);
}
