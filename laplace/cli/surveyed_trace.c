/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace and its survey; see surveyed_trace.h. */
#include "surveyed_trace.h"

#include <stdlib.h>
#include <string.h>

#include <laplace/translation.h>

#include "addresses.h"
#include "progress.h"
#include "pass.h"
#include "say.h"

/* ---- order ---- */

static int descending(uint64_t one, uint64_t other, uint64_t number, uint64_t other_number)
{
	if (one != other)
		return one > other ? -1 : 1;
	return number < other_number ? -1 : number > other_number;
}

static int by_time(const void *a, const void *b)
{
	const struct lpl_survey_task *one = *(const struct lpl_survey_task *const *)a;
	const struct lpl_survey_task *other = *(const struct lpl_survey_task *const *)b;
	uint64_t time = one->time[LPL_SURVEY_RUNNING];
	uint64_t other_time = other->time[LPL_SURVEY_RUNNING];

	if (time == other_time)
		return descending(one->references, other->references, one->serial, other->serial);
	return descending(time, other_time, 0, 0);
}

static int by_pages(const void *a, const void *b)
{
	const struct lpl_survey_process *one = *(const struct lpl_survey_process *const *)a;
	const struct lpl_survey_process *other = *(const struct lpl_survey_process *const *)b;

	return descending(one->footprint.all, other->footprint.all, one->number, other->number);
}

static int by_count(const void *a, const void *b)
{
	const struct lpl_survey_call *one = *(const struct lpl_survey_call *const *)a;
	const struct lpl_survey_call *other = *(const struct lpl_survey_call *const *)b;

	return descending(one->count, other->count, one->number, other->number);
}

static int by_references(const void *a, const void *b)
{
	const struct lpl_survey_file *one = *(const struct lpl_survey_file *const *)a;
	const struct lpl_survey_file *other = *(const struct lpl_survey_file *const *)b;

	return descending(one->references, other->references, one->inode, other->inode);
}

static uint64_t sum(const uint64_t by_mode[2])
{
	return by_mode[0] + by_mode[1];
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct surveyed_program *)a)->name,
		      ((const struct surveyed_program *)b)->name);
}

static int by_walks(const void *a, const void *b)
{
	const struct surveyed_program *one = a, *other = b;
	const int order = descending(sum(one->walked.walks), sum(other->walked.walks), 0, 0);

	return order ? order : by_name(a, b);
}

static int by_walks_of_file(const void *a, const void *b)
{
	const struct lpl_survey_file *one = *(const struct lpl_survey_file *const *)a;
	const struct lpl_survey_file *other = *(const struct lpl_survey_file *const *)b;

	return descending(sum(one->walks), sum(other->walks), one->inode, other->inode);
}

/* Processes of one name become one program. */
static void join_programs(struct surveyed_trace *trace)
{
	struct surveyed_program *last = NULL;

	qsort(trace->program, trace->processes, sizeof(*trace->program), by_name);
	for (size_t i = 0; i < trace->processes; i++) {
		const struct surveyed_program *next = &trace->program[i];

		if (!last || strcmp(last->name, next->name) != 0) {
			last = &trace->program[trace->programs++];
			*last = *next;
			continue;
		}
		last->processes++;
		for (int mode = 0; mode < 2; mode++) {
			last->walked.references[mode] += next->walked.references[mode];
			last->walked.walks[mode] += next->walked.walks[mode];
		}
	}
	qsort(trace->program, trace->programs, sizeof(*trace->program), by_walks);
}

/* false: no memory */
static bool sort_walks(struct surveyed_trace *trace)
{
	trace->program = calloc(trace->processes + 1, sizeof(*trace->program));
	trace->walked_file = calloc(trace->files + 1, sizeof(*trace->walked_file));
	if (!trace->program || !trace->walked_file)
		return false;
	for (size_t i = 0; i < trace->processes; i++)
		trace->program[i] = (struct surveyed_program){
			trace->process[i]->name, 1, trace->process[i]->walked
		};
	join_programs(trace);
	for (size_t i = 0; i < trace->files; i++) {
		if (sum(trace->file[i]->walks))
			trace->walked_file[trace->walked_files++] = trace->file[i];
	}
	qsort(trace->walked_file, trace->walked_files, sizeof(*trace->walked_file), by_walks_of_file);
	return true;
}

/* false: no memory */
static bool sort(struct surveyed_trace *trace)
{
	const struct lpl_survey *survey = trace->survey;

	trace->task = calloc(survey->tasks->recorded + 1, sizeof(*trace->task));
	trace->process = calloc(survey->processes->recorded + 1, sizeof(*trace->process));
	trace->call = calloc(survey->calls->count + 1, sizeof(*trace->call));
	trace->file = calloc(survey->files->count + 1, sizeof(*trace->file));
	if (!trace->task || !trace->process || !trace->call || !trace->file)
		return false;
	for (; trace->tasks < survey->tasks->recorded; trace->tasks++)
		trace->task[trace->tasks] = lpl_survey_task_at(survey, trace->tasks);
	for (; trace->processes < survey->processes->recorded; trace->processes++)
		trace->process[trace->processes] = lpl_survey_process_at(survey, trace->processes);
	for (; trace->calls < survey->calls->count; trace->calls++)
		trace->call[trace->calls] = &survey->calls->call[trace->calls];
	for (; trace->files < survey->files->count; trace->files++)
		trace->file[trace->files] = &survey->files->file[trace->files];
	qsort(trace->task, trace->tasks, sizeof(*trace->task), by_time);
	qsort(trace->process, trace->processes, sizeof(*trace->process), by_pages);
	qsort(trace->call, trace->calls, sizeof(*trace->call), by_count);
	qsort(trace->file, trace->files, sizeof(*trace->file), by_references);
	return !surveyed_walks(trace) || sort_walks(trace);
}

/* ---- reading ---- */

/* Times count from where the trace begins, whatever is chosen of it. */
static void begin_survey(struct cli_pass *pass, void *context)
{
	struct lpl_survey *survey = context;
	struct lpl_span span;

	if (!survey->time->begun && lpl_reader_span(pass->reader, &span))
		lpl_survey_begin(survey, (struct lpl_survey_clocks){
			.ref = span.first_ref, .instr = span.first_instr, .cycle = span.first_cycle
		});
}

static int fill_survey(struct surveyed_trace *trace, const struct surveyed_trace_options *options)
{
	struct lpl_survey_options survey = options->survey;
	struct lpl_report report = { 0 };
	struct cli_progress progress;
	struct lpl_totals totals;
	struct cli_pass pass;
	int status;

	survey.frames = lpl_has_translations(trace->meta);
	if (lpl_survey_open(&trace->survey, &survey, &report))
		return cli_report(&report);
	cli_progress_start(&progress, options->progress);
	pass = (struct cli_pass){ .reader = trace->reader, .path = trace->path,
				  .sink = lpl_survey_sink(trace->survey), .progress = &progress,
				  .choice = &options->choice, .past_damage = true,
				  .before_block = begin_survey, .context = trace->survey };
	status = cli_pass_run(&pass);
	trace->references_made = cli_pass_totals(&pass, &totals) ? cli_refs_before(&totals) : 0;
	return status;
}

/* Nothing is to be shown. */
static int drop_survey(struct surveyed_trace *trace, int status)
{
	lpl_survey_close(trace->survey);
	trace->survey = NULL;
	return status;
}

int surveyed_trace_read(struct surveyed_trace *trace,
			const struct surveyed_trace_options *options)
{
	struct cli_addressing addressing;
	int status;

	*trace = (struct surveyed_trace){ .path = options->path, .top = options->top,
					  .by_frame = options->by_frame };
	status = cli_reader_open(&trace->reader, options->path);
	if (status)
		return status;
	trace->meta = lpl_reader_meta(trace->reader);
	trace->kind = cli_trace_kind(trace->meta);
	status = cli_check_has_canonical(&trace->kind, trace->path);
	if (!status && options->by_frame)
		status = cli_addresses_decide(&addressing, CLI_ADDRESSES_PHYSICAL, trace->path, trace->meta);
	if (status)
		return status;
	status = fill_survey(trace, options);
	if (status != CLI_DONE && status != CLI_DAMAGED)
		return drop_survey(trace, status);
	trace->is_damaged = status == CLI_DAMAGED;
	trace->heatmap = trace->by_frame ? &trace->survey->frames->heatmap : trace->survey->heatmap;
	trace->bytes = lpl_reader_size(trace->reader);
	if (trace->bytes == 0)
		trace->bytes = lpl_reader_bytes(trace->reader);
	if (!sort(trace))
		return drop_survey(trace, cli_complain(CLI_FAILED, "no memory for the report"));
	return status;
}

void surveyed_trace_close(struct surveyed_trace *trace)
{
	free(trace->task);
	free(trace->process);
	free(trace->call);
	free(trace->file);
	free(trace->program);
	free(trace->walked_file);
	lpl_survey_close(trace->survey);
	lpl_reader_close(trace->reader);
}
