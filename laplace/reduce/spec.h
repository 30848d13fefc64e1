/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reduction as it is written, SPEC, and as a list of steps. */
#ifndef LAPLACE_REDUCE_SPEC_H
#define LAPLACE_REDUCE_SPEC_H

#include "method.h"

#define LPL_LEAST_BYTES UINT64_C(16)
#define LPL_MOST_BYTES (UINT64_C(1) << 30)
#define LPL_PAGE_BYTES (UINT64_C(1) << LPL_PAGE_SHIFT)

/* One method, and the number after its colon. */
struct lpl_step {
	const struct lpl_method *method;
	uint64_t number;	/* 0 without one */
};

/* A SPEC shorter than LPL_SPEC_SIZE has no more steps than this. */
enum { LPL_MOST_STEPS = LPL_SPEC_SIZE / 2 };

struct lpl_steps {
	size_t count;
	struct lpl_step step[LPL_MOST_STEPS];
};

/* What a trace has been through already; false: there is an unknown method. */
bool lpl_spec_parse(struct lpl_steps *steps, const char *spec);
/* The same of what is to be done.  The report of LPL_ERR_USAGE lists all methods. */
enum lpl_error lpl_spec_parse_new(struct lpl_steps *steps, const char *spec,
				  struct lpl_report *report);

/*
 * Append to a text of LPL_SPEC_SIZE, after `glue` unless it is the first; false: it
 * does not fit.
 */
bool lpl_spec_append(char *text, const char *glue, const char *more);
bool lpl_spec_append_steps(char *spec, const struct lpl_steps *steps);

#endif
