/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simulators: sinks that count the faults a replacement policy would take.
 *
 * A first reference to a page is a fault.  A page is (space, address / 4096);
 * in a canonical trace every space is 0.  A page is dirty from its first write
 * after it was fetched until it is evicted; at the end of the trace nothing is
 * evicted.
 */
#ifndef LAPLACE_SIMULATOR_H
#define LAPLACE_SIMULATOR_H

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sizes of memory, in pages.  SPEC: a list `16,64,256`, ranges `16:4096:*2`
 * (times) and `16:256:16` (plus), or `all`.  Sorted, without duplicates.
 */
struct lpl_sizes {
	bool all;
	uint64_t *size;		/* owned; NULL with all */
	size_t count;
};
enum lpl_error lpl_sizes_parse(struct lpl_sizes *sizes, const char *spec,
			       struct lpl_report *report);
void lpl_sizes_free(struct lpl_sizes *sizes);

struct lpl_result {
	uint64_t size;
	uint64_t references;	/* simulated: after reduction */
	uint64_t faults, evictions, dirty_evictions;
};

struct lpl_simulator;

/*
 * POLICY: `lru` or `opt`, both of which give every size in one pass.  LRU
 * needs memory O(distinct pages); OPT keeps the page sequence (4 bytes a
 * reference) and runs at finish().
 */
enum lpl_error lpl_simulator_open(struct lpl_simulator **simulator,
				  const char *policy, const struct lpl_sizes *sizes,
				  struct lpl_report *report);
struct lpl_sink *lpl_simulator_sink(struct lpl_simulator *simulator);
/*
 * After finish(): the results by rising size; with `all`, sizes from 1 up to
 * the first at which only first references fault.  Owned by the simulator.
 */
const struct lpl_result *lpl_simulator_results(const struct lpl_simulator *simulator,
					       size_t *count);
uint64_t lpl_simulator_pages(const struct lpl_simulator *simulator); /* distinct */
void lpl_simulator_close(struct lpl_simulator *simulator);	/* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
