/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves, read from what `laplace sim` prints, and the ways to draw them.
 */
#ifndef LAPLACE_CLI_DRAW_CURVES_H
#define LAPLACE_CLI_DRAW_CURVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct point {
	double pages, faults;
};

/* One policy of one file; of one made by --by, of one of those who ran, or of all. */
struct curve {
	char *name;
	struct point *point;
	size_t count, room;	/* points; places for them */
};

struct curves {
	struct curve *curve;
	size_t count, room;
};

/* Add the curves in a CSV of `laplace sim`.  Complains; returns an exit status. */
int curves_read(struct curves *curves, const char *path, bool several_files);
/* Add a point to the curve of that name.  false: no memory. */
bool curves_add(struct curves *curves, const char *name, struct point point);
void curves_free(struct curves *curves);

/* Draw with characters, for a terminal of 80 columns. */
void curves_text(const struct curves *curves, const char *title, FILE *out);

/* The ends of axes; zero-initialised, and widened to hold all of some curves. */
struct curves_bounds {
	bool set;
	double pages_low, pages_high, faults_low, faults_high;
};
void curves_widen(struct curves_bounds *bounds, const struct curves *curves);
/* Draw as SVG, half as wide as a page, between these ends; `about` is for who cannot see it. */
void curves_svg(const struct curves *curves, const struct curves_bounds *bounds, const char *about,
		FILE *out);

/* Have gnuplot draw to `out`; terminal is "png" or "svg".  Returns an exit status. */
int curves_gnuplot(const struct curves *curves, const char *title, const char *terminal,
		   FILE *out);

#endif
