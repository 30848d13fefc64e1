/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report as JSON: everything that the survey has, not only the first lines of tables.
 */
#include <jansson.h>

#include <laplace/trace.h>

#include "cli/say.h"
#include "report.h"

static json_t *series_json(const struct lpl_survey *survey, const struct lpl_time_series *series)
{
	return cell_json(cell_series(series, survey->time->bins));
}

static json_t *by_kind(const uint64_t *value)
{
	return cell_json(cell_numbers(value, LPL_PAGE_KINDS, trace_kind_name));
}

static json_t *by_sharing(const uint64_t pages[][LPL_SURVEY_SHARINGS])
{
	json_t *object = json_object();

	for (unsigned int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		json_object_set_new(object, trace_kind_name(kind),
				    cell_json(cell_numbers(pages[kind], LPL_SURVEY_SHARINGS,
							   lpl_survey_sharing_name)));
	return object;
}

static json_t *by_type(const uint64_t *references)
{
	json_t *object = json_object();

	for (int type = 0; type < LPL_TYPES; type++) {
		const char letter[2] = { lpl_type_letter((enum lpl_type)type), 0 };

		json_object_set_new(object, letter, cli_json(references[type]));
	}
	return object;
}

/* NULL, where it is left out: 0. */
static json_t *known(uint64_t value)
{
	return value ? cli_json(value) : NULL;
}

static json_t *trace_json(const struct surveyed_trace *trace)
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_survey_clocks *first = &survey->time->first, *last = &survey->time->last;

	return json_pack(
		"{s:o, s:s, s:o, s:o, s:o*, s:o, s:o, s:o, s:o, s:o*, s:o, s:o, s:s, s:o, s:o, s:o, s:o}",
		"file", cli_json_text(trace->path), "state", trace->is_damaged ? "damaged" : "complete",
		"meta", cli_json_meta(trace->meta), "references", cli_json(survey->references->all),
		"references_before_reduction", known(trace->references_made),
		"user_references", cli_json(survey->references->user),
		"by_type", by_type(survey->references->by_type),
		"instructions", cli_json(last->instr - first->instr),
		"cycles", cli_json(last->cycle - first->cycle),
		"cycles_a_second", known(trace->kind.cycles_a_second),
		"first_instruction", cli_json(first->instr), "first_cycle", cli_json(first->cycle),
		"addresses", report_addresses(trace), "bytes", cli_json(trace->bytes),
		"events", cli_json(survey->events->counts.all), "spaces", cli_json(survey->merge->spaces),
		"switches", cli_json(survey->tasks->switches));
}

static json_t *time_json(const struct lpl_survey *survey)
{
	json_t *marks = json_array();

	for (unsigned int i = 0; i < survey->events->marks_kept; i++) {
		const struct lpl_survey_mark *mark = &survey->events->mark[i];

		json_array_append_new(marks, json_pack("{s:o, s:s}", "time", cli_json(mark->time),
						       "text", mark->text));
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}",
		"clock", lpl_survey_clock_name(survey->time->clock), "bins", cli_json(survey->time->bins),
		"bin_width", cli_json(lpl_survey_bin_start(survey->time, 1)),
		"length", cli_json(survey->time->length), "marks", cli_json(survey->events->marks),
		"first_marks", marks);
}

static json_t *pages_json(const struct lpl_survey *survey)
{
	const struct lpl_survey_pages *pages = survey->pages;
	json_t *alive = json_object();

	for (unsigned int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		json_object_set_new(alive, trace_kind_name(kind),
				    series_json(survey, &pages->alive_by_bin[kind]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"pages", by_kind(pages->ever), "alive_at_end", by_kind(pages->alive),
		"references", by_kind(survey->references->by_kind),
		"by_programs", by_sharing(pages->by_sharing),
		"most_programs", cli_json(pages->most_programs),
		"by_threads", by_sharing(pages->by_threads),
		"several_threads_of_one_program", by_kind(pages->within_program),
		"most_threads", cli_json(pages->most_threads), "peak", cli_json(pages->most_alive),
		"peak_time", cli_json(pages->most_alive_time), "alive_by_bin", alive,
		"working_set_by_bin", series_json(survey, &pages->working_set),
		"half_of_references", cli_json(lpl_survey_concentration(survey, 0.5)),
		"nine_tenths_of_references", cli_json(lpl_survey_concentration(survey, 0.9)),
		"99_hundredths_of_references", cli_json(lpl_survey_concentration(survey, 0.99)));
}

/* All rows of a table. */
static void put_rows(struct json_writer *writer, const char *name, const struct surveyed_trace *trace,
		     void (*make)(struct table *table, const struct surveyed_trace *trace))
{
	struct table table = { .form = TABLE_JSON, .json = writer };

	json_writer_begin(writer, name, '[');
	make(&table, trace);
	json_writer_end(writer, ']');
}

static void put_cache(struct json_writer *writer, const struct surveyed_trace *trace)
{
	const struct lpl_survey *survey = trace->survey;
	const uint64_t *reached = survey->pages->by_reach;

	json_writer_begin(writer, "page_cache", '{');
	json_writer_put(writer, "mapped_references", cli_json(report_mapped(survey)));
	json_writer_put(writer, "kernel_references",
			cli_json(survey->references->by_kind[LPL_PAGE_CACHE]));
	json_writer_put(writer, "pages_mapped_alone", cli_json(reached[LPL_SURVEY_BY_MAPPING]));
	json_writer_put(writer, "pages_by_kernel_alone", cli_json(reached[LPL_SURVEY_BY_KERNEL]));
	json_writer_put(writer, "pages_both", cli_json(reached[LPL_SURVEY_BY_BOTH]));
	json_writer_put(writer, "pages_added", cli_json(survey->events->cache_added));
	json_writer_put(writer, "pages_removed", cli_json(survey->events->cache_removed));
	put_rows(writer, "files", trace, trace_files);
	json_writer_end(writer, '}');
}

static void put_walks(struct json_writer *writer, const struct surveyed_trace *trace)
{
	if (!surveyed_walks(trace))
		return;
	json_writer_begin(writer, "page_walks", '{');
	json_writer_put(writer, "unknown", cli_json(trace->survey->walks->unknown));
	put_rows(writer, "by_program", trace, trace_walks_by_program);
	put_rows(writer, "by_kind", trace, trace_walks_by_kind);
	put_rows(writer, "by_table", trace, trace_walks_by_table);
	put_rows(writer, "by_file", trace, trace_walks_by_file);
	json_writer_end(writer, '}');
}

static json_t *forks_json(const struct lpl_survey_forks *forks)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}",
		"forks", cli_json(forks->count), "pages", cli_json(forks->pages),
		"same_frame", cli_json(forks->kept), "other_frame", cli_json(forks->copied),
		"left_by_parent", cli_json(forks->left_by_parents));
}

static void put_frames(struct json_writer *writer, const struct surveyed_trace *trace)
{
	const struct lpl_survey_frames *frames = trace->survey->frames;

	if (!frames)
		return;
	json_writer_begin(writer, "physical_memory", '{');
	json_writer_put(writer, "frames", cli_json(frames->all));
	json_writer_put(writer, "runs", cli_json(frames->runs));
	json_writer_put(writer, "longest_run", cli_json(frames->longest_run));
	json_writer_put(writer, "moved", cli_json(frames->moved));
	json_writer_put(writer, "forks", forks_json(&frames->forks));
	json_writer_put(writer, "regions", cli_json(frames->contiguity.regions));
	json_writer_put(writer, "regions_in_place", cli_json(frames->contiguity.regions_in_place));
	json_writer_put(writer, "pages_in_place", cli_json(frames->contiguity.pages_in_place));
	json_writer_put(writer, "unknown_references", cli_json(frames->unknown));
	put_rows(writer, "mapped", trace, trace_mapped);
	put_rows(writer, "by_spaces", trace, trace_frames_by_spaces);
	put_rows(writer, "by_run", trace, trace_frames_by_run);
	json_writer_end(writer, '}');
}

static void add_note(void *context, const char *text)
{
	json_array_append_new(context, cli_json_text(text));
}

static json_t *events_json(const struct lpl_survey *survey)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}",
		"by_name", cli_json_events(&survey->events->counts),
		"cow_breaks", cli_json(survey->merge->cow_breaks),
		"cow_kept", cli_json(survey->merge->cow_kept),
		"implied_breaks", cli_json(survey->merge->implied_breaks),
		"pages_lost_to_swap", cli_json(survey->events->swapped_out),
		"pages_back_from_swap", cli_json(survey->events->swapped_in));
}

/* Of tasks and processes that are not among those listed. */
static json_t *other_tasks_json(const struct lpl_survey_tasks *tasks)
{
	const struct lpl_survey_task *others = tasks->sum;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"left", cell_json(cell_numbers(others->left, LPL_SURVEY_REASONS, trace_reason_name)),
		"tasks", cli_json(tasks->others), "references", cli_json(others->references),
		"user_references", cli_json(others->user_references),
		"scheduled", cli_json(others->scheduled),
		"time", cli_json(others->time[LPL_SURVEY_RUNNING]), "calls", cli_json(others->calls),
		"call_errors", cli_json(others->call_errors));
}

static json_t *other_processes_json(const struct lpl_survey_processes *processes)
{
	const struct lpl_survey_process *others = processes->sum;

	return json_pack("{s:o, s:o, s:o, s:o}",
		"processes", cli_json(processes->others), "tasks", cli_json(others->tasks),
		"references", cli_json(others->references), "pages", cli_json(others->footprint.all));
}

int report_json(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	struct json_writer writer = { .out = out };
	json_t *notes = json_array();

	report_notes(trace, add_note, notes);
	json_writer_begin(&writer, NULL, '{');
	json_writer_put(&writer, "trace", trace_json(trace));
	json_writer_put(&writer, "notes", notes);
	json_writer_put(&writer, "time", time_json(survey));
	put_rows(&writer, "tasks", trace, trace_tasks);
	if (survey->tasks->others)
		json_writer_put(&writer, "other_tasks", other_tasks_json(survey->tasks));
	put_rows(&writer, "processes", trace, trace_processes);
	if (survey->processes->others)
		json_writer_put(&writer, "other_processes", other_processes_json(survey->processes));
	json_writer_put(&writer, "pages", pages_json(survey));
	put_rows(&writer, "hottest", trace, trace_hottest);
	put_rows(&writer, "hottest_of_kernel", trace, trace_hottest_of_kernel);
	put_cache(&writer, trace);
	put_walks(&writer, trace);
	if (trace->functions)
		put_rows(&writer, "functions", trace, trace_functions);
	put_frames(&writer, trace);
	put_rows(&writer, "system_calls", trace, trace_calls);
	json_writer_put(&writer, "events", events_json(survey));
	json_writer_end(&writer, '}');
	fputc('\n', out);
	return writer.failed ? cli_complain(CLI_FAILED, "no memory for the JSON output") : CLI_DONE;
}
