/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace plot faults; see plot_faults.h. */
#include "plot_faults.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>
#include <laplace/simulator.h>

#include "base/array.h"
#include "cli/pass.h"
#include "cli/say.h"
#include "cli/sizes.h"
#include "cli/trace_kind.h"

/* ---- simulating ---- */

/* Each policy with each size; `lines`: how many that is. */
static int add_policies(struct plot_faults *faults, const struct lpl_sizes *sizes, char *policies,
			size_t *lines)
{
	const struct lpl_simulator_options how = {
		.reduction = cli_addresses_reduction(&faults->addressing),
		.part = lpl_choice_part(&faults->options->choice, faults->chart.trace.kind.page_size),
		.page_size = faults->chart.trace.kind.page_size
	};
	struct lpl_report report = { 0 };
	char *policy;
	enum lpl_error error = lpl_simulator_open(&faults->simulator, &how, &report);

	for (*lines = 0; !error && (policy = strsep(&policies, ",")); *lines += sizes->count)
		error = lpl_simulator_add(faults->simulator, policy, sizes, &report);
	return error ? cli_report(&report) : CLI_DONE;
}

static int check_sizes(const struct lpl_sizes *sizes, void *context)
{
	const struct plot_faults *faults = context;
	struct plot_faults trial = { .options = faults->options, .addressing = faults->addressing,
				     .chart.trace.kind = faults->chart.trace.kind };
	char *policies = strdup(faults->policies);	/* which is cut */
	size_t lines;
	int status = policies ? add_policies(&trial, sizes, policies, &lines) :
				cli_complain(CLI_FAILED, "no memory for the policies");

	lpl_simulator_close(trial.simulator);
	free(policies);
	return status;
}

static int parse_sizes(struct lpl_sizes *sizes, struct plot_faults *faults)
{
	const struct surveyed_trace *trace = &faults->chart.trace;
	const struct cli_sizes_of of = {
		.path = trace->path, .reader = trace->reader, .page_size = trace->kind.page_size,
		.choice = &faults->options->choice, .addressing = &faults->addressing,
		.progress = faults->options->progress, .check = check_sizes, .context = faults
	};
	int status = cli_sizes_parse(sizes, faults->sizes, &of);

	if (!status && sizes->all)
		status = cli_complain(CLI_USAGE, "-s all: name the sizes, one by one or as a range");
	return status;
}

static int open_simulation(struct plot_faults *faults)
{
	struct surveyed_trace *trace = &faults->chart.trace;
	struct lpl_sizes sizes = { 0 };
	struct lpl_report report = { 0 };
	size_t lines;
	int status;

	trace->meta = lpl_reader_meta(trace->reader);
	trace->kind = cli_trace_kind(trace->meta);
	if (trace->kind.behaviour)
		return cli_complain(CLI_USAGE, "%s: is a behaviour sequence (%s), of which only the "
				    "faults of one memory are known", trace->path, trace->kind.reduction);
	status = cli_addresses_decide(&faults->addressing, faults->addresses, trace->path, trace->meta);
	if (!status)
		status = parse_sizes(&sizes, faults);
	if (!status)
		status = add_policies(faults, &sizes, faults->policies, &lines);
	lpl_sizes_free(&sizes);
	if (!status && faults->most_lines && lines > faults->most_lines)
		return cli_complain(CLI_USAGE, "a picture has room for %zu lines, and these are %zu: "
				    "take fewer sizes or policies, or write a .csv", faults->most_lines,
				    lines);
	if (!status && lpl_fault_times_open(&faults->times, faults->simulator,
					    faults->options->survey.clock, &report))
		status = cli_report(&report);
	return status;
}

/*
 * Times count from where the trace begins, whatever is chosen of it; but chosen references that
 * have numbers of their own count from 1.
 */
static void begin_times(struct cli_pass *pass, void *context)
{
	struct plot_faults *faults = context;
	struct lpl_span span;

	if (lpl_fault_times_time(faults->times)->begun || !lpl_reader_span(pass->reader, &span))
		return;
	if (pass->chooser && pass->counts_chosen)
		span.first_ref = 0;
	lpl_fault_times_begin(faults->times, (struct lpl_survey_clocks){
		.ref = span.first_ref, .instr = span.first_instr, .cycle = span.first_cycle
	});
}

static int simulate(struct plot_faults *faults)
{
	const struct surveyed_trace_options *options = faults->options;
	struct cli_progress progress;
	struct cli_pass pass = { .reader = faults->chart.trace.reader, .path = options->path,
				 .sink = lpl_fault_times_sink(faults->times),
				 .progress = &progress, .choice = &options->choice, .renumbers = true,
				 .addressing = &faults->addressing,
				 .before_block = begin_times, .context = faults };

	cli_progress_start(&progress, options->progress);
	return cli_pass_run(&pass);
}

/* ---- results ---- */

/* SAD2 drops the reference that faults in favour of a later one. */
static void warn_of_waits(const struct plot_faults *faults)
{
	const char *reduction = faults->chart.trace.kind.reduction;

	if (reduction && strstr(reduction, "sad2"))
		cli_complain(0, "warning: %s: was reduced by %s, which lets faults wait: some are later "
			     "here than they were", faults->options->path, reduction);
}

static void warn(const struct plot_faults *faults, const struct lpl_result *result, const char *policy)
{
	const char *reduction = cli_addresses_reduction(&faults->addressing);

	if (!result->exact)
		cli_complain(0, "warning: %s: %s with %" PRIu64 " is not exact on a trace reduced by "
			     "%s", faults->options->path, policy, result->size,
			     reduction ? reduction : "what it does not say");
}

static int add_lines(struct plot_faults *faults, size_t policy)
{
	struct faults_chart *chart = &faults->chart;
	const char *name = lpl_simulator_policy(faults->simulator, policy);
	size_t count;
	const struct lpl_result *result = lpl_simulator_results(faults->simulator, policy, &count);

	for (size_t i = 0; i < count; i++) {
		if (!lpl_reach(chart->line, chart->room, chart->lines))
			return cli_complain(CLI_FAILED, "no memory for the picture");
		chart->line[chart->lines] = (struct faults_line){ .policy = name, .size = result[i].size,
								  .timed = result[i].timed,
								  .all = result[i].faults };
		lpl_fault_times_get(faults->times, policy, i, chart->line[chart->lines++].faults);
		warn(faults, &result[i], name);
	}
	return CLI_DONE;
}

static int gather_lines(struct plot_faults *faults)
{
	int status = CLI_DONE;

	faults->survey.time = lpl_fault_times_time(faults->times);
	faults->chart.addresses = faults->addressing.name;
	if (faults->survey.time->begun) {
		warn_of_waits(faults);
		for (size_t i = 0; i < lpl_simulator_count(faults->simulator) && !status; i++)
			status = add_lines(faults, i);
	}
	if (!status)
		faults->chart.trace.survey = &faults->survey;
	return status;
}

int plot_faults_read(struct plot_faults *faults)
{
	struct surveyed_trace *trace = &faults->chart.trace;
	int status, failed;

	*trace = (struct surveyed_trace){ .path = faults->options->path };
	status = cli_reader_open(&trace->reader, trace->path);
	if (!status)
		status = open_simulation(faults);
	if (!status)
		status = simulate(faults);
	if (status != CLI_DONE && status != CLI_DAMAGED)
		return status;
	failed = faults->times ? gather_lines(faults) : CLI_DONE;
	return failed ? failed : status;
}

void plot_faults_close(struct plot_faults *faults)
{
	free(faults->chart.line);
	lpl_fault_times_close(faults->times);
	lpl_simulator_close(faults->simulator);
	lpl_reader_close(faults->chart.trace.reader);
}
