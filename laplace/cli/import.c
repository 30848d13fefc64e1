/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace import: a trace of somebody else's, as one of ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/reducer.h>

#include "base/host.h"
#include "common.h"
#include "convert/format.h"
#include "convert/importer.h"
#include "survey/tally.h"

#define PAGE_SIZE_MAX (UINT64_C(1) << 30)
#define MOST_HELD 65536		/* events before the first reference: 26 MB */

struct options {
	const struct lpl_format *format;
	const char *output;
	const char *reduction;		/* NULL: by the format */
	uint64_t memory;		/* pages; 0: not given */
	uint64_t page_size;		/* 0: not given */
	const char *addresses, *title;
	int level;
	bool overwrite, json;
	enum cli_when progress;
	const char *input;
};

enum { OPT_REDUCTION = 256, OPT_PAGE_SIZE, OPT_ADDRESSES, OPT_TITLE };

static const struct argp_option option_table[] = {
	{ "from", 'f', "FORMAT", 0,
	  "raw, diff, sad, sad-diff, pages, time-passed, behaviour, csv, din, lackey, npy, "
	  "raw18, oracleGeneral, pdats, pdats2 or kvmtrace", 0 },
	{ "output", 'o', "TRACE", 0, "The trace to write", 0 },
	{ "reduction", OPT_REDUCTION, "SPEC", 0,
	  "What FILE was reduced by before (none; unknown for formats of reduced traces, and for "
	  "references to whole pages)", 0 },
	{ "memory", 'k', "PAGES", 0, "The memory of a behaviour sequence", 0 },
	{ "page-size", OPT_PAGE_SIZE, "BYTES", 0, "Of the pages that FILE tells (4096)", 0 },
	{ "addresses", OPT_ADDRESSES, "KIND", 0, "virtual (the default) or canonical", 0 },
	{ "title", OPT_TITLE, "TEXT", 0, "Kept in the trace", 0 },
	{ "level", 'l', "N", 0, "Compression level of zstd, 1 to 19 (3)", 0 },
	{ 0 }
};

static void check_arguments(const struct argp_state *state, const struct options *options)
{
	const bool behaviour = options->format == &lpl_format_behaviour;
	char list[LPL_FORMAT_LIST_SIZE];

	if (!options->input)
		argp_error(state, "which file?  - is standard input");
	else if (!options->format)
		argp_error(state, "which format?  --from names one of %s", lpl_format_list(list, 0));
	else if (!options->output)
		argp_error(state, "where to?  -o names the trace to write");
	else if (behaviour && !options->memory)
		argp_error(state, "of a memory of how many pages?  -k tells");
	else if (!behaviour && options->memory)
		argp_error(state, "-k is for --from behaviour");
	else if (options->page_size && !(options->format->traits & LPL_FORMAT_PAGES))
		argp_error(state, "--page-size is for formats that tell pages, not for %s",
			   options->format->name);
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
		return 0;
	case 'f':
		options->format = lpl_format_find(arg);
		if (!options->format)
			argp_error(state, "no format '%s': there are %s", arg,
				   lpl_format_list(list, 0));
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case OPT_REDUCTION:
		options->reduction = arg;
		return 0;
	case 'k':
		options->memory = cli_number(state, "-k", arg, 1);
		return 0;
	case OPT_PAGE_SIZE:
		options->page_size = cli_number(state, "--page-size", arg, 1 << LPL_PAGE_SHIFT);
		if (options->page_size > PAGE_SIZE_MAX ||
		    (options->page_size & (options->page_size - 1)))
			argp_error(state, "--page-size takes a power of two from 4096 to %" PRIu64,
				   PAGE_SIZE_MAX);
		return 0;
	case OPT_ADDRESSES:
		if (strcmp(arg, "virtual") != 0 && strcmp(arg, "canonical") != 0)
			argp_error(state, "--addresses is virtual or canonical, not '%s'", arg);
		options->addresses = arg;
		return 0;
	case OPT_TITLE:
		options->title = arg;
		return 0;
	case 'l':
		options->level = (int)cli_number(state, "--level", arg, 1);
		if (options->level > 19)
			argp_error(state, "--level is 1 to 19");
		return 0;
	case ARGP_KEY_ARG:
		if (options->input)
			argp_error(state, "one file at a time");
		options->input = arg;
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
	children, NULL, NULL
};

/* ---- what the trace says of itself ---- */

struct what {
	char reduction[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE];
	uint64_t page_size;
};

/* Pages that are larger than those of the reduction told are its work, too. */
static int tell_page_size(struct what *what, const struct options *options)
{
	uint64_t size = lpl_reduction_page_size(what->reduction);

	what->page_size = size;
	if (!options->page_size || options->page_size == size ||
	    strcmp(what->reduction, "unknown") == 0) {
		if (options->page_size)
			what->page_size = options->page_size;
		return CLI_DONE;
	}
	what->page_size = options->page_size;
	if (strcmp(what->reduction, "none") == 0) {
		snprintf(what->reduction, sizeof(what->reduction), "block:%" PRIu64,
			 options->page_size);
		return CLI_DONE;
	}
	return cli_complain(CLI_USAGE, "--page-size=%" PRIu64 ": the reduction '%s' leaves pages of "
			    "%" PRIu64 " bytes; block:BYTES makes larger ones",
			    options->page_size, what->reduction, size);
}

/* What the trace was reduced by before, as `told`.  Returns an exit status. */
static int tell_reduction(struct what *what, const struct options *options, const char *told)
{
	char before[LPL_SPEC_SIZE], last[LPL_SPEC_SIZE] = "none";
	struct lpl_report report = { 0 };
	int status;

	if (strcmp(told, "unknown") == 0)
		strcpy(what->reduction, told);
	else if (lpl_reducer_describe(NULL, told, what->reduction, what->exact, &report))
		return cli_report(&report);
	status = tell_page_size(what, options);
	if (status)
		return status;
	if (options->memory)
		snprintf(last, sizeof(last), "lrubs:%" PRIu64, options->memory);
	strcpy(before, what->reduction);
	if (lpl_reducer_describe(before, last, what->reduction, what->exact, &report))
		return cli_report(&report);
	return CLI_DONE;
}

static int make_meta(struct lpl_meta **meta, const struct what *what,
		     const struct options *options)
{
	const char *slash = strrchr(options->input, '/');
	const char *source = slash ? slash + 1 : options->input;
	char page_size[24];
	bool failed;

	snprintf(page_size, sizeof(page_size), "%" PRIu64, what->page_size);
	*meta = lpl_meta_new();
	failed = !*meta ||
		 (options->title && lpl_meta_set(*meta, LPL_META_TITLE, options->title)) ||
		 lpl_meta_set(*meta, LPL_META_PRODUCER, "laplace " PACKAGE_VERSION) ||
		 lpl_meta_set(*meta, LPL_META_ADDRESSES,
			      options->addresses ? options->addresses : "virtual") ||
		 lpl_meta_set(*meta, LPL_META_PAGE_SIZE, page_size) ||
		 lpl_meta_set(*meta, LPL_META_REDUCTION, what->reduction) ||
		 lpl_meta_set(*meta, LPL_META_EXACT, what->exact) ||
		 (strcmp(source, "-") != 0 && !strchr(source, '\n') &&
		  lpl_meta_set(*meta, LPL_META_SOURCE, source));
	if (failed)
		return cli_complain(CLI_FAILED, "the trace's header cannot be made: %s",
				    options->title && strchr(options->title, '\n') ?
				    "a title has one line" : "no memory");
	return CLI_DONE;
}

/* ---- the run ---- */

struct run {
	const struct options *options;
	struct what what;
	int fd;
	uint64_t size;			/* of the file; 0: not known */
	struct lpl_meta *meta;
	struct lpl_writer *writer;	/* NULL until the header is known */
	int status;			/* of opening it */
	bool guessed;			/* that nothing was dropped, by the first reference */
	struct lpl_event *held;		/* events before that */
	size_t held_count, held_room;
	struct lpl_importer *importer;
	struct tally tally;
	struct lpl_sink tee;		/* to the tally, then to the writer */
	struct cli_progress progress;
};

#define RUN_OF(sink) ((struct run *)((char *)(sink) - offsetof(struct run, tee)))

/*
 * How many references there were before reduction: those that came by, when none
 * were dropped; else as many as they are numbered, if they are.
 */
static void tell_totals(struct run *run, uint64_t last)
{
	const struct tally *tally = &run->tally;
	struct lpl_totals totals = { .events = tally->events };

	if (strcmp(run->what.reduction, "none") == 0) {
		totals.total = tally->all_refs;
		memcpy(totals.refs, tally->refs, sizeof(totals.refs));
		totals.user_refs = tally->user_refs;
	} else if (run->options->format->traits & LPL_TELLS_REF) {
		totals.total = last > tally->all_refs ? last : tally->all_refs;
	}
	lpl_writer_totals(run->writer, &totals);
}

static int open_writer(struct run *run, const char *told)
{
	const struct options *options = run->options;
	const struct lpl_writer_options writer_options = { .level = options->level,
							   .jobs = cli_jobs(0) };
	struct lpl_report report = { 0 };
	int status = tell_reduction(&run->what, options, told);

	if (!status)
		status = make_meta(&run->meta, &run->what, options);
	if (!status && lpl_writer_open(&run->writer, options->output, run->meta, &writer_options,
				       options->overwrite, &report))
		status = cli_report(&report);
	return status;
}

static int send_event(struct run *run, const struct lpl_event *event, struct lpl_report *report)
{
	struct lpl_sink *next = lpl_writer_sink(run->writer);

	if (run->tally.sink.event(&run->tally.sink, event, report))
		return report->error;
	tell_totals(run, event->ref);
	return next->event(next, event, report);
}

/* The header is known: open the trace, and send what came before. */
static int begin(struct run *run, bool reduced, struct lpl_report *report)
{
	int error = LPL_OK;

	run->guessed = !reduced;
	run->status = open_writer(run, reduced ? "unknown" : "none");
	/* it has been told why */
	if (run->status)
		return report->error = LPL_ERR_INTERNAL;
	for (size_t i = 0; i < run->held_count && !error; i++)
		error = send_event(run, &run->held[i], report);
	free(run->held);
	run->held = NULL;
	run->held_count = run->held_room = 0;
	return error;
}

static bool is_reduced(const struct lpl_ref *ref)
{
	return (ref->flags & (LPL_PAGED | LPL_SYNTHETIC)) != 0;
}

static int check_guess(const struct run *run, const struct lpl_ref *refs, size_t count,
		       struct lpl_report *report)
{
	for (size_t i = 0; i < count; i++) {
		if (is_reduced(&refs[i]))
			return lpl_fail(report, LPL_ERR_USAGE, "%s: reference %" PRIu64 " is to a whole "
					"page, others before it are not: what was it reduced by?  "
					"--reduction tells (unknown, if nobody knows)",
					run->options->input, refs[i].ref);
	}
	return LPL_OK;
}

static int tee_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		    struct lpl_report *report)
{
	struct run *run = RUN_OF(sink);
	struct lpl_sink *next;

	if (!run->writer && begin(run, is_reduced(&refs[0]), report))
		return report->error;
	if (run->guessed && check_guess(run, refs, count, report))
		return report->error;
	if (run->tally.sink.refs(&run->tally.sink, refs, count, report))
		return report->error;
	tell_totals(run, refs[count - 1].ref);
	next = lpl_writer_sink(run->writer);
	return next->refs(next, refs, count, report);
}

static int hold_event(struct run *run, const struct lpl_event *event, struct lpl_report *report)
{
	if (run->held_count == run->held_room) {
		size_t room = run->held_room ? 2 * run->held_room : 64;
		struct lpl_event *held = realloc(run->held, room * sizeof(*held));

		if (!held)
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %zu events", room);
		run->held = held;
		run->held_room = room;
	}
	run->held[run->held_count++] = *event;
	return LPL_OK;
}

static int tee_event(struct lpl_sink *sink, const struct lpl_event *event,
		     struct lpl_report *report)
{
	struct run *run = RUN_OF(sink);

	if (!run->writer && run->held_count < MOST_HELD)
		return hold_event(run, event, report);
	if (!run->writer && begin(run, false, report))
		return report->error;
	return send_event(run, event, report);
}

static int tee_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct run *run = RUN_OF(sink);
	struct lpl_sink *next;

	if (!run->writer && begin(run, false, report))
		return report->error;
	next = lpl_writer_sink(run->writer);
	return next->finish(next, report);
}

static void show(const struct lpl_importer *importer, void *context)
{
	struct run *run = context;
	struct cli_progress *progress = &run->progress;
	char refs[CLI_HUMAN_SIZE], rate[CLI_HUMAN_SIZE], left[CLI_HUMAN_SIZE];
	double seconds;

	if (!cli_progress_due(progress))
		return;
	seconds = (double)(lpl_now_ns() - progress->start_ns) / 1e9;
	cli_human(refs, importer->refs);
	cli_human(rate, (uint64_t)((double)importer->refs / seconds));
	if (run->size && importer->bytes && importer->bytes <= run->size) {
		double done = (double)importer->bytes / (double)run->size;

		cli_duration(left, (uint64_t)(seconds * (1 / done - 1) + 0.5));
		cli_progress_line(progress, "%3.0f%%  %s references  %s/s  %s left", 100 * done,
				  refs, rate, left);
	} else {
		cli_progress_line(progress, "%s references  %s/s", refs, rate);
	}
}

static int open_input(struct run *run)
{
	const char *path = run->options->input;
	struct stat about;

	run->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (run->fd < 0 || fstat(run->fd, &about) != 0)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (S_ISDIR(about.st_mode))
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(EISDIR));
	if (S_ISREG(about.st_mode))
		run->size = (uint64_t)about.st_size;
	return CLI_DONE;
}

/*
 * What FILE was reduced by, where that is plain from the start; NULL: its first reference
 * will tell whether it was.
 */
static const char *reduction_of(const struct options *options)
{
	if (options->reduction)
		return options->reduction;
	if (options->format->traits & LPL_FORMAT_REDUCED)
		return "unknown";
	return options->format->traits & LPL_TELLS_LENGTH ? NULL : "none";
}

static int open_run(struct run *run)
{
	const struct options *options = run->options;
	const char *told = reduction_of(options);
	int status = tell_reduction(&run->what, options, told ? told : "none");

	if (!status)
		status = cli_refuse_input(options->output, options->input);
	if (!status)
		status = cli_refuse_existing(options->output, options->overwrite);
	if (!status)
		status = open_input(run);
	if (status)
		return status;
	run->tee = (struct lpl_sink){ tee_refs, tee_event, tee_finish };
	run->importer = lpl_importer_new(&(struct lpl_import_options){
		.path = options->input, .fd = run->fd, .format = options->format,
		.sink = &run->tee, .memory = options->memory,
		.page_shift = (unsigned int)__builtin_ctzll(run->what.page_size),
		.progress = show, .context = run });
	if (!run->importer)
		return cli_complain(CLI_FAILED, "no memory");
	return told ? open_writer(run, told) : CLI_DONE;
}

/* What was read well, but may not be what was meant. */
static void warn(const struct run *run)
{
	const struct lpl_importer *importer = run->importer;
	const struct options *options = run->options;
	const char *path = options->input;

	if (!importer->bytes)
		cli_complain(0, "warning: %s: is empty, and so is the trace", path);
	else if (!importer->refs)
		cli_complain(0, "warning: %s: holds no reference, so that the trace is empty",
			     path);
	if (importer->unended)
		cli_complain(0, "warning: %s: line %" PRIu64 ", the last, has no end: was the file "
			     "cut off?", path, importer->place);
	if (importer->paged && !options->reduction)
		cli_complain(0, "warning: %s: holds references to whole pages, so that it was "
			     "reduced; --reduction tells by what", path);
	if (importer->unknown)
		cli_complain(0, "warning: %s: %" PRIu64 " references of unknown type became reads",
			     path, importer->unknown);
	if (importer->skipped)
		cli_complain(0, "warning: %s: %" PRIu64 " cache flushes were passed over", path,
			     importer->skipped);
	if (importer->foreign)
		cli_complain(0, "warning: %s: %" PRIu64 " lines that are not %s's were passed over, "
			     "the first of them line %" PRIu64 "; what a program printed may hide "
			     "references: valgrind's --log-file keeps it apart", path,
			     importer->foreign, options->format->name, importer->first_foreign);
	if (importer->sizes)
		cli_complain(0, "warning: %s: sizes of objects are not kept: each is a page of %"
			     PRIu64 " bytes", path, run->what.page_size);
	if (importer->unread)
		cli_complain(0, "warning: %s: tracing ended by itself, when nobody had read the log "
			     "for %" PRIu64 " seconds: what came after is not in it", path,
			     importer->unread);
}

static int print_summary(const struct run *run, uint64_t bytes)
{
	const struct options *options = run->options;
	/* the trace may be going to stdout */
	FILE *out = strcmp(options->output, "-") == 0 ? stderr : stdout;
	const struct lpl_importer *importer = run->importer;

	if (!options->json) {
		fprintf(out, "%s: %" PRIu64 " references, %" PRIu64 " events, %" PRIu64 " bytes, "
			"reduction %s, exact for %s\n", options->output, importer->refs,
			importer->events, bytes, run->what.reduction, run->what.exact);
		return CLI_DONE;
	}
	return cli_print_json(out,
		json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:s}",
			  "file", options->output, "source", options->input,
			  "format", options->format->name,
			  "references", (json_int_t)importer->refs,
			  "events", (json_int_t)importer->events,
			  "spaces", (json_int_t)run->tally.spaces,
			  "page_size", (json_int_t)run->what.page_size,
			  "bytes", (json_int_t)bytes,
			  "reduction", run->what.reduction, "exact", run->what.exact));
}

/* The input was wrong: what is before that stays where it can be looked at. */
static int leave_part(struct run *run, const struct lpl_report *report)
{
	const char *output = run->options->output;
	const int status = run->status ? run->status : cli_report(report);

	if (status != CLI_DAMAGED || !run->writer || lpl_writer_flush(run->writer, NULL) ||
	    strcmp(output, "-") == 0)
		return status;
	return cli_complain(status, "%s.part: holds the %" PRIu64 " references before that",
			    output, run->importer->refs);
}

static int import(struct run *run)
{
	const char *output = run->options->output;
	struct lpl_report report = { 0 };
	struct stat about;
	uint64_t bytes;
	int status;

	cli_progress_start(&run->progress, run->options->progress);
	status = lpl_importer_run(run->importer, &report);
	cli_progress_clear(&run->progress);
	if (status)
		return leave_part(run, &report);
	/* of a pipe, without the index that is still to come */
	bytes = lpl_writer_bytes(run->writer);
	status = lpl_writer_close(run->writer, &report);
	run->writer = NULL;
	if (status)
		return cli_report(&report);
	if (stat(output, &about) == 0 && S_ISREG(about.st_mode))
		bytes = (uint64_t)about.st_size;
	warn(run);
	return print_summary(run, bytes);
}

int cmd_import(int argc, char **argv)
{
	struct options options = { 0 };
	struct run run = { .options = &options, .fd = -1 };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not written to a terminal");
	tally_init(&run.tally);
	status = open_run(&run);
	if (!status)
		status = import(&run);
	lpl_writer_abandon(run.writer);
	lpl_importer_free(run.importer);
	lpl_meta_free(run.meta);
	tally_free(&run.tally);
	free(run.held);
	if (run.fd > STDIN_FILENO)
		close(run.fd);
	return status;
}
