/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory for DynamoRIO's drmemtrace: "trace/drmemtrace.NAME.PID.TID.trace" for each thread that executed
 * anything, the idle task and the kernel's threads included, as a trace of the whole system.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/convert.h>
#include <laplace/select.h>
#include <laplace/translation.h>

#include "base/array.h"
#include "base/map.h"
#include "base/output.h"
#include "base/try.h"
#include "drmemtrace_access.h"
#include "drmemtrace_export.h"
#include "instructions.h"
#include "fields.h"
#include "merge/tasks.h"
#include "translate/code.h"

enum {
	PAGE = 4096,
	PAGE_FAULT = 14
};

#define SECOND UINT64_C(1000000)			/* in microseconds */
#define EPOCH (UINT64_C(11644473600) * SECOND)		/* 1970, from 1601 on */

/* ---- templates ---- */

static bool cut_call(struct drmemtrace_thread *thread, void *context)
{
	struct lpl_drmemtrace *made = context;

	return lpl_drmemtrace_cut(&made->calls, thread);
}

static bool cut_switch(struct drmemtrace_thread *thread, void *context)
{
	struct lpl_drmemtrace *made = context;

	return lpl_drmemtrace_cut(&made->switches, thread);
}

/* ---- threads ---- */

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the threads of a trace");
}

static void free_thread(struct drmemtrace_thread *thread)
{
	if (thread) {
		lpl_drmemtrace_cut_free(&thread->cut);
		lpl_zip_close(thread->zip);
		lpl_drmemtrace_free(thread);
	}
	free(thread);
}

static struct drmemtrace_thread *open_thread(struct lpl_drmemtrace *made)
{
	struct drmemtrace_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->known = calloc(DRMEMTRACE_KNOWN, sizeof(*thread->known));
	thread->page = calloc(DRMEMTRACE_PAGES, sizeof(*thread->page));
	thread->buffer = malloc(DRMEMTRACE_BUFFER);
	thread->part_size = made->part_size;
	if (made->part_size)
		thread->zip = lpl_zip_open();
	if (!thread->known || !thread->page || !thread->buffer || (made->part_size && !thread->zip)) {
		free_thread(thread);
		return NULL;
	}
	thread->last = DRMEMTRACE_NONE;
	thread->of_template = made->of_templates;
	thread->flush = made->of_templates ? cut_call : lpl_drmemtrace_flush;
	thread->next_part = lpl_drmemtrace_next_part;
	thread->context = made;
	thread->losses = &made->result.losses;
	thread->gap = made->gaps;
	return thread;
}

static struct drmemtrace_thread *new_thread(struct lpl_drmemtrace *made)
{
	struct drmemtrace_thread *thread = open_thread(made);

	if (thread && !lpl_reach(made->thread, made->threads_room, made->threads)) {
		free_thread(thread);
		return NULL;
	}
	if (thread)
		made->thread[made->threads++] = thread;
	return thread;
}

static void set_name(struct drmemtrace_thread *thread, const struct lpl_merge_task *task)
{
	size_t length = task->name_length < LPL_TASK_NAME ? task->name_length : LPL_TASK_NAME;

	for (size_t i = 0; i < length; i++) {
		const char byte = task->name[i];
		const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
				   (byte >= '0' && byte <= '9') || byte == '-' || byte == '_';

		thread->name[i] = plain ? byte : '_';
	}
	thread->name[length] = '\0';
}

/* Whoever runs; NULL: no memory. */
static struct drmemtrace_thread *find_thread(struct lpl_drmemtrace *made)
{
	const bool known = made->tasks.current_known;
	const struct lpl_merge_task *task = &made->tasks.current->view;
	const uint64_t serial = known ? task->serial : UINT64_MAX - 1;
	const uint64_t found = lpl_map_get(&made->by_serial, LPL_KEY(serial + 1));
	struct drmemtrace_thread *thread;

	if (found)
		return made->thread[found - 1];
	thread = new_thread(made);
	if (!thread || !lpl_map_put(&made->by_serial, LPL_KEY(serial + 1), made->threads))
		return NULL;
	thread->serial = made->threads;
	thread->tid = !known ? DRMEMTRACE_UNKNOWN : serial ? task->tid : DRMEMTRACE_IDLE;
	thread->tgid = known && serial && task->tgid ? task->tgid : thread->tid;
	if (known && serial)
		set_name(thread, task);
	return thread;
}

static bool run(struct lpl_drmemtrace *made)
{
	struct drmemtrace_thread *before = made->of;

	made->now = find_thread(made);
	if (!made->now)
		return false;
	if (made->now != before)
		made->now->switched = true;
	return true;
}

/* ---- an instruction ---- */

static bool decode(struct lpl_drmemtrace *made, const struct lpl_instruction *instruction,
		   struct lpl_decoded *decoded)
{
	struct drmemtrace_known *known = &made->known[instruction->address % LPL_INSTRUCTIONS_KNOWN];

	if (!lpl_same_instruction(&known->instruction, instruction)) {
		known->instruction = *instruction;
		known->valid = instruction->bits == 64 && lpl_decode(made->decoder, instruction, &known->decoded);
	}
	*decoded = known->decoded;
	return known->valid;
}

static uint64_t time_of(const struct lpl_drmemtrace *made)
{
	const uint64_t second = made->cycles_a_second;

	return EPOCH + made->cycle / second * SECOND + made->cycle % second * SECOND / second;
}

/*
 * Did the instruction not complete, by the exception's number (the interrupt table begins with a page, as Linux has
 * it)?  A page fault may be that of the fetch of the next one.
 */
static bool is_fault(const struct drmemtrace_step *step, unsigned int vector)
{
	static const uint32_t faults = 1 << 0 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 11 | 1 << 12 |
				       1 << 13 | 1 << 16 | 1 << 17 | 1 << 19 | 1 << 20 | 1 << 21;

	return vector == PAGE_FAULT ? drmemtrace_is_short(step) : vector < 32 && faults >> vector & 1;
}

/*
 * Of a switch: from the event that says so, up to where the kernel returns to a program, unless there is another one
 * before.
 */
static bool follow_switch(struct lpl_drmemtrace *made, const struct drmemtrace_step *step)
{
	struct drmemtrace_thread *thread = made->switched;

	if (made->scheduled) {
		made->scheduled = false;
		free_thread(thread);
		made->switched = thread = step->instruction.user ? NULL : open_thread(made);
		if (!thread)
			return step->instruction.user;
		thread->flush = cut_switch;
		thread->losses = &made->again;
		thread->tid = DRMEMTRACE_UNKNOWN;
		lpl_drmemtrace_cut_switch(&thread->cut, made->of->tgid == made->previous_tgid ? DR_SWITCH_THREAD :
					  DR_SWITCH_PROCESS);
	}
	if (!thread)
		return true;
	if (!lpl_drmemtrace_step(thread, step, 1))
		return false;
	if (!step->instruction.user)
		return true;
	made->switched = NULL;
	if (!lpl_drmemtrace_write_settled(thread) || !cut_switch(thread, made)) {
		free_thread(thread);
		return false;
	}
	free_thread(thread);
	return true;
}

/* The instruction that was going on is over. */
static enum lpl_error finish_step(struct lpl_drmemtrace *made)
{
	struct drmemtrace_step *step = &made->step;
	struct drmemtrace_thread *thread = made->of;
	struct lpl_losses *losses = &made->result.losses;
	unsigned int vector;
	size_t own;

	if (step->instruction.length == 0)
		return LPL_OK;
	if (!decode(made, &step->instruction, &step->decoded)) {
		losses->undecoded++;
		thread->gap = UINT64_MAX;
		step->instruction.length = 0;
		return LPL_OK;
	}
	step->calls &= step->decoded.branch == LPL_BRANCH_SYSTEM_CALL;
	own = lpl_drmemtrace_delivery(step->access, step->count);
	step->interrupted = own < step->count;
	vector = step->interrupted ? (unsigned int)(step->access[own].address % PAGE / 16) : 0;
	losses->delivered += step->count - own;
	step->count = own;
	if (!step->decoded.repeats) {
		uint64_t *left_out = step->decoded.branch == LPL_BRANCH_SYSTEM_RETURN ? &losses->delivered : &losses->own;

		*left_out += lpl_drmemtrace_fit(step, false, step->decoded.reads);
		*left_out += lpl_drmemtrace_fit(step, true, step->decoded.writes);
	}
	step->faulted = step->interrupted && is_fault(step, vector);
	if ((made->of_templates && !follow_switch(made, step)) || !lpl_drmemtrace_step(thread, step, time_of(made)))
		return made->report->error ? made->report->error : no_memory(made->report);
	step->instruction.length = 0;
	return LPL_OK;
}

/* ---- the stream ---- */

/* + 1; 0: not known */
static uint64_t frame_of(const struct lpl_drmemtrace *made, const struct lpl_ref *ref)
{
	struct lpl_translation found;

	return lpl_translate(lpl_code_translations(made->code), ref->space, ref->address, &found) ? found.frame + 1 : 0;
}

static enum lpl_error add_access(struct lpl_drmemtrace *made, const struct lpl_ref *ref)
{
	struct drmemtrace_step *step = &made->step;
	const bool write = ref->type == LPL_WRITE;

	if (step->instruction.length == 0) {
		made->result.losses.own++;
		return LPL_OK;
	}
	if ((ref->flags & LPL_SECOND) && step->count && step->access[step->count - 1].write == write) {
		step->access[step->count - 1].length += ref->length;
		return LPL_OK;
	}
	if (!lpl_reserve(step->access, step->room, step->count))
		return no_memory(made->report);
	step->access[step->count++] =
		(struct drmemtrace_access){ .address = ref->address, .frame = frame_of(made, ref),
					    .length = ref->length, .write = write };
	made->result.refs++;
	return LPL_OK;
}

static enum lpl_error take_ref(struct lpl_drmemtrace *made, const struct lpl_ref *ref)
{
	if (ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE) {
		made->result.losses.walks_left_out++;
		return LPL_OK;
	}
	if (ref->type != LPL_FETCH)
		return add_access(made, ref);
	if (ref->flags & LPL_SECOND) {
		(void)lpl_code_fetch(made->code, ref, &made->step.instruction);
		return LPL_OK;
	}
	LPL_TRY(finish_step(made));
	if (!made->now && !run(made))
		return no_memory(made->report);
	made->of = made->now;
	made->kernel |= !(ref->flags & LPL_USER);
	made->step.after_gap = made->of->gap != made->gaps;
	made->of->gap = made->gaps;
	made->step.count = 0;
	made->step.calls = false;
	made->step.frame = frame_of(made, ref);
	made->cycle = ref->cycle;
	(void)lpl_code_fetch(made->code, ref, &made->step.instruction);
	made->result.refs++;
	return LPL_OK;
}

/* With `strict`: was anything lost up to here? */
static enum lpl_error check_strict(struct lpl_drmemtrace *made, uint64_t number)
{
	struct lpl_losses lost = made->result.losses;
	char text[LPL_WARNINGS_SIZE];

	if (!made->strict)
		return LPL_OK;
	lost.delivered = lost.incomplete = lost.unfollowed = lost.gaps = 0;
	if (!*lpl_losses_text(&lost, text))
		return LPL_OK;
	text[strlen(text) - 1] = '\0';
	for (char *end = text; (end = strchr(end, '\n'));)
		*end = ';';
	return lpl_fail(made->report, LPL_ERR_UNSUPPORTED, "%s: drmemtrace has no place for all of it, by reference "
			"%llu: %s", made->trace, (unsigned long long)number, text);
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_drmemtrace *made = (struct lpl_drmemtrace *)sink;

	made->report = report;
	for (size_t i = 0; i < count; i++)
		LPL_TRY(take_ref(made, &refs[i]));
	return count ? check_strict(made, refs[count - 1].ref) : LPL_OK;
}

static void note_exec(struct lpl_drmemtrace *made, const struct lpl_event *event)
{
	for (size_t i = 0; i < made->threads; i++)
		if (made->thread[i]->tid == event->arg[KTR_TASK_TID])
			made->thread[i]->executes = true;
}

/* Whatever is chosen, all events come here: it may be of an instruction that does not. */
static void note_call(struct lpl_drmemtrace *made, const struct lpl_event *event)
{
	const struct lpl_instruction *now = &made->step.instruction;

	if (now->length == 0 || now->instr != event->instr || now->space != event->space)
		return;
	made->step.calls = true;
	made->step.number = (uint32_t)event->arg[LPL_EVENT_SYSTEM_CALL_NUMBER];
	made->numbers = true;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event, struct lpl_report *report)
{
	struct lpl_drmemtrace *made = (struct lpl_drmemtrace *)sink;
	struct task *task;

	made->report = report;
	LPL_TRY(lpl_code_follow(made->code, event, report));
	if (event->tag == LPL_EVENT_SYSTEM_CALL)
		note_call(made, event);
	if (event->tag >= LPL_EVENT_TRANSLATION)
		return LPL_OK;
	made->now = NULL;
	if (event->tag == LPL_EVENT_GAP || event->tag == LPL_EVENT_TRACING)
		made->gaps++;
	if (event->tag == LPL_EVENT_GAP && event->arg[LPL_EVENT_GAP_EVENTS] != 0)
		lpl_tasks_gap(&made->tasks);
	if (event->tag == KTR_EXEC)
		note_exec(made, event);
	if (event->tag == KTR_SCHEDULE && made->of_templates) {
		LPL_TRY(finish_step(made));
		made->scheduled = true;
		made->previous_tgid = made->tasks.current_known ? made->tasks.current->view.tgid : 0;
	}
	if (!lpl_tasks_check(&made->tasks, event) || !lpl_tasks_event(&made->tasks, event, false))
		return no_memory(report);
	while ((task = lpl_tasks_next_changed(&made->tasks)) != NULL) {
		const uint64_t found = lpl_map_get(&made->by_serial, LPL_KEY(task->view.serial + 1));

		if (found && task->view.serial)
			set_name(made->thread[found - 1], &task->view);
		if (task_is_over(task))
			lpl_task_free(task);
	}
	return LPL_OK;
}

/* ---- the end ---- */

static bool has_executed(const struct drmemtrace_thread *thread)
{
	return thread->begun || thread->count;
}

static enum lpl_error end_thread(struct drmemtrace_thread *thread, struct lpl_report *report)
{
	if (lpl_drmemtrace_end(thread))
		return LPL_OK;
	return report->error ? report->error : no_memory(report);
}

static enum lpl_error finish_templates(struct lpl_drmemtrace *made, struct lpl_report *report)
{
	struct lpl_export_result *result = &made->result;

	for (size_t i = 0; i < made->threads; i++)
		if (has_executed(made->thread[i]))
			LPL_TRY(end_thread(made->thread[i], report));
	LPL_TRY(lpl_drmemtrace_write_templates(made, "system-calls.trace", true, &result->calls, report));
	LPL_TRY(lpl_drmemtrace_write_templates(made, "switches.trace", false, &result->switches, report));
	if (result->calls || result->switches)
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: has no system call of which the number is known, and the kernel's part "
			"whole, without an interrupt; nor a switch between programs", made->trace);
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_drmemtrace *made = (struct lpl_drmemtrace *)sink;

	made->report = report;
	LPL_TRY(finish_step(made));
	if (made->of_templates)
		return finish_templates(made, report);
	for (size_t i = 0; i < made->threads; i++)
		if (has_executed(made->thread[i])) {
			LPL_TRY(end_thread(made->thread[i], report));
			LPL_TRY(lpl_drmemtrace_finish_file(made, made->thread[i], report));
		}
	LPL_TRY(lpl_drmemtrace_sync(made, report));
	return check_strict(made, 0);
}

/* ---- opening and closing ---- */

static void free_all(struct lpl_drmemtrace *made)
{
	for (size_t i = 0; i < made->threads; i++)
		free_thread(made->thread[i]);
	free(made->thread);
	free_thread(made->switched);
	lpl_drmemtrace_templates_free(&made->calls);
	lpl_drmemtrace_templates_free(&made->switches);
	free(made->known);
	free(made->step.access);
	lpl_code_close(made->code);
	lpl_decoder_close(made->decoder);
	lpl_tasks_free(&made->tasks);
	lpl_map_free(&made->by_serial);
	if (made->directory >= 0)
		(void)close(made->directory);
	if (made->top >= 0)
		(void)close(made->top);
	free(made->path);
	free(made->part);
	free(made);
}

void lpl_drmemtrace_discard(struct lpl_drmemtrace *made)
{
	if (!made)
		return;
	if (made->directory >= 0)
		lpl_drmemtrace_remove_files(made);
	if (made->top >= 0) {
		(void)unlinkat(made->top, "trace", AT_REMOVEDIR);
		(void)rmdir(made->part);
	}
	free_all(made);
}

static enum lpl_error begin(struct lpl_drmemtrace *made, const char *path, struct lpl_report *report)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "the output has no name");
	made->path = strndup(path, length);
	made->known = calloc(LPL_INSTRUCTIONS_KNOWN, sizeof(*made->known));
	if (!made->path || !made->known || asprintf(&made->part, "%s.part", made->path) < 0) {
		made->part = NULL;
		return no_memory(report);
	}
	LPL_TRY(lpl_code_open(&made->code, report));
	LPL_TRY(lpl_decoder_open(&made->decoder, report));
	return lpl_drmemtrace_make_directories(made, report);
}

enum lpl_error lpl_drmemtrace_open_directory(struct lpl_drmemtrace **result, const char *path,
					     const struct lpl_export_options *options, struct lpl_report *report)
{
	struct lpl_drmemtrace *made;
	enum lpl_error error;

	*result = NULL;
	if (!lpl_has_code(options->meta))
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: " LPL_NO_CODE, options->trace);
	if (options->part_size && !lpl_can_zip())
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: this was compiled without zlib, by which files are packed",
				options->trace);
	made = calloc(1, sizeof(*made));
	if (!made)
		return no_memory(report);
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->top = made->directory = -1;
	made->trace = options->trace;
	made->strict = options->strict;
	made->of_templates = options->templates;
	made->part_size = options->templates ? 0 : options->part_size;
	lpl_drmemtrace_templates_init(&made->calls);
	lpl_drmemtrace_templates_init(&made->switches);
	made->cycles_a_second = lpl_cycles_a_second(options->meta);
	if (!made->cycles_a_second)
		made->cycles_a_second = SECOND * 1000;
	lpl_tasks_init(&made->tasks);
	lpl_map_init(&made->by_serial, 1);
	error = begin(made, path, report);
	if (error)
		lpl_drmemtrace_discard(made);
	else
		*result = made;
	return error;
}

struct lpl_sink *lpl_drmemtrace_sink(struct lpl_drmemtrace *made)
{
	return &made->sink;
}

const struct lpl_export_result *lpl_drmemtrace_result(const struct lpl_drmemtrace *made)
{
	return &made->result;
}

enum lpl_error lpl_drmemtrace_commit(struct lpl_drmemtrace *made, struct lpl_report *report)
{
	char name[LPL_NAME_SIZE];
	enum lpl_error error = LPL_OK;

	lpl_short_name(name, made->path);
	if (fsync(made->top) != 0 && errno != EINVAL && errno != EROFS)
		error = lpl_fail(report, LPL_ERR_IO, "%s.part: cannot be synced", name);
	if (!error)
		error = lpl_part_rename(made->part, made->path, name, report);
	if (error) {
		lpl_drmemtrace_discard(made);
		return error;
	}
	error = lpl_sync_name(made->path, name, report);
	free_all(made);
	return error;
}
