/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Colours, dashes and marks of lines; see series.h. */
#include "series.h"

#include <stdbool.h>

/* Okabe and Ito's, the yellow darker so that it is seen on white. */
static const struct {
	const char *colour, *dash;
	const char *mark;	/* around 0, 0; drawn as the outline of a shape */
	bool hollow;
} style[SERIES] = {
	{ "#0072b2", "", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", false },
	{ "#d55e00", "9 4", "M-3.6-3.6h7.2v7.2h-7.2z", false },
	{ "#009e73", "3 3", "M0-5L4.6 3.4H-4.6z", false },
	{ "#2b2b2b", "10 3 2 3", "M0-5L5 0L0 5L-5 0z", false },
	{ "#cc79a7", "6 2", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", true },
	{ "#e69f00", "14 4", "M-3.6-3.6h7.2v7.2h-7.2z", true },
	{ "#56b4e9", "2 2", "M0-5L4.6 3.4H-4.6z", true },
	{ "#8c7a00", "10 3 2 3 2 3", "M0-5L5 0L0 5L-5 0z", true }
};

/* Which has the dash and the mark: another one each time that the colours come again. */
static size_t shape_of(size_t i)
{
	return (i + 3 * (i / SERIES)) % SERIES;
}

const char *series_colour(size_t i)
{
	return style[i % SERIES].colour;
}

void series_begin_path(FILE *out, size_t i, double width)
{
	const char *dash = style[shape_of(i)].dash;

	fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" "
		"stroke-linejoin=\"round\"%s%s%s d=\"", series_colour(i), width,
		*dash ? " stroke-dasharray=\"" : "", dash, *dash ? "\"" : "");
}

void series_end_path(FILE *out)
{
	fputs("\"/>\n", out);
}

double series_offset(size_t i)
{
	static const double offset[SERIES] = { 0, 0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875 };

	return offset[i % SERIES];
}

void series_mark(FILE *out, size_t i, double x, double y)
{
	const bool hollow = style[shape_of(i)].hollow;

	/* a white edge, so that marks that meet stay marks */
	fprintf(out, "<path transform=\"translate(%.1f %.1f)\" d=\"%s\" fill=\"%s\" stroke=\"%s\" "
		"stroke-width=\"%s\"/>\n", x, y, style[shape_of(i)].mark,
		hollow ? "#fff" : series_colour(i), hollow ? series_colour(i) : "#fff",
		hollow ? "1.8" : "1");
}

void series_sample(FILE *out, size_t i, double x, double y, double width)
{
	series_begin_path(out, i, width);
	fprintf(out, "M%.1f %.1fh%d", x, y, SERIES_SAMPLE);
	series_end_path(out);
	series_mark(out, i, x + SERIES_SAMPLE / 2.0, y);
}
