/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request: a policy as it was asked for, with its options and its sizes; the simulations
 * that this takes; and its results, and which of them are exact.
 */
#ifndef LAPLACE_SIM_REQUEST_H
#define LAPLACE_SIM_REQUEST_H

#include <laplace/reducer.h>

#include "simulation.h"

struct lpl_request {
	char *spec;			/* as it was asked for */
	enum lpl_exact_as exact_as;
	const struct lpl_one_pass_policy *one_pass;	/* or NULL, and then */
	const struct lpl_policy *policy;		/* demand paging */
	size_t options;			/* that it has */
	uint64_t *option;		/* by place in them; NULL: it has none */
	struct lpl_sizes sizes;		/* own copy */
	bool chosen;			/* by us: results end where nothing more changes */
	struct lpl_simulation **simulation;	/* one, or of demand paging one a size */
	size_t simulations;
	struct lpl_result *result;	/* after the end */
	size_t results;
};

/*
 * `policy` NULL: `spec` begins with the name of one that comes with the library.
 * `sizes` NULL: choose; `memories` is how many more sizes of demand paging there may be.
 */
enum lpl_error lpl_request_open(struct lpl_request **request, const char *spec,
				const struct lpl_policy *policy, const struct lpl_sizes *sizes,
				const struct lpl_exactness *exactness, size_t memories,
				struct lpl_report *report);
/*
 * Before the first reference: charge faults to owners.  LPL_ERR_USAGE: of all sizes, which are not
 * known yet; LPL_ERR_MEMORY.
 */
enum lpl_error lpl_request_share(struct lpl_request *request, struct lpl_report *report);
/* The faults of an owner; `result` is below request->results. */
uint64_t lpl_request_charged(const struct lpl_request *request, size_t result, uint32_t owner);
void lpl_request_close(struct lpl_request *request);	/* NULL is fine */

/* The smallest size that is exact; 0: none. */
uint64_t lpl_request_exact_from(const struct lpl_request *request,
				const struct lpl_exactness *exactness);

/* All simulations have finished: gather their results.  false: no memory. */
bool lpl_request_gather(struct lpl_request *request, uint64_t references, uint64_t pages,
			const struct lpl_exactness *exactness);

#endif
