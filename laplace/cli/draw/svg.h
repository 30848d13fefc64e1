/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drawing in SVG: what the charts need of it, and no more.  Colours and fonts are set on
 * each element, so that a chart is the same in a file of its own and within a page.
 */
#ifndef LAPLACE_CLI_DRAW_SVG_H
#define LAPLACE_CLI_DRAW_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum svg_anchor { SVG_LEFT, SVG_MIDDLE, SVG_RIGHT };

#define SVG_INK "#222"
#define SVG_GREY "#595959"
#define SVG_GRID "#cfcfcf"	/* lines at numbers, ... */
#define SVG_FINE "#ececec"	/* ... and between them */

/* `font` is the height of its letters; `about` is for screen readers. */
void svg_begin(FILE *out, double width, double height, int font, const char *about);
void svg_end(FILE *out);
void svg_text(FILE *out, double x, double y, enum svg_anchor anchor, const char *colour,
	      const char *text);
/* Around x, larger than the rest. */
void svg_title(FILE *out, double x, double y, const char *text);
void svg_rect(FILE *out, double x, double y, double width, double height, const char *colour);
void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *colour,
	      bool dashed);
/* A coloured square and its meaning; returns where the next may be. */
double svg_key(FILE *out, double x, double y, const char *colour, const char *text);

/* Text with what XML gives a meaning written otherwise. */
void svg_escape(FILE *out, const char *text);

/* The field of a chart: where it is, and what its ends stand for. */
struct svg_field {
	double left, top, width, height;
	double x_end, y_end;		/* their beginnings are 0 */
};
static inline double svg_x(const struct svg_field *field, double value)
{
	return field->left + value / field->x_end * field->width;
}
static inline double svg_y(const struct svg_field *field, double value)
{
	return field->top + field->height - value / field->y_end * field->height;
}

/* Lines and numbers at round values. */
void svg_x_axis(FILE *out, const struct svg_field *field, const char *label);
void svg_y_axis(FILE *out, const struct svg_field *field, const char *label);
/* The same of pages, with their bytes at the right, `margin` from the field. */
void svg_page_axis(FILE *out, const struct svg_field *field, double margin, const char *label);

#endif
