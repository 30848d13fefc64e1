/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Divide a reduction between the simulator's thread and the collector's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/collector.h>
#include <laplace/reducer.h>

/* "NAME:K" at the start of spec: K, and in *end what follows; 0 when it is not there. */
static uint64_t leading(const char *spec, const char *name, const char **end)
{
	size_t length = strlen(name);

	if (strncmp(spec, name, length) != 0 || spec[length] != ':')
		return 0;
	char *after;
	unsigned long long k = strtoull(spec + length + 1, &after, 10);
	if (*after != '\0' && *after != '+')
		return 0;
	*end = after;
	return k;
}

/*
 * Methods for which windows of their K pages may come first.  sad:K drops a little
 * less after them and is as exact.  olr:K and lrubs:K give the same records: they go
 * by the faults of K pages and by what was dirty when it was evicted.  A page is
 * not evicted from its first to its last reference in a window, so its fault, if
 * there is one, is at the first, which is kept as it is; what was dropped and wrote
 * is made up for by the last, before any eviction.
 */
static uint64_t windows_of(const char *spec, const char **end)
{
	static const char *const names[] = { "sad", "olr", "lrubs" };
	uint64_t k = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && k == 0; i++)
		k = leading(spec, names[i], end);
	return k;
}

enum lpl_error lpl_plan_parse(struct lpl_plan *plan, const char *spec,
			      struct lpl_report *report)
{
	char exact[LPL_SPEC_SIZE], whole[LPL_SPEC_SIZE];
	const char *end = "";
	int length;

	*plan = (struct lpl_plan){ 0 };
	if (strlen(spec) >= LPL_SPEC_SIZE / 2)
		return lpl_fail(report, LPL_ERR_USAGE, "the reduction '%.40s...' is too long",
				spec);

	plan->window = windows_of(spec, &end);
	if (plan->window)
		length = snprintf(whole, sizeof(whole), "window:%llu+%s",
				  (unsigned long long)plan->window, spec);
	else {
		plan->window = leading(spec, "window", &end);
		length = snprintf(whole, sizeof(whole), "%s", spec);
	}
	(void)length;

	/* The reducers' own parser judges the whole; it knows the methods. */
	enum lpl_error error = lpl_reducer_describe("none", whole, plan->reduction, exact,
						    report);
	if (error)
		return error;
	if (plan->window > LPL_PLAN_WINDOW_MAX)
		return lpl_fail(report, LPL_ERR_USAGE,
				"'%s': a window in the simulator has at most %d pages; "
				"record with a smaller one and use `laplace reduce` for more",
				spec, LPL_PLAN_WINDOW_MAX);

	/* what stands behind windows respects fences, and does so without them, too */
	const char *more = strchr(whole, '+');
	if (!plan->window)
		snprintf(plan->rest, sizeof(plan->rest), "%s", whole);
	else if (more)
		snprintf(plan->rest, sizeof(plan->rest), "fence%s", more);
	else
		snprintf(plan->rest, sizeof(plan->rest), "none");
	return LPL_OK;
}
