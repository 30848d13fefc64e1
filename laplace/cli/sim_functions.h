/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which functions have a simulation's faults: `laplace sim --by function'. */
#ifndef LAPLACE_CLI_SIM_FUNCTIONS_H
#define LAPLACE_CLI_SIM_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include <laplace/simulator.h>
#include <laplace/trace.h>

#include "code/functions.h"
#include "option_table.h"
#include "pass.h"
#include "text_output.h"

/* --files, --symbols, --folded, for CLI_WITH() */
struct cli_functions_options {
	struct functions_options code;
	const char *folded;		/* NULL: not wanted */
	bool overwrite;			/* it */
};
extern const struct cli_option cli_functions_options[];

/* Was one of them given? */
bool cli_functions_asked(const struct cli_functions_options *options);

/*
 * Can it be known of the trace which instruction made a reference?  Complains; returns an exit
 * status.
 * `*by_events`: events say it (code/attribution.h).
 */
int cli_functions_check(const char *path, const struct lpl_meta *meta,
			const struct cli_trace_kind *kind, bool *by_events);

struct cli_functions;
/*
 * In front of a simulator, to which all policies have been added; `kind` with the pages that are
 * simulated.  Complains; returns an exit status.
 */
int cli_functions_open(struct cli_functions **functions,
		       const struct cli_functions_options *options,
		       struct lpl_simulator *simulator, const char *path,
		       const struct lpl_meta *meta, const struct cli_trace_kind *kind);
void cli_functions_close(struct cli_functions *functions);	/* NULL is fine */

/* What a pass sends to, and what it has in front (pass.h), with the functions as its context. */
struct lpl_sink *cli_functions_sink(const struct cli_functions *functions);
struct lpl_sink *cli_functions_front(struct cli_pass *pass, struct lpl_sink *next);

/* The line above all others. */
void cli_functions_heading(const struct cli_functions *functions);
/*
 * Result number `result` of policy number `index`, which is called `policy`: a line for each
 * function, those with the most faults first, and one for all together; or, with an object, a
 * member of it, which is an array of them.  false: no memory.
 */
bool cli_functions_add(const struct cli_functions *functions, size_t index, size_t result,
		       const char *policy, const char *addresses, json_t *object);
/* After the last of them: the file of --folded, and what was not found. Returns an exit status. */
int cli_functions_end(struct cli_functions *functions);

#endif
