/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a picture made of characters may use, where it goes to. */
#ifndef LAPLACE_CLI_DRAW_TERMINAL_H
#define LAPLACE_CLI_DRAW_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

struct terminal {
	int columns, rows;
	bool is_terminal;
	bool has_utf8;		/* by the locale */
	bool has_colours;	/* a terminal has, unless $NO_COLOR is set or $TERM is dumb */
};

/*
 * As large as $COLUMNS says, or the terminal; 80 by 24 of what is none.  So what goes into a file
 * depends on that variable and on the locale alone.
 */
struct terminal terminal_of(FILE *out);

#endif
