/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which tasks there are, and which of them runs. */
#include "internal.h"

#include <stdlib.h>

static struct table_key task_key(uint32_t tid)
{
	return (struct table_key){ tid, 0, 0 };
}

static struct task *task_find(const struct lpl_merge *merge, uint32_t tid)
{
	return (struct task *)(uintptr_t)table_get(&merge->tasks, task_key(tid));
}

static struct task *task_make(struct lpl_merge *merge, uint32_t tid, uint32_t tgid)
{
	struct task *task = calloc(1, sizeof(*task));

	if (task == NULL)
		return NULL;
	if (!table_put(&merge->tasks, task_key(tid), (uintptr_t)task)) {
		free(task);
		return NULL;
	}
	task->name = (struct lpl_merge_task){ tid, tgid, ++merge->last_serial };
	task->implied = true;
	merge->stats.tasks++;
	merge->stats.live_tasks++;
	return task;
}

static void task_end(struct lpl_merge *merge, struct task *task)
{
	table_remove(&merge->tasks, task_key(task->name.tid));
	free(task);
	merge->stats.live_tasks--;
}

/* The task runs from now on; it is made when nothing told of it before. */
static bool run(struct lpl_merge *merge, uint32_t tid, uint32_t tgid)
{
	struct task *task;

	merge->current_known = true;
	if (tid == 0) {		/* the idle task is never created */
		merge->current = (struct lpl_merge_task){ 0 };
		return true;
	}
	task = task_find(merge, tid);
	if (task == NULL)
		task = task_make(merge, tid, tgid);
	if (task == NULL)
		return false;
	if (tgid != 0)
		task->name.tgid = tgid;
	merge->current = task->name;
	return true;
}

/*
 * A switch may be told on either side of it: its event may carry the task that
 * goes or the one that comes.
 */
bool merge_task_check(struct lpl_merge *merge, const struct lpl_event *event)
{
	uint32_t tid = event->tid, tgid = event->tgid;

	if (event->tag == KTR_SCHEDULE && (uint32_t)event->arg[0] != tid) {
		tid = (uint32_t)event->arg[0];
		tgid = 0;
	}
	if (merge->current_known && merge->current.tid == tid)
		return true;
	if (merge->current_known)
		odd(merge, LPL_ODD_MISSED_SCHEDULE);
	return run(merge, tid, tgid);
}

static bool space_known(struct lpl_merge *merge, uint64_t number)
{
	return number == 0 || merge_space_make(merge, number) != NULL;
}

static bool on_create(struct lpl_merge *merge, const struct lpl_event *event)
{
	uint32_t tid = (uint32_t)event->arg[0];
	struct task *task = task_find(merge, tid);

	if (!space_known(merge, event->arg[2]))
		return false;
	if (tid == 0) {
		odd(merge, LPL_ODD_TASK_CREATE);
		return true;
	}
	if (task != NULL && !task->implied) {
		odd(merge, LPL_ODD_TASK_CREATE);
		task_end(merge, task);
		task = NULL;
	}
	if (task == NULL)
		task = task_make(merge, tid, (uint32_t)event->arg[1]);
	if (task == NULL)
		return false;
	task->implied = false;
	task->name.tgid = (uint32_t)event->arg[1];
	task->space = event->arg[2];
	if (merge->current.tid == tid)
		merge->current = task->name;
	return true;
}

static bool on_schedule(struct lpl_merge *merge, const struct lpl_event *event)
{
	uint32_t tid = (uint32_t)event->arg[2];

	if (tid != 0 && task_find(merge, tid) == NULL)
		odd(merge, LPL_ODD_SCHEDULE);
	return run(merge, tid, (uint32_t)event->arg[3]);
}

/* Both KTR_SPACE_ASSIGN and KTR_EXEC: the mappings are told by events of their own. */
static bool on_assign(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct task *task = task_find(merge, (uint32_t)event->arg[0]);

	if (!space_known(merge, event->arg[2]))
		return false;
	if (task == NULL) {
		odd(merge, LPL_ODD_TASK_UNKNOWN);
		return true;
	}
	task->name.tgid = (uint32_t)event->arg[1];
	task->space = event->arg[2];
	if (merge->current.serial == task->name.serial)
		merge->current = task->name;
	return true;
}

/* The task still runs until the next switch, so merge->current stays. */
static bool on_task_exit(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct task *task = task_find(merge, (uint32_t)event->arg[0]);

	if (task == NULL)
		odd(merge, LPL_ODD_TASK_UNKNOWN);
	else
		task_end(merge, task);
	return true;
}

bool merge_task_event(struct lpl_merge *merge, const struct lpl_event *event, bool *known)
{
	*known = true;
	switch (event->tag) {
	case KTR_TASK_CREATE:
		return on_create(merge, event);
	case KTR_SCHEDULE:
		return on_schedule(merge, event);
	case KTR_SPACE_ASSIGN:
	case KTR_EXEC:
		return on_assign(merge, event);
	case KTR_EXIT:
		return on_task_exit(merge, event);
	default:
		*known = false;
		return true;
	}
}

void merge_tasks_free(struct lpl_merge *merge)
{
	for (size_t i = 0; i < merge->tasks.size; i++)
		free((struct task *)(uintptr_t)merge->tasks.entries[i].value);
	table_free(&merge->tasks);
}
