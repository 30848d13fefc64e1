/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's tasks and processes: who ran, who was ready, who was blocked, and what they
 * asked of the kernel.
 *
 * Who runs follows from references and events, which the merge gives to tasks; since when,
 * from the `schedule` event before.  A task that left the processor able to run on is
 * ready until it runs again, any other is blocked: kernels do not tell of wakings, so time
 * as ready after one counts as blocked.
 */
#include <stdlib.h>
#include <string.h>

#include "survey.h"

const char *const survey_why_name[SURVEY_WHYS] = {
	"preempted", "sleeping", "waiting", "stopped", "idle", "exited"
};

struct survey_process *survey_process(struct survey *survey, uint64_t number)
{
	if (number == SURVEY_OTHERS)
		return &survey->other_process;
	return number < survey->processes ? survey->process[number] : NULL;
}

const struct survey_task *survey_task(const struct survey *survey, uint64_t serial)
{
	const struct survey_task *task = serial < survey->slots ? survey->slot[serial].task : NULL;

	return task == &survey->other_task ? NULL : task;
}

static bool is_shared(const struct survey *survey, const struct survey_task *task)
{
	return task == &survey->other_task;
}

/* Room for `number` in an array of things of this size; false: no memory. */
static bool make_room(void *array, size_t size, uint64_t *room, uint64_t *count, uint64_t number)
{
	if (number >= *room) {
		uint64_t more = 2 * number + 16;
		char *larger = realloc(*(void **)array, more * size);

		if (!larger)
			return false;
		memset(larger + *room * size, 0, (more - *room) * size);
		*(void **)array = larger;
		*room = more;
	}
	if (number >= *count)
		*count = number + 1;
	return true;
}

static struct survey_process *process_make(struct survey *survey, uint64_t number)
{
	struct survey_process *process = survey_process(survey, number);

	if (process)
		return process;
	if (!make_room(&survey->process, sizeof(struct survey_process *), &survey->process_room,
		       &survey->processes, number))
		return NULL;
	if (!survey_process_fits(survey) && number != 0)
		return survey->process[number] = survey_process_shared(survey);
	if (!make_room(&survey->kept_process, sizeof(struct survey_process *),
		       &survey->kept_process_room, &survey->kept_processes,
		       survey->kept_processes))
		return NULL;
	process = calloc(1, sizeof(*process));
	survey->kept_process[survey->kept_processes - 1] = process;
	if (!process) {
		survey->kept_processes--;
		return NULL;
	}
	process->number = number;
	process->begin = survey->now;
	page_set_init(&process->set, survey_page_lives, survey);
	survey->process[number] = process;
	process->next = survey->living;
	process->link = &survey->living;
	if (process->next)
		process->next->link = &process->next;
	survey->living = process;
	return process;
}

static bool join_process(struct survey *survey, uint64_t serial, uint64_t number)
{
	struct survey_process *process = process_make(survey, number);
	struct survey_slot *slot = &survey->slot[serial];

	if (!process)
		return false;
	slot->process = number;
	if (!is_shared(survey, slot->task))
		slot->task->process = number;
	if (survey->runs && survey->runs_serial == serial)
		survey->runs_process = process;
	process->tasks++;
	process->live++;
	return true;
}

static void leave_process(struct survey *survey, uint64_t serial)
{
	struct survey_process *process = survey_process(survey, survey->slot[serial].process);

	if (--process->live == 0 && process->number != 0 && process != &survey->other_process)
		survey_process_over(survey, process);
}

/* A record of its own; NULL: no memory. */
static struct survey_task *task_keep(struct survey *survey)
{
	struct survey_task *task = calloc(1, sizeof(*task));

	if (task && make_room(&survey->kept_task, sizeof(task), &survey->kept_task_room,
			      &survey->kept_tasks, survey->kept_tasks)) {
		survey->kept_task[survey->kept_tasks - 1] = task;
		return task;
	}
	free(task);
	return NULL;
}

static struct survey_task *task_make(struct survey *survey, const struct lpl_merge_task *told)
{
	struct survey_task *task;
	bool enough;

	if (told->serial < survey->slots && survey->slot[told->serial].task)
		return survey->slot[told->serial].task;
	if (!make_room(&survey->slot, sizeof(*survey->slot), &survey->slot_room, &survey->slots,
		       told->serial))
		return NULL;
	if (!survey_task_fits(survey, &enough) && told->serial != 0 && enough) {
		task = survey->slot[told->serial].task = survey_task_shared(survey);
		return join_process(survey, told->serial, told->process) ? task : NULL;
	}
	task = enough ? task_keep(survey) : NULL;
	if (!task)
		return NULL;
	task->serial = told->serial;
	task->tid = told->tid;
	task->tgid = told->tgid;
	task->parent = told->parent;
	task->begin = survey->now;
	task->begun = told->serial != 0 && !survey->in_snapshot;
	task->since = SURVEY_NEVER;
	if (told->serial == 0)
		snprintf(task->name, sizeof(task->name), "boot/idle");
	survey->slot[told->serial].task = task;
	return join_process(survey, told->serial, told->process) ? task : NULL;
}

/* From `time` on the task does something else.  false: no memory. */
static bool task_becomes(struct survey *survey, struct survey_task *task, enum survey_doing doing,
			 uint64_t time)
{
	if (task->since != SURVEY_NEVER && task->since < time) {
		task->time[task->now] += time - task->since;
		if (!series_add_time(&task->doing[task->now], &survey->axis, task->since, time))
			return false;
	}
	task->now = doing;
	/* the idle task waits for nothing, and of the others nobody knows for what */
	task->since = (task->serial == 0 || is_shared(survey, task)) && doing != SURVEY_RUNS ?
		SURVEY_NEVER : time;
	return true;
}

bool survey_settle(struct survey *survey)
{
	struct survey_task *task = survey->runs;
	uint64_t *value;

	if (!task || survey->run_references == 0)
		return true;
	value = series_at(&task->referenced, survey->bin);
	if (!value)
		return false;
	*value += survey->run_references;
	survey->runs_process->references += survey->run_references;
	task->references += survey->run_references;
	task->user_references += survey->run_user;
	survey->user_references += survey->run_user;
	survey->run_references = survey->run_user = 0;
	return true;
}

static int no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for tasks");
}

int survey_switch(struct survey *survey, const struct lpl_merge_task *task,
		  struct lpl_report *report)
{
	struct survey_task *before = survey->runs, *next;

	/* nothing told of a switch, but another runs */
	if (survey->current)
		survey->switched = survey->now;
	if (!survey_settle(survey))
		return no_memory(report);
	next = task_make(survey, task);
	if (!next)
		return no_memory(report);
	if (before && before != next && before->now == SURVEY_RUNS &&
	    before->since != SURVEY_NEVER &&
	    !task_becomes(survey, before, SURVEY_READY, survey->switched))
		return no_memory(report);
	if (!task_becomes(survey, next, SURVEY_RUNS, survey->switched))
		return no_memory(report);
	survey->current = task;
	survey->runs = next;
	survey->runs_serial = task->serial;
	survey->runs_process = survey_process(survey, survey->slot[task->serial].process);
	next->scheduled++;
	survey->switches++;
	return LPL_OK;
}

static void copy_name(char *out, size_t size, const struct lpl_merge_task *told)
{
	if (told->name_length > 0)
		lpl_text_escape(out, size, told->name, told->name_length);
}

/* What is known of a task by itself.  A process has the name of its first task. */
static void describe(struct survey *survey, struct survey_task *task,
		     const struct lpl_merge_task *told)
{
	struct survey_process *process = survey_process(survey, told->process);

	if (!is_shared(survey, task)) {
		task->tid = told->tid;
		task->tgid = told->tgid;
		if (told->parent != 0)
			task->parent = told->parent;
		copy_name(task->name, sizeof(task->name), told);
		task->state = told->state;
		task->exit_code = told->exit_code;
	}
	if (process == &survey->other_process)
		return;
	process->tgid = told->tgid;
	if (process->number == 0)
		snprintf(process->name, sizeof(process->name), "kernel");
	else if (told->tid == told->tgid || !process->name[0])
		copy_name(process->name, sizeof(process->name), told);
}

/* That was the last word on it. */
static bool task_over(struct survey *survey, struct survey_task *task,
		      const struct lpl_merge_task *told)
{
	/* of several that share a record another one may run */
	if (!is_shared(survey, task) || survey->current == told) {
		if (!task_becomes(survey, task, task->now, survey->now))
			return false;
		task->since = SURVEY_NEVER;
		task->end = survey->now;
	}
	survey->ended += !is_shared(survey, task);
	leave_process(survey, told->serial);
	if (survey->current == told) {
		survey->current = NULL;
		survey->switched = survey->now;
	}
	return true;
}

int survey_task_told(struct survey *survey, const struct lpl_merge_task *told,
		     struct lpl_report *report)
{
	bool is_new = told->serial >= survey->slots || !survey->slot[told->serial].task;
	struct survey_task *task = task_make(survey, told);

	if (!task)
		return no_memory(report);
	/* a task that was made just now waits for the processor; of others who knows */
	if (is_new && task->begun && !task_becomes(survey, task, SURVEY_READY, survey->now))
		return no_memory(report);
	if (task == survey->runs && !survey_settle(survey))
		return no_memory(report);
	if (survey->slot[told->serial].process != told->process) {
		leave_process(survey, told->serial);
		if (!join_process(survey, told->serial, told->process))
			return no_memory(report);
	}
	describe(survey, task, told);
	if (told->state != LPL_TASK_LIVES && !task_over(survey, task, told))
		return no_memory(report);
	return LPL_OK;
}

/* ---- events ---- */

static enum survey_why why_left(uint64_t state)
{
	if (state == KTR_STATE_RUNNABLE)
		return SURVEY_PREEMPTED;
	if (state & KTR_STATE_DEAD)
		return SURVEY_EXITED;
	if (state & KTR_STATE_IDLE)
		return SURVEY_IDLES;
	if (state & KTR_STATE_WAITING)
		return SURVEY_WAITING;
	if (state & KTR_STATE_SLEEPING)
		return SURVEY_SLEEPING;
	return SURVEY_STOPPED;
}

/* Calls that differ are few; where a guest tells of more, they are counted as one. */
static struct survey_call *call_of(struct survey *survey, const struct lpl_event *event)
{
	struct survey_call *call;

	for (size_t i = 0; i < survey->calls; i++) {
		call = &survey->call[i];
		if (call->number == event->arg[0] && call->abi == event->arg[1])
			return call;
	}
	if (survey->calls == SURVEY_CALLS)
		return &survey->other_calls;
	call = &survey->call[survey->calls++];
	*call = (struct survey_call){ .number = event->arg[0], .abi = event->arg[1] };
	lpl_text_escape(call->name, sizeof(call->name), event->text, event->text_length);
	return call;
}

static void count_call(struct survey *survey, const struct lpl_event *event)
{
	struct survey_call *call = call_of(survey, event);
	int64_t result = (int64_t)event->arg[2];

	if (event->tag == KTR_SYSCALL_ENTER) {
		call->count++;
		survey->runs->calls++;
		return;
	}
	call->returned++;
	/* beyond these the call is begun again */
	if (result < 0 && result > -512) {
		call->errors++;
		survey->runs->errors++;
	}
}

int survey_task_event(struct survey *survey, const struct lpl_event *event,
		      struct lpl_report *report)
{
	enum survey_why why;

	switch (event->tag) {
	case KTR_SNAPSHOT:
		survey->in_snapshot = event->arg[0] != 0;
		return LPL_OK;
	case KTR_SYSCALL_ENTER:
	case KTR_SYSCALL_EXIT:
		count_call(survey, event);
		return LPL_OK;
	case KTR_SCHEDULE:
		why = why_left(event->arg[1]);
		survey->runs->left[why]++;
		survey->switched = survey->now;
		survey->current = NULL;
		if (!task_becomes(survey, survey->runs, why == SURVEY_PREEMPTED ? SURVEY_READY :
							SURVEY_BLOCKED, survey->now))
			return no_memory(report);
		return LPL_OK;
	default:
		return LPL_OK;
	}
}

/* ---- time ---- */

bool survey_tasks_close_bin(struct survey *survey)
{
	for (uint64_t i = 0; i < survey->kept_processes; i++) {
		struct survey_process *process = survey->kept_process[i];
		uint64_t *value;

		if (process->bin_peak == 0)
			continue;
		value = series_at(&process->resident, survey->bin);
		if (!value)
			return false;
		*value = process->bin_peak;
		process->bin_peak = process->alive;
	}
	return true;
}

static void task_fold(struct survey_task *task)
{
	for (int doing = 0; doing < SURVEY_DOINGS; doing++)
		series_fold(&task->doing[doing], FOLD_SUM);
	series_fold(&task->referenced, FOLD_SUM);
}

void survey_tasks_fold(struct survey *survey)
{
	for (uint64_t i = 0; i < survey->kept_tasks; i++)
		task_fold(survey->kept_task[i]);
	task_fold(&survey->other_task);
	for (uint64_t i = 0; i < survey->kept_processes; i++)
		series_fold(&survey->kept_process[i]->resident, FOLD_MOST);
}

void survey_task_free(struct survey_task *task)
{
	for (int doing = 0; doing < SURVEY_DOINGS; doing++)
		series_free(&task->doing[doing]);
	series_free(&task->referenced);
}

void survey_process_free(struct survey_process *process)
{
	series_free(&process->resident);
	page_set_free(&process->set);
}

void survey_tasks_free(struct survey *survey)
{
	for (uint64_t i = 0; i < survey->kept_tasks; i++) {
		survey_task_free(survey->kept_task[i]);
		free(survey->kept_task[i]);
	}
	for (uint64_t i = 0; i < survey->kept_processes; i++) {
		survey_process_free(survey->kept_process[i]);
		free(survey->kept_process[i]);
	}
	survey_task_free(&survey->other_task);
	survey_process_free(&survey->other_process);
	free(survey->slot);
	free(survey->process);
	free(survey->kept_task);
	free(survey->kept_process);
	free(survey->call);
}
