/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The worst evictions, and the best candidate of each. */
#ifndef LAPLACE_TESTS_REGRET_WORST_H
#define LAPLACE_TESTS_REGRET_WORST_H

#include "regret-pages.h"

#define WORST 200	/* so many: `laplace regret --top` */

/* The text as JSON has it, after the rest of a name; NULL: nothing. */
void print_text(const char *of, const char *name, const char *text);
/* As `laplace regret --json` has them, a line for each value. */
void print_worst(const struct books *b);

#endif
