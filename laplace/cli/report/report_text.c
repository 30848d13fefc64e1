/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report as text of at most 100 columns, of printable ASCII: for a terminal and a pipe.
 */
#include <inttypes.h>
#include <string.h>

#include <laplace/trace.h>

#include "cli/draw/chart.h"
#include "cli/say.h"
#include "report.h"

static void title(FILE *out, const char *text)
{
	fprintf(out, "\n%s\n", text);
}

/* ---- parts ---- */

static void print_meta(const struct surveyed_trace *trace, FILE *out)
{
	static const char *const keys[] = {
		LPL_META_TITLE, LPL_META_GUEST, LPL_META_WORKLOAD, LPL_META_PRODUCER,
		LPL_META_REDUCTION, LPL_META_EXACT
	};
	char text[160];

	lpl_text_escape(text, 80, trace->path, strlen(trace->path));
	fprintf(out, "%-14s %s\n", "trace", text);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = lpl_meta_get(trace->meta, keys[i]);

		if (value)
			fprintf(out, "%-14s %s\n", keys[i],
				lpl_text_escape(text, 84, value, strlen(value)));
	}
}

static void print_clock(FILE *out, const char *name, uint64_t first, uint64_t last)
{
	fprintf(out, "%-14s %" PRIu64 " (%" PRIu64 " to %" PRIu64 ")\n", name, last - first,
		first, last);
}

static void print_trace(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_survey_clocks *first = &survey->time->first, *last = &survey->time->last;
	const uint64_t *type = survey->references->by_type;
	uint64_t all = survey->references->all;
	char percent[CLI_PERCENT_SIZE];

	print_meta(trace, out);
	fprintf(out, "%-14s %" PRIu64, "references", all);
	if (trace->references_made)
		fprintf(out, " kept of %" PRIu64 " (%s)", trace->references_made,
			cli_percent(percent, 3, all, trace->references_made));
	fprintf(out, "\n%-14s reads %" PRIu64 ", writes %" PRIu64 ", fetches %" PRIu64, "",
		type[LPL_READ], type[LPL_WRITE], type[LPL_FETCH]);
	if (type[LPL_WALK_READ] + type[LPL_WALK_WRITE])
		fprintf(out, ", walks %" PRIu64, type[LPL_WALK_READ] + type[LPL_WALK_WRITE]);
	fprintf(out, "; in user mode %" PRIu64 "\n", survey->references->user);
	print_clock(out, "instructions", first->instr, last->instr);
	print_clock(out, "cycles", first->cycle, last->cycle);
	if (trace->kind.cycles_a_second)
		fprintf(out, "%-14s %.3f s of the guest's (%" PRIu64 " cycles a second), from %.3f s "
			"after it was switched on\n", "time",
			(double)(last->cycle - first->cycle) / (double)trace->kind.cycles_a_second,
			trace->kind.cycles_a_second,
			(double)first->cycle / (double)trace->kind.cycles_a_second);
	fprintf(out, "%-14s %s\n", "addresses", report_addresses(trace));
	fprintf(out, "%-14s %" PRIu64 "\n", "bytes", trace->bytes);
	fprintf(out, "%-14s %" PRIu64 " tasks, %" PRIu64 " address spaces, %" PRIu64 " events, "
		"%" PRIu64 " switches\n", "guest", survey->merge->tasks, survey->merge->spaces,
		survey->events->counts.all, survey->tasks->switches);
}

static void print_sharers(const struct lpl_survey *survey,
			  const uint64_t sharers[][LPL_SURVEY_SHARINGS], FILE *out)
{
	fprintf(out, "  %-12s", "kind");
	for (unsigned int i = 0; i < LPL_SURVEY_SHARINGS; i++)
		fprintf(out, " %12s", lpl_survey_sharing_name(i));
	fputc('\n', out);
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (!survey->pages->ever[kind])
			continue;
		fprintf(out, "  %-12s", lpl_page_kind_name((enum lpl_page_kind)kind));
		for (int i = 0; i < LPL_SURVEY_SHARINGS; i++)
			fprintf(out, " %12" PRIu64, sharers[kind][i]);
		fputc('\n', out);
	}
}

static void print_sharing(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey_pages *pages = trace->survey->pages;

	title(out, "PAGES BY HOW MANY PROGRAMS referenced them");
	print_sharers(trace->survey, pages->by_sharing, out);
	fprintf(out, "  the most programs on one page that is no kernel's: %" PRIu64 "\n",
		pages->most_programs);
	title(out, "PAGES BY HOW MANY THREADS of programs referenced them");
	print_sharers(trace->survey, pages->by_threads, out);
	fprintf(out, "  of several threads of one program, without the kernel's: %" PRIu64 "\n"
		"  the most threads on one page that is no kernel's: %" PRIu64 "\n",
		report_within_program(trace->survey), pages->most_threads);
}

static void print_cache(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	const uint64_t *pages = survey->pages->by_reach, *by_kind = survey->references->by_kind;
	uint64_t all = survey->references->all, by_kernel = by_kind[LPL_PAGE_CACHE];
	uint64_t mapped = by_kind[LPL_PAGE_FILE] + by_kind[LPL_PAGE_SHM];

	title(out, "PAGE CACHE");
	fprintf(out, "  references      mapped %" PRIu64 " (%.1f%%), by the kernel's own mapping %"
		PRIu64 " (%.1f%%)\n", mapped, 100 * share_of(mapped, all), by_kernel,
		100 * share_of(by_kernel, all));
	fprintf(out, "  pages reached   mapped alone %" PRIu64 ", by the kernel alone %" PRIu64
		", both %" PRIu64 "\n", pages[LPL_SURVEY_BY_MAPPING], pages[LPL_SURVEY_BY_KERNEL],
		pages[LPL_SURVEY_BY_BOTH]);
	fprintf(out, "  pages           added %" PRIu64 ", removed %" PRIu64 "\n",
		survey->events->cache_added, survey->events->cache_removed);
	if (!trace->files)
		return;
	fprintf(out, "\n  %-52s %9s %13s %6s %8s\n", "file", "pages", "references", "",
		"programs");
	for (size_t i = 0; i < trace->files && i < trace->top; i++) {
		const struct lpl_survey_file *file = trace->file[i];
		char name[REPORT_PLACE_TEXT];
		size_t length = strlen(report_file_text(file, name));

		/* the end of a path says more than its beginning */
		fprintf(out, "  %-52s %9" PRIu64 " %13" PRIu64 " %5.1f%% %8" PRIu64 "\n",
			length > 52 ? name + length - 52 : name, file->pages, file->references,
			100 * share_of(file->references, all), file->most_programs);
	}
	if (trace->files > trace->top)
		fprintf(out, "  %zu more\n", trace->files - (size_t)trace->top);
}

static void print_processes(const struct surveyed_trace *trace, FILE *out)
{
	uint64_t all = trace->processes + trace->survey->processes->others;
	uint64_t shown = trace->processes < trace->top ? trace->processes : trace->top;

	title(out, "PROCESSES, by the pages they referenced (the kernel's not counted)");
	fprintf(out, "  %-22s %8s %8s %8s %8s %8s %8s %9s %8s\n", "process (tgid)", "pages", "file",
		"anon", "other", "private", "shared", "prop.", "kernel");
	for (uint64_t i = 0; i < shown; i++) {
		const struct lpl_survey_process *process = trace->process[i];
		const struct lpl_survey_footprint *footprint = &process->footprint;
		uint64_t pages = footprint->all;
		char name[40];

		snprintf(name, sizeof(name), "%.14s (%" PRIu32 ")", process->name, process->tgid);
		fprintf(out, "  %-22s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64,
			process->number == 0 ? "kernel" : name, pages,
			footprint->pages[LPL_PAGE_FILE], footprint->pages[LPL_PAGE_ANONYMOUS],
			pages - footprint->pages[LPL_PAGE_FILE] -
			footprint->pages[LPL_PAGE_ANONYMOUS]);
		fprintf(out, " %8" PRIu64 " %8" PRIu64 " %9.1f %8" PRIu64 "\n",
			footprint->unshared, pages - footprint->unshared, footprint->proportional,
			report_kernel_pages(process));
	}
	if (all > shown)
		fprintf(out, "  %" PRIu64 " more\n", all - shown);
}

static void print_hottest(const struct surveyed_trace *trace, enum lpl_survey_side side, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t all = survey->references->all;
	char where[REPORT_PLACE_TEXT];

	fprintf(out, "  %-11s %-44s %13s %6s %9s\n",
		side == LPL_SURVEY_OF_KERNEL ? "kernel's" : "kind", "where", "references", "",
		"programs");
	for (size_t i = 0; i < survey->hottest[side].count; i++) {
		const struct lpl_survey_hot_page *hot = &survey->hottest[side].page[i];
		size_t length = strlen(report_place_text(trace, hot, where));
		/* of a path, the end says most; of the kernel's, the address and the symbol */
		size_t cut = length > 44 && hot->kind != LPL_PAGE_KERNEL ? length - 44 : 0;

		fprintf(out, "  %-11s %-44.44s %13" PRIu64 " %5.1f%% %9" PRIu64 "\n",
			lpl_page_kind_name(hot->kind), where + cut,
			hot->references, 100 * share_of(hot->references, all), hot->programs);
	}
}

static void print_hot(const struct surveyed_trace *trace, FILE *out)
{
	static const double share[] = { 0.5, 0.9, 0.99 };
	const struct lpl_survey *survey = trace->survey;
	uint64_t pages = 0;

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		pages += survey->pages->ever[kind];
	title(out, "HOTTEST PAGES");
	print_hottest(trace, LPL_SURVEY_OF_PROGRAMS, out);
	print_hottest(trace, LPL_SURVEY_OF_KERNEL, out);
	for (int i = 0; i < 3; i++) {
		uint64_t some = lpl_survey_concentration(survey, share[i]);

		fprintf(out, "  %2.0f%% of the references go to %" PRIu64 " pages, %.2f%% of all %"
			PRIu64 "\n", 100 * share[i], some, 100 * share_of(some, pages), pages);
	}
}

static void print_calls(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	struct lpl_survey_call all = survey->calls->others;

	for (size_t i = 0; i < trace->calls; i++) {
		all.count += trace->call[i]->count;
		all.errors += trace->call[i]->errors;
	}
	if (!trace->calls)
		return;
	title(out, "SYSTEM CALLS that were reported");
	fprintf(out, "  %-24s %10s %10s\n", "call", "count", "errors");
	for (size_t i = 0; i < trace->calls && i < trace->top; i++) {
		const struct lpl_survey_call *call = trace->call[i];

		fprintf(out, "  %-24.24s %10" PRIu64 " %10" PRIu64 "\n",
			call->name[0] ? call->name : "?", call->count, call->errors);
	}
	fprintf(out, "  %-24s %10" PRIu64 " %10" PRIu64 "\n", "all", all.count, all.errors);
	fprintf(out, "  by task:");
	for (size_t i = 0, shown = 0; i < trace->tasks && shown < trace->top; i++) {
		const struct lpl_survey_task *task = trace->task[i];

		if (task->calls == 0)
			continue;
		fprintf(out, "%s%.15s (%" PRIu32 ") %" PRIu64, shown == 0 ? " " :
			shown % 4 == 0 ? ",\n    " : ", ", task->name, task->tid, task->calls);
		shown++;
	}
	fputc('\n', out);
}

static void print_event(void *context, const char *name, uint64_t count)
{
	fprintf(context, " %s %" PRIu64 ";", name, count);
}

static void print_events(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_merge_stats *stats = survey->merge;

	title(out, "MEMORY EVENTS");
	fprintf(out, "  forks %" PRIu64 ", execs %" PRIu64 ", exits %" PRIu64 "\n",
		report_events(survey, KTR_SPACE_DUPLICATE), report_events(survey, KTR_EXEC),
		report_events(survey, KTR_EXIT));
	fprintf(out, "  copy on write: reported %" PRIu64 " (%" PRIu64 " kept the page), seen by "
		"a write only %" PRIu64 "\n", stats->cow_breaks, stats->cow_kept,
		stats->implied_breaks);
	fprintf(out, "  swap: pages that spaces lost %" PRIu64 ", that came back %" PRIu64 "\n",
		survey->events->swapped_out, survey->events->swapped_in);
	fprintf(out, "  all:");
	lpl_event_counts_each(&survey->events->counts, print_event, out);
	fputc('\n', out);
}

/* ---- the whole ---- */

/* Filled to 96 columns. */
static void print_note(void *context, const char *text)
{
	FILE *out = context;
	size_t column = 3;

	fputs("  *", out);
	while (*text) {
		size_t length = strcspn(text, " ");

		if (column + 1 + length > 96 && column > 3) {
			fputs("\n   ", out);
			column = 3;
		}
		fprintf(out, " %.*s", (int)length, text);
		column += 1 + length;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void report_text(const struct surveyed_trace *trace, FILE *out)
{
	print_trace(trace, out);
	title(out, "NOTES");
	report_notes(trace, print_note, out);
	if (trace->survey->references->all == 0 && trace->survey->events->counts.all == 0) {
		print_note(out, "The trace holds no reference and no event.");
		return;
	}
	chart_text_tasks(trace, out);
	chart_text_marks(trace, out);
	chart_text_kinds(trace, out);
	print_sharing(trace, out);
	print_cache(trace, out);
	print_processes(trace, out);
	print_hot(trace, out);
	print_calls(trace, out);
	print_events(trace, out);
}
