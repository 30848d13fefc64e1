/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which tasks there are, and which of them runs.
 *
 * A task exists from the event that tells so.  One that is met before, because it
 * is scheduled or tells an event, is *implied*: it existed before the trace, and
 * a snapshot may tell of it later.  If the first one does not, it has ended by then, and
 * nobody could have told of it.
 *
 * A task that exits goes on until its last switch, and may be preempted, or wait,
 * on the way.  Linux of any version leaves a task that will come back in a state
 * of 0 (it can run) or with one of the bits 1 and 2 (it sleeps); with any other
 * state an exited task is gone.
 *
 * A process is the tasks of one tgid that overlap.  Tasks that never had an
 * address space are the kernel's, process 0; one that is given a space (a kernel
 * thread that executes) changes into a process of its own.
 *
 * A thread that executes takes its leader's id, after the leader's exit: to all
 * who know tasks by their ids another one runs now.  Here it is the same task
 * with another tid, and the kernel's KTR_SCHEDULE from the old id to the new and
 * KTR_EXIT of the old, which stand for the change, mean nothing more.
 */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

/* clone(2)'s; part of the kernel's interface, and the same everywhere. */
#define CLONE_VM 0x100

struct process {
	uint64_t number;
	uint64_t tasks;
	bool leader_exited;
};

/* An event has told of it. */
static struct task *find(const struct tasks *tasks, uint32_t tid)
{
	struct task *task = (struct task *)(uintptr_t)lpl_map_get(&tasks->by_tid, LPL_KEY(tid));

	if (task != NULL)
		task->heard = tasks->gaps;
	return task;
}

static struct process *process_of(const struct tasks *tasks, uint32_t tgid)
{
	return (struct process *)(uintptr_t)lpl_map_get(&tasks->processes, LPL_KEY(tgid));
}

void tasks_init(struct tasks *tasks)
{
	*tasks = (struct tasks){ 0 };
	lpl_map_init(&tasks->by_tid, 1);
	lpl_map_init(&tasks->processes, 1);
	TAILQ_INIT(&tasks->all);
	STAILQ_INIT(&tasks->changed);
	tasks->current = &tasks->idle;
}

void task_free(struct task *task)
{
	free(task->seen_at);
	task->seen_at = NULL;
	if (task->name.serial != 0)
		free(task);
}

/* ---- changes, in their order ---- */

static void note_change(struct tasks *tasks, struct task *task)
{
	if (task->changed)
		return;
	task->changed = true;
	STAILQ_INSERT_TAIL(&tasks->changed, task, in_changed);
}

struct task *tasks_next_changed(struct tasks *tasks)
{
	struct task *task = STAILQ_FIRST(&tasks->changed);

	if (task == NULL)
		return NULL;
	STAILQ_REMOVE_HEAD(&tasks->changed, in_changed);
	task->changed = false;
	return task;
}

static void set_name(struct tasks *tasks, struct task *task, const char *name, uint32_t length)
{
	if (length > LPL_TASK_NAME)
		length = LPL_TASK_NAME;
	if (length == 0 ||
	    (length == task->name.name_length && memcmp(task->name.name, name, length) == 0))
		return;
	memcpy(task->name.name, name, length);
	task->name.name_length = length;
	note_change(tasks, task);
}

static uint32_t text_length(const struct lpl_event *event)
{
	return event->text_length < KTR_TEXT ? event->text_length : KTR_TEXT;
}

static void set_space(struct tasks *tasks, struct task *task, uint64_t space)
{
	if (task->name.space != space) {
		task->name.space = space;
		note_change(tasks, task);
	}
}

/* ---- processes ---- */

static void leave_process(struct tasks *tasks, struct task *task)
{
	struct process *process;

	if (!task->in_process)
		return;
	process = process_of(tasks, task->process_tgid);
	task->in_process = false;
	if (--process->tasks == 0) {
		(void)lpl_map_remove(&tasks->processes, LPL_KEY(task->process_tgid));
		free(process);
	}
}

static struct process *process_make(struct tasks *tasks, uint32_t tgid)
{
	struct process *process = process_of(tasks, tgid);

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

/* A task whose process is not known stands for itself. */
static uint32_t process_tgid(const struct task *task)
{
	return task->name.tgid != 0 ? task->name.tgid : task->name.tid;
}

bool task_was_last(const struct tasks *tasks, const struct task *task)
{
	const struct process *process = process_of(tasks, task->process_tgid);

	return task->name.process != 0 &&
	       (process == NULL || process->number != task->name.process);
}

/* Count the task where its tgid and space say.  false: no memory. */
static bool join_process(struct tasks *tasks, struct task *task)
{
	uint32_t tgid = process_tgid(task);
	struct process *process;

	/* what it had once it has for good: a task gives up its space before it exits */
	if (task->in_process ? task->process_tgid == tgid : task->name.space == 0)
		return true;
	process = process_make(tasks, tgid);
	if (process == NULL)
		return false;
	process->tasks++;
	leave_process(tasks, task);
	task->in_process = true;
	task->process_tgid = tgid;
	task->name.process = process->number;
	note_change(tasks, task);
	return true;
}

/* ---- tasks ---- */

static struct task *make(struct tasks *tasks, uint32_t tid, uint32_t tgid)
{
	struct task *task = calloc(1, sizeof(*task));

	if (task == NULL)
		return NULL;
	if (!lpl_map_put(&tasks->by_tid, LPL_KEY(tid), (uintptr_t)task)) {
		free(task);
		return NULL;
	}
	task->name.tid = tid;
	task->name.tgid = tgid;
	task->name.serial = ++tasks->last_serial;
	task->heard = tasks->gaps;
	TAILQ_INSERT_TAIL(&tasks->all, task, in_all);
	tasks->live++;
	note_change(tasks, task);
	return task;
}

/* Met before it was told of. */
static struct task *imply(struct tasks *tasks, uint32_t tid, uint32_t tgid,
			  const struct lpl_event *event)
{
	struct task *task = make(tasks, tid, tgid);

	if (task == NULL)
		return NULL;
	task->implied = true;
	if (tasks->keep_events) {
		task->seen_at = malloc(sizeof(*task->seen_at));
		if (task->seen_at != NULL)
			*task->seen_at = *event;
	}
	return task;
}

/* The last word on a task; it stays in the list of changes. */
static void end(struct tasks *tasks, struct task *task, enum lpl_task_state state,
		const struct lpl_event *event)
{
	if (task->implied && tasks->odd != NULL)
		tasks->odd(tasks->context, LPL_ANOMALY_SCHEDULE,
			   task->seen_at != NULL ? task->seen_at : event);
	/* the end of the trace is not theirs */
	if (!task->exited && state != LPL_TASK_LEFT)
		tasks->live--;
	leave_process(tasks, task);
	(void)lpl_map_remove(&tasks->by_tid, LPL_KEY(task->name.tid));
	TAILQ_REMOVE(&tasks->all, task, in_all);
	task->name.state = state;
	note_change(tasks, task);
}

static void odd(struct tasks *tasks, enum lpl_merge_anomaly kind, const struct lpl_event *event)
{
	if (tasks->odd != NULL)
		tasks->odd(tasks->context, kind, event);
}

/* What is told of a tid that belongs to another process now is told of another task. */
static bool is_other(const struct task *task, uint32_t tgid)
{
	return tgid != 0 && task->name.tgid != 0 && task->name.tgid != tgid;
}

/* The task that an event means; one that has lost its tid ends.  NULL: none. */
static struct task *find_same(struct tasks *tasks, uint32_t tid, uint32_t tgid,
			      const struct lpl_event *event)
{
	struct task *task = find(tasks, tid);

	if (task == NULL || !is_other(task, tgid))
		return task;
	if (!task->exited)
		odd(tasks, LPL_ANOMALY_TASK_OTHER, event);
	end(tasks, task, task->exited ? LPL_TASK_EXITED : LPL_TASK_LOST, event);
	return NULL;
}

static void set_tgid(struct tasks *tasks, struct task *task, uint32_t tgid)
{
	if (tgid != 0 && task->name.tgid != tgid) {
		task->name.tgid = tgid;
		note_change(tasks, task);
	}
}

/* What an event says of the space of the task that runs from now on; 0: nothing. */
static bool use_space(struct tasks *tasks, struct task *task, uint64_t space,
		      const struct lpl_event *event)
{
	if (space == 0 || task->name.space == space)
		return true;
	/* a kernel thread that borrows one has none of its own */
	if (task->name.space != 0)
		odd(tasks, LPL_ANOMALY_MISSED_ASSIGN, event);
	set_space(tasks, task, space);
	return join_process(tasks, task);
}

/* The task runs from now on; it is implied when nothing told of it before. */
static bool run(struct tasks *tasks, uint32_t tid, uint32_t tgid, uint64_t space,
		const struct lpl_event *event)
{
	struct task *task;

	tasks->current_known = true;
	if (tid == 0) {		/* the idle task is never created */
		tasks->current = &tasks->idle;
		return true;
	}
	task = find_same(tasks, tid, tgid, event);
	if (task == NULL) {
		task = imply(tasks, tid, tgid, event);
		if (task == NULL)
			return false;
		task->name.space = space;
	}
	tasks->current = task;
	set_tgid(tasks, task, tgid);
	return join_process(tasks, task);
}

/* Has the task that runs taken the id of its leader, which has exited? */
static bool took_over(const struct tasks *tasks, uint32_t tid, uint32_t tgid)
{
	const struct task *current = tasks->current;
	const struct process *process = process_of(tasks, tgid);
	const struct task *leader = find(tasks, tid);

	return tid != 0 && tid == tgid && tasks->current_known && current->name.tid != tid &&
	       current->in_process && current->process_tgid == tgid && !current->exited &&
	       process->leader_exited && (leader == NULL || leader->exited);
}

static bool take_over(struct tasks *tasks, uint32_t tid, const struct lpl_event *event)
{
	struct task *current = tasks->current;
	struct task *leader = find(tasks, tid);

	if (leader != NULL)
		end(tasks, leader, LPL_TASK_EXITED, event);
	if (!lpl_map_put(&tasks->by_tid, LPL_KEY(tid), (uintptr_t)current))
		return false;
	(void)lpl_map_remove(&tasks->by_tid, LPL_KEY(current->name.tid));
	current->old_tid = current->name.tid;
	current->name.tid = tid;
	process_of(tasks, current->process_tgid)->leader_exited = false;
	note_change(tasks, current);
	return true;
}

/*
 * A switch may be told on either side of it: its event may carry the task that
 * goes or the one that comes.
 */
bool tasks_check(struct tasks *tasks, const struct lpl_event *event)
{
	const struct task *current = tasks->current;
	uint32_t tid = event->tid, tgid = event->tgid;
	uint64_t space = event->space;

	if (event->tag == KTR_SCHEDULE && (uint32_t)event->arg[0] != tid) {
		tid = (uint32_t)event->arg[0];
		tgid = 0;
		space = 0;
	}
	if (tasks->current_known &&
	    ((current->name.tid == tid && !is_other(current, tgid)) ||
	     (tid != 0 && current->old_tid == tid && find(tasks, tid) == NULL)))
		return true;
	if (took_over(tasks, tid, tgid))
		return take_over(tasks, tid, event);
	if (tasks->current_known && current->name.tid != tid)
		odd(tasks, LPL_ANOMALY_MISSED_SCHEDULE, event);
	return run(tasks, tid, tgid, space, event);
}

/*
 * Whose child is it?  A snapshot tells of tasks that are nobody's news, in the
 * name of the program that started it.  Where its bounds are not told, it shows by
 * spaces that nothing told of before.
 */
static uint64_t parent_of(const struct tasks *tasks, const struct lpl_event *event,
			  bool space_told)
{
	const struct task *current = tasks->current;
	bool fresh;

	if (event->arg[2] == 0)
		fresh = current->name.process == 0;
	else
		fresh = space_told || event->arg[2] == event->space ||
			(event->arg[3] & CLONE_VM) != 0;
	return fresh && !tasks->in_snapshot ? current->name.serial : 0;
}

static bool on_create(struct tasks *tasks, const struct lpl_event *event, bool space_told)
{
	uint32_t tid = (uint32_t)event->arg[0];
	struct task *task = find(tasks, tid);
	bool runs = task != NULL && task == tasks->current;

	if (tid == 0) {
		odd(tasks, LPL_ANOMALY_TASK_CREATE, event);
		return true;
	}
	/* a second snapshot tells what is known */
	bool again = tasks->in_snapshot && task != NULL && !task->exited &&
		     !is_other(task, (uint32_t)event->arg[1]);
	if (task != NULL && !again && (!task->implied || task->exited ||
				       is_other(task, (uint32_t)event->arg[1]))) {
		if (!task->exited)
			odd(tasks, LPL_ANOMALY_TASK_CREATE, event);
		end(tasks, task, task->exited ? LPL_TASK_EXITED : LPL_TASK_LOST, event);
		task = NULL;
	}
	if (task == NULL) {
		task = make(tasks, tid, 0);
		if (task == NULL)
			return false;
		task->name.parent = parent_of(tasks, event, space_told);
		if (runs)
			tasks->current = task;
	}
	task->implied = false;
	free(task->seen_at);
	task->seen_at = NULL;
	task->name.tgid = (uint32_t)event->arg[1];
	set_space(tasks, task, event->arg[2]);
	set_name(tasks, task, event->text, text_length(event));
	note_change(tasks, task);
	return join_process(tasks, task);
}

static bool comes_back(uint64_t state)
{
	return state == 0 || (state & 3) != 0;
}

static bool on_schedule(struct tasks *tasks, const struct lpl_event *event)
{
	struct task *goes = tasks->current;
	uint32_t tid = (uint32_t)event->arg[2], tgid = (uint32_t)event->arg[3];

	if (took_over(tasks, tid, tgid))
		return take_over(tasks, tid, event);
	if (!run(tasks, tid, tgid, event->arg[4], event) ||
	    !use_space(tasks, tasks->current, event->arg[4], event))
		return false;
	set_name(tasks, tasks->current, event->text, text_length(event));
	if (goes != tasks->current && goes->exited && !task_is_over(goes) &&
	    !comes_back(event->arg[1]))
		end(tasks, goes, LPL_TASK_EXITED, event);
	return true;
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

/* Both KTR_SPACE_ASSIGN and KTR_EXEC: the mappings are told by events of their own. */
static bool on_assign(struct tasks *tasks, const struct lpl_event *event)
{
	uint32_t tid = (uint32_t)event->arg[0], tgid = (uint32_t)event->arg[1];
	struct task *task = find(tasks, tid);
	bool runs = task == tasks->current;

	if (task == NULL) {
		odd(tasks, LPL_ANOMALY_TASK_UNKNOWN, event);
		return true;
	}
	if (is_other(task, tgid)) {
		(void)find_same(tasks, tid, tgid, event);
		task = imply(tasks, tid, tgid, event);
		if (task == NULL)
			return false;
		if (runs)
			tasks->current = task;
	}
	set_tgid(tasks, task, tgid);
	set_space(tasks, task, event->arg[2]);
	if (event->tag == KTR_EXEC)
		name_after_image(tasks, task, event);
	return join_process(tasks, task);
}

/* The task still runs until its last switch, if it is the one that runs. */
static bool on_exit_told(struct tasks *tasks, const struct lpl_event *event)
{
	uint32_t tid = (uint32_t)event->arg[0];
	struct task *current = tasks->current;
	struct task *task = find(tasks, tid);
	struct process *process;

	if (task == NULL && tid != 0 && current->old_tid == tid) {
		current->old_tid = 0;
		return true;
	}
	if (task == NULL || task->exited || is_other(task, (uint32_t)event->arg[1])) {
		odd(tasks, LPL_ANOMALY_TASK_UNKNOWN, event);
		return true;
	}
	task->exited = true;
	task->name.exit_code = event->arg[2];
	tasks->live--;
	process = task->in_process ? process_of(tasks, task->process_tgid) : NULL;
	if (process != NULL && tid == task->process_tgid)
		process->leader_exited = true;
	if (task != current)
		end(tasks, task, LPL_TASK_EXITED, event);
	return true;
}

bool tasks_event(struct tasks *tasks, const struct lpl_event *event, bool space_told,
		 bool *known)
{
	*known = true;
	switch (event->tag) {
	case KTR_TASK_CREATE:
		return on_create(tasks, event, space_told);
	case KTR_SCHEDULE:
		return on_schedule(tasks, event);
	case KTR_SPACE_ASSIGN:
	case KTR_EXEC:
		return on_assign(tasks, event);
	case KTR_EXIT:
		return on_exit_told(tasks, event);
	default:
		*known = false;
		return true;
	}
}

/* ---- snapshots, gaps, the end ---- */

void tasks_snapshot(struct tasks *tasks, bool begins)
{
	struct task *task;

	tasks->in_snapshot = begins;
	if (!begins || tasks->snapshot_begun)
		return;
	tasks->snapshot_begun = true;
	TAILQ_FOREACH(task, &tasks->all, in_all)
		task->implied = false;
}

void tasks_forget(struct tasks *tasks)
{
	tasks->gaps++;
	tasks->in_snapshot = false;
	tasks->current = &tasks->idle;
	tasks->current_known = false;
}

void tasks_finish(struct tasks *tasks)
{
	static const struct lpl_event nothing;
	enum lpl_task_state state;
	struct task *task;

	while ((task = TAILQ_FIRST(&tasks->all)) != NULL) {
		state = task->exited ? LPL_TASK_EXITED :
			task->heard == tasks->gaps ? LPL_TASK_LEFT : LPL_TASK_LOST;
		end(tasks, task, state, &nothing);
	}
	tasks->current = &tasks->idle;
	tasks->idle.name.state = LPL_TASK_LEFT;
	note_change(tasks, &tasks->idle);
}

void tasks_free(struct tasks *tasks)
{
	struct task *task;

	while ((task = TAILQ_FIRST(&tasks->all)) != NULL) {
		TAILQ_REMOVE(&tasks->all, task, in_all);
		leave_process(tasks, task);
		if (!task->changed)
			task_free(task);
	}
	while ((task = tasks_next_changed(tasks)) != NULL)
		task_free(task);
	lpl_map_free(&tasks->by_tid);
	lpl_map_free(&tasks->processes);
}
