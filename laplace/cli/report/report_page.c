/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of a report that people read: tables, with what is said of them, as text and in HTML, which has
 * pictures besides.
 */
#include <inttypes.h>
#include <stdarg.h>

#include "cli/draw/chart.h"
#include "report.h"

struct page {
	const struct surveyed_trace *trace;
	bool is_html;
	struct table table;
};

static struct page page_of(const struct surveyed_trace *trace, enum table_form form, FILE *out)
{
	return (struct page){ trace, form == TABLE_HTML, { .form = form, .out = out } };
}

/* In the form's words. */
__attribute__((format(printf, 2, 4), format(printf, 3, 4)))
static void say(const struct page *page, const char *text, const char *html, ...)
{
	va_list args;

	va_start(args, html);
	vfprintf(page->table.out, page->is_html ? html : text, args);
	va_end(args);
}

/* A heading, and below it the picture and the table, if there are any. */
static void put(struct page *page, const char *text, const char *html,
		void (*picture)(const struct surveyed_trace *trace, FILE *out),
		void (*table)(struct table *table, const struct surveyed_trace *trace))
{
	say(page, "\n%s\n", "<h2>%s</h2>\n", page->is_html ? html : text);
	if (picture && page->is_html)
		picture(page->trace, page->table.out);
	if (table)
		table(&page->table, page->trace);
}

/* ---- what ran ---- */

static void put_marks(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey_events *events = trace->survey->events;

	if (!events->marks_kept)
		return;
	fprintf(out, "\nMARKS, at percent of the time\n");
	for (unsigned int i = 0; i < events->marks_kept; i++)
		fprintf(out, "  %5.1f%%  %s\n",
			100 * share_of(events->mark[i].time, trace->survey->time->length),
			events->mark[i].text);
	if (events->marks_kept < events->marks)
		fprintf(out, "  and %" PRIu64 " more\n", events->marks - events->marks_kept);
}

static void put_tasks(struct page *page)
{
	put(page, "TASKS, by the time they ran", "What ran when", chart_timeline, trace_tasks);
	if (page->is_html)	/* the picture has the marks, too */
		return;
	fprintf(page->table.out, "  (# + . it ran more than half, a tenth, some of the time; ~ ready; "
		"- blocked)\n");
	put_marks(page->trace, page->table.out);
}

void report_text_timeline(const struct surveyed_trace *trace, FILE *out)
{
	struct page page = page_of(trace, TABLE_TEXT, out);

	put_tasks(&page);
}

/* ---- which memory was used ---- */

static void put_kinds(struct page *page)
{
	const struct lpl_survey *survey = page->trace->survey;
	const struct lpl_survey_pages *pages = survey->pages;
	uint64_t set[LPL_SURVEY_BINS];

	put(page, "PAGES BY KIND, referenced and alive", "Pages by kind", chart_footprint, trace_kinds);
	if (page->is_html)
		return;
	chart_values(&pages->working_set, set);
	fprintf(page->table.out, "  %-32s  %9s %9" PRIu64 " %9s %s\n"
		"  the most alive at once: %" PRIu64 " pages (%.1f MiB), at %.1f%% of the "
		"time; a bin is %" PRIu64 " %s\n", "working set (the most in one bin)", "",
		chart_most(set), "", series_strip(survey, &pages->working_set, 0).text,
		pages->most_alive, (double)pages->most_alive / 256,
		100 * share_of(pages->most_alive_time, survey->time->length),
		lpl_survey_bin_start(survey->time, 1), lpl_survey_clock_name(survey->time->clock));
}

void report_text_kinds(const struct surveyed_trace *trace, FILE *out)
{
	struct page page = page_of(trace, TABLE_TEXT, out);

	put_kinds(&page);
}

void report_text_processes(const struct surveyed_trace *trace, FILE *out)
{
	const uint64_t count = trace_shown(trace, trace->processes);
	uint64_t most = 0;

	fprintf(out, "\nPAGES ALIVE that each process referenced (the kernel's not counted)\n");
	for (uint64_t i = 0; i < count; i++) {
		if (trace->process[i]->number != 0 && trace->process[i]->most_alive > most)
			most = trace->process[i]->most_alive;
	}
	for (uint64_t i = 0; i < count; i++) {
		const struct lpl_survey_process *process = trace->process[i];

		if (process->number != 0)
			fprintf(out, "  %-20.20s %8" PRIu32 " %9" PRIu64 " at most %s\n", process->name,
				process->tgid, process->most_alive,
				series_strip(trace->survey, &process->alive_by_bin, most).text);
	}
}

/* Pages that several threads of one program referenced, and no other, without the kernel's. */
static uint64_t within_program(const struct lpl_survey_pages *pages)
{
	uint64_t all = 0;

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (kind != LPL_PAGE_KERNEL && kind != LPL_PAGE_PHYSICAL)
			all += pages->within_program[kind];
	}
	return all;
}

static void put_sharing(struct page *page)
{
	const struct lpl_survey_pages *pages = page->trace->survey->pages;

	put(page, "PAGES BY HOW MANY PROGRAMS referenced them",
	    "Pages by how many programs referenced them", NULL, NULL);
	trace_sharing(&page->table, page->trace, pages->by_sharing);
	say(page, "  the most programs on one page that is no kernel's: %" PRIu64 "\n",
	    "<p class=\"dim\">The most programs on one page that is no kernel's: %" PRIu64 ".</p>\n",
	    pages->most_programs);
	put(page, "PAGES BY HOW MANY THREADS of programs referenced them",
	    "Pages by how many threads of programs referenced them", NULL, NULL);
	trace_sharing(&page->table, page->trace, pages->by_threads);
	say(page, "  of several threads of one program, without the kernel's: %" PRIu64 "\n"
	    "  the most threads on one page that is no kernel's: %" PRIu64 "\n",
	    "<p class=\"dim\">Of several threads of one program, without the kernel's: %" PRIu64
	    ". The most threads on one page that is no kernel's: %" PRIu64 ".</p>\n",
	    within_program(pages), pages->most_threads);
}

static void put_cache(struct page *page)
{
	const struct lpl_survey *survey = page->trace->survey;
	const uint64_t *pages = survey->pages->by_reach, all = survey->references->all;
	const uint64_t mapped = report_mapped(survey);
	const uint64_t by_kernel = survey->references->by_kind[LPL_PAGE_CACHE];

	put(page, "PAGE CACHE", "Page cache", NULL, NULL);
	if (page->is_html)
		fprintf(page->table.out, "<p>%.1f&#8239;%% of the references are to mapped pages of files "
			"and shared memory, %.1f&#8239;%% go there by the kernel's own mapping, as read() "
			"and write() do. ", 100 * share_of(mapped, all), 100 * share_of(by_kernel, all));
	else
		fprintf(page->table.out, "  references      mapped %" PRIu64 " (%.1f%%), by the kernel's "
			"own mapping %" PRIu64 " (%.1f%%)\n", mapped, 100 * share_of(mapped, all),
			by_kernel, 100 * share_of(by_kernel, all));
	say(page, "  pages reached   mapped alone %" PRIu64 ", by the kernel alone %" PRIu64 ", both %"
	    PRIu64 "\n  pages           added %" PRIu64 ", removed %" PRIu64 "\n",
	    "Of the pages, %" PRIu64 " were reached by mappings alone, %" PRIu64 " by the kernel alone, %"
	    PRIu64 " both ways. %" PRIu64 " pages were added to the page cache, %" PRIu64
	    " removed.</p>\n", pages[LPL_SURVEY_BY_MAPPING], pages[LPL_SURVEY_BY_KERNEL],
	    pages[LPL_SURVEY_BY_BOTH], survey->events->cache_added, survey->events->cache_removed);
	if (!trace_shown(page->trace, page->trace->files))
		return;
	if (!page->is_html)
		fputc('\n', page->table.out);
	trace_files(&page->table, page->trace);
}

static void put_hot(struct page *page)
{
	const struct lpl_survey *survey = page->trace->survey;
	static const double share[] = { 0.5, 0.9, 0.99 };
	uint64_t all = 0, some[3];

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		all += survey->pages->ever[kind];
	for (int i = 0; i < 3; i++)
		some[i] = lpl_survey_concentration(survey, share[i]);
	put(page, "HOTTEST PAGES", "Which pages are hot", NULL, NULL);
	if (page->is_html) {
		fprintf(page->table.out, "<p>Of %" PRIu64 " pages, %" PRIu64 " get half of the references, %"
			PRIu64 " get 90&#8239;%%, %" PRIu64 " get 99&#8239;%%.</p>\n", all, some[0],
			some[1], some[2]);
		chart_heatmap(page->trace, page->table.out);
	}
	trace_hottest(&page->table, page->trace);
	trace_hottest_of_kernel(&page->table, page->trace);
	for (int i = 0; i < 3 && !page->is_html; i++)
		fprintf(page->table.out, "  %2.0f%% of the references go to %" PRIu64 " pages, %.2f%% of "
			"all %" PRIu64 "\n", 100 * share[i], some[i], 100 * share_of(some[i], all), all);
}

static void put_walks(struct page *page)
{
	const struct lpl_survey *survey = page->trace->survey;
	const uint64_t *type = survey->references->by_type;

	if (!surveyed_walks(page->trace))
		return;
	put(page, "PAGE WALKS: references to page tables, by the references that they were made for",
	    "Page walks", NULL, NULL);
	say(page, "  references to page tables: %" PRIu64 ", %.1f for 1000 others; for none that is known: %"
	    PRIu64 "\n", "<p>%" PRIu64 " references to page tables, %.1f for 1000 others, by what was "
	    "referenced then; %" PRIu64 " were for none that is known.</p>\n",
	    type[LPL_WALK_READ] + type[LPL_WALK_WRITE],
	    1000 * share_of(type[LPL_WALK_READ] + type[LPL_WALK_WRITE],
			    type[LPL_READ] + type[LPL_WRITE] + type[LPL_FETCH]), survey->walks->unknown);
	trace_walks_by_program(&page->table, page->trace);
	trace_walks_by_kind(&page->table, page->trace);
	trace_walks_by_table(&page->table, page->trace);
	if (page->trace->walked_files)
		trace_walks_by_file(&page->table, page->trace);
}

static void put_forks(struct page *page)
{
	const struct lpl_survey_forks *forks = &page->trace->survey->frames->forks;

	if (!forks->count)
		return;
	say(page, "  forks: %" PRIu64 ", of spaces that had used %" PRIu64 " pages. Of these the child used %"
	    PRIu64 " in the same frame,\n    %" PRIu64 " in another one, %" PRIu64 " never; the parent used %"
	    PRIu64 " in another one\n",
	    "<p class=\"dim\">%" PRIu64 " forks of spaces that had used %" PRIu64 " pages: of these the child "
	    "used %" PRIu64 " in the same frame, %" PRIu64 " in another one, %" PRIu64 " never; the parent used %"
	    PRIu64 " in another one.</p>\n", forks->count, forks->pages, forks->kept, forks->copied,
	    forks->pages - forks->kept - forks->copied, forks->left_by_parents);
}

static void put_scattered(struct page *page)
{
	const struct lpl_survey_frames *frames = page->trace->survey->frames;
	const struct lpl_survey_contiguity *contiguity = &frames->contiguity;

	trace_frames_by_run(&page->table, page->trace);
	say(page, "  frames referenced: %" PRIu64 ", in %" PRIu64 " runs, of which the longest has %" PRIu64
	    "\n  regions of 2 MB with pages of 4 KB: %" PRIu64 "; in place for a page of 2 MB: %" PRIu64 " (%"
	    PRIu64 " pages)\n",
	    "<p class=\"dim\">%" PRIu64 " frames were referenced, in %" PRIu64 " runs, of which the longest "
	    "has %" PRIu64 ". %" PRIu64 " regions of 2 MB have pages of 4 KB; of %" PRIu64 " of them all (%" PRIu64
	    " pages) are where they would be in a page of 2 MB.</p>\n",
	    frames->all, frames->runs, frames->longest_run, contiguity->regions, contiguity->regions_in_place,
	    contiguity->pages_in_place);
}

static void put_frames(struct page *page)
{
	const struct lpl_survey_frames *frames = page->trace->survey->frames;

	if (!frames)
		return;
	put(page, "PHYSICAL MEMORY, by the processor's translations", "Physical memory", NULL, trace_mapped);
	trace_frames_by_spaces(&page->table, page->trace);
	put_scattered(page);
	say(page, "  pages that were in another frame than when they were used last: %" PRIu64 "\n",
	    "<p class=\"dim\">%" PRIu64 " times a page was in another frame than when it was used last.</p>\n",
	    frames->moved);
	put_forks(page);
}

/* ---- system calls and events ---- */

static void put_calls(struct page *page)
{
	if (!page->trace->calls)
		return;
	put(page, "SYSTEM CALLS that were reported", "System calls that were reported", NULL, trace_calls);
	trace_calls_of_tasks(&page->table, page->trace);
}

static void put_event(void *context, const char *name, uint64_t count)
{
	struct page *page = context;

	if (page->is_html)
		TABLE_ROW(&page->table, HTML("event", cell_text(name)), HTML("count", cell_number(count)));
	else
		fprintf(page->table.out, " %s %" PRIu64 ";", name, count);
}

static void put_events(struct page *page)
{
	const struct lpl_survey *survey = page->trace->survey;
	const struct lpl_merge_stats *stats = survey->merge;

	put(page, "MEMORY EVENTS", "Events", NULL, NULL);
	if (!page->is_html)
		fprintf(page->table.out, "  forks %" PRIu64 ", execs %" PRIu64 ", exits %" PRIu64 "\n",
			report_events(survey, KTR_SPACE_DUPLICATE), report_events(survey, KTR_EXEC),
			report_events(survey, KTR_EXIT));
	say(page, "  copy on write: reported %" PRIu64 " (%" PRIu64 " kept the page), seen by a write only %"
	    PRIu64 "\n  swap: pages that spaces lost %" PRIu64 ", that returned %" PRIu64 "\n  all:",
	    "<p>Copies on write: %" PRIu64 " reported, of which %" PRIu64 " kept the page; %" PRIu64
	    " seen by a write only. Pages that spaces lost to swap: %" PRIu64 ", that returned: %" PRIu64
	    ".</p>\n", stats->cow_breaks, stats->cow_kept, stats->implied_breaks,
	    survey->events->swapped_out, survey->events->swapped_in);
	if (page->is_html) {
		table_begin(&page->table);
		put_event(page, "", 0);
	}
	lpl_event_counts_each(&survey->events->counts, put_event, page);
	if (page->is_html)
		table_end(&page->table, 0);
	else
		fputc('\n', page->table.out);
}

void report_parts(const struct surveyed_trace *trace, enum table_form form, FILE *out)
{
	struct page page = page_of(trace, form, out);

	put_tasks(&page);
	put_kinds(&page);
	put_sharing(&page);
	put_cache(&page);
	put(&page, "PROCESSES, by the pages they referenced (the kernel's not counted)",
	    "Processes by the pages that they referenced", chart_processes, trace_processes);
	put_hot(&page);
	put_walks(&page);
	if (trace->functions)
		put(&page, "FUNCTIONS, by the faults that they take of LRU in so many pages of memory",
		    "Functions by the faults that they take of LRU in so many pages of memory", NULL, trace_functions);
	put_frames(&page);
	put_calls(&page);
	put_events(&page);
}
