/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options that several subcommands have, as argp children, and the parsing of their
 * arguments.
 */
#ifndef LAPLACE_CLI_OPTIONS_H
#define LAPLACE_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include <laplace/select.h>
#include <laplace/trace.h>

enum cli_when { CLI_AUTO, CLI_ALWAYS, CLI_NEVER };

/* --json; input: bool * */
extern const struct argp cli_json_argp;
/* --progress=auto|always|never; input: enum cli_when * */
extern const struct argp cli_progress_argp;
/* --overwrite; input: bool * */
extern const struct argp cli_overwrite_argp;

/*
 * --process, --children, --task, --user, --kernel, --type, --range; input: struct lpl_choice_options,
 * of zeros at first
 */
extern const struct argp cli_choice_argp;

/*
 * What is told of the references chosen of a trace: its own meta, what was chosen, and if it was
 * reduced, that the rest is exact for nothing.  To be freed.  Returns an exit status.
 */
int cli_choice_meta(struct lpl_meta **chosen, const struct lpl_meta *meta,
		    const struct lpl_choice_options *choice);

/* --jobs=N; input: unsigned int *, 0: one for each processor */
extern const struct argp cli_jobs_argp;
/* How many that is. */
unsigned int cli_jobs(unsigned int asked);

/* A decimal number from `least` on, or a usage error that ends the program. */
uint64_t cli_number(struct argp_state *state, const char *option,
		    const char *text, uint64_t least);

/* A hexadecimal address that is not 0, likewise. */
uint64_t cli_address(struct argp_state *state, const char *option, const char *text);

#endif
