/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves in SVG, on log axes whose ends are given, so that curves in several pictures can
 * be compared.  gnuplot draws the picture of `laplace plot'; this is for pages that need nothing
 * else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "cli/say.h"
#include "curves.h"

#define WIDTH 460
#define HEIGHT 300

/* On a log axis nothing is 0: no fault at all stands where one fault would. */
static double faults_of(const struct point *point)
{
	return point->faults < 1 ? 1 : point->faults;
}

void curves_widen(struct curves_bounds *bounds, const struct curves *curves)
{
	for (size_t i = 0; i < curves->count; i++) {
		for (size_t j = 0; j < curves->curve[i].count; j++) {
			const struct point *point = &curves->curve[i].point[j];

			if (!bounds->set)
				*bounds = (struct curves_bounds){ true, point->pages,
								  point->pages, faults_of(point),
								  faults_of(point) };
			bounds->pages_low = fmin(bounds->pages_low, point->pages);
			bounds->pages_high = fmax(bounds->pages_high, point->pages);
			bounds->faults_low = fmin(bounds->faults_low, faults_of(point));
			bounds->faults_high = fmax(bounds->faults_high, faults_of(point));
		}
	}
}

/* The axes are the logarithms, from the power of `base` below the least one. */
struct axes {
	struct svg_field field;
	double x_low, y_low;
};

static double x_of(const struct axes *axes, double pages)
{
	return svg_x(&axes->field, log2(pages) - axes->x_low);
}

static double y_of(const struct axes *axes, double faults)
{
	return svg_y(&axes->field, log10(faults) - axes->y_low);
}

static void draw_axes(const struct axes *axes, FILE *out)
{
	const struct svg_field *field = &axes->field;
	double bottom = field->top + field->height, right = field->left + field->width;
	int step = (int)ceil(field->x_end / 8);
	char text[CLI_HUMAN_SIZE];

	for (int i = 0; i <= (int)field->x_end; i += step) {
		double x = svg_x(field, i);

		svg_line(out, x, field->top, x, bottom + 4, SVG_RULE, false);
		svg_text(out, x, bottom + 17, SVG_MIDDLE, SVG_GREY,
			 cli_human(text, (uint64_t)exp2(i + axes->x_low)));
	}
	for (int i = 0; i <= (int)field->y_end; i++) {
		double y = svg_y(field, i);

		svg_line(out, field->left - 4, y, right, y, SVG_RULE, false);
		svg_text(out, field->left - 8, y + 4, SVG_RIGHT, SVG_GREY,
			 cli_human(text, (uint64_t)pow(10, i + axes->y_low)));
	}
	svg_line(out, field->left, bottom, right, bottom, SVG_GREY, false);
	svg_text(out, field->left + field->width / 2, bottom + 34, SVG_MIDDLE, SVG_GREY,
		 "memory (pages)");
	svg_text(out, field->left, field->top - 10, SVG_LEFT, SVG_GREY, "faults");
}

static void draw_curve(const struct axes *axes, const struct curve *curve, const char *colour,
		       FILE *out)
{
	for (size_t i = 0; i < curve->count; i++) {
		double x = x_of(axes, curve->point[i].pages),
		       y = y_of(axes, faults_of(&curve->point[i]));

		if (i)
			svg_line(out, x_of(axes, curve->point[i - 1].pages),
				 y_of(axes, faults_of(&curve->point[i - 1])), x, y, colour, false);
		svg_rect(out, x - 2, y - 2, 4, 4, colour);
	}
}

void curves_svg(const struct curves *curves, const struct curves_bounds *bounds, const char *about,
		FILE *out)
{
	struct axes axes = { .field = { 60, 50, WIDTH - 80, HEIGHT - 95, 1, 1 } };
	double x = 60;

	axes.x_low = floor(log2(fmax(bounds->pages_low, 1)));
	axes.y_low = floor(log10(bounds->faults_low));
	axes.field.x_end = fmax(ceil(log2(bounds->pages_high)) - axes.x_low, 1);
	axes.field.y_end = fmax(ceil(log10(bounds->faults_high)) - axes.y_low, 1);
	svg_begin(out, WIDTH, HEIGHT, about);
	draw_axes(&axes, out);
	/* the first curve is drawn last: where they meet, it is the one seen */
	for (size_t i = curves->count; i-- > 0;)
		draw_curve(&axes, &curves->curve[i], chart_colour[i % CHART_COLOURS], out);
	for (size_t i = 0; i < curves->count && x < WIDTH; i++)
		x = svg_key(out, x, 20, chart_colour[i % CHART_COLOURS], curves->curve[i].name);
	svg_end(out);
}
