/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drawing in SVG; see svg.h.
 */
#include <math.h>
#include <string.h>

#include "svg.h"

void svg_escape(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else
			fputc((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text, out);
	}
}

void svg_begin(FILE *out, double width, double height, const char *about)
{
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" role=\"img\" font-family=\"DejaVu Sans, Helvetica, "
		"Arial, sans-serif\" font-size=\"12\"><title>", width, height, width, height);
	svg_escape(out, about);
	fputs("</title>\n", out);
	svg_rect(out, 0, 0, width, height, "#fff");
}

void svg_end(FILE *out)
{
	fputs("</svg>\n", out);
}

void svg_text(FILE *out, double x, double y, enum svg_anchor anchor, const char *colour,
	      const char *text)
{
	static const char *const name[] = { "start", "middle", "end" };

	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y,
		name[anchor], colour);
	svg_escape(out, text);
	fputs("</text>\n", out);
}

void svg_rect(FILE *out, double x, double y, double width, double height, const char *colour)
{
	fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
		x, y, width, height, colour);
}

void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *colour,
	      bool dashed)
{
	fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"%s/>\n",
		x1, y1, x2, y2, colour, dashed ? " stroke-dasharray=\"3 3\"" : "");
}

double svg_key(FILE *out, double x, double y, const char *colour, const char *text)
{
	svg_rect(out, x, y - 9, 10, 10, colour);
	svg_text(out, x + 14, y, SVG_LEFT, SVG_INK, text);
	return x + 14 + 6.9 * (double)strlen(text) + 14;
}

/* The round distance at which there are some `count` lines up to `end`. */
static double round_step(double end, int count)
{
	double least = end / count, power = pow(10, floor(log10(least)));

	return least <= power ? power : least <= 2 * power ? 2 * power :
	       least <= 5 * power ? 5 * power : 10 * power;
}

/* "0", "0.5", "20 M"; steps are round, so that few digits tell all. */
static void tick_text(char *text, size_t size, double value, double step)
{
	static const char unit[] = " kMGTPE";
	int i = 0;

	while (value >= 1000 && unit[i + 1]) {
		value /= 1000;
		step /= 1000;
		i++;
	}
	snprintf(text, size, "%.*f%s%.1s", step < 0.1 ? 2 : step < 1 ? 1 : 0, value, i ? " " : "",
		 i ? &unit[i] : "");
}

void svg_x_axis(FILE *out, const struct svg_field *field, const char *label)
{
	double bottom = field->top + field->height;
	double step = round_step(field->x_end, 10);
	char text[32];

	for (int i = 0; i * step <= field->x_end * 1.0001; i++) {
		double x = svg_x(field, i * step);

		svg_line(out, x, field->top, x, bottom + 4, SVG_RULE, false);
		tick_text(text, sizeof(text), i * step, step);
		svg_text(out, x, bottom + 17, SVG_MIDDLE, SVG_GREY, text);
	}
	svg_line(out, field->left, bottom, field->left + field->width, bottom, SVG_GREY, false);
	svg_text(out, field->left + field->width / 2, bottom + 34, SVG_MIDDLE, SVG_GREY, label);
}

void svg_y_axis(FILE *out, const struct svg_field *field, const char *label)
{
	double step = round_step(field->y_end, 6);
	char text[32];

	for (int i = 0; i * step <= field->y_end * 1.0001; i++) {
		double y = svg_y(field, i * step);

		svg_line(out, field->left - 4, y, field->left + field->width, y, SVG_RULE, false);
		tick_text(text, sizeof(text), i * step, step);
		svg_text(out, field->left - 8, y + 4, SVG_RIGHT, SVG_GREY, text);
	}
	svg_text(out, field->left, field->top - 20, SVG_LEFT, SVG_GREY, label);
}
