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

struct survey_process *survey_process(const struct survey *survey, uint64_t number)
{
	return number < survey->processes ? survey->process[number] : NULL;
}

/* Room for `number` in an array of pointers; false: no memory. */
static bool make_room(void ***array, uint64_t *room, uint64_t *count, uint64_t number)
{
	if (number >= *room) {
		uint64_t more = 2 * number + 16;
		void **larger = realloc(*array, more * sizeof(*larger));

		if (!larger)
			return false;
		memset(larger + *room, 0, (more - *room) * sizeof(*larger));
		*array = larger;
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
	if (!make_room((void ***)&survey->process, &survey->process_room, &survey->processes,
		       number))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
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

static bool join_process(struct survey *survey, struct survey_task *task, uint64_t number)
{
	struct survey_process *process = process_make(survey, number);

	if (!process)
		return false;
	task->process = number;
	process->tasks++;
	process->live++;
	return true;
}

static void leave_process(struct survey *survey, const struct survey_task *task)
{
	struct survey_process *process = survey_process(survey, task->process);

	if (--process->live == 0 && process->number != 0)
		survey_process_over(survey, process);
}

static struct survey_task *task_make(struct survey *survey, const struct lpl_merge_task *told)
{
	struct survey_task *task;

	if (told->serial < survey->tasks && survey->task[told->serial])
		return survey->task[told->serial];
	if (!make_room((void ***)&survey->task, &survey->task_room, &survey->tasks, told->serial))
		return NULL;
	task = calloc(1, sizeof(*task));
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
	survey->task[told->serial] = task;
	return join_process(survey, task, told->process) ? task : NULL;
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
	/* the idle task waits for nothing */
	task->since = task->serial == 0 && doing != SURVEY_RUNS ? SURVEY_NEVER : time;
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
	survey->process[task->process]->references += survey->run_references;
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
	next->scheduled++;
	survey->switches++;
	return LPL_OK;
}

static void copy_name(char *out, size_t size, const struct lpl_merge_task *told)
{
	if (told->name_length > 0)
		lpl_text_escape(out, size, told->name, told->name_length);
}

int survey_task_told(struct survey *survey, const struct lpl_merge_task *told,
		     struct lpl_report *report)
{
	bool is_new = told->serial >= survey->tasks || !survey->task[told->serial];
	struct survey_task *task = task_make(survey, told);
	struct survey_process *process;

	if (!task)
		return no_memory(report);
	/* a task that was made just now waits for the processor; of others who knows */
	if (is_new && task->begun && !task_becomes(survey, task, SURVEY_READY, survey->now))
		return no_memory(report);
	if (task == survey->runs && !survey_settle(survey))
		return no_memory(report);
	if (task->process != told->process) {
		leave_process(survey, task);
		if (!join_process(survey, task, told->process))
			return no_memory(report);
	}
	process = survey_process(survey, task->process);
	task->tid = told->tid;
	task->tgid = told->tgid;
	if (told->parent != 0)
		task->parent = told->parent;
	copy_name(task->name, sizeof(task->name), told);
	process->tgid = told->tgid;
	if (process->number == 0)
		snprintf(process->name, sizeof(process->name), "kernel");
	else if (told->tid == told->tgid || !process->name[0])
		copy_name(process->name, sizeof(process->name), told);
	task->state = told->state;
	task->exit_code = told->exit_code;
	if (told->state == LPL_TASK_LIVES)
		return LPL_OK;
	if (!task_becomes(survey, task, task->now, survey->now))
		return no_memory(report);
	task->since = SURVEY_NEVER;
	task->end = survey->now;
	leave_process(survey, task);
	if (survey->current == told) {
		survey->current = NULL;
		survey->switched = survey->now;
	}
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
	for (uint64_t i = 0; i < survey->processes; i++) {
		struct survey_process *process = survey->process[i];
		uint64_t *value;

		if (!process || process->bin_peak == 0)
			continue;
		value = series_at(&process->resident, survey->bin);
		if (!value)
			return false;
		*value = process->bin_peak;
		process->bin_peak = process->alive;
	}
	return true;
}

void survey_tasks_fold(struct survey *survey)
{
	for (uint64_t i = 0; i < survey->tasks; i++) {
		struct survey_task *task = survey->task[i];

		if (!task)
			continue;
		for (int doing = 0; doing < SURVEY_DOINGS; doing++)
			series_fold(&task->doing[doing], FOLD_SUM);
		series_fold(&task->referenced, FOLD_SUM);
	}
	for (uint64_t i = 0; i < survey->processes; i++) {
		if (survey->process[i])
			series_fold(&survey->process[i]->resident, FOLD_MOST);
	}
}

void survey_tasks_free(struct survey *survey)
{
	for (uint64_t i = 0; i < survey->tasks; i++) {
		struct survey_task *task = survey->task[i];

		if (!task)
			continue;
		for (int doing = 0; doing < SURVEY_DOINGS; doing++)
			series_free(&task->doing[doing]);
		series_free(&task->referenced);
		free(task);
	}
	for (uint64_t i = 0; i < survey->processes; i++) {
		if (!survey->process[i])
			continue;
		series_free(&survey->process[i]->resident);
		page_set_free(&survey->process[i]->set);
		free(survey->process[i]);
	}
	free(survey->task);
	free(survey->process);
	free(survey->call);
}
