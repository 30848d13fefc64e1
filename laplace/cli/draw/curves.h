/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves, read from what `laplace sim` prints, and the ways to draw them.
 */
#ifndef LAPLACE_CLI_DRAW_CURVES_H
#define LAPLACE_CLI_DRAW_CURVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct point {
	double pages, faults;
};

/* One policy of one file; of one made by --by, of one process or task that ran, or of all. */
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
void curves_free(struct curves *curves);

/* The ends of axes; zero-initialised, and widened to hold all of some curves. */
struct curves_bounds {
	bool set;
	double pages_low, pages_high, faults_low, faults_high;
};
void curves_widen(struct curves_bounds *bounds, const struct curves *curves);

struct curves_picture {
	double width, height;		/* of an SVG */
	const char *title;		/* NULL: none */
	const char *about;		/* for screen readers; NULL: the title */
	uint64_t page_size;		/* in bytes, for the axis of bytes */
	struct curves_bounds bounds;	/* of an SVG's axes, if set */
};
#define CURVES_WIDTH 760	/* of a picture by itself */
#define CURVES_HEIGHT 500
void curves_svg(const struct curves *curves, const struct curves_picture *picture, FILE *out);
/* Draw with characters, as wide as a terminal is (terminal.h).  Returns an exit status. */
int curves_text(const struct curves *curves, const struct curves_picture *picture, FILE *out);

/* On a log axis nothing is 0: no fault at all stands where one fault would. */
static inline double faults_of(const struct point *point)
{
	return point->faults < 1 ? 1 : point->faults;
}

/*
 * Is the j-th point of the i-th curve, at x, marked, where the next one is at `next` (HUGE_VAL: there is
 * none)?  Those are that are far enough from the marked one before.  Where they are dense each curve begins
 * at another one, or the marks of curves that lie near one another would, too.
 */
struct marks {
	double apart, last;
};
bool curves_mark(struct marks *marks, size_t i, size_t j, double x, double next);

#endif
