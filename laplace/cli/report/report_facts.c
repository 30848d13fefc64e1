/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the forms of a report have in common: names, and what a reader has to know of the
 * numbers.
 */
#include <inttypes.h>
#include <string.h>

#include <laplace/reducer.h>
#include <laplace/trace.h>

#include "cli/say.h"
#include "report.h"
#include "symbols.h"

/* ---- names ---- */

char *report_file_text(const struct lpl_survey_file *file, char buf[REPORT_PLACE_TEXT])
{
	if (file->name)
		snprintf(buf, REPORT_PLACE_TEXT, "%s", file->name);
	else if (file->inode & KTR_INODE_SYSV)
		snprintf(buf, REPORT_PLACE_TEXT, "segment %" PRIu64,
			 file->inode & ~KTR_INODE_SYSV);
	else
		snprintf(buf, REPORT_PLACE_TEXT, "inode %" PRIu64 " of device %" PRIu64 ":%"
			 PRIu64, file->inode, file->device >> 20, file->device & 0xfffff);
	return buf;
}

/* An address of the kernel's, and which symbol it lies in. */
static void kernel_place(const struct surveyed_trace *trace, uint64_t address,
			 char buf[REPORT_PLACE_TEXT])
{
	uint64_t offset;
	const char *name = trace->symbols ? symbols_find(trace->symbols, address, &offset) : NULL;

	if (name)
		snprintf(buf, REPORT_PLACE_TEXT, "%" PRIx64 " %.200s+%" PRIx64, address, name,
			 offset);
	else
		snprintf(buf, REPORT_PLACE_TEXT, "%" PRIx64, address);
}

char *report_place_text(const struct surveyed_trace *trace,
			const struct lpl_survey_hot_page *page, char buf[REPORT_PLACE_TEXT])
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_survey_task *task = lpl_survey_task(survey, page->task);
	size_t length;

	if (page->file != 0) {
		report_file_text(&survey->files->file[page->file - 1], buf);
		length = strlen(buf);
		snprintf(buf + length, REPORT_PLACE_TEXT - length, ", page %" PRIu64,
			 page->offset);
	} else if (page->kind == LPL_PAGE_PHYSICAL) {
		snprintf(buf, REPORT_PLACE_TEXT, "physical %" PRIx64, page->offset << 12);
	} else if (page->kind == LPL_PAGE_KERNEL) {
		kernel_place(trace, page->offset << 12, buf);
	} else if (!task) {
		snprintf(buf, REPORT_PLACE_TEXT, "%" PRIx64, page->offset << 12);
	} else {
		snprintf(buf, REPORT_PLACE_TEXT, "%" PRIx64 " of %s (%" PRIu32 ")",
			 page->offset << 12, task->name, task->tid);
	}
	return buf;
}

/* An exec alone says what runs, and not what is mapped. */
const char *report_addresses(const struct surveyed_trace *trace)
{
	const struct lpl_event_kind *kind = lpl_event_kinds();

	for (size_t i = 0; i < LPL_EVENT_KINDS; i++) {
		if (kind[i].fence && kind[i].tag != KTR_EXEC &&
		    report_events(trace->survey, kind[i].tag))
			return "canonical";
	}
	return report_events(trace->survey, LPL_EVENT_STATE) ? "canonical" : "virtual";
}

/* ---- notes ---- */

static void note_reduction(const struct surveyed_trace *trace,
			   void (*note)(void *context, const char *text), void *context)
{
	const struct cli_trace_kind *kind = &trace->kind;
	const char *reduction = kind->reduction;
	uint64_t all = trace->survey->references->all;
	char escaped[128], text[512];

	if (kind->is_whole)
		return;
	lpl_text_escape(escaped, sizeof(escaped), reduction, strlen(reduction));
	snprintf(text, sizeof(text), "The trace is reduced (%s): counts of references are of the %"
		 PRIu64 " that were kept%s, and say little of how often a page was really used. "
		 "Times of tasks are whole. Where processes share a page, references of one may "
		 "have been dropped for another's, so that sharing is counted too low.",
		 escaped, all,
		 trace->references_made ? "" : " (of how many is not known)");
	note(context, text);
	if (!lpl_reduction_fenced(reduction))
		note(context, "It was reduced without fences: a page may have been another one "
		     "before, and numbers of pages are not exact.");
}

static void note_merge(const struct surveyed_trace *trace,
		       void (*note)(void *context, const char *text), void *context)
{
	const struct lpl_merge_stats *stats = trace->survey->merge;
	uint64_t odd = 0;
	char text[1024], percent[CLI_PERCENT_SIZE];
	size_t used;

	if (stats->references[LPL_PAGE_UNRESOLVED]) {
		snprintf(text, sizeof(text), "%" PRIu64 " references (%s) are to addresses of "
			 "programs where no mapping is known, %" PRIu64 " of them made in user "
			 "mode; what was made before the guest reported anything is among them.",
			 stats->references[LPL_PAGE_UNRESOLVED],
			 cli_percent(percent, 2, stats->references[LPL_PAGE_UNRESOLVED],
				     trace->survey->references->all),
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

void report_notes(const struct surveyed_trace *trace,
		  void (*note)(void *context, const char *text), void *context)
{
	const struct lpl_survey *survey = trace->survey;
	char text[512];

	if (survey->merge->gaps) {
		snprintf(text, sizeof(text), "Records are missing at %" PRIu64 " places: %" PRIu64
			 " references and %" PRIu64 " events, as far as is known. What the guest "
			 "reported before is forgotten there, and %" PRIu64 " references after "
			 "them are of no known task.", survey->merge->gaps, survey->merge->gap_references,
			 survey->merge->gap_events, survey->merge->gap_unknown);
		note(context, text);
	}
	if (survey->merge->forgotten) {
		snprintf(text, sizeof(text), "What the guest reported took more memory than it "
			 "may, %" PRIu64 " times: all of it was forgotten there, tasks count as lost, and "
			 "references after it are of no known task until the guest reports more.",
			 survey->merge->forgotten);
		note(context, text);
	}
	if (!report_events(survey, KTR_SCHEDULE) && !report_events(survey, KTR_TASK_CREATE))
		note(context, "The guest's kernel reported no tasks: what ran is not known, and "
		     "all is given to boot (task 0).");
	else if (!report_events(survey, KTR_SNAPSHOT) && !report_events(survey, LPL_EVENT_STATE))
		note(context, "There is no snapshot: what existed before the trace began is known "
		     "only as far as it was used.");
	note_reduction(trace, note, context);
	note_merge(trace, note, context);
	if (survey->tasks->others) {
		snprintf(text, sizeof(text), "%" PRIu64 " tasks are counted together: those that "
			 "ran least, or began when too many lived, which count as one thread.",
			 survey->tasks->others);
		note(context, text);
	}
	if (survey->processes->others) {
		snprintf(text, sizeof(text), "%" PRIu64 " processes are counted together: those "
			 "that had the fewest pages, or began when too many lived, which count as "
			 "one program, so that sharing among them is counted too low.",
			 survey->processes->others);
		note(context, text);
	}
	if (report_events(survey, LPL_EVENT_TRACING) > 2)
		note(context, "Tracing was off in between: clocks jump there, and the time counts "
		     "as that of the task that ran.");
	if (survey->calls->others.count || survey->calls->others.returned)
		note(context, "There are more different system calls than this report counts one "
		     "by one; the others are summed.");
}

uint64_t report_within_program(const struct lpl_survey *survey)
{
	const uint64_t *pages = survey->pages->within_program;
	uint64_t all = 0;

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (kind != LPL_PAGE_KERNEL && kind != LPL_PAGE_PHYSICAL)
			all += pages[kind];
	}
	return all;
}
