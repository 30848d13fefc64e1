/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPECs, read and written. */
#include "spec.h"

#include "base/digits.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_PAGES (UINT64_C(1) << 24)
#define MOST_TIME (UINT64_C(1) << 62)

#define METHOD_POINTER(name) &lpl_method_##name,
static const struct lpl_method *const methods[] = { LPL_METHODS(METHOD_POINTER) };
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

/* Stands for a choice from what was reduced: a reference of it may have been dropped for another's. */
const struct lpl_method lpl_method_chosen = {.name = "chosen", .drops = LPL_DROPS_ANYWHERE};
/* It stands for reductions that were not fenced and then merged: lpl_reduction_fenced(). */
const struct lpl_method lpl_method_merged = {.name = "merged", .drops = LPL_DROPS_ANYWHERE};
/* Stands for another order of threads than that which was reduced: lpl_reduction_scheduled(). */
const struct lpl_method lpl_method_scheduled = {.name = "scheduled", .drops = LPL_DROPS_ANYWHERE};

const struct lpl_method *lpl_method_find(const char *name, size_t length)
{
	for (size_t i = 0; i < METHODS; i++)
		if (strlen(methods[i]->name) == length &&
		    memcmp(methods[i]->name, name, length) == 0)
			return methods[i];
	return NULL;
}

bool lpl_method_unit(const char *name, size_t length, enum lpl_unit *unit)
{
	const struct lpl_method *method = lpl_method_find(name, length);

	if (method == NULL || method->open == NULL)
		return false;
	*unit = method->unit;
	return true;
}

/* ---- reading ---- */

static bool in_range(enum lpl_unit unit, uint64_t number)
{
	switch (unit) {
	case LPL_UNIT_PAGES:
		return number >= 1 && number <= MOST_PAGES;
	case LPL_UNIT_REFERENCES:
	case LPL_UNIT_INSTRUCTIONS:
		return number >= 1 && number <= MOST_TIME;
	case LPL_UNIT_BYTES:
		return number >= LPL_LEAST_BYTES && number <= LPL_MOST_BYTES &&
		       (number & (number - 1)) == 0;
	case LPL_UNIT_NONE:
		break;
	}
	return false;
}

/* A step ends where the next one begins, or with the text. */
static bool parse_step(struct lpl_step *step, const char *text, const char *end)
{
	size_t length = strcspn(text, ":+");

	step->method = lpl_method_find(text, length);
	step->number = 0;
	if (step->method == NULL)
		return false;
	if (text + length == end)
		return step->method->unit == LPL_UNIT_NONE ||
		       step->method->unit == LPL_UNIT_BYTES;
	return lpl_scan_decimal(text + length + 1, &step->number) == end &&
	       in_range(step->method->unit, step->number);
}

bool lpl_spec_parse(struct lpl_steps *steps, const char *spec)
{
	steps->count = 0;
	if (strlen(spec) >= LPL_SPEC_SIZE)
		return false;
	for (;;) {
		const char *end = spec + strcspn(spec, "+");

		assert(steps->count < LPL_MOST_STEPS);
		if (!parse_step(&steps->step[steps->count], spec, end))
			return false;
		steps->count++;
		if (*end == '\0')
			return true;
		spec = end + 1;
	}
}

static enum lpl_error refuse(const char *spec, struct lpl_report *report)
{
	char list[LPL_REPORT_SIZE / 2];
	size_t used = 0;

	for (size_t i = 0; i < METHODS && used < sizeof(list); i++) {
		const struct lpl_method *method = methods[i];
		const char *form = method->unit == LPL_UNIT_NONE ? "%s%s" :
			method->unit == LPL_UNIT_BYTES ? "%s%s[:%s]" : "%s%s:%s";

		if (method->open == NULL)
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used, form,
					 i == 0 ? "" : ", ", method->name, method->letter);
	}
	return lpl_fail(report, LPL_ERR_USAGE,
			"reduction '%.80s': not one of %s, or several of them joined by '+'; "
			"K is a number of pages, 1 to %" PRIu64 ", TAU and THETA of references, "
			"N of instructions, BYTES a power of two from %" PRIu64,
			spec, list, MOST_PAGES, LPL_LEAST_BYTES);
}

enum lpl_error lpl_spec_parse_new(struct lpl_steps *steps, const char *spec,
				  struct lpl_report *report)
{
	if (!lpl_spec_parse(steps, spec))
		return refuse(spec, report);
	for (size_t i = 0; i < steps->count; i++)
		if (steps->step[i].method->open == NULL)
			return refuse(spec, report);
	return LPL_OK;
}

/* ---- writing ---- */

bool lpl_spec_append(char *text, const char *glue, const char *more)
{
	size_t length = strlen(text);
	int wanted = snprintf(text + length, LPL_SPEC_SIZE - length, "%s%s",
			      length == 0 ? "" : glue, more);

	return wanted >= 0 && (size_t)wanted < LPL_SPEC_SIZE - length;
}

bool lpl_spec_append_steps(char *spec, const struct lpl_steps *steps)
{
	for (size_t i = 0; i < steps->count; i++) {
		const struct lpl_step *step = &steps->step[i];
		char text[48];

		if (step->method->unmentioned)
			continue;
		if (step->number != 0)
			(void)snprintf(text, sizeof(text), "%s:%" PRIu64, step->method->name,
				       step->number);
		else
			(void)snprintf(text, sizeof(text), "%s", step->method->name);
		if (!lpl_spec_append(spec, "+", text))
			return false;
	}
	return true;
}
