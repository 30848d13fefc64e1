/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drawing in SVG; see svg.h.
 */
#include <math.h>
#include <string.h>

#include "cli/say.h"
#include "log_axis.h"
#include "svg.h"

#define SVG_PAGE 4096	/* bytes of a page */

void svg_escape(FILE *out, const char *text)
{
	for (; *text; text++) {
		const size_t bytes = cli_shown_bytes(text);

		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else if (bytes > 0)
			fwrite(text, 1, bytes, out);
		else	/* a control character, or no UTF-8, with which it would be no XML */
			fputc((unsigned char)*text < 0x80 ? ' ' : '?', out);
		text += bytes > 1 ? bytes - 1 : 0;
	}
}

void svg_begin(FILE *out, double width, double height, int font, const char *about)
{
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" role=\"img\" font-family=\"DejaVu Sans, Helvetica, "
		"Arial, sans-serif\" font-size=\"%d\"><title>", width, height, width, height, font);
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

void svg_title(FILE *out, double x, double y, const char *text)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"" SVG_INK "\" "
		"font-size=\"18\" font-weight=\"bold\">", x, y);
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
	svg_rect(out, x, y - 10, 11, 11, colour);
	svg_text(out, x + 16, y, SVG_LEFT, SVG_INK, text);
	return x + 16 + 7.6 * (double)strlen(text) + 14;
}

/* "0", "0.5", "20 M"; steps are round, so that few digits are enough. */
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
	double step = axis_step(field->x_end, 9);
	char text[32];

	for (int i = 0; i * step <= field->x_end * 1.0001; i++) {
		double x = svg_x(field, i * step);

		svg_line(out, x, field->top, x, bottom + 4, SVG_GRID, false);
		tick_text(text, sizeof(text), i * step, step);
		svg_text(out, x, bottom + 19, SVG_MIDDLE, SVG_INK, text);
	}
	svg_line(out, field->left, bottom, field->left + field->width, bottom, SVG_GREY, false);
	svg_text(out, field->left + field->width / 2, bottom + 38, SVG_MIDDLE, SVG_INK, label);
}

void svg_y_axis(FILE *out, const struct svg_field *field, const char *label)
{
	double step = axis_step(field->y_end, 6);
	char text[32];

	for (int i = 0; i * step <= field->y_end * 1.0001; i++) {
		double y = svg_y(field, i * step);

		svg_line(out, field->left - 4, y, field->left + field->width, y, SVG_GRID, false);
		tick_text(text, sizeof(text), i * step, step);
		svg_text(out, field->left - 8, y + 4, SVG_RIGHT, SVG_INK, text);
	}
	svg_text(out, field->left, field->top - 22, SVG_LEFT, SVG_INK, label);
}

void svg_page_axis(FILE *out, const struct svg_field *field, double margin, const char *label)
{
	const double right = field->left + field->width;
	/* round in bytes, too */
	const double step = fmax(exp2(ceil(log2(field->y_end / 7))), 1);
	char text[LOG_LABEL];

	for (int i = 0; i * step <= field->y_end * 1.0001; i++) {
		const double y = svg_y(field, i * step);

		svg_line(out, field->left - 4, y, right, y, SVG_GRID, false);
		svg_text(out, field->left - 8, y + 4, SVG_RIGHT, SVG_INK,
			 log_axis_pages(text, i * step));
		svg_text(out, right + margin, y + 4, SVG_LEFT, SVG_GREY,
			 log_axis_bytes(text, i * step * SVG_PAGE));
	}
	svg_text(out, field->left, field->top - 22, SVG_LEFT, SVG_INK, label);
	svg_text(out, right + margin, field->top - 22, SVG_LEFT, SVG_GREY, "bytes");
}
