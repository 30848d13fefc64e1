/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A report as one page of HTML. */
#include <inttypes.h>

#include <laplace/trace.h>

#include "cli/draw/html.h"
#include "cli/draw/svg.h"
#include "cli/say.h"
#include "report.h"

/* ---- parts ---- */

static void put_facts(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t all = survey->references->all, before = trace->references_made;
	uint64_t second = trace->kind.cycles_a_second;
	uint64_t cycles = survey->time->last.cycle - survey->time->first.cycle;
	char text[CLI_HUMAN_SIZE];

	fputs("<div class=\"facts\">\n", out);
	if (second)
		html_fact(out, "of the guest's time", "%.3f s", (double)cycles / (double)second);
	if (second)
		html_fact(out, "after power-on the recording began", "%.3f s",
			 (double)survey->time->first.cycle / (double)second);
	html_fact(out, "instructions", "%s", cli_human(text, survey->time->last.instr -
						      survey->time->first.instr));
	html_fact(out, "references made", "%s", before ? cli_human(text, before) : "not known");
	html_fact(out, "references kept", "%s", cli_human(text, all));
	if (before)
		html_fact(out, "of the references kept", "%.3g %%", 100 * share_of(all, before));
	html_fact(out, "in user mode", "%.1f %%", 100 * share_of(survey->references->user, all));
	html_fact(out, "bytes of trace", "%s", cli_human(text, trace->bytes));
	html_fact(out, "tasks", "%" PRIu64, survey->merge->tasks);
	html_fact(out, "addresses", "%s", report_addresses(trace));
	html_fact(out, "switches", "%" PRIu64, survey->tasks->switches);
	html_fact(out, "events", "%" PRIu64, survey->events->counts.all);
	html_fact(out, "pages alive at most", "%" PRIu64, survey->pages->most_alive);
	html_fact(out, "pages with 90 % of the references", "%" PRIu64,
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
		html_escape(out, value);
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
	html_begin(out, title);
	put_meta(trace, out);
	put_facts(trace, out);
	fputs("<ul class=\"notes\">\n", out);
	put_note(out, "docs/report.md of Laplace says what each number means.");
	report_notes(trace, put_note, out);
	fputs("</ul>\n", out);
	report_parts(trace, TABLE_HTML, out);
	html_end(out);
	return CLI_DONE;
}
