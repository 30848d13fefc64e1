/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace cat: a trace's records as text.
 */
#include <string.h>
#include <unistd.h>

#include <laplace/image.h>
#include <laplace/trace.h>

#include "addresses.h"
#include "cat_walks.h"
#include "commands.h"
#include "conversion.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "say.h"
#include "trace_kind.h"

#define NOT_TEXT (LPL_FORMAT_BINARY | LPL_FORMAT_IMPORT_ONLY)

struct options {
	const struct lpl_format *format;	/* NULL: by what the trace is */
	bool events, only_events, walks;
	const char *images;		/* a directory; NULL: not asked for */
	struct lpl_choice_options choice;
	enum cli_addresses addresses;
	struct cli_addressing addressing;
	enum cli_when progress;
	const char *trace;
};

static const char *text_formats(char list[CLI_WORDS_SIZE])
{
	return lpl_format_list(list, NOT_TEXT, ", ");
}

static void take_format(struct argp_state *state, const struct cli_option *option, const char *name,
			void *config)
{
	const struct lpl_format *format = lpl_format_find(name);
	const unsigned int traits = format ? lpl_format_traits(format) : 0;

	if ((traits & NOT_TEXT) && !(traits & LPL_FORMAT_IMPORT_ONLY))
		cli_usage_error(state, "the format '%s' is no text; `laplace export' writes it", name);
	((struct options *)config)->format = cli_format(state, option, name);
}

static const struct cli_option option_table[] = {
	{ "format", CLI_TEXT, 'f', .argument = "FORMAT", .take = take_format, .find_words = text_formats,
	  .help = "%o (raw, or sad for a reduced trace)", .wrong = CLI_NO_FORMAT },
	{ "events", CLI_FLAG, 'e', CLI_INTO(struct options, events),
	  .help = "Print kernel events and marks, too" },
	{ "only-events", CLI_FLAG, CLI_INTO(struct options, only_events),
	  .help = "Print kernel events and marks, and no references" },
	{ "walks", CLI_FLAG, CLI_INTO(struct options, walks),
	  .help = "Print references to page tables alone, and of which table each was, for what, and which bits it "
	  "set, as comma-separated values" },
	{ "images", CLI_DIRECTORY, CLI_INTO(struct options, images), .argument = "DIRECTORY",
	  .help = "Print nothing, but write what pages held to DIRECTORY, which is made: a file for each "
	  "content, and images.csv" },
	CLI_WITH(progress, struct options, progress),
	CLI_WITH(addresses, struct options, addresses),
	CLI_WITH(choice, struct options, choice),
	{ .type = CLI_ARGUMENT, .argument = "TRACE", CLI_INTO(struct options, trace),
	  .again = "one trace at a time" },
	{ 0 }
};
static const struct cli_usage usage = {
	"[TRACE]",
	"Print the records of TRACE (or of standard input), one a line."
	"\v"
	"raw: type, cycle, length, address space, address.  sad: type, cycle, instruction "
	"and reference time, address space, page.  diff, sad-diff: the same as differences.  "
	"pages: type, page.  behaviour: of a behaviour sequence, the page fetched and the page "
	"evicted or NF.  Numbers are hexadecimal but for lengths and for csv.  Types "
	"are r (read), w (write), i (instruction fetch), p and q (page-table walk: read, "
	"write).  See laplace-cat(1).",
	option_table, 0
};

static const struct lpl_format *default_format(const struct lpl_meta *meta)
{
	return lpl_format_find(cli_trace_kind(meta).is_whole ? "raw" : "sad");
}

static void report_losses(const struct lpl_exporter *exporter, const struct options *options)
{
	struct lpl_export_result result;
	char text[LPL_WARNINGS_SIZE];

	lpl_exporter_result(exporter, &result);
	if (!options->events)
		result.losses.events = 0;	/* they were not asked for */
	cli_warn(options->trace, lpl_losses_text(&result.losses, text));
}

/* Events go on; references do not. */
struct events_alone {
	struct lpl_sink sink, *to;
};

static enum lpl_error drop_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count, struct lpl_report *report)
{
	(void)sink, (void)refs, (void)count, (void)report;
	return LPL_OK;
}

/* So that no references need be made of a trace's blocks. */
static enum lpl_error drop_steps(struct cli_pass *pass, const struct lpl_page_steps *steps, struct lpl_report *report)
{
	(void)pass, (void)steps, (void)report;
	return LPL_OK;
}

static enum lpl_error pass_event(struct lpl_sink *sink, const struct lpl_event *event, struct lpl_report *report)
{
	struct lpl_sink *to = ((struct events_alone *)sink)->to;

	return to->event(to, event, report);
}

static enum lpl_error pass_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *to = ((struct events_alone *)sink)->to;

	return to->finish(to, report);
}

static int print(struct lpl_reader *reader, const struct options *options)
{
	const struct lpl_meta *meta = lpl_reader_meta(reader);
	const struct lpl_format *format = options->format ? options->format : default_format(meta);
	struct lpl_report report = { 0 };
	struct cli_progress progress;
	struct events_alone alone = { .sink = { drop_refs, pass_event, pass_finish } };
	struct lpl_exporter *exporter;
	struct cli_pass pass;
	int status = cli_check_format(format, &options->choice, options->addressing.convert, options->trace);

	if (status)
		return status;
	if (lpl_exporter_open(&exporter, &(struct lpl_export_options){
			.format = format,
			.meta = meta, .trace = options->trace, .output = "standard output",
			.fd = STDOUT_FILENO, .events = options->events,
			.physical = options->addressing.convert == LPL_ADDRESSES_PHYSICAL }, &report))
		return cli_report(&report);
	/* the lines themselves are the progress when they go to a terminal */
	cli_progress_start(&progress, options->progress == CLI_AUTO && isatty(STDOUT_FILENO) ?
				      CLI_NEVER : options->progress);
	alone.to = lpl_exporter_sink(exporter);
	pass = (struct cli_pass){ .reader = reader, .path = options->trace,
				  .sink = options->only_events ? &alone.sink : alone.to,
				  .step = options->only_events ? drop_steps : NULL, .progress = &progress,
				  .choice = &options->choice, .addressing = &options->addressing,
				  .without_events = !options->events &&
						    !(lpl_format_traits(format) & LPL_FORMAT_CODE),
				  .counts_frames = true };
	status = cli_pass_run(&pass);
	report_losses(exporter, options);
	lpl_exporter_close(exporter);
	return status;
}

static int write_images(struct lpl_reader *reader, const struct options *options)
{
	struct lpl_image_files *files;
	struct lpl_report report = { 0 };
	struct cli_progress progress;
	int status;

	if (!lpl_images_of(lpl_meta_get(lpl_reader_meta(reader), LPL_META_IMAGES)))
		return cli_complain(CLI_USAGE, "%s: has no page images", options->trace);
	if (lpl_image_files_open(&files, options->images, &report)) {
		status = cli_report(&report);
	} else {
		struct cli_pass pass = { .reader = reader, .path = options->trace, .progress = &progress,
					 .sink = lpl_image_files_sink(files), .choice = &options->choice };

		cli_progress_start(&progress, options->progress);
		status = cli_pass_run(&pass);
	}
	lpl_image_files_close(files);
	return status;
}

static int write_walks(struct lpl_reader *reader, const struct options *options)
{
	struct cli_progress progress;
	struct cli_pass pass = { .reader = reader, .path = options->trace, .progress = &progress,
				 .choice = &options->choice };

	cli_progress_start(&progress, options->progress == CLI_AUTO && isatty(STDOUT_FILENO) ?
				      CLI_NEVER : options->progress);
	return cli_cat_walks(&pass);
}

int cmd_cat(int argc, char **argv)
{
	struct options options = { .trace = "-", .addresses = CLI_ADDRESSES_KEPT };
	struct lpl_reader *reader;
	int status;

	cli_parse(&usage, argc, argv, &options);
	options.events |= options.only_events;
	if (options.walks && (options.format || options.events || options.images ||
			      options.addresses != CLI_ADDRESSES_KEPT))
		return cli_complain(CLI_USAGE, "--walks has a table of its own, of physical addresses: without --format, "
				    "--events, --only-events, --images, --addresses");
	if (options.only_events && options.format && options.format != lpl_format_find("csv"))
		return cli_complain(CLI_USAGE, "--only-events prints no references, and so goes with no --format but csv");
	status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	/* what is printed is what the trace has, unless something else is wanted */
	if (options.format && options.addresses == CLI_ADDRESSES_KEPT)
		options.addresses = cli_addresses_for(options.format, options.addresses);
	if (options.addresses != CLI_ADDRESSES_KEPT)
		status = cli_addresses_decide(&options.addressing, options.addresses, options.trace,
					      lpl_reader_meta(reader));
	if (status) {
		lpl_reader_close(reader);
		return status;
	}
	status = options.images ? write_images(reader, &options) :
		 options.walks ? write_walks(reader, &options) : print(reader, &options);
	lpl_reader_close(reader);
	return status;
}
