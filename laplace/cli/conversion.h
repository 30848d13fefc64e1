/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the subcommands cat, export and import have in common: formats by name, and what is
 * said of a conversion.
 */
#ifndef LAPLACE_CLI_CONVERSION_H
#define LAPLACE_CLI_CONVERSION_H

#include <argp.h>

#include <laplace/convert.h>

/*
 * The format of this name, which has none of the traits `without`; else a usage error that
 * lists those there are.
 */
const struct lpl_format *cli_format(struct argp_state *state, const char *name,
				    unsigned int without);

/* An option's help, which argp frees: the names of such formats, then `text`. */
char *cli_format_help(const char *text, unsigned int without);

/* A warning of `path` for each line of `text` (lpl_losses_text(), lpl_importer_warnings()). */
void cli_warn(const char *path, char *text);

#endif
