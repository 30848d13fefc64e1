/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far a trace can be reduced: table 1 and figure 2, table 2, and for each
 * method the K that makes the trace as much smaller as figures 3 to 6 want it.
 *
 * Stack deletion keeps what faults in an LRU memory of K pages, so one pass of an
 * LRU simulation tells its size for every K.  SAD and OLR have to be run.  What
 * they leave shrinks as K grows, so the K for a given size is looked for between
 * two that are known, several at one reading; the first are those of figure 2.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <laplace/reducer.h>
#include <laplace/simulator.h>

#include "base/array.h"
#include "cli/say.h"
#include "study.h"

const char *const study_method_name[STUDY_METHODS] = { "sad", "olr", "sd" };
const uint64_t study_table_k[STUDY_TABLE_KS] = { 5, 20 };

#define FIRST_K 5
#define LAST_FACTOR 10000	/* figure 2 ends where stack deletion is beyond it */
#define MOST_POINTS 40		/* K doubles: enough for 2^40 pages */
#define MOST_STEPS 8		/* K's tried at one reading, of each method */
#define MOST_REDUCTIONS (2 * MOST_POINTS)
#define CLOSE_ENOUGH 0.01	/* to the size wanted, as a fraction of it */

/* A reducer and what is behind it. */
struct reduction {
	enum study_method method;
	uint64_t k;
	struct lpl_reducer *reducer;
	struct study_measure *measure;
};

static bool in_tables(uint64_t k)
{
	for (size_t i = 0; i < STUDY_TABLE_KS; i++) {
		if (study_table_k[i] == k)
			return true;
	}
	return false;
}

static int open_reduction(struct reduction *reduction, bool measured)
{
	struct lpl_report report = { 0 };
	char spec[LPL_SPEC_SIZE];
	int status = study_measure_open(&reduction->measure, measured);

	if (status)
		return status;
	snprintf(spec, sizeof(spec), "%s:%" PRIu64, study_method_name[reduction->method],
		 reduction->k);
	if (lpl_reducer_open(&reduction->reducer, "block", spec,
			     study_measure_sink(reduction->measure), &report))
		return cli_report(&report);
	return CLI_DONE;
}

/* Run every reduction; sizes[] gets what each leaves. */
static int run_reductions(const struct study *study, struct study_trace *trace, const char *what,
			  struct reduction *reductions, size_t count, bool tables,
			  struct study_size *sizes)
{
	struct lpl_sink *to[MOST_REDUCTIONS];
	int status = CLI_DONE;

	for (size_t i = 0; i < count && !status; i++) {
		status = open_reduction(&reductions[i], tables && in_tables(reductions[i].k));
		if (!status)
			to[i] = lpl_reducer_sink(reductions[i].reducer);
	}
	if (!status)
		status = study_read(study, trace, what, true, to, count);
	for (size_t i = 0; i < count; i++) {
		if (!status) {
			study_measure_read(reductions[i].measure, &sizes[i]);
			sizes[i].k = reductions[i].k;
			sizes[i].method = reductions[i].method;
		}
		lpl_reducer_close(reductions[i].reducer);
		study_measure_close(reductions[i].measure);
	}
	return status;
}

/* ---- stack deletion, for every K ---- */

uint64_t study_kept_by_sd(const struct study_trace *trace, uint64_t k)
{
	return k <= trace->lru_last ? trace->lru[k] : trace->pages;
}

static int keep_curve(struct study_trace *trace, const struct lpl_simulator *lru)
{
	size_t count;
	const struct lpl_result *result = lpl_simulator_results(lru, 0, &count);

	trace->pages = lpl_simulator_pages(lru);
	trace->lru = calloc(count + 1, sizeof(*trace->lru));
	if (!trace->lru)
		return cli_complain(CLI_FAILED, "no memory");
	trace->lru_last = count;
	for (size_t i = 0; i < count; i++)
		trace->lru[i + 1] = result[i].faults;
	/* of a blocked trace a memory of one page lets nothing go */
	trace->lru[1] = trace->events;
	return CLI_DONE;
}

static int read_curve(const struct study *study, struct study_trace *trace)
{
	const struct lpl_simulator_options options = { .jobs = 1 };
	const struct lpl_sizes all = { .all = true };
	struct lpl_report report = { 0 };
	struct lpl_simulator *lru;
	struct lpl_sink *sink;
	int status;

	if (lpl_simulator_open(&lru, &options, &report))
		return cli_report(&report);
	if (lpl_simulator_add(lru, "lru", &all, &report)) {
		lpl_simulator_close(lru);
		return cli_report(&report);
	}
	sink = lpl_simulator_sink(lru);
	status = study_read(study, trace, "LRU", true, &sink, 1);
	if (!status && !trace->events)
		status = cli_complain(CLI_USAGE, "%s: has no references", trace->path);
	if (!status)
		status = keep_curve(trace, lru);
	lpl_simulator_close(lru);
	return status;
}

/* ---- figure 2, and the tables, which are a part of it ---- */

/* K's from 5 on, doubling, until nothing is left to be learned. */
static size_t list_ks(const struct study_trace *trace, uint64_t k[MOST_POINTS])
{
	const uint64_t last_table = study_table_k[STUDY_TABLE_KS - 1];
	size_t count = 0;

	k[count++] = FIRST_K;
	while (count < MOST_POINTS) {
		uint64_t last = k[count - 1];
		double factor = study_factor(trace->events, study_kept_by_sd(trace, last));

		if (last >= last_table && (last >= trace->pages || factor > LAST_FACTOR))
			break;
		k[count++] = 2 * last;
	}
	return count;
}

static int run_points(const struct study *study, struct study_trace *trace)
{
	uint64_t k[MOST_POINTS];
	struct reduction reductions[MOST_REDUCTIONS] = { { .k = 0 } };
	struct study_size sizes[MOST_REDUCTIONS];
	size_t tabled = 0;
	int status;

	trace->points = list_ks(trace, k);
	trace->point = calloc(trace->points, sizeof(*trace->point));
	if (!trace->point)
		return cli_complain(CLI_FAILED, "no memory");
	for (size_t i = 0; i < trace->points; i++) {
		reductions[2 * i] = (struct reduction){ .method = STUDY_SAD, .k = k[i] };
		reductions[2 * i + 1] = (struct reduction){ .method = STUDY_OLR, .k = k[i] };
	}
	status = run_reductions(study, trace, "tables 1 and 2, figure 2", reductions,
				2 * trace->points, true, sizes);
	if (status)
		return status;
	for (size_t i = 0; i < 2 * trace->points; i++) {
		struct study_point *point = &trace->point[i / 2];

		point->k = sizes[i].k;
		point->kept[sizes[i].method] = sizes[i].references;
		point->kept[STUDY_SD] = study_kept_by_sd(trace, point->k);
		if (in_tables(point->k))
			trace->size[tabled++] = sizes[i];
	}
	return CLI_DONE;
}

/* ---- the K for a factor ---- */

/* What is known of a method: sizes by rising K; the wanted one may lie in a gap. */
struct search {
	enum study_method method;
	double wanted;
	struct { uint64_t k, kept; } *known;
	size_t count, room;
};

/* How many times larger or smaller than wanted. */
static double miss(const struct search *search, uint64_t kept)
{
	double times = (double)kept / search->wanted;

	return times > 1 ? times : 1 / times;
}

static bool add_known(struct search *search, uint64_t k, uint64_t kept)
{
	size_t at = search->count;

	if (!lpl_reach(search->known, search->room, at))
		return false;
	for (; at > 0 && search->known[at - 1].k > k; at--)
		search->known[at] = search->known[at - 1];
	search->known[at].k = k;
	search->known[at].kept = kept;
	search->count++;
	return true;
}

/* The known one nearest to what is wanted; of several the smallest K. */
static size_t nearest(const struct search *search)
{
	size_t best = 0;

	for (size_t i = 1; i < search->count; i++) {
		if (miss(search, search->known[i].kept) < miss(search, search->known[best].kept))
			best = i;
	}
	return best;
}

/* K's to try next, in the gap where the wanted size is; 0: that is settled. */
static size_t next_ks(const struct search *search, uint64_t k[MOST_STEPS])
{
	uint64_t low, gap;
	size_t above = 0, count;

	if (miss(search, search->known[nearest(search)].kept) <= 1 + CLOSE_ENOUGH)
		return 0;
	while (above < search->count && (double)search->known[above].kept > search->wanted)
		above++;
	if (above == 0 || above == search->count)
		return 0;
	low = search->known[above - 1].k;
	gap = search->known[above].k - low;
	count = gap - 1 < MOST_STEPS ? gap - 1 : MOST_STEPS;
	for (size_t i = 0; i < count; i++)
		k[i] = low + gap * (i + 1) / (count + 1);
	return count;
}

static void choose(struct study_choice *choice, const struct search *search)
{
	size_t best = nearest(search);

	*choice = (struct study_choice){
		.k = search->known[best].k, .kept = search->known[best].kept,
		/* a step of K may be a large one, where K is small */
		.reached = (double)search->known[search->count - 1].kept <= search->wanted,
	};
}

/* Stack deletion's size is known for every K. */
static void choose_sd(const struct study *study, struct study_trace *trace)
{
	const struct search search = {
		.wanted = (double)trace->events / (double)study->factor
	};
	struct study_choice *choice = &trace->choice[STUDY_SD];

	*choice = (struct study_choice){ .k = 1, .kept = trace->lru[1] };
	for (uint64_t k = 2; k <= trace->lru_last; k++) {
		if (miss(&search, trace->lru[k]) < miss(&search, choice->kept))
			*choice = (struct study_choice){ .k = k, .kept = trace->lru[k] };
	}
	choice->reached = (double)trace->pages <= search.wanted;
}

/* One reading with the next K's of both methods; false in *more when there are none. */
static int narrow(const struct study *study, struct study_trace *trace,
		  struct search search[2], bool *more)
{
	struct reduction reductions[2 * MOST_STEPS] = { { .k = 0 } };
	struct study_size sizes[2 * MOST_STEPS];
	size_t count = 0;
	int status;

	for (int i = 0; i < 2; i++) {
		uint64_t k[MOST_STEPS];
		size_t steps = next_ks(&search[i], k);

		for (size_t j = 0; j < steps; j++)
			reductions[count++] = (struct reduction){ .method = search[i].method,
								  .k = k[j] };
	}
	*more = count != 0;
	if (!*more)
		return CLI_DONE;
	status = run_reductions(study, trace, "choice of K", reductions, count, false, sizes);
	for (size_t i = 0; i < count && !status; i++) {
		struct search *its = &search[sizes[i].method == search[0].method ? 0 : 1];

		if (!add_known(its, sizes[i].k, sizes[i].references))
			status = cli_complain(CLI_FAILED, "no memory");
	}
	return status;
}

static int choose_ks(const struct study *study, struct study_trace *trace)
{
	const double wanted = (double)trace->events / (double)study->factor;
	struct search search[2] = {
		{ .method = STUDY_SAD, .wanted = wanted },
		{ .method = STUDY_OLR, .wanted = wanted },
	};
	bool more = true, memory = true;
	int status = CLI_DONE;

	for (int i = 0; i < 2; i++) {
		memory = memory && add_known(&search[i], 1, trace->lru[1]);
		for (size_t j = 0; j < trace->points; j++)
			memory = memory && add_known(&search[i], trace->point[j].k,
						     trace->point[j].kept[search[i].method]);
	}
	if (!memory)
		status = cli_complain(CLI_FAILED, "no memory");
	while (more && !status)
		status = narrow(study, trace, search, &more);
	for (int i = 0; i < 2; i++) {
		if (!status)
			choose(&trace->choice[search[i].method], &search[i]);
		free(search[i].known);
	}
	choose_sd(study, trace);
	return status;
}

int study_reduce(const struct study *study, struct study_trace *trace)
{
	int status = read_curve(study, trace);

	if (!status)
		status = run_points(study, trace);
	if (!status)
		status = choose_ks(study, trace);
	return status;
}
