/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The heat map: canonical pages upwards, in the order in which they were first referenced, or frames
 * by their addresses; time to the right; the darker, the more references, on a log scale.
 */
#include <inttypes.h>
#include <math.h>

#include "chart.h"
#include "cli/say.h"

static const char *what_is_up(const struct surveyed_trace *trace)
{
	return trace->by_frame ? "frames of physical memory, by address" :
				 "canonical pages in the order of their first reference";
}

/* ---- as SVG ---- */

#define SHADES 12
#define HEIGHT 384

/* Light to dark, the hues of a sequence that colour-blind people can distinguish. */
static const char *const shade[SHADES] = {
	"#f3fabf", "#e0f3b2", "#c6e9b4", "#a0dab8", "#76cabc", "#50bbc2",
	"#35a5c2", "#2389bb", "#2166ac", "#234a9f", "#20307f", "#0b1a52"
};

static unsigned int rows_used(const struct surveyed_trace *trace)
{
	unsigned int rows = LPL_SURVEY_ROWS;

	while (rows > 1) {
		uint64_t pages = 0;

		for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
			pages += trace->heatmap->pages[rows - 1][kind];
		if (pages)
			break;
		rows--;
	}
	return rows;
}

/* Which of so many shades. */
static int shade_of(uint64_t references, uint64_t most, int shades)
{
	double part = most > 1 ? log((double)references) / log((double)most) : 1;

	return (int)(part * (shades - 1) + 0.5);
}

/* One path a shade: cells of equal shade in a row are one stretch. */
static void draw_shade(const struct surveyed_trace *trace, const struct svg_field *field,
		       int wanted, uint64_t most, double row_height, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_survey_heatmap *map = trace->heatmap;
	unsigned int bins = survey->time->bins, rows = rows_used(trace);

	fprintf(out, "<path fill=\"%s\" shape-rendering=\"crispEdges\" d=\"", shade[wanted]);
	for (unsigned int row = 0; row < rows; row++) {
		double y = field->top + field->height - row_height * (row + 1);

		for (unsigned int bin = 0, from = 0; bin <= bins; bin++) {
			uint64_t references = bin < bins ? map->references[row][bin] : 0;

			if (references && shade_of(references, most, SHADES) == wanted)
				continue;
			if (from < bin) {
				const double x = chart_bin(trace, field, from);
				const double width = chart_bin(trace, field, bin) - x;

				fprintf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", x, y, width, row_height, width);
			}
			from = bin + 1;
		}
	}
	fputs("\"/>\n", out);
}

/* The kind of most of a row's pages, at its right. */
static void draw_kinds(const struct surveyed_trace *trace, const struct svg_field *field,
		       double row_height, FILE *out)
{
	for (unsigned int row = 0; row < rows_used(trace); row++) {
		int most = 0;

		for (int kind = 1; kind < LPL_PAGE_KINDS; kind++) {
			if (trace->heatmap->pages[row][kind] > trace->heatmap->pages[row][most])
				most = kind;
		}
		if (trace->heatmap->pages[row][most])
			svg_rect(out, field->left + field->width + 3,
				 field->top + field->height - row_height * (row + 1), 7,
				 row_height + 0.2, chart_kind_colour((enum lpl_page_kind)most));
	}
}

static void draw_keys(const struct lpl_survey *survey, const struct svg_field *field,
		      uint64_t most, FILE *out)
{
	double key = field->left;
	char text[CLI_HUMAN_SIZE];

	svg_text(out, key, 16, SVG_LEFT, SVG_GREY, "references: 1");
	key += 98;
	for (int i = 0; i < SHADES; i++, key += 14)
		svg_rect(out, key, 7, 14, 10, shade[i]);
	svg_text(out, key + 6, 16, SVG_LEFT, SVG_GREY, cli_human(text, most));
	key += 80;
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (survey->pages->ever[kind])
			key = svg_key(out, key, 16, chart_kind_colour((enum lpl_page_kind)kind),
				      lpl_page_kind_name((enum lpl_page_kind)kind));
	}
}

void chart_heatmap(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	unsigned int rows = rows_used(trace);
	struct svg_field field = {
		.left = 80, .top = 66, .width = CHART_WIDTH - 80 - 70, .height = HEIGHT,
		.x_end = chart_end_time(trace),
		.y_end = (double)((uint64_t)rows << trace->heatmap->row_shift)
	};
	uint64_t most = 1;

	for (unsigned int row = 0; row < rows; row++) {
		const uint64_t in_row = chart_most(trace->heatmap->references[row]);

		most = in_row > most ? in_row : most;
	}
	svg_begin(out, CHART_WIDTH, field.top + HEIGHT + 48, CHART_FONT, trace->by_frame ?
		  "references by frame and time" : "references by page and time");
	/* the lines first: cells that were not referenced are white */
	chart_time_axis(trace, &field, out);
	svg_page_axis(out, &field, 15, what_is_up(trace));
	for (int i = 0; i < SHADES; i++)
		draw_shade(trace, &field, i, most, HEIGHT / (double)rows, out);
	draw_kinds(trace, &field, HEIGHT / (double)rows, out);
	chart_marks(trace, &field, out);
	draw_keys(survey, &field, most, out);
	svg_end(out);
}

/* ---- with characters ---- */

#define MAP_ROWS 24
#define MAP_COLUMNS 80

void chart_heatmap_text(const struct surveyed_trace *trace, FILE *out)
{
	static const char level[] = ".:-=+*#%@";
	const struct lpl_survey *survey = trace->survey;
	uint64_t cell[MAP_ROWS][MAP_COLUMNS] = { { 0 } }, most = 1;
	unsigned int bins = survey->time->bins;

	for (unsigned int row = 0; row < LPL_SURVEY_ROWS; row++) {
		for (unsigned int bin = 0; bin < bins; bin++) {
			uint64_t *place = &cell[row * MAP_ROWS / LPL_SURVEY_ROWS]
					       [strip_column(bin, bins, MAP_COLUMNS)];

			*place += trace->heatmap->references[row][bin];
			if (*place > most)
				most = *place;
		}
	}
	fprintf(out, "%s upwards, a row is "
		"%.0f pages;\ntime to the right; from . to @ 1 to %" PRIu64 " references, on a log "
		"scale\n", what_is_up(trace), (double)LPL_SURVEY_ROWS / MAP_ROWS *
		(double)(UINT64_C(1) << trace->heatmap->row_shift), most);
	for (unsigned int row = MAP_ROWS; row-- > 0;) {
		fputs("  |", out);
		for (unsigned int i = 0; i < MAP_COLUMNS && i < bins; i++)
			fputc(cell[row][i] ? level[shade_of(cell[row][i], most, sizeof(level) - 1)] : ' ', out);
		fputs("|\n", out);
	}
}
