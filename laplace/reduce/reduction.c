/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a reduction makes of a trace, and how that is written. */
#include "reduction.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/try.h"

/* ---- fences ---- */

static bool fences_next(const struct lpl_method *method, bool fenced)
{
	return method->fencing == LPL_FENCING_AS_BEFORE ? fenced :
		method->fencing == LPL_FENCING_BEGINS;
}

/* Does it drop no reference that stands for another page than those around it? */
static bool respects_fences(const struct lpl_step *step, bool fenced)
{
	switch (step->method->drops) {
	case LPL_DROPS_NOTHING:
	case LPL_DROPS_IN_WINDOW:
		return true;
	case LPL_DROPS_IN_RUN:	/* larger pages are many to merge */
		return step->number <= LPL_PAGE_BYTES;
	case LPL_DROPS_ANYWHERE:
		break;
	}
	return fenced && step->method->open_fenced != NULL;
}

/* Would these steps do something else if they stood after a fence? */
static bool fence_matters(const struct lpl_steps *steps)
{
	bool fenced = false;

	for (size_t i = 0; i < steps->count; i++) {
		if (!fenced && steps->step[i].method->open_fenced != NULL)
			return true;
		fenced = fences_next(steps->step[i].method, fenced);
	}
	return false;
}

/* ---- what steps make of a trace ---- */

static const struct lpl_reduction unreduced = {
	.exact = {1, 1, 1, 1}, .any_order = 1, .fenced_throughout = true
};

/* Exact for `*size` before and for `from` now: for the larger; 0, for nothing, is the largest. */
static void exact_for_both(uint64_t *size, uint64_t from)
{
	if (*size == 0 || from == 0)
		*size = 0;
	else if (from > *size)
		*size = from;
}

void lpl_reduction_apply(struct lpl_reduction *reduction, const struct lpl_step *step)
{
	const struct lpl_method *method = step->method;
	uint64_t from = method->unit == LPL_UNIT_BYTES ? 1 : step->number;
	unsigned int claims = method->claims;

	reduction->fenced_throughout &= respects_fences(step, reduction->fenced);
	reduction->fenced = fences_next(method, reduction->fenced);
	if (method->annotates)
		reduction->annotated = step->number;
	if (method->drops == LPL_DROPS_NOTHING)
		return;
	reduction->annotated = 0;
	/* a number of references says how many pages are in it if each takes some time */
	if (method->unit == LPL_UNIT_REFERENCES && reduction->synthetic)
		claims = 0;
	exact_for_both(&reduction->exact.lru, (claims & LPL_CLAIM_LRU) != 0 ? from : 0);
	exact_for_both(&reduction->exact.opt, (claims & LPL_CLAIM_OPT) != 0 ? from : 0);
	exact_for_both(&reduction->exact.demand, (claims & LPL_CLAIM_DEMAND) != 0 ? from : 0);
	exact_for_both(&reduction->exact.ws, (claims & LPL_CLAIM_WS) != 0 ? from : 0);
	exact_for_both(&reduction->any_order, (claims & LPL_CLAIM_ANY_ORDER) != 0 ? from : 0);
	reduction->page_size = method->unit == LPL_UNIT_BYTES && step->number != 0 ?
		step->number : lpl_page_bytes(reduction);
	/* an access to several finer pages becomes a reference to each, with one number */
	reduction->synthetic |= reduction->page_size < LPL_PAGE_BYTES;
	reduction->behaviour = method->makes_behaviour ? step->number : 0;
	reduction->records = method->makes_records;
	reduction->synthetic |= method->adds_references;
}

/* A behaviour sequence is read by what makes references of it, for as many pages, alone. */
static bool reads(const struct lpl_step *step, uint64_t behaviour)
{
	return behaviour == 0 ||
	       (step->method->drops == LPL_DROPS_NOTHING && !step->method->annotates) ||
	       (step->method->open_behaviour != NULL && step->number == behaviour);
}

/* Records of active periods are read by what makes references of them, and that reads nothing else. */
static enum lpl_error check_records(const struct lpl_step *step, bool records,
				    struct lpl_report *report)
{
	if (step->method->reads_records ? records : !records ||
	    (step->method->drops == LPL_DROPS_NOTHING && !step->method->annotates))
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_USAGE, records ?
			"reduction '%s': after in-out it is records of active periods, no references; "
			"replay first makes a reference trace of them" :
			"reduction '%s': it reads what in-out:N has made, and nothing else",
			step->method->name);
}

enum lpl_error lpl_reduction_follow(struct lpl_reduction *reduction,
				    const struct lpl_steps *steps, struct lpl_report *report)
{
	for (size_t i = 0; i < steps->count; i++) {
		const struct lpl_step *step = &steps->step[i];

		if (step->method->unit == LPL_UNIT_BYTES && step->number != 0 &&
		    step->number < reduction->page_size)
			return lpl_fail(report, LPL_ERR_USAGE,
					"reduction '%s:%" PRIu64 "': the trace's pages are of %"
					PRIu64 " bytes already, and cannot be made smaller",
					step->method->name, step->number, reduction->page_size);
		if (!reads(step, reduction->behaviour))
			return lpl_fail(report, LPL_ERR_USAGE,
					"reduction '%s': after lrubs:%" PRIu64 " it is faults and "
					"evictions, no references; olr:%" PRIu64 " first makes a "
					"reference trace of them", step->method->name,
					reduction->behaviour, reduction->behaviour);
		LPL_TRY(check_records(step, reduction->records, report));
		lpl_reduction_apply(reduction, step);
	}
	return LPL_OK;
}

bool lpl_reduction_read(struct lpl_reduction *reduction, const char *description)
{
	struct lpl_steps steps;

	*reduction = unreduced;
	if (description == NULL)
		return true;
	return lpl_spec_parse(&steps, description) &&
	       lpl_reduction_follow(reduction, &steps, NULL) == LPL_OK;
}

bool lpl_reduction_exactness(const char *reduction, struct lpl_exactness *exactness)
{
	struct lpl_reduction read;
	bool known = lpl_reduction_read(&read, reduction);

	*exactness = known ? read.exact : (struct lpl_exactness){0, 0, 0, 0};
	return known;
}

bool lpl_reduction_fenced(const char *reduction)
{
	struct lpl_reduction read;

	return lpl_reduction_read(&read, reduction) && read.fenced_throughout;
}

uint64_t lpl_reduction_any_order(const char *reduction)
{
	struct lpl_reduction read;

	return lpl_reduction_read(&read, reduction) ? read.any_order : 0;
}

/* With a last step, unless nothing was reduced. */
static enum lpl_error add_last(const char *reduction, const char *step, char longer[LPL_SPEC_SIZE],
			       struct lpl_report *report)
{
	const bool reduced = reduction != NULL && strcmp(reduction, "none") != 0;

	if (snprintf(longer, LPL_SPEC_SIZE, "%s%s%s", reduced ? reduction : "none",
		     reduced ? "+" : "", reduced ? step : "") >= LPL_SPEC_SIZE)
		return lpl_fail(report, LPL_ERR_USAGE, "the reduction '%.40s...' is too long",
				reduction);
	return LPL_OK;
}

enum lpl_error lpl_reduction_chosen(const char *reduction, char chosen[LPL_SPEC_SIZE],
				    struct lpl_report *report)
{
	return add_last(reduction, "chosen", chosen, report);
}

enum lpl_error lpl_reduction_scheduled(const char *reduction, char scheduled[LPL_SPEC_SIZE],
				       struct lpl_report *report)
{
	return add_last(reduction, "scheduled", scheduled, report);
}

uint64_t lpl_reduction_page_size(const char *reduction)
{
	struct lpl_reduction read;

	(void)lpl_reduction_read(&read, reduction);
	return lpl_page_bytes(&read);
}

uint64_t lpl_page_size(const char *said, const char *reduction)
{
	struct lpl_reduction read;
	const bool known = lpl_reduction_read(&read, reduction);
	const uint64_t reduced = lpl_page_bytes(&read);
	uint64_t size;

	if (said == NULL)
		return reduced;
	if (!lpl_parse_decimal(said, &size) || (size & (size - 1)) != 0 ||
	    (size < LPL_PAGE_BYTES && size != reduced))
		return 0;
	/* whatever knew pages, knew them of that size */
	if (size > reduced && known && read.page_size != 0)
		return 0;
	return size > reduced ? size : reduced;
}

uint64_t lpl_reduction_behaviour(const char *reduction)
{
	struct lpl_reduction read;

	(void)lpl_reduction_read(&read, reduction);
	return read.behaviour;
}

uint64_t lpl_reduction_annotated(const char *reduction)
{
	struct lpl_reduction read;

	(void)lpl_reduction_read(&read, reduction);
	return read.annotated;
}

bool lpl_reduction_records(const char *reduction)
{
	struct lpl_reduction read;

	return lpl_reduction_read(&read, reduction) && read.records;
}

void lpl_reduction_unannotated(const char *reduction, char without[LPL_SPEC_SIZE])
{
	static const char annotated[] = "annotated:";

	without[0] = '\0';
	while (*reduction != '\0') {
		const size_t length = strcspn(reduction, "+");
		const size_t used = strlen(without);

		if (strncmp(reduction, annotated, sizeof(annotated) - 1) != 0)
			(void)snprintf(without + used, LPL_SPEC_SIZE - used, "%s%.*s", used != 0 ? "+" : "",
				       (int)length, reduction);
		reduction += length + (reduction[length] == '+');
	}
	if (without[0] == '\0')
		strcpy(without, "none");
}

/* ---- describing ---- */

/* One clause of LPL_META_EXACT: `policies` are exact from a size on. */
static void put_from(char *exact, const char *policies, uint64_t from, const char *unit)
{
	char text[64];

	if (from == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s from %" PRIu64 " %s", policies, from, unit);
	(void)lpl_spec_append(exact, "; ", text);
}

static void put_exactness(char *exact, const struct lpl_exactness *from)
{
	bool demand = from->lru == 1 && from->opt == 1 && from->demand == 1;

	exact[0] = '\0';
	if (demand && from->ws <= 1) {
		(void)lpl_spec_append(exact, "", from->ws == 1 ? "all" : "all but ws,vmin");
		return;
	}
	if (from->lru != 0 && from->lru == from->opt) {
		put_from(exact, "lru,opt", from->lru, "pages");
	} else {
		put_from(exact, "lru", from->lru, "pages");
		put_from(exact, "opt", from->opt, "pages");
	}
	put_from(exact, "ws,vmin", from->ws, "references");
	if (exact[0] == '\0')
		(void)lpl_spec_append(exact, "", "nothing");
}

enum lpl_error lpl_reducer_describe(const char *before, const char *spec,
				    char *reduction, char *exact,
				    struct lpl_report *report)
{
	struct lpl_steps past;
	struct lpl_steps steps;
	struct lpl_reduction state = unreduced;
	bool known;
	bool unfence;
	bool fits;

	reduction[0] = '\0';
	exact[0] = '\0';
	LPL_TRY(lpl_spec_parse_new(&steps, spec, report));
	/* the record of an unknown method is kept as it is written */
	if (before == NULL)
		before = "none";
	known = lpl_spec_parse(&past, before) &&
		lpl_reduction_follow(&state, &past, NULL) == LPL_OK;
	/* the whole, read as one, has to say that what is new begins without a fence */
	unfence = known && state.fenced && fence_matters(&steps);
	state.fenced = false;
	LPL_TRY(lpl_reduction_follow(&state, &steps, report));
	fits = known ? lpl_spec_append_steps(reduction, &past) :
		lpl_spec_append(reduction, "", before);
	if (unfence)
		fits = fits && lpl_spec_append(reduction, "+", "unfence");
	if (!fits || !lpl_spec_append_steps(reduction, &steps)) {
		reduction[0] = '\0';
		return lpl_fail(report, LPL_ERR_USAGE,
				"reduction '%s' after '%.80s': longer than %d characters",
				spec, before, LPL_SPEC_SIZE - 1);
	}
	if (reduction[0] == '\0')
		(void)lpl_spec_append(reduction, "", "none");
	if (known)
		put_exactness(exact, &state.exact);
	else
		(void)lpl_spec_append(exact, "", "unknown");
	return LPL_OK;
}
