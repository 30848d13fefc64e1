/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trials of policies of demand paging against their oracles; for tests, which whatever fails ends. */
#ifndef LAPLACE_TESTS_DEMAND_TRIAL_H
#define LAPLACE_TESTS_DEMAND_TRIAL_H

#include <laplace/simulator.h>

#include "oracle.h"

struct demand_policy {
	const char *spec;
	uint64_t least;		/* size */
	struct counts (*oracle)(const struct trace *trace, uint64_t size);
};

/* Of the simulator's policy number `index`: is any of its results not the oracle's? */
bool demand_differs(const struct lpl_simulator *simulator, size_t index,
		    const struct demand_policy *policy, const struct trace *trace);

/* One policy by itself, on a stream that can be shrunk. */
struct demand_trial {
	const struct demand_policy *policy;
	const char *sizes;
	size_t batch;
};
bool demand_trial_differs(const struct stream *in, void *trial);

/* One simulator with all policies, at random sizes; what differs is tried again by itself, and shrunk. */
void demand_compare(const struct demand_policy *policies, size_t count, struct stream *in,
		    struct random *random, uint64_t seed, unsigned int number);

/* The faults and evictions of references to pages that are letters, a lower case one a write. */
void demand_expect(const char *policy, const char *pages, uint64_t size, uint64_t faults,
		   uint64_t evictions, uint64_t dirty_evictions);

#endif
