/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options of a guest that runs a program of this machine, for each subcommand that has one run: they are handed
 * on to guest-program/run, and so have no place in a struct (CLI_EACH).
 */
#ifndef LAPLACE_CLI_GUEST_OPTIONS_H
#define LAPLACE_CLI_GUEST_OPTIONS_H

#include "option_table.h"

/* A row of a number. */
#define CLI_GUEST_LIMITED(name, from, to, ...) \
	{ name, CLI_NUMBER, __VA_ARGS__, .least = from, .most = to, \
	  .wrong = "%n: '%s' is not a number from %l to %m" }

extern const struct cli_option cli_guest_options[];

#define CLI_GUEST_NUMBER 24

/*
 * The value as it is handed on (NULL: of a flag), that of a number without zeros before it, in `number'.  A usage
 * error where it is wrong.
 */
const char *cli_guest_value(struct argp_state *state, const struct cli_option *option, const char *value,
			    char number[CLI_GUEST_NUMBER]);

#endif
