/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report as one page of HTML that needs nothing else: pictures are SVG within it, there is
 * no script, and nothing is fetched.  Text of the guest's is escaped twice: its bytes when it was
 * taken, and here what HTML gives a meaning.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include <laplace/trace.h>

#include "cli/draw/svg.h"
#include "cli/say.h"
#include "report.h"

static const char style[] =
	"body{font:15px/1.5 system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;color:#222;"
	"background:#fff;max-width:980px;margin:2em auto;padding:0 1em}"
	"h1{font-size:1.6em;margin:0 0 .2em}h2{font-size:1.2em;margin:2em 0 .4em;"
	"border-bottom:2px solid #0072b2;padding-bottom:.15em}"
	"p{max-width:62em;margin:.4em 0}.dim{color:#666}"
	"svg{max-width:100%;height:auto;display:block;margin:.6em 0}"
	".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:.6em;"
	"margin:1em 0}.facts div{background:#f4f7fa;border-radius:6px;padding:.5em .8em}"
	".facts b{display:block;font-size:1.25em;font-variant-numeric:tabular-nums}"
	".facts span{color:#555;font-size:.85em}"
	".notes{background:#fff7e0;border-left:4px solid #e69f00;padding:.5em 1em .5em 2em;"
	"margin:1em 0}"
	".notes li{margin:.2em 0}.wide{overflow-x:auto}"
	"table{border-collapse:collapse;font-size:.88em;margin:.6em 0;width:100%;"
	"font-variant-numeric:tabular-nums}"
	"th{text-align:right;color:#555;font-weight:600;border-bottom:1px solid #bbb;"
	"padding:.2em .5em;vertical-align:bottom}"
	"td{text-align:right;padding:.15em .5em;border-bottom:1px solid #eee}"
	"th:first-child,td:first-child,.t{text-align:left!important}"
	"td.t{word-break:break-all}@media print{body{margin:0}h2{break-after:avoid}}";

/* Text of the guest's or of the trace's header, of any length. */
static void put_escaped(FILE *out, const char *text)
{
	char byte[5];

	for (; *text; text++)
		svg_escape(out, lpl_text_escape(byte, sizeof(byte), text, 1));
}

/* ---- parts ---- */

__attribute__((format(printf, 3, 4)))
static void put_fact(FILE *out, const char *name, const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fputs("<div><b>", out);
	svg_escape(out, text);
	fprintf(out, "</b><span>%s</span></div>\n", name);
}

static void put_facts(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t all = survey->references->all, before = trace->references_made;
	uint64_t second = trace->kind.cycles_a_second;
	uint64_t cycles = survey->time->last.cycle - survey->time->first.cycle;
	char text[CLI_HUMAN_SIZE];

	fputs("<div class=\"facts\">\n", out);
	if (second)
		put_fact(out, "of the guest's time", "%.3f s", (double)cycles / (double)second);
	if (second)
		put_fact(out, "after power-on the recording began", "%.3f s",
			 (double)survey->time->first.cycle / (double)second);
	put_fact(out, "instructions", "%s", cli_human(text, survey->time->last.instr -
						      survey->time->first.instr));
	put_fact(out, "references made", "%s", before ? cli_human(text, before) : "not known");
	put_fact(out, "references kept", "%s", cli_human(text, all));
	if (before)
		put_fact(out, "of the references kept", "%.3g %%", 100 * share_of(all, before));
	put_fact(out, "in user mode", "%.1f %%", 100 * share_of(survey->references->user, all));
	put_fact(out, "bytes of trace", "%s", cli_human(text, trace->bytes));
	put_fact(out, "tasks", "%" PRIu64, survey->merge->tasks);
	put_fact(out, "addresses", "%s", report_addresses(trace));
	put_fact(out, "switches", "%" PRIu64, survey->tasks->switches);
	put_fact(out, "events", "%" PRIu64, survey->events->counts.all);
	put_fact(out, "pages alive at most", "%" PRIu64, survey->pages->most_alive);
	put_fact(out, "pages with 90 % of the references", "%" PRIu64,
		 lpl_survey_concentration(survey, 0.9));
	fputs("</div>\n", out);
}

static void put_meta(const struct surveyed_trace *trace, FILE *out)
{
	static const char *const keys[] = {
		LPL_META_GUEST, LPL_META_WORKLOAD, LPL_META_PRODUCER, LPL_META_REDUCTION,
		LPL_META_EXACT, LPL_META_SCHEDULE
	};
	bool any = false;

	fputs("<p class=\"dim\">", out);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = lpl_meta_get(trace->meta, keys[i]);

		if (!value)
			continue;
		fprintf(out, "%s%s: ", any ? " &middot; " : "", keys[i]);
		put_escaped(out, value);
		any = true;
	}
	fputs("</p>\n", out);
}

static void put_note(void *context, const char *text)
{
	fputs("<li>", context);
	svg_escape(context, text);
	fputs("</li>\n", context);
}

int report_html(const struct surveyed_trace *trace, FILE *out)
{
	const char *title = lpl_meta_get(trace->meta, LPL_META_TITLE);

	if (!title)
		title = trace->path;
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>", out);
	put_escaped(out, title);
	fprintf(out, "</title>\n<style>%s</style></head><body>\n<h1>", style);
	put_escaped(out, title);
	fputs("</h1>\n", out);
	put_meta(trace, out);
	put_facts(trace, out);
	fputs("<ul class=\"notes\">\n", out);
	put_note(out, "docs/report.md of Laplace says what each number means.");
	report_notes(trace, put_note, out);
	fputs("</ul>\n", out);
	report_parts(trace, TABLE_HTML, out);
	fputs("</body></html>\n", out);
	return CLI_DONE;
}
