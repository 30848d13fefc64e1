/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulator: numbers the pages of a stream once, makes touches of its runs, and deals
 * them to the players of all policies that were asked for.
 */
#include <laplace/simulator.h>

#include "base/array.h"
#include "reduce/pages.h"
#include "entry.h"
#include "pool.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lpl_simulator {
	struct lpl_sink sink;		/* first */
	struct lpl_reducer *reducer;	/* before the sink, of a behaviour sequence; or NULL */
	struct lpl_exactness exactness;	/* of what arrives at the sink */
	unsigned int jobs;
	struct lpl_entry **entry;
	size_t entries, entry_capacity;
	size_t memories;		/* of demand paging */
	bool timed;			/* times must rise */
	uint64_t least_tau;		/* or UINT64_MAX: a run of one page is one touch */
	/* once the stream has begun */
	struct lpl_player **player;	/* those of all entries */
	struct lpl_pool *pool;
	struct lpl_pages pages;
	struct lpl_page page;		/* the last touch's */
	struct lpl_touch *touch;	/* the batch that is being filled */
	size_t touches;			/* in it; the last one may still grow */
	uint64_t references, last_time;
};

/* ---- policies ---- */

static unsigned int processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned int)CPU_COUNT(&set) : 1;
}

static enum lpl_error add_entry(struct lpl_simulator *simulator, const char *spec,
				const struct lpl_policy *policy,
				const struct lpl_sizes *sizes, struct lpl_report *report)
{
	struct lpl_entry *entry;
	enum lpl_error error;

	if (simulator->pool != NULL)
		return lpl_fail(report, LPL_ERR_USAGE,
				"policy '%.80s': the simulation has begun", spec);
	if (!lpl_reach(simulator->entry, simulator->entry_capacity, simulator->entries))
		return lpl_fail(report, LPL_ERR_MEMORY, "policy '%.80s': no memory", spec);
	error = lpl_entry_open(&entry, spec, policy, sizes, &simulator->exactness,
			       LPL_MOST_MEMORIES - simulator->memories, report);
	if (error != LPL_OK)
		return error;
	simulator->entry[simulator->entries++] = entry;
	if (entry->kind == LPL_KIND_DEMAND)
		simulator->memories += entry->players;
	if (entry->kind == LPL_KIND_TIMED) {
		simulator->timed = true;
		if (entry->sizes.count != 0 && entry->sizes.size[0] < simulator->least_tau)
			simulator->least_tau = entry->sizes.size[0];
	}
	return LPL_OK;
}

enum lpl_error lpl_simulator_add(struct lpl_simulator *simulator, const char *policy,
				 const struct lpl_sizes *sizes, struct lpl_report *report)
{
	return add_entry(simulator, policy, NULL, sizes, report);
}

enum lpl_error lpl_simulator_add_policy(struct lpl_simulator *simulator,
					const struct lpl_policy *policy, const char *options,
					const struct lpl_sizes *sizes,
					struct lpl_report *report)
{
	bool bare = options == NULL || options[0] == '\0';
	enum lpl_error error;
	char *spec;

	if (asprintf(&spec, "%s%s%s", policy->name, bare ? "" : ":", bare ? "" : options) < 0)
		return lpl_fail(report, LPL_ERR_MEMORY, "policy '%s': no memory", policy->name);
	error = add_entry(simulator, spec, policy, sizes, report);
	free(spec);
	return error;
}

/* ---- the stream ---- */

static enum lpl_error begin(struct lpl_simulator *simulator, struct lpl_report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < simulator->entries; i++)
		count += simulator->entry[i]->players;
	simulator->player = calloc(count + 1, sizeof(struct lpl_player *));
	if (simulator->player != NULL) {
		count = 0;
		for (size_t i = 0; i < simulator->entries; i++)
			for (size_t j = 0; j < simulator->entry[i]->players; j++)
				simulator->player[count++] = simulator->entry[i]->player[j];
		simulator->pool = lpl_pool_new(simulator->player, count, simulator->jobs);
	}
	if (simulator->pool == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "simulation: no memory");
	simulator->touch = lpl_pool_room(simulator->pool);
	return LPL_OK;
}

static enum lpl_error deal(struct lpl_simulator *simulator, struct lpl_report *report)
{
	enum lpl_error error = lpl_pool_deal(simulator->pool, simulator->touches, report);

	simulator->touches = 0;
	if (error == LPL_OK)
		simulator->touch = lpl_pool_room(simulator->pool);
	return error;
}

/* Does a reference belong to the last touch? */
static bool goes_on(const struct lpl_simulator *simulator, struct lpl_page page, uint64_t time)
{
	return simulator->touches != 0 && lpl_same_page(page, simulator->page) &&
	       time - simulator->touch[simulator->touches - 1].last <= simulator->least_tau;
}

static enum lpl_error new_touch(struct lpl_simulator *simulator, struct lpl_page page,
				const struct lpl_ref *ref, struct lpl_report *report)
{
	uint32_t number;

	if (simulator->touches == LPL_BATCH) {
		enum lpl_error error = deal(simulator, report);

		if (error != LPL_OK)
			return error;
	}
	number = lpl_pages_find(&simulator->pages, page);
	if (number == 0)
		number = lpl_pages_add(&simulator->pages, page);
	if (number == 0)
		return lpl_fail(report, LPL_ERR_MEMORY,
				"simulation: no memory for %u distinct pages",
				simulator->pages.count);
	simulator->page = page;
	simulator->touch[simulator->touches++] = (struct lpl_touch){
		.first = ref->ref,
		.last = ref->ref,
		.page = number,
		.write = lpl_is_write(ref) ? 1 : 0,
	};
	return LPL_OK;
}

static enum lpl_error check_time(const struct lpl_simulator *simulator,
				 const struct lpl_ref *ref, struct lpl_report *report)
{
	if (!simulator->timed || simulator->references == 0 ||
	    ref->ref > simulator->last_time ||
	    (ref->ref == simulator->last_time && (ref->flags & LPL_SYNTHETIC) != 0))
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_ORDER,
			"simulation: reference number %" PRIu64 " comes after number %" PRIu64
			"; ws and vmin need times that rise", ref->ref, simulator->last_time);
}

static int simulator_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			  struct lpl_report *report)
{
	struct lpl_simulator *simulator = (struct lpl_simulator *)sink;
	enum lpl_error error = simulator->pool == NULL ? begin(simulator, report) : LPL_OK;

	for (size_t i = 0; i < count && error == LPL_OK; i++) {
		struct lpl_page page = lpl_page_of(&refs[i]);

		error = check_time(simulator, &refs[i], report);
		if (error != LPL_OK)
			break;
		simulator->references++;
		simulator->last_time = refs[i].ref;
		if (goes_on(simulator, page, refs[i].ref)) {
			struct lpl_touch *touch = &simulator->touch[simulator->touches - 1];

			touch->last = refs[i].ref;
			touch->write |= lpl_is_write(&refs[i]) ? 1 : 0;
			continue;
		}
		error = new_touch(simulator, page, &refs[i], report);
	}
	return error;
}

static int simulator_event(struct lpl_sink *sink, const struct lpl_event *event,
			   struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static int simulator_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_simulator *simulator = (struct lpl_simulator *)sink;
	enum lpl_error error = simulator->pool == NULL ? begin(simulator, report) : LPL_OK;

	if (error == LPL_OK && simulator->touches != 0)
		error = lpl_pool_deal(simulator->pool, simulator->touches, report);
	if (error == LPL_OK)
		error = lpl_pool_finish(simulator->pool, report);
	for (size_t i = 0; i < simulator->entries && error == LPL_OK; i++)
		if (!lpl_entry_gather(simulator->entry[i], simulator->references,
				      simulator->pages.count, &simulator->exactness))
			error = lpl_fail(report, LPL_ERR_MEMORY,
					 "simulation: no memory for the results");
	return error;
}

/* ---- opening and closing ---- */

/* A behaviour sequence becomes a reference trace before it is simulated. */
static enum lpl_error open_reducer(struct lpl_simulator *simulator, const char *reduction,
				   struct lpl_report *report)
{
	uint64_t pages = reduction != NULL ? lpl_reduction_behaviour(reduction) : 0;
	char simulated[LPL_SPEC_SIZE];
	char exact[LPL_SPEC_SIZE];
	char olr[32];
	enum lpl_error error;

	if (pages == 0) {
		(void)lpl_reduction_exactness(reduction, &simulator->exactness);
		return LPL_OK;
	}
	(void)snprintf(olr, sizeof(olr), "olr:%" PRIu64, pages);
	error = lpl_reducer_open(&simulator->reducer, reduction, olr, &simulator->sink, report);
	if (error == LPL_OK)
		error = lpl_reducer_describe(reduction, olr, simulated, exact, report);
	if (error == LPL_OK)
		(void)lpl_reduction_exactness(simulated, &simulator->exactness);
	return error;
}

enum lpl_error lpl_simulator_open(struct lpl_simulator **simulator,
				  const struct lpl_simulator_options *options,
				  struct lpl_report *report)
{
	struct lpl_simulator *opened = calloc(1, sizeof(*opened));
	enum lpl_error error;

	*simulator = NULL;
	if (opened == NULL || !lpl_pages_init(&opened->pages)) {
		free(opened);
		return lpl_fail(report, LPL_ERR_MEMORY, "simulation: no memory");
	}
	opened->sink = (struct lpl_sink){simulator_refs, simulator_event, simulator_finish};
	opened->least_tau = UINT64_MAX;
	opened->jobs = options != NULL && options->jobs != 0 ? options->jobs : processors();
	error = open_reducer(opened, options != NULL ? options->reduction : NULL, report);
	if (error != LPL_OK)
		lpl_simulator_close(opened);
	else
		*simulator = opened;
	return error;
}

struct lpl_sink *lpl_simulator_sink(struct lpl_simulator *simulator)
{
	return simulator->reducer != NULL ? lpl_reducer_sink(simulator->reducer) :
		&simulator->sink;
}

size_t lpl_simulator_count(const struct lpl_simulator *simulator)
{
	return simulator->entries;
}

const char *lpl_simulator_policy(const struct lpl_simulator *simulator, size_t index)
{
	return simulator->entry[index]->spec;
}

const struct lpl_result *lpl_simulator_results(const struct lpl_simulator *simulator,
					       size_t index, size_t *count)
{
	*count = simulator->entry[index]->results;
	return simulator->entry[index]->result;
}

uint64_t lpl_simulator_pages(const struct lpl_simulator *simulator)
{
	return simulator->pages.count;
}

uint64_t lpl_simulator_exact_from(const struct lpl_simulator *simulator, size_t index)
{
	return lpl_entry_exact_from(simulator->entry[index], &simulator->exactness);
}

void lpl_simulator_close(struct lpl_simulator *simulator)
{
	if (simulator == NULL)
		return;
	lpl_pool_close(simulator->pool);	/* before its players */
	for (size_t i = 0; i < simulator->entries; i++)
		lpl_entry_close(simulator->entry[i]);
	lpl_reducer_close(simulator->reducer);
	lpl_pages_free(&simulator->pages);
	free(simulator->player);
	free(simulator->entry);
	free(simulator);
}
