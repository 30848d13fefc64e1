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

#include "cli/draw/chart.h"
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

/* ---- tables ---- */

static void heading(FILE *out, const char *text)
{
	fprintf(out, "<h2>%s</h2>\n", text);
}

/* Names of columns, ended by NULL; one that begins with a blank is of text. */
static void begin_table(FILE *out, ...)
{
	const char *name;
	va_list names;

	fputs("<div class=\"wide\"><table><tr>", out);
	va_start(names, out);
	while ((name = va_arg(names, const char *)))
		fprintf(out, name[0] == ' ' ? "<th class=\"t\">%s</th>" : "<th>%s</th>",
			name + (name[0] == ' '));
	va_end(names);
	fputs("</tr>\n", out);
}

static void end_table(FILE *out)
{
	fputs("</table></div>\n", out);
}

static void put_text(FILE *out, const char *text)
{
	fputs("<td class=\"t\">", out);
	svg_escape(out, text);
	fputs("</td>", out);
}

static void put_number(FILE *out, uint64_t number)
{
	char digits[24];
	size_t length;

	/* thousands apart, by narrow blanks */
	length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number);
	fputs("<td>", out);
	for (size_t i = 0; i < length; i++)
		fprintf(out, "%s%c", i && (length - i) % 3 == 0 ? "&#8239;" : "", digits[i]);
	fputs("</td>", out);
}

static void put_share(FILE *out, uint64_t part, uint64_t whole)
{
	fprintf(out, "<td>%.1f&#8239;%%</td>", 100 * share_of(part, whole));
}

static void end_row(FILE *out)
{
	fputs("</tr>\n", out);
}

static void put_more(FILE *out, uint64_t all, uint64_t shown)
{
	if (all > shown)
		fprintf(out, "<p class=\"dim\">%" PRIu64 " more; --top shows more of them.</p>\n",
			all - shown);
}

/* ---- parts ---- */

static void put_fact(FILE *out, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

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
		LPL_META_EXACT
	};
	char text[1024];
	bool any = false;

	fputs("<p class=\"dim\">", out);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = lpl_meta_get(trace->meta, keys[i]);

		if (!value)
			continue;
		fprintf(out, "%s%s: ", any ? " &middot; " : "", keys[i]);
		svg_escape(out, lpl_text_escape(text, sizeof(text), value, strlen(value)));
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

/* In the units of the charts' axis. */
static void put_time(FILE *out, const struct surveyed_trace *trace, bool known, uint64_t time)
{
	double unit = chart_time_unit(trace);

	if (known)
		fprintf(out, "<td>%.*f</td>", unit < 1 ? 3 : 0, (double)time * unit);
	else
		fputs("<td></td>", out);
}

static void put_tasks(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t time = survey->tasks->running, all = survey->references->all;
	uint64_t shown = trace->tasks < trace->top ? trace->tasks : trace->top;
	char end[32];

	heading(out, "Who ran when");
	chart_timeline(trace, out);
	begin_table(out, "task", "tid", "time", "references", "", "scheduled", "slept", "waited",
		    "preempted", "began", "ended", " parent", " end", NULL);
	for (uint64_t i = 0; i < shown; i++) {
		const struct lpl_survey_task *task = trace->task[i];
		const struct lpl_survey_task *parent = task->parent ?
			lpl_survey_task(survey, task->parent) : NULL;

		fputs("<tr>", out);
		put_text(out, task->name);
		fprintf(out, "<td>%" PRIu32 "</td>", task->tid);
		put_share(out, task->time[LPL_SURVEY_RUNNING], time);
		put_number(out, task->references);
		put_share(out, task->references, all);
		put_number(out, task->scheduled);
		put_number(out, task->left[LPL_SURVEY_SLEEPING] + task->left[LPL_SURVEY_STOPPED] +
			   task->left[LPL_SURVEY_IDLE]);
		put_number(out, task->left[LPL_SURVEY_WAITING]);
		put_number(out, task->left[LPL_SURVEY_PREEMPTED]);
		put_time(out, trace, task->begun, task->begin);
		put_time(out, trace, task->state != LPL_TASK_LEFT, task->end);
		put_text(out, parent ? parent->name : "");
		put_text(out, surveyed_task_end(task, end));
		end_row(out);
	}
	end_table(out);
	put_more(out, trace->tasks + survey->tasks->others, shown);
}

static void put_kinds(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t all = survey->references->all;

	heading(out, "Pages by kind");
	chart_footprint(trace, out);
	begin_table(out, "kind", "references", "", "reads", "writes", "fetches", "pages",
		    "alive at the end", NULL);
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		uint64_t references = survey->references->by_kind[kind];
		const uint64_t *type = survey->references->count[kind];

		if (!references)
			continue;
		fputs("<tr>", out);
		put_text(out, lpl_page_kind_name((enum lpl_page_kind)kind));
		put_number(out, references);
		put_share(out, references, all);
		put_number(out, type[LPL_READ] + type[LPL_WALK_READ]);
		put_number(out, type[LPL_WRITE] + type[LPL_WALK_WRITE]);
		put_number(out, type[LPL_FETCH]);
		if (kind == LPL_PAGE_CACHE) {
			fputs("<td colspan=\"2\">are pages of files</td>", out);
		} else {
			put_number(out, survey->pages->ever[kind]);
			put_number(out, survey->pages->alive[kind]);
		}
		end_row(out);
	}
	end_table(out);
}

static void put_sharers(const struct lpl_survey *survey,
			const uint64_t sharers[][LPL_SURVEY_SHARINGS], FILE *out)
{
	begin_table(out, "kind", lpl_survey_sharing_name(0), lpl_survey_sharing_name(1),
		    lpl_survey_sharing_name(2), lpl_survey_sharing_name(3),
		    lpl_survey_sharing_name(4), lpl_survey_sharing_name(5), NULL);
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (!survey->pages->ever[kind])
			continue;
		fputs("<tr>", out);
		put_text(out, lpl_page_kind_name((enum lpl_page_kind)kind));
		for (int i = 0; i < LPL_SURVEY_SHARINGS; i++)
			put_number(out, sharers[kind][i]);
		end_row(out);
	}
	end_table(out);
}

static void put_sharing(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey_pages *pages = trace->survey->pages;

	heading(out, "Pages by how many programs referenced them");
	put_sharers(trace->survey, pages->by_sharing, out);
	fprintf(out, "<p class=\"dim\">The most programs on one page that is no kernel's: %" PRIu64
		".</p>\n", pages->most_programs);
	heading(out, "Pages by how many threads of programs referenced them");
	put_sharers(trace->survey, pages->by_threads, out);
	fprintf(out, "<p class=\"dim\">Of several threads of one program, without the kernel's: %"
		PRIu64 ". The most threads on one page that is no kernel's: %" PRIu64 ".</p>\n",
		report_within_program(trace->survey), pages->most_threads);
}

static void put_processes(const struct surveyed_trace *trace, FILE *out)
{
	uint64_t shown = trace->processes < trace->top ? trace->processes : trace->top;

	heading(out, "Processes by the pages that they referenced");
	chart_processes(trace, out);
	begin_table(out, "process", "tgid", "pages", "file", "anonymous", "other", "private",
		    "shared", "proportional", "most alive", "kernel's pages", NULL);
	for (uint64_t i = 0; i < shown; i++) {
		const struct lpl_survey_process *process = trace->process[i];
		const struct lpl_survey_footprint *footprint = &process->footprint;
		uint64_t pages = process->footprint.all;

		fputs("<tr>", out);
		put_text(out, process->name);
		fprintf(out, "<td>%" PRIu32 "</td>", process->tgid);
		put_number(out, pages);
		put_number(out, footprint->pages[LPL_PAGE_FILE]);
		put_number(out, footprint->pages[LPL_PAGE_ANONYMOUS]);
		put_number(out, pages - footprint->pages[LPL_PAGE_FILE] -
			   footprint->pages[LPL_PAGE_ANONYMOUS]);
		put_number(out, footprint->unshared);
		put_number(out, pages - footprint->unshared);
		fprintf(out, "<td>%.1f</td>", footprint->proportional);
		put_number(out, process->most_alive);
		put_number(out, report_kernel_pages(process));
		end_row(out);
	}
	end_table(out);
	put_more(out, trace->processes + trace->survey->processes->others, shown);
}

static void put_cache(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t all = survey->references->all;
	uint64_t shown = trace->files < trace->top ? trace->files : trace->top;
	const uint64_t *pages = survey->pages->by_reach, *by_kind = survey->references->by_kind;
	uint64_t mapped = by_kind[LPL_PAGE_FILE] + by_kind[LPL_PAGE_SHM];
	uint64_t by_kernel = by_kind[LPL_PAGE_CACHE];
	char name[REPORT_PLACE_TEXT];

	heading(out, "Page cache");
	fprintf(out, "<p>%.1f&#8239;%% of the references are to mapped pages of files and shared "
		"memory, %.1f&#8239;%% go there by the kernel's own mapping, as read() and write() "
		"do. Of the pages, %" PRIu64 " were reached by mappings alone, %" PRIu64 " by the "
		"kernel alone, %" PRIu64 " both ways. %" PRIu64 " pages were added to the page "
		"cache, %" PRIu64 " removed.</p>\n", 100 * share_of(mapped, all),
		100 * share_of(by_kernel, all),
		pages[LPL_SURVEY_BY_MAPPING], pages[LPL_SURVEY_BY_KERNEL],
		pages[LPL_SURVEY_BY_BOTH], survey->events->cache_added,
		survey->events->cache_removed);
	if (!shown)
		return;
	begin_table(out, "file", "pages", "references", "", "programs", NULL);
	for (uint64_t i = 0; i < shown; i++) {
		const struct lpl_survey_file *file = trace->file[i];

		fputs("<tr>", out);
		put_text(out, report_file_text(file, name));
		put_number(out, file->pages);
		put_number(out, file->references);
		put_share(out, file->references, all);
		put_number(out, file->most_programs);
		end_row(out);
	}
	end_table(out);
	put_more(out, trace->files, shown);
}

static void put_hottest(const struct surveyed_trace *trace, enum lpl_survey_side side, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t all = survey->references->all;
	char where[REPORT_PLACE_TEXT];

	begin_table(out, side == LPL_SURVEY_OF_KERNEL ? "of the kernel's" : "of all others",
		    " where", "references", "", "programs", NULL);
	for (uint64_t i = 0; i < survey->hottest[side].count; i++) {
		const struct lpl_survey_hot_page *hot = &survey->hottest[side].page[i];

		fputs("<tr>", out);
		put_text(out, lpl_page_kind_name(hot->kind));
		put_text(out, report_place_text(trace, hot, where));
		put_number(out, hot->references);
		put_share(out, hot->references, all);
		put_number(out, hot->programs);
		end_row(out);
	}
	end_table(out);
}

static void put_hot(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t pages = 0;

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		pages += survey->pages->ever[kind];
	heading(out, "Which pages are hot");
	fprintf(out, "<p>Of %" PRIu64 " pages, %" PRIu64 " get half of the references, %" PRIu64
		" get 90&#8239;%%, %" PRIu64 " get 99&#8239;%%.</p>\n", pages,
		lpl_survey_concentration(survey, 0.5), lpl_survey_concentration(survey, 0.9),
		lpl_survey_concentration(survey, 0.99));
	chart_heatmap(trace, out);
	put_hottest(trace, LPL_SURVEY_OF_PROGRAMS, out);
	put_hottest(trace, LPL_SURVEY_OF_KERNEL, out);
}

static void put_calls(const struct surveyed_trace *trace, FILE *out)
{
	uint64_t shown = trace->calls < trace->top ? trace->calls : trace->top;

	if (!trace->calls)
		return;
	heading(out, "System calls that were reported");
	begin_table(out, "call", "number", "count", "returned", "errors", NULL);
	for (uint64_t i = 0; i < shown; i++) {
		const struct lpl_survey_call *call = trace->call[i];

		fputs("<tr>", out);
		put_text(out, call->name);
		put_number(out, call->number);
		put_number(out, call->count);
		put_number(out, call->returned);
		put_number(out, call->errors);
		end_row(out);
	}
	end_table(out);
	put_more(out, trace->calls, shown);
	begin_table(out, "task", "tid", "calls", "errors", NULL);
	for (size_t i = 0, lines = 0; i < trace->tasks && lines < trace->top; i++) {
		const struct lpl_survey_task *task = trace->task[i];

		if (task->calls == 0)
			continue;
		fputs("<tr>", out);
		put_text(out, task->name);
		fprintf(out, "<td>%" PRIu32 "</td>", task->tid);
		put_number(out, task->calls);
		put_number(out, task->call_errors);
		end_row(out);
		lines++;
	}
	end_table(out);
}

static void put_event(void *context, const char *name, uint64_t count)
{
	fputs("<tr>", context);
	put_text(context, name);
	put_number(context, count);
	end_row(context);
}

static void put_events(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_merge_stats *stats = survey->merge;

	heading(out, "Events");
	fprintf(out, "<p>Copies on write: %" PRIu64 " reported, of which %" PRIu64 " kept the page; "
		"%" PRIu64 " seen by a write only. Pages that spaces lost to swap: %" PRIu64
		", that came back: %" PRIu64 ".</p>\n", stats->cow_breaks, stats->cow_kept, stats->implied_breaks,
		survey->events->swapped_out, survey->events->swapped_in);
	begin_table(out, "event", "count", NULL);
	lpl_event_counts_each(&survey->events->counts, put_event, out);
	end_table(out);
}

void report_html(const struct surveyed_trace *trace, FILE *out)
{
	const char *title = lpl_meta_get(trace->meta, LPL_META_TITLE);
	char text[1024];

	if (!title)
		title = trace->path;
	lpl_text_escape(text, sizeof(text), title, strlen(title));
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>", out);
	svg_escape(out, text);
	fprintf(out, "</title>\n<style>%s</style></head><body>\n<h1>", style);
	svg_escape(out, text);
	fputs("</h1>\n", out);
	put_meta(trace, out);
	put_facts(trace, out);
	fputs("<ul class=\"notes\">\n", out);
	put_note(out, "docs/report.md of Laplace says what each number means.");
	report_notes(trace, put_note, out);
	fputs("</ul>\n", out);
	put_tasks(trace, out);
	put_kinds(trace, out);
	put_sharing(trace, out);
	put_cache(trace, out);
	put_processes(trace, out);
	put_hot(trace, out);
	put_calls(trace, out);
	put_events(trace, out);
	fputs("</body></html>\n", out);
}
