/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An entry: a policy that was asked for, with its options, its sizes, its players, and
 * what it is exact for.
 */
#ifndef LAPLACE_SIM_ENTRY_H
#define LAPLACE_SIM_ENTRY_H

#include <laplace/reducer.h>

#include "player.h"

/* What a policy's exactness goes by (reducer.h). */
enum lpl_kind { LPL_KIND_LRU, LPL_KIND_OPT, LPL_KIND_TIMED, LPL_KIND_DEMAND };

struct lpl_entry {
	char *spec;			/* as it was asked for */
	enum lpl_kind kind;
	const struct lpl_policy *policy;	/* of demand paging; else NULL */
	size_t options;			/* that it has */
	uint64_t *option;		/* by place in them; NULL: it has none */
	struct lpl_sizes sizes;		/* own copy */
	bool chosen;			/* by us: results end where nothing more changes */
	struct lpl_player **player;	/* one, or of demand paging one a size */
	size_t players;
	struct lpl_result *result;	/* after the end */
	size_t results;
};

/*
 * `policy` NULL: `spec` begins with the name of one that comes with the library.
 * `sizes` NULL: choose; `memories` is how many more sizes of demand paging there may be.
 */
enum lpl_error lpl_entry_open(struct lpl_entry **entry, const char *spec,
			      const struct lpl_policy *policy, const struct lpl_sizes *sizes,
			      const struct lpl_exactness *exactness, size_t memories,
			      struct lpl_report *report);
void lpl_entry_close(struct lpl_entry *entry);	/* NULL is fine */

/* The smallest size that is exact; 0: none. */
uint64_t lpl_entry_exact_from(const struct lpl_entry *entry,
			      const struct lpl_exactness *exactness);

/* All players have finished: gather their results.  false: no memory. */
bool lpl_entry_gather(struct lpl_entry *entry, uint64_t references, uint64_t pages,
		      const struct lpl_exactness *exactness);

#endif
