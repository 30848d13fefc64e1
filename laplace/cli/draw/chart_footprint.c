/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The footprint: pages that were referenced and are alive, by kind, one above the other, first
 * those of programs and files, which the kernel's and those of boot would dwarf, then all.  And
 * by process, where pages that several have used are in each, so that they cannot be put
 * above one another.
 */
#include <inttypes.h>
#include <string.h>

#include "chart.h"

#define HEIGHT 240
#define LEGEND_COLUMNS 4	/* of processes, in two rows */
#define PANEL (HEIGHT + 92)	/* with its label and its axis */

/* Upwards: what programs have, then the rest. */
static const enum lpl_page_kind layers[] = {
	LPL_PAGE_FILE, LPL_PAGE_ANONYMOUS, LPL_PAGE_SHM, LPL_PAGE_SPECIAL,
	LPL_PAGE_KERNEL, LPL_PAGE_PHYSICAL, LPL_PAGE_UNRESOLVED
};
#define PROGRAMS 4
#define LAYERS 7

static struct svg_field make_field(const struct surveyed_trace *trace, double top, uint64_t most)
{
	return (struct svg_field){
		.left = 70, .top = top, .width = CHART_WIDTH - 70 - 62, .height = HEIGHT,
		.x_end = chart_end_time(trace), .y_end = most > 0 ? (double)most * 1.04 : 1
	};
}

/* Of the lowest layers. */
static uint64_t height_of(const struct lpl_survey *survey, unsigned int bin, int count)
{
	uint64_t sum = 0;

	for (int i = 0; i < count; i++)
		sum += lpl_time_series_get(&survey->pages->alive_by_bin[layers[i]], bin);
	return sum;
}

/* A value holds over its whole bin. */
static void draw_layer(const struct surveyed_trace *trace, const struct svg_field *field,
		       int layer, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	unsigned int bins = survey->time->bins;

	/* a white edge, so that layers are apart in grey, too */
	fprintf(out, "<path fill=\"%s\" stroke=\"#fff\" stroke-width=\"0.7\" d=\"M",
		chart_kind_colour(layers[layer]));
	for (unsigned int bin = 0; bin < bins; bin++) {
		double y = svg_y(field, (double)height_of(survey, bin, layer + 1));

		fprintf(out, "%.1f %.1f %.1f %.1f ", chart_bin(trace, field, bin), y,
			chart_bin(trace, field, bin + 1), y);
	}
	for (unsigned int bin = bins; bin-- > 0;) {
		double y = svg_y(field, (double)height_of(survey, bin, layer));

		fprintf(out, "%.1f %.1f %.1f %.1f ", chart_bin(trace, field, bin + 1), y,
			chart_bin(trace, field, bin), y);
	}
	fputs("z\"/>\n", out);
}

/* The lowest layers in a field of their own. */
static void draw_layers(const struct surveyed_trace *trace, const struct svg_field *field,
			int count, const char *label, FILE *out)
{
	svg_rect(out, field->left, field->top, field->width, field->height, "#fcfcfc");
	for (int i = 0; i < count; i++) {
		if (trace->survey->pages->ever[layers[i]])
			draw_layer(trace, field, i, out);
	}
	chart_time_axis(trace, field, out);
	svg_page_axis(out, field, 8, label);
	chart_marks(trace, field, out);
}

static void draw_working_set(const struct surveyed_trace *trace, const struct svg_field *field,
			     FILE *out)
{
	uint64_t pages[LPL_SURVEY_BINS];

	chart_values(&trace->survey->pages->working_set, pages);
	fputs("<path fill=\"none\" stroke=\"#000\" stroke-width=\"1.6\" "
	      "stroke-linejoin=\"round\" d=\"", out);
	chart_steps(trace, field, pages, false, out);
	fputs("\"/>\n", out);
}

void chart_footprint(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t most = 0, most_all = 0;
	struct svg_field programs, all;
	double key;

	for (unsigned int bin = 0; bin < survey->time->bins; bin++) {
		uint64_t of_programs = height_of(survey, bin, PROGRAMS);
		uint64_t of_all = height_of(survey, bin, LAYERS);
		uint64_t set = lpl_time_series_get(&survey->pages->working_set, bin);

		most = of_programs > most ? of_programs : most;
		most_all = of_all > most_all ? of_all : most_all;
		most_all = set > most_all ? set : most_all;
	}
	programs = make_field(trace, 62, most);
	all = make_field(trace, 62 + PANEL, most_all);
	svg_begin(out, CHART_WIDTH, all.top + HEIGHT + 48, CHART_FONT, "pages alive by kind over time");
	draw_layers(trace, &programs, PROGRAMS, "pages of programs and files",
		    out);
	draw_layers(trace, &all, LAYERS, "all pages, and the working set", out);
	draw_working_set(trace, &all, out);
	key = programs.left;
	for (int i = 0; i < LAYERS; i++) {
		if (survey->pages->ever[layers[i]])
			key = svg_key(out, key, 16, chart_kind_colour(layers[i]),
				      lpl_page_kind_name(layers[i]));
	}
	svg_key(out, key, 16, "#000", "working set: distinct pages in a bin");
	svg_end(out);
}

static void draw_process(const struct surveyed_trace *trace, const struct svg_field *field,
			 const struct lpl_survey_process *process, size_t i, FILE *out)
{
	uint64_t pages[LPL_SURVEY_BINS];
	bool marked = false;

	chart_values(&process->alive_by_bin, pages);
	series_begin_path(out, i, 2);
	chart_steps(trace, field, pages, true, out);
	series_end_path(out);
	/* at its beginning, and then apart from those of other lines */
	for (unsigned int bin = 0; bin < trace->survey->time->bins; bin++) {
		if (pages[bin] && (!marked || bin % 32 == (unsigned int)(series_offset(i) * 32)))
			series_mark(out, i, chart_bin(trace, field, bin),
				    svg_y(field, (double)pages[bin]));
		marked |= pages[bin] != 0;
	}
}

void chart_processes(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey_process *shown[SERIES];
	struct svg_field field;
	uint64_t most = 0;
	size_t count = 0;
	double key = 0;
	char text[64];

	for (uint64_t i = 0; i < trace->processes && count < SERIES; i++) {
		if (trace->process[i]->number == 0)
			continue;	/* it dwarfs all others */
		shown[count++] = trace->process[i];
		if (trace->process[i]->most_alive > most)
			most = trace->process[i]->most_alive;
	}
	field = make_field(trace, 78, most);
	svg_begin(out, CHART_WIDTH, field.top + HEIGHT + 48, CHART_FONT, "pages of the largest programs");
	chart_time_axis(trace, &field, out);
	svg_page_axis(out, &field, 8, "pages alive that each program referenced, without the kernel's");
	chart_marks(trace, &field, out);
	key = field.left;
	for (size_t i = 0; i < count; i++) {
		draw_process(trace, &field, shown[i], i, out);
		snprintf(text, sizeof(text), "%.15s (%" PRIu32 ")", shown[i]->name, shown[i]->tgid);
		if (i == LEGEND_COLUMNS)
			key = field.left;
		series_sample(out, i, key, i < LEGEND_COLUMNS ? 12 : 32, 2);
		svg_text(out, key + SERIES_SAMPLE + 6, i < LEGEND_COLUMNS ? 16 : 36, SVG_LEFT, SVG_INK,
			 text);
		key += (CHART_WIDTH - field.left) / LEGEND_COLUMNS;
	}
	svg_end(out);
}
