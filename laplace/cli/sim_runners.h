/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processes or tasks have a simulation's faults: `laplace sim --by' and `--frames'. */
#ifndef LAPLACE_CLI_SIM_RUNNERS_H
#define LAPLACE_CLI_SIM_RUNNERS_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include <laplace/select.h>
#include <laplace/simulator.h>

/* What `process' and `task' mean; false: it is neither. */
bool cli_runner_unit(const char *name, enum lpl_runner_unit *unit);

/* The processes or tasks that ran, and what has their faults: */
struct cli_runners {
	const struct lpl_runners *runners;
	const struct lpl_simulator *simulator;	/* a memory for all, which charges its faults to them; or */
	const struct lpl_local *local;	/* a memory for each, which was kept; else NULL */
	bool has_frames;		/* and these are of different sizes */
	const char *by;			/* "process", "task" */
	const char *addresses;		/* "virtual", "canonical" */
};

/* The line above all others. */
void cli_runners_heading(const struct cli_runners *runners);

/*
 * Result number `result` of policy number `index`, which is called `policy`: a line for each that
 * ran, those with the most faults first, and one for all together; or, with an object, a member
 * of it, which is an array of them.  false: no memory.
 */
bool cli_runners_add(const struct cli_runners *runners, size_t index, size_t result,
		      const char *policy, json_t *object);

#endif
