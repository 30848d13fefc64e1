/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CLOCK and SEGQ on the original and on the reduced traces, at many sizes of memory: what
 * figures 3 to 6 are made of.
 *
 * Memories are as many sizes as wanted, evenly from the smallest of the three
 * reduction memories up to 30 times the largest, or to where every page fits.
 * SEGQ begins above its first segment, which has twice SAD's K, as in the paper.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <laplace/reducer.h>
#include <laplace/simulator.h>

#include "cli/say.h"
#include "study.h"

const char *const study_policy_name[STUDY_POLICIES] = { "clock", "segq" };

#define FIFO_TIMES 2		/* SAD's K */

/* The streams of references: what each method leaves, and the original. */
enum { ORIGINAL = STUDY_METHODS, STREAMS };

/* The simulations of one trace. */
struct runs {
	struct lpl_sizes sizes[STUDY_POLICIES];
	struct lpl_simulator *simulator[STREAMS];
	int place[STUDY_POLICIES];	/* in a simulator; -1: no size makes sense */
	struct lpl_reducer *reducer[STUDY_METHODS];
};

/* ---- the sizes ---- */

/* `wanted` sizes, evenly from `first` to `last`; fewer where there are not so many. */
static bool space_out(struct lpl_sizes *sizes, uint64_t first, uint64_t last,
		      unsigned int wanted)
{
	uint64_t span = last - first;

	if (first > last)
		return true;
	sizes->count = span + 1 < wanted ? (size_t)span + 1 : wanted;
	sizes->size = calloc(sizes->count, sizeof(*sizes->size));
	if (!sizes->size)
		return false;
	for (size_t i = 0; i < sizes->count; i++)
		sizes->size[i] = sizes->count == 1 ? first : first + span * i / (sizes->count - 1);
	return true;
}

static bool choose_sizes(const struct study *study, struct study_trace *trace,
			 struct runs *runs)
{
	uint64_t least = UINT64_MAX, most = 0, last;

	for (int i = 0; i < STUDY_METHODS; i++) {
		uint64_t k = trace->choice[i].k;

		least = k < least ? k : least;
		most = k > most ? k : most;
	}
	last = most * STUDY_RATIOS;
	/* a memory of all pages has nothing to replace */
	if (last >= trace->pages)
		last = trace->pages - 1;
	trace->fifo = FIFO_TIMES * trace->choice[STUDY_SAD].k;
	return space_out(&runs->sizes[STUDY_CLOCK], least, last, study->sizes) &&
	       space_out(&runs->sizes[STUDY_SEGQ], trace->fifo + 1, last, study->sizes);
}

/* ---- the run ---- */

static int open_simulator(const struct study_trace *trace, struct runs *runs, int stream,
			  unsigned int jobs)
{
	const struct lpl_simulator_options options = { .jobs = jobs };
	struct lpl_report report = { 0 };
	int count = 0;

	if (lpl_simulator_open(&runs->simulator[stream], &options, &report))
		return cli_report(&report);
	for (int i = 0; i < STUDY_POLICIES; i++) {
		char policy[64];

		runs->place[i] = -1;
		if (!runs->sizes[i].count)
			continue;
		if (i == STUDY_SEGQ)
			snprintf(policy, sizeof(policy), "segq:fifo=%" PRIu64, trace->fifo);
		else
			snprintf(policy, sizeof(policy), "%s", study_policy_name[i]);
		if (lpl_simulator_add(runs->simulator[stream], policy, &runs->sizes[i],
				      &report))
			return cli_report(&report);
		runs->place[i] = count++;
	}
	return CLI_DONE;
}

static int open_reducer(const struct study_trace *trace, struct runs *runs, int method)
{
	struct lpl_report report = { 0 };
	char spec[LPL_SPEC_SIZE];

	snprintf(spec, sizeof(spec), "%s:%" PRIu64, study_method_name[method],
		 trace->choice[method].k);
	if (lpl_reducer_open(&runs->reducer[method], "block", spec,
			     lpl_simulator_sink(runs->simulator[method]), &report))
		return cli_report(&report);
	return CLI_DONE;
}

static int keep_results(struct study_trace *trace, const struct runs *runs,
			enum study_policy policy)
{
	size_t count = runs->sizes[policy].count;
	struct study_row *row = calloc(count, sizeof(*row));

	if (!row)
		return cli_complain(CLI_FAILED, "no memory");
	trace->row[policy] = row;
	trace->rows[policy] = count;
	for (int i = 0; i < STREAMS; i++) {
		size_t results;
		const struct lpl_result *result =
			lpl_simulator_results(runs->simulator[i], (size_t)runs->place[policy],
					      &results);

		for (size_t j = 0; j < count && j < results; j++) {
			row[j].size = result[j].size;
			if (i == ORIGINAL)
				row[j].faults = result[j].faults;
			else
				row[j].reduced[i] = result[j].faults;
		}
	}
	return CLI_DONE;
}

static int run_them(const struct study *study, struct study_trace *trace, struct runs *runs)
{
	struct lpl_sink *to[STREAMS];
	int status = CLI_DONE;

	for (int i = 0; i < STREAMS && !status; i++)
		/* what is reduced is soon done */
		status = open_simulator(trace, runs, i, i == ORIGINAL ? study->jobs : 1);
	for (int i = 0; i < STUDY_METHODS && !status; i++)
		status = open_reducer(trace, runs, i);
	if (status)
		return status;
	/* the longest first, for all to end together */
	to[0] = lpl_simulator_sink(runs->simulator[ORIGINAL]);
	for (int i = 0; i < STUDY_METHODS; i++)
		to[i + 1] = lpl_reducer_sink(runs->reducer[i]);
	status = study_read(study, trace, "figures 3 to 6", false, to, STREAMS);
	for (int i = 0; i < STUDY_POLICIES && !status; i++) {
		if (runs->sizes[i].count)
			status = keep_results(trace, runs, (enum study_policy)i);
	}
	return status;
}

int study_simulate(const struct study *study, struct study_trace *trace)
{
	struct runs runs = { .sizes = { { .count = 0 } } };
	int status = CLI_DONE;

	if (!choose_sizes(study, trace, &runs))
		status = cli_complain(CLI_FAILED, "no memory");
	if (!status && (runs.sizes[STUDY_CLOCK].count || runs.sizes[STUDY_SEGQ].count))
		status = run_them(study, trace, &runs);
	for (int i = 0; i < STUDY_METHODS; i++)
		lpl_reducer_close(runs.reducer[i]);
	for (int i = 0; i < STREAMS; i++)
		lpl_simulator_close(runs.simulator[i]);
	for (int i = 0; i < STUDY_POLICIES; i++)
		lpl_sizes_free(&runs.sizes[i]);
	return status;
}
