/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves of stack policies: every size of memory from one pass.
 *
 * Given the depth of each reference (depth.h), a curve knows faults, evictions and
 * dirty evictions at all sizes.
 *
 * Dirty evictions.  At size s a page is dirty when it was written at or after its
 * last fetch, that is, when since its last write (that one not counted) it
 * was never fetched: s >= M, with M the largest depth among its references after
 * its last write, 1 when there is none, and infinite when it was never written.
 * A reference at depth d means that at every s < d the page was evicted, once,
 * since its reference before; nothing was referenced of it in between, so M has
 * not changed: at s in [M, d) it was a dirty eviction.  At the end of the trace
 * the same holds with the page's final place for d.  So a page costs one number,
 * and a reference two additions to a histogram of differences.
 */
#ifndef LAPLACE_SIM_CURVE_H
#define LAPLACE_SIM_CURVE_H

#include <assert.h>

#include <laplace/simulator.h>

#include "depth.h"
#include "shares.h"

struct lpl_curve {
	uint64_t *at_depth;		/* [d]: references at depth d */
	uint64_t *dirty_change;		/* [s]: dirty evictions at size s less those at
					 * s - 1 (wraps) */
	size_t at_depth_room, dirty_change_room;
	uint32_t *clean_below;		/* by page: M; LPL_DEPTH_NONE: infinite */
	size_t clean_below_room;
	uint64_t pages;
	uint32_t deepest;		/* with a reference at it; at least 1 */
	struct lpl_shares *shares;	/* NULL, or set before any reference: where its faults are
					 * charged.  `deepest` is always 1 then, so there are no
					 * results of all sizes */
};

void lpl_curve_init(struct lpl_curve *curve);
void lpl_curve_free(struct lpl_curve *curve);

/*
 * A reference that is a first one, or for which an array has to grow or M to change; and each one
 * with a fault that is to be charged: so nothing is asked where faults are not charged.
 */
bool lpl_curve_reference_slow(struct lpl_curve *curve, uint32_t page, uint32_t depth, bool write);

/* All: false when there is no memory. */
static inline bool lpl_curve_reference(struct lpl_curve *curve, uint32_t page, uint32_t depth,
				       bool write)
{
	assert(page >= 1 && depth >= 1);
	if (depth >= curve->at_depth_room || depth > curve->deepest ||
	    curve->clean_below[page] < depth)
		return lpl_curve_reference_slow(curve, page, depth, write);
	curve->at_depth[depth]++;
	if (write)
		curve->clean_below[page] = 1;
	return true;
}
/* The page was evicted once at each size below `depth`, by a reference that is counted elsewhere. */
bool lpl_curve_evicted(struct lpl_curve *curve, uint32_t page, uint32_t depth);
/* Once for each page, at the end: its place in the final order. */
bool lpl_curve_end(struct lpl_curve *curve, uint32_t page, uint32_t depth);

/*
 * The faults and dirty evictions at `sizes`, and the evictions of a memory of that many
 * pages.  The array is the caller's to free; NULL: no memory.
 */
struct lpl_result *lpl_curve_results(const struct lpl_curve *curve,
				     const struct lpl_sizes *sizes, size_t *count);

#endif
