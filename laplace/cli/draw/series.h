/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What distinguishes several lines in a picture: a colour (those that colour-blind
 * people can distinguish, no two of the first four equally light), and, as pictures are printed in
 * grey, a dash and a mark.
 */
#ifndef LAPLACE_CLI_DRAW_SERIES_H
#define LAPLACE_CLI_DRAW_SERIES_H

#include <stddef.h>
#include <stdio.h>

#define SERIES 8	/* colours; from there on they come again, each with another dash and mark */

/* Of the i-th line. */
const char *series_colour(size_t i);
/* A line through what `path` says ("M1 2L3 4"); `width` of its pen. */
void series_begin_path(FILE *out, size_t i, double width);
void series_end_path(FILE *out);
/* By what part of the distance between marks the first one is later than that of other lines. */
double series_offset(size_t i);
/* A mark around a point. */
void series_mark(FILE *out, size_t i, double x, double y);
/* A piece of the line with a mark, and its name; for legends. */
#define SERIES_SAMPLE 34
void series_sample(FILE *out, size_t i, double x, double y, double width);

#endif
