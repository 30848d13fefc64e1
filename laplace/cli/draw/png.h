/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A picture as PNG: rsvg-convert makes it of SVG, which is written to `filter.in`. */
#ifndef LAPLACE_CLI_DRAW_PNG_H
#define LAPLACE_CLI_DRAW_PNG_H

#include <stdio.h>

#include "cli/filter.h"

/* At twice the size, so that it is sharp.  Complains; returns an exit status. */
int png_begin(struct filter *filter, FILE *out);
int png_end(struct filter *filter);

#endif
