/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace sim: the faults of replacement policies, as CSV.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <laplace/reducer.h>
#include <laplace/select.h>
#include <laplace/simulator.h>
#include <laplace/trace.h>

#include "base/array.h"
#include "commands.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "say.h"
#include "sim_compressed.h"
#include "sim_functions.h"
#include "sim_hardware.h"
#include "sim_runners.h"
#include "sizes.h"
#include "trace_kind.h"

struct options {
	char *policies;			/* a list, cut at its commas */
	const char *sizes;		/* NULL: powers of two that matter */
	uint64_t fifo;			/* segq's; 0: not given */
	uint64_t page_size;		/* 0: that of the trace */
	unsigned int jobs;		/* 0: one for each processor */
	struct lpl_choice_options choice;
	enum cli_addresses addresses;
	struct cli_addressing addressing;	/* as found for the trace */
	bool local;
	const char *frames;		/* of different processes, with `local`; NULL: all have the same */
	const char *by;			/* NULL: of all together */
	enum lpl_runner_unit unit;	/* that `by` says, or: */
	bool functions;
	struct cli_functions_options code;	/* of these */
	const char *pool;		/* of compressed caching; NULL: not given */
	uint64_t huge;			/* of it, too; 0: not given */
	const char *promote;		/* of TLBs; NULL: not given */
	const char *caches;		/* of them, too */
	bool json;
	enum cli_when progress;
	const char *trace;
};

#define SHOWN_SIZE 1024		/* of a reduction, which is whatever the trace's header says */

static void take_unit(struct argp_state *state, const struct cli_option *option, const char *value,
		      void *config)
{
	struct options *options = config;

	options->by = value;
	options->functions = strcmp(value, "function") == 0;
	if (!options->functions && !cli_runner_unit(value, &options->unit))
		cli_wrong(state, option, value);
}

static void check_memory(struct argp_state *state, void *config)
{
	struct options *options = config;
	const struct cli_hardware_kind *kind = cli_hardware_of(options->policies);

	if (options->frames && options->sizes)
		argp_error(state, "--frames has the sizes of all memories: -s is not for it");
	if (options->frames) {
		options->local = true;
		if (!options->by)
			options->by = "process";
	}
	if (kind && (options->sizes || options->fifo || options->page_size || options->local || options->by))
		argp_error(state, "%s have no memory of pages: -s, --fifo, --page-size, --local, --frames and "
			   "--by are not for them", kind->plural);
	if ((options->promote || options->caches) && kind != &cli_tlbs)
		argp_error(state, "--promote and --caches are for TLBs: -p tlb:SPEC");
	if (kind == &cli_tlbs || kind == &cli_regions) {
		if (options->addresses != CLI_ADDRESSES_AUTO && options->addresses != CLI_ADDRESSES_VIRTUAL)
			argp_error(state, "%s are of virtual addresses: --addresses %s is not for them",
				   kind->plural, options->addresses == CLI_ADDRESSES_CANONICAL ? "canonical" : "physical");
		options->addresses = CLI_ADDRESSES_VIRTUAL;
	}
	if (options->code.folded && strcmp(options->code.folded, "-") == 0 && options->json)
		argp_error(state, "--json and --folded=- both write to standard output");
	if (options->functions && options->local)
		argp_error(state, "--by function is of one memory for all: --local and --frames are not for it");
	if (!options->functions && cli_functions_asked(&options->code))
		argp_error(state, "--files, --symbols, --kernel-text, --inlined, --folded and --overwrite are for --by "
			   "function");
	if (options->code.code.kernel_text && !options->code.code.symbols)
		argp_error(state, "--kernel-text is for --symbols");
	if (options->local && options->by && options->unit != LPL_RUNNER_PROCESS)
		argp_error(state, "--by task is of one memory for all; with --local each process has its "
			   "own: --by process");
	if (!cli_is_compressed(options->policies)) {
		if (options->pool || options->huge)
			argp_error(state, "--pool and --huge are for compressed caching: -p cc:CODEC");
		return;
	}
	if (options->fifo || options->local || options->by || options->page_size || options->choice.kinds ||
	    options->choice.file || options->addresses == CLI_ADDRESSES_CANONICAL ||
	    options->addresses == CLI_ADDRESSES_PHYSICAL)
		argp_error(state, "with -p cc virtual pages are simulated: --fifo, --local, --frames, --by, "
			   "--page-size, --addresses canonical and physical, --kind and --file are not for it");
}

static void take_page_size(struct argp_state *state, const struct cli_option *option, const char *value,
			   void *config)
{
	const uint64_t size = cli_limited(state, option, value);

	if (size & (size - 1))
		cli_wrong(state, option, value);
	((struct options *)config)->page_size = size;
}

static const struct cli_option option_table[] = {
	{ "policy", CLI_LIST, 'p', CLI_INTO(struct options, policies), .argument = "POLICY[,...]",
	  .words = CLI_POLICIES "all", .help = "%c (lru); options after it: segq:fifo=16; all: those "
	  "but ws and vmin, which have no memory of a given size; hardware: caches, cache:l1=32K/8/64, and TLBs, tlb:l1=64/4; "
	  "of a trace with page images compressed caching: cc:zstd[:LEVEL], cc:lz4, cc:lzo" },
	{ "sizes", CLI_TEXT, 's', CLI_INTO(struct options, sizes), .argument = "SIZES", .words = "all",
	  .help = "Pages of memory, for ws and vmin references: 16,64,256, or 16:4096:*2, or "
	  "16:256:16, or, for lru and opt, all; of memory also bytes (64K, 16M, 1G) and "
	  "percent of all pages (10%,25%)" },
	{ "fifo", CLI_NUMBER, CLI_INTO(struct options, fifo), .argument = "PAGES", .least = 1,
	  .help = "The FIFO segment of segq (half of its memory)" },
	{ "page-size", CLI_NUMBER, CLI_INTO(struct options, page_size), .argument = "BYTES", .least = 16,
	  .most = 1 << 30, .take = take_page_size, .wrong = "%n takes a power of two from %l to %m",
	  .help = "Pages of so many bytes: larger than those of TRACE, or, if nothing was reduced, "
	  "finer (those of TRACE)" },
	{ "local", CLI_FLAG, CLI_INTO(struct options, local),
	  .help = "A memory for each process, each of the size given; results are summed" },
	{ "frames", CLI_TEXT, CLI_INTO(struct options, frames), .argument = "NAME=SIZE[,...]",
	  .help = "As --local, with a memory of its own size for each process, by name or number, and "
	  "for all others (*=SIZE); results are by process" },
	{ "by", CLI_WORD, CLI_INTO(struct options, by), .argument = "UNIT", .words = "process task function",
	  .take = take_unit, .wrong = "--by: '%s' is none of process, task and function",
	  .help = "Say which %o had the faults, of a memory that all share or, with --local, of its "
	  "own, those with the most first" },
	CLI_WITH(functions, struct options, code),
	{ "pool", CLI_TEXT, CLI_INTO(struct options, pool), .argument = "BYTES",
	  .help = "With -p cc: bytes for compressed pages, as 1M,4M (as many as -s has)" },
	{ "huge", CLI_NUMBER, CLI_INTO(struct options, huge), .argument = "BYTES", .least = 1, .most = 4096,
	  .help = "With -p cc: keep a page that is compressed to so many bytes or more as it is, but in "
	  "the pool, as zram does" },
	{ "promote", CLI_TEXT, CLI_INTO(struct options, promote), .argument = "PAGES[,...]",
	  .help = "With -p tlb: also with huge pages for regions of 2 MB of which so many pages of 4 KB, or "
	  "more, are touched" },
	{ "caches", CLI_TEXT, CLI_INTO(struct options, caches), .argument = "LEVELS",
	  .help = "With -p tlb: send references and what walks load through caches, as those of -p cache "
	  "(l1d=32K/8/64:l1i=32K/8/64:l2=1M/16/64), and say where walks find their entries" },
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	CLI_WITH(jobs, struct options, jobs),
	CLI_WITH(choice, struct options, choice),
	CLI_WITH(addresses, struct options, addresses),
	CLI_TRACE_ARGUMENT(struct options, trace),
	{ .type = CLI_CHECK, .check = check_memory },
	{ 0 }
};
static const struct cli_usage usage = {
	"TRACE",
	"Simulate page replacement on TRACE and print the faults, as CSV."
	"\v"
	"Without -s the sizes are the powers of two from the smallest for which TRACE is "
	"exact to the first that holds all its pages; for ws and vmin, to the first with "
	"which only first references fault.",
	option_table, 0
};

/* ---- what to simulate ---- */

/* The policies, by the names they are printed with, in one memory or in many. */
struct simulation {
	struct lpl_simulator *simulator;	/* or */
	struct lpl_local *local;
	struct lpl_runners *runners;		/* which have the faults; or */
	struct cli_functions *functions;	/* have them; or both NULL */
	char **name;
	size_t count, room;
	char *all;			/* those that `all' stands for, cut; or NULL */
	bool chosen;			/* a part of the trace alone */
	const char *schedule;		/* the header's; NULL: no machine made the trace */
};

static const char *policy_of(const struct simulation *simulation, size_t index)
{
	return simulation->local ? lpl_local_policy(simulation->local, index) :
				lpl_simulator_policy(simulation->simulator, index);
}

static const struct lpl_result *results_of(const struct simulation *simulation, size_t index,
					   size_t *count)
{
	return simulation->local ? lpl_local_results(simulation->local, index, count) :
				lpl_simulator_results(simulation->simulator, index, count);
}

/* First references to a page, which fault in any memory. */
static uint64_t cold_faults(const struct simulation *simulation)
{
	return simulation->local ? lpl_local_cold(simulation->local) :
				lpl_simulator_pages(simulation->simulator);
}

static bool is_added(const struct simulation *simulation, const char *policy)
{
	for (size_t i = 0; i < simulation->count; i++) {
		if (strcmp(policy_of(simulation, i), policy) == 0)
			return true;
	}
	return false;
}

static int add_policy(struct simulation *simulation, char *name, const struct lpl_sizes *sizes,
		      uint64_t fifo)
{
	struct lpl_report report = { 0 };
	char segq[32];
	const char *policy = name;

	if (!lpl_reach(simulation->name, simulation->room, simulation->count))
		return cli_complain(CLI_FAILED, "no memory for the policies");
	if (fifo && strcmp(name, "segq") == 0) {
		snprintf(segq, sizeof(segq), "segq:fifo=%" PRIu64, fifo);
		policy = segq;
	}
	if (is_added(simulation, policy) && simulation->all)
		return CLI_DONE;	/* as one of `all' */
	if (is_added(simulation, policy))
		return cli_complain(CLI_USAGE, "policy '%s' is asked for twice", policy);
	if (simulation->local ? lpl_local_add(simulation->local, policy, sizes, &report) :
			     lpl_simulator_add(simulation->simulator, policy, sizes, &report))
		return cli_report(&report);
	simulation->name[simulation->count++] = name;
	return CLI_DONE;
}

/* All that have a memory of a given size, but those that are asked for already; nor are they later. */
static int add_all(struct simulation *simulation, const struct lpl_sizes *sizes, uint64_t fifo)
{
#define NAMED(name) "," #name
	char *rest, *policy;
	int status = CLI_DONE;

	if (simulation->all)
		return cli_complain(CLI_USAGE, "policy 'all' is asked for twice");
	simulation->all = rest = strdup("lru,opt" LPL_DEMAND_POLICIES(NAMED));
	if (!rest)
		return cli_complain(CLI_FAILED, "no memory for the policies");
	while (!status && (policy = strsep(&rest, ",")))
		status = add_policy(simulation, policy, sizes, fifo);
	return status;
}

static bool has_segq(const struct simulation *simulation)
{
	for (size_t i = 0; i < simulation->count; i++) {
		if (strcmp(simulation->name[i], "segq") == 0)
			return true;
	}
	return false;
}

static struct lpl_sink *sink_of(const struct simulation *simulation)
{
	return simulation->local ? lpl_local_sink(simulation->local) :
	       simulation->runners ? lpl_runners_sink(simulation->runners) :
	       simulation->functions ? cli_functions_sink(simulation->functions) :
				lpl_simulator_sink(simulation->simulator);
}

static int open_simulation(struct simulation *simulation, const struct options *options,
			   const struct cli_trace_kind *kind, const struct lpl_sizes *sizes)
{
	const char *reduction = cli_addresses_reduction(&options->addressing);
	struct lpl_simulator_options how = {
		.jobs = options->jobs, .reduction = reduction,
		.part = lpl_choice_part(&options->choice, kind->page_size),
		.page_size = kind->page_size
	};
	struct lpl_report report = { 0 };
	char *rest = options->policies, *policy;
	int status = CLI_DONE;

	simulation->chosen = how.part != LPL_PART_ALL;
	if (options->local ? lpl_local_open(&simulation->local, reduction, kind->page_size,
					  &report) :
			     lpl_simulator_open(&simulation->simulator, &how, &report))
		return cli_report(&report);
	if (options->local && options->by)
		lpl_local_keep(simulation->local);
	if (options->frames && lpl_local_frames(simulation->local, options->frames, &report))
		return cli_report(&report);
	while (!status && (policy = strsep(&rest, ",")))
		status = strcmp(policy, "all") == 0 ? add_all(simulation, sizes, options->fifo) :
			add_policy(simulation, policy, sizes, options->fifo);
	if (!status && options->fifo && !has_segq(simulation))
		status = cli_complain(CLI_USAGE, "--fifo is for segq, which is not asked for");
	if (!status && options->by && !options->local && !options->functions &&
	    lpl_runners_open(&simulation->runners, simulation->simulator, options->unit, &report))
		status = cli_report(&report);
	return status;
}

static void close_simulation(struct simulation *simulation)
{
	lpl_local_close(simulation->local);
	lpl_runners_close(simulation->runners);
	cli_functions_close(simulation->functions);
	lpl_simulator_close(simulation->simulator);
	free(simulation->name);
	free(simulation->all);
}

/* ---- sizes ---- */

struct check {
	const struct options *options;
	const struct cli_trace_kind *kind;
};

static int check_sizes(const struct lpl_sizes *sizes, void *context)
{
	const struct check *check = context;
	struct simulation trial = { .count = 0 };
	struct options trying = *check->options;
	int status;

	trying.policies = strdup(trying.policies);	/* which is cut */
	status = trying.policies ? open_simulation(&trial, &trying, check->kind, sizes) :
				   cli_complain(CLI_FAILED, "no memory for the policies");
	close_simulation(&trial);
	free(trying.policies);
	return status;
}

static int parse_sizes(struct lpl_sizes *sizes, const struct options *options,
		       const struct lpl_reader *reader, const struct cli_trace_kind *kind)
{
	struct check check = { options, kind };
	const struct cli_sizes_of of = {
		.path = options->trace, .reader = reader, .page_size = kind->page_size,
		.choice = &options->choice,
		.addressing = &options->addressing, .jobs = options->jobs,
		.progress = options->progress, .check = check_sizes, .context = &check
	};

	return cli_sizes_parse(sizes, options->sizes, &of);
}

/* ---- results ---- */

static bool any_timed(const struct simulation *simulation)
{
	for (size_t i = 0; i < simulation->count; i++) {
		size_t count;
		const struct lpl_result *result = results_of(simulation, i, &count);

		if (count && result[0].timed)
			return true;
	}
	return false;
}

/* Of how many references a fault: of all that there were before reduction.  False: not known. */
static bool miss_ratio(const struct lpl_result *result, uint64_t made, double *ratio)
{
	*ratio = made ? (double)result->faults / (double)made : 0;
	return made != 0;
}

static json_t *result_json(const char *policy, const struct lpl_result *result,
			   uint64_t page_size, uint64_t made, uint64_t cold,
			   const char *reduction, const char *addresses)
{
	double ratio;
	char shown[SHOWN_SIZE];
	json_t *object = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}",
				   "policy", policy, "size", (json_int_t)result->size,
				   "references", (json_int_t)result->references,
				   "faults", (json_int_t)result->faults,
				   "evictions", (json_int_t)result->evictions,
				   "dirty_evictions", (json_int_t)result->dirty_evictions);

	if (!result->size)		/* of memories of different sizes */
		(void)json_object_del(object, "size");
	if (page_size && !result->timed)
		json_object_set_new(object, "page_size", json_integer((json_int_t)page_size));
	if (result->timed) {
		json_object_set_new(object, "mean_resident", json_real(result->mean_resident));
		json_object_set_new(object, "space_time",
				    json_integer((json_int_t)result->space_time));
	}
	if (miss_ratio(result, made, &ratio))
		json_object_set_new(object, "miss_ratio", json_real(ratio));
	json_object_set_new(object, "cold_faults", json_integer((json_int_t)cold));
	json_object_set_new(object, "refaults", json_integer((json_int_t)(result->faults - cold)));
	if (!reduction)
		reduction = "none";
	json_object_set_new(object, "reduction", json_string(
		lpl_text_escape(shown, sizeof(shown), reduction, strlen(reduction))));
	json_object_set_new(object, "exact", json_boolean(result->exact));
	json_object_set_new(object, "addresses", json_string(addresses));
	return object;
}

static void print_result(const char *policy, const struct lpl_result *result, bool timed,
			 uint64_t made, uint64_t cold, const char *addresses)
{
	double ratio;

	printf("%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, policy,
	       result->size, result->references, result->faults, result->evictions,
	       result->dirty_evictions);
	if (result->timed)
		printf(",%.6f,%" PRIu64, result->mean_resident, result->space_time);
	else if (timed)
		fputs(",,", stdout);
	putchar(',');
	if (miss_ratio(result, made, &ratio))
		printf("%.6g", ratio);
	printf(",%" PRIu64 ",%" PRIu64 ",%s\n", cold, result->faults - cold,
	       addresses);
}

/* What a sum over processes does not show. */
static void warn_local(const struct simulation *simulation, const struct options *options,
		       const char *reduction)
{
	uint64_t unknown = lpl_local_unknown(simulation->local);
	const char *name;

	if (reduction && strcmp(reduction, "none") != 0)
		cli_complain(0, "warning: %s: --local is exact only on a trace that is not "
			     "reduced; this one is, by %s", options->trace, reduction);
	for (size_t i = 0; (name = lpl_local_frames_unused(simulation->local, i)); i++)
		cli_complain(0, "warning: %s: --frames: no process in it is '%s'; `laplace sim --local "
			     "--by process' shows what they are called", options->trace, name);
	if (unknown)
		cli_complain(0, "warning: %s: %" PRIu64 " references of programs belong to no "
			     "known process, and count for the kernel's", options->trace, unknown);
}

/* What is charged to whom: SAD2 drops the reference that faults in favour of a later one. */
static void warn_runners(const struct options *options, const char *reduction)
{
	if (reduction && strstr(reduction, "sad2"))
		cli_complain(0, "warning: %s: was reduced by %s, which lets faults wait: some are "
			     "charged to whoever uses the page next", options->trace, reduction);
}

/* Once for a policy of which a result is not exact. */
static void warn(const struct simulation *simulation, size_t index, const struct options *options,
		 const char *reduction)
{
	size_t count;
	const struct lpl_result *result = results_of(simulation, index, &count);
	uint64_t from = lpl_simulator_exact_from(simulation->simulator, index);
	size_t inexact = 0;

	while (inexact < count && result[inexact].exact)
		inexact++;
	if (inexact == count)
		return;
	if (from)
		cli_complain(0, "warning: %s: %s is exact from %" PRIu64 " %s on; results for "
			     "smaller %s are not", options->trace, simulation->name[index], from,
			     result->timed ? "references" : "pages",
			     result->timed ? "taus" : "memories");
	else
		cli_complain(0, "warning: %s: %s is not exact on %sa trace reduced by %s%s",
			     options->trace, simulation->name[index], simulation->chosen ?
			     "a part of " : "", reduction, simulation->chosen ?
			     "; record every reference (-r none), or, for lru and opt, "
			     "that part (--only)" : "");
}

/* `made`: references before reduction, of those that were simulated; 0: not known. */
static int print_results(const struct simulation *simulation, const struct options *options,
			 const char *reduction, uint64_t page_size, uint64_t made)
{
	json_t *array = options->json ? json_array() : NULL;
	const char *addresses = options->addressing.name;
	const struct cli_runners by = {
		.runners = simulation->runners, .simulator = simulation->simulator,
		.local = simulation->local, .has_frames = options->frames, .by = options->by,
		.addresses = addresses
	};
	bool timed = any_timed(simulation), enough = true;
	struct lpl_exactness exactness;
	bool known = lpl_reduction_exactness(reduction, &exactness);
	const uint64_t cold = cold_faults(simulation);

	if (!options->json && options->functions)
		cli_functions_heading(simulation->functions);
	else if (!options->json && options->by)
		cli_runners_heading(&by);
	else if (!options->json)
		printf("policy,size,references,faults,evictions,dirty_evictions%s,miss_ratio,"
		       "cold_faults,refaults,addresses\n", timed ? ",mean_resident,space_time" : "");
	for (size_t i = 0; i < simulation->count; i++) {
		size_t count;
		const struct lpl_result *result = results_of(simulation, i, &count);

		if (known && !simulation->local)
			warn(simulation, i, options, reduction);
		for (size_t j = 0; j < count; j++, result++) {
			json_t *object = options->json ?
				result_json(simulation->name[i], result, page_size, made, cold,
					    reduction, addresses) : NULL;

			if (object && simulation->schedule)
				json_object_set_new(object, "schedule",
						    cli_json_text(simulation->schedule));
			if (options->functions ?
			    !cli_functions_add(simulation->functions, i, j, simulation->name[i], addresses,
					       object) :
			    options->by && !cli_runners_add(&by, i, j, simulation->name[i], object))
				enough = false;
			if (object)
				json_array_append_new(array, object);
			else if (!options->by)
				print_result(simulation->name[i], result, timed, made, cold,
					    addresses);
		}
	}
	if (simulation->local)
		warn_local(simulation, options, reduction);
	if (simulation->runners || simulation->functions)
		warn_runners(options, reduction);
	if (!known)
		cli_complain(0, "warning: %s: does not say what it is exact for",
			     options->trace);
	if (!enough)
		cli_complain(CLI_FAILED, "no memory to rank %s", options->functions ? "functions" :
			     "processes or tasks");
	if (simulation->functions && cli_functions_end(simulation->functions))
		enough = false;
	return options->json ? cli_print_json(stdout, array) || !enough : !enough;
}

/* References that there were before reduction, of those that are simulated; 0: not known. */
static uint64_t references_made(const struct simulation *simulation, const struct cli_pass *pass,
				const char *reduction)
{
	struct lpl_totals totals;
	size_t count;
	const struct lpl_result *result = results_of(simulation, 0, &count);

	if (!reduction || strcmp(reduction, "none") == 0)
		return count ? result->references : 0;
	return cli_pass_totals(pass, &totals) ? cli_refs_before(&totals) : 0;
}

static enum lpl_error step(struct cli_pass *pass, const struct lpl_page_steps *steps, struct lpl_report *report)
{
	return lpl_simulator_step(((struct simulation *)pass->context)->simulator, steps, report);
}

/* Nothing but the simulator wants the references, and it does not either. */
static bool can_step(const struct simulation *simulation)
{
	return !simulation->local && !simulation->runners && !simulation->functions &&
	       lpl_simulator_steps(simulation->simulator);
}

static int simulate(struct simulation *simulation, struct lpl_reader *reader,
		    const struct options *options, const char *reduction, uint64_t page_size)
{
	struct cli_progress progress;
	struct cli_pass pass = { .reader = reader, .path = options->trace,
				 .sink = sink_of(simulation), .progress = &progress,
				 .choice = &options->choice, .renumbers = true,
				 .addressing = &options->addressing,
				 .without_events = !simulation->local && !simulation->runners &&
						   !simulation->functions,
				 .front = simulation->functions ? cli_functions_front : NULL,
				 .step = can_step(simulation) ? step : NULL,
				 .context = simulation->functions ? (void *)simulation->functions :
								    (void *)simulation };
	int status;

	simulation->schedule = lpl_meta_get(lpl_reader_meta(reader), LPL_META_SCHEDULE);
	cli_progress_start(&progress, options->progress);
	status = cli_pass_run(&pass);
	if ((status == CLI_DONE || status == CLI_DAMAGED) &&
	    print_results(simulation, options, reduction, page_size,
			  references_made(simulation, &pass, reduction)))
		status = CLI_FAILED;
	return status;
}

static int open_functions(struct simulation *simulation, const struct options *options,
			  const struct lpl_sizes *sizes, const struct lpl_reader *reader,
			  const struct cli_trace_kind *kind)
{
	if (options->code.folded && (simulation->count != 1 || sizes->count != 1))
		return cli_complain(CLI_USAGE, "--folded is of one policy and one size: -p lru -s 1024");
	return cli_functions_open(&simulation->functions, &options->code, simulation->simulator, options->trace,
				  lpl_reader_meta(reader), kind);
}

/* The pages asked for, instead of the trace's; several canonical ones are none. */
static int decide_page_size(struct cli_trace_kind *kind, struct options *options)
{
	const uint64_t size = options->page_size;

	if (!size)
		return CLI_DONE;
	if (!kind->page_size)
		return cli_complain(CLI_USAGE, "%s: " LPL_NO_PAGE_SIZE, options->trace);
	if (!kind->is_whole && size < kind->page_size)
		return cli_complain(CLI_USAGE, "%s: its pages are of %" PRIu64 " bytes, and finer ones are "
				    "not known of it; those of %" PRIu64 " are in the trace that it was "
				    "made from", options->trace, kind->page_size, size);
	if (size > UINT64_C(1) << LPL_PAGE_SHIFT && size > kind->page_size) {
		if (kind->is_canonical || options->addresses == CLI_ADDRESSES_CANONICAL)
			return cli_complain(CLI_USAGE, "%s: canonical pages are of %d bytes, and their "
					    "numbers do not say what lies beside what: larger ones are "
					    "of virtual pages", options->trace, 1 << LPL_PAGE_SHIFT);
		if (options->addresses != CLI_ADDRESSES_PHYSICAL)
			options->addresses = CLI_ADDRESSES_VIRTUAL;
	}
	kind->page_size = size;
	return CLI_DONE;
}

int cmd_sim(int argc, char **argv)
{
	char default_policy[] = "lru";
	struct options options = { .policies = default_policy };
	struct lpl_sizes sizes = { 0 };
	struct simulation simulation = { .count = 0 };
	struct lpl_reader *reader;
	struct cli_trace_kind kind;
	const struct cli_hardware_kind *hardware;
	int status;

	cli_parse(&usage, argc, argv, &options);
	hardware = cli_hardware_of(options.policies);
	if (cli_is_compressed(options.policies))
		return cli_sim_compressed(&(struct cli_compressed){
			.policies = options.policies, .sizes = options.sizes, .pool = options.pool,
			.huge = (uint32_t)options.huge, .choice = &options.choice,
			.trace = options.trace, .jobs = options.jobs, .json = options.json,
			.progress = options.progress
		});
	status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	lpl_reader_jobs(reader, options.jobs);
	kind = cli_trace_kind(lpl_reader_meta(reader));
	status = decide_page_size(&kind, &options);
	if (!status)
		status = cli_addresses_decide(&options.addressing, options.addresses, options.trace,
					      lpl_reader_meta(reader));
	if (!status && hardware) {
		const struct cli_hardware sim = {
			.path = options.trace, .reader = reader, .choice = &options.choice,
			.addressing = &options.addressing, .page_size = kind.page_size,
			.promote = options.promote, .caches = options.caches, .jobs = options.jobs, .json = options.json,
			.progress = options.progress
		};

		status = cli_sim_hardware(&sim, hardware, options.policies);
		lpl_reader_close(reader);
		return status;
	}
	if (!status && options.sizes)
		status = parse_sizes(&sizes, &options, reader, &kind);
	if (!status)
		status = open_simulation(&simulation, &options, &kind, options.sizes ? &sizes : NULL);
	if (!status && options.functions)
		status = open_functions(&simulation, &options, &sizes, reader, &kind);
	if (!status)
		status = simulate(&simulation, reader, &options,
				  cli_addresses_reduction(&options.addressing), kind.page_size);
	close_simulation(&simulation);
	lpl_sizes_free(&sizes);
	lpl_reader_close(reader);
	return status;
}
