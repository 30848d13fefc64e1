/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks and processes: which are known, and which ended or changed since the last report. */
#include "tasks.h"

#include <assert.h>
#include <stdlib.h>

void lpl_tasks_init(struct tasks *tasks)
{
	*tasks = (struct tasks){ 0 };
	lpl_map_init(&tasks->by_tid, 1);
	lpl_map_init(&tasks->processes, 1);
	TAILQ_INIT(&tasks->all);
	STAILQ_INIT(&tasks->changed);
	tasks->current = &tasks->idle;
	tasks->idle.left = KTR_NONE;
}

void lpl_tasks_anomaly(const struct tasks *tasks, enum lpl_merge_anomaly kind,
		       const struct lpl_event *event)
{
	if (tasks->anomaly != NULL)
		tasks->anomaly(tasks->context, kind, event);
}

/* ---- changes, in their order ---- */

void lpl_task_changed(struct tasks *tasks, struct task *task)
{
	if (task->changed)
		return;
	task->changed = true;
	STAILQ_INSERT_TAIL(&tasks->changed, task, in_changed);
}

struct task *lpl_tasks_next_changed(struct tasks *tasks)
{
	struct task *task = STAILQ_FIRST(&tasks->changed);

	if (task == NULL)
		return NULL;
	STAILQ_REMOVE_HEAD(&tasks->changed, in_changed);
	task->changed = false;
	return task;
}

/* ---- processes ---- */

struct process *lpl_process_find(const struct tasks *tasks, uint32_t tgid)
{
	return (struct process *)(uintptr_t)lpl_map_get(&tasks->processes, LPL_KEY(tgid));
}

static struct process *process_make(struct tasks *tasks, uint32_t tgid)
{
	struct process *process = lpl_process_find(tasks, tgid);

	if (process != NULL)
		return process;
	process = calloc(1, sizeof(*process));
	if (process == NULL)
		return NULL;
	if (!lpl_map_put(&tasks->processes, LPL_KEY(tgid), (uintptr_t)process)) {
		free(process);
		return NULL;
	}
	process->number = ++tasks->last_process;
	return process;
}

static void leave_process(struct tasks *tasks, struct task *task)
{
	struct process *process;

	if (!task->in_process)
		return;
	process = lpl_process_find(tasks, task->process_tgid);
	assert(process != NULL && process->tasks > 0);
	task->in_process = false;
	if (--process->tasks == 0) {
		(void)lpl_map_remove(&tasks->processes, LPL_KEY(task->process_tgid));
		free(process);
	}
}

bool lpl_task_join_process(struct tasks *tasks, struct task *task)
{
	/* a task without a known process is taken for one */
	uint32_t tgid = task->view.tgid != 0 ? task->view.tgid : task->view.tid;

	/* what it had once it has for good: a task gives up its space before it exits */
	if (task->in_process ? task->process_tgid == tgid : task->view.space == 0)
		return true;
	return lpl_task_put_in_process(tasks, task, tgid);
}

bool lpl_task_put_in_process(struct tasks *tasks, struct task *task, uint32_t tgid)
{
	struct process *process = process_make(tasks, tgid);

	if (process == NULL)
		return false;
	process->tasks++;
	leave_process(tasks, task);
	task->in_process = true;
	task->process_tgid = tgid;
	task->view.process = process->number;
	lpl_task_changed(tasks, task);
	return true;
}

bool lpl_task_was_last(const struct tasks *tasks, const struct task *task)
{
	const struct process *process = lpl_process_find(tasks, task->process_tgid);

	return task->view.process != 0 &&
	       (process == NULL || process->number != task->view.process);
}

/* ---- tasks ---- */

struct task *lpl_task_find(const struct tasks *tasks, uint32_t tid)
{
	return (struct task *)(uintptr_t)lpl_map_get(&tasks->by_tid, LPL_KEY(tid));
}

struct task *lpl_task_make(struct tasks *tasks, uint32_t tid, uint32_t tgid)
{
	struct task *task = calloc(1, sizeof(*task));

	if (task == NULL)
		return NULL;
	if (!lpl_map_put(&tasks->by_tid, LPL_KEY(tid), (uintptr_t)task)) {
		free(task);
		return NULL;
	}
	task->view.tid = tid;
	task->view.tgid = tgid;
	task->view.serial = ++tasks->last_serial;
	task->left = KTR_NONE;
	TAILQ_INSERT_TAIL(&tasks->all, task, in_all);
	tasks->live++;
	task_named(tasks, task);
	lpl_task_changed(tasks, task);
	return task;
}

struct task *lpl_task_imply(struct tasks *tasks, uint32_t tid, uint32_t tgid,
			    const struct lpl_event *event)
{
	struct task *task = lpl_task_make(tasks, tid, tgid);

	if (task == NULL)
		return NULL;
	task->implied = true;
	if (tasks->keep_events) {
		task->implied_by = malloc(sizeof(*task->implied_by));
		if (task->implied_by != NULL)
			*task->implied_by = *event;
	}
	return task;
}

void lpl_task_end(struct tasks *tasks, struct task *task, enum lpl_task_state state,
		  const struct lpl_event *event)
{
	assert(!task_is_over(task) && state != LPL_TASK_LIVES);
	if (task->implied)
		lpl_tasks_anomaly(tasks, LPL_ANOMALY_SCHEDULE,
				  task->implied_by != NULL ? task->implied_by : event);
	/* the end of the trace is not theirs */
	assert(task->exited || tasks->live > 0);
	if (!task->exited && state != LPL_TASK_LEFT)
		tasks->live--;
	leave_process(tasks, task);
	(void)lpl_map_remove(&tasks->by_tid, LPL_KEY(task->view.tid));
	TAILQ_REMOVE(&tasks->all, task, in_all);
	task->view.state = state;
	lpl_task_changed(tasks, task);
}

void lpl_task_free(struct task *task)
{
	free(task->implied_by);
	task->implied_by = NULL;
	if (task->view.serial != 0)
		free(task);
}

/* ---- snapshots, gaps, the end ---- */

void lpl_tasks_snapshot(struct tasks *tasks, bool begins)
{
	struct task *task;

	tasks->in_snapshot = begins;
	tasks->snapshot_ended = !begins && tasks->snapshot_begun;
	if (!begins || tasks->snapshot_begun)
		return;
	tasks->snapshot_begun = true;
	TAILQ_FOREACH(task, &tasks->all, in_all)
		task->implied = false;
}

void lpl_tasks_gap(struct tasks *tasks)
{
	tasks->gaps++;
	tasks->in_snapshot = false;
	tasks->in_state = false;
	tasks->current = &tasks->idle;
	tasks->current_known = false;
}

void lpl_tasks_lose(struct tasks *tasks, const struct lpl_event *event)
{
	struct task *task;

	tasks->current = &tasks->idle;
	tasks->current_known = false;
	while ((task = TAILQ_FIRST(&tasks->all)) != NULL)
		lpl_task_end(tasks, task, task->exited ? LPL_TASK_EXITED : LPL_TASK_LOST, event);
	/* the maps' own memory */
	lpl_map_free(&tasks->by_tid);
}

/* One that no event has named since the last gap may have ended in it. */
void lpl_tasks_finish(struct tasks *tasks)
{
	static const struct lpl_event nothing;
	enum lpl_task_state state;
	struct task *task;

	while ((task = TAILQ_FIRST(&tasks->all)) != NULL) {
		state = task->exited ? LPL_TASK_EXITED :
			task->named_after == tasks->gaps ? LPL_TASK_LEFT : LPL_TASK_LOST;
		lpl_task_end(tasks, task, state, &nothing);
	}
	tasks->current = &tasks->idle;
	tasks->idle.view.state = LPL_TASK_LEFT;
	lpl_task_changed(tasks, &tasks->idle);
}

void lpl_tasks_free(struct tasks *tasks)
{
	struct task *task;

	while ((task = TAILQ_FIRST(&tasks->all)) != NULL) {
		TAILQ_REMOVE(&tasks->all, task, in_all);
		leave_process(tasks, task);
		if (!task->changed)
			lpl_task_free(task);
	}
	leave_process(tasks, &tasks->idle);	/* where a guest says that it has a space */
	while ((task = lpl_tasks_next_changed(tasks)) != NULL)
		lpl_task_free(task);
	lpl_map_free(&tasks->by_tid);
	lpl_map_free(&tasks->processes);
}
