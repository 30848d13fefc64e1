/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report as JSON: everything that the survey has, not only the first lines of tables.
 */
#include <jansson.h>

#include <laplace/trace.h>

#include "cli/say.h"
#include "report.h"

static json_t *number(uint64_t value)
{
	/* jansson has signed integers only; no counter gets that far */
	return json_integer((json_int_t)value);
}

static void set(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, number(value));
}

static json_t *series_json(const struct lpl_survey *survey, const struct lpl_time_series *series)
{
	json_t *array = json_array();

	for (unsigned int bin = 0; bin < survey->time->bins; bin++)
		json_array_append_new(array, number(lpl_time_series_get(series, bin)));
	return array;
}

static json_t *by_kind(const uint64_t *value)
{
	json_t *object = json_object();

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		set(object, lpl_page_kind_name((enum lpl_page_kind)kind), value[kind]);
	return object;
}

static json_t *trace_json(const struct surveyed_trace *trace)
{
	const struct lpl_survey *survey = trace->survey;
	json_t *object = json_object(), *meta = json_object(), *types = json_object();
	const char *key, *value;

	json_object_set_new(object, "file", cli_json_text(trace->path));
	json_object_set_new(object, "state",
			    json_string(trace->is_damaged ? "damaged" : "complete"));
	for (size_t i = 0; i < lpl_meta_count(trace->meta); i++) {
		lpl_meta_at(trace->meta, i, &key, &value);
		json_object_set_new(meta, key, cli_json_text(value));
	}
	json_object_set_new(object, "meta", meta);
	set(object, "references", survey->references->all);
	if (trace->references_made)
		set(object, "references_before_reduction", trace->references_made);
	set(object, "user_references", survey->references->user);
	for (int type = 0; type < LPL_TYPES; type++) {
		const char letter[2] = { lpl_type_letter((enum lpl_type)type), 0 };

		set(types, letter, survey->references->by_type[type]);
	}
	json_object_set_new(object, "by_type", types);
	set(object, "instructions", survey->time->last.instr - survey->time->first.instr);
	set(object, "cycles", survey->time->last.cycle - survey->time->first.cycle);
	if (trace->kind.cycles_a_second)
		set(object, "cycles_a_second", trace->kind.cycles_a_second);
	set(object, "first_instruction", survey->time->first.instr);
	set(object, "first_cycle", survey->time->first.cycle);
	json_object_set_new(object, "addresses", json_string(report_addresses(trace)));
	set(object, "bytes", trace->bytes);
	set(object, "events", survey->events->counts.all);
	set(object, "spaces", survey->merge->spaces);
	set(object, "switches", survey->tasks->switches);
	return object;
}

static json_t *time_json(const struct lpl_survey *survey)
{
	json_t *object = json_object(), *marks = json_array();

	json_object_set_new(object, "clock",
			    json_string(lpl_survey_clock_name(survey->time->clock)));
	set(object, "bins", survey->time->bins);
	set(object, "bin_width", lpl_survey_bin_start(survey->time, 1));
	set(object, "length", survey->time->length);
	set(object, "marks", survey->events->marks);
	for (unsigned int i = 0; i < survey->events->marks_kept; i++) {
		const struct lpl_survey_mark *mark = &survey->events->mark[i];

		json_array_append_new(marks, json_pack("{s:o, s:s}", "time", number(mark->time),
						       "text", mark->text));
	}
	json_object_set_new(object, "first_marks", marks);
	return object;
}

static json_t *left_json(const struct lpl_survey_task *task)
{
	json_t *object = json_object();

	for (int i = 0; i < LPL_SURVEY_REASONS; i++)
		set(object, lpl_survey_reason_name((enum lpl_survey_reason)i), task->left[i]);
	return object;
}

static json_t *task_json(const struct lpl_survey *survey, const struct lpl_survey_task *task)
{
	static const char *const activity_name[LPL_SURVEY_ACTIVITIES] = {
		"runs", "ready", "blocked"
	};
	static const char *const state_name[] = {
		[LPL_TASK_LIVES] = "lives", [LPL_TASK_EXITED] = "exited", [LPL_TASK_LOST] = "lost",
		[LPL_TASK_LEFT] = "lives"
	};
	json_t *object = json_object(), *time = json_object();

	set(object, "task", task->serial);
	set(object, "tid", task->tid);
	set(object, "tgid", task->tgid);
	set(object, "process", task->process);
	set(object, "parent", task->parent);
	json_object_set_new(object, "name", json_string(task->name));
	json_object_set_new(object, "state", json_string(state_name[task->state]));
	if (task->state == LPL_TASK_EXITED)
		set(object, "exit_code", task->exit_code);
	json_object_set_new(object, "begin", task->begun ? number(task->begin) : json_null());
	set(object, "end", task->end);
	set(object, "references", task->references);
	set(object, "user_references", task->user_references);
	set(object, "scheduled", task->scheduled);
	json_object_set_new(object, "left", left_json(task));
	for (int i = 0; i < LPL_SURVEY_ACTIVITIES; i++) {
		set(time, activity_name[i], task->time[i]);
		json_object_set_new(object, activity_name[i],
				    series_json(survey, &task->activity[i]));
	}
	json_object_set_new(object, "time", time);
	json_object_set_new(object, "references_by_bin",
			    series_json(survey, &task->references_by_bin));
	set(object, "calls", task->calls);
	set(object, "call_errors", task->call_errors);
	return object;
}

static json_t *process_json(const struct lpl_survey *survey,
			    const struct lpl_survey_process *process)
{
	const struct lpl_survey_footprint *footprint = &process->footprint;
	json_t *object = json_object();

	set(object, "process", process->number);
	set(object, "tgid", process->tgid);
	json_object_set_new(object, "name", json_string(process->name));
	set(object, "tasks", process->tasks);
	set(object, "references", process->references);
	set(object, "pages", process->footprint.all);
	set(object, "private", footprint->unshared);
	json_object_set_new(object, "proportional", json_real(footprint->proportional));
	json_object_set_new(object, "by_kind", by_kind(footprint->pages));
	set(object, "peak", process->most_alive);
	json_object_set_new(object, "resident", series_json(survey, &process->alive_by_bin));
	return object;
}

static json_t *pages_json(const struct lpl_survey *survey)
{
	const struct lpl_survey_pages *pages = survey->pages;
	json_t *object = json_object(), *shared = json_object(), *resident = json_object();
	json_t *references = json_object(), *by_threads = json_object();

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		const char *name = lpl_page_kind_name((enum lpl_page_kind)kind);
		json_t *sharers = json_object(), *threads = json_object();

		for (unsigned int i = 0; i < LPL_SURVEY_SHARINGS; i++)
			set(sharers, lpl_survey_sharing_name(i), pages->by_sharing[kind][i]);
		for (unsigned int i = 0; i < LPL_SURVEY_SHARINGS; i++)
			set(threads, lpl_survey_sharing_name(i), pages->by_threads[kind][i]);
		json_object_set_new(shared, name, sharers);
		json_object_set_new(by_threads, name, threads);
		json_object_set_new(resident, name,
				    series_json(survey, &pages->alive_by_bin[kind]));
		set(references, name, survey->references->by_kind[kind]);
	}
	json_object_set_new(object, "pages", by_kind(pages->ever));
	json_object_set_new(object, "alive_at_end", by_kind(pages->alive));
	json_object_set_new(object, "references", references);
	json_object_set_new(object, "by_programs", shared);
	set(object, "most_programs", pages->most_programs);
	json_object_set_new(object, "by_threads", by_threads);
	json_object_set_new(object, "several_threads_of_one_program",
			    by_kind(pages->within_program));
	set(object, "most_threads", pages->most_threads);
	set(object, "peak", pages->most_alive);
	set(object, "peak_time", pages->most_alive_time);
	json_object_set_new(object, "alive_by_bin", resident);
	json_object_set_new(object, "working_set_by_bin",
			    series_json(survey, &pages->working_set));
	set(object, "half_of_references", lpl_survey_concentration(survey, 0.5));
	set(object, "nine_tenths_of_references", lpl_survey_concentration(survey, 0.9));
	set(object, "99_hundredths_of_references", lpl_survey_concentration(survey, 0.99));
	return object;
}

static json_t *hot_json(const struct surveyed_trace *trace, enum lpl_survey_side side)
{
	const struct lpl_survey *survey = trace->survey;
	json_t *array = json_array();
	char where[REPORT_PLACE_TEXT];

	for (uint64_t i = 0; i < survey->hottest[side].count; i++) {
		const struct lpl_survey_hot_page *hot = &survey->hottest[side].page[i];

		json_array_append_new(array, json_pack("{s:o, s:s, s:s, s:o, s:o, s:o}",
			"page", number(hot->page),
			"kind", lpl_page_kind_name(hot->kind),
			"where", report_place_text(trace, hot, where),
			"offset", number(hot->offset),
			"references", number(hot->references), "programs", number(hot->programs)));
	}
	return array;
}

static json_t *cache_json(const struct surveyed_trace *trace)
{
	const struct lpl_survey *survey = trace->survey;
	json_t *object = json_object(), *files = json_array();
	char name[REPORT_PLACE_TEXT];

	set(object, "mapped_references", survey->references->by_kind[LPL_PAGE_FILE] +
	    survey->references->by_kind[LPL_PAGE_SHM]);
	set(object, "kernel_references", survey->references->by_kind[LPL_PAGE_CACHE]);
	set(object, "pages_mapped_alone", survey->pages->by_reach[LPL_SURVEY_BY_MAPPING]);
	set(object, "pages_by_kernel_alone", survey->pages->by_reach[LPL_SURVEY_BY_KERNEL]);
	set(object, "pages_both", survey->pages->by_reach[LPL_SURVEY_BY_BOTH]);
	set(object, "pages_added", survey->events->cache_added);
	set(object, "pages_removed", survey->events->cache_removed);
	for (size_t i = 0; i < trace->files; i++) {
		const struct lpl_survey_file *file = trace->file[i];

		json_array_append_new(files, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}",
			"name", report_file_text(file, name), "device", number(file->device),
			"inode", number(file->inode), "generation", number(file->generation),
			"pages", number(file->pages), "references", number(file->references),
			"most_programs", number(file->most_programs)));
	}
	json_object_set_new(object, "files", files);
	return object;
}

static json_t *call_json(const struct lpl_survey_call *call)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", call->name, "number",
			 number(call->number), "abi", number(call->abi), "count",
			 number(call->count), "returned", number(call->returned), "errors",
			 number(call->errors));
}

static void add_event(void *context, const char *name, uint64_t count)
{
	set(context, name, count);
}

static void add_note(void *context, const char *text)
{
	json_array_append_new(context, cli_json_text(text));
}

static json_t *events_json(const struct lpl_survey *survey)
{
	json_t *object = json_object(), *by_name = json_object();

	lpl_event_counts_each(&survey->events->counts, add_event, by_name);
	json_object_set_new(object, "by_name", by_name);
	set(object, "cow_breaks", survey->merge->cow_breaks);
	set(object, "cow_kept", survey->merge->cow_kept);
	set(object, "implied_breaks", survey->merge->implied_breaks);
	set(object, "pages_lost_to_swap", survey->events->swapped_out);
	set(object, "pages_back_from_swap", survey->events->swapped_in);
	return object;
}

/* Of tasks and processes that are not among those listed; NULL where all are. */
static json_t *other_tasks_json(const struct lpl_survey *survey)
{
	const struct lpl_survey_task *others = survey->tasks->sum;
	json_t *object = json_object();

	json_object_set_new(object, "left", left_json(others));
	set(object, "tasks", survey->tasks->others);
	set(object, "references", others->references);
	set(object, "user_references", others->user_references);
	set(object, "scheduled", others->scheduled);
	set(object, "time", others->time[LPL_SURVEY_RUNNING]);
	set(object, "calls", others->calls);
	set(object, "call_errors", others->call_errors);
	if (survey->tasks->others)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *other_processes_json(const struct lpl_survey *survey)
{
	const struct lpl_survey_process *others = survey->processes->sum;
	json_t *object = json_object();

	set(object, "processes", survey->processes->others);
	set(object, "tasks", others->tasks);
	set(object, "references", others->references);
	set(object, "pages", others->footprint.all);
	if (survey->processes->others)
		return object;
	json_decref(object);
	return NULL;
}

int report_json(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	json_t *tasks = json_array(), *processes = json_array(), *calls = json_array();
	json_t *notes = json_array();

	for (uint64_t i = 0; i < trace->tasks; i++)
		json_array_append_new(tasks, task_json(survey, trace->task[i]));
	for (uint64_t i = 0; i < trace->processes; i++)
		json_array_append_new(processes, process_json(survey, trace->process[i]));
	for (size_t i = 0; i < trace->calls; i++)
		json_array_append_new(calls, call_json(trace->call[i]));
	if (survey->calls->others.count || survey->calls->others.returned)
		json_array_append_new(calls, call_json(&survey->calls->others));
	report_notes(trace, add_note, notes);
	return cli_print_json(out, json_pack(
		"{s:o, s:o, s:o, s:o, s:o*, s:o, s:o*, s:o, s:o, s:o, s:o, s:o, s:o}",
		"trace", trace_json(trace), "notes", notes, "time", time_json(survey),
		"tasks", tasks, "other_tasks", other_tasks_json(survey),
		"processes", processes, "other_processes", other_processes_json(survey),
		"pages", pages_json(survey),
		"hottest", hot_json(trace, LPL_SURVEY_OF_PROGRAMS),
		"hottest_of_kernel", hot_json(trace, LPL_SURVEY_OF_KERNEL),
		"page_cache", cache_json(trace),
		"system_calls", calls, "events", events_json(survey)));
}
