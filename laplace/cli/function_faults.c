/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The faults of LRU by function. */
#include "function_faults.h"

#include <stdlib.h>
#include <string.h>

#include "addresses.h"
#include "code/attribution.h"
#include "pass.h"
#include "say.h"
#include "sim_functions.h"
#include "sizes.h"

/* What is wrong with the sizes however many pages there are. */
static int check_sizes(const struct lpl_sizes *sizes, void *context)
{
	(void)context;
	if (sizes->all || sizes->count > FUNCTION_FAULTS_SIZES)
		return cli_complain(CLI_USAGE, "--functions takes at most %d sizes of memory",
				    FUNCTION_FAULTS_SIZES);
	return CLI_DONE;
}

static int open_simulator(struct function_faults *faults,
			  const struct function_faults_options *options,
			  const struct cli_addressing *addressing, const struct lpl_reader *reader,
			  const struct cli_trace_kind *kind)
{
	const struct lpl_simulator_options how = {
		.reduction = cli_addresses_reduction(addressing),
		.part = lpl_choice_part(options->choice, kind->page_size),
		.page_size = kind->page_size
	};
	const struct cli_sizes_of of = {
		.path = options->path, .reader = reader, .page_size = kind->page_size,
		.choice = options->choice, .addressing = addressing,
		.progress = options->progress, .check = check_sizes
	};
	struct lpl_report report = { 0 };
	struct lpl_sizes sizes = { 0 };
	int status = cli_sizes_parse(&sizes, options->sizes, &of);

	if (!status)
		status = check_sizes(&sizes, NULL);
	if (!status && (lpl_simulator_open(&faults->simulator, &how, &report) ||
			lpl_simulator_add(faults->simulator, "lru", &sizes, &report)))
		status = cli_report(&report);
	lpl_sizes_free(&sizes);
	return status;
}

static struct lpl_sink *front(struct cli_pass *pass, struct lpl_sink *next)
{
	return attribution_front(pass->context, next);
}

/* What is wrong with the trace, the report has said. */
static int run(struct function_faults *faults, const struct function_faults_options *options,
	       const struct cli_addressing *addressing, struct lpl_reader *reader,
	       struct attribution *attribution)
{
	struct lpl_report trouble = { 0 };
	struct cli_progress progress;
	struct cli_pass pass = {
		.reader = reader, .path = options->path, .sink = attribution_back(attribution),
		.progress = &progress, .label = "functions ", .choice = options->choice,
		.addressing = addressing, .renumbers = true, .front = front,
		.context = attribution, .trouble = &trouble
	};
	int status;

	cli_progress_start(&progress, options->progress);
	status = cli_pass_run(&pass);
	if (status == CLI_DAMAGED && !pass.unfinished)
		status = CLI_DONE;
	if (status)
		return status;
	faults->result = lpl_simulator_results(faults->simulator, 0, &faults->results);
	faults->share = function_shares(faults->functions, faults->simulator, 0, 0,
					&faults->count);
	functions_warn(faults->functions);
	return faults->share ? CLI_DONE : cli_complain(CLI_FAILED, "no memory to rank functions");
}

static int read_trace(struct function_faults *faults,
		      const struct function_faults_options *options, struct lpl_reader *reader)
{
	const struct lpl_meta *meta = lpl_reader_meta(reader);
	const struct cli_trace_kind kind = cli_trace_kind(meta);
	struct attribution_options how = { .page_size = kind.page_size };
	struct attribution *attribution = NULL;
	struct cli_addressing addressing;
	struct lpl_report report = { 0 };
	int status = cli_functions_check(options->path, meta, &kind, &how.by_events);

	if (!status)
		status = cli_addresses_decide(&addressing, CLI_ADDRESSES_AUTO, options->path,
					      meta);
	if (!status)
		status = open_simulator(faults, options, &addressing, reader, &kind);
	if (!status)
		status = functions_open(&faults->functions, &options->code, options->path, meta);
	how.functions = faults->functions;
	how.simulator = faults->simulator;
	if (!status && attribution_open(&attribution, &how, &report))
		status = cli_report(&report);
	if (!status)
		status = run(faults, options, &addressing, reader, attribution);
	attribution_close(attribution);
	return status;
}

int function_faults_read(struct function_faults *faults,
			 const struct function_faults_options *options)
{
	struct lpl_reader *reader;
	int status;

	*faults = (struct function_faults){ .functions = NULL };
	if (strcmp(options->path, "-") == 0)
		return cli_complain(CLI_USAGE, "--functions reads the trace a second time, which a "
				    "pipe cannot be: give a file");
	status = cli_reader_open(&reader, options->path);
	if (status)
		return status;
	status = read_trace(faults, options, reader);
	lpl_reader_close(reader);
	return status;
}

void function_faults_close(struct function_faults *faults)
{
	free(faults->share);
	functions_close(faults->functions);
	lpl_simulator_close(faults->simulator);
}
