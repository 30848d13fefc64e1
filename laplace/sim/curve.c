/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fault curves of stack policies. */
#include "curve.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void lpl_curve_init(struct lpl_curve *curve)
{
	memset(curve, 0, sizeof(*curve));
	curve->deepest = 1;
}

void lpl_curve_free(struct lpl_curve *curve)
{
	free(curve->at_depth);
	free(curve->dirty_change);
	free(curve->clean_below);
	lpl_curve_init(curve);
}

bool lpl_curve_evicted(struct lpl_curve *curve, uint32_t page, uint32_t depth)
{
	uint32_t clean_below = curve->clean_below[page];

	if (clean_below >= depth)
		return true;
	if (!lpl_reach(curve->dirty_change, curve->dirty_change_room, depth))
		return false;
	curve->dirty_change[clean_below]++;
	curve->dirty_change[depth]--;
	return true;
}

static bool first_reference(struct lpl_curve *curve, uint32_t page, bool write)
{
	assert(page == curve->pages + 1);	/* numbered by first reference */
	if (!lpl_reach(curve->clean_below, curve->clean_below_room, page))
		return false;
	curve->clean_below[page] = write ? 1 : LPL_DEPTH_NONE;
	curve->pages++;
	return true;
}

bool lpl_curve_reference_slow(struct lpl_curve *curve, uint32_t page, uint32_t depth, bool write)
{
	if (curve->shares != NULL)
		lpl_shares_count(curve->shares, depth);
	if (depth == LPL_DEPTH_NONE)
		return first_reference(curve, page, write);
	if (!lpl_reach(curve->at_depth, curve->at_depth_room, depth))
		return false;
	curve->at_depth[depth]++;
	/* of depth 1 no fault is to be charged; what is deeper shall come here again */
	if (depth > curve->deepest && curve->shares == NULL)
		curve->deepest = depth;
	if (!lpl_curve_evicted(curve, page, depth))
		return false;
	if (write)
		curve->clean_below[page] = 1;
	else if (depth > curve->clean_below[page])
		curve->clean_below[page] = depth;
	return true;
}

bool lpl_curve_end(struct lpl_curve *curve, uint32_t page, uint32_t depth)
{
	return lpl_curve_evicted(curve, page, depth);
}

struct lpl_result *lpl_curve_results(const struct lpl_curve *curve,
				     const struct lpl_sizes *sizes, size_t *count)
{
	size_t wanted = sizes->all ? curve->deepest : sizes->count;
	struct lpl_result *results = calloc(wanted != 0 ? wanted : 1, sizeof(*results));
	uint64_t faults = curve->pages;	/* at the size walked to below */
	uint64_t dirty = 0;
	size_t size = 0;

	if (results == NULL)
		return NULL;
	for (size_t d = 1; d < curve->at_depth_room; d++)
		faults += curve->at_depth[d];
	for (size_t i = 0; i < wanted; i++) {
		struct lpl_result *result = &results[i];

		result->size = sizes->all ? i + 1 : sizes->size[i];
		while (size < result->size && (size + 1 < curve->at_depth_room ||
					       size + 1 < curve->dirty_change_room)) {
			size++;
			assert(size >= curve->at_depth_room || faults >= curve->at_depth[size]);
			if (size < curve->at_depth_room)
				faults -= curve->at_depth[size];
			if (size < curve->dirty_change_room)
				dirty += curve->dirty_change[size];
		}
		result->faults = faults;
		result->evictions = faults > result->size ? faults - result->size : 0;
		result->dirty_evictions = dirty;
	}
	*count = wanted;
	return results;
}
