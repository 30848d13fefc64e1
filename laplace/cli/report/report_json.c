/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report as JSON: everything that the survey has, not only the first lines of tables.
 */
#include <string.h>

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

/* What is not UTF-8 is escaped. */
static json_t *text_json(const char *text)
{
	char escaped[4096];
	json_t *json = json_string(text);

	return json ? json : json_string(lpl_text_escape(escaped, sizeof(escaped), text,
							 strlen(text)));
}

static json_t *series_json(const struct survey *survey, const struct series *series)
{
	json_t *array = json_array();

	for (unsigned int bin = 0; bin < survey_bins(survey); bin++)
		json_array_append_new(array, number(series_get(series, bin)));
	return array;
}

static json_t *by_kind(const uint64_t *value)
{
	json_t *object = json_object();

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		set(object, lpl_page_kind_name((enum lpl_page_kind)kind), value[kind]);
	return object;
}

static json_t *trace_json(const struct report *report)
{
	const struct survey *survey = report->survey;
	const struct survey_trace *trace = report->trace;
	json_t *object = json_object(), *meta = json_object(), *types = json_object();
	const char *key, *value;

	json_object_set_new(object, "file", text_json(trace->path));
	json_object_set_new(object, "state",
			    json_string(trace->damaged ? "damaged" : "complete"));
	for (size_t i = 0; i < lpl_meta_count(trace->meta); i++) {
		lpl_meta_at(trace->meta, i, &key, &value);
		json_object_set_new(meta, key, text_json(value));
	}
	json_object_set_new(object, "meta", meta);
	set(object, "references", survey_all_references(survey));
	if (trace->before)
		set(object, "references_before_reduction", trace->before);
	set(object, "user_references", survey->user_references);
	for (int type = 0; type < LPL_TYPES; type++) {
		const char letter[2] = { lpl_type_letter((enum lpl_type)type), 0 };
		uint64_t all = 0;

		for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
			all += survey->references[kind][type];
		set(types, letter, all);
	}
	json_object_set_new(object, "by_type", types);
	set(object, "instructions", survey->last.instr - survey->first.instr);
	set(object, "cycles", survey->last.cycle - survey->first.cycle);
	if (report_cycles_a_second(trace))
		set(object, "cycles_a_second", report_cycles_a_second(trace));
	set(object, "bytes", trace->bytes);
	set(object, "events", survey->tally.events);
	set(object, "spaces", survey->stats.spaces);
	set(object, "switches", survey->switches);
	return object;
}

static json_t *time_json(const struct survey *survey)
{
	json_t *object = json_object(), *marks = json_array();

	json_object_set_new(object, "clock", json_string(survey_clock_name[survey->clock]));
	set(object, "bins", survey_bins(survey));
	set(object, "bin_width", UINT64_C(1) << survey->axis.shift);
	set(object, "length", survey->now);
	set(object, "marks", survey->marks);
	for (uint64_t i = 0; i < survey->marks && i < SURVEY_MARKS; i++)
		json_array_append_new(marks, json_pack("{s:o, s:s}", "time",
						       number(survey->mark[i].time), "text",
						       survey->mark[i].text));
	json_object_set_new(object, "first_marks", marks);
	return object;
}

static json_t *task_json(const struct survey *survey, const struct survey_task *task)
{
	static const char *const doing_name[SURVEY_DOINGS] = { "runs", "ready", "blocked" };
	static const char *const state_name[] = {
		[LPL_TASK_LIVES] = "lives", [LPL_TASK_EXITED] = "exited", [LPL_TASK_LOST] = "lost",
		[LPL_TASK_LEFT] = "lives"
	};
	json_t *object = json_object(), *left = json_object(), *doing = json_object();

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
	for (int why = 0; why < SURVEY_WHYS; why++)
		set(left, survey_why_name[why], task->left[why]);
	json_object_set_new(object, "left", left);
	for (int i = 0; i < SURVEY_DOINGS; i++) {
		set(doing, doing_name[i], task->time[i]);
		json_object_set_new(object, doing_name[i], series_json(survey, &task->doing[i]));
	}
	json_object_set_new(object, "time", doing);
	json_object_set_new(object, "references_by_bin", series_json(survey, &task->referenced));
	set(object, "calls", task->calls);
	set(object, "call_errors", task->errors);
	return object;
}

static json_t *process_json(const struct survey *survey, const struct survey_process *process)
{
	const struct survey_footprint *footprint = &process->footprint;
	json_t *object = json_object();

	set(object, "process", process->number);
	set(object, "tgid", process->tgid);
	json_object_set_new(object, "name", json_string(process->name));
	set(object, "tasks", process->tasks);
	set(object, "references", process->references);
	set(object, "pages", survey_own_pages(process));
	set(object, "private", footprint->alone);
	json_object_set_new(object, "proportional", json_real(footprint->proportional));
	json_object_set_new(object, "by_kind", by_kind(footprint->pages));
	set(object, "peak", process->peak);
	json_object_set_new(object, "resident", series_json(survey, &process->resident));
	return object;
}

static json_t *pages_json(const struct survey *survey)
{
	json_t *object = json_object(), *shared = json_object(), *resident = json_object();
	json_t *references = json_object(), *set_size = json_array();

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		const char *name = lpl_page_kind_name((enum lpl_page_kind)kind);
		json_t *sharers = json_object();

		for (int i = 0; i < SURVEY_SHARERS; i++)
			set(sharers, survey_sharers_name[i], survey->shared[kind][i]);
		json_object_set_new(shared, name, sharers);
		json_object_set_new(resident, name, series_json(survey, &survey->resident[kind]));
		set(references, name, report_kind_references(survey, (enum lpl_page_kind)kind));
	}
	for (unsigned int bin = 0; bin < survey_bins(survey); bin++)
		json_array_append_new(set_size, number(survey_working_set(survey, bin)));
	json_object_set_new(object, "pages", by_kind(survey->pages));
	json_object_set_new(object, "alive_at_end", by_kind(survey->alive));
	json_object_set_new(object, "references", references);
	json_object_set_new(object, "by_programs", shared);
	set(object, "most_programs", survey->most_users);
	set(object, "peak", survey->peak);
	set(object, "peak_time", survey->peak_time);
	json_object_set_new(object, "alive_by_bin", resident);
	json_object_set_new(object, "working_set_by_bin", set_size);
	set(object, "half_of_references", survey_concentration(survey, 0.5));
	set(object, "nine_tenths_of_references", survey_concentration(survey, 0.9));
	set(object, "99_hundredths_of_references", survey_concentration(survey, 0.99));
	return object;
}

static json_t *hot_json(const struct survey *survey, enum survey_side side)
{
	json_t *array = json_array();
	char where[SURVEY_PLACE_TEXT];

	for (uint64_t i = 0; i < survey->hottest[side].count; i++) {
		const struct survey_hot *hot = &survey->hottest[side].hot[i];

		json_array_append_new(array, json_pack("{s:o, s:s, s:s, s:o, s:o, s:o}",
			"page", number(hot->place.page),
			"kind", lpl_page_kind_name(hot->place.kind),
			"where", survey_place_text(survey, &hot->place, where),
			"offset", number(hot->place.offset),
			"references", number(hot->references), "programs", number(hot->users)));
	}
	return array;
}

static json_t *cache_json(const struct report *report)
{
	const struct survey *survey = report->survey;
	json_t *object = json_object(), *files = json_array();
	char name[SURVEY_PLACE_TEXT];

	set(object, "mapped_references", report_kind_references(survey, LPL_PAGE_FILE) +
	    report_kind_references(survey, LPL_PAGE_SHM));
	set(object, "kernel_references", report_kind_references(survey, LPL_PAGE_CACHE));
	set(object, "pages_mapped_alone", survey->reached[REACH_MAPPED]);
	set(object, "pages_by_kernel_alone", survey->reached[REACH_CACHE]);
	set(object, "pages_both", survey->reached[REACH_BOTH]);
	set(object, "pages_added", survey->cache_added);
	set(object, "pages_removed", survey->cache_removed);
	for (size_t i = 0; i < report->files; i++) {
		const struct survey_file *file = report->file[i];

		json_array_append_new(files, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}",
			"name", survey_file_text(file, name), "device", number(file->device),
			"inode", number(file->inode), "generation", number(file->generation),
			"pages", number(file->pages), "references", number(file->references),
			"most_programs", number(file->most_users)));
	}
	json_object_set_new(object, "files", files);
	return object;
}

static json_t *call_json(const struct survey_call *call)
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
	json_array_append_new(context, text_json(text));
}

static json_t *events_json(const struct survey *survey)
{
	json_t *object = json_object(), *by_name = json_object();

	tally_each_event(&survey->tally, add_event, by_name);
	json_object_set_new(object, "by_name", by_name);
	set(object, "cow_breaks", survey->stats.cow_breaks);
	set(object, "cow_kept", survey->stats.cow_kept);
	set(object, "implied_breaks", survey->stats.implied_breaks);
	set(object, "pages_swapped_out", survey->swapped_out);
	set(object, "pages_swapped_in", survey->swapped_in);
	return object;
}

/* Of tasks and processes that are not among those told of; NULL where all are. */
static json_t *other_tasks_json(const struct survey *survey)
{
	const struct survey_task *others = &survey->other_task;
	json_t *object, *left = json_object();

	for (int why = 0; why < SURVEY_WHYS; why++)
		set(left, survey_why_name[why], others->left[why]);
	object = json_pack("{s:o}", "left", left);
	set(object, "tasks", survey->other_tasks);
	set(object, "references", others->references);
	set(object, "user_references", others->user_references);
	set(object, "scheduled", others->scheduled);
	set(object, "time", others->time[SURVEY_RUNS]);
	set(object, "calls", others->calls);
	set(object, "call_errors", others->errors);
	if (survey->other_tasks)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *other_processes_json(const struct survey *survey)
{
	const struct survey_process *others = &survey->other_process;
	json_t *object = json_object();

	set(object, "processes", survey->other_processes);
	set(object, "tasks", others->tasks);
	set(object, "references", others->references);
	set(object, "pages", survey_own_pages(others));
	if (survey->other_processes)
		return object;
	json_decref(object);
	return NULL;
}

int report_json(const struct report *report, FILE *out)
{
	const struct survey *survey = report->survey;
	json_t *tasks = json_array(), *processes = json_array(), *calls = json_array();
	json_t *notes = json_array();

	for (uint64_t i = 0; i < report->tasks; i++)
		json_array_append_new(tasks, task_json(survey, report->task[i]));
	for (uint64_t i = 0; i < report->processes; i++)
		json_array_append_new(processes, process_json(survey, report->process[i]));
	for (size_t i = 0; i < report->calls; i++)
		json_array_append_new(calls, call_json(report->call[i]));
	if (survey->other_calls.count || survey->other_calls.returned)
		json_array_append_new(calls, call_json(&survey->other_calls));
	report_notes(report, add_note, notes);
	return cli_print_json(out, json_pack(
		"{s:o, s:o, s:o, s:o, s:o*, s:o, s:o*, s:o, s:o, s:o, s:o, s:o, s:o}",
		"trace", trace_json(report), "notes", notes, "time", time_json(survey),
		"tasks", tasks, "other_tasks", other_tasks_json(survey),
		"processes", processes, "other_processes", other_processes_json(survey),
		"pages", pages_json(survey),
		"hottest", hot_json(survey, SIDE_OTHERS),
		"hottest_of_kernel", hot_json(survey, SIDE_KERNEL),
		"page_cache", cache_json(report),
		"system_calls", calls, "events", events_json(survey)));
}
