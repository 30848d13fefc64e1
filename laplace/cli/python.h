/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Subcommands that are written in Python (python/laplace): their options are read here, as everyone's
 * are, and handed on.
 */
#ifndef LAPLACE_CLI_PYTHON_H
#define LAPLACE_CLI_PYTHON_H

#include <argp.h>
#include <stddef.h>

#include "option_table.h"

/* What is handed on: "NAME=VALUE" each.  Zero-initialised; the first member of a table's struct. */
struct python_words {
	char **word;
	size_t count, room;
};

/* A usage error where there is no memory. */
void python_add(struct python_words *words, const char *name, const char *value,
		struct argp_state *state);
/* `bochs', which simulator runs, if there is one: what it is goes into what is made by it. */
void python_add_bochs(struct python_words *words);
/* The `take' of a table's CLI_EACH, by which all of it is handed on. */
cli_take python_take;
void python_free(struct python_words *words);

/*
 * Become laplace.NAME of the modules.  Returns only if that cannot be done: an exit status, and why
 * was said; the words are freed.
 */
int python_become(const char *name, struct python_words *words);

#endif
