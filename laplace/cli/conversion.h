/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the subcommands cat, export and import have in common: formats by name, and what is
 * said of a conversion.
 */
#ifndef LAPLACE_CLI_CONVERSION_H
#define LAPLACE_CLI_CONVERSION_H

#include <stdbool.h>

#include <laplace/convert.h>
#include <laplace/select.h>

#include "option_table.h"

/* The format of this name, which is one of the option's words; else a usage error that lists those. */
const struct lpl_format *cli_format(struct argp_state *state, const struct cli_option *option,
				    const char *name);
#define CLI_NO_FORMAT "no format '%s': there are %c"

/* What each format that is written keeps of a reference.  Returns an exit status. */
int cli_format_table(bool json);

/* A warning of `path` for each line of `text` (lpl_losses_text(), lpl_importer_warnings()). */
void cli_warn(const char *path, char *text);

/*
 * Formats with a memory's hits and evictions are of a whole trace, and of the pages that it has; those with
 * instructions have the addresses that were used.  `converted`: its addresses are made others.  Complains;
 * returns an exit status.
 */
int cli_check_format(const struct lpl_format *format, const struct lpl_choice_options *choice,
		   bool converted, const char *path);

#endif
