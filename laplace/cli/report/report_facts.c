/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the forms of a report have in common: orders, sums, and what a reader has to know
 * of the numbers.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* ---- orders ---- */

static int descending(uint64_t one, uint64_t other, uint64_t number, uint64_t other_number)
{
	if (one != other)
		return one > other ? -1 : 1;
	return number < other_number ? -1 : number > other_number;
}

static int by_time(const void *a, const void *b)
{
	const struct survey_task *one = *(struct survey_task *const *)a;
	const struct survey_task *other = *(struct survey_task *const *)b;

	if (one->time[SURVEY_RUNS] == other->time[SURVEY_RUNS])
		return descending(one->references, other->references, one->serial, other->serial);
	return descending(one->time[SURVEY_RUNS], other->time[SURVEY_RUNS], 0, 0);
}

uint64_t report_kernel_pages(const struct survey_process *process)
{
	return process->footprint.pages[LPL_PAGE_KERNEL] +
	       process->footprint.pages[LPL_PAGE_PHYSICAL];
}

static int by_pages(const void *a, const void *b)
{
	const struct survey_process *one = *(struct survey_process *const *)a;
	const struct survey_process *other = *(struct survey_process *const *)b;

	return descending(survey_own_pages(one), survey_own_pages(other), one->number,
			  other->number);
}

static int by_count(const void *a, const void *b)
{
	const struct survey_call *one = *(struct survey_call *const *)a;
	const struct survey_call *other = *(struct survey_call *const *)b;

	return descending(one->count, other->count, one->number, other->number);
}

static int by_references(const void *a, const void *b)
{
	const struct survey_file *one = *(struct survey_file *const *)a;
	const struct survey_file *other = *(struct survey_file *const *)b;

	return descending(one->references, other->references, one->inode, other->inode);
}

int report_make(struct report *report, const struct survey *survey,
		const struct survey_trace *trace, uint64_t top)
{
	*report = (struct report){ .survey = survey, .trace = trace, .top = top };
	report->task = calloc(survey->kept_tasks + 1, sizeof(struct survey_task *));
	report->process = calloc(survey->kept_processes + 1, sizeof(struct survey_process *));
	report->call = calloc(survey->calls + 1, sizeof(struct survey_call *));
	report->file = calloc(survey->files + 1, sizeof(struct survey_file *));
	if (!report->task || !report->process || !report->call || !report->file) {
		report_free(report);
		return cli_complain(CLI_FAILED, "no memory for the report");
	}
	for (uint64_t i = 0; i < survey->kept_tasks; i++)
		report->task[report->tasks++] = survey->kept_task[i];
	for (uint64_t i = 0; i < survey->kept_processes; i++)
		report->process[report->processes++] = survey->kept_process[i];
	for (size_t i = 0; i < survey->calls; i++)
		report->call[report->calls++] = &survey->call[i];
	for (size_t i = 0; i < survey->files; i++)
		report->file[report->files++] = &survey->file[i];
	qsort(report->task, report->tasks, sizeof(struct survey_task *), by_time);
	qsort(report->process, report->processes, sizeof(struct survey_process *), by_pages);
	qsort(report->call, report->calls, sizeof(struct survey_call *), by_count);
	qsort(report->file, report->files, sizeof(struct survey_file *), by_references);
	return CLI_DONE;
}

void report_free(struct report *report)
{
	free(report->task);
	free(report->process);
	free(report->call);
	free(report->file);
	*report = (struct report){ 0 };
}

/* ---- sums ---- */

uint64_t report_kind_references(const struct survey *survey, enum lpl_page_kind kind)
{
	uint64_t all = 0;

	for (int type = 0; type < LPL_TYPES; type++)
		all += survey->references[kind][type];
	return all;
}

uint64_t report_events(const struct survey *survey, uint32_t tag)
{
	return tag < TALLY_TAGS ? survey->tally.tag[tag] : 0;
}

uint64_t report_time(const struct survey *survey)
{
	uint64_t time = survey->other_task.time[SURVEY_RUNS];

	for (uint64_t i = 0; i < survey->kept_tasks; i++)
		time += survey->kept_task[i]->time[SURVEY_RUNS];
	return time;
}

bool report_tells_tasks(const struct survey *survey)
{
	return report_events(survey, KTR_SCHEDULE) || report_events(survey, KTR_TASK_CREATE);
}

char *report_end_text(const struct survey_task *task, char buf[32])
{
	static const char *const name[] = {
		[LPL_TASK_LIVES] = "lives", [LPL_TASK_LOST] = "lost", [LPL_TASK_LEFT] = "lives"
	};

	if (task->state != LPL_TASK_EXITED)
		snprintf(buf, 32, "%s", name[task->state]);
	else if ((task->exit_code & 0x7f) != 0)
		snprintf(buf, 32, "signal %u", (unsigned int)(task->exit_code & 0x7f));
	else
		snprintf(buf, 32, "exit %u", (unsigned int)(task->exit_code >> 8 & 0xff));
	return buf;
}

uint64_t report_cycles_a_second(const struct survey_trace *trace)
{
	const char *machine = lpl_meta_get(trace->meta, LPL_META_MACHINE);
	const char *ips = machine ? strstr(machine, "ips=") : NULL;

	return ips ? strtoull(ips + 4, NULL, 10) : 0;
}

/* ---- notes ---- */

static void note_reduction(const struct report *report,
			   void (*note)(void *context, const char *text), void *context)
{
	const char *reduction = lpl_meta_get(report->trace->meta, LPL_META_REDUCTION);
	uint64_t all = survey_all_references(report->survey);
	char escaped[128], text[512];

	if (!reduction || strcmp(reduction, "none") == 0)
		return;
	lpl_text_escape(escaped, sizeof(escaped), reduction, strlen(reduction));
	snprintf(text, sizeof(text), "The trace is reduced (%s): counts of references are of the %"
		 PRIu64 " that were kept%s, and say little of how often a page was really used. "
		 "Times of tasks are whole. Where processes share a page, references of one may "
		 "have been dropped for another's, so that sharing is told too low.", escaped, all,
		 report->trace->before ? "" : " (of how many is not told)");
	note(context, text);
}

static void note_merge(const struct report *report,
		       void (*note)(void *context, const char *text), void *context)
{
	const struct lpl_merge_stats *stats = &report->survey->stats;
	uint64_t odd = 0;
	char text[1024], percent[CLI_PERCENT_SIZE];
	size_t used;

	if (stats->references[LPL_PAGE_UNRESOLVED]) {
		snprintf(text, sizeof(text), "%" PRIu64 " references (%s) are to addresses of "
			 "programs where no mapping is known, %" PRIu64 " of them made in user "
			 "mode; what came before the guest told anything is among them.",
			 stats->references[LPL_PAGE_UNRESOLVED],
			 cli_percent(percent, 2, stats->references[LPL_PAGE_UNRESOLVED],
				     survey_all_references(report->survey)),
			 stats->user_unresolved);
		note(context, text);
	}
	for (int i = 0; i < LPL_ANOMALIES; i++)
		odd += i == LPL_ANOMALY_GAP ? 0 : stats->anomalies[i];
	if (!odd)
		return;
	used = (size_t)snprintf(text, sizeof(text), "%" PRIu64 " events do not fit those before "
				"them (`laplace merge --audit' shows them):", odd);
	for (int i = 0; i < LPL_ANOMALIES && used < sizeof(text) - 64; i++) {
		if (stats->anomalies[i] && i != LPL_ANOMALY_GAP)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %s %" PRIu64,
				lpl_merge_anomaly_name((enum lpl_merge_anomaly)i), stats->anomalies[i]);
	}
	note(context, text);
}

void report_notes(const struct report *report, void (*note)(void *context, const char *text),
		  void *context)
{
	const struct survey *survey = report->survey;
	char text[512];

	if (survey->stats.gaps) {
		snprintf(text, sizeof(text), "Records are missing at %" PRIu64 " places: %" PRIu64
			 " references and %" PRIu64 " events, as far as is known. What the guest "
			 "told before is forgotten there, and %" PRIu64 " references behind them "
			 "are nobody's.", survey->stats.gaps, survey->stats.gap_references,
			 survey->stats.gap_events, survey->stats.gap_unknown);
		note(context, text);
	}
	if (!report_tells_tasks(survey))
		note(context, "The guest's kernel told nothing of tasks: who ran is not known, and "
		     "all is given to boot (task 0).");
	else if (!report_events(survey, KTR_SNAPSHOT))
		note(context, "There is no snapshot: what existed before the trace began is known "
		     "only as far as it was used.");
	note_reduction(report, note, context);
	note_merge(report, note, context);
	if (survey->other_tasks) {
		snprintf(text, sizeof(text), "%" PRIu64 " tasks are told of in sum: those that "
			 "ran least, or came when too many lived.", survey->other_tasks);
		note(context, text);
	}
	if (survey->other_processes) {
		snprintf(text, sizeof(text), "%" PRIu64 " processes are told of in sum: those "
			 "that had the fewest pages, or came when too many lived, which count as one "
			 "program, so that sharing among them is told too low.",
			 survey->other_processes);
		note(context, text);
	}
	if (survey->tally.tracing > 2)
		note(context, "Tracing was off in between: clocks jump there, and the time counts "
		     "as that of the task that ran.");
	if (survey->other_calls.count || survey->other_calls.returned)
		note(context, "There are more different system calls than this report counts one "
		     "by one; the others are summed.");
}
