/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions as they are written: SPECs, chains of stages, and what they are exact for. */
#include <laplace/reducer.h>

#include "stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PAGES (UINT32_C(1) << 24)
#define METHODS "none, block, window:K, sad:K, or several of them joined by '+'; " \
		"K is a number of pages, 1 to 16777216"

struct method {
	const char *name;
	bool has_pages;		/* written with :K */
	bool identity;		/* vanishes from a description */
	struct lpl_stage *(*open)(uint32_t pages, struct lpl_sink *next);
};

static const struct method methods[] = {
	{"none", false, true, lpl_none_new},
	{"block", false, false, lpl_block_new},
	{"window", true, false, lpl_window_new},
	{"sad", true, false, lpl_sad_new},
};

/* One part of a SPEC. */
struct step {
	const struct method *method;
	uint32_t pages;		/* 0 without :K */
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

/* K in `text`, all `length` characters of it; 0: not a number from 1 to MOST_PAGES. */
static uint32_t parse_pages(const char *text, size_t length)
{
	uint32_t pages = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		pages = pages * 10 + (uint32_t)(text[i] - '0');
		if (pages > MOST_PAGES)
			return 0;
	}
	return pages;
}

static bool parse_step(struct step *step, const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const struct method *method = &methods[i];
		size_t name = strlen(method->name);

		if (length < name || memcmp(text, method->name, name) != 0)
			continue;
		step->method = method;
		step->pages = 0;
		if (!method->has_pages)
			return length == name;
		if (length == name || text[name] != ':')
			return false;
		step->pages = parse_pages(text + name + 1, length - name - 1);
		return step->pages != 0;
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

static enum lpl_error bad_spec(const char *spec, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_USAGE, "reduction '%.80s': not one of " METHODS, spec);
}

enum lpl_error lpl_reducer_open(struct lpl_reducer **reducer, const char *spec,
				struct lpl_sink *next, struct lpl_report *report)
{
	struct steps steps;
	struct lpl_reducer *opened;

	*reducer = NULL;
	if (!parse_spec(&steps, spec))
		return bad_spec(spec, report);
	opened = calloc(1, sizeof(*opened) + steps.count * sizeof(opened->stage[0]));
	if (opened == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "reduction '%s': no memory", spec);
	opened->count = steps.count;
	for (size_t i = steps.count; i-- > 0;) {
		const struct step *step = &steps.step[i];

		opened->stage[i] = step->method->open(step->pages, next);
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

void lpl_reducer_close(struct lpl_reducer *reducer)
{
	if (reducer == NULL)
		return;
	for (size_t i = 0; i < reducer->count; i++)
		if (reducer->stage[i] != NULL)
			reducer->stage[i]->close(reducer->stage[i]);
	free(reducer);
}

/* Append one part to a reduction; false: it got longer than LPL_SPEC_SIZE. */
static bool append(char *reduction, const char *text)
{
	size_t length = strlen(reduction);
	const char *plus = length == 0 ? "" : "+";
	int wanted = snprintf(reduction + length, LPL_SPEC_SIZE - length, "%s%s", plus, text);

	return wanted >= 0 && (size_t)wanted < LPL_SPEC_SIZE - length;
}

static bool append_steps(char *reduction, const struct steps *steps)
{
	for (size_t i = 0; i < steps->count; i++) {
		const struct step *step = &steps->step[i];
		char text[32];

		if (step->method->identity)
			continue;
		if (step->method->has_pages)
			(void)snprintf(text, sizeof(text), "%s:%" PRIu32, step->method->name,
				       step->pages);
		else
			(void)snprintf(text, sizeof(text), "%s", step->method->name);
		if (!append(reduction, text))
			return false;
	}
	return true;
}

enum lpl_error lpl_reducer_describe(const char *before, const char *spec,
				    char *reduction, char *exact,
				    struct lpl_report *report)
{
	struct steps past;
	struct steps steps;
	uint64_t from;
	bool fits;

	reduction[0] = '\0';
	exact[0] = '\0';
	if (!parse_spec(&steps, spec))
		return bad_spec(spec, report);
	/* what an unknown method did stays on record as it is written */
	if (before == NULL)
		before = "none";
	fits = parse_spec(&past, before) ? append_steps(reduction, &past) :
		append(reduction, before);
	if (!fits || !append_steps(reduction, &steps)) {
		reduction[0] = '\0';
		return lpl_fail(report, LPL_ERR_USAGE,
				"reduction '%s' after '%.80s': longer than %d characters",
				spec, before, LPL_SPEC_SIZE - 1);
	}
	from = lpl_reduction_exact_from(reduction[0] == '\0' ? NULL : reduction);
	if (reduction[0] == '\0') {
		(void)snprintf(reduction, LPL_SPEC_SIZE, "none");
		(void)snprintf(exact, LPL_SPEC_SIZE, "all");
	} else if (from == 0) {
		(void)snprintf(exact, LPL_SPEC_SIZE, "unknown");
	} else {
		(void)snprintf(exact, LPL_SPEC_SIZE, "lru,opt from %" PRIu64 " pages", from);
	}
	return LPL_OK;
}

uint64_t lpl_reduction_exact_from(const char *reduction)
{
	struct steps steps;
	uint64_t from = 1;

	if (reduction == NULL)
		return 1;
	if (!parse_spec(&steps, reduction))
		return 0;
	for (size_t i = 0; i < steps.count; i++)
		if (steps.step[i].pages > from)
			from = steps.step[i].pages;
	return from;
}
