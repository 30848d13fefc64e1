/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace export: a trace in another format, as a file.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include <laplace/trace.h>

#include "commands.h"
#include "conversion.h"
#include "interrupt.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "replace.h"
#include "say.h"
#include "text_output.h"

enum { PART_SIZE = 10000000 };

struct options {
	const struct lpl_format *format;
	const char *output;
	bool events, columns, templates, strict, list, overwrite, json;
	struct lpl_pdats_options pdats;
	uint64_t part_size;
	enum cli_when progress;
	const char *trace;
	struct lpl_choice_options choice;
	enum cli_addresses addresses;
	struct cli_addressing addressing;	/* as found for the trace */
	struct cli_interrupt interrupt;
};

static const char *formats(char list[CLI_WORDS_SIZE])
{
	return lpl_format_list(list, LPL_FORMAT_IMPORT_ONLY, ", ");
}

static void take_format(struct argp_state *state, const struct cli_option *option, const char *name,
			void *config)
{
	if (strchr(name, ':'))
		cli_usage_error(state, "--to names a format; up to which moment is --until %s", name);
	((struct options *)config)->format = cli_format(state, option, name);
}

/* The words are 1, 2, 4 ... */
static void take_stride(struct argp_state *state, const struct cli_option *option, const char *value,
			void *config)
{
	((struct options *)config)->pdats.stride = 1U << cli_word(state, option, value);
}

static void take_bits(struct argp_state *state, const struct cli_option *option, const char *value,
		      void *config)
{
	((struct options *)config)->pdats.address_bits = cli_word(state, option, value) ? 64 : 32;
}

static void take_zip(struct argp_state *state, const struct cli_option *option, const char *value,
		     void *config)
{
	((struct options *)config)->part_size = value ? cli_limited(state, option, value) : PART_SIZE;
}

static bool is_directory(const struct options *options)
{
	return lpl_format_traits(options->format) & LPL_FORMAT_DIRECTORY;
}

static bool makes_directory(const struct options *options)
{
	return options->columns || is_directory(options);
}

static const char *maker(const struct options *options)
{
	return options->columns ? "--columns" : lpl_format_name(options->format);
}

static void check_all(struct argp_state *state, void *config)
{
	const struct options *options = config;
	char list[CLI_WORDS_SIZE];

	if (options->list)
		return;
	if (!options->format)
		argp_error(state, "which format?  --to names one of %s", formats(list));
	else if (!options->output)
		argp_error(state, "where to?  -o names the file to write");
	else if (options->columns && strcmp(lpl_format_name(options->format), "npy") != 0)
		argp_error(state, "--columns is for --to npy");
	else if (options->templates && strcmp(lpl_format_name(options->format), "drmemtrace") != 0)
		argp_error(state, "--templates is for --to drmemtrace");
	else if (options->part_size && (options->templates || strcmp(lpl_format_name(options->format), "drmemtrace") != 0))
		argp_error(state, "--zip is for the threads of --to drmemtrace");
	else if (makes_directory(options) && strcmp(options->output, "-") == 0)
		argp_error(state, "%s makes a directory, which standard output is not", maker(options));
	else if (makes_directory(options) && options->overwrite)
		argp_error(state, "%s makes a new directory: there is nothing to overwrite", maker(options));
	else if (!options->trace)
		argp_error(state, "which trace?");
}

static const struct cli_option option_table[] = {
	{ "to", CLI_TEXT, 't', .argument = "FORMAT", .take = take_format, .find_words = formats,
	  .help = "%o", .wrong = CLI_NO_FORMAT },
	{ "output", CLI_FILE, 'o', CLI_INTO(struct options, output), .argument = "FILE",
	  .help = "The file to write; of drmemtrace, a directory that is made" },
	{ "events", CLI_FLAG, 'e', CLI_INTO(struct options, events),
	  .help = "Write kernel events and marks, too, if the format has them" },
	{ "strict", CLI_FLAG, CLI_INTO(struct options, strict),
	  .help = "Fail, and leave no FILE, where anything is lost of which there would be a warning; of events, if "
	  "they are wanted (--events)" },
	{ "formats", CLI_FLAG, CLI_INTO(struct options, list),
	  .help = "Print what each FORMAT keeps of a reference, and do nothing else" },
	{ "columns", CLI_FLAG, CLI_INTO(struct options, columns),
	  .help = "Of npy: FILE is a directory that is made, with a file for each field" },
	{ "templates", CLI_FLAG, CLI_INTO(struct options, templates),
	  .help = "Of drmemtrace: what its scheduler takes for system calls (-sched_syscall_file) and for switches of threads "
	  "(-sched_switch_file), in place of the threads" },
	{ "zip", CLI_NUMBER, .argument = "INSTRUCTIONS", .optional = true, .take = take_zip, .least = 1,
	  .help = "Of drmemtrace: pack each thread's file, as zip, in parts of so many instructions, which readers can skip "
	  "(10000000, as DynamoRIO's own)" },
	{ "stride", CLI_WORD, .argument = "BYTES", .words = "1 2 4 8 16", .take = take_stride,
	  .help = "Of pdats and pdats2: from one instruction to the next (4; 1 of pdats2)" },
	{ "address-bits", CLI_WORD, .argument = "BITS", .words = "32 64", .take = take_bits,
	  .help = "Of pdats and pdats2: %o (64)" },
	{ "times", CLI_FLAG, CLI_INTO(struct options, pdats.times),
	  .help = "Of pdats: write time stamps, the cycles" },
	{ "modes", CLI_FLAG, CLI_INTO(struct options, pdats.modes),
	  .help = "Of pdats: write whether a reference is the user's or the kernel's" },
	{ "bare", CLI_FLAG, CLI_INTO(struct options, pdats.bare),
	  .help = "Of pdats and pdats2: no header; 32 bits, a stride of 4, neither times nor modes" },
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	CLI_WITH(choice, struct options, choice),
	CLI_WITH(addresses, struct options, addresses),
	{ .type = CLI_ARGUMENT, .argument = "TRACE", CLI_INTO(struct options, trace),
	  .again = "one trace at a time" },
	{ .type = CLI_CHECK, .check = check_all },
	{ 0 }
};
static const struct cli_usage usage = {
	"--to FORMAT -o FILE TRACE\n--formats",
	"Write TRACE in another format."
	"\v"
	"What FORMAT has no place for is lost, and that is said; a TRACE for which it would say "
	"something wrong is refused.  See laplace-export(1).",
	option_table, 0
};

/* The references are all that were looked at; of templates, few of them are in the files. */
static int print_json(FILE *out, const struct options *options, const struct lpl_export_result *result)
{
	json_t *object = json_pack("{s:o, s:s, s:I, s:I, s:I, s:s}",
				   "file", cli_json_text(options->output), "format", lpl_format_name(options->format),
				   "references", (json_int_t)result->refs,
				   "events_left_out", (json_int_t)result->losses.events,
				   "bytes", (json_int_t)result->bytes,
				   "addresses", options->addressing.name);

	if (object && options->templates &&
	    (json_object_set_new(object, "system_calls", json_integer((json_int_t)result->calls)) != 0 ||
	     json_object_set_new(object, "switches", json_integer((json_int_t)result->switches)) != 0)) {
		json_decref(object);
		object = NULL;
	}
	return cli_print_json(out, object);
}

static int print_summary(const struct options *options, const struct lpl_export_result *result)
{
	/* the records may be going to stdout */
	FILE *out = strcmp(options->output, "-") == 0 ? stderr : stdout;
	const char *format = lpl_format_name(options->format);

	if (options->templates && !options->json) {
		cli_say(out, "%s: templates of %" PRIu64 " system calls and %" PRIu64 " of 2 kinds of switches, %" PRIu64
			" bytes", options->output, result->calls, result->switches, result->bytes);
		return CLI_DONE;
	}
	if (!options->json) {
		cli_say(out, "%s: %" PRIu64 " references as %s, %" PRIu64 " bytes, %s addresses",
			options->output, result->refs, format, result->bytes,
			options->addressing.name);
		return CLI_DONE;
	}
	return print_json(out, options, result);
}

/* What was lost, then what was written. */
static int print_result(const struct options *options, const struct lpl_export_result *result)
{
	char text[LPL_WARNINGS_SIZE];

	cli_warn(options->trace, lpl_losses_text(&result->losses, text));
	return print_summary(options, result);
}

/* With --strict: no column has events.  Returns an exit status. */
static int check_columns(const struct options *options, const struct lpl_export_result *result)
{
	if (!options->strict || !options->events || !result->losses.events)
		return CLI_DONE;
	return cli_complain(CLI_FAILED, "%s: columns have no place for all of it: %" PRIu64 " events are left "
			    "out", options->trace, result->losses.events);
}

/* Is there anything to show?  Of a damaged trace what precedes the damage. */
static bool has_result(int status)
{
	return status == CLI_DONE || status == CLI_DAMAGED;
}

/* Before the choice, which may let nothing pass for long. */
static struct lpl_sink *stop_if_interrupted(struct cli_pass *pass, struct lpl_sink *next)
{
	return cli_interrupt_sink(pass->context, next);
}

/* `whole`: there is a result, and somebody who reads it. */
static int send(struct lpl_reader *reader, struct options *options, struct lpl_sink *sink, bool *whole)
{
	struct cli_progress progress;
	struct cli_pass pass;
	int status;

	cli_progress_start(&progress, options->progress);
	pass = (struct cli_pass){ .reader = reader, .path = options->trace, .sink = sink,
				  .front = stop_if_interrupted, .context = &options->interrupt, .progress = &progress, .choice = &options->choice,
				  .addressing = &options->addressing,
				  .counts_frames = !options->columns };
	status = cli_pass_run(&pass);
	/* what precedes damage is no result, if the output was not finished */
	if (pass.unfinished && status == CLI_DAMAGED)
		status = CLI_FAILED;
	*whole = has_result(status) && !pass.unfinished;
	return status;
}

/* From an open reader to an open output.  Returns an exit status. */
static int export(struct lpl_reader *reader, struct options *options, int fd)
{
	struct lpl_report report = { 0 };
	struct lpl_export_result result;
	struct lpl_exporter *exporter;
	bool whole;
	int status;

	if (lpl_exporter_open(&exporter, &(struct lpl_export_options){
			.format = options->format, .meta = lpl_reader_meta(reader), .fd = fd,
			.trace = options->trace, .output = options->output,
			.events = options->events, .pdats = options->pdats,
			.physical = options->addressing.convert == LPL_ADDRESSES_PHYSICAL,
			.strict = options->strict }, &report))
		return cli_report(&report);
	status = send(reader, options, lpl_exporter_sink(exporter), &whole);
	lpl_exporter_result(exporter, &result);
	if (whole && print_result(options, &result))
		status = CLI_FAILED;
	lpl_exporter_close(exporter);
	return status;
}

static int export_file(struct lpl_reader *reader, struct options *options)
{
	struct cli_output output;
	int status = cli_output_open(&output, options->output, options->overwrite);

	if (status)
		return status;
	status = export(reader, options, fileno(output.file));
	return cli_output_close(&output, status);
}

static int export_columns(struct lpl_reader *reader, struct options *options)
{
	struct lpl_report report = { 0 };
	struct lpl_npy_columns *columns;
	struct lpl_export_result result;
	bool whole;
	int status;

	if (lpl_npy_columns_open(&columns, options->output, &report))
		return cli_report(&report);
	status = send(reader, options, lpl_npy_columns_sink(columns), &whole);
	result = *lpl_npy_columns_result(columns);
	if (whole && check_columns(options, &result))
		status = CLI_FAILED;
	if (!whole || !has_result(status))
		lpl_npy_columns_discard(columns);
	else if (lpl_npy_columns_commit(columns, &report))
		status = cli_report(&report);
	else if (print_result(options, &result))
		status = CLI_FAILED;
	return status;
}

static int export_threads(struct lpl_reader *reader, struct options *options)
{
	struct lpl_report report = { 0 };
	struct lpl_drmemtrace *made;
	struct lpl_export_result result;
	bool whole;
	int status;

	if (lpl_drmemtrace_open_directory(&made, options->output, &(struct lpl_export_options){
			.meta = lpl_reader_meta(reader), .trace = options->trace,
			.strict = options->strict, .templates = options->templates,
			.part_size = options->part_size }, &report))
		return cli_report(&report);
	status = send(reader, options, lpl_drmemtrace_sink(made), &whole);
	result = *lpl_drmemtrace_result(made);
	if (!whole)
		lpl_drmemtrace_discard(made);
	else if (lpl_drmemtrace_commit(made, &report))
		status = cli_report(&report);
	else if (print_result(options, &result))
		status = CLI_FAILED;
	return status;
}

/* Not a pipe or a device: for one of these another program may have to be waited for, and without an end. */
static bool is_file(const char *path)
{
	struct stat there;

	return strcmp(path, "-") != 0 && (stat(path, &there) != 0 || S_ISREG(there.st_mode));
}

int cmd_export(int argc, char **argv)
{
	struct options options = { 0 };
	struct lpl_reader *reader;
	int status;

	cli_parse(&usage, argc, argv, &options);
	if (options.list)
		return cli_format_table(options.json);
	if ((lpl_format_traits(options.format) & LPL_FORMAT_BINARY) &&
	    strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "%s is not written to a terminal",
				    lpl_format_name(options.format));
	status = cli_refuse_input(options.output, options.trace);
	cli_interrupt_hold(&options.interrupt, is_file(options.output) && is_file(options.trace));
	if (!status)
		status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	if (options.addresses == CLI_ADDRESSES_AUTO)
		options.addresses = cli_addresses_for(options.format, options.addresses);
	status = cli_addresses_decide(&options.addressing, options.addresses, options.trace,
				      lpl_reader_meta(reader));
	if (!status)
		status = cli_check_format(options.format, &options.choice, options.addressing.convert,
					options.trace);
	if (!status)
		status = is_directory(&options) ? export_threads(reader, &options) :
			 options.columns ? export_columns(reader, &options) : export_file(reader, &options);
	lpl_reader_close(reader);
	cli_interrupt_release(&options.interrupt);
	return status;
}
