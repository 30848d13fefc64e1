/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace plot faults; see plot_faults.h. */
#include "plot_faults.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>
#include <laplace/simulator.h>

#include "cli/draw/chart_faults.h"
#include "cli/pass.h"
#include "cli/say.h"
#include "cli/sizes.h"
#include "cli/trace_kind.h"

struct simulation {
	const struct plot_faults *options;
	struct lpl_reader *reader;
	struct cli_trace_kind kind;	/* of what it reads */
	struct cli_addressing addressing;
	struct lpl_simulator *simulator;
	struct lpl_fault_times *times;
	struct lpl_survey survey;	/* the time alone */
	struct faults_chart chart;
};

/* ---- simulating ---- */

/* Each policy with each size; `lines`: how many that is. */
static int add_policies(struct simulation *simulation, const struct lpl_sizes *sizes, char *policies,
			size_t *lines)
{
	const struct surveyed_trace_options *trace = simulation->options->trace;
	const struct lpl_simulator_options how = {
		.reduction = cli_addresses_reduction(&simulation->addressing),
		.part = lpl_choice_part(&trace->choice, simulation->kind.page_size)
	};
	struct lpl_report report = { 0 };
	char *policy;
	enum lpl_error error = lpl_simulator_open(&simulation->simulator, &how, &report);

	for (*lines = 0; !error && (policy = strsep(&policies, ",")); *lines += sizes->count)
		error = lpl_simulator_add(simulation->simulator, policy, sizes, &report);
	return error ? cli_report(&report) : CLI_DONE;
}

static int check_sizes(const struct lpl_sizes *sizes, void *context)
{
	const struct simulation *simulation = context;
	struct simulation trial = { .options = simulation->options, .reader = simulation->reader,
				    .kind = simulation->kind, .addressing = simulation->addressing };
	char *policies = strdup(simulation->options->policies);		/* which is cut */
	size_t lines;
	int status = policies ? add_policies(&trial, sizes, policies, &lines) :
				cli_complain(CLI_FAILED, "no memory for the policies");

	lpl_simulator_close(trial.simulator);
	free(policies);
	return status;
}

static int parse_sizes(struct lpl_sizes *sizes, struct simulation *simulation)
{
	const struct surveyed_trace_options *trace = simulation->options->trace;
	const struct cli_sizes_of of = {
		.path = trace->path, .reader = simulation->reader,
		.page_size = simulation->kind.page_size, .choice = &trace->choice,
		.addressing = &simulation->addressing, .progress = trace->progress,
		.check = check_sizes, .context = simulation
	};
	int status = cli_sizes_parse(sizes, simulation->options->sizes, &of);

	if (!status && sizes->all)
		status = cli_complain(CLI_USAGE, "-s all: name the sizes, one by one or as a range");
	return status;
}

static int open_simulation(struct simulation *simulation)
{
	const struct plot_faults *options = simulation->options;
	const char *path = options->trace->path;
	struct lpl_sizes sizes = { 0 };
	struct lpl_report report = { 0 };
	size_t lines;
	int status;

	simulation->kind = cli_trace_kind(lpl_reader_meta(simulation->reader));
	if (simulation->kind.behaviour)
		return cli_complain(CLI_USAGE, "%s: is a behaviour sequence (%s), of which only the "
				    "faults of one memory are known", path, simulation->kind.reduction);
	status = cli_addresses_decide(&simulation->addressing, options->addresses, path,
				      lpl_reader_meta(simulation->reader));
	if (!status)
		status = parse_sizes(&sizes, simulation);
	if (!status)
		status = add_policies(simulation, &sizes, options->policies, &lines);
	lpl_sizes_free(&sizes);
	if (!status && lines > FAULTS_LINES &&
	    (options->format == PICTURE_SVG || options->format == PICTURE_PNG))
		return cli_complain(CLI_USAGE, "a picture has room for %d lines, and these are %zu: "
				    "take fewer sizes or policies, or write a .csv", FAULTS_LINES,
				    lines);
	if (!status && lpl_fault_times_open(&simulation->times, simulation->simulator,
					    options->trace->survey.clock, &report))
		status = cli_report(&report);
	return status;
}

/*
 * Times count from where the trace begins, whatever is chosen of it; but chosen references that
 * have numbers of their own count from 1.
 */
static void begin_times(struct cli_pass *pass, void *context)
{
	struct simulation *simulation = context;
	struct lpl_span span;

	if (lpl_fault_times_time(simulation->times)->begun || !lpl_reader_span(pass->reader, &span))
		return;
	if (pass->chooser && pass->counts_chosen)
		span.first_ref = 0;
	lpl_fault_times_begin(simulation->times, (struct lpl_survey_clocks){
		.ref = span.first_ref, .instr = span.first_instr, .cycle = span.first_cycle
	});
}

static int simulate(struct simulation *simulation)
{
	const struct surveyed_trace_options *trace = simulation->options->trace;
	struct cli_progress progress;
	struct cli_pass pass = { .reader = simulation->reader, .path = trace->path,
				 .sink = lpl_fault_times_sink(simulation->times),
				 .progress = &progress, .choice = &trace->choice, .renumbers = true,
				 .addressing = &simulation->addressing,
				 .before_block = begin_times, .context = simulation };

	cli_progress_start(&progress, trace->progress);
	return cli_pass_run(&pass);
}

/* ---- results ---- */

static size_t count_lines(const struct simulation *simulation)
{
	size_t lines = 0, count;

	for (size_t i = 0; i < lpl_simulator_count(simulation->simulator); i++) {
		(void)lpl_simulator_results(simulation->simulator, i, &count);
		lines += count;
	}
	return lines;
}

/* SAD2 drops the reference that faults in favour of a later one. */
static void warn_of_waits(const struct simulation *simulation)
{
	const char *reduction = simulation->kind.reduction;

	if (reduction && strstr(reduction, "sad2"))
		cli_complain(0, "warning: %s: was reduced by %s, which lets faults wait: some are later "
			     "here than they were", simulation->options->trace->path, reduction);
}

static void warn(const struct simulation *simulation, const struct lpl_result *result,
		 const char *policy)
{
	const char *reduction = cli_addresses_reduction(&simulation->addressing);

	if (!result->exact)
		cli_complain(0, "warning: %s: %s with %" PRIu64 " is not exact on a trace reduced by "
			     "%s", simulation->options->trace->path, policy, result->size,
			     reduction ? reduction : "what it does not say");
}

static int gather_lines(struct simulation *simulation)
{
	struct faults_chart *chart = &simulation->chart;
	const struct surveyed_trace_options *trace = simulation->options->trace;

	simulation->survey.time = lpl_fault_times_time(simulation->times);
	chart->trace = (struct surveyed_trace){
		.path = trace->path, .meta = lpl_reader_meta(simulation->reader),
		.kind = simulation->kind, .survey = &simulation->survey
	};
	chart->addresses = simulation->addressing.name;
	chart->page_size = simulation->kind.page_size;
	if (!simulation->survey.time->begun)
		return cli_complain(CLI_FAILED, "%s: holds no record: there is nothing to draw",
				    trace->path);
	chart->line = calloc(count_lines(simulation) + 1, sizeof(*chart->line));
	if (!chart->line)
		return cli_complain(CLI_FAILED, "no memory for the picture");
	warn_of_waits(simulation);
	for (size_t i = 0; i < lpl_simulator_count(simulation->simulator); i++) {
		const char *policy = lpl_simulator_policy(simulation->simulator, i);
		size_t count;
		const struct lpl_result *result = lpl_simulator_results(simulation->simulator, i,
									&count);

		for (size_t j = 0; j < count; j++) {
			struct faults_line *line = &chart->line[chart->lines++];

			*line = (struct faults_line){ .policy = policy, .size = result[j].size,
						      .timed = result[j].timed,
						      .all = result[j].faults };
			lpl_fault_times_get(simulation->times, i, j, line->faults);
			warn(simulation, &result[j], policy);
		}
	}
	return CLI_DONE;
}

static int draw(struct simulation *simulation, FILE *out)
{
	static void (*const draw_as[])(const struct faults_chart *chart, FILE *out) = {
		[PICTURE_TEXT] = faults_text, [PICTURE_SVG] = faults_svg, [PICTURE_CSV] = faults_csv
	};
	struct picture picture;
	int status = gather_lines(simulation);

	if (!status)
		status = picture_begin(&picture, simulation->options->format, out);
	if (status)
		return status;
	draw_as[picture.format](&simulation->chart, picture.out);
	return picture_end(&picture);
}

int plot_faults(const struct plot_faults *options, FILE *out, bool *drawn)
{
	struct simulation simulation = { .options = options };
	int status = cli_reader_open(&simulation.reader, options->trace->path), failed;

	*drawn = false;
	if (!status)
		status = open_simulation(&simulation);
	if (!status)
		status = simulate(&simulation);
	if (simulation.times && (status == CLI_DONE || status == CLI_DAMAGED)) {
		failed = draw(&simulation, out);
		*drawn = !failed;
		status = failed ? failed : status;
	}
	free(simulation.chart.line);
	lpl_fault_times_close(simulation.times);
	lpl_simulator_close(simulation.simulator);
	lpl_reader_close(simulation.reader);
	return status;
}
