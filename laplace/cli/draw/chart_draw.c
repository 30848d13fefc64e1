/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A chart in the format that is asked for; see chart.h. */
#include <string.h>

#include "chart.h"
#include "cli/say.h"
#include "png.h"

static void draw_svg(enum chart_kind kind, const struct surveyed_trace *trace, FILE *out)
{
	static void (*const draw[CHARTS])(const struct surveyed_trace *trace, FILE *out) = {
		chart_timeline, chart_footprint, chart_processes, chart_heatmap
	};

	draw[kind](trace, out);
}

static int draw_png(enum chart_kind kind, const struct surveyed_trace *trace, FILE *out)
{
	struct filter filter;
	int status = png_begin(&filter, out);

	if (status)
		return status;
	draw_svg(kind, trace, filter.in);
	return png_end(&filter);
}

int chart_draw(enum chart_kind kind, const struct surveyed_trace *trace, const char *format,
	       FILE *out)
{
	if (format && strcmp(format, "png") == 0)
		return draw_png(kind, trace, out);
	if (!format)
		chart_text(kind, trace, out);
	else if (strcmp(format, "csv") == 0)
		chart_csv(kind, trace, out);
	else
		draw_svg(kind, trace, out);
	return CLI_DONE;
}
