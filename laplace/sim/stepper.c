/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From steps to what simulations have to be given of them.
 *
 * The pages of a pattern are numbered when it comes for the first time, which is in the order of
 * first references, as patterns are made in that order and a visit is to what was not
 * visited before only in a new one.  After that a step is one of these:
 *
 * - BY_VISITS, right for every policy: its visits, each a reference.  Visits to one page in a row
 *   count as one (simulation.h).
 *
 * - BY_WINDOWS, if all simulations are LRU or OPT at sizes from some K on, K no less than
 *   LEAST_WINDOW: the reduction window:K (reduce/window.c argues why it is exact from K pages on),
 *   with windows of patterns here (step_window.c).
 *
 * - SETTLED, if there are MOST_SETTLED simulations at most, and a page that is hit once more before
 *   the next eviction leaves each memory that there is as it was: under a policy that does not look at
 *   hits (FIFO, RANDOM), and under CLOCK, where a hit sets a bit that only the hand clears, which moves at
 *   evictions.  A pattern that came without an eviction since it began has all its pages in memory, those
 *   it writes dirty, and their bits set; until the next eviction it changes nothing.  Each memory has its
 *   own evictions.  (That of references to one page in a row all but the first are no hits does not
 *   matter: after the first, hit or admitted, the bit is set.)
 *
 * - STACKED, if there is one simulation, and it is LRU at sizes for which windows will not do: by first visits
 *   (lru_patterns.c).
 */
#include "stepper.h"

#include <laplace/trace.h>

#include "base/array.h"
#include "base/try.h"
#include "lru_patterns.h"
#include "simulator_struct.h"
#include "step_window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(LPL_VISIT_WALK == LPL_WALK_SPACE, "visits of walks are to the pages of walks");

enum { LEAST_WINDOW = 16, MOST_WINDOW = 4096, MOST_SETTLED = 32 };

enum way { BY_VISITS, BY_WINDOWS, SETTLED, STACKED };

struct lpl_stepper {
	enum way way;
	struct lpl_step_patterns patterns;
	struct lpl_step_window window;		/* BY_WINDOWS */
	const uint64_t **evictions;		/* SETTLED: by simulation, of which there are so many; owned */
	size_t simulations;
	uint64_t *since;			/* by pattern, and simulation: evictions when it was simulated, plus 1; owned */
	size_t since_room;
	struct lpl_lru_patterns lru_patterns;	/* STACKED, and the simulation: */
	struct lru *lru;
	struct lpl_page_ref *ref;		/* of a pattern; owned */
	size_t ref_room;
};

/* ---- which way ---- */

/* The smallest size, if all simulations are such that windows of it are exact; else 0. */
static uint64_t window_size(const struct lpl_simulator *simulator)
{
	uint64_t least = MOST_WINDOW;

	for (size_t i = 0; i < simulator->requests; i++) {
		const struct lpl_request *request = simulator->request[i];

		if ((request->exact_as != LPL_EXACT_AS_LRU && request->exact_as != LPL_EXACT_AS_OPT) ||
		    request->sizes.all || request->sizes.count == 0)
			return 0;
		if (request->sizes.size[0] < least)
			least = request->sizes.size[0];
	}
	return least;
}

/* Do hits leave all simulations, of which there are few, as they are once they have been? */
static bool settles(const struct lpl_simulator *simulator)
{
	size_t simulations = 0;

	for (size_t i = 0; i < simulator->requests; i++) {
		const struct lpl_policy *policy = simulator->request[i]->policy;

		if (policy == NULL || (policy->hit != NULL && policy != &lpl_policy_clock))
			return false;
		simulations += simulator->request[i]->simulations;
	}
	return simulations <= MOST_SETTLED;
}

/* false: no memory. */
static bool find_evictions(struct lpl_stepper *stepper, const struct lpl_simulator *simulator)
{
	for (size_t i = 0; i < simulator->requests; i++)
		stepper->simulations += simulator->request[i]->simulations;
	stepper->evictions = malloc(stepper->simulations * sizeof(*stepper->evictions));
	if (stepper->evictions == NULL)
		return false;
	for (size_t i = 0, next = 0; i < simulator->requests; i++)
		for (size_t j = 0; j < simulator->request[i]->simulations; j++)
			stepper->evictions[next++] = lpl_demand_evictions(simulator->request[i]->simulation[j]);
	return true;
}

/* Is it one simulation, of LRU?  (Where faults are charged there are no steps.) */
static bool is_stack(const struct lpl_simulator *simulator)
{
	return simulator->requests == 1 && simulator->request[0]->one_pass == &lpl_policy_lru;
}

struct lpl_stepper *lpl_stepper_new(struct lpl_simulator *simulator)
{
	struct lpl_stepper *stepper = calloc(1, sizeof(*stepper));
	const uint64_t limit = window_size(simulator);

	if (stepper == NULL)
		return NULL;
	if (simulator->broadcast != NULL) {
		stepper->way = BY_VISITS;
	} else if (settles(simulator)) {
		stepper->way = SETTLED;
		if (!find_evictions(stepper, simulator)) {
			lpl_stepper_free(stepper);
			return NULL;
		}
		simulator->jobs = 1;	/* it is simulated here, between batches */
	} else if (limit >= LEAST_WINDOW) {
		stepper->way = BY_WINDOWS;
		if (!lpl_step_window_init(&stepper->window, (uint32_t)limit)) {
			lpl_stepper_free(stepper);
			return NULL;
		}
	} else if (is_stack(simulator)) {
		stepper->way = STACKED;
		stepper->lru = (struct lru *)simulator->request[0]->simulation[0];
		simulator->jobs = 1;
	}
	return stepper;
}

void lpl_stepper_free(struct lpl_stepper *stepper)
{
	if (stepper == NULL)
		return;
	lpl_step_window_free(&stepper->window);
	lpl_lru_patterns_free(&stepper->lru_patterns);
	free(stepper->patterns.state);
	free(stepper->patterns.page);
	free(stepper->evictions);
	free(stepper->since);
	free(stepper->ref);
	free(stepper);
}

/* ---- pages ---- */

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "simulation: no memory for steps");
}

static uint32_t number_of(struct lpl_simulator *simulator, struct lpl_page page)
{
	const uint32_t number = lpl_pages_find(&simulator->pages, page);

	return number != 0 ? number : lpl_simulator_new_page(simulator, page);
}

/* The next pattern comes for the first time: its visits are to these pages. */
static enum lpl_error learn(struct lpl_simulator *simulator, const struct lpl_page_steps *steps,
			    struct lpl_report *report)
{
	struct lpl_step_patterns *patterns = &simulator->stepper->patterns;
	const struct lpl_pattern *pattern = &steps->pattern[patterns->known];
	const struct lpl_visit *visit = &steps->visit[pattern->visit];
	const unsigned int more = simulator->shift - LPL_PAGE_SHIFT;
	uint32_t *page;

	if (!lpl_reserve(patterns->state, patterns->state_room, patterns->known) ||
	    !lpl_reserve(patterns->page, patterns->page_room, (size_t)pattern->visit + pattern->visits))
		return no_memory(report);
	page = &patterns->page[pattern->visit];
	for (uint32_t i = 0; i < pattern->visits; i++) {
		page[i] = number_of(simulator, (struct lpl_page){ .space = visit[i].space,
								  .number = visit[i].page >> more });
		if (page[i] == 0)
			return lpl_fail(report, LPL_ERR_MEMORY, "simulation: no memory for %u distinct pages",
					simulator->pages.count);
	}
	patterns->state[patterns->known++] = (struct lpl_step_state){
		.visit = pattern->visit, .visits = pattern->visits
	};
	return LPL_OK;
}

/* ---- the ways ---- */

/* A page_ref that nothing counts as one with, if references follow (simulator.c: gather()). */
static inline void put(struct lpl_simulator *simulator, uint32_t page, bool write)
{
	simulator->page[simulator->refs] = (struct lpl_page){ .number = UINT64_MAX };
	simulator->ref[simulator->refs++] = (struct lpl_page_ref){ .page = page, .write = write };
}

static enum lpl_error put_visit(struct lpl_simulator *simulator, uint32_t page, bool write, struct lpl_report *report)
{
	if (simulator->refs == LPL_SIM_BATCH)
		LPL_TRY(lpl_simulator_send(simulator, report));
	if (simulator->refs > 0 && simulator->ref[simulator->refs - 1].page == page)
		simulator->ref[simulator->refs - 1].write |= write;
	else
		put(simulator, page, write);
	return LPL_OK;
}

static enum lpl_error put_visits(struct lpl_simulator *simulator, const struct lpl_step_state *state,
				 const struct lpl_visit *visit, struct lpl_report *report)
{
	const uint32_t *page = &simulator->stepper->patterns.page[state->visit];

	for (uint32_t i = 0; i < state->visits; i++) {
		LPL_TRY(put_visit(simulator, page[i], visit[i].write, report));
		for (unsigned int again = visit[i].again; again > 0; again--) {
			LPL_TRY(put_visit(simulator, page[i - 1], visit[i - 1].write, report));
			LPL_TRY(put_visit(simulator, page[i], visit[i].write, report));
		}
	}
	return LPL_OK;
}

static enum lpl_error take_visits(struct lpl_simulator *simulator, const struct lpl_page_steps *steps,
				  struct lpl_report *report)
{
	struct lpl_step_patterns *patterns = &simulator->stepper->patterns;

	for (size_t i = 0; i < steps->count; i++) {
		const uint32_t step = steps->step[i];

		if (step == patterns->known)
			LPL_TRY(learn(simulator, steps, report));
		assert(step < patterns->known);
		LPL_TRY(put_visits(simulator, &patterns->state[step],
				   &steps->visit[patterns->state[step].visit], report));
	}
	return LPL_OK;
}

/* What a window keeps. */
static enum lpl_error put_window(struct lpl_simulator *simulator, struct lpl_report *report)
{
	struct lpl_stepper *stepper = simulator->stepper;
	struct lpl_step_kept kept;

	lpl_step_window_end(&stepper->window, &stepper->patterns);
	while (lpl_step_window_next(&stepper->window, &kept)) {
		if (simulator->refs == LPL_SIM_BATCH)
			LPL_TRY(lpl_simulator_send(simulator, report));
		put(simulator, kept.page, kept.write);
	}
	return LPL_OK;
}

/* The `at`th visit of the pattern that comes now. */
static enum lpl_error visit_window(struct lpl_simulator *simulator, uint32_t page, bool write, uint32_t at,
				   struct lpl_report *report)
{
	struct lpl_step_window *window = &simulator->stepper->window;

	if (lpl_step_window_visit(window, page, write, at))
		return LPL_OK;
	LPL_TRY(put_window(simulator, report));
	(void)lpl_step_window_visit(window, page, write, at);
	return LPL_OK;
}

/*
 * A pattern that the window does not know: visit by visit; it may have to end in between.  Where two come again and
 * again they are both in the window after the first time that they do, and the others change nothing.
 */
static enum lpl_error enter_window(struct lpl_simulator *simulator, uint32_t step,
				   const struct lpl_visit *visit, struct lpl_report *report)
{
	struct lpl_step_patterns *patterns = &simulator->stepper->patterns;
	struct lpl_step_window *window = &simulator->stepper->window;
	const struct lpl_step_state *state = &patterns->state[step];
	const uint32_t *page = &patterns->page[state->visit];
	const uint64_t number = window->number;
	uint32_t at = 0;

	if (!lpl_step_window_reach(window, simulator->pages.count))
		return no_memory(report);
	for (uint32_t i = 0; i < state->visits; i++) {
		LPL_TRY(visit_window(simulator, page[i], visit[i].write, at++, report));
		if (visit[i].again == 0)
			continue;
		LPL_TRY(visit_window(simulator, page[i - 1], visit[i - 1].write, at++, report));
		LPL_TRY(visit_window(simulator, page[i], visit[i].write, at++, report));
	}
	window->now++;
	return window->number != number || lpl_step_window_know(window, patterns, step) ? LPL_OK :
		no_memory(report);
}

static enum lpl_error take_windows(struct lpl_simulator *simulator, const struct lpl_page_steps *steps,
				   struct lpl_report *report)
{
	struct lpl_step_patterns *patterns = &simulator->stepper->patterns;
	struct lpl_step_window *window = &simulator->stepper->window;

	for (size_t i = 0; i < steps->count; i++) {
		const uint32_t step = steps->step[i];

		if (step == patterns->known)
			LPL_TRY(learn(simulator, steps, report));
		assert(step < patterns->known);
		if (patterns->state[step].since == window->number)
			patterns->state[step].last = window->now++;
		else
			LPL_TRY(enter_window(simulator, step, &steps->visit[patterns->state[step].visit],
					     report));
	}
	return LPL_OK;
}

/* A pattern's visits as references, in stepper->ref.  Returns how many; 0: no memory. */
static size_t gather_visits(struct lpl_stepper *stepper, const struct lpl_step_state *state,
			    const struct lpl_visit *visit)
{
	const uint32_t *page = &stepper->patterns.page[state->visit];
	size_t count = 0;

	for (uint32_t i = 0; i < state->visits; i++) {
		if (!lpl_reserve(stepper->ref, stepper->ref_room, count + 2 * (size_t)visit[i].again))
			return 0;
		stepper->ref[count++] = (struct lpl_page_ref){ .page = page[i], .write = visit[i].write };
		for (unsigned int again = visit[i].again; again > 0; again--, count += 2)
			memcpy(&stepper->ref[count], &stepper->ref[count - 2], 2 * sizeof(*stepper->ref));
	}
	return count;
}

/* To a simulation, now. */
static enum lpl_error run_visits(const struct lpl_simulator *simulator, size_t number, size_t count,
				 struct lpl_report *report)
{
	struct lpl_simulation *simulation = simulator->simulation[number];

	return count == 0 ? no_memory(report) : simulation->run(simulation, simulator->stepper->ref, count, report);
}

/* To those of which it may change the memory. */
static enum lpl_error settle(struct lpl_simulator *simulator, uint32_t step, const struct lpl_page_steps *steps,
			     struct lpl_report *report)
{
	struct lpl_stepper *stepper = simulator->stepper;
	const struct lpl_step_state *state = &stepper->patterns.state[step];
	uint64_t *since = &stepper->since[step * stepper->simulations];
	size_t count = 0;

	for (size_t i = 0; i < stepper->simulations; i++) {
		const uint64_t now = *stepper->evictions[i] + 1;

		if (since[i] == now)
			continue;
		since[i] = now;		/* if it evicts, that is past */
		if (count == 0)
			count = gather_visits(stepper, state, &steps->visit[state->visit]);
		LPL_TRY(run_visits(simulator, i, count, report));
	}
	return LPL_OK;
}

/* The next pattern comes for the first time, and has settled nowhere. */
static enum lpl_error learn_settled(struct lpl_simulator *simulator, const struct lpl_page_steps *steps,
				    struct lpl_report *report)
{
	struct lpl_stepper *stepper = simulator->stepper;
	const size_t first = stepper->patterns.known * stepper->simulations;

	if (!lpl_reserve(stepper->since, stepper->since_room, first + stepper->simulations))
		return no_memory(report);
	memset(&stepper->since[first], 0, stepper->simulations * sizeof(*stepper->since));
	return learn(simulator, steps, report);
}

static enum lpl_error take_settled(struct lpl_simulator *simulator, const struct lpl_page_steps *steps,
				   struct lpl_report *report)
{
	const struct lpl_step_patterns *patterns = &simulator->stepper->patterns;

	if (simulator->refs > 0)
		LPL_TRY(lpl_simulator_send(simulator, report));
	for (size_t i = 0; i < steps->count; i++) {
		const uint32_t step = steps->step[i];

		if (step == patterns->known)
			LPL_TRY(learn_settled(simulator, steps, report));
		assert(step < patterns->known);
		LPL_TRY(settle(simulator, step, steps, report));
	}
	return LPL_OK;
}

/* The next pattern comes for the first time: what it does to a stack, too. */
static enum lpl_error learn_stack(struct lpl_simulator *simulator, const struct lpl_page_steps *steps,
				  struct lpl_report *report)
{
	struct lpl_stepper *stepper = simulator->stepper;
	const struct lpl_pattern *pattern = &steps->pattern[stepper->patterns.known];

	LPL_TRY(learn(simulator, steps, report));
	return lpl_lru_patterns_learn(&stepper->lru_patterns, &stepper->patterns.page[pattern->visit],
				      &steps->visit[pattern->visit], pattern->visits) ? LPL_OK : no_memory(report);
}

static enum lpl_error take_stacked(struct lpl_simulator *simulator, const struct lpl_page_steps *steps,
				   struct lpl_report *report)
{
	struct lpl_stepper *stepper = simulator->stepper;
	struct lpl_step_patterns *patterns = &stepper->patterns;

	if (simulator->refs > 0)
		LPL_TRY(lpl_simulator_send(simulator, report));
	for (size_t i = 0; i < steps->count; i++) {
		const uint32_t step = steps->step[i];

		if (step == patterns->known)
			LPL_TRY(learn_stack(simulator, steps, report));
		assert(step < patterns->known);
		LPL_TRY(lpl_lru_patterns_takes(&stepper->lru_patterns, step) ?
			lpl_lru_patterns_step(&stepper->lru_patterns, step, stepper->lru, report) :
			run_visits(simulator, 0, gather_visits(stepper, &patterns->state[step],
				   &steps->visit[patterns->state[step].visit]), report));
	}
	return LPL_OK;
}

/* ---- the stream ---- */

/* Patterns will mean others. */
static enum lpl_error forget(struct lpl_stepper *stepper, struct lpl_report *report)
{
	lpl_step_window_forget(&stepper->window, &stepper->patterns);
	stepper->patterns.known = 0;
	return stepper->way != STACKED || lpl_lru_patterns_forget(&stepper->lru_patterns, &stepper->lru->curve) ?
		LPL_OK : no_memory(report);
}

bool lpl_simulator_steps(const struct lpl_simulator *simulator)
{
	return !simulator->timed && !simulator->shared && simulator->reducer == NULL &&
	       simulator->requests != 0 && simulator->shift >= LPL_PAGE_SHIFT;
}

enum lpl_error lpl_simulator_step(struct lpl_simulator *simulator, const struct lpl_page_steps *steps,
				  struct lpl_report *report)
{
	struct lpl_stepper *stepper = simulator->stepper;

	if (stepper == NULL) {
		if (!lpl_simulator_steps(simulator))
			return lpl_fail(report, LPL_ERR_USAGE, "simulation: steps will not do for it");
		stepper = simulator->stepper = lpl_stepper_new(simulator);
		if (stepper == NULL)
			return no_memory(report);
	}
	if (simulator->broadcast == NULL)
		LPL_TRY(lpl_simulator_begin(simulator, report));
	simulator->references += steps->refs;
	if (steps->afresh)
		LPL_TRY(forget(stepper, report));
	switch (stepper->way) {
	case BY_VISITS:
		return take_visits(simulator, steps, report);
	case BY_WINDOWS:
		return take_windows(simulator, steps, report);
	case SETTLED:
		return take_settled(simulator, steps, report);
	case STACKED:
		break;
	}
	return take_stacked(simulator, steps, report);
}

enum lpl_error lpl_stepper_end(struct lpl_stepper *stepper, struct lpl_simulator *simulator,
			       struct lpl_report *report)
{
	if (stepper->way == BY_WINDOWS)
		return put_window(simulator, report);
	return stepper->way != STACKED || lpl_lru_patterns_count(&stepper->lru_patterns, &stepper->lru->curve) ?
		LPL_OK : no_memory(report);
}
