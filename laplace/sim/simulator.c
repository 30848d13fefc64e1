/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulator: numbers the pages of a stream once, makes one reference of several to a page
 * in a row, and sends them in batches to the simulations that were asked for.
 */
#include <laplace/simulator.h>

#include "base/array.h"
#include "base/digits.h"
#include "base/host.h"
#include "base/try.h"
#include "reduce/reduction.h"
#include "simulator_struct.h"
#include "stepper.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 256 };	/* of accesses, sent together */

/* ---- policies ---- */

static enum lpl_error add_request(struct lpl_simulator *simulator, const char *spec,
				  const struct lpl_policy *policy,
				  const struct lpl_sizes *sizes, struct lpl_report *report)
{
	struct lpl_request *request;

	if (simulator->broadcast != NULL)
		return lpl_fail(report, LPL_ERR_USAGE,
				"policy '%.80s': the simulation has begun", spec);
	if (!lpl_reach(simulator->request, simulator->request_room, simulator->requests))
		return lpl_fail(report, LPL_ERR_MEMORY, "policy '%.80s': no memory", spec);
	LPL_TRY(lpl_request_open(&request, spec, policy, sizes, &simulator->exactness,
				 LPL_MOST_MEMORIES - simulator->memories, report));
	simulator->request[simulator->requests++] = request;
	if (request->policy != NULL)
		simulator->memories += request->simulations;
	if (request->policy != NULL && request->policy->fault != NULL) {
		simulator->named = true;
		for (size_t i = 0; i < request->simulations; i++)
			request->simulation[i]->names = &simulator->names;
	}
	if (request->exact_as == LPL_EXACT_AS_WS) {
		simulator->timed = true;
		if (request->sizes.count != 0 && request->sizes.size[0] < simulator->least_tau)
			simulator->least_tau = request->sizes.size[0];
	}
	return LPL_OK;
}

enum lpl_error lpl_simulator_add(struct lpl_simulator *simulator, const char *policy,
				 const struct lpl_sizes *sizes, struct lpl_report *report)
{
	return add_request(simulator, policy, NULL, sizes, report);
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
	error = add_request(simulator, spec, policy, sizes, report);
	free(spec);
	return error;
}

/* ---- the stream ---- */

/* The same where owners are set between references. */
static enum lpl_error run_shared(struct lpl_simulation *simulation, const struct lpl_page_ref *ref,
				 size_t count, struct lpl_report *report)
{
	size_t from = 0;

	for (size_t i = 0; i < count; i++) {
		if (ref[i].page != 0)
			continue;
		if (i > from)
			LPL_TRY(simulation->run(simulation, &ref[from], i - from, report));
		from = i + 1;
		if (simulation->charge != NULL ? !simulation->charge(simulation, ref[i].write) :
		    !lpl_shares_charge(simulation->shares, ref[i].write))
			return lpl_fail(report, LPL_ERR_MEMORY, "simulation: no memory to count %"
					PRIu32 " tasks or processes separately", ref[i].write);
	}
	return from < count ? simulation->run(simulation, &ref[from], count - from, report) :
			      LPL_OK;
}

/* A batch for one simulation. */
static enum lpl_error simulate(void *context, size_t i, const void *refs, size_t count, bool last,
			       struct lpl_report *report)
{
	const struct lpl_simulator *simulator = context;
	struct lpl_simulation *simulation = simulator->simulation[i];

	LPL_TRY(simulator->shared ? run_shared(simulation, refs, count, report) :
				    simulation->run(simulation, refs, count, report));
	return last ? simulation->finish(simulation, report) : LPL_OK;
}

enum lpl_error lpl_simulator_begin(struct lpl_simulator *simulator, struct lpl_report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < simulator->requests; i++)
		count += simulator->request[i]->simulations;
	simulator->simulation = calloc(count + 1, sizeof(struct lpl_simulation *));
	if (simulator->simulation != NULL) {
		count = 0;
		for (size_t i = 0; i < simulator->requests; i++) {
			const struct lpl_request *request = simulator->request[i];

			for (size_t j = 0; j < request->simulations; j++)
				simulator->simulation[count++] = request->simulation[j];
		}
		simulator->broadcast = lpl_broadcast_new(count, simulate, simulator,
							 LPL_SIM_BATCH * sizeof(struct lpl_page_ref),
							 simulator->jobs);
	}
	if (simulator->broadcast == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "simulation: no memory");
	simulator->ref = lpl_broadcast_batch(simulator->broadcast);
	return LPL_OK;
}

enum lpl_error lpl_simulator_send(struct lpl_simulator *simulator, struct lpl_report *report)
{
	LPL_TRY(lpl_broadcast_send(simulator->broadcast, simulator->refs, report));
	simulator->refs = 0;
	simulator->ref = lpl_broadcast_batch(simulator->broadcast);
	return LPL_OK;
}

/* Do times rise? */
static enum lpl_error check_times(struct lpl_simulator *simulator, const struct lpl_ref *refs,
				  size_t count, struct lpl_report *report)
{
	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];
		bool first = simulator->references == 0 && i == 0;

		if (!first && ref->ref <= simulator->last_time &&
		    (ref->ref < simulator->last_time || (ref->flags & LPL_SYNTHETIC) == 0))
			return lpl_fail(report, LPL_ERR_ORDER,
					"simulation: reference number %" PRIu64 " comes after"
					" number %" PRIu64 "; ws and vmin need times that rise",
					ref->ref, simulator->last_time);
		simulator->last_time = ref->ref;
		if (first)
			simulator->first_time = ref->ref;
	}
	return LPL_OK;
}

/*
 * Put references, at most as many as there is room for, into the batch; those that count as one
 * with the last are made one with it.  As often as not one does, which the processor cannot
 * foretell: so there is no branch on it.  `timed` is known where this is inlined.
 */
static inline void gather(struct lpl_simulator *simulator, const struct lpl_ref *refs, size_t count,
			  bool timed)
{
	struct lpl_page_ref *const ref = simulator->ref;
	struct lpl_page *const page = simulator->page;
	const unsigned int shift = simulator->shift;
	size_t used = simulator->refs;
	/* where none is, a page that no reference has */
	struct lpl_page before = used ? page[used - 1] : (struct lpl_page){ .number = UINT64_MAX };
	struct lpl_page_ref last = used ? ref[used - 1] : (struct lpl_page_ref){ .page = 0 };

	assert(used + count <= LPL_SIM_BATCH);
	for (size_t i = 0; i < count; i++) {
		const struct lpl_page here = lpl_page_of(&refs[i], shift);
		const uint64_t time = refs[i].ref;
		bool same = lpl_same_page(here, before);

		if (timed)
			same &= time - last.last <= simulator->least_tau;
		used += !same;
		last.write = (last.write & same) | lpl_is_write(&refs[i]);
		if (timed) {
			last.first = same ? last.first : time;
			last.last = time;
		}
		ref[used - 1] = last;
		before = page[used - 1] = here;
	}
	simulator->refs = used;
}

uint32_t lpl_simulator_new_page(struct lpl_simulator *simulator, struct lpl_page page)
{
	uint32_t number = lpl_pages_add(&simulator->pages, page);

	if (number != 0 && simulator->named &&
	    !lpl_page_names_add(&simulator->names, number, page))
		return 0;
	if (simulator->shared)
		simulator->cold[simulator->owner]++;
	return number;
}

/* The numbers of the pages in the batch from `from` on. */
static enum lpl_error number_pages(struct lpl_simulator *simulator, size_t from,
				   struct lpl_report *report)
{
	struct lpl_pages pages = simulator->pages;	/* which no store below changes */

	for (size_t i = from; i < simulator->refs; i++) {
		const struct lpl_page page = simulator->page[i];
		uint32_t number = lpl_pages_find(&pages, page);

		if (number == 0) {
			number = lpl_simulator_new_page(simulator, page);
			pages = simulator->pages;
		}
		if (number == 0)
			return lpl_fail(report, LPL_ERR_MEMORY,
					"simulation: no memory for %u distinct pages",
					simulator->pages.count);
		simulator->ref[i].page = number;
	}
	return LPL_OK;
}

static enum lpl_error simulator_refs(struct lpl_sink *sink, const struct lpl_ref *refs,
				     size_t count, struct lpl_report *report)
{
	struct lpl_simulator *simulator = (struct lpl_simulator *)sink;

	if (simulator->broadcast == NULL)
		LPL_TRY(lpl_simulator_begin(simulator, report));
	if (simulator->timed)
		LPL_TRY(check_times(simulator, refs, count, report));
	if (simulator->stepper != NULL)
		LPL_TRY(lpl_stepper_end(simulator->stepper, simulator, report));
	while (count > 0) {
		const size_t before = simulator->refs;
		const size_t part = count < LPL_SIM_BATCH - before ? count : LPL_SIM_BATCH - before;

		if (part == 0) {
			LPL_TRY(lpl_simulator_send(simulator, report));
			continue;
		}
		if (simulator->timed)
			gather(simulator, refs, part, true);
		else
			gather(simulator, refs, part, false);
		LPL_TRY(number_pages(simulator, before, report));
		simulator->references += part;
		refs += part;
		count -= part;
	}
	return LPL_OK;
}

/* Pages finer than 4096 bytes: an access that lies in several is a reference to each. */
static enum lpl_error finer_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	const unsigned int shift = ((struct lpl_simulator *)sink)->shift;
	struct lpl_ref part[PARTS];
	size_t parts = 0;

	for (size_t i = 0; i < count; i++) {
		struct lpl_ref ref = refs[i];

		if (ref.flags & LPL_PAGED)
			return lpl_fail(report, LPL_ERR_USAGE, "simulation: reference %" PRIu64
					" is to a whole page, and no finer one is known of it",
					ref.ref);
		part[parts++] = ref;
		for (unsigned int more = lpl_pages_after(&ref, shift); more > 0; more--) {
			if (parts == PARTS) {
				LPL_TRY(simulator_refs(sink, part, parts, report));
				parts = 0;
			}
			lpl_next_part(&ref, shift);
			part[parts++] = ref;
		}
		if (parts == PARTS || i == count - 1) {
			LPL_TRY(simulator_refs(sink, part, parts, report));
			parts = 0;
		}
	}
	return LPL_OK;
}

/* A page_ref that is no reference (simulation.h), which nothing that comes counts as one with. */
static enum lpl_error put_owner(struct lpl_simulator *simulator, uint32_t owner,
				struct lpl_report *report)
{
	if (simulator->broadcast == NULL)
		LPL_TRY(lpl_simulator_begin(simulator, report));
	if (simulator->refs == LPL_SIM_BATCH)
		LPL_TRY(lpl_simulator_send(simulator, report));
	if (!lpl_reach(simulator->cold, simulator->cold_room, owner))
		return lpl_fail(report, LPL_ERR_MEMORY, "simulation: no memory for the faults of %"
				PRIu32 " owners", owner);
	assert(simulator->refs < LPL_SIM_BATCH);
	simulator->owner = owner;
	simulator->page[simulator->refs] = (struct lpl_page){ .number = UINT64_MAX };
	simulator->ref[simulator->refs++] = (struct lpl_page_ref){ .write = owner };
	return LPL_OK;
}

/* The first time, before any simulation runs. */
static enum lpl_error share(struct lpl_simulator *simulator, struct lpl_report *report)
{
	if (simulator->broadcast != NULL || simulator->reducer != NULL)
		return lpl_fail(report, LPL_ERR_USAGE, simulator->broadcast != NULL ?
				"faults cannot be charged: the simulation has begun" :
				"a behaviour sequence is of one memory, whatever task used it");
	for (size_t i = 0; i < simulator->requests; i++)
		LPL_TRY(lpl_request_share(simulator->request[i], report));
	if (!lpl_reach(simulator->cold, simulator->cold_room, 0))
		return lpl_fail(report, LPL_ERR_MEMORY, "simulation: no memory");
	simulator->shared = true;
	return LPL_OK;
}

enum lpl_error lpl_simulator_charge(struct lpl_simulator *simulator, uint32_t owner,
				    struct lpl_report *report)
{
	if (!simulator->shared)
		LPL_TRY(share(simulator, report));
	return put_owner(simulator, owner, report);
}

static enum lpl_error simulator_event(struct lpl_sink *sink, const struct lpl_event *event,
				      struct lpl_report *report)
{
	struct lpl_simulator *simulator = (struct lpl_simulator *)sink;

	(void)report;
	if (event->tag == LPL_EVENT_GAPS) {
		simulator->gaps_seen++;
		simulator->gaps = *event;
	}
	return LPL_OK;
}

/*
 * The space-time of a working set of THETA, which the references kept do not show (reduce/irg.c): VMIN keeps
 * each page for the distances that the event has summed up, and for one reference where it faults
 * next; WS for THETA there, less what the end cuts off.
 */
static void complete_space_time(const struct lpl_simulator *simulator,
				const struct lpl_request *request)
{
	const uint64_t *number = simulator->gaps.arg;
	const bool forward = strcmp(request->one_pass->name, "vmin") == 0;

	for (size_t i = 0; i < request->results; i++) {
		struct lpl_result *result = &request->result[i];

		if (result->size != simulator->theta)
			continue;
		result->space_time = number[LPL_EVENT_GAPS_SUM] + (forward ? result->faults :
			result->faults * simulator->theta - number[LPL_EVENT_GAPS_CUT]);
		result->mean_resident = (double)result->space_time /
			((double)(number[LPL_EVENT_GAPS_LAST] - simulator->first_time) + 1);
	}
}

static enum lpl_error simulator_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_simulator *simulator = (struct lpl_simulator *)sink;

	if (simulator->broadcast == NULL)
		LPL_TRY(lpl_simulator_begin(simulator, report));
	if (simulator->stepper != NULL)
		LPL_TRY(lpl_stepper_end(simulator->stepper, simulator, report));
	LPL_TRY(lpl_broadcast_send_last(simulator->broadcast, simulator->refs, report));
	for (size_t i = 0; i < simulator->requests; i++)
		if (!lpl_request_gather(simulator->request[i], simulator->references,
					simulator->pages.count, &simulator->exactness))
			return lpl_fail(report, LPL_ERR_MEMORY,
					"simulation: no memory for the results");
	for (size_t i = 0; i < simulator->requests; i++)
		if (simulator->request[i]->exact_as == LPL_EXACT_AS_WS && simulator->theta != 0 &&
		    simulator->gaps_seen == 1)
			complete_space_time(simulator, simulator->request[i]);
	return LPL_OK;
}

/* ---- opening and closing ---- */

/* Has what was reduced so the working sets of THETA that there were at first? */
static bool has_working_sets(const char *reduction, size_t length, uint64_t theta)
{
	char before[LPL_SPEC_SIZE];
	struct lpl_exactness exactness;

	if (length >= sizeof(before))
		return false;
	memcpy(before, reduction, length);
	before[length] = '\0';
	return lpl_reduction_exactness(length != 0 ? before : "none", &exactness) && exactness.ws != 0 &&
		exactness.ws <= theta;
}

/* The THETA of a trace that irg:THETA made last, of what had all of its working sets; 0: it did not. */
static uint64_t theta_of(const struct lpl_simulator_options *options)
{
	const char *reduction = options != NULL && options->part == LPL_PART_ALL ?
		options->reduction : NULL;
	const char *plus = reduction != NULL ? strrchr(reduction, '+') : NULL;
	const char *last = plus != NULL ? plus + 1 : reduction;
	uint64_t theta = 0;

	if (last == NULL || strncmp(last, "irg:", 4) != 0 || !lpl_parse_decimal(last + 4, &theta) ||
	    (options->page_size != 0 && options->page_size != lpl_reduction_page_size(reduction)) ||
	    !has_working_sets(reduction, plus != NULL ? (size_t)(plus - reduction) : 0, theta))
		return 0;
	return theta;
}

static bool is_unreduced(const char *reduction)
{
	return reduction == NULL || strcmp(reduction, "none") == 0;
}

/* A behaviour sequence, or records of periods, become a reference trace before they are simulated. */
static enum lpl_error open_reducer(struct lpl_simulator *simulator, const char *reduction,
				   struct lpl_report *report)
{
	uint64_t pages = reduction != NULL ? lpl_reduction_behaviour(reduction) : 0;
	char simulated[LPL_SPEC_SIZE];
	char exact[LPL_SPEC_SIZE];
	char maker[32];

	if (pages == 0 && !lpl_reduction_records(reduction)) {
		(void)lpl_reduction_exactness(reduction, &simulator->exactness);
		return LPL_OK;
	}
	if (pages != 0)
		(void)snprintf(maker, sizeof(maker), "olr:%" PRIu64, pages);
	else
		(void)snprintf(maker, sizeof(maker), "replay");
	LPL_TRY(lpl_reducer_open(&simulator->reducer, reduction, maker, &simulator->sink, report));
	LPL_TRY(lpl_reducer_describe(reduction, maker, simulated, exact, report));
	(void)lpl_reduction_exactness(simulated, &simulator->exactness);
	return LPL_OK;
}

/* Pages may be put together to larger ones; only those of an unreduced trace can be divided. */
static enum lpl_error set_page_size(struct lpl_simulator *simulator,
				    const struct lpl_simulator_options *options,
				    struct lpl_report *report)
{
	const uint64_t size = options != NULL ? options->page_size : 0;
	struct lpl_reduction reduction;
	uint64_t known;

	(void)lpl_reduction_read(&reduction, options != NULL ? options->reduction : NULL);
	known = lpl_page_bytes(&reduction);
	if (size != 0 && (size < LPL_LEAST_BYTES || size > LPL_MOST_BYTES ||
			  (size & (size - 1)) != 0))
		return lpl_fail(report, LPL_ERR_USAGE, "pages of %" PRIu64 " bytes: their size is a "
				"power of two from %" PRIu64 " to %" PRIu64, size, LPL_LEAST_BYTES,
				LPL_MOST_BYTES);
	if (size != 0 && (size < reduction.page_size ||
			  (reduction.behaviour != 0 && size != known)))
		return lpl_fail(report, LPL_ERR_USAGE, "pages of %" PRIu64 " bytes: those of a trace "
				"reduced by %.80s are of %" PRIu64 ", and cannot be made %s", size,
				options->reduction, known,
				size < known ? "smaller" : "larger in a behaviour sequence");
	simulator->shift = (unsigned int)__builtin_ctzll(size != 0 ? size : known);
	return LPL_OK;
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
	opened->least_tau = UINT64_MAX;
	opened->theta = theta_of(options);
	opened->jobs = options != NULL && options->jobs != 0 ? options->jobs : lpl_processors();
	error = set_page_size(opened, options, report);
	opened->sink = (struct lpl_sink){
		opened->shift < LPL_PAGE_SHIFT ? finer_refs : simulator_refs, simulator_event,
		simulator_finish
	};
	if (error == LPL_OK)
		error = open_reducer(opened, options != NULL ? options->reduction : NULL, report);
	if (options != NULL && !is_unreduced(options->reduction)) {
		if (options->part == LPL_PART_REFERENCES)
			opened->exactness = (struct lpl_exactness){ .lru = 0 };
		else if (options->part == LPL_PART_PAGES)
			opened->exactness.ws = 0;
	}
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
	return simulator->requests;
}

const char *lpl_simulator_policy(const struct lpl_simulator *simulator, size_t index)
{
	assert(index < simulator->requests);
	return simulator->request[index]->spec;
}

const struct lpl_result *lpl_simulator_results(const struct lpl_simulator *simulator,
					       size_t index, size_t *count)
{
	assert(index < simulator->requests);
	*count = simulator->request[index]->results;
	return simulator->request[index]->result;
}

uint64_t lpl_simulator_charged(const struct lpl_simulator *simulator, size_t index, size_t result,
			       uint32_t owner)
{
	return simulator->shared ?
		lpl_request_charged(simulator->request[index], result, owner) : 0;
}

uint64_t lpl_simulator_charged_cold(const struct lpl_simulator *simulator, uint32_t owner)
{
	return owner < simulator->cold_room ? simulator->cold[owner] : 0;
}

uint64_t lpl_simulator_pages(const struct lpl_simulator *simulator)
{
	return simulator->pages.count;
}

uint64_t lpl_simulator_exact_from(const struct lpl_simulator *simulator, size_t index)
{
	return lpl_request_exact_from(simulator->request[index], &simulator->exactness);
}

void lpl_simulator_close(struct lpl_simulator *simulator)
{
	if (simulator == NULL)
		return;
	lpl_broadcast_free(simulator->broadcast);	/* before the simulations */
	for (size_t i = 0; i < simulator->requests; i++)
		lpl_request_close(simulator->request[i]);
	lpl_reducer_close(simulator->reducer);
	lpl_pages_free(&simulator->pages);
	lpl_page_names_free(&simulator->names);
	lpl_stepper_free(simulator->stepper);
	free(simulator->simulation);
	free(simulator->cold);
	free(simulator->request);
	free(simulator);
}
