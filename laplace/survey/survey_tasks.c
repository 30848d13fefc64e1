/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's tasks; see survey_tasks.h.
 *
 * Which task runs follows from references and events, which the merge gives to tasks; since when,
 * from the `schedule` event before.  A task that left the processor able to run on is
 * ready until it runs again, any other is blocked: kernels do not report wakings.
 */
#include "survey_tasks.h"

#include <stdlib.h>

#include "base/array.h"
#include "time_series.h"

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for tasks");
}

static bool is_sum(const struct survey_tasks *tasks, const struct survey_task *task)
{
	return task == &tasks->sum;
}

static bool lives(const struct survey_task *task)
{
	return task->result.state == LPL_TASK_LIVES;
}

static struct survey_task *find(const struct survey_tasks *tasks, uint64_t serial)
{
	return serial < tasks->slots ? tasks->slot[serial].task : NULL;
}

static void task_free(struct survey_task *task)
{
	for (int i = 0; i < LPL_SURVEY_ACTIVITIES; i++)
		lpl_time_series_free(&task->result.activity[i]);
	lpl_time_series_free(&task->result.references_by_bin);
	lpl_page_set_free(&task->thread.pages);
}

/* ---- the record of all others ---- */

/* It gets one task more. */
static struct survey_task *join_sum(struct survey_tasks *tasks)
{
	tasks->result.others++;
	return &tasks->sum;
}

static bool give_up(struct survey_tasks *tasks, struct survey_task *task)
{
	struct survey_task *others = join_sum(tasks);
	struct lpl_survey_task *sum = &others->result;
	const struct lpl_survey_task *part = &task->result;

	sum->references += part->references;
	sum->user_references += part->user_references;
	sum->scheduled += part->scheduled;
	for (int reason = 0; reason < LPL_SURVEY_REASONS; reason++)
		sum->left[reason] += part->left[reason];
	sum->time[LPL_SURVEY_RUNNING] += part->time[LPL_SURVEY_RUNNING];
	sum->calls += part->calls;
	sum->call_errors += part->call_errors;
	if (!lpl_time_series_add(&sum->activity[LPL_SURVEY_RUNNING],
				 &part->activity[LPL_SURVEY_RUNNING]) ||
	    !lpl_time_series_add(&sum->references_by_bin, &part->references_by_bin))
		return false;
	tasks->slot[part->serial].task = others;
	task_free(task);
	free(task);
	return true;
}

/* Those that may give up their record come first, those that did least before. */
static int by_loss(const void *a, const void *b)
{
	const struct survey_task *task = *(struct survey_task *const *)a;
	const struct survey_task *other_task = *(struct survey_task *const *)b;
	const struct lpl_survey_task *one = &task->result, *other = &other_task->result;

	if (lives(task) != lives(other_task))
		return lives(task) ? 1 : -1;
	if (one->time[LPL_SURVEY_RUNNING] != other->time[LPL_SURVEY_RUNNING])
		return one->time[LPL_SURVEY_RUNNING] < other->time[LPL_SURVEY_RUNNING] ? -1 : 1;
	if (one->references != other->references)
		return one->references < other->references ? -1 : 1;
	return one->serial > other->serial ? -1 : one->serial < other->serial;
}

/* May one more have a record?  *enough: there was memory for what that needs. */
static bool make_place(struct survey_tasks *tasks, bool *enough)
{
	size_t given_up = 0, left = 0;

	*enough = true;
	if (tasks->result.recorded < tasks->limit)
		return true;
	if (4 * tasks->ended < tasks->limit)
		return false;
	qsort(tasks->record, tasks->result.recorded, sizeof(struct survey_task *), by_loss);
	for (size_t i = 0; i < tasks->result.recorded; i++) {
		struct survey_task *task = tasks->record[i];

		/* the one that ran last may have ended, and is still looked at */
		if (2 * given_up < tasks->ended && !lives(task) && task != tasks->running) {
			*enough &= give_up(tasks, task);
			given_up++;
		} else {
			tasks->record[left++] = task;
		}
	}
	tasks->result.recorded = left;
	tasks->ended -= given_up;
	return given_up > 0;
}

/* ---- processes ---- */

static void leave_alone(struct survey_thread *thread)
{
	if (thread->alone)
		thread->alone->alone = NULL;
	thread->alone = NULL;
}

/* The pages of its process, so far, become its own.  false: no memory. */
static bool part(struct survey_thread *thread)
{
	struct survey_process *process = thread->alone;

	if (!process)
		return true;
	leave_alone(thread);
	return lpl_page_set_copy(&thread->pages, &process->pages);
}

/* Of a program with one task one set of pages will do.  false: no memory. */
static bool join_threads(struct survey_tasks *tasks, struct survey_task *task,
			 struct survey_process *process)
{
	if (process->result.number == 0)
		return true;
	if (process->alone)
		return part(process->alone);
	if (process->result.tasks == 0 && process != &tasks->processes->sum && !is_sum(tasks, task) &&
	    task->thread.pages.count == 0) {
		task->thread.alone = process;
		process->alone = &task->thread;
	}
	return true;
}

/* The task that runs belongs to this process. */
static void run_in(struct survey_tasks *tasks, struct survey_process *process)
{
	const struct task_slot *slot = &tasks->slot[tasks->running_serial];

	tasks->processes->running = process;
	tasks->processes->thread = &slot->task->thread;
	tasks->processes->runner = slot->runner;
}

static bool join_process(struct survey_tasks *tasks, uint64_t serial, uint64_t number)
{
	struct survey_process *process = lpl_survey_processes_reach(tasks->processes, number);
	struct task_slot *slot = &tasks->slot[serial];

	if (!process || !join_threads(tasks, slot->task, process))
		return false;
	slot->process = (uint32_t)number;
	slot->runner = number != 0 ? ++tasks->runners : 0;
	if (!is_sum(tasks, slot->task))
		slot->task->result.process = number;
	if (tasks->running && tasks->running_serial == serial)
		run_in(tasks, process);
	process->result.tasks++;
	process->living_tasks++;
	return true;
}

static void end_process(struct survey_tasks *tasks, struct survey_process *process)
{
	lpl_survey_pages_count(tasks->pages, process);
	lpl_survey_process_end(tasks->processes, process);
}

static void leave_process(struct survey_tasks *tasks, uint64_t serial)
{
	struct survey_process *process = lpl_survey_processes_find(tasks->processes,
								   tasks->slot[serial].process);

	/* the kernel does not end, nor does the sum of the others before all do */
	if (--process->living_tasks == 0 && process->result.number != 0 &&
	    process != &tasks->processes->sum)
		end_process(tasks, process);
}

/* ---- records ---- */

/* A record of its own; NULL: no memory. */
static struct survey_task *add(struct survey_tasks *tasks)
{
	struct survey_task *task;

	if (!lpl_reach(tasks->record, tasks->record_room, tasks->result.recorded))
		return NULL;
	task = calloc(1, sizeof(*task));
	if (task)
		tasks->record[tasks->result.recorded++] = task;
	return task;
}

/* The task that the merge reports, made if it is new.  NULL: no memory. */
static struct survey_task *reach(struct survey_tasks *tasks, const struct lpl_merge_task *merged)
{
	struct survey_task *task = find(tasks, merged->serial);
	struct lpl_survey_task *result;
	bool has_place, enough;

	if (task)
		return task;
	if (!lpl_reach(tasks->slot, tasks->slots, merged->serial))
		return NULL;
	has_place = make_place(tasks, &enough);
	if (!enough)
		return NULL;
	/* the idle task has a record always */
	if (!has_place && merged->serial != 0) {
		task = tasks->slot[merged->serial].task = join_sum(tasks);
		return join_process(tasks, merged->serial, merged->process) ? task : NULL;
	}
	task = add(tasks);
	if (!task)
		return NULL;
	task->since = NEVER;
	result = &task->result;
	result->serial = merged->serial;
	result->tid = merged->tid;
	result->tgid = merged->tgid;
	result->parent = merged->parent;
	result->begin = tasks->time->result.length;
	result->begun = merged->serial != 0 && !tasks->in_snapshot;
	if (merged->serial == 0)
		snprintf(result->name, sizeof(result->name), "boot/idle");
	tasks->slot[merged->serial].task = task;
	return join_process(tasks, merged->serial, merged->process) ? task : NULL;
}

/* ---- what tasks do ---- */

/* From `moment` on the task does something else.  false: no memory. */
static bool becomes(struct survey_tasks *tasks, struct survey_task *task,
		    enum lpl_survey_activity activity, uint64_t moment)
{
	struct lpl_survey_task *result = &task->result;
	bool is_idle_task = result->serial == 0;	/* or the sum */

	if (task->since != NEVER && task->since < moment) {
		result->time[task->activity] += moment - task->since;
		if (task->activity == LPL_SURVEY_RUNNING)
			tasks->result.running += moment - task->since;
		if (!lpl_time_series_add_span(&result->activity[task->activity], tasks->time,
					      task->since, moment))
			return false;
	}
	task->activity = activity;
	/* the idle task waits for nothing, and of the others it is not known for what */
	task->since = is_idle_task && activity != LPL_SURVEY_RUNNING ? NEVER : moment;
	return true;
}

/* References of the process that runs. */
static void count_in_process(struct survey_tasks *tasks)
{
	struct lpl_survey_process *process = &tasks->processes->running->result;
	const uint64_t user = tasks->new_user_references;

	process->references += tasks->new_references;
	process->walked.references[0] += tasks->new_references - user - tasks->new_walks[0];
	process->walked.references[1] += user - tasks->new_walks[1];
	tasks->new_walks[0] = tasks->new_walks[1] = 0;
}

bool lpl_survey_tasks_count(struct survey_tasks *tasks)
{
	struct survey_task *task = tasks->running;
	uint64_t *value;

	if (!task || tasks->new_references == 0)
		return true;
	value = lpl_time_series_reach(&task->result.references_by_bin, tasks->time->bin);
	if (!value)
		return false;
	*value += tasks->new_references;
	count_in_process(tasks);
	task->result.references += tasks->new_references;
	task->result.user_references += tasks->new_user_references;
	tasks->user_references += tasks->new_user_references;
	tasks->new_references = tasks->new_user_references = 0;
	return true;
}

enum lpl_error lpl_survey_tasks_switch(struct survey_tasks *tasks,
				       const struct lpl_merge_task *next, struct lpl_report *report)
{
	struct survey_task *before = tasks->running, *task;

	/* no event reported a switch, but another one runs */
	if (tasks->current)
		tasks->switched = tasks->time->result.length;
	if (!lpl_survey_tasks_count(tasks))
		return no_memory(report);
	task = reach(tasks, next);
	if (!task)
		return no_memory(report);
	if (before && before != task && before->activity == LPL_SURVEY_RUNNING &&
	    before->since != NEVER && !becomes(tasks, before, LPL_SURVEY_READY, tasks->switched))
		return no_memory(report);
	if (!becomes(tasks, task, LPL_SURVEY_RUNNING, tasks->switched))
		return no_memory(report);
	tasks->current = next;
	tasks->running = task;
	tasks->running_serial = next->serial;
	run_in(tasks, lpl_survey_processes_find(tasks->processes,
						tasks->slot[next->serial].process));
	task->result.scheduled++;
	tasks->result.switches++;
	return LPL_OK;
}

static enum lpl_survey_reason reason_of(uint64_t state)
{
	if (state == KTR_STATE_RUNNABLE)
		return LPL_SURVEY_PREEMPTED;
	if (state & KTR_STATE_DEAD)
		return LPL_SURVEY_EXITED;
	if (state & KTR_STATE_IDLE)
		return LPL_SURVEY_IDLE;
	if (state & KTR_STATE_WAITING)
		return LPL_SURVEY_WAITING;
	if (state & KTR_STATE_SLEEPING)
		return LPL_SURVEY_SLEEPING;
	return LPL_SURVEY_STOPPED;
}

/* What a task does that left the processor in this state. */
static enum lpl_survey_activity activity_after(uint64_t state)
{
	return reason_of(state) == LPL_SURVEY_PREEMPTED ? LPL_SURVEY_READY : LPL_SURVEY_BLOCKED;
}

const char *lpl_survey_reason_name(enum lpl_survey_reason reason)
{
	static const char *const name[LPL_SURVEY_REASONS] = {
		[LPL_SURVEY_PREEMPTED] = "preempted", [LPL_SURVEY_SLEEPING] = "sleeping",
		[LPL_SURVEY_WAITING] = "waiting", [LPL_SURVEY_STOPPED] = "stopped",
		[LPL_SURVEY_IDLE] = "idle", [LPL_SURVEY_EXITED] = "exited"
	};

	return name[reason];
}

enum lpl_error lpl_survey_tasks_schedule(struct survey_tasks *tasks, const struct lpl_event *event,
					 struct lpl_report *report)
{
	enum lpl_survey_reason reason = reason_of(event->arg[KTR_SCHEDULE_PREVIOUS_STATE]);
	uint64_t now = tasks->time->result.length;

	tasks->running->result.left[reason]++;
	tasks->switched = now;
	tasks->current = NULL;
	if (!becomes(tasks, tasks->running,
		     activity_after(event->arg[KTR_SCHEDULE_PREVIOUS_STATE]), now))
		return no_memory(report);
	return LPL_OK;
}

/* ---- what tasks are ---- */

static void copy_name(char name[LPL_SURVEY_NAME], const struct lpl_merge_task *merged)
{
	if (merged->name_length > 0)
		lpl_text_escape(name, LPL_SURVEY_NAME, merged->name, merged->name_length);
}

/* What is known of a task by itself.  A process has the name of its first task. */
static void describe(struct survey_tasks *tasks, struct survey_task *task,
		     const struct lpl_merge_task *merged)
{
	struct survey_process *process = lpl_survey_processes_find(tasks->processes,
								   merged->process);

	if (!is_sum(tasks, task)) {
		task->result.tid = merged->tid;
		task->result.tgid = merged->tgid;
		if (merged->parent != 0)
			task->result.parent = merged->parent;
		copy_name(task->result.name, merged);
		task->result.state = merged->state;
		task->result.exit_code = merged->exit_code;
	}
	if (process == &tasks->processes->sum)
		return;
	process->result.tgid = merged->tgid;
	if (process->result.number == 0)
		snprintf(process->result.name, sizeof(process->result.name), "kernel");
	else if (merged->tid == merged->tgid || !process->result.name[0])
		copy_name(process->result.name, merged);
}

/* That was the last word on it.  false: no memory. */
static bool end(struct survey_tasks *tasks, struct survey_task *task,
		const struct lpl_merge_task *merged)
{
	uint64_t now = tasks->time->result.length;

	/* of several that share a record another one may run */
	if (!is_sum(tasks, task) || tasks->current == merged) {
		if (!becomes(tasks, task, task->activity, now))
			return false;
		task->since = NEVER;
		task->result.end = now;
	}
	leave_alone(&task->thread);
	if (!is_sum(tasks, task))
		lpl_page_set_free(&task->thread.pages);
	tasks->ended += !is_sum(tasks, task);
	leave_process(tasks, merged->serial);
	if (tasks->current == merged) {
		tasks->current = NULL;
		tasks->switched = now;
	}
	return true;
}

enum lpl_error lpl_survey_tasks_change(struct survey_tasks *tasks,
				       const struct lpl_merge_task *changed,
				       struct lpl_report *report)
{
	bool is_new = !find(tasks, changed->serial);
	struct survey_task *task = reach(tasks, changed);

	if (!task)
		return no_memory(report);
	/* a task that was made just now waits for the processor; of others nothing is known */
	if (is_new && task->result.begun &&
	    !becomes(tasks, task, LPL_SURVEY_READY, tasks->time->result.length))
		return no_memory(report);
	if (is_new && tasks->reported_left != KTR_NONE &&
	    !becomes(tasks, task, activity_after(tasks->reported_left),
		     tasks->time->result.length))
		return no_memory(report);
	if (task == tasks->running && !lpl_survey_tasks_count(tasks))
		return no_memory(report);
	if (tasks->slot[changed->serial].process != changed->process) {
		if (!part(&task->thread))
			return no_memory(report);
		leave_process(tasks, changed->serial);
		if (!join_process(tasks, changed->serial, changed->process))
			return no_memory(report);
	}
	describe(tasks, task, changed);
	if (changed->state != LPL_TASK_LIVES && !end(tasks, task, changed))
		return no_memory(report);
	return LPL_OK;
}

/* ---- the whole ---- */

static void task_fold(struct survey_task *task)
{
	for (int i = 0; i < LPL_SURVEY_ACTIVITIES; i++)
		lpl_time_series_fold(&task->result.activity[i], FOLD_SUM);
	lpl_time_series_fold(&task->result.references_by_bin, FOLD_SUM);
}

void lpl_survey_tasks_fold(struct survey_tasks *tasks)
{
	for (size_t i = 0; i < tasks->result.recorded; i++)
		task_fold(tasks->record[i]);
	task_fold(&tasks->sum);
}

void lpl_survey_tasks_finish(struct survey_tasks *tasks)
{
	struct survey_processes *processes = tasks->processes;

	for (size_t i = 0; i < processes->result.recorded; i++) {
		if (!processes->record[i]->over)
			end_process(tasks, processes->record[i]);
	}
	if (processes->result.others > 0)
		end_process(tasks, &processes->sum);
}

void lpl_survey_tasks_init(struct survey_tasks *tasks, size_t limit,
			   const struct survey_time *time, struct survey_processes *processes,
			   struct survey_pages *pages)
{
	*tasks = (struct survey_tasks){
		.limit = limit, .time = time, .processes = processes, .pages = pages,
		.result.sum = &tasks->sum.result, .sum.since = NEVER, .reported_left = KTR_NONE
	};
}

void lpl_survey_tasks_free(struct survey_tasks *tasks)
{
	for (size_t i = 0; i < tasks->result.recorded; i++) {
		task_free(tasks->record[i]);
		free(tasks->record[i]);
	}
	task_free(&tasks->sum);
	free(tasks->slot);
	free(tasks->record);
}
