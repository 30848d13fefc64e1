/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves in SVG, on logarithmic axes with given ends, so that curves in several pictures
 * can be compared: faults upwards, memory to the right, in pages and in bytes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curves.h"
#include "log_axis.h"
#include "series.h"
#include "svg.h"

#define FONT 14
#define LETTER (0.57 * FONT)	/* as wide as letters are, on average */
#define LEFT 70
#define RIGHT 26
#define BOTTOM 66
#define LINE 21			/* of the legend */
#define MOST_NAME 44		/* bytes of a name that it has room for */
#define APART 46		/* marks of a line, at least */

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

#define BESIDE SERIES	/* so many curves have their legend in the field; more, to the right of it */

struct frame {
	const struct curves_picture *picture;
	double left, top, width, height;	/* of the field */
	struct log_axis x, y;
};

static double x_of(const struct frame *frame, double pages)
{
	return frame->left + log_axis_place(&frame->x, pages) * frame->width;
}

static double y_of(const struct frame *frame, double faults)
{
	return frame->top + (1 - log_axis_place(&frame->y, faults)) * frame->height;
}

/* A little more than there is on all sides; one value alone stands in the middle. */
static struct log_axis make_axis(double low, double high, double edge)
{
	const double more = high > low ? pow(high / low, edge) : 1.5;

	return (struct log_axis){ low / more, high * more };
}

static void name_of(const struct curve *curve, char text[MOST_NAME + 4])
{
	size_t length = strlen(curve->name);

	if (length <= MOST_NAME) {
		snprintf(text, MOST_NAME + 4, "%s", curve->name);
		return;
	}
	/* not within a character */
	for (length = MOST_NAME; length > 0 && (curve->name[length] & 0xc0) == 0x80;)
		length--;
	snprintf(text, MOST_NAME + 4, "%.*s...", (int)length, curve->name);
}

/* What the legend takes, with a sample and a name in each line. */
static double legend_width(const struct curves *curves)
{
	size_t longest = 0;
	char text[MOST_NAME + 4];

	for (size_t i = 0; i < curves->count; i++) {
		name_of(&curves->curve[i], text);
		longest = strlen(text) > longest ? strlen(text) : longest;
	}
	return SERIES_SAMPLE + 26 + LETTER * (double)longest;
}

static struct frame make_frame(const struct curves_picture *picture, const struct curves *curves)
{
	struct curves_bounds bounds = picture->bounds;
	const double top = picture->title ? 66 : 38;
	const double beside = curves->count > BESIDE ? legend_width(curves) : 0;

	if (!bounds.set)
		curves_widen(&bounds, curves);
	return (struct frame){
		.picture = picture, .left = LEFT, .top = top,
		.width = picture->width - LEFT - RIGHT - beside, .height = picture->height - top - BOTTOM,
		.x = make_axis(bounds.pages_low, bounds.pages_high, 0.02),
		.y = make_axis(bounds.faults_low, bounds.faults_high, 0.03)
	};
}

/* ---- axes ---- */

static void draw_memory(const struct frame *frame, FILE *out)
{
	const double bottom = frame->top + frame->height;
	struct log_tick tick[LOG_TICKS];
	size_t count = log_axis_of_memory(&frame->x, (size_t)(frame->width / 52) + 1, tick);
	char text[LOG_LABEL];

	for (size_t i = 0; i < count; i++) {
		const double x = x_of(frame, tick[i].value);

		svg_line(out, x, frame->top, x, bottom, tick[i].labelled ? SVG_GRID : SVG_FINE,
			 false);
		svg_line(out, x, bottom, x, bottom + (tick[i].labelled ? 6 : 3), SVG_INK, false);
		if (!tick[i].labelled)
			continue;
		svg_text(out, x, bottom + 21, SVG_MIDDLE, SVG_INK,
			 log_axis_pages(text, tick[i].value));
		svg_text(out, x, bottom + 38, SVG_MIDDLE, SVG_GREY,
			 log_axis_bytes(text, tick[i].value * (double)frame->picture->page_size));
	}
	svg_text(out, 8, bottom + 21, SVG_LEFT, SVG_INK, "pages");
	svg_text(out, 8, bottom + 38, SVG_LEFT, SVG_GREY, "bytes");
	svg_text(out, frame->left + frame->width / 2, bottom + 58, SVG_MIDDLE, SVG_INK, "memory");
}

static void draw_faults(const struct frame *frame, FILE *out)
{
	struct log_tick tick[LOG_TICKS];
	size_t count = log_axis_of_faults(&frame->y, (size_t)(frame->height / 26) + 1, tick);
	char text[LOG_LABEL];

	for (size_t i = 0; i < count; i++) {
		const double y = y_of(frame, tick[i].value);

		svg_line(out, frame->left, y, frame->left + frame->width, y,
			 tick[i].labelled ? SVG_GRID : SVG_FINE, false);
		svg_line(out, frame->left - (tick[i].labelled ? 6 : 3), y, frame->left, y, SVG_INK,
			 false);
		if (tick[i].labelled)
			svg_text(out, frame->left - 10, y + 5, SVG_RIGHT, SVG_INK,
				 log_axis_count(text, tick[i].value));
	}
	svg_text(out, 8, frame->top - 14, SVG_LEFT, SVG_INK, "faults");
}

static void draw_box(const struct frame *frame, FILE *out)
{
	fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
		"stroke=\"%s\"/>\n", frame->left, frame->top, frame->width, frame->height, SVG_INK);
}

/* ---- curves ---- */

static bool is_near(double x, double y, double last_x, double last_y)
{
	return fabs(x - last_x) < 0.5 && fabs(y - last_y) < 0.5;
}

/* Of very many points, those that can be distinguished. */
static void draw_line(const struct frame *frame, const struct curve *curve, size_t i, FILE *out)
{
	double last_x = 0, last_y = 0;

	series_begin_path(out, i, 2.2);
	for (size_t j = 0; j < curve->count; j++) {
		const double x = x_of(frame, curve->point[j].pages);
		const double y = y_of(frame, faults_of(&curve->point[j]));

		if (j && j + 1 < curve->count && is_near(x, y, last_x, last_y))
			continue;
		fprintf(out, "%c%.1f %.1f", j ? 'L' : 'M', x, y);
		last_x = x;
		last_y = y;
	}
	series_end_path(out);
}

static void draw_marks(const struct frame *frame, const struct curve *curve, size_t i, FILE *out)
{
	struct marks marks = { .apart = APART };

	for (size_t j = 0; j < curve->count; j++) {
		const double x = x_of(frame, curve->point[j].pages);
		const double next = j + 1 < curve->count ? x_of(frame, curve->point[j + 1].pages) : HUGE_VAL;

		if (curves_mark(&marks, i, j, x, next))
			series_mark(out, i, x, y_of(frame, faults_of(&curve->point[j])));
	}
}

/* ---- the legend ---- */

struct legend {
	double x, y, width, height;
};

/* Does any curve come through it? */
static bool is_free(const struct frame *frame, const struct curves *curves,
		    const struct legend *legend)
{
	for (size_t i = 0; i < curves->count; i++) {
		const struct curve *curve = &curves->curve[i];

		for (size_t j = 0; j < curve->count; j++) {
			const struct point *to = &curve->point[j], *from = j ? to - 1 : to;
			const double x0 = x_of(frame, from->pages), x1 = x_of(frame, to->pages);
			const double y0 = y_of(frame, faults_of(from));
			const double y1 = y_of(frame, faults_of(to));

			for (int part = 0; part <= 16; part++) {
				const double x = x0 + (x1 - x0) * part / 16;
				const double y = y0 + (y1 - y0) * part / 16;

				if (x > legend->x - 6 && x < legend->x + legend->width + 6 &&
				    y > legend->y - 6 && y < legend->y + legend->height + 6)
					return false;
			}
		}
	}
	return true;
}

/* Curves fall: the upper right corner is free, else perhaps the lower left one.  Many are beside it. */
static struct legend place_legend(const struct frame *frame, const struct curves *curves)
{
	struct legend legend = { .width = legend_width(curves),
				 .height = LINE * (double)curves->count + 10 };

	if (curves->count > BESIDE) {
		legend.x = frame->left + frame->width + 12;
		legend.y = frame->top;
		return legend;
	}
	legend.x = frame->left + frame->width - legend.width - 10;
	legend.y = frame->top + 10;
	if (!is_free(frame, curves, &legend)) {
		const struct legend lower = { frame->left + 10, frame->top + frame->height -
					      legend.height - 10, legend.width, legend.height };

		if (is_free(frame, curves, &lower))
			return lower;
	}
	return legend;
}

static void draw_legend(const struct frame *frame, const struct curves *curves, FILE *out)
{
	const struct legend legend = place_legend(frame, curves);
	char text[MOST_NAME + 4];

	fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\" "
		"fill=\"#fff\" fill-opacity=\"0.88\" stroke=\"%s\"/>\n", legend.x, legend.y,
		legend.width, legend.height, SVG_GRID);
	for (size_t i = 0; i < curves->count; i++) {
		const double y = legend.y + 5 + LINE * ((double)i + 0.5);

		name_of(&curves->curve[i], text);
		series_sample(out, i, legend.x + 8, y, 2.2);
		svg_text(out, legend.x + SERIES_SAMPLE + 16, y + 5, SVG_LEFT, SVG_INK, text);
	}
}

void curves_svg(const struct curves *curves, const struct curves_picture *picture, FILE *out)
{
	const struct frame frame = make_frame(picture, curves);

	svg_begin(out, picture->width, picture->height, FONT, picture->about ? picture->about :
		  picture->title ? picture->title : "faults against memory");
	if (picture->title)
		svg_title(out, picture->width / 2, 28, picture->title);
	draw_memory(&frame, out);
	draw_faults(&frame, out);
	draw_box(&frame, out);
	/* the first curve is drawn last: where they meet, it is the one seen */
	for (size_t i = curves->count; i-- > 0;) {
		draw_line(&frame, &curves->curve[i], i, out);
		draw_marks(&frame, &curves->curve[i], i, out);
	}
	draw_legend(&frame, curves, out);
	svg_end(out);
}
