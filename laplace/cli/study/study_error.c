/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How wrong CLOCK and SEGQ go on reduced traces: figures 3 to 6.
 *
 * Memories are as many sizes as wanted, evenly from the smallest of the three
 * reduction memories up to 30 times the largest, or to where every page fits.
 * SEGQ begins above its first segment, which has twice SAD's K, as in the paper.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <laplace/reducer.h>
#include <laplace/simulator.h>

#include "study.h"

const char *const study_policy_name[STUDY_POLICIES] = { "clock", "segq" };

#define FIFO_TIMES 2		/* SAD's K */
#define LEAST_FAULTS 100	/* of the original, for a size to count in figures 5 and 6 */

/* The streams of references: what each method leaves, and the original. */
enum { ORIGINAL = STUDY_METHODS, STREAMS };

struct arena {
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
			 struct arena *arena)
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
	return space_out(&arena->sizes[STUDY_CLOCK], least, last, study->sizes) &&
	       space_out(&arena->sizes[STUDY_SEGQ], trace->fifo + 1, last, study->sizes);
}

/* ---- the run ---- */

static int open_simulator(const struct study_trace *trace, struct arena *arena, int stream,
			  unsigned int jobs)
{
	const struct lpl_simulator_options options = { .jobs = jobs };
	struct lpl_report report = { 0 };
	int count = 0;

	if (lpl_simulator_open(&arena->simulator[stream], &options, &report))
		return cli_report(&report);
	for (int i = 0; i < STUDY_POLICIES; i++) {
		char policy[64];

		arena->place[i] = -1;
		if (!arena->sizes[i].count)
			continue;
		if (i == STUDY_SEGQ)
			snprintf(policy, sizeof(policy), "segq:fifo=%" PRIu64, trace->fifo);
		else
			snprintf(policy, sizeof(policy), "%s", study_policy_name[i]);
		if (lpl_simulator_add(arena->simulator[stream], policy, &arena->sizes[i],
				      &report))
			return cli_report(&report);
		arena->place[i] = count++;
	}
	return CLI_DONE;
}

static int open_reducer(const struct study_trace *trace, struct arena *arena, int method)
{
	struct lpl_report report = { 0 };
	char spec[LPL_SPEC_SIZE];

	snprintf(spec, sizeof(spec), "%s:%" PRIu64, study_method_name[method],
		 trace->choice[method].k);
	if (lpl_reducer_open(&arena->reducer[method], "block", spec,
			     lpl_simulator_sink(arena->simulator[method]), &report))
		return cli_report(&report);
	return CLI_DONE;
}

static int keep_results(struct study_trace *trace, const struct arena *arena,
			enum study_policy policy)
{
	size_t count = arena->sizes[policy].count;
	struct study_row *row = calloc(count, sizeof(*row));

	if (!row)
		return cli_complain(CLI_FAILED, "no memory");
	trace->row[policy] = row;
	trace->rows[policy] = count;
	for (int i = 0; i < STREAMS; i++) {
		size_t results;
		const struct lpl_result *result =
			lpl_simulator_results(arena->simulator[i], (size_t)arena->place[policy],
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

static int run_arena(const struct study *study, struct study_trace *trace, struct arena *arena)
{
	struct lpl_sink *to[STREAMS];
	int status = CLI_DONE;

	for (int i = 0; i < STREAMS && !status; i++)
		/* what is reduced is soon done */
		status = open_simulator(trace, arena, i, i == ORIGINAL ? study->jobs : 1);
	for (int i = 0; i < STUDY_METHODS && !status; i++)
		status = open_reducer(trace, arena, i);
	if (status)
		return status;
	/* the longest first, for all to end together */
	to[0] = lpl_simulator_sink(arena->simulator[ORIGINAL]);
	for (int i = 0; i < STUDY_METHODS; i++)
		to[i + 1] = lpl_reducer_sink(arena->reducer[i]);
	status = study_pass(study, trace, "figures 3 to 6", false, to, STREAMS);
	for (int i = 0; i < STUDY_POLICIES && !status; i++) {
		if (arena->sizes[i].count)
			status = keep_results(trace, arena, (enum study_policy)i);
	}
	return status;
}

int study_simulate(const struct study *study, struct study_trace *trace)
{
	struct arena arena = { .sizes = { { .count = 0 } } };
	int status = CLI_DONE;

	if (!choose_sizes(study, trace, &arena))
		status = cli_complain(CLI_FAILED, "no memory");
	if (!status && (arena.sizes[STUDY_CLOCK].count || arena.sizes[STUDY_SEGQ].count))
		status = run_arena(study, trace, &arena);
	for (int i = 0; i < STUDY_METHODS; i++)
		lpl_reducer_close(arena.reducer[i]);
	for (int i = 0; i < STREAMS; i++)
		lpl_simulator_close(arena.simulator[i]);
	for (int i = 0; i < STUDY_POLICIES; i++)
		lpl_sizes_free(&arena.sizes[i]);
	return status;
}

/* ---- what came of it ---- */

double study_error(const struct study_row *row, enum study_method method)
{
	double difference = (double)row->reduced[method] - (double)row->faults;

	return 100 * (difference < 0 ? -difference : difference) / (double)row->faults;
}

/* The errors at one ratio (0: at all), over all traces; returns their number. */
static size_t gather(const struct study *study, enum study_policy policy,
		     enum study_method method, uint64_t ratio, double *error)
{
	size_t count = 0;

	for (size_t i = 0; i < study->traces; i++) {
		const struct study_trace *trace = &study->trace[i];
		uint64_t k = trace->choice[method].k;

		for (size_t j = 0; j < trace->rows[policy]; j++) {
			const struct study_row *row = &trace->row[policy][j];

			/* below K nothing is promised; a few faults are no measure */
			if (row->size < k || row->faults < LEAST_FAULTS)
				continue;
			/* rounded, halves up */
			if (ratio == 0 || (2 * row->size + k) / (2 * k) == ratio)
				error[count++] = study_error(row, method);
		}
	}
	return count;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct study_bin describe(double *error, size_t count)
{
	struct study_bin bin = { .samples = count };

	if (!count)
		return bin;
	qsort(error, count, sizeof(*error), compare);
	bin.median = (error[(count - 1) / 2] + error[count / 2]) / 2;
	bin.maximum = error[count - 1];
	return bin;
}

/* From which ratio on nothing is too wrong; nothing at all is no proof. */
static unsigned int safe_from(const struct study_bin bin[STUDY_RATIOS + 1])
{
	unsigned int safe = 0;

	for (unsigned int ratio = STUDY_RATIOS; ratio >= 1; ratio--) {
		if (!bin[ratio].samples)
			continue;
		if (bin[ratio].maximum > STUDY_SAFE_ERROR)
			break;
		safe = ratio;
	}
	return safe;
}

static size_t count_safe(const double *error, size_t count)
{
	size_t safe = 0;

	for (size_t i = 0; i < count; i++)
		safe += error[i] <= STUDY_SAFE_ERROR;
	return safe;
}

bool study_sum_up(const struct study *study, struct study_errors *errors)
{
	size_t most = 0;
	double *error;

	for (size_t i = 0; i < study->traces; i++)
		most += study->trace[i].rows[STUDY_CLOCK] + study->trace[i].rows[STUDY_SEGQ];
	*errors = (struct study_errors){ .safe = { { 0 } } };
	error = calloc(most + 1, sizeof(*error));
	if (!error)
		return false;
	for (int i = 0; i < STUDY_POLICIES; i++) {
		for (int j = 0; j < STUDY_METHODS; j++) {
			struct study_bin *bin = errors->bin[i][j];

			for (unsigned int ratio = 1; ratio <= STUDY_RATIOS; ratio++)
				bin[ratio] = describe(error, gather(study, (enum study_policy)i,
								    (enum study_method)j, ratio,
								    error));
			errors->safe[i][j] = safe_from(bin);
			errors->samples[i][j] = gather(study, (enum study_policy)i,
						       (enum study_method)j, 0, error);
			errors->within[i][j] = count_safe(error, errors->samples[i][j]);
		}
	}
	free(error);
	return true;
}
