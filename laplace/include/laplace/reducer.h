/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reducers: sinks that pass on fewer references than they get.
 *
 * A page's identity in a reducer is (space, address / page size); walks
 * (LPL_WALK_*) are pages of a space of their own.  What a reducer passes on is
 * page references: LPL_PAGED is set, the address is the page's first byte, the
 * length is 0; clocks, type, space and LPL_USER are those of the reference
 * kept, but for dirtiness: a reference that stands in for dropped writes is
 * turned into a write.  Events pass through in their place.
 */
#ifndef LAPLACE_REDUCER_H
#define LAPLACE_REDUCER_H

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A reduction is written SPEC: one method or several joined by '+', left to
 * right: `none`, `block`, `window:K`, `sad:K`, `window:64+sad:64`.
 * K is a number of pages, 1 to 2^24.
 */
struct lpl_reducer;

/*
 * Build the chain that SPEC names, delivering to `next` (not owned).  `none`
 * gives a stage that passes everything on untouched.  LPL_ERR_USAGE with the
 * list of methods for a bad SPEC, LPL_ERR_MEMORY.
 */
enum lpl_error lpl_reducer_open(struct lpl_reducer **reducer, const char *spec,
				struct lpl_sink *next, struct lpl_report *report);
/* Where to send the stream; owned by the reducer. */
struct lpl_sink *lpl_reducer_sink(struct lpl_reducer *reducer);
void lpl_reducer_close(struct lpl_reducer *reducer);	/* NULL is fine */

/*
 * The canonical form of SPEC after `before` ("none" for a fresh trace), for
 * LPL_META_REDUCTION, and what it is exact for, for LPL_META_EXACT ("all" or
 * "lru,opt from K pages").  Results are written to the buffers (LPL_SPEC_SIZE).
 */
#define LPL_SPEC_SIZE 256
enum lpl_error lpl_reducer_describe(const char *before, const char *spec,
				    char *reduction, char *exact,
				    struct lpl_report *report);

/*
 * The smallest memory, in pages, for which LRU and OPT are exact on a trace
 * reduced as `reduction` tells (LPL_META_REDUCTION; NULL counts as "none").
 * 1 for none and block.  0 when it is not known.
 */
uint64_t lpl_reduction_exact_from(const char *reduction);

#ifdef __cplusplus
}
#endif

#endif
