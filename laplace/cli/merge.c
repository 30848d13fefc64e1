/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace merge: the post-processor.  Virtual pages become canonical ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <laplace/merge.h>

#include "common.h"

enum format { GLOBAL, CANONICAL, FORMATS };

static const char *const format_name[FORMATS] = { "global", "canonical" };

struct options {
	enum format format;		/* FORMATS: not given */
	const char *output;
	uint64_t kernel_base;		/* 0: the default */
	bool overwrite, json;
	enum cli_when progress;
	const char *trace;
};

enum { OPT_KERNEL_BASE = 256 };

static const struct argp_option option_table[] = {
	{ "format", 'f', "FORMAT", 0,
	  "global (one canonical page a line) or canonical (a trace)", 0 },
	{ "output", 'o', "OUT", 0, "What to write", 0 },
	{ "kernel-base", OPT_KERNEL_BASE, "ADDRESS", 0,
	  "Where the kernel's half of an address space begins (8000000000000000); "
	  "a 32-bit Linux has c0000000", 0 },
	{ 0 }
};

static uint64_t parse_address(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long long address;

	errno = 0;
	address = strtoull(text, &end, 16);
	if (*end || end == text || text[0] == '-' || errno || !address)
		argp_error(state, "--kernel-base takes a hexadecimal address, not '%s'", text);
	return address;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->overwrite;
		state->child_inputs[1] = &options->json;
		state->child_inputs[2] = &options->progress;
		return 0;
	case 'f':
		for (options->format = 0; options->format < FORMATS; options->format++) {
			if (strcmp(format_name[options->format], arg) == 0)
				return 0;
		}
		argp_error(state, "no format '%s': there are global and canonical", arg);
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case OPT_KERNEL_BASE:
		options->kernel_base = parse_address(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (options->trace)
			argp_error(state, "one trace at a time");
		options->trace = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->trace)
			argp_error(state, "which trace?");
		if (options->format == FORMATS)
			argp_error(state, "which format?  --format global, for one");
		if (!options->output)
			argp_error(state, "where to?  -o names the output");
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
	option_table, parse_option, "--format FORMAT -o OUT TRACE",
	"Give every reference of TRACE its canonical page: the same for all virtual pages "
	"that show the same data."
	"\v"
	"global: the page of each reference, in hex, one a line.  canonical: a trace of "
	"canonical pages, for laplace sim and reduce.",
	children, NULL, NULL
};

/* The output, whichever it is. */
struct target {
	struct cli_output text;		/* global */
	bool text_open;
	struct lpl_writer *writer;	/* canonical */
	struct lpl_merge_output *output;
};

static int open_target(struct target *target, const struct options *options,
		       struct lpl_reader *reader)
{
	struct lpl_report report = { 0 };
	struct lpl_meta *meta;
	int status;

	if (options->format == GLOBAL) {
		status = cli_output_open(&target->text, options->output, options->overwrite);
		if (status)
			return status;
		target->text_open = true;
		if (lpl_merge_global_open(&target->output, target->text.file, &report))
			return cli_report(&report);
		return CLI_DONE;
	}
	meta = lpl_merge_canonical_meta(lpl_reader_meta(reader));
	if (!meta)
		return cli_complain(CLI_FAILED, "no memory");
	if (lpl_writer_open(&target->writer, options->output, meta, NULL,
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

static void carry_totals(struct cli_pass *pass, void *context)
{
	struct target *target = context;

	if (target->writer)
		lpl_writer_totals(target->writer, lpl_reader_totals(pass->reader));
}

static int print_summary(const struct options *options, const struct lpl_merge_stats *stats)
{
	FILE *out = strcmp(options->output, "-") == 0 ? stderr : stdout;
	json_t *references, *pages, *odd;

	if (!options->json) {
		lpl_merge_stats_print(stats, out);
		return CLI_DONE;
	}
	references = json_object();
	pages = json_object();
	odd = json_object();
	for (int i = 0; i < LPL_PAGE_KINDS; i++) {
		const char *name = lpl_page_kind_name((enum lpl_page_kind)i);

		json_object_set_new(references, name,
				    json_integer((json_int_t)stats->references[i]));
		json_object_set_new(pages, name, json_integer((json_int_t)stats->pages[i]));
	}
	for (int i = 0; i < LPL_ODDS; i++)
		json_object_set_new(odd, lpl_merge_odd_name((enum lpl_merge_odd)i),
				    json_integer((json_int_t)stats->odd[i]));
	return cli_print_json(out,
		json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
			  "file", options->output, "references", references, "pages", pages,
			  "user_unresolved", (json_int_t)stats->user_unresolved,
			  "events", (json_int_t)stats->events,
			  "tasks", (json_int_t)stats->tasks,
			  "spaces", (json_int_t)stats->spaces,
			  "live_tasks", (json_int_t)stats->live_tasks,
			  "live_spaces", (json_int_t)stats->live_spaces,
			  "cow_breaks", (json_int_t)stats->cow_breaks,
			  "cow_kept", (json_int_t)stats->cow_kept,
			  "implied_breaks", (json_int_t)stats->implied_breaks,
			  "odd_events", odd));
}

static int merge(const struct options *options, struct lpl_reader *reader)
{
	const struct lpl_merge_options merge_options = { .kernel_base = options->kernel_base };
	struct target target = { .writer = NULL };
	struct lpl_report report = { 0 };
	struct lpl_merge *merge = NULL;
	struct cli_progress progress;
	struct cli_pass pass;
	int status = open_target(&target, options, reader);

	if (!status && lpl_merge_open(&merge, target.output, &merge_options, &report))
		status = cli_report(&report);
	if (!status) {
		cli_progress_start(&progress, options->progress);
		pass = (struct cli_pass){ .reader = reader, .path = options->trace,
					  .sink = lpl_merge_sink(merge),
					  .progress = &progress,
					  .before_block = carry_totals, .context = &target };
		status = cli_pass_run(&pass);
		carry_totals(&pass, &target);
	}
	status = close_target(&target, options, status);
	if ((status == CLI_DONE || status == CLI_DAMAGED) &&
	    print_summary(options, lpl_merge_stats(merge)))
		status = CLI_FAILED;
	lpl_merge_close(merge);
	return status;
}

int cmd_merge(int argc, char **argv)
{
	struct options options = { .format = FORMATS };
	struct lpl_reader *reader;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (options.format == CANONICAL && strcmp(options.output, "-") == 0 &&
	    isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not written to a terminal");
	status = cli_refuse_existing(options.output, options.overwrite);
	if (!status)
		status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	status = merge(&options, reader);
	lpl_reader_close(reader);
	return status;
}
