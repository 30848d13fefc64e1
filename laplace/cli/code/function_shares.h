/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which functions have the faults of a result of a simulation, ranked. */
#ifndef LAPLACE_CLI_CODE_FUNCTION_SHARES_H
#define LAPLACE_CLI_CODE_FUNCTION_SHARES_H

#include <laplace/simulator.h>

#include "functions.h"

/* A function, and the faults that are its. */
struct function_share {
	const struct function *function;	/* NULL: all */
	uint64_t references, pages, faults,
		cold; /* cold: so many faults are first references to a page */
};

/*
 * Of result number `result` of policy number `index`: those that made a reference, `*count` of
 * them, in the order of their faults, and after them the sum.  To be freed; NULL: no memory.
 */
struct function_share *function_shares(const struct functions *functions,
				       const struct lpl_simulator *simulator, size_t index,
				       size_t result, size_t *count);

#endif
