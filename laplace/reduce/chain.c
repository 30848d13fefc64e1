/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions as they are written: SPECs, chains of stages, and what they are exact for. */
#include <laplace/reducer.h>

#include "stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PAGES (UINT64_C(1) << 24)
#define MOST_TIME (UINT64_C(1) << 62)
#define LEAST_BYTES (UINT64_C(1) << LPL_PAGE_SHIFT)
#define MOST_BYTES (UINT64_C(1) << 30)

/* What is written behind a method's colon. */
enum number { NO_NUMBER, PAGES, REFERENCES, INSTRUCTIONS, BYTES_IF_ANY };

/* What a method is exact for, from its number on; the fields of lpl_exactness. */
enum exact {
	EXACT_ALL, EXACT_DEMAND, EXACT_LRU_OPT, EXACT_LRU, EXACT_LRU_OPT_WS, EXACT_NOTHING
};

struct method {
	const char *name;
	const char *letter;	/* of its number, for people */
	enum number number;
	enum exact exact;
	lpl_stage_new *open;
};

static const struct method methods[] = {
	{"none", "", NO_NUMBER, EXACT_ALL, lpl_none_new},
	{"block", "BYTES", BYTES_IF_ANY, EXACT_DEMAND, lpl_block_new},
	{"window", "K", PAGES, EXACT_LRU_OPT, lpl_window_new},
	{"sad", "K", PAGES, EXACT_LRU_OPT, lpl_sad_new},
	{"sad2", "K", PAGES, EXACT_LRU, lpl_sad2_new},
	{"sad2-fix", "K", PAGES, EXACT_LRU, lpl_sad2_fix_new},
	{"sad-ws", "TAU", REFERENCES, EXACT_LRU_OPT_WS, lpl_sad_ws_new},
	{"sd", "K", PAGES, EXACT_NOTHING, lpl_sd_new},
	{"irg", "THETA", REFERENCES, EXACT_NOTHING, lpl_irg_new},
	{"glass-cao", "N", INSTRUCTIONS, EXACT_NOTHING, lpl_glass_cao_new},
	{"olr", "K", PAGES, EXACT_LRU, lpl_olr_new},
	{"lrubs", "K", PAGES, EXACT_LRU, lpl_lrubs_new},	/* through olr */
	{"fence", "", NO_NUMBER, EXACT_ALL, lpl_none_new},
	{"unfence", "", NO_NUMBER, EXACT_ALL, lpl_none_new},
	/* stands in descriptions only: see lpl_reduction_fenced() */
	{"merged", "", NO_NUMBER, EXACT_NOTHING, NULL},
};
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

/* One part of a SPEC. */
struct step {
	const struct method *method;
	uint64_t number;	/* 0 without one */
};

/* A SPEC shorter than LPL_SPEC_SIZE has no more parts than this. */
enum { MOST_STEPS = LPL_SPEC_SIZE / 2 };

struct steps {
	size_t count;
	struct step step[MOST_STEPS];
};

struct lpl_reducer {
	size_t count;
	struct lpl_stage *stage[];	/* the first stage is the first to receive */
};

/* ---- reading ---- */

static bool in_range(enum number kind, uint64_t number)
{
	switch (kind) {
	case PAGES:
		return number >= 1 && number <= MOST_PAGES;
	case REFERENCES:
	case INSTRUCTIONS:
		return number >= 1 && number <= MOST_TIME;
	case BYTES_IF_ANY:
		return number >= LEAST_BYTES && number <= MOST_BYTES &&
		       (number & (number - 1)) == 0;
	case NO_NUMBER:
		break;
	}
	return false;
}

/* All `length` characters of the text; 0: not a number from 1 to MOST_TIME. */
static uint64_t parse_number(const char *text, size_t length)
{
	uint64_t number = 0;

	for (size_t i = 0; i < length; i++) {
		uint64_t digit = (uint64_t)text[i] - '0';

		if (digit > 9 || number > (MOST_TIME - digit) / 10)
			return 0;
		number = number * 10 + digit;
	}
	return number;
}

static bool parse_step(struct step *step, const char *text, size_t length)
{
	for (size_t i = 0; i < METHODS; i++) {
		const struct method *method = &methods[i];
		size_t name = strlen(method->name);

		if (length < name || memcmp(text, method->name, name) != 0 ||
		    (length > name && text[name] != ':'))
			continue;
		step->method = method;
		step->number = 0;
		if (length == name)
			return method->number == NO_NUMBER || method->number == BYTES_IF_ANY;
		step->number = parse_number(text + name + 1, length - name - 1);
		return in_range(method->number, step->number);
	}
	return false;
}

static bool parse_spec(struct steps *steps, const char *spec)
{
	steps->count = 0;
	if (strlen(spec) >= LPL_SPEC_SIZE)
		return false;
	for (;;) {
		size_t length = strcspn(spec, "+");

		if (!parse_step(&steps->step[steps->count], spec, length))
			return false;
		steps->count++;
		if (spec[length] == '\0')
			return true;
		spec += length + 1;
	}
}

/* The same of what is to be done; in a description there may be more. */
static bool parse_new_spec(struct steps *steps, const char *spec)
{
	if (!parse_spec(steps, spec))
		return false;
	for (size_t i = 0; i < steps->count; i++)
		if (steps->step[i].method->open == NULL)
			return false;
	return true;
}

static enum lpl_error bad_spec(const char *spec, struct lpl_report *report)
{
	char list[LPL_REPORT_SIZE / 2];
	size_t used = 0;

	for (size_t i = 0; i < METHODS && used < sizeof(list); i++) {
		const struct method *method = &methods[i];
		const char *form = method->number == NO_NUMBER ? "%s%s%s" :
			method->number == BYTES_IF_ANY ? "%s%s[:%s]" : "%s%s:%s";

		if (method->open == NULL)
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used, form,
					 i == 0 ? "" : ", ", method->name, method->letter);
	}
	return lpl_fail(report, LPL_ERR_USAGE,
			"reduction '%.80s': not one of %s, or several of them joined by '+'; "
			"K is a number of pages, 1 to %" PRIu64 ", TAU and THETA of references, "
			"N of instructions, BYTES a power of two from %" PRIu64,
			spec, list, MOST_PAGES, LEAST_BYTES);
}

/* ---- fences ---- */

static bool is_named(const struct step *step, const char *name)
{
	return strcmp(step->method->name, name) == 0;
}

/* Do the stages behind this one respect fences, given that it was `fenced` itself? */
static bool fences_next(const struct step *step, bool fenced)
{
	return (fenced || step->method->open == lpl_window_new || is_named(step, "fence")) &&
	       !is_named(step, "unfence");
}

/*
 * The form of a method that respects fences where it would not by itself; or NULL.
 * sad2 has none, for it drops first references, by which merge learns in which of
 * several related spaces a page came into being; nor has olr, which refers to pages
 * that no longer mean what they did.
 */
static lpl_stage_new *fenced_form(const struct step *step)
{
	if (step->method->open == lpl_sad_new)
		return lpl_sad_fenced_new;
	return step->method->open == lpl_sad_ws_new ? lpl_sad_ws_fenced_new : NULL;
}

/* Does it drop no reference that stands for another page than those around it? */
static bool respects_fences(const struct step *step, bool fenced)
{
	if (step->method->exact == EXACT_ALL || step->method->open == lpl_window_new)
		return true;
	if (step->method->open == lpl_block_new)	/* larger pages are many to merge */
		return step->number <= LEAST_BYTES;
	return fenced && fenced_form(step) != NULL;
}

/* Would these steps do something else if they stood behind a fence? */
static bool minds_fences(const struct steps *steps)
{
	bool fenced = false;

	for (size_t i = 0; i < steps->count; i++) {
		if (!fenced && fenced_form(&steps->step[i]) != NULL)
			return true;
		fenced = fences_next(&steps->step[i], fenced);
	}
	return false;
}

/* ---- what a chain of steps makes of a trace ---- */

struct state {
	struct lpl_exactness exact;
	uint64_t page_size;
	bool fenced;		/* what follows */
	bool fenced_throughout;
	uint64_t behaviour;	/* it is a behaviour sequence of that many pages; 0: none */
	bool put_in;		/* references were, which repeat the clocks of others */
};

static const struct state unreduced = {{1, 1, 1, 1}, LEAST_BYTES, false, true, 0, false};

/* What a step reads and writes is references, but for these two. */
static bool makes_behaviour(const struct step *step)
{
	return step->method->open == lpl_lrubs_new;
}

static bool ends_behaviour(const struct step *step, uint64_t behaviour)
{
	return step->method->open == lpl_olr_new && step->number == behaviour;
}

/* Exact for both: where either is for nothing nothing is left, else the larger size. */
static void exact_for_both(uint64_t *size, uint64_t other)
{
	if (*size == 0 || other == 0)
		*size = 0;
	else if (other > *size)
		*size = other;
}

static void apply(struct state *state, const struct step *step)
{
	uint64_t from = step->method->number == BYTES_IF_ANY ? 1 : step->number;
	struct lpl_exactness exact = {0, 0, 0, 0};

	state->fenced_throughout &= respects_fences(step, state->fenced);
	state->fenced = fences_next(step, state->fenced);
	switch (step->method->exact) {
	case EXACT_ALL:
		return;
	case EXACT_DEMAND:
		exact = (struct lpl_exactness){from, from, from, 0};
		break;
	case EXACT_LRU_OPT:
		exact = (struct lpl_exactness){from, from, 0, 0};
		break;
	case EXACT_LRU:
		exact = (struct lpl_exactness){from, 0, 0, 0};
		break;
	case EXACT_LRU_OPT_WS:
		/* time says how many pages there are in it if each reference takes some */
		if (!state->put_in)
			exact = (struct lpl_exactness){from, from, 0, from};
		break;
	case EXACT_NOTHING:
		break;
	}
	exact_for_both(&state->exact.lru, exact.lru);
	exact_for_both(&state->exact.opt, exact.opt);
	exact_for_both(&state->exact.demand, exact.demand);
	exact_for_both(&state->exact.ws, exact.ws);
	if (step->method->number == BYTES_IF_ANY && step->number != 0)
		state->page_size = step->number;
	state->behaviour = makes_behaviour(step) ? step->number : 0;
	state->put_in |= step->method->open == lpl_olr_new;
}

/* What `steps` make of a trace in `state`; LPL_ERR_USAGE if they cannot follow. */
static enum lpl_error follow(struct state *state, const struct steps *steps,
			     struct lpl_report *report)
{
	for (size_t i = 0; i < steps->count; i++) {
		const struct step *step = &steps->step[i];

		if (step->method->number == BYTES_IF_ANY && step->number != 0 &&
		    step->number < state->page_size)
			return lpl_fail(report, LPL_ERR_USAGE,
					"reduction 'block:%" PRIu64 "': the trace's pages are of %"
					PRIu64 " bytes already, and cannot be made smaller",
					step->number, state->page_size);
		if (state->behaviour != 0 && step->method->exact != EXACT_ALL &&
		    !ends_behaviour(step, state->behaviour))
			return lpl_fail(report, LPL_ERR_USAGE,
					"reduction '%s': after lrubs:%" PRIu64 " it is faults and "
					"evictions, no references; olr:%" PRIu64 " first makes a "
					"reference trace of them", step->method->name,
					state->behaviour, state->behaviour);
		apply(state, step);
	}
	return LPL_OK;
}

/* The state that REDUCTION left a trace in; false: it has an unknown method. */
static bool state_after(struct state *state, const char *reduction)
{
	struct steps steps;

	*state = unreduced;
	if (reduction == NULL)
		return true;
	return parse_spec(&steps, reduction) && follow(state, &steps, NULL) == LPL_OK;
}

bool lpl_reduction_exactness(const char *reduction, struct lpl_exactness *exactness)
{
	struct state state;
	bool known = state_after(&state, reduction);

	*exactness = known ? state.exact : (struct lpl_exactness){0, 0, 0, 0};
	return known;
}

bool lpl_reduction_fenced(const char *reduction)
{
	struct state state;

	return state_after(&state, reduction) && state.fenced_throughout;
}

uint64_t lpl_reduction_page_size(const char *reduction)
{
	struct state state;

	(void)state_after(&state, reduction);
	return state.page_size;
}

uint64_t lpl_reduction_behaviour(const char *reduction)
{
	struct state state;

	(void)state_after(&state, reduction);
	return state.behaviour;
}

/* ---- building ---- */

/* What makes a step's stage, given what it gets. */
static lpl_stage_new *opener(const struct step *step, bool fenced, bool behaviour)
{
	if (behaviour && step->method->open == lpl_olr_new)
		return lpl_olr_from_behaviour_new;
	if (fenced && fenced_form(step) != NULL)
		return fenced_form(step);
	return step->method->open;
}

enum lpl_error lpl_reducer_open(struct lpl_reducer **reducer, const char *before,
				const char *spec, struct lpl_sink *next,
				struct lpl_report *report)
{
	struct steps steps;
	lpl_stage_new *open[MOST_STEPS];
	struct state state;
	struct state end;
	struct lpl_reducer *opened;
	enum lpl_error error;
	bool fenced = false;

	*reducer = NULL;
	if (!parse_new_spec(&steps, spec))
		return bad_spec(spec, report);
	(void)state_after(&state, before);
	end = state;
	error = follow(&end, &steps, report);
	if (error != LPL_OK)
		return error;
	opened = calloc(1, sizeof(*opened) + steps.count * sizeof(opened->stage[0]));
	if (opened == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "reduction '%s': no memory", spec);
	opened->count = steps.count;
	for (size_t i = 0; i < steps.count; i++) {
		open[i] = opener(&steps.step[i], fenced, state.behaviour != 0);
		fenced = fences_next(&steps.step[i], fenced);
		apply(&state, &steps.step[i]);
	}
	for (size_t i = steps.count; i-- > 0;) {
		opened->stage[i] = open[i](steps.step[i].number, next);
		if (opened->stage[i] == NULL) {
			lpl_reducer_close(opened);
			return lpl_fail(report, LPL_ERR_MEMORY, "reduction '%s': no memory", spec);
		}
		next = &opened->stage[i]->sink;
	}
	*reducer = opened;
	return LPL_OK;
}

struct lpl_sink *lpl_reducer_sink(struct lpl_reducer *reducer)
{
	return &reducer->stage[0]->sink;
}

enum lpl_error lpl_reducer_flush(struct lpl_reducer *reducer, struct lpl_report *report)
{
	int error = LPL_OK;

	for (size_t i = 0; i < reducer->count && error == LPL_OK; i++)
		if (reducer->stage[i]->flush != NULL)
			error = reducer->stage[i]->flush(reducer->stage[i], report);
	return (enum lpl_error)error;
}

void lpl_reducer_close(struct lpl_reducer *reducer)
{
	if (reducer == NULL)
		return;
	for (size_t i = 0; i < reducer->count; i++)
		if (reducer->stage[i] != NULL)
			reducer->stage[i]->close(reducer->stage[i]);
	free(reducer);
}

/* ---- describing ---- */

/* Append to a text of LPL_SPEC_SIZE, after `glue` unless it is the first; false: too long. */
static bool append(char *text, const char *glue, const char *more)
{
	size_t length = strlen(text);
	int wanted = snprintf(text + length, LPL_SPEC_SIZE - length, "%s%s",
			      length == 0 ? "" : glue, more);

	return wanted >= 0 && (size_t)wanted < LPL_SPEC_SIZE - length;
}

static bool append_steps(char *reduction, const struct steps *steps)
{
	for (size_t i = 0; i < steps->count; i++) {
		const struct step *step = &steps->step[i];
		char text[48];

		if (is_named(step, "none"))
			continue;	/* leaves no mark */
		if (step->number != 0)
			(void)snprintf(text, sizeof(text), "%s:%" PRIu64, step->method->name,
				       step->number);
		else
			(void)snprintf(text, sizeof(text), "%s", step->method->name);
		if (!append(reduction, "+", text))
			return false;
	}
	return true;
}

/* One clause of LPL_META_EXACT: `policies` are exact from a size on. */
static void tell_from(char *exact, const char *policies, uint64_t from, const char *unit)
{
	char text[64];

	if (from == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s from %" PRIu64 " %s", policies, from, unit);
	(void)append(exact, "; ", text);
}

static void tell_exactness(char *exact, const struct lpl_exactness *from)
{
	bool demand = from->lru == 1 && from->opt == 1 && from->demand == 1;

	exact[0] = '\0';
	if (demand && from->ws <= 1) {
		(void)append(exact, "", from->ws == 1 ? "all" : "all but ws,vmin");
		return;
	}
	if (from->lru != 0 && from->lru == from->opt) {
		tell_from(exact, "lru,opt", from->lru, "pages");
	} else {
		tell_from(exact, "lru", from->lru, "pages");
		tell_from(exact, "opt", from->opt, "pages");
	}
	tell_from(exact, "ws,vmin", from->ws, "references");
	if (exact[0] == '\0')
		(void)append(exact, "", "nothing");
}

enum lpl_error lpl_reducer_describe(const char *before, const char *spec,
				    char *reduction, char *exact,
				    struct lpl_report *report)
{
	struct steps past;
	struct steps steps;
	struct state state = unreduced;
	enum lpl_error error;
	bool known;
	bool unfence;
	bool fits;

	reduction[0] = '\0';
	exact[0] = '\0';
	if (!parse_new_spec(&steps, spec))
		return bad_spec(spec, report);
	/* what an unknown method did stays on record as it is written */
	if (before == NULL)
		before = "none";
	known = parse_spec(&past, before) && follow(&state, &past, NULL) == LPL_OK;
	/* the whole, read as one, has to say that what is new begins without a fence */
	unfence = known && state.fenced && minds_fences(&steps);
	state.fenced = false;
	error = follow(&state, &steps, report);
	if (error != LPL_OK)
		return error;
	fits = known ? append_steps(reduction, &past) : append(reduction, "", before);
	if (unfence)
		fits = fits && append(reduction, "+", "unfence");
	if (!fits || !append_steps(reduction, &steps)) {
		reduction[0] = '\0';
		return lpl_fail(report, LPL_ERR_USAGE,
				"reduction '%s' after '%.80s': longer than %d characters",
				spec, before, LPL_SPEC_SIZE - 1);
	}
	if (reduction[0] == '\0')
		(void)append(reduction, "", "none");
	if (known)
		tell_exactness(exact, &state.exact);
	else
		(void)append(exact, "", "unknown");
	return LPL_OK;
}
