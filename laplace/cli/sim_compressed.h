/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compressed caching: `laplace sim -p cc:CODEC'. */
#ifndef LAPLACE_CLI_SIM_COMPRESSED_H
#define LAPLACE_CLI_SIM_COMPRESSED_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/select.h>

#include "options.h"

struct cli_compressed {
	char *policies;			/* cc[:CODEC],...; cut at its commas */
	const char *sizes;		/* of the first level; NULL: the images' K */
	const char *pool;		/* in bytes; NULL: as many as the first level has */
	uint32_t huge;			/* bytes from which a page stays as it is; 0: none */
	const struct lpl_choice_options *choice;
	const char *trace;
	unsigned int jobs;
	bool json;
	enum cli_when progress;
};

/* Are these policies, or one of them, compressed caching? */
bool cli_is_compressed(const char *policies);
/* Simulate and print.  Returns an exit status. */
int cli_sim_compressed(const struct cli_compressed *options);

#endif
