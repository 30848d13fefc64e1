/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey as an output of the merge, and the reading of a trace into it; see survey.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "survey.h"

const char *const survey_clock_name[CLOCKS] = { "cycles", "instructions", "references" };

static int no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the survey");
}

enum survey_clock survey_parse_clock(const char *text, struct argp_state *state)
{
	for (int clock = 0; clock < CLOCKS; clock++) {
		if (strcmp(survey_clock_name[clock], text) == 0)
			return (enum survey_clock)clock;
	}
	argp_error(state, "--clock is cycles, instructions or references, not '%s'", text);
	return CLOCK_CYCLES;
}

/* ---- time ---- */

static bool close_bins(struct survey *survey, unsigned int end)
{
	for (; survey->bin < end; survey->bin++) {
		if (!survey_settle(survey) || !survey_tasks_close_bin(survey) ||
		    !survey_pages_close_bin(survey))
			return false;
	}
	return true;
}

int survey_advance(struct survey *survey, uint64_t time, struct lpl_report *report)
{
	/* clocks that run backwards are the audit's affair */
	if (time <= survey->now)
		return LPL_OK;
	while (!axis_reaches(&survey->axis, time)) {
		if (!close_bins(survey, AXIS_BINS))
			return no_memory(report);
		survey_tasks_fold(survey);
		survey_pages_fold(survey);
		survey->axis.shift++;
		survey->bin = AXIS_BINS / 2;
	}
	if (!close_bins(survey, axis_bin(&survey->axis, time)))
		return no_memory(report);
	survey->now = time;
	return LPL_OK;
}

unsigned int survey_bins(const struct survey *survey)
{
	return survey->begun ? axis_bin(&survey->axis, survey->now) + 1 : 0;
}

uint64_t survey_working_set(const struct survey *survey, unsigned int bin)
{
	uint64_t pages = 0;

	for (unsigned int i = 0; i <= AXIS_BITS; i++)
		pages += survey->first_in_bin[bin][i];
	return pages;
}

uint64_t survey_all_references(const struct survey *survey)
{
	uint64_t all = 0;

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		for (int type = 0; type < LPL_TYPES; type++)
			all += survey->references[kind][type];
	}
	return all;
}

/* How much later than the first record this one is. */
static uint64_t time_of(struct survey *survey, uint64_t ref, uint64_t instr, uint64_t cycle)
{
	uint64_t time = survey->clock == CLOCK_CYCLES ? cycle :
			survey->clock == CLOCK_INSTRUCTIONS ? instr : ref;

	if (!survey->begun) {
		survey->begun = true;
		survey->first = (struct lpl_ref){ .ref = ref, .instr = instr, .cycle = cycle };
		survey->origin = time;
	}
	return time > survey->origin ? time - survey->origin : 0;
}

/* ---- the output ---- */

static int on_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
			struct lpl_report *report)
{
	struct survey *survey = (struct survey *)output;
	const struct lpl_ref *ref = merged->ref;
	uint64_t time = time_of(survey, ref->ref, ref->instr, ref->cycle);
	int error;

	if (time >= survey->bin_end) {
		error = survey_advance(survey, time, report);
		if (error)
			return error;
		survey->bin_end = ((uint64_t)survey->bin + 1) << survey->axis.shift;
	} else if (time > survey->now) {
		survey->now = time;
	}
	if (merged->task != survey->current) {
		error = survey_switch(survey, merged->task, report);
		if (error)
			return error;
	}
	survey->run_references++;
	survey->run_user += (ref->flags & LPL_USER) != 0;
	survey->references[merged->kind][ref->type]++;
	survey->last.ref = ref->ref;
	survey->last.instr = ref->instr;
	survey->last.cycle = ref->cycle;
	return survey_page_used(survey, merged->page, merged->kind, report);
}

static void note_mark(struct survey *survey, const struct lpl_event *event)
{
	struct survey_mark *mark;
	const char *text = event->text;
	uint32_t length = event->text_length;

	if (survey->marks++ >= SURVEY_MARKS)
		return;
	mark = &survey->mark[survey->marks - 1];
	mark->time = survey->now;
	lpl_text_escape(mark->text, sizeof(mark->text), text, length < 48 ? length : 48);
}

static void note_event(struct survey *survey, const struct lpl_event *event)
{
	switch (event->tag) {
	case KTR_MARK:
	case LPL_EVENT_MARK:
		note_mark(survey, event);
		break;
	case KTR_CACHE_ADD:
		survey->cache_added += event->arg[4];
		break;
	case KTR_CACHE_REMOVE:
		survey->cache_removed += event->arg[4];
		break;
	case KTR_SWAP_OUT:
		survey->swapped_out += event->arg[4];
		break;
	case KTR_SWAP_IN:
		survey->swapped_in += event->arg[4];
		break;
	default:
		break;
	}
}

static int on_event(struct lpl_merge_output *output, const struct lpl_event *event,
		    const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct survey *survey = (struct survey *)output;
	uint64_t time = time_of(survey, event->ref, event->instr, event->cycle);
	int error = survey_advance(survey, time, report);

	survey->bin_end = ((uint64_t)survey->bin + 1) << survey->axis.shift;
	survey->last.ref = event->ref;
	survey->last.instr = event->instr;
	survey->last.cycle = event->cycle;
	if (!error && task != survey->current)
		error = survey_switch(survey, task, report);
	if (!error)
		error = survey_task_event(survey, event, report);
	if (!error)
		error = survey->tally.sink.event(&survey->tally.sink, event, report);
	if (!error)
		note_event(survey, event);
	return error;
}

static int on_task(struct lpl_merge_output *output, const struct lpl_merge_task *task,
		   struct lpl_report *report)
{
	return survey_task_told((struct survey *)output, task, report);
}

static int on_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
		   struct lpl_report *report)
{
	return survey_page_told((struct survey *)output, page, report);
}

static int on_leave(struct lpl_merge_output *output, uint64_t page, bool for_ever,
		    struct lpl_report *report)
{
	return survey_page_left((struct survey *)output, page, for_ever, report);
}

static int on_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	struct survey *survey = (struct survey *)output;

	if (!survey_settle(survey) ||
	    (survey->begun && !close_bins(survey, axis_bin(&survey->axis, survey->now) + 1)))
		return no_memory(report);
	survey_pages_finish(survey);
	return LPL_OK;
}

enum lpl_error survey_init(struct survey *survey, enum survey_clock clock, uint64_t top,
			   struct lpl_report *report)
{
	memset(survey, 0, sizeof(*survey));
	survey->output = (struct lpl_merge_output){
		.reference = on_reference, .event = on_event, .finish = on_finish,
		.page = on_page, .task = on_task, .leave = on_leave
	};
	survey->clock = clock;
	survey->top = top;
	survey_rest_init(survey);
	tally_init(&survey->tally);
	for (int side = 0; side < SURVEY_SIDES; side++)
		survey->hottest[side].hot = calloc(top + 1, sizeof(struct survey_hot));
	survey->heat = calloc(HEAT_ROWS, sizeof(*survey->heat));
	survey->row_kind = calloc(HEAT_ROWS, sizeof(*survey->row_kind));
	survey->call = calloc(SURVEY_CALLS, sizeof(*survey->call));
	if (survey->hottest[SIDE_OTHERS].hot && survey->hottest[SIDE_KERNEL].hot && survey->heat &&
	    survey->row_kind && survey->call)
		return LPL_OK;
	survey_free(survey);
	return (enum lpl_error)no_memory(report);
}

void survey_free(struct survey *survey)
{
	survey_tasks_free(survey);
	survey_pages_free(survey);
	survey_files_free(survey);
	tally_free(&survey->tally);
	memset(survey, 0, sizeof(*survey));
}

/* ---- reading ---- */

static int run(struct survey *survey, struct survey_trace *trace,
	       const struct survey_options *options)
{
	const struct lpl_merge_options merge_options = { .kernel_base = options->kernel_base };
	struct lpl_report report = { 0 };
	struct lpl_merge *merge;
	struct cli_progress progress;
	struct cli_pass pass;
	int status;

	if (lpl_merge_open(&merge, &survey->output, &merge_options, &report))
		return cli_report(&report);
	cli_progress_start(&progress, options->progress);
	pass = (struct cli_pass){ .reader = trace->reader, .path = trace->path,
				  .sink = lpl_merge_sink(merge), .progress = &progress,
				  .goes_on = true };
	status = cli_pass_run(&pass);
	survey->stats = *lpl_merge_stats(merge);
	lpl_merge_close(merge);
	return status;
}

int survey_take(struct survey *survey, struct survey_trace *trace,
		const struct survey_options *options)
{
	int status;

	*trace = (struct survey_trace){ .path = options->trace };
	status = cli_reader_open(&trace->reader, options->trace);
	if (status)
		return status;
	trace->meta = lpl_reader_meta(trace->reader);
	status = cli_check_mergeable(trace->meta, trace->path);
	if (!status) {
		status = run(survey, trace, options);
		trace->taken = status == CLI_DONE || status == CLI_DAMAGED;
	}
	trace->damaged = status == CLI_DAMAGED;
	trace->totals = *lpl_reader_totals(trace->reader);
	trace->before = cli_refs_before(&trace->totals);
	trace->bytes = lpl_reader_size(trace->reader);
	if (trace->bytes == 0)
		trace->bytes = lpl_reader_bytes(trace->reader);
	return status;
}

void survey_trace_close(struct survey_trace *trace)
{
	lpl_reader_close(trace->reader);
	trace->reader = NULL;
}
