/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey: an output of a merge of its own, which gives each record to those that count it.
 *
 *	stream ─► lpl_merge ─► survey.c ─┬─ survey_events
 *	                                 ├─ survey_tasks ─ survey_processes
 *	                                 ├─ survey_frames ─ survey_spaces
 *	                                 ├─ survey_walks
 *	                                 └─ survey_pages ─┬─ survey_files, survey_hottest
 *	                                                  └─ survey_page_times
 *
 * Each of them owns a part of the results, and frees it.  What moves time, and folds what is
 * kept by bin, is here.
 */
#include <laplace/survey.h>

#include <stddef.h>
#include <stdlib.h>

#include "base/try.h"
#include "survey_events.h"
#include "survey_frames.h"
#include "survey_pages.h"
#include "survey_processes.h"
#include "survey_tasks.h"
#include "survey_time.h"
#include "survey_walks.h"

struct survey {
	struct lpl_survey results;	/* first, so that one is the other */
	struct lpl_merge_output output;
	struct lpl_merge *merge;
	struct survey_time time;
	struct lpl_survey_references references;
	struct lpl_survey_events events;
	struct lpl_survey_calls calls;
	struct survey_tasks tasks;
	struct survey_processes processes;
	struct survey_pages pages;
	struct survey_frames frames;
	struct survey_walks walks;
	bool in_state;			/* a state lists what exists (LPL_EVENT_STATE) */
};

static struct survey *survey_of(struct lpl_merge_output *output)
{
	return (struct survey *)((char *)output - offsetof(struct survey, output));
}

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the survey");
}

/* ---- time ---- */

const char *lpl_survey_clock_name(enum lpl_survey_clock clock)
{
	static const char *const name[LPL_SURVEY_CLOCKS] = {
		"cycles", "instructions", "references"
	};

	return name[clock];
}

static bool close_bins(struct survey *survey, unsigned int end)
{
	for (; survey->time.bin < end; survey->time.bin++) {
		if (!lpl_survey_tasks_count(&survey->tasks) ||
		    !lpl_survey_processes_close_bin(&survey->processes, survey->time.bin) ||
		    !lpl_survey_pages_close_bin(&survey->pages))
			return false;
	}
	return true;
}

/* It is `moment` now.  Clocks that run backwards are the audit's affair. */
static enum lpl_error advance(struct survey *survey, uint64_t moment, struct lpl_report *report)
{
	struct survey_time *time = &survey->time;

	if (moment <= time->result.length)
		return LPL_OK;
	while (!has_bin(time, moment)) {
		if (!close_bins(survey, LPL_SURVEY_BINS))
			return no_memory(report);
		lpl_survey_tasks_fold(&survey->tasks);
		lpl_survey_processes_fold(&survey->processes);
		lpl_survey_pages_fold(&survey->pages);
		lpl_survey_heatmap_fold(&survey->frames.result.heatmap);
		time->result.bin_shift++;
		time->bin = LPL_SURVEY_BINS / 2;
	}
	if (!close_bins(survey, bin_of(time, moment)))
		return no_memory(report);
	time->result.length = moment;
	time->bin_end = lpl_survey_bin_start(&time->result, time->bin + 1);
	return LPL_OK;
}

void lpl_survey_begin(struct lpl_survey *results, struct lpl_survey_clocks first)
{
	(void)moment_of(&((struct survey *)results)->time, first);
}

/* ---- the output ---- */

static enum lpl_error on_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				   struct lpl_report *report)
{
	struct survey *survey = survey_of(output);
	const struct lpl_ref *ref = merged->ref;
	const uint64_t moment = moment_of(&survey->time, CLOCKS_OF(ref));

	if (moment >= survey->time.bin_end) {
		LPL_TRY(advance(survey, moment, report));
	} else if (moment > survey->time.result.length) {
		survey->time.result.length = moment;
	}
	if (merged->task != survey->tasks.current)
		LPL_TRY(lpl_survey_tasks_switch(&survey->tasks, merged->task, report));
	survey->tasks.new_references++;
	survey->tasks.new_user_references += (ref->flags & LPL_USER) != 0;
	survey->references.count[merged->kind][ref->type]++;
	if (!lpl_survey_frames_reference(&survey->frames, ref, merged->kind, survey->time.bin))
		return no_memory(report);
	LPL_TRY(lpl_survey_pages_reference(&survey->pages, merged->page, merged->kind,
					   survey->tasks.running_serial, report));
	lpl_survey_walks_reference(&survey->walks, merged, &survey->tasks, &survey->pages);
	return LPL_OK;
}

static enum lpl_error count_event(struct survey *survey, const struct lpl_event *event,
				  struct lpl_report *report)
{
	lpl_survey_events_count(&survey->events, event, survey->time.result.length);
	if (survey->results.frames && !survey->tasks.in_snapshot &&
	    !lpl_survey_spaces_follow(&survey->frames.spaces, event))
		return no_memory(report);
	switch (event->tag) {
	case KTR_SNAPSHOT:
		survey->tasks.in_snapshot = event->arg[KTR_SNAPSHOT_BEGINS] != 0;
		return LPL_OK;
	case KTR_SYSCALL_ENTER:
	case KTR_SYSCALL_EXIT:
		lpl_survey_calls_count(&survey->calls, event, &survey->tasks.running->result);
		return LPL_OK;
	case KTR_SCHEDULE:
		return lpl_survey_tasks_schedule(&survey->tasks, event, report);
	default:
		return LPL_OK;
	}
}

/* Is the event a part of a state?  Then no task did it, and nothing happens now. */
static bool is_of_state(struct survey *survey, const struct lpl_event *event)
{
	bool was_in_state = survey->in_state;

	if (event->tag == LPL_EVENT_STATE) {
		survey->in_state = event->arg[LPL_EVENT_STATE_BEGINS] != 0;
		lpl_survey_events_count(&survey->events, event, survey->time.result.length);
	}
	if (event->tag == LPL_EVENT_GAP)
		survey->in_state = false;
	if (!was_in_state && event->tag != LPL_EVENT_STATE)
		return false;
	survey->tasks.in_snapshot =
		survey->in_state || (event->tag == LPL_EVENT_STATE &&
			event->arg[LPL_EVENT_STATE_SNAPSHOT] == LPL_STATE_IN_SNAPSHOT);
	survey->tasks.reported_left = event->tag == LPL_EVENT_TASK_STATE ?
				  event->arg[LPL_EVENT_TASK_STATE_LEFT] : KTR_NONE;
	return true;
}

static enum lpl_error on_event(struct lpl_merge_output *output, const struct lpl_event *event,
			       const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct survey *survey = survey_of(output);

	LPL_TRY(advance(survey, moment_of(&survey->time, CLOCKS_OF(event)), report));
	LPL_TRY(lpl_survey_frames_follow(&survey->frames, event, report));
	LPL_TRY(lpl_survey_walks_follow(&survey->walks, event, report));
	if (event->tag == LPL_EVENT_GAP || event->tag == LPL_EVENT_TRACING)
		lpl_survey_walks_break(&survey->walks);
	if (is_of_state(survey, event))
		return LPL_OK;
	if (task != survey->tasks.current)
		LPL_TRY(lpl_survey_tasks_switch(&survey->tasks, task, report));
	return count_event(survey, event, report);
}

static enum lpl_error on_task(struct lpl_merge_output *output, const struct lpl_merge_task *task,
			      struct lpl_report *report)
{
	return lpl_survey_tasks_change(&survey_of(output)->tasks, task, report);
}

static enum lpl_error on_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
			      struct lpl_report *report)
{
	return lpl_survey_pages_add(&survey_of(output)->pages, page, report);
}

static enum lpl_error on_leave(struct lpl_merge_output *output, uint64_t page, bool for_ever,
			       struct lpl_report *report)
{
	(void)report;
	lpl_survey_pages_leave(&survey_of(output)->pages, page, for_ever);
	return LPL_OK;
}

static void sum_references(struct survey *survey)
{
	struct lpl_survey_references *references = &survey->references;

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		for (int type = 0; type < LPL_TYPES; type++) {
			references->by_kind[kind] += references->count[kind][type];
			references->by_type[type] += references->count[kind][type];
		}
		references->all += references->by_kind[kind];
	}
	references->user = survey->tasks.user_references;
}

static enum lpl_error on_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	struct survey *survey = survey_of(output);
	struct lpl_survey_time *time = &survey->time.result;

	if (time->begun)
		time->bins = bin_of(&survey->time, time->length) + 1;
	if (!lpl_survey_tasks_count(&survey->tasks) || !close_bins(survey, time->bins))
		return no_memory(report);
	lpl_survey_tasks_finish(&survey->tasks);
	lpl_survey_pages_finish(&survey->pages);
	if (!lpl_survey_frames_finish(&survey->frames))
		return no_memory(report);
	lpl_survey_walks_break(&survey->walks);
	sum_references(survey);
	return LPL_OK;
}

/* ---- the whole ---- */

static enum lpl_error init(struct survey *survey, const struct lpl_survey_options *options,
			   struct lpl_report *report)
{
	const struct lpl_merge_options merge_options = { .kernel_base = options->kernel_base };
	size_t limit = options->records;

	if (limit == 0)
		limit = options->hottest > LPL_SURVEY_RECORDS / 8 ? 8 * options->hottest :
								    LPL_SURVEY_RECORDS;
	survey->time = (struct survey_time){ .result.clock = options->clock, .bin_end = 1 };
	lpl_survey_processes_init(&survey->processes, limit);
	lpl_survey_tasks_init(&survey->tasks, limit, &survey->time, &survey->processes,
			      &survey->pages);
	if (!lpl_survey_pages_init(&survey->pages, options->hottest, &survey->time,
				   &survey->processes))
		return no_memory(report);
	LPL_TRY(lpl_survey_frames_init(&survey->frames, options->frames, report));
	LPL_TRY(lpl_survey_walks_init(&survey->walks, report));
	survey->output = (struct lpl_merge_output){
		.reference = on_reference, .event = on_event, .finish = on_finish,
		.page = on_page, .task = on_task, .leave = on_leave
	};
	return lpl_merge_open(&survey->merge, &survey->output, &merge_options, report);
}

enum lpl_error lpl_survey_open(struct lpl_survey **results,
			       const struct lpl_survey_options *options,
			       struct lpl_report *report)
{
	static const struct lpl_survey_options nothing_asked;
	struct survey *survey = calloc(1, sizeof(*survey));
	enum lpl_error error;

	*results = NULL;
	if (!survey)
		return no_memory(report);
	error = init(survey, options ? options : &nothing_asked, report);
	if (error) {
		lpl_survey_close(&survey->results);
		return error;
	}
	survey->results = (struct lpl_survey){
		.time = &survey->time.result, .references = &survey->references,
		.events = &survey->events, .calls = &survey->calls,
		.tasks = &survey->tasks.result, .processes = &survey->processes.result,
		.pages = &survey->pages.result, .files = &survey->pages.files.result,
		.hottest = survey->pages.hottest.result, .heatmap = &survey->pages.times.heatmap,
		.walks = &survey->walks.result,
		.frames = options && options->frames ? &survey->frames.result : NULL,
		.merge = lpl_merge_stats(survey->merge)
	};
	*results = &survey->results;
	return LPL_OK;
}

struct lpl_sink *lpl_survey_sink(struct lpl_survey *results)
{
	return lpl_merge_sink(((struct survey *)results)->merge);
}

void lpl_survey_close(struct lpl_survey *results)
{
	struct survey *survey = (struct survey *)results;

	if (!survey)
		return;
	lpl_merge_close(survey->merge);
	lpl_survey_tasks_free(&survey->tasks);
	lpl_survey_processes_free(&survey->processes);
	lpl_survey_pages_free(&survey->pages);
	lpl_survey_frames_free(&survey->frames);
	lpl_survey_walks_free(&survey->walks);
	free(survey);
}

/* ---- results to be asked for ---- */

const struct lpl_survey_task *lpl_survey_task_at(const struct lpl_survey *results, size_t i)
{
	return &((const struct survey *)results)->tasks.record[i]->result;
}

const struct lpl_survey_task *lpl_survey_task(const struct lpl_survey *results, uint64_t serial)
{
	const struct survey_tasks *tasks = &((const struct survey *)results)->tasks;
	const struct survey_task *task = serial < tasks->slots ? tasks->slot[serial].task : NULL;

	return task && task != &tasks->sum ? &task->result : NULL;
}

const struct lpl_survey_process *lpl_survey_process_at(const struct lpl_survey *results, size_t i)
{
	return &((const struct survey *)results)->processes.record[i]->result;
}

uint64_t lpl_survey_concentration(const struct lpl_survey *results, double share)
{
	const struct survey *survey = (const struct survey *)results;
	uint64_t all = results->references->all, wanted = (uint64_t)(share * (double)all);

	wanted += (double)wanted < share * (double)all;
	return lpl_survey_hottest_pages(&survey->pages.hottest, wanted);
}
