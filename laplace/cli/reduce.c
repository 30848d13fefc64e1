/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace reduce: write a trace that has fewer references.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include <laplace/code.h>
#include <laplace/counts.h>
#include <laplace/reducer.h>
#include <laplace/select.h>
#include <laplace/trace.h>

#include "commands.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "replace.h"
#include "say.h"
#include "trace_kind.h"

struct options {
	const char *method;
	char pages[24], tau[24];	/* as text; "": not given */
	const char *output;
	int level;
	struct lpl_choice_options choice;
	bool overwrite, json;
	bool pc;			/* program counters are kept */
	enum cli_when progress;
	unsigned int jobs;		/* 0: one for each processor */
	const char *trace;
};

/* Not as 064, say. */
static void take_digits(struct argp_state *state, const struct cli_option *option, const char *value,
			void *config)
{
	snprintf((char *)config + option->offset, option->size, "%" PRIu64,
		 cli_limited(state, option, value));
}

/* Such as a pipe, of which there is nothing to read a second time. */
static bool is_read_once(const char *path)
{
	struct stat about;

	return strcmp(path, "-") == 0 ||
	       (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
}

static void check_all(struct argp_state *state, void *config)
{
	const struct options *options = config;

	if (!options->method)
		argp_error(state, "which method?  -m sad:64, for one");
	if (!options->output)
		argp_error(state, "where to?  -o names the trace to write");
	if (options->pc && options->trace && is_read_once(options->trace))
		argp_error(state, "--pc reads the trace twice: name a file");
	if (options->pc && lpl_choice_chooses(&options->choice))
		argp_error(state, "--pc is for whole traces");
}

static const struct cli_option option_table[] = {
	{ "method", CLI_CHAIN, 'm', CLI_INTO(struct options, method), .argument = "METHOD",
	  .words = "none block window sad sad2 sad2-fix olr lrubs annotated sad-ws sd irg glass-cao in-out "
	  "replay fence unfence",
	  .help = "none, block[:BYTES], window:K, sad:K, sad2:K, sad2-fix:K, olr:K, lrubs:K, "
	  "annotated:K, sad-ws:TAU, sd:K, irg:THETA, glass-cao:N, in-out:N, replay, fence, or several "
	  "joined by +"},
	{ "pages", CLI_NUMBER, 'k', CLI_INTO(struct options, pages), .argument = "PAGES", .least = 1,
	  .take = take_digits, .help = "The K of a METHOD given without one" },
	{ "tau", CLI_NUMBER, CLI_INTO(struct options, tau), .argument = "REFS", .least = 1,
	  .take = take_digits, .help = "The TAU or THETA of a METHOD given without one" },
	{ "pc", CLI_FLAG, CLI_INTO(struct options, pc),
	  .help = "Keep the program counter of each reference that is kept, as an event before it" },
	{ "output", CLI_FILE, 'o', CLI_INTO(struct options, output), .argument = "TRACE2",
	  .help = "The trace to write" },
	CLI_LEVEL(struct options, level, .group = 0),
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	CLI_WITH(jobs, struct options, jobs),
	CLI_WITH(choice, struct options, choice),
	CLI_TRACE_ARGUMENT(struct options, trace),
	{ .type = CLI_CHECK, .check = check_all },
	{ 0 }
};
static const struct cli_usage usage = {
	"-m METHOD -o TRACE2 TRACE",
	"Write TRACE2: TRACE without the references that METHOD drops."
	"\v"
	"K is in pages, TAU and THETA are in references, N is in instructions.  What the "
	"new trace is exact for is said, by its header, too.  `-m sad -k 64' is "
	"`-m sad:64', `-m sad-ws --tau 1000' is `-m sad-ws:1000'.  See laplace-reduce(1).",
	option_table, 0
};

/* What is to be put after a part of a chain, which may have a number already. */
static const char *number_for(const char *part, size_t length, const struct options *options)
{
	enum lpl_unit unit = LPL_UNIT_PAGES;	/* as good as any: the library will refuse it */

	if (memchr(part, ':', length))
		return "";
	(void)lpl_method_unit(part, length, &unit);
	return unit == LPL_UNIT_PAGES ? options->pages :
		unit == LPL_UNIT_REFERENCES ? options->tau : "";
}

/* METHOD with -k and --tau put where a number is missing.  Returns an exit status. */
static int make_spec(char spec[LPL_SPEC_SIZE], const struct options *options)
{
	const char *part = options->method;
	size_t used = 0;
	bool pages_placed = false, tau_placed = false;

	for (;;) {
		size_t length = strcspn(part, "+");
		const char *number = number_for(part, length, options);
		int n = snprintf(spec + used, LPL_SPEC_SIZE - used, "%.*s%s%s%s",
				 (int)(length < LPL_SPEC_SIZE ? length : LPL_SPEC_SIZE),
				 part, number[0] ? ":" : "", number, part[length] ? "+" : "");

		if (n < 0 || (size_t)n >= LPL_SPEC_SIZE - used)
			return cli_complain(CLI_USAGE, "the method is too long");
		used += (size_t)n;
		pages_placed |= number == options->pages;
		tau_placed |= number == options->tau;
		if (!part[length])
			break;
		part += length + 1;
	}
	if (options->pages[0] && !pages_placed)
		return cli_complain(CLI_USAGE, "-k %s: the method '%s' leaves no place for it",
				    options->pages, options->method);
	if (options->tau[0] && !tau_placed)
		return cli_complain(CLI_USAGE, "--tau %s: the method '%s' leaves no place for it",
				    options->tau, options->method);
	return CLI_DONE;
}

/*
 * The reduction that TRACE has had, with what makes its pages as large as its header says.  That is left out
 * if nothing is to be reduced.
 */
static int reduction_before(char before[LPL_SPEC_SIZE], const struct lpl_meta *meta, const char *spec,
			    const char *path)
{
	const char *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);
	const struct cli_trace_kind kind = cli_trace_kind(meta);
	struct lpl_exactness exactness;
	struct lpl_report report = { 0 };
	char block[32], exact[LPL_SPEC_SIZE];

	if (!kind.page_size)
		return cli_complain(CLI_USAGE, "%s: " LPL_NO_PAGE_SIZE, path);
	if (snprintf(before, LPL_SPEC_SIZE, "%s", reduction ? reduction : "none") >= LPL_SPEC_SIZE)
		return cli_complain(CLI_USAGE, "%s: its reduction is too long", path);
	if (kind.page_size == lpl_reduction_page_size(reduction) || strcmp(spec, "none") == 0 ||
	    !lpl_reduction_exactness(reduction, &exactness))
		return CLI_DONE;
	snprintf(block, sizeof(block), "block:%" PRIu64, kind.page_size);
	return lpl_reducer_describe(reduction, block, before, exact, &report) ? cli_report(&report) :
		CLI_DONE;
}

/*
 * The size of pages that SPEC leaves, as text; "": nothing is known to have changed
 * it.  Canonical pages cannot be put together to larger ones.
 */
static int page_size_after(char size[24], const struct lpl_meta *meta, const char *spec,
			   const char *reduction, struct lpl_report *report)
{
	const struct cli_trace_kind before = cli_trace_kind(meta);
	struct lpl_exactness exactness;
	/* what an unknown method did to pages is in the header, if anywhere */
	bool known = lpl_reduction_exactness(reduction, &exactness);
	uint64_t bytes = strcmp(spec, "none") == 0 ? before.page_size :
		lpl_reduction_page_size(known ? reduction : spec);

	size[0] = '\0';
	if (before.is_canonical && bytes > lpl_reduction_page_size(before.reduction))
		return lpl_fail(report, LPL_ERR_USAGE,
				"the method '%s' makes pages larger, but the trace has canonical "
				"pages, and their numbers do not say what lies beside what; "
				"use it before laplace merge", spec);
	if (known || bytes > lpl_reduction_page_size("none"))
		snprintf(size, 24, "%" PRIu64, bytes);
	return LPL_OK;
}

/* What the new trace says of itself. */
static enum lpl_error derive_meta(struct lpl_meta **derived, const struct lpl_meta *meta,
				  const char *before, const struct options *options, const char *spec,
				  struct lpl_report *report)
{
	char reduction[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE], size[24];
	const char *source = lpl_meta_get(meta, LPL_META_TITLE);
	const char *slash = strrchr(options->trace, '/');

	if (!source && strcmp(options->trace, "-") != 0)
		source = slash ? slash + 1 : options->trace;
	if (lpl_reducer_describe(before, spec, reduction, exact, report) ||
	    page_size_after(size, meta, spec, reduction, report))
		return report->error;
	*derived = lpl_meta_copy(meta);
	if (!*derived)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	lpl_meta_remove(*derived, LPL_META_SEGMENT);	/* what is made of one is none */
	if (lpl_meta_set(*derived, LPL_META_REDUCTION, reduction) ||
	    lpl_meta_set(*derived, LPL_META_EXACT, exact) ||
	    (size[0] && lpl_meta_set(*derived, LPL_META_PAGE_SIZE, size)) ||
	    (source && !strchr(source, '\n') &&
	     lpl_meta_set(*derived, LPL_META_SOURCE, source)) ||
	    (options->pc && lpl_meta_set(*derived, LPL_META_PROGRAM_COUNTERS, "kept")))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	if (!lpl_has_code(*derived))
		lpl_meta_remove(*derived, LPL_META_CODE);
	return LPL_OK;
}

/* One run: the two ends and what stands between them. */
struct run {
	struct lpl_reader *reader;
	struct lpl_writer *writer;
	struct lpl_reducer *reducer;
	struct lpl_program_counters *counters;	/* after it; or NULL */
	struct cli_pass *pass;
	struct lpl_meta *chosen;	/* of what is reduced */
	struct lpl_meta *meta;		/* of what comes out */
	struct lpl_counts *tally;	/* counts on the way in */
	struct lpl_sink tee;		/* to the tally, then to the reducer */
	struct lpl_sink end;		/* to the writer, which is opened last */
};

#define RUN_OF(sink) ((struct run *)((char *)(sink) - offsetof(struct run, tee)))

/*
 * The totals before reduction are those of the first trace of all; one that has none,
 * or has fewer than were read, is taken as such itself.
 */
static void carry_totals(const struct run *run)
{
	const bool all = !lpl_choice_chooses(run->pass->choice);
	const struct lpl_counts *tally = run->tally;
	struct lpl_totals totals;
	const bool known = cli_pass_totals(run->pass, &totals);

	/* (of a part of what was reduced it is not known) */
	if (all ? cli_refs_before(&totals) < tally->all_refs - tally->synthetic : known) {
		totals.total = tally->all_refs;
		memcpy(totals.refs, tally->refs, sizeof(totals.refs));
		totals.user_refs = tally->user_refs;
		totals.events = tally->events.all;
	}
	lpl_writer_totals(run->writer, &totals);
}

static enum lpl_error tee_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			       struct lpl_report *report)
{
	struct run *run = RUN_OF(sink);
	struct lpl_sink *next = lpl_reducer_sink(run->reducer);
	enum lpl_error error = run->tally->sink.refs(&run->tally->sink, refs, count, report);

	carry_totals(run);
	return error ? error : next->refs(next, refs, count, report);
}

static enum lpl_error tee_event(struct lpl_sink *sink, const struct lpl_event *event,
				struct lpl_report *report)
{
	struct run *run = RUN_OF(sink);
	struct lpl_sink *next = lpl_reducer_sink(run->reducer);
	enum lpl_error error = run->tally->sink.event(&run->tally->sink, event, report);

	carry_totals(run);
	/* they are looked up again for what is kept now */
	if (run->counters && event->tag == LPL_EVENT_PROGRAM_COUNTER)
		return error;
	return error ? error : next->event(next, event, report);
}

static enum lpl_error tee_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *next = lpl_reducer_sink(RUN_OF(sink)->reducer);

	return next->finish(next, report);
}

#define WRITER_OF(sink) \
	lpl_writer_sink(((struct run *)((char *)(sink) - offsetof(struct run, end)))->writer)

static enum lpl_error end_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			       struct lpl_report *report)
{
	struct lpl_sink *next = WRITER_OF(sink);

	return next->refs(next, refs, count, report);
}

static enum lpl_error end_event(struct lpl_sink *sink, const struct lpl_event *event,
				struct lpl_report *report)
{
	struct lpl_sink *next = WRITER_OF(sink);

	return next->event(next, event, report);
}

static enum lpl_error end_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *next = WRITER_OF(sink);

	return next->finish(next, report);
}

/* Whatever may be refused is opened before the output: a refusal leaves no file. */
static int open_run(struct run *run, const struct options *options, const char *spec)
{
	struct lpl_writer_options writer_options = { .level = options->level,
						     .jobs = cli_jobs(options->jobs) };
	struct lpl_report report = { 0 };
	struct lpl_sink *last = &run->end;
	const char *reduction;
	char before[LPL_SPEC_SIZE];
	int status = cli_choice_meta(&run->chosen, lpl_reader_meta(run->reader), &options->choice);

	if (!status)
		status = reduction_before(before, run->chosen, spec, options->trace);
	if (status)
		return status;
	if (derive_meta(&run->meta, run->chosen, before, options, spec, &report))
		return cli_report(&report);
	run->end = (struct lpl_sink){ end_refs, end_event, end_finish };
	if (options->pc &&
	    lpl_program_counters_open(&run->counters, options->trace, last, &report))
		return cli_report(&report);
	if (run->counters)
		last = lpl_program_counters_sink(run->counters);
	if (lpl_reducer_open(&run->reducer, before, spec, last, &report))
		return cli_report(&report);
	run->tee = (struct lpl_sink){ tee_refs, tee_event, tee_finish };
	/* every reference that was made is what packing as blocks is for */
	reduction = lpl_meta_get(run->meta, LPL_META_REDUCTION);
	writer_options.blocks = reduction && strcmp(reduction, "none") == 0;
	if (lpl_writer_open(&run->writer, options->output, run->meta, &writer_options,
			    options->overwrite, &report))
		return cli_report(&report);
	return CLI_DONE;
}

static int print_summary(const struct options *options, const struct run *run,
			 uint64_t kept, uint64_t bytes)
{
	/* the trace may be going to stdout */
	FILE *out = strcmp(options->output, "-") == 0 ? stderr : stdout;
	uint64_t read = run->tally->all_refs;
	double share = read ? (double)kept / (double)read : 0;
	char percent[CLI_PERCENT_SIZE];
	const char *reduction = lpl_meta_get(run->meta, LPL_META_REDUCTION);
	const char *exact = lpl_meta_get(run->meta, LPL_META_EXACT);

	if (!options->json) {
		cli_say(out, "%s: kept %" PRIu64 " of %" PRIu64 " references (%s), "
			"%" PRIu64 " bytes, reduction %s, exact for %s", options->output,
			kept, read, cli_percent(percent, 4, kept, read), bytes, reduction, exact);
		return CLI_DONE;
	}
	return cli_print_json(out,
		json_pack("{s:o, s:I, s:I, s:f, s:I, s:I, s:o, s:o}",
			  "file", cli_json_text(options->output), "read", (json_int_t)read,
			  "kept", (json_int_t)kept, "kept_share", share,
			  "events", (json_int_t)run->tally->events.all,
			  "bytes", (json_int_t)bytes,
			  "reduction", cli_json_text(reduction), "exact", cli_json_text(exact)));
}

/* Returns an exit status; `run` holds what main has to free. */
static int reduce(struct run *run, const struct options *options, const char *spec)
{
	struct lpl_report report = { 0 };
	struct cli_progress progress;
	struct cli_pass pass;
	struct stat about;
	uint64_t kept, bytes;
	int status = open_run(run, options, spec);

	if (status)
		return status;
	cli_progress_start(&progress, options->progress);
	pass = (struct cli_pass){ .reader = run->reader, .path = options->trace,
				  .sink = &run->tee, .progress = &progress,
				  .choice = &options->choice, .renumbers = true,
				  .past_damage = true };
	run->pass = &pass;
	status = cli_pass_run(&pass);
	if (status != CLI_DONE && status != CLI_DAMAGED)
		return status;
	carry_totals(run);
	if (lpl_writer_flush(run->writer, &report))
		return cli_report(&report);
	kept = lpl_writer_refs(run->writer);
	/* of a pipe, without the index that is still to come */
	bytes = lpl_writer_bytes(run->writer);
	if (lpl_writer_close(run->writer, &report)) {
		run->writer = NULL;
		return cli_report(&report);
	}
	run->writer = NULL;
	if (stat(options->output, &about) == 0 && S_ISREG(about.st_mode))
		bytes = (uint64_t)about.st_size;
	if (print_summary(options, run, kept, bytes))
		return CLI_FAILED;
	return status;
}

int cmd_reduce(int argc, char **argv)
{
	struct options options = { 0 };
	char spec[LPL_SPEC_SIZE];
	struct lpl_counts tally;
	struct run run = { .tally = &tally };
	int status;

	cli_parse(&usage, argc, argv, &options);
	if (strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not written to a terminal");
	status = make_spec(spec, &options);
	if (!status)
		status = cli_refuse_input(options.output, options.trace);
	if (!status)
		status = cli_refuse_existing(options.output, options.overwrite);
	if (!status)
		status = cli_reader_open(&run.reader, options.trace);
	if (status)
		return status;
	lpl_reader_jobs(run.reader, options.jobs);
	lpl_counts_init(&tally);
	status = reduce(&run, &options, spec);
	lpl_writer_abandon(run.writer);
	lpl_reducer_close(run.reducer);
	lpl_program_counters_close(run.counters);
	lpl_meta_free(run.meta);
	lpl_meta_free(run.chosen);
	lpl_counts_free(&tally);
	lpl_reader_close(run.reader);
	return status;
}
