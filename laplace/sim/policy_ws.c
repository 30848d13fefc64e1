/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * WS and VMIN at every tau asked for in one pass (the paper's section 6).
 *
 * Both look at one thing, the gap between two references to a page in reference time.
 * After a reference at t with the page's next one at t + gap, WS(tau) keeps the page
 * through t + tau - 1, and VMIN(tau) keeps it until then when gap <= tau and not at all
 * otherwise.  Either way the next reference faults exactly when gap > tau, after one
 * eviction in between.  So the taus, in rising order, behave like the sizes of a
 * stack policy's memory, a gap like a depth: with the taus numbered from 1, the
 * "depth" of a gap is the number of the first tau that is not below it, and the reference
 * faults at the numbers below its depth.  Hence lpl_curve knows faults and dirty
 * evictions; O(log taus) a reference.
 *
 * Space-time.  WS has the page in memory for min(gap, tau) reference times after t, VMIN
 * for gap or, when that is above tau, for the one of the reference itself.  A histogram
 * by depth of the gaps' number and of their sum gives either for all taus.  Within
 * a page_ref of several references no gap is above the smallest tau.
 *
 * The end, at the last reference's time `end`.  WS evicts a page last referenced at t if
 * t + tau <= end, that is if end - t + 1 > tau, and has it in memory for
 * min(end - t + 1, tau): as if the next reference followed with a gap of end - t + 1 and
 * did not count.  VMIN evicts every page right after its last reference.
 */
#include "base/array.h"
#include "base/try.h"
#include "curve.h"
#include "simulation.h"

#include <assert.h>
#include <stdlib.h>

struct ws {
	struct lpl_simulation simulation;
	struct lpl_curve curve;
	const struct lpl_sizes *sizes;	/* the taus */
	bool forward;			/* VMIN */
	uint64_t *last;			/* by page: its last reference */
	size_t last_room;
	uint32_t pages;
	uint64_t begin, end;		/* the first and the last reference's time */
	/* by depth, from 1 to taus + 1 */
	uint64_t *gaps, *gap_sum;
};

static const char *name_of(const struct ws *ws)
{
	return ws->forward ? "vmin" : "ws";
}

static enum lpl_error no_memory(const struct ws *ws, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory for %u distinct pages",
			name_of(ws), ws->pages);
}

/* The number of the first tau that is not below `gap`; taus + 1 when all are. */
static uint32_t depth_of(const struct ws *ws, uint64_t gap)
{
	const uint64_t *tau = ws->sizes->size;
	size_t below = 0;	/* so many taus are */
	size_t left = ws->sizes->count;

	while (left != 0) {
		size_t half = left / 2;

		if (tau[below + half] < gap) {
			below += half + 1;
			left -= half + 1;
		} else {
			left = half;
		}
	}
	return (uint32_t)below + 1;
}

/* A page stayed unreferenced for `gap`: false when its sum runs over. */
static bool add_gap(struct ws *ws, uint32_t depth, uint64_t gap)
{
	assert(depth >= 1 && depth <= ws->sizes->count + 1);
	ws->gaps[depth]++;
	return !__builtin_add_overflow(ws->gap_sum[depth], gap, &ws->gap_sum[depth]);
}

static enum lpl_error too_long(const struct ws *ws, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: the space-time is beyond 2^64",
			name_of(ws));
}

static enum lpl_error reference(struct ws *ws, const struct lpl_page_ref *ref,
				struct lpl_report *report)
{
	uint32_t depth = LPL_DEPTH_NONE;
	bool fits = true;

	assert(ref->first <= ref->last && ref->page <= ws->pages + 1);
	if (ref->page > ws->pages) {
		if (!lpl_reach(ws->last, ws->last_room, ref->page))
			return no_memory(ws, report);
		ws->pages++;
	} else {
		uint64_t gap = ref->first - ws->last[ref->page];

		assert(ref->first >= ws->last[ref->page]);	/* check_times() saw to that */
		depth = depth_of(ws, gap);
		fits = add_gap(ws, depth, gap);
	}
	ws->last[ref->page] = ref->last;
	fits = !__builtin_add_overflow(ws->gap_sum[1], ref->last - ref->first,
				       &ws->gap_sum[1]) && fits;
	if (!fits)
		return too_long(ws, report);
	return lpl_curve_reference(&ws->curve, ref->page, depth, ref->write != 0) ? LPL_OK :
		no_memory(ws, report);
}

static enum lpl_error ws_run(struct lpl_simulation *simulation, const struct lpl_page_ref *ref,
			     size_t count, struct lpl_report *report)
{
	struct ws *ws = (struct ws *)simulation;

	if (ws->pages == 0 && count != 0)
		ws->begin = ref[0].first;
	for (size_t i = 0; i < count; i++)
		LPL_TRY(reference(ws, &ref[i], report));
	if (count != 0)
		ws->end = ref[count - 1].last;
	return LPL_OK;
}

/* What happens to each page after its last reference. */
static enum lpl_error end_pages(struct ws *ws, struct lpl_report *report)
{
	uint32_t beyond = (uint32_t)ws->sizes->count + 1;

	for (uint32_t page = 1; page <= ws->pages; page++) {
		uint64_t gap = ws->end - ws->last[page] + 1;
		uint32_t depth = ws->forward ? beyond : depth_of(ws, gap);

		if (!add_gap(ws, depth, gap))
			return too_long(ws, report);
		if (!lpl_curve_end(&ws->curve, page, depth))
			return no_memory(ws, report);
	}
	return LPL_OK;
}

/* The results know the faults and dirty evictions; the rest is in the histograms. */
static bool complete(const struct ws *ws, struct lpl_result *result, size_t count)
{
	uint64_t longer = 0;	/* gaps above the tau in hand */
	uint64_t shorter = 0;	/* the others' sum */
	bool fits = true;

	for (size_t i = count; i-- > 0;) {
		longer += ws->gaps[i + 2];
		result[i].evictions = longer;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t each = ws->forward ? 1 : result[i].size;
		uint64_t cut;

		fits = !__builtin_add_overflow(shorter, ws->gap_sum[i + 1], &shorter) && fits;
		fits = !__builtin_mul_overflow(result[i].evictions, each, &cut) && fits;
		fits = !__builtin_add_overflow(shorter, cut, &result[i].space_time) && fits;
		result[i].timed = true;
		if (ws->pages != 0)
			result[i].mean_resident = (double)result[i].space_time /
				((double)(ws->end - ws->begin) + 1);
	}
	return fits;
}

/* The curve's results; their sizes are the taus' numbers.  NULL: no memory. */
static struct lpl_result *results_of(const struct ws *ws, size_t *count)
{
	struct lpl_sizes numbers = {.count = ws->sizes->count};
	struct lpl_result *result;

	numbers.size = calloc(numbers.count + 1, sizeof(*numbers.size));
	if (numbers.size == NULL)
		return NULL;
	for (size_t i = 0; i < numbers.count; i++)
		numbers.size[i] = i + 1;
	result = lpl_curve_results(&ws->curve, &numbers, count);
	free(numbers.size);
	return result;
}

static enum lpl_error ws_finish(struct lpl_simulation *simulation, struct lpl_report *report)
{
	struct ws *ws = (struct ws *)simulation;

	LPL_TRY(end_pages(ws, report));
	simulation->result = results_of(ws, &simulation->results);
	if (simulation->result == NULL)
		return no_memory(ws, report);
	for (size_t i = 0; i < simulation->results; i++)
		simulation->result[i].size = ws->sizes->size[i];
	return complete(ws, simulation->result, simulation->results) ? LPL_OK :
		too_long(ws, report);
}

static void ws_close(struct lpl_simulation *simulation)
{
	struct ws *ws = (struct ws *)simulation;

	lpl_curve_free(&ws->curve);
	free(simulation->result);
	free(ws->last);
	free(ws->gaps);
	free(ws->gap_sum);
	free(ws);
}

static struct lpl_simulation *new_ws(const struct lpl_sizes *taus, bool forward)
{
	struct ws *ws = calloc(1, sizeof(*ws));

	if (ws == NULL)
		return NULL;
	ws->simulation.run = ws_run;
	ws->simulation.finish = ws_finish;
	ws->simulation.close = ws_close;
	ws->sizes = taus;
	ws->forward = forward;
	lpl_curve_init(&ws->curve);
	ws->simulation.curve = &ws->curve;
	ws->gaps = calloc(taus->count + 2, sizeof(*ws->gaps));
	ws->gap_sum = calloc(taus->count + 2, sizeof(*ws->gap_sum));
	if (ws->gaps == NULL || ws->gap_sum == NULL) {
		ws_close(&ws->simulation);
		return NULL;
	}
	return &ws->simulation;
}

static struct lpl_simulation *new_backward(const struct lpl_sizes *sizes, uint32_t largest)
{
	(void)largest;
	return new_ws(sizes, false);
}

static struct lpl_simulation *new_forward(const struct lpl_sizes *sizes, uint32_t largest)
{
	(void)largest;
	return new_ws(sizes, true);
}

const struct lpl_one_pass_policy lpl_policy_ws = {"ws", LPL_EXACT_AS_WS, new_backward};
const struct lpl_one_pass_policy lpl_policy_vmin = {"vmin", LPL_EXACT_AS_WS, new_forward};
