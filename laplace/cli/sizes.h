/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of memory, as -s takes them: of which trace they are in bytes and in percent. */
#ifndef LAPLACE_CLI_SIZES_H
#define LAPLACE_CLI_SIZES_H

#include <laplace/select.h>
#include <laplace/simulator.h>
#include <laplace/trace.h>

#include "addresses.h"
#include "options.h"

/* What will be simulated, so that its pages can be counted. */
struct cli_sizes_of {
	const char *path;
	const struct lpl_reader *reader;	/* of it, of which nothing was read yet */
	uint64_t page_size;		/* of a page of memory, in bytes; 0: what the trace says is none */
	const struct lpl_choice_options *choice;
	const struct cli_addressing *addressing;
	unsigned int jobs;
	enum cli_when progress;
	/* What is wrong however many pages there are is said before they are counted. */
	int (*check)(const struct lpl_sizes *sizes, void *context);
	void *context;
};

/* Complains; returns an exit status.  Percentages take a pass of their own over the trace. */
int cli_sizes_parse(struct lpl_sizes *sizes, const char *spec, const struct cli_sizes_of *of);

#endif
