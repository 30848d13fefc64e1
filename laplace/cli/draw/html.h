/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One page of HTML that needs nothing else: pictures are SVG within it, there is no script, and nothing is
 * fetched.
 */
#ifndef LAPLACE_CLI_DRAW_HTML_H
#define LAPLACE_CLI_DRAW_HTML_H

#include <stdio.h>

/* Everything up to the title, which is also the first heading; and everything from the end on. */
void html_begin(FILE *out, const char *title);
void html_end(FILE *out);

/*
 * Text of a trace's header, of any length.  It is escaped twice: its bytes, and what HTML gives a meaning.
 * (Of names of the guest's the bytes were escaped when they were taken, and svg_escape() does the rest.)
 */
void html_escape(FILE *out, const char *text);

/* A number, large, and below it what it is; in an element of class "facts". */
__attribute__((format(printf, 3, 4)))
void html_fact(FILE *out, const char *name, const char *format, ...);

#endif
