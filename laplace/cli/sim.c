/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace sim: the faults of replacement policies, as CSV.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>
#include <laplace/simulator.h>

#include "common.h"

#define MAX_POLICIES 8

struct options {
	char *policies;			/* a list, cut at its commas */
	const char *sizes;		/* NULL: powers of two that matter */
	bool json;
	enum cli_when progress;
	const char *trace;
};

static const struct argp_option option_table[] = {
	{ "policy", 'p', "POLICY[,...]", 0, "lru, opt (lru)", 0 },
	{ "sizes", 's', "SIZES", 0,
	  "Pages of memory: 16,64,256, or 16:4096:*2, or 16:256:16, or all", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->json;
		state->child_inputs[1] = &options->progress;
		return 0;
	case 'p':
		options->policies = arg;
		return 0;
	case 's':
		options->sizes = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (options->trace)
			argp_error(state, "one trace at a time");
		options->trace = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->trace)
			argp_error(state, "which trace?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &cli_json_argp, 0, NULL, 0 }, { &cli_progress_argp, 0, NULL, 0 }, { 0 }
};
static const struct argp argp = {
	option_table, parse_option, "TRACE",
	"Simulate page replacement on TRACE and print the faults, as CSV."
	"\v"
	"Without -s the sizes are the powers of two from the smallest for which TRACE is "
	"exact to the first that holds all its pages.",
	children, NULL, NULL
};

/* One trace going to several simulators. */
struct contest {
	struct lpl_sink sink;
	size_t count;
	const char *policy[MAX_POLICIES];
	struct lpl_simulator *simulator[MAX_POLICIES];
};

static int each_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		     struct lpl_report *report)
{
	struct contest *contest = (struct contest *)sink;
	int error = LPL_OK;

	for (size_t i = 0; i < contest->count && !error; i++) {
		struct lpl_sink *next = lpl_simulator_sink(contest->simulator[i]);

		error = next->refs(next, refs, count, report);
	}
	return error;
}

static int each_event(struct lpl_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	struct contest *contest = (struct contest *)sink;
	int error = LPL_OK;

	for (size_t i = 0; i < contest->count && !error; i++) {
		struct lpl_sink *next = lpl_simulator_sink(contest->simulator[i]);

		error = next->event(next, event, report);
	}
	return error;
}

static int each_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct contest *contest = (struct contest *)sink;
	int error = LPL_OK;

	for (size_t i = 0; i < contest->count && !error; i++) {
		struct lpl_sink *next = lpl_simulator_sink(contest->simulator[i]);

		error = next->finish(next, report);
	}
	return error;
}

static void close_contest(struct contest *contest)
{
	for (size_t i = 0; i < contest->count; i++)
		lpl_simulator_close(contest->simulator[i]);
}

static int open_contest(struct contest *contest, char *policies,
			const struct lpl_sizes *sizes)
{
	struct lpl_report report = { 0 };
	char *rest = policies, *policy;

	*contest = (struct contest){ .sink = { each_refs, each_event, each_finish } };
	while ((policy = strsep(&rest, ","))) {
		size_t i = contest->count;

		if (i == MAX_POLICIES)
			return cli_complain(CLI_USAGE, "at most %d policies at a time",
					    MAX_POLICIES);
		if (lpl_simulator_open(&contest->simulator[i], policy, sizes, &report))
			return cli_report(&report);
		contest->policy[i] = policy;
		contest->count++;
	}
	return CLI_DONE;
}

/* Without -s: as many powers of two as could matter; fewer are printed. */
#define DEFAULT_LAST_SIZE ((uint64_t)1 << 40)

static int parse_sizes(struct lpl_sizes *sizes, const struct options *options,
		       uint64_t exact_from)
{
	struct lpl_report report = { 0 };
	char range[64];
	uint64_t first = 1;

	while (first < exact_from)
		first *= 2;
	snprintf(range, sizeof(range), "%" PRIu64 ":%" PRIu64 ":*2", first,
		 DEFAULT_LAST_SIZE);
	if (lpl_sizes_parse(sizes, options->sizes ? options->sizes : range, &report))
		return cli_report(&report);
	return CLI_DONE;
}

/*
 * How many of the results to print: with sizes of our own choosing, up to the
 * first that holds every page.
 */
static size_t results_wanted(const struct lpl_result *result, size_t count,
			     uint64_t pages, const struct options *options)
{
	if (options->sizes)
		return count;
	for (size_t i = 0; i < count; i++) {
		if (result[i].size >= pages)
			return i + 1;
	}
	return count;
}

static json_t *result_json(const char *policy, const struct lpl_result *result, bool exact)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:b}",
			 "policy", policy, "size", (json_int_t)result->size,
			 "references", (json_int_t)result->references,
			 "faults", (json_int_t)result->faults,
			 "evictions", (json_int_t)result->evictions,
			 "dirty_evictions", (json_int_t)result->dirty_evictions,
			 "exact", exact);
}

static int print_results(const struct contest *contest, const struct options *options,
			 uint64_t exact_from)
{
	json_t *array = options->json ? json_array() : NULL;
	uint64_t inexact = 0;	/* the largest size that is */

	if (!options->json)
		puts("policy,size,references,faults,evictions,dirty_evictions");
	for (size_t i = 0; i < contest->count; i++) {
		const struct lpl_simulator *simulator = contest->simulator[i];
		size_t count;
		const struct lpl_result *result = lpl_simulator_results(simulator, &count);

		count = results_wanted(result, count, lpl_simulator_pages(simulator), options);
		for (size_t j = 0; j < count; j++, result++) {
			bool exact = exact_from && result->size >= exact_from;

			if (!exact && result->size > inexact)
				inexact = result->size;
			if (options->json) {
				json_array_append_new(array,
					result_json(contest->policy[i], result, exact));
				continue;
			}
			printf("%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			       "\n", contest->policy[i], result->size, result->references,
			       result->faults, result->evictions, result->dirty_evictions);
		}
	}
	if (inexact && exact_from)
		cli_complain(0, "warning: %s: is exact from %" PRIu64 " pages on; results for "
			     "smaller memories are not", options->trace, exact_from);
	else if (inexact)
		cli_complain(0, "warning: %s: does not tell what it is exact for",
			     options->trace);
	if (options->json)
		return cli_print_json(stdout, array);
	return CLI_DONE;
}

int cmd_sim(int argc, char **argv)
{
	char default_policy[] = "lru";
	struct options options = { .policies = default_policy };
	struct lpl_sizes sizes = { 0 };
	struct contest contest = { .count = 0 };
	struct cli_progress progress;
	struct cli_pass pass;
	struct lpl_reader *reader;
	uint64_t exact_from;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	exact_from = lpl_reduction_exact_from(lpl_meta_get(lpl_reader_meta(reader),
							   LPL_META_REDUCTION));
	status = parse_sizes(&sizes, &options, exact_from);
	if (!status)
		status = open_contest(&contest, options.policies, &sizes);
	if (!status) {
		cli_progress_start(&progress, options.progress);
		pass = (struct cli_pass){ .reader = reader, .path = options.trace,
					  .sink = &contest.sink, .progress = &progress };
		status = cli_pass_run(&pass);
		if ((status == CLI_DONE || status == CLI_DAMAGED) &&
		    print_results(&contest, &options, exact_from))
			status = CLI_FAILED;
	}
	close_contest(&contest);
	lpl_sizes_free(&sizes);
	lpl_reader_close(reader);
	return status;
}
