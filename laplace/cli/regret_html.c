/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What laplace regret shows as a page of HTML, with pictures. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draw/chart.h"
#include "draw/html.h"
#include "draw/series.h"
#include "regret_output.h"
#include "report/table.h"
#include "say.h"

/* ---- numbers ---- */

static void put_facts(const struct lpl_regret_results *results, FILE *out)
{
	const struct lpl_regret_counts *all = &results->all;

	fputs("<div class=\"facts\">\n", out);
	html_fact(out, "evicted pages", "%" PRIu64, all->evicted);
	html_fact(out, "pages that could be evicted, at most", "%" PRIu64, results->most_resident);
	html_fact(out, "used again", "%.1f %%", 100 * share_of(all->outcome[LPL_REGRET_USED], all->evicted));
	html_fact(out, "regrettable: another page would have been better", "%.1f %%",
		  100 * share_of(all->better, all->evicted));
	html_fact(out, "read back", "%" PRIu64, all->returned);
	html_fact(out, "that OPT reads", "%" PRIu64, all->optimal);
	html_fact(out, "of what was read back could be avoided", "%.1f %%",
		  100 * share_of(all->returned - all->optimal, all->returned));
	html_fact(out, "brought in", "%" PRIu64, all->brought);
	html_fact(out, "evicted before they were used", "%" PRIu64, all->unused);
	html_fact(out, "written out for an eviction", "%" PRIu64, all->written);
	for (unsigned int i = 0; i < LPL_REGRET_RECLAIMERS; i++)
		if (results->by_reclaimer[i].evicted)
			html_fact(out, "evicted, by the reclaimer", "%s %" PRIu64, lpl_regret_reclaimer_name(i),
				  results->by_reclaimer[i].evicted);
	fputs("</div>\n", out);
}

static void put_notes(const struct regret_shown *shown, FILE *out)
{
	const struct lpl_regret_results *results = shown->results;

	fputs("<ul class=\"notes\">\n<li>docs/reclaim.md of Laplace says what each number means.</li>\n", out);
	if (shown->is_damaged)
		fputs("<li>The trace is damaged or incomplete; this is what comes before.</li>\n", out);
	if (results->all.outcome[LPL_REGRET_CUT])
		fprintf(out, "<li>Of %" PRIu64 " evicted pages it is not known whether they were used again.</li>\n",
			results->all.outcome[LPL_REGRET_CUT]);
	if (results->unknown || results->dropped || results->odd)
		fprintf(out, "<li>Not counted are %" PRIu64 " pages that no event identifies, %" PRIu64
			" without contents, and %" PRIu64 " odd events.</li>\n", results->unknown, results->dropped,
			results->odd);
	fputs("</ul>\n", out);
}

/* ---- pictures ---- */

#define LINES 3

static uint64_t line_value(unsigned int line, const struct lpl_regret_counts *bin)
{
	return line == 0 ? bin->evicted : line == 1 ? bin->returned : bin->optimal;
}

static void draw_times(const struct regret_shown *shown, FILE *out)
{
	static const char *const name[LINES] = { "evicted", "read back", "what OPT reads" };
	const struct lpl_regret_results *results = shown->results;
	const double unit = shown->cycles_a_second ? 1 / (double)shown->cycles_a_second : 1;
	const double width = (double)(UINT64_C(1) << results->bin_shift) * unit;
	struct svg_field field = { .left = 80, .top = 70, .width = CHART_WIDTH - 110, .height = 240,
				   .x_end = results->bins * width, .y_end = 1 };

	if (!results->bins)
		return;
	for (unsigned int i = 0; i < results->bins; i++)
		for (unsigned int line = 0; line < LINES; line++)
			if ((double)line_value(line, &results->bin[i]) > field.y_end)
				field.y_end = (double)line_value(line, &results->bin[i]);
	svg_begin(out, CHART_WIDTH, field.top + field.height + 50, CHART_FONT,
		  "Pages evicted, read back, and read by an optimal replacement, over time");
	svg_x_axis(out, &field, shown->cycles_a_second ? "seconds of the guest's time since the recording began" :
		   "cycles since the recording began");
	svg_y_axis(out, &field, "pages");
	for (unsigned int line = 0; line < LINES; line++) {
		series_sample(out, line, field.left + 180 * line, 20, 1.6);
		svg_text(out, field.left + 180 * line + SERIES_SAMPLE + 6, 24, SVG_LEFT, SVG_INK, name[line]);
		series_begin_path(out, line, 1.6);
		for (unsigned int i = 0; i < results->bins; i++) {
			const double y = svg_y(&field, (double)line_value(line, &results->bin[i]));

			fprintf(out, "%c%.1f %.1fL%.1f %.1f", i ? 'L' : 'M', svg_x(&field, i * width), y,
				svg_x(&field, (i + 1) * width), y);
		}
		series_end_path(out);
	}
	svg_end(out);
}

#define BAR 22	/* from one to the next */

static void draw_bars(const char *title, const struct regret_bars *bars, FILE *out)
{
	const double left = 110, width = CHART_WIDTH - 220;
	char text[32];

	if (!bars->count)
		return;
	fprintf(out, "<h2>%s</h2>\n", title);
	svg_begin(out, CHART_WIDTH, bars->count * BAR + 10, CHART_FONT, title);
	for (unsigned int i = 0; i < bars->count; i++) {
		const double length = (double)bars->bar[i].value / (double)bars->most * width;

		svg_text(out, left - 8, (i + 1) * BAR - 4, SVG_RIGHT, SVG_INK, bars->bar[i].name);
		svg_rect(out, left, i * BAR + 5, length, BAR - 5, series_colour(0));
		snprintf(text, sizeof(text), "%" PRIu64, bars->bar[i].value);
		svg_text(out, left + length + 6, (i + 1) * BAR - 4, SVG_LEFT, SVG_GREY, text);
	}
	svg_end(out);
}

/* ---- tables ---- */

#define COUNTS(counts) HTML("evicted", cell_number((counts)->evicted)), \
	HTML("used again", cell_number((counts)->outcome[LPL_REGRET_USED])), \
	HTML("written", cell_number((counts)->written)), HTML("read back", cell_number((counts)->returned)), \
	HTML("OPT reads", cell_number((counts)->optimal))

static void put_file(struct table *table, const struct lpl_regret_file *file)
{
	char number[64];

	snprintf(number, sizeof(number), "inode %" PRIx64 " on device %" PRIx64, file->inode, file->device);
	TABLE_ROW(table, HTML(" file", cell_text(file->name && *file->name ? file->name : number)),
		  COUNTS(&file->counts));
}

static void put_process(struct table *table, const struct lpl_regret_process *process)
{
	TABLE_ROW(table, HTML(" process", cell_text(regret_process_name(process))),
		  HTML("tgid", cell_if(process->number, cell_id(process->tgid))), COUNTS(&process->counts),
		  HTML("reclaimed", cell_number(process->reclaimed)), HTML("missed", cell_number(process->missed)));
}

static bool put_files(const struct regret_shown *shown, FILE *out)
{
	static const struct lpl_regret_file none;
	struct table table = { .form = TABLE_HTML, .out = out };
	size_t count, i;
	const struct lpl_regret_file **file = regret_files(shown->results, &count);

	if (!file)
		return false;
	fputs("<h2>Files</h2>\n", out);
	table_begin(&table);
	put_file(&table, &none);
	for (i = 0; i < count && i < shown->top; i++)
		put_file(&table, file[i]);
	table_end(&table, count - i);
	free((void *)file);
	return true;
}

static bool put_processes(const struct regret_shown *shown, FILE *out)
{
	static const struct lpl_regret_process none;
	struct table table = { .form = TABLE_HTML, .out = out };
	size_t count, i;
	const struct lpl_regret_process **process = regret_processes(shown->results, &count);

	if (!process)
		return false;
	fputs("<h2>Processes: their anonymous pages, what they reclaimed, and what they missed</h2>\n", out);
	table_begin(&table);
	put_process(&table, &none);
	for (i = 0; i < count && i < shown->top; i++)
		put_process(&table, process[i]);
	table_end(&table, count - i);
	free((void *)process);
	return true;
}

/* As the text has them. */
static bool put_worst(const struct regret_shown *shown, FILE *out)
{
	char *text = NULL;
	size_t length;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return false;
	for (size_t i = 0; i < shown->results->worsts; i++)
		regret_story(shown, i, memory);
	if (fclose(memory) != 0) {
		free(text);
		return false;
	}
	if (length) {
		fputs("<h2>The worst</h2>\n<div class=\"wide\"><pre>", out);
		for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			svg_escape(out, line);
			fputc('\n', out);
		}
		fputs("</pre></div>\n", out);
	}
	free(text);
	return true;
}

int regret_html(const struct regret_shown *shown, FILE *out)
{
	struct regret_bars bars;
	bool is_whole;

	html_begin(out, shown->title);
	put_facts(shown->results, out);
	put_notes(shown, out);
	fputs("<h2>Over time</h2>\n", out);
	draw_times(shown, out);
	fputs("<p class=\"dim\">What was read back stands where it was evicted, and what OPT reads where it is used.</p>\n",
	      out);
	regret_ranks(&bars, shown->results);
	draw_bars("How many of the pages that could be evicted would have been better", &bars, out);
	regret_distances(&bars, shown->results);
	draw_bars("References from an eviction to the next use", &bars, out);
	is_whole = put_files(shown, out) && put_processes(shown, out) && put_worst(shown, out);
	html_end(out);
	return is_whole ? CLI_DONE : cli_complain(CLI_FAILED, "no memory for tables");
}
