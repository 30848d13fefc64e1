/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace sim -p cache:SPEC: what hardware caches hit and miss. */
#ifndef LAPLACE_CLI_SIM_CACHE_H
#define LAPLACE_CLI_SIM_CACHE_H

#include <laplace/select.h>
#include <laplace/trace.h>

#include "addresses.h"
#include "options.h"

struct cli_sim_cache {
	const char *path;
	struct lpl_reader *reader;		/* of it, of which nothing was read yet */
	const struct lpl_choice_options *choice;
	const struct cli_addressing *addressing;
	uint64_t page_size;			/* of the trace; 0: not known */
	bool json;
	enum cli_when progress;
};

/* Is one of the policies of this list a cache? */
bool cli_has_cache(const char *policies);
/* Simulate the list, which is cut at its commas, and print the results.  Returns an exit status. */
int cli_sim_caches(const struct cli_sim_cache *sim, char *policies);

#endif
