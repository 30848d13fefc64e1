/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report as text of at most 100 columns, of printable ASCII: for a terminal and a pipe.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/draw/chart.h"

#define STRIP 32	/* columns of a line over time */

struct strip {
	char text[STRIP + 1];
};

/* Which column a bin is in. */
static unsigned int column_of(const struct survey *survey, unsigned int bin)
{
	unsigned int bins = survey_bins(survey);

	return bins <= STRIP ? bin : bin * STRIP / bins;
}

static unsigned int columns(const struct survey *survey)
{
	unsigned int bins = survey_bins(survey);

	return bins < STRIP ? bins : STRIP;
}

/* What a task did: a column tells how much it ran, or else what it waited for. */
static struct strip task_strip(const struct survey *survey, const struct survey_task *task)
{
	uint64_t part[STRIP][SURVEY_DOINGS] = { { 0 } }, width[STRIP] = { 0 };
	struct strip strip = { "" };

	for (unsigned int bin = 0; bin < survey_bins(survey); bin++) {
		unsigned int column = column_of(survey, bin);

		width[column] += UINT64_C(1) << survey->axis.shift;
		for (int doing = 0; doing < SURVEY_DOINGS; doing++)
			part[column][doing] += series_get(&task->doing[doing], bin);
	}
	for (unsigned int i = 0; i < columns(survey); i++) {
		const uint64_t *did = part[i];
		double ran = report_share(did[SURVEY_RUNS], width[i]);

		strip.text[i] = ran > 0.5 ? '#' : ran > 0.1 ? '+' : ran > 0 ? '.' :
				did[SURVEY_READY] > 0 ? '~' : did[SURVEY_BLOCKED] > 0 ? '-' : ' ';
	}
	return strip;
}

/* A number over time, by height. */
static struct strip level_strip(const struct survey *survey, const struct series *series,
				uint64_t most)
{
	static const char level[] = "_.-=*#";
	uint64_t value[STRIP] = { 0 };
	struct strip strip = { "" };

	for (unsigned int bin = 0; bin < survey_bins(survey); bin++) {
		uint64_t *place = &value[column_of(survey, bin)];

		if (series_get(series, bin) > *place)
			*place = series_get(series, bin);
	}
	for (unsigned int i = 0; i < columns(survey); i++)
		strip.text[i] = value[i] == 0 ? ' ' :
			level[(size_t)(report_share(value[i], most) * (sizeof(level) - 2) + 0.5)];
	return strip;
}

static void title(FILE *out, const char *text)
{
	fprintf(out, "\n%s\n", text);
}

/* ---- parts ---- */

static void print_meta(const struct report *report, FILE *out)
{
	static const char *const keys[] = {
		LPL_META_TITLE, LPL_META_GUEST, LPL_META_WORKLOAD, LPL_META_PRODUCER,
		LPL_META_REDUCTION, LPL_META_EXACT
	};
	char text[160];

	lpl_text_escape(text, 80, report->trace->path, strlen(report->trace->path));
	fprintf(out, "%-14s %s\n", "trace", text);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = lpl_meta_get(report->trace->meta, keys[i]);

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

static void print_trace(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;
	uint64_t all = survey_all_references(survey), second;
	uint64_t type[LPL_TYPES] = { 0 };
	char percent[CLI_PERCENT_SIZE];

	print_meta(report, out);
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		for (int i = 0; i < LPL_TYPES; i++)
			type[i] += survey->references[kind][i];
	}
	fprintf(out, "%-14s %" PRIu64, "references", all);
	if (report->trace->before)
		fprintf(out, " kept of %" PRIu64 " (%s)", report->trace->before,
			cli_percent(percent, 3, all, report->trace->before));
	fprintf(out, "\n%-14s reads %" PRIu64 ", writes %" PRIu64 ", fetches %" PRIu64, "",
		type[LPL_READ], type[LPL_WRITE], type[LPL_FETCH]);
	if (type[LPL_WALK_READ] + type[LPL_WALK_WRITE])
		fprintf(out, ", walks %" PRIu64, type[LPL_WALK_READ] + type[LPL_WALK_WRITE]);
	fprintf(out, "; in user mode %" PRIu64 "\n", survey->user_references);
	print_clock(out, "instructions", survey->first.instr, survey->last.instr);
	print_clock(out, "cycles", survey->first.cycle, survey->last.cycle);
	second = report_cycles_a_second(report->trace);
	if (second)
		fprintf(out, "%-14s %.3f s of the guest's (%" PRIu64 " cycles a second)\n", "time",
			(double)(survey->last.cycle - survey->first.cycle) / (double)second,
			second);
	fprintf(out, "%-14s %" PRIu64 "\n", "bytes", report->trace->bytes);
	fprintf(out, "%-14s %" PRIu64 " tasks, %" PRIu64 " address spaces, %" PRIu64 " events, "
		"%" PRIu64 " switches\n", "guest", survey->stats.tasks, survey->stats.spaces,
		survey->tally.events, survey->switches);
}

static void print_tasks(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;
	uint64_t time = report_time(survey), all = survey_all_references(survey);
	uint64_t count = report->tasks < report->top ? report->tasks : report->top;
	char end[32], name[32];

	title(out, "TASKS, by the time they ran");
	fprintf(out, "  %-20s %6s %6s %7s %7s %7s  %-9s %s\n", "task (tid)", "time", "refs",
		"sched", "blocked", "preempt", "end", "over time");
	for (uint64_t i = 0; i < count; i++) {
		const struct survey_task *task = report->task[i];
		uint64_t blocked = task->left[SURVEY_SLEEPING] + task->left[SURVEY_WAITING] +
				   task->left[SURVEY_STOPPED] + task->left[SURVEY_IDLES];

		snprintf(name, sizeof(name), "%.12s (%" PRIu32 ")",
			 task->name, task->tid);
		fprintf(out, "  %-20s %5.1f%% %5.1f%% %7" PRIu64 " %7" PRIu64 " %7" PRIu64
			"  %-9s|%s|\n", name, 100 * report_share(task->time[SURVEY_RUNS], time),
			100 * report_share(task->references, all), task->scheduled, blocked,
			task->left[SURVEY_PREEMPTED], report_end_text(task, end),
			task_strip(survey, task).text);
	}
	if (count < report->tasks + survey->other_tasks) {
		uint64_t rest = survey->other_task.time[SURVEY_RUNS];
		uint64_t references = survey->other_task.references;

		for (uint64_t i = count; i < report->tasks; i++) {
			rest += report->task[i]->time[SURVEY_RUNS];
			references += report->task[i]->references;
		}
		snprintf(name, sizeof(name), "%" PRIu64 " more",
			 report->tasks + survey->other_tasks - count);
		fprintf(out, "  %-20s %5.1f%% %5.1f%%\n", name, 100 * report_share(rest, time),
			100 * report_share(references, all));
	}
	fprintf(out, "  (# + . it ran more than half, a tenth, some of the time; ~ ready; "
		"- blocked)\n");
}

static void print_marks(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;
	uint64_t kept = survey->marks < SURVEY_MARKS ? survey->marks : SURVEY_MARKS;

	if (!kept)
		return;
	title(out, "MARKS, at percent of the time");
	for (uint64_t i = 0; i < kept; i++)
		fprintf(out, "  %5.1f%%  %s\n",
			100 * report_share(survey->mark[i].time, survey->now),
			survey->mark[i].text);
	if (kept < survey->marks)
		fprintf(out, "  and %" PRIu64 " more\n", survey->marks - kept);
}

static void print_kinds(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;
	uint64_t all = survey_all_references(survey), working_set = 0;
	struct series set = { 0 };

	title(out, "PAGES BY KIND, referenced and alive");
	fprintf(out, "  %-12s %13s %6s %9s %9s %9s %s\n", "kind", "references", "", "pages",
		"at end", "shared", "alive over time");
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		uint64_t references = report_kind_references(survey, (enum lpl_page_kind)kind);
		uint64_t shared = 0, most = 0;

		if (!references)
			continue;
		fprintf(out, "  %-12s %13" PRIu64 " %5.1f%%",
			lpl_page_kind_name((enum lpl_page_kind)kind), references,
			100 * report_share(references, all));
		if (kind == LPL_PAGE_CACHE) {
			fprintf(out, "   (pages of files, by the kernel's own mapping)\n");
			continue;
		}
		for (int i = 2; i < SURVEY_SHARERS; i++)
			shared += survey->shared[kind][i];
		for (unsigned int bin = 0; bin < survey_bins(survey); bin++) {
			if (series_get(&survey->resident[kind], bin) > most)
				most = series_get(&survey->resident[kind], bin);
		}
		fprintf(out, " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " |%s|\n", survey->pages[kind],
			survey->alive[kind], shared,
			level_strip(survey, &survey->resident[kind], most).text);
	}
	for (unsigned int bin = 0; bin < survey_bins(survey); bin++) {
		uint64_t *place = series_at(&set, bin);

		if (place)
			*place = survey_working_set(survey, bin);
		if (survey_working_set(survey, bin) > working_set)
			working_set = survey_working_set(survey, bin);
	}
	fprintf(out, "  %-32s  %9s %9" PRIu64 " %9s |%s|\n", "working set (the most in one bin)",
		"", working_set, "", level_strip(survey, &set, working_set).text);
	series_free(&set);
	fprintf(out, "  the most alive at once: %" PRIu64 " pages (%.1f MiB), at %.1f%% of the "
		"time; a bin is %" PRIu64 " %s\n", survey->peak, (double)survey->peak / 256,
		100 * report_share(survey->peak_time, survey->now),
		UINT64_C(1) << survey->axis.shift, survey_clock_name[survey->clock]);
}

static void print_sharing(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;

	title(out, "PAGES BY HOW MANY PROGRAMS referenced them");
	fprintf(out, "  %-12s", "kind");
	for (int i = 0; i < SURVEY_SHARERS; i++)
		fprintf(out, " %12s", survey_sharers_name[i]);
	fputc('\n', out);
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (!survey->pages[kind])
			continue;
		fprintf(out, "  %-12s", lpl_page_kind_name((enum lpl_page_kind)kind));
		for (int i = 0; i < SURVEY_SHARERS; i++)
			fprintf(out, " %12" PRIu64, survey->shared[kind][i]);
		fputc('\n', out);
	}
	fprintf(out, "  the most programs on one page that is no kernel's: %" PRIu64 "\n",
		survey->most_users);
}

static void print_cache(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;
	uint64_t all = survey_all_references(survey);
	uint64_t by_kernel = report_kind_references(survey, LPL_PAGE_CACHE);
	uint64_t mapped = report_kind_references(survey, LPL_PAGE_FILE) +
			  report_kind_references(survey, LPL_PAGE_SHM);

	title(out, "PAGE CACHE");
	fprintf(out, "  references      mapped %" PRIu64 " (%.1f%%), by the kernel's own mapping %"
		PRIu64 " (%.1f%%)\n", mapped, 100 * report_share(mapped, all), by_kernel,
		100 * report_share(by_kernel, all));
	fprintf(out, "  pages reached   mapped alone %" PRIu64 ", by the kernel alone %" PRIu64
		", both %" PRIu64 "\n", survey->reached[REACH_MAPPED], survey->reached[REACH_CACHE],
		survey->reached[REACH_BOTH]);
	fprintf(out, "  pages           added %" PRIu64 ", removed %" PRIu64 "\n",
		survey->cache_added, survey->cache_removed);
	if (!report->files)
		return;
	fprintf(out, "\n  %-52s %9s %13s %6s %8s\n", "file", "pages", "references", "",
		"programs");
	for (size_t i = 0; i < report->files && i < report->top; i++) {
		const struct survey_file *file = report->file[i];
		char name[SURVEY_PLACE_TEXT];
		size_t length = strlen(survey_file_text(file, name));

		/* the end of a path says more than its beginning */
		fprintf(out, "  %-52s %9" PRIu64 " %13" PRIu64 " %5.1f%% %8" PRIu64 "\n",
			length > 52 ? name + length - 52 : name, file->pages, file->references,
			100 * report_share(file->references, all), file->most_users);
	}
	if (report->files > report->top)
		fprintf(out, "  %zu more\n", report->files - (size_t)report->top);
}

static void print_processes(const struct report *report, FILE *out)
{
	uint64_t all = report->processes + report->survey->other_processes;
	uint64_t shown = report->processes < report->top ? report->processes : report->top;

	title(out, "PROCESSES, by the pages they referenced (the kernel's not counted)");
	fprintf(out, "  %-22s %8s %8s %8s %8s %8s %8s %9s %8s\n", "process (tgid)", "pages", "file",
		"anon", "other", "private", "shared", "prop.", "kernel");
	for (uint64_t i = 0; i < shown; i++) {
		const struct survey_process *process = report->process[i];
		const struct survey_footprint *footprint = &process->footprint;
		uint64_t pages = survey_own_pages(process);
		char name[40];

		snprintf(name, sizeof(name), "%.14s (%" PRIu32 ")", process->name, process->tgid);
		fprintf(out, "  %-22s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64,
			process->number == 0 ? "kernel" : name, pages,
			footprint->pages[LPL_PAGE_FILE], footprint->pages[LPL_PAGE_ANONYMOUS],
			pages - footprint->pages[LPL_PAGE_FILE] -
			footprint->pages[LPL_PAGE_ANONYMOUS]);
		fprintf(out, " %8" PRIu64 " %8" PRIu64 " %9.1f %8" PRIu64 "\n", footprint->alone,
			pages - footprint->alone, footprint->proportional,
			report_kernel_pages(process));
	}
	if (all > shown)
		fprintf(out, "  %" PRIu64 " more\n", all - shown);
}

static void print_hottest(const struct survey *survey, enum survey_side side, FILE *out)
{
	uint64_t all = survey_all_references(survey);
	char where[SURVEY_PLACE_TEXT];

	fprintf(out, "  %-11s %-44s %13s %6s %9s\n", side == SIDE_KERNEL ? "kernel's" : "kind",
		"where", "references", "", "programs");
	for (uint64_t i = 0; i < survey->hottest[side].count; i++) {
		const struct survey_hot *hot = &survey->hottest[side].hot[i];
		size_t length = strlen(survey_place_text(survey, &hot->place, where));

		fprintf(out, "  %-11s %-44s %13" PRIu64 " %5.1f%% %9" PRIu64 "\n",
			lpl_page_kind_name(hot->place.kind),
			length > 44 ? where + length - 44 : where,
			hot->references, 100 * report_share(hot->references, all), hot->users);
	}
}

static void print_hot(const struct report *report, FILE *out)
{
	static const double share[] = { 0.5, 0.9, 0.99 };
	const struct survey *survey = report->survey;
	uint64_t pages = 0;

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		pages += survey->pages[kind];
	title(out, "HOTTEST PAGES");
	print_hottest(survey, SIDE_OTHERS, out);
	print_hottest(survey, SIDE_KERNEL, out);
	for (int i = 0; i < 3; i++) {
		uint64_t some = survey_concentration(survey, share[i]);

		fprintf(out, "  %2.0f%% of the references go to %" PRIu64 " pages, %.2f%% of all %"
			PRIu64 "\n", 100 * share[i], some, 100 * report_share(some, pages), pages);
	}
}

static void print_calls(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;
	struct survey_call all = survey->other_calls;

	for (size_t i = 0; i < report->calls; i++) {
		all.count += report->call[i]->count;
		all.errors += report->call[i]->errors;
	}
	if (!report->calls)
		return;
	title(out, "SYSTEM CALLS that were told");
	fprintf(out, "  %-24s %10s %10s\n", "call", "count", "errors");
	for (size_t i = 0; i < report->calls && i < report->top; i++) {
		const struct survey_call *call = report->call[i];

		fprintf(out, "  %-24.24s %10" PRIu64 " %10" PRIu64 "\n",
			call->name[0] ? call->name : "?", call->count, call->errors);
	}
	fprintf(out, "  %-24s %10" PRIu64 " %10" PRIu64 "\n", "all", all.count, all.errors);
	fprintf(out, "  by task:");
	for (uint64_t i = 0, told = 0; i < report->tasks && told < report->top; i++) {
		const struct survey_task *task = report->task[i];

		if (task->calls == 0)
			continue;
		fprintf(out, "%s%.15s (%" PRIu32 ") %" PRIu64, told % 4 == 0 && told ? ",\n    " :
			told ? ", " : " ", task->name, task->tid, task->calls);
		told++;
	}
	fputc('\n', out);
}

static void print_event(void *context, const char *name, uint64_t count)
{
	fprintf(context, " %s %" PRIu64 ";", name, count);
}

static void print_events(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;
	const struct lpl_merge_stats *stats = &survey->stats;

	title(out, "MEMORY EVENTS");
	fprintf(out, "  forks %" PRIu64 ", execs %" PRIu64 ", exits %" PRIu64 "\n",
		report_events(survey, KTR_SPACE_DUPLICATE), report_events(survey, KTR_EXEC),
		report_events(survey, KTR_EXIT));
	fprintf(out, "  copy on write: told %" PRIu64 " (%" PRIu64 " kept the page), seen by a "
		"write only %" PRIu64 "\n", stats->cow_breaks, stats->cow_kept, stats->implied_breaks);
	fprintf(out, "  swap: pages out %" PRIu64 ", in %" PRIu64 "\n", survey->swapped_out,
		survey->swapped_in);
	fprintf(out, "  all:");
	tally_each_event(&survey->tally, print_event, out);
	fputc('\n', out);
}

/* ---- charts of characters ---- */

#define MAP_ROWS 24
#define MAP_COLUMNS 80

static void print_heatmap(const struct report *report, FILE *out)
{
	static const char level[] = " .:-=+*#%@";
	const struct survey *survey = report->survey;
	uint64_t cell[MAP_ROWS][MAP_COLUMNS] = { { 0 } }, most = 1;
	unsigned int bins = survey_bins(survey);

	for (unsigned int row = 0; row < HEAT_ROWS; row++) {
		for (unsigned int bin = 0; bin < bins; bin++) {
			unsigned int column = bins <= MAP_COLUMNS ? bin : bin * MAP_COLUMNS / bins;
			uint64_t *place = &cell[row * MAP_ROWS / HEAT_ROWS][column];

			*place += survey->heat[row][bin];
			if (*place > most)
				most = *place;
		}
	}
	fprintf(out, "canonical pages upwards in the order of their first reference, a row is %.0f "
		"pages;\ntime to the right; from . to @ 1 to %" PRIu64 " references, on a log "
		"scale\n", (double)HEAT_ROWS / MAP_ROWS *
		(double)(UINT64_C(1) << survey->heat_shift), most);
	for (unsigned int row = MAP_ROWS; row-- > 0;) {
		fputs("  |", out);
		for (unsigned int i = 0; i < MAP_COLUMNS && i < bins; i++) {
			double part = most > 1 && cell[row][i] ?
				log((double)cell[row][i]) / log((double)most) : 1;

			fputc(cell[row][i] ? level[1 + (int)(part * 8 + 0.5)] : ' ', out);
		}
		fputs("|\n", out);
	}
}

void report_text_chart(const struct report *report, enum chart_kind chart, FILE *out)
{
	const struct survey *survey = report->survey;
	uint64_t most = 0;

	switch (chart) {
	case CHART_TIMELINE:
		print_tasks(report, out);
		print_marks(report, out);
		break;
	case CHART_FOOTPRINT:
		print_kinds(report, out);
		break;
	case CHART_PROCESSES:
		title(out, "PAGES ALIVE that each process referenced (the kernel's not counted)");
		for (uint64_t i = 0; i < report->processes && i < report->top; i++) {
			if (report->process[i]->number != 0 && report->process[i]->peak > most)
				most = report->process[i]->peak;
		}
		for (uint64_t i = 0; i < report->processes && i < report->top; i++) {
			const struct survey_process *process = report->process[i];

			if (process->number == 0)
				continue;
			fprintf(out, "  %-20.20s %8" PRIu32 " %9" PRIu64 " at most |%s|\n",
				process->name, process->tgid, process->peak,
				level_strip(survey, &process->resident, most).text);
		}
		break;
	default:
		print_heatmap(report, out);
	}
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

void report_text(const struct report *report, FILE *out)
{
	print_trace(report, out);
	title(out, "NOTES");
	report_notes(report, print_note, out);
	if (survey_all_references(report->survey) == 0 && report->survey->tally.events == 0) {
		print_note(out, "The trace holds no reference and no event.");
		return;
	}
	print_tasks(report, out);
	print_marks(report, out);
	print_kinds(report, out);
	print_sharing(report, out);
	print_cache(report, out);
	print_processes(report, out);
	print_hot(report, out);
	print_calls(report, out);
	print_events(report, out);
}
