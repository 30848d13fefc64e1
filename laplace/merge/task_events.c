/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each event says of tasks.
 *
 * A task that exits goes on until its last switch, and may be preempted, or wait, on the way.
 * Linux of any version leaves a task that will come back in a state of 0 (it can run) or with
 * one of the bits 1 and 2 (it sleeps); with any other state an exited task has ended.
 *
 * A thread that executes takes its leader's id, after the leader's exit: for a reader that knows
 * tasks by their ids another one runs now.  Here it is the same task with another tid, and the
 * kernel's KTR_SCHEDULE from the old id to the new and KTR_EXIT of the old, which stand for the
 * change, mean nothing more.
 */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

/* clone(2)'s; part of the kernel's interface, and the same everywhere. */
#define CLONE_VM 0x100

/* What is reported of a tid that belongs to another process now is about another task. */
static bool is_other(const struct task *task, uint32_t tgid)
{
	return tgid != 0 && task->view.tgid != 0 && task->view.tgid != tgid;
}

/* ---- what is reported of a task ---- */

static void set_name(struct tasks *tasks, struct task *task, const char *name, uint32_t length)
{
	if (length > LPL_TASK_NAME)
		length = LPL_TASK_NAME;
	if (length == 0 ||
	    (length == task->view.name_length && memcmp(task->view.name, name, length) == 0))
		return;
	memcpy(task->view.name, name, length);
	task->view.name_length = length;
	lpl_task_changed(tasks, task);
}

static uint32_t text_length(const struct lpl_event *event)
{
	return event->text_length < KTR_TEXT ? event->text_length : KTR_TEXT;
}

/* A path's last part, as much of it as a task's name takes. */
static void name_after_image(struct tasks *tasks, struct task *task,
			     const struct lpl_event *event)
{
	uint32_t length = text_length(event), start = length;

	while (start > 0 && event->text[start - 1] != '/')
		start--;
	set_name(tasks, task, event->text + start, length - start);
}

static void set_space(struct tasks *tasks, struct task *task, uint64_t space)
{
	if (task->view.space != space) {
		task->view.space = space;
		lpl_task_changed(tasks, task);
	}
}

static void set_tgid(struct tasks *tasks, struct task *task, uint32_t tgid)
{
	if (tgid != 0 && task->view.tgid != tgid) {
		task->view.tgid = tgid;
		lpl_task_changed(tasks, task);
	}
}

/* Another task has its tid: it ended, and if no event said so it is lost. */
static void end_replaced(struct tasks *tasks, struct task *task,
			 enum lpl_merge_anomaly unreported, const struct lpl_event *event)
{
	if (!task->exited)
		lpl_tasks_anomaly(tasks, unreported, event);
	lpl_task_end(tasks, task, task->exited ? LPL_TASK_EXITED : LPL_TASK_LOST, event);
}

/* ---- which task runs ---- */

/* The task runs from now on; it is implied when no event named it before. */
static bool run(struct tasks *tasks, uint32_t tid, uint32_t tgid, uint64_t space,
		const struct lpl_event *event)
{
	struct task *task;

	tasks->current_known = true;
	if (tid == 0) {		/* the idle task is never created */
		tasks->current = &tasks->idle;
		return true;
	}
	task = lpl_task_find(tasks, tid);
	if (task != NULL && is_other(task, tgid)) {
		end_replaced(tasks, task, LPL_ANOMALY_TASK_OTHER, event);
		task = NULL;
	}
	if (task == NULL) {
		task = lpl_task_imply(tasks, tid, tgid, event);
		if (task == NULL)
			return false;
		task->view.space = space;
	}
	task_named(tasks, task);
	tasks->current = task;
	set_tgid(tasks, task, tgid);
	return lpl_task_join_process(tasks, task);
}

/* What an event says of the space of the task that runs from now on; 0: nothing. */
static bool use_space(struct tasks *tasks, struct task *task, uint64_t space,
		      const struct lpl_event *event)
{
	if (space == 0 || task->view.space == space)
		return true;
	/* a kernel thread that borrows one has none of its own */
	if (task->view.space != 0)
		lpl_tasks_anomaly(tasks, LPL_ANOMALY_MISSED_ASSIGN, event);
	set_space(tasks, task, space);
	return lpl_task_join_process(tasks, task);
}

/*
 * Has the task that runs taken the id of its leader, which has exited?  The idle task never has,
 * whatever process it is said to be in.
 */
static bool took_over(const struct tasks *tasks, uint32_t tid, uint32_t tgid)
{
	const struct task *current = tasks->current;
	const struct process *process = lpl_process_find(tasks, tgid);
	const struct task *leader = lpl_task_find(tasks, tid);

	return tid != 0 && tid == tgid && tasks->current_known && current->view.tid != tid &&
	       current != &tasks->idle && current->in_process &&
	       current->process_tgid == tgid && !current->exited &&
	       process->leader_exited && (leader == NULL || leader->exited);
}

static bool take_over(struct tasks *tasks, uint32_t tid, const struct lpl_event *event)
{
	struct task *current = tasks->current;
	struct task *leader = lpl_task_find(tasks, tid);

	if (leader != NULL)
		lpl_task_end(tasks, leader, LPL_TASK_EXITED, event);
	if (!lpl_map_put(&tasks->by_tid, LPL_KEY(tid), (uintptr_t)current))
		return false;
	(void)lpl_map_remove(&tasks->by_tid, LPL_KEY(current->view.tid));
	current->old_tid = current->view.tid;
	current->view.tid = tid;
	lpl_process_find(tasks, current->process_tgid)->leader_exited = false;
	lpl_task_changed(tasks, current);
	return true;
}

/*
 * A switch may be reported on either side of it: its event may carry the task that stops or
 * the one that starts.
 */
bool lpl_tasks_check(struct tasks *tasks, const struct lpl_event *event)
{
	const struct task *current = tasks->current;
	uint32_t tid = event->tid, tgid = event->tgid;
	uint64_t space = event->space;

	/* the simulator's own events know nothing of tasks, and no task sends a state */
	if (event->tag >= LPL_EVENT_TRACING || tasks->in_state)
		return true;
	if (event->tag == KTR_SCHEDULE &&
	    (uint32_t)event->arg[KTR_SCHEDULE_PREVIOUS_TID] != tid) {
		tid = (uint32_t)event->arg[KTR_SCHEDULE_PREVIOUS_TID];
		tgid = 0;
		space = 0;
	}
	if (tasks->current_known &&
	    ((current->view.tid == tid && !is_other(current, tgid)) ||
	     (tid != 0 && current->old_tid == tid && lpl_task_find(tasks, tid) == NULL)))
		return true;
	if (took_over(tasks, tid, tgid))
		return take_over(tasks, tid, event);
	if (tasks->current_known && current->view.tid != tid)
		lpl_tasks_anomaly(tasks, LPL_ANOMALY_MISSED_SCHEDULE, event);
	tasks->current->left = KTR_STATE_RUNNABLE;	/* as far as is known; it did not sleep */
	return run(tasks, tid, tgid, space, event);
}

/* ---- the events ---- */

/*
 * Which task is the parent?  A snapshot reports tasks that existed before, in the name of the
 * program that started it.  Where its bounds are not reported, it shows by spaces that no
 * event named before; once its end was, every task that is reported is new.
 */
static uint64_t parent_of(const struct tasks *tasks, const struct lpl_event *event,
			  bool space_known)
{
	const struct task *current = tasks->current;
	uint64_t space = event->arg[KTR_TASK_CREATE_SPACE];
	bool new;

	if (tasks->snapshot_ended)
		new = true;
	else if (space == 0)
		new = current->view.process == 0;
	else
		new = space_known || space == event->space ||
		      (event->arg[KTR_TASK_CREATE_FLAGS] & CLONE_VM) != 0;
	return new && !tasks->in_snapshot ? current->view.serial : 0;
}

/* Is the task that is said to begin one that is known? */
static bool is_known(const struct tasks *tasks, const struct task *task, uint32_t tgid)
{
	/* a second snapshot repeats what is known */
	return !task->exited && !is_other(task, tgid) && (task->implied || tasks->in_snapshot);
}

static bool on_create(struct tasks *tasks, const struct lpl_event *event, bool space_known)
{
	uint32_t tid = (uint32_t)event->arg[KTR_TASK_CREATE_TID];
	uint32_t tgid = (uint32_t)event->arg[KTR_TASK_CREATE_TGID];
	struct task *task = lpl_task_find(tasks, tid);
	bool runs = task != NULL && task == tasks->current;

	if (tid == 0) {
		lpl_tasks_anomaly(tasks, LPL_ANOMALY_TASK_CREATE, event);
		return true;
	}
	if (task != NULL && !is_known(tasks, task, tgid)) {
		end_replaced(tasks, task, LPL_ANOMALY_TASK_CREATE, event);
		task = NULL;
	}
	if (task == NULL) {
		task = lpl_task_make(tasks, tid, 0);
		if (task == NULL)
			return false;
		task->view.parent = parent_of(tasks, event, space_known);
		task->left = tasks->in_snapshot ? KTR_NONE : KTR_STATE_RUNNABLE;
		if (runs)
			tasks->current = task;
	}
	task_named(tasks, task);
	task->implied = false;
	free(task->implied_by);
	task->implied_by = NULL;
	task->view.tgid = tgid;
	set_space(tasks, task, event->arg[KTR_TASK_CREATE_SPACE]);
	set_name(tasks, task, event->text, text_length(event));
	lpl_task_changed(tasks, task);
	return lpl_task_join_process(tasks, task);
}

static bool comes_back(uint64_t state)
{
	return state == KTR_STATE_RUNNABLE ||
	       (state & (KTR_STATE_SLEEPING | KTR_STATE_WAITING)) != 0;
}

static bool on_schedule(struct tasks *tasks, const struct lpl_event *event)
{
	struct task *goes = tasks->current;
	uint32_t tid = (uint32_t)event->arg[KTR_SCHEDULE_NEXT_TID];
	uint32_t tgid = (uint32_t)event->arg[KTR_SCHEDULE_NEXT_TGID];
	uint64_t space = event->arg[KTR_SCHEDULE_NEXT_SPACE];

	if (took_over(tasks, tid, tgid))
		return take_over(tasks, tid, event);
	goes->left = event->arg[KTR_SCHEDULE_PREVIOUS_STATE];
	if (!run(tasks, tid, tgid, space, event) ||
	    !use_space(tasks, tasks->current, space, event))
		return false;
	set_name(tasks, tasks->current, event->text, text_length(event));
	if (goes != tasks->current && goes->exited && !task_is_over(goes) &&
	    !comes_back(event->arg[KTR_SCHEDULE_PREVIOUS_STATE]))
		lpl_task_end(tasks, goes, LPL_TASK_EXITED, event);
	return true;
}

/* Both KTR_SPACE_ASSIGN and KTR_EXEC: the mappings are reported by events of their own. */
static bool on_assign(struct tasks *tasks, const struct lpl_event *event)
{
	uint32_t tid = (uint32_t)event->arg[KTR_TASK_TID];
	uint32_t tgid = (uint32_t)event->arg[KTR_TASK_TGID];
	struct task *task = lpl_task_find(tasks, tid);
	bool runs = task == tasks->current;

	if (task == NULL) {
		lpl_tasks_anomaly(tasks, LPL_ANOMALY_TASK_UNKNOWN, event);
		return true;
	}
	if (is_other(task, tgid)) {
		end_replaced(tasks, task, LPL_ANOMALY_TASK_OTHER, event);
		task = lpl_task_imply(tasks, tid, tgid, event);
		if (task == NULL)
			return false;
		if (runs)
			tasks->current = task;
	}
	task_named(tasks, task);
	set_tgid(tasks, task, tgid);
	set_space(tasks, task, event->arg[KTR_TASK_SPACE]);
	if (event->tag == KTR_EXEC)
		name_after_image(tasks, task, event);
	return lpl_task_join_process(tasks, task);
}

/* The task still runs until its last switch, if it is the one that runs. */
static bool on_exit_reported(struct tasks *tasks, const struct lpl_event *event)
{
	uint32_t tid = (uint32_t)event->arg[KTR_EXIT_TID];
	struct task *current = tasks->current;
	struct task *task = lpl_task_find(tasks, tid);
	struct process *process;

	if (task == NULL && tid != 0 && current->old_tid == tid) {
		current->old_tid = 0;
		return true;
	}
	if (task != NULL)
		task_named(tasks, task);
	if (task == NULL || task->exited ||
	    is_other(task, (uint32_t)event->arg[KTR_EXIT_TGID])) {
		lpl_tasks_anomaly(tasks, LPL_ANOMALY_TASK_UNKNOWN, event);
		return true;
	}
	task->exited = true;
	task->view.exit_code = event->arg[KTR_EXIT_CODE];
	tasks->live--;
	process = task->in_process ? lpl_process_find(tasks, task->process_tgid) : NULL;
	if (process != NULL && tid == task->process_tgid)
		process->leader_exited = true;
	if (task != current)
		lpl_task_end(tasks, task, LPL_TASK_EXITED, event);
	return true;
}

bool lpl_tasks_event(struct tasks *tasks, const struct lpl_event *event, bool space_known)
{
	switch (event->tag) {
	case KTR_TASK_CREATE:
		return on_create(tasks, event, space_known);
	case KTR_SCHEDULE:
		return on_schedule(tasks, event);
	case KTR_SPACE_ASSIGN:
	case KTR_EXEC:
		return on_assign(tasks, event);
	case KTR_EXIT:
		return on_exit_reported(tasks, event);
	case LPL_EVENT_STATE:
	case LPL_EVENT_TASK_STATE:
		return lpl_tasks_state(tasks, event);
	default:
		return true;
	}
}
