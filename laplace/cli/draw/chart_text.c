/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Charts drawn with characters, of at most 100 columns of printable ASCII: tables with a line
 * over time, which the report has, too, and the heat map.
 */
#include <inttypes.h>
#include <math.h>

#include "chart.h"

static void title(FILE *out, const char *text)
{
	fprintf(out, "\n%s\n", text);
}

/* ---- lines over time ---- */

#define STRIP 32	/* columns */

/* A character for each stretch of the time. */
struct strip {
	char text[STRIP + 1];
};

/* Which column a bin is in. */
static unsigned int column_of(const struct lpl_survey *survey, unsigned int bin)
{
	unsigned int bins = survey->time->bins;

	return bins <= STRIP ? bin : bin * STRIP / bins;
}

static unsigned int columns(const struct lpl_survey *survey)
{
	unsigned int bins = survey->time->bins;

	return bins < STRIP ? bins : STRIP;
}

/* What a task did: a column shows how much it ran, or else what it waited for. */
static struct strip task_strip(const struct lpl_survey *survey,
			       const struct lpl_survey_task *task)
{
	uint64_t time[STRIP][LPL_SURVEY_ACTIVITIES] = { { 0 } }, width[STRIP] = { 0 };
	struct strip strip = { "" };

	for (unsigned int bin = 0; bin < survey->time->bins; bin++) {
		unsigned int column = column_of(survey, bin);

		width[column] += lpl_survey_bin_start(survey->time, 1);
		for (int i = 0; i < LPL_SURVEY_ACTIVITIES; i++)
			time[column][i] += lpl_time_series_get(&task->activity[i], bin);
	}
	for (unsigned int i = 0; i < columns(survey); i++) {
		const uint64_t *did = time[i];
		double ran = share_of(did[LPL_SURVEY_RUNNING], width[i]);

		strip.text[i] = ran > 0.5 ? '#' : ran > 0.1 ? '+' : ran > 0 ? '.' :
				did[LPL_SURVEY_READY] > 0 ? '~' :
				did[LPL_SURVEY_BLOCKED] > 0 ? '-' : ' ';
	}
	return strip;
}

static uint64_t most_of(const struct lpl_survey *survey, const struct lpl_time_series *series)
{
	uint64_t most = 0;

	for (unsigned int bin = 0; bin < survey->time->bins; bin++) {
		if (lpl_time_series_get(series, bin) > most)
			most = lpl_time_series_get(series, bin);
	}
	return most;
}

/* A number over time, by height. */
static struct strip level_strip(const struct lpl_survey *survey,
				const struct lpl_time_series *series, uint64_t most)
{
	static const char level[] = "_.-=*#";
	uint64_t value[STRIP] = { 0 };
	struct strip strip = { "" };

	for (unsigned int bin = 0; bin < survey->time->bins; bin++) {
		uint64_t *place = &value[column_of(survey, bin)];

		if (lpl_time_series_get(series, bin) > *place)
			*place = lpl_time_series_get(series, bin);
	}
	for (unsigned int i = 0; i < columns(survey); i++)
		strip.text[i] = value[i] == 0 ? ' ' :
			level[(size_t)(share_of(value[i], most) * (sizeof(level) - 2) + 0.5)];
	return strip;
}

/* ---- tables ---- */

void chart_text_tasks(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t time = survey->tasks->running, all = survey->references->all;
	uint64_t count = trace->tasks < trace->top ? trace->tasks : trace->top;
	char end[32], name[32];

	title(out, "TASKS, by the time they ran");
	fprintf(out, "  %-20s %6s %6s %7s %7s %7s  %-9s %s\n", "task (tid)", "time", "refs",
		"sched", "blocked", "preempt", "end", "over time");
	for (uint64_t i = 0; i < count; i++) {
		const struct lpl_survey_task *task = trace->task[i];
		const uint64_t *left = task->left;
		uint64_t blocked = left[LPL_SURVEY_SLEEPING] + left[LPL_SURVEY_WAITING] +
				   left[LPL_SURVEY_STOPPED] + left[LPL_SURVEY_IDLE];

		snprintf(name, sizeof(name), "%.12s (%" PRIu32 ")",
			 task->name, task->tid);
		fprintf(out, "  %-20s %5.1f%% %5.1f%% %7" PRIu64 " %7" PRIu64 " %7" PRIu64
			"  %-9s|%s|\n", name, 100 * share_of(task->time[LPL_SURVEY_RUNNING], time),
			100 * share_of(task->references, all), task->scheduled, blocked,
			left[LPL_SURVEY_PREEMPTED], surveyed_task_end(task, end),
			task_strip(survey, task).text);
	}
	if (count < trace->tasks + survey->tasks->others) {
		uint64_t rest = survey->tasks->sum->time[LPL_SURVEY_RUNNING];
		uint64_t references = survey->tasks->sum->references;

		for (uint64_t i = count; i < trace->tasks; i++) {
			rest += trace->task[i]->time[LPL_SURVEY_RUNNING];
			references += trace->task[i]->references;
		}
		snprintf(name, sizeof(name), "%" PRIu64 " more",
			 trace->tasks + survey->tasks->others - count);
		fprintf(out, "  %-20s %5.1f%% %5.1f%%\n", name, 100 * share_of(rest, time),
			100 * share_of(references, all));
	}
	fprintf(out, "  (# + . it ran more than half, a tenth, some of the time; ~ ready; "
		"- blocked)\n");
}

void chart_text_marks(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	uint64_t kept = survey->events->marks_kept;

	if (!kept)
		return;
	title(out, "MARKS, at percent of the time");
	for (uint64_t i = 0; i < kept; i++)
		fprintf(out, "  %5.1f%%  %s\n",
			100 * share_of(survey->events->mark[i].time, survey->time->length),
			survey->events->mark[i].text);
	if (kept < survey->events->marks)
		fprintf(out, "  and %" PRIu64 " more\n", survey->events->marks - kept);
}

void chart_text_kinds(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_survey_pages *pages = survey->pages;
	uint64_t all = survey->references->all, most;

	title(out, "PAGES BY KIND, referenced and alive");
	fprintf(out, "  %-12s %13s %6s %9s %9s %9s %s\n", "kind", "references", "", "pages",
		"at end", "shared", "alive over time");
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		uint64_t references = survey->references->by_kind[kind];
		uint64_t shared = 0;

		if (!references)
			continue;
		fprintf(out, "  %-12s %13" PRIu64 " %5.1f%%",
			lpl_page_kind_name((enum lpl_page_kind)kind), references,
			100 * share_of(references, all));
		if (kind == LPL_PAGE_CACHE) {
			fprintf(out, "   (pages of files, by the kernel's own mapping)\n");
			continue;
		}
		for (int i = 2; i < LPL_SURVEY_SHARINGS; i++)
			shared += pages->by_sharing[kind][i];
		most = most_of(survey, &pages->alive_by_bin[kind]);
		fprintf(out, " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " |%s|\n",
			pages->ever[kind], pages->alive[kind], shared,
			level_strip(survey, &pages->alive_by_bin[kind], most).text);
	}
	most = most_of(survey, &pages->working_set);
	fprintf(out, "  %-32s  %9s %9" PRIu64 " %9s |%s|\n", "working set (the most in one bin)",
		"", most, "", level_strip(survey, &pages->working_set, most).text);
	fprintf(out, "  the most alive at once: %" PRIu64 " pages (%.1f MiB), at %.1f%% of the "
		"time; a bin is %" PRIu64 " %s\n", pages->most_alive,
		(double)pages->most_alive / 256,
		100 * share_of(pages->most_alive_time, survey->time->length),
		lpl_survey_bin_start(survey->time, 1), lpl_survey_clock_name(survey->time->clock));
}

static void draw_processes(const struct surveyed_trace *trace, FILE *out)
{
	uint64_t count = trace->processes < trace->top ? trace->processes : trace->top, most = 0;

	title(out, "PAGES ALIVE that each process referenced (the kernel's not counted)");
	for (uint64_t i = 0; i < count; i++) {
		if (trace->process[i]->number != 0 && trace->process[i]->most_alive > most)
			most = trace->process[i]->most_alive;
	}
	for (uint64_t i = 0; i < count; i++) {
		const struct lpl_survey_process *process = trace->process[i];

		if (process->number == 0)
			continue;
		fprintf(out, "  %-20.20s %8" PRIu32 " %9" PRIu64 " at most |%s|\n",
			process->name, process->tgid, process->most_alive,
			level_strip(trace->survey, &process->alive_by_bin, most).text);
	}
}

/* ---- the heat map ---- */

#define MAP_ROWS 24
#define MAP_COLUMNS 80

static void draw_heatmap(const struct surveyed_trace *trace, FILE *out)
{
	static const char level[] = " .:-=+*#%@";
	const struct lpl_survey *survey = trace->survey;
	uint64_t cell[MAP_ROWS][MAP_COLUMNS] = { { 0 } }, most = 1;
	unsigned int bins = survey->time->bins;

	for (unsigned int row = 0; row < LPL_SURVEY_ROWS; row++) {
		for (unsigned int bin = 0; bin < bins; bin++) {
			unsigned int column = bins <= MAP_COLUMNS ? bin : bin * MAP_COLUMNS / bins;
			uint64_t *place = &cell[row * MAP_ROWS / LPL_SURVEY_ROWS][column];

			*place += survey->heatmap->references[row][bin];
			if (*place > most)
				most = *place;
		}
	}
	fprintf(out, "canonical pages upwards in the order of their first reference, a row is "
		"%.0f pages;\ntime to the right; from . to @ 1 to %" PRIu64 " references, on a log "
		"scale\n", (double)LPL_SURVEY_ROWS / MAP_ROWS *
		(double)(UINT64_C(1) << survey->heatmap->row_shift), most);
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

void chart_text(enum chart_kind kind, const struct surveyed_trace *trace, FILE *out)
{
	switch (kind) {
	case CHART_TIMELINE:
		chart_text_tasks(trace, out);
		chart_text_marks(trace, out);
		break;
	case CHART_FOOTPRINT:
		chart_text_kinds(trace, out);
		break;
	case CHART_PROCESSES:
		draw_processes(trace, out);
		break;
	default:
		draw_heatmap(trace, out);
	}
}
