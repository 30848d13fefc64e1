/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks as a state lists them (guest_state.h): each as it is, and in the end which of them runs.
 * No running task sends it, so meanwhile it is not known what runs.
 */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

/* A task that was known before and is not listed now is taken to be mentioned no more. */
static void begin(struct tasks *tasks)
{
	if (tasks->last_serial > 0)
		tasks->gaps++;
	tasks->in_state = true;
	tasks->in_snapshot = false;
	tasks->current = &tasks->idle;
	tasks->current_known = false;
}

static void end(struct tasks *tasks, const struct lpl_event *event)
{
	uint64_t snapshot = event->arg[LPL_EVENT_STATE_SNAPSHOT];
	uint64_t tid = event->arg[LPL_EVENT_STATE_RUNS];
	struct task *task = tid == 0 ? &tasks->idle : lpl_task_find(tasks, (uint32_t)tid);

	tasks->in_state = false;
	tasks->in_snapshot = snapshot == LPL_STATE_IN_SNAPSHOT;
	tasks->snapshot_begun |= snapshot != LPL_STATE_NO_SNAPSHOT;
	tasks->snapshot_ended |= snapshot == LPL_STATE_AFTER_SNAPSHOT;
	if (tid == KTR_NONE || task == NULL)
		return;
	tasks->current = task;
	tasks->current_known = true;
}

/* The task of this tid, known or made; NULL: no memory. */
static struct task *reach(struct tasks *tasks, const struct lpl_event *event)
{
	uint32_t tid = (uint32_t)event->arg[LPL_EVENT_TASK_STATE_TID];
	uint32_t tgid = (uint32_t)event->arg[LPL_EVENT_TASK_STATE_TGID];
	uint32_t parent = (uint32_t)event->arg[LPL_EVENT_TASK_STATE_PARENT];
	struct task *task;

	if (tid == 0)
		return &tasks->idle;
	task = lpl_task_find(tasks, tid);
	if (task != NULL && !task->exited && task->view.tgid == tgid)
		return task;
	if (task != NULL)
		lpl_task_end(tasks, task, task->exited ? LPL_TASK_EXITED : LPL_TASK_LOST, event);
	task = lpl_task_make(tasks, tid, tgid);
	if (task != NULL && parent != 0 && lpl_task_find(tasks, parent) != NULL)
		task->view.parent = lpl_task_find(tasks, parent)->view.serial;
	return task;
}

static bool join_process(struct tasks *tasks, struct task *task, const struct lpl_event *event)
{
	uint64_t tgid = event->arg[LPL_EVENT_TASK_STATE_PROCESS];

	if (tgid == KTR_NONE)
		return true;
	if ((!task->in_process || task->process_tgid != (uint32_t)tgid) &&
	    !lpl_task_put_in_process(tasks, task, (uint32_t)tgid))
		return false;
	lpl_process_find(tasks, (uint32_t)tgid)->leader_exited =
		event->arg[LPL_EVENT_TASK_STATE_LEADER_EXITED] != 0;
	return true;
}

static bool on_task_state(struct tasks *tasks, const struct lpl_event *event)
{
	const uint64_t *arg = event->arg;
	struct task *task = reach(tasks, event);
	uint32_t length = event->text_length;

	if (task == NULL)
		return false;
	task->view.space = arg[LPL_EVENT_TASK_STATE_SPACE];
	task->view.name_length = length < LPL_TASK_NAME ? length : LPL_TASK_NAME;
	memcpy(task->view.name, event->text, task->view.name_length);
	task->old_tid = (uint32_t)arg[LPL_EVENT_TASK_STATE_OLD_TID];
	task->implied = arg[LPL_EVENT_TASK_STATE_REPORTED] == 0 && task != &tasks->idle;
	free(task->implied_by);
	task->implied_by = NULL;
	task->named_after = tasks->gaps - (arg[LPL_EVENT_TASK_STATE_MENTIONED] == 0);
	task->left = arg[LPL_EVENT_TASK_STATE_LEFT];
	if (arg[LPL_EVENT_TASK_STATE_EXITED] != 0 && task != &tasks->idle) {
		task->exited = true;
		task->view.exit_code = arg[LPL_EVENT_TASK_STATE_CODE];
		tasks->live--;
	}
	lpl_task_changed(tasks, task);
	return join_process(tasks, task, event);
}

bool lpl_tasks_state(struct tasks *tasks, const struct lpl_event *event)
{
	if (event->tag == LPL_EVENT_STATE && event->arg[LPL_EVENT_STATE_BEGINS] != 0)
		begin(tasks);
	else if (event->tag == LPL_EVENT_STATE && tasks->in_state)
		end(tasks, event);
	else if (event->tag == LPL_EVENT_TASK_STATE && tasks->in_state)
		return on_task_state(tasks, event);
	return true;
}
