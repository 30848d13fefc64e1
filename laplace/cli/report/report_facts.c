/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the forms of a report have in common: what a reader has to know of the numbers.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>
#include <laplace/trace.h>

#include "cli/say.h"
#include "report.h"

const char *report_addresses(const struct surveyed_trace *trace)
{
	const struct lpl_event_kind *kind = lpl_event_kinds();

	if (trace->kind.is_canonical)
		return "canonical";
	for (size_t i = 0; i < LPL_EVENT_KINDS; i++) {
		if (lpl_event_maps(kind[i].tag) && report_events(trace->survey, kind[i].tag))
			return "canonical";
	}
	return report_events(trace->survey, LPL_EVENT_STATE) ? "canonical" : "virtual";
}

/* ---- notes ---- */

struct notes {
	void (*note)(void *context, const char *text);
	void *context;
};

__attribute__((format(printf, 2, 3)))
static void note(const struct notes *notes, const char *format, ...)
{
	char *text;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	notes->note(notes->context, length < 0 ? "There was no memory for a note." : text);
	if (length >= 0)
		free(text);
}

static void note_walks(const struct notes *notes, const struct surveyed_trace *trace)
{
	const uint64_t *type = trace->survey->references->by_type;

	if (!trace->kind.is_whole && type[LPL_WALK_READ] + type[LPL_WALK_WRITE])
		note(notes, "What page walks were made for is not said: the reference may be one of those "
		     "that the reduction dropped.");
}

static void note_reduction(const struct notes *notes, const struct surveyed_trace *trace)
{
	const struct cli_trace_kind *kind = &trace->kind;
	const char *reduction = kind->reduction;
	char *escaped;

	if (kind->is_whole)
		return;
	escaped = cli_escaped(reduction);
	note(notes, "The trace is reduced (%s): counts of references are of the %" PRIu64 " that were "
	     "kept%s, and say little of how often a page was really used. Times of tasks are whole. "
	     "Where processes share a page, references of one may have been dropped for another's, so "
	     "that sharing is counted too low.", escaped ? escaped : "?",
	     trace->survey->references->all,
	     trace->references_made ? "" : " (of how many is not known)");
	free(escaped);
	if (!lpl_reduction_fenced(reduction))
		note(notes, "It was reduced without fences: a page may have been another one before, "
		     "and numbers of pages are not exact.");
}

static void note_anomalies(const struct notes *notes, const struct lpl_merge_stats *stats)
{
	char list[64 * LPL_ANOMALIES] = "";
	size_t used = 0;
	uint64_t odd = 0;

	for (int i = 0; i < LPL_ANOMALIES; i++) {
		if (i == LPL_ANOMALY_GAP || !stats->anomalies[i])
			continue;
		odd += stats->anomalies[i];
		used += (size_t)snprintf(list + used, sizeof(list) - used, " %.40s %" PRIu64,
					 lpl_merge_anomaly_name((enum lpl_merge_anomaly)i),
					 stats->anomalies[i]);
	}
	if (odd)
		note(notes, "%" PRIu64 " events do not fit those before them (`laplace merge --audit' "
		     "shows them):%s", odd, list);
}

static void note_merge(const struct notes *notes, const struct surveyed_trace *trace)
{
	const struct lpl_merge_stats *stats = trace->survey->merge;
	const uint64_t unresolved = stats->references[LPL_PAGE_UNRESOLVED];
	char percent[CLI_PERCENT_SIZE];

	if (unresolved)
		note(notes, "%" PRIu64 " references (%s) are to addresses of programs where no mapping "
		     "is known, %" PRIu64 " of them made in user mode; what was made before the guest "
		     "reported anything is among them.", unresolved,
		     cli_percent(percent, 2, unresolved, trace->survey->references->all),
		     stats->user_unresolved);
	note_anomalies(notes, stats);
}

void report_notes(const struct surveyed_trace *trace,
		  void (*each)(void *context, const char *text), void *context)
{
	const struct lpl_survey *survey = trace->survey;
	const struct notes notes = { each, context };

	if (survey->merge->gaps)
		note(&notes, "Records are missing at %" PRIu64 " places: %" PRIu64 " references and %"
		     PRIu64 " events, as far as is known. What the guest reported before is forgotten "
		     "there, and %" PRIu64 " references after them are of no known task.",
		     survey->merge->gaps, survey->merge->gap_references, survey->merge->gap_events,
		     survey->merge->gap_unknown);
	if (survey->merge->forgotten)
		note(&notes, "What the guest reported took more memory than it may, %" PRIu64
		     " times: all of it was forgotten there, tasks count as lost, and references after "
		     "it are of no known task until the guest reports more.", survey->merge->forgotten);
	if (!report_events(survey, KTR_SCHEDULE) && !report_events(survey, KTR_TASK_CREATE))
		note(&notes, "The guest's kernel reported no tasks: what ran is not known, and all is "
		     "given to boot (task 0).");
	else if (!report_events(survey, KTR_SNAPSHOT) && !report_events(survey, LPL_EVENT_STATE))
		note(&notes, "There is no snapshot: what existed before the trace began is known only "
		     "as far as it was used.");
	if (trace->kind.is_canonical)
		note(&notes, "The trace has canonical pages: it does not say when one leaves, so that "
		     "all are alive from their first references to the end, nor what is mapped, or "
		     "added to the page cache.");
	note_reduction(&notes, trace);
	note_walks(&notes, trace);
	note_merge(&notes, trace);
	if (survey->tasks->others)
		note(&notes, "%" PRIu64 " tasks are counted together: those that ran least, or began "
		     "when too many lived, which count as one thread.", survey->tasks->others);
	if (survey->processes->others)
		note(&notes, "%" PRIu64 " processes are counted together: those that had the fewest "
		     "pages, or began when too many lived, which count as one program, so that sharing "
		     "among them is counted too low.", survey->processes->others);
	if (report_events(survey, LPL_EVENT_TRACING) > 2)
		note(&notes, "Tracing was off in between: clocks jump there, and the time counts as "
		     "that of the task that ran.");
	if (survey->calls->others.count || survey->calls->others.returned)
		note(&notes, "There are more different system calls than this report counts one by "
		     "one; the others are summed.");
}
