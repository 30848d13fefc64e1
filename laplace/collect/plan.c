/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Divide a reduction between the simulator's thread and the collector's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <laplace/reducer.h>

#include "base/digits.h"
#include "base/try.h"
#include "reduce/method.h"

/*
 * The K of the windows that the first method of `spec` lets the simulator send; 0: it
 * wants every reference.  `*method` is that method.
 *
 * sad:K drops a little less after windows of K pages and is as exact.  olr:K and
 * lrubs:K give the same records: they go by the faults of K pages and by what was dirty
 * when it was evicted.  A page is not evicted from its first to its last reference in a
 * window, so its fault, if there is one, is at the first, which is kept as it is; what
 * was dropped and wrote is made up for by the last, before any eviction.
 */
static uint64_t windows_of(const char *spec, const struct lpl_method **method)
{
	size_t length = strcspn(spec, ":+");
	uint64_t pages;
	const char *end;

	*method = lpl_method_find(spec, length);
	if (*method == NULL || (*method)->windows == LPL_WINDOWS_NO || spec[length] != ':')
		return 0;
	end = lpl_scan_decimal(spec + length + 1, &pages);
	return end != NULL && (*end == '\0' || *end == '+') ? pages : 0;
}

void lpl_plan_every(struct lpl_plan *plan)
{
	if (plan->window)
		memcpy(plan->rest, plan->reduction, sizeof(plan->rest));
	plan->window = 0;
}

enum lpl_error lpl_plan_parse(struct lpl_plan *plan, const char *spec,
			      struct lpl_report *report)
{
	char exact[LPL_SPEC_SIZE], whole[LPL_SPEC_SIZE];
	const struct lpl_method *method;

	*plan = (struct lpl_plan){ 0 };
	if (strlen(spec) >= LPL_SPEC_SIZE / 2)
		return lpl_fail(report, LPL_ERR_USAGE, "the reduction '%.40s...' is too long",
				spec);

	plan->window = windows_of(spec, &method);
	if (plan->window && method->windows == LPL_WINDOWS_FIRST)
		snprintf(whole, sizeof(whole), "window:%" PRIu64 "+%s", plan->window, spec);
	else
		snprintf(whole, sizeof(whole), "%s", spec);

	/* The reducers' own parser judges the whole; it knows the methods. */
	LPL_TRY(lpl_reducer_describe("none", whole, plan->reduction, exact, report));
	if (plan->window > LPL_PLAN_WINDOW_MAX)
		return lpl_fail(report, LPL_ERR_USAGE,
				"'%s': a window in the simulator has at most %d pages; "
				"record with a smaller one and use `laplace reduce` for more",
				spec, LPL_PLAN_WINDOW_MAX);

	/* what stands after windows respects fences, and does so without them, too */
	const char *more = strchr(whole, '+');
	if (!plan->window)
		snprintf(plan->rest, sizeof(plan->rest), "%s", whole);
	else if (more)
		snprintf(plan->rest, sizeof(plan->rest), "fence%s", more);
	else
		snprintf(plan->rest, sizeof(plan->rest), "none");
	return LPL_OK;
}
