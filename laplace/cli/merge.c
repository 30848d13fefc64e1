/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace merge: the post-processor.  Virtual pages become canonical ones.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <laplace/merge.h>
#include <laplace/reducer.h>
#include <laplace/trace.h>

#include "commands.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "replace.h"
#include "say.h"
#include "text_output.h"
#include "trace_kind.h"

enum format { GLOBAL, PER_PROCESS, CANONICAL, FORMATS };

struct options {
	enum format format;		/* FORMATS: not given */
	const char *output;		/* NULL: only the audit is wanted */
	uint64_t kernel_base;		/* 0: the default */
	bool audit, differences;
	uint32_t problems;
	struct lpl_choice_options choice;
	bool overwrite, json;
	enum cli_when progress;
	unsigned int jobs;		/* 0: one for each processor */
	const char *trace;
};

static void check_all(struct argp_state *state, void *config)
{
	const struct options *options = config;

	if (options->audit && options->format == FORMATS && !options->output)
		return;
	if (options->format == FORMATS)
		argp_error(state, "which format?  --format global, for one");
	if (options->differences && options->format != PER_PROCESS)
		argp_error(state, "--differences is for --format per-process");
	if (!options->output)
		argp_error(state, "where to?  -o names the output");
}

static const struct cli_option option_table[] = {
	{ "format", CLI_WORD, 'f', CLI_INTO(struct options, format), .argument = "FORMAT",
	  .words = "global per-process canonical", .wrong = "no format '%s': there are %a",
	  .help = "global (one canonical page a line), per-process (a directory with a file for "
	  "each task) or canonical (a trace)"},
	{ "output", CLI_FILE, 'o', CLI_INTO(struct options, output), .argument = "OUT",
	  .help = "What to write" },
	{ "differences", CLI_FLAG, CLI_INTO(struct options, differences),
	  .help = "per-process: numbers as differences from the line before, in fewer bytes" },
	CLI_KERNEL_BASE(struct options, kernel_base, 0),
	{ "audit", CLI_FLAG, CLI_INTO(struct options, audit),
	  .help = "Print the books and check that they balance; -f and -o may be left out" },
	{ "problems", CLI_NUMBER, CLI_INTO(struct options, problems), .argument = "N",
	  .most = 1000, .standard = "3", .wrong = "%n takes a number up to %m",
	  .help = "How many records of each kind that do not fit an audit shows (%d)" },
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
	"--format FORMAT -o OUT TRACE\n--audit TRACE",
	"Give every reference of TRACE its canonical page: the same for all virtual pages "
	"that show the same data."
	"\v"
	"global: the page of each reference, in hex, one a line.  per-process: a directory for "
	"each process and in it a file for each task, named by number; tasks.csv says which is "
	"which.  canonical: a trace of canonical pages, for laplace sim and reduce.",
	option_table, 0
};

/* No output: the audit alone. */
static enum lpl_error ignore_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				       struct lpl_report *report)
{
	(void)output;
	(void)merged;
	(void)report;
	return LPL_OK;
}

static enum lpl_error ignore_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

/* The output, whichever it is. */
struct target {
	struct lpl_merge_output none;
	struct cli_output text;		/* global */
	bool text_open;
	struct lpl_writer *writer;	/* canonical */
	struct lpl_merge *merge;
	struct lpl_merge_output *output;
};

static int open_target(struct target *target, const struct options *options,
		       struct lpl_reader *reader)
{
	const struct lpl_writer_options writer_options = { .jobs = cli_jobs(options->jobs) };
	struct lpl_report report = { 0 };
	struct lpl_meta *chosen, *meta;
	int status;

	if (!options->output) {
		target->none = (struct lpl_merge_output){ .reference = ignore_reference,
							  .finish = ignore_finish };
		target->output = &target->none;
		return CLI_DONE;
	}
	if (options->format == PER_PROCESS) {
		if (lpl_merge_per_process_open(&target->output, options->output,
					       options->overwrite, &report) ||
		    lpl_merge_per_process_jobs(target->output, options->jobs, &report))
			return cli_report(&report);
		if (options->differences)
			lpl_merge_per_process_differences(target->output);
		return CLI_DONE;
	}
	if (options->format == GLOBAL) {
		status = cli_output_open(&target->text, options->output, options->overwrite);
		if (status)
			return status;
		target->text_open = true;
		if (lpl_merge_global_open(&target->output, target->text.file, &report))
			return cli_report(&report);
		return CLI_DONE;
	}
	status = cli_choice_meta(&chosen, lpl_reader_meta(reader), &options->choice);
	if (status)
		return status;
	meta = lpl_merge_canonical_meta(chosen);
	lpl_meta_free(chosen);
	if (!meta)
		return cli_complain(CLI_FAILED, "no memory");
	if (lpl_writer_open(&target->writer, options->output, meta, &writer_options,
			    options->overwrite, &report) ||
	    lpl_merge_canonical_open(&target->output, lpl_writer_sink(target->writer), &report))
		status = cli_report(&report);
	else
		status = CLI_DONE;
	lpl_meta_free(meta);
	return status;
}

/* Make what was written final, or not.  Returns the status. */
static int close_target(struct target *target, const struct options *options, int status)
{
	struct lpl_report report = { 0 };

	if (!options->output)
		return status;
	if (options->format == PER_PROCESS) {
		lpl_merge_per_process_close(target->output);
		return status;
	}
	if (options->format == GLOBAL) {
		lpl_merge_global_close(target->output);
		return target->text_open ? cli_output_close(&target->text, status) : status;
	}
	lpl_merge_canonical_close(target->output);
	if (status != CLI_DONE && status != CLI_DAMAGED)
		lpl_writer_abandon(target->writer);
	else if (lpl_writer_close(target->writer, &report))
		return cli_report(&report);
	return status;
}

/*
 * What the trace says of itself.  Of references only what was not reduced can
 * be held against it.
 */
static void carry_totals(struct cli_pass *pass, void *context)
{
	struct target *target = context;
	struct lpl_totals totals;
	const bool known = cli_pass_totals(pass, &totals);

	if (target->writer)
		lpl_writer_totals(target->writer, &totals);
	lpl_merge_audit_expect(target->merge, totals.events,
			       known && pass->kind.reduction && pass->kind.is_whole ?
			       cli_refs_before(&totals) : 0);
}

/* ---- what is said at the end ---- */

static json_t *audit_json(const struct lpl_merge *merge)
{
	const struct lpl_merge_audit *books = lpl_merge_audit(merge);
	const struct lpl_merge_problem *problem;
	json_t *problems = json_array();
	size_t count;

	problem = lpl_merge_problems(merge, &count);
	for (size_t i = 0; i < count; i++, problem++) {
		const char *name = problem->is_event ? lpl_event_name(problem->event.tag) : NULL;

		json_array_append_new(problems, json_pack("{s:s, s:I, s:I, s:I, s:I, s:s}",
			"odd", lpl_merge_anomaly_name(problem->anomaly),
			"tid", (json_int_t)problem->tid, "tgid", (json_int_t)problem->tgid,
			"cycle", (json_int_t)(problem->is_event ? problem->event.cycle :
								  problem->ref.cycle),
			"reference", (json_int_t)(problem->is_event ? problem->event.ref :
								      problem->ref.ref),
			"record", !problem->is_event ? "reference" : name ? name : "unknown"));
	}
	return json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I,"
			 " s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
			 "balanced", books->balanced,
			 "references", (json_int_t)books->references,
			 "references_by_kind", (json_int_t)books->by_kind,
			 "references_by_task", (json_int_t)books->by_task,
			 "references_told", (json_int_t)books->references_expected,
			 "events", (json_int_t)books->events,
			 "events_told", (json_int_t)books->events_expected,
			 "processes", (json_int_t)books->processes,
			 "tasks", (json_int_t)books->tasks,
			 "tasks_ended", (json_int_t)books->tasks_ended,
			 "tasks_live", (json_int_t)books->tasks_live,
			 "spaces", (json_int_t)books->spaces,
			 "spaces_ended", (json_int_t)books->spaces_ended,
			 "spaces_live", (json_int_t)books->spaces_live,
			 "cache_added", (json_int_t)books->cache_added,
			 "cache_removed", (json_int_t)books->cache_removed,
			 "cache_displaced", (json_int_t)books->cache_displaced,
			 "cache_lost", (json_int_t)books->cache_lost,
			 "cache_held", (json_int_t)books->cache_held,
			 "file_references", (json_int_t)books->file_references,
			 "user_untold", (json_int_t)books->user_before_snapshot,
			 "odd", (json_int_t)books->anomalies, "problems", problems);
}

static int print_json(FILE *out, const struct options *options, const struct lpl_merge *merge)
{
	const struct lpl_merge_stats *stats = lpl_merge_stats(merge);
	json_t *references = json_object(), *pages = json_object(), *anomalies = json_object();
	json_t *summary, *file;

	for (int i = 0; i < LPL_PAGE_KINDS; i++) {
		const char *name = lpl_page_kind_name((enum lpl_page_kind)i);

		json_object_set_new(references, name,
				    json_integer((json_int_t)stats->references[i]));
		json_object_set_new(pages, name, json_integer((json_int_t)stats->pages[i]));
	}
	for (int i = 0; i < LPL_ANOMALIES; i++)
		json_object_set_new(anomalies, lpl_merge_anomaly_name((enum lpl_merge_anomaly)i),
				    json_integer((json_int_t)stats->anomalies[i]));
	file = options->output ? cli_json_text(options->output) : json_null();
	summary = json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
			    "file", file, "references", references, "pages", pages,
			    "user_unresolved", (json_int_t)stats->user_unresolved,
			    "events", (json_int_t)stats->events,
			    "tasks", (json_int_t)stats->tasks,
			    "spaces", (json_int_t)stats->spaces,
			    "live_tasks", (json_int_t)stats->live_tasks,
			    "live_spaces", (json_int_t)stats->live_spaces,
			    "cow_breaks", (json_int_t)stats->cow_breaks,
			    "cow_kept", (json_int_t)stats->cow_kept,
			    "implied_breaks", (json_int_t)stats->implied_breaks,
			    "gaps", (json_int_t)stats->gaps,
			    "gap_references", (json_int_t)stats->gap_references,
			    "gap_events", (json_int_t)stats->gap_events,
			    "gap_unknown", (json_int_t)stats->gap_unknown,
			    "odd_events", anomalies);
	if (stats->forgotten)
		json_object_set_new(summary, "forgotten",
				    json_integer((json_int_t)stats->forgotten));
	if (options->audit)
		json_object_set_new(summary, "audit", audit_json(merge));
	return cli_print_json(out, summary);
}

/* Returns the status: that of the books, if they were kept. */
static int print_summary(const struct options *options, const struct lpl_merge *merge)
{
	FILE *out = options->output && strcmp(options->output, "-") == 0 ? stderr : stdout;
	int status = CLI_DONE;

	/* whoever reads what we write has left before the end */
	if (options->audit && !lpl_merge_audit(merge))
		return CLI_DONE;
	if (options->json) {
		status = print_json(out, options, merge);
	} else if (options->audit) {
		lpl_merge_audit_print(merge, out);
	} else {
		lpl_merge_stats_print(lpl_merge_stats(merge), out);
	}
	if (options->audit && !lpl_merge_audit(merge)->balanced)
		status = CLI_FAILED;
	return status;
}

static int merge(const struct options *options, struct lpl_reader *reader)
{
	const struct lpl_merge_options merge_options = {
		.kernel_base = options->kernel_base, .audit = options->audit,
		.problems = options->problems
	};
	struct target target = { .writer = NULL };
	struct lpl_report report = { 0 };
	struct cli_progress progress;
	struct cli_pass pass;
	int status = open_target(&target, options, reader);

	if (!status && lpl_merge_open(&target.merge, target.output, &merge_options, &report))
		status = cli_report(&report);
	if (!status) {
		cli_progress_start(&progress, options->progress);
		pass = (struct cli_pass){ .reader = reader, .path = options->trace,
					  .sink = lpl_merge_sink(target.merge),
					  .progress = &progress, .choice = &options->choice,
					  .renumbers = true, .before_block = carry_totals,
					  .context = &target, .past_damage = true };
		status = cli_pass_run(&pass);
		carry_totals(&pass, &target);
	}
	status = close_target(&target, options, status);
	if ((status == CLI_DONE || status == CLI_DAMAGED) &&
	    print_summary(options, target.merge) && status == CLI_DONE)
		status = CLI_FAILED;
	lpl_merge_close(target.merge);
	return status;
}

int cmd_merge(int argc, char **argv)
{
	struct options options = { .format = FORMATS };
	struct lpl_reader *reader;
	int status;

	cli_parse(&usage, argc, argv, &options);
	if (options.format == CANONICAL && strcmp(options.output, "-") == 0 &&
	    isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not written to a terminal");
	if (options.format == PER_PROCESS && strcmp(options.output, "-") == 0)
		return cli_complain(CLI_USAGE, "per-process makes a directory: -o names it");
	status = options.output ? cli_refuse_input(options.output, options.trace) : CLI_DONE;
	if (!status && options.output)
		status = cli_refuse_existing(options.output, options.overwrite);
	if (!status)
		status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	lpl_reader_jobs(reader, options.jobs);
	const struct cli_trace_kind kind = cli_trace_kind(lpl_reader_meta(reader));

	status = cli_check_mergeable(&kind, options.trace);
	if (!status)
		status = merge(&options, reader);
	lpl_reader_close(reader);
	return status;
}
