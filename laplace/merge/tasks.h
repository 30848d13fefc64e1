/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which tasks there are, which of them runs, and which processes they make up, by the kernel's
 * events alone.  tasks.c has what is known; task_events.c changes it, event by event.
 *
 * A task exists from the event that says so.  One that is met before, because it is scheduled
 * or sends an event, is *implied*: it existed before the trace, and a snapshot may report it
 * later.  If the first one does not, it has ended by then, and no event could have reported it.
 *
 * A process is the tasks of one tgid that overlap.  Tasks that never had an address space are
 * the kernel's, process 0; one that is given a space (a kernel thread that executes) changes
 * into a process of its own.
 */
#ifndef LAPLACE_MERGE_TASKS_H
#define LAPLACE_MERGE_TASKS_H

#include <sys/queue.h>

#include <laplace/merge.h>

#include "base/map.h"

struct task {
	struct lpl_merge_task view;	/* what an output sees of it */
	TAILQ_ENTRY(task) in_all;
	STAILQ_ENTRY(task) in_changed;
	bool changed;			/* is in that list */
	uint32_t process_tgid;		/* it is counted in that process ... */
	bool in_process;		/* ... if so */
	uint32_t old_tid;		/* it took its leader's id; the old one's end is due */
	bool implied;			/* no event said that it begins (yet) */
	struct lpl_event *implied_by;	/* with keep_events: what showed it */
	bool exited;			/* but may run until its last switch */
	uint64_t named_after;		/* gaps before an event last named it */
	uint64_t left;			/* in which KTR_STATE_* it left the processor, or
					 * KTR_STATE_RUNNABLE if it never ran; KTR_NONE: not
					 * known */
};

struct tasks {
	struct task idle;		/* tid 0; in neither list of all */
	struct task *current;
	bool current_known;		/* an event has said what runs */
	bool in_snapshot;		/* what is reported existed already */
	bool in_state;			/* a state lists what exists, for no running task */
	bool snapshot_begun;		/* one has, ever ... */
	bool snapshot_ended;		/* ... and the last one has ended */
	bool keep_events;		/* in implied_by */
	TAILQ_HEAD(, task) all;		/* that are not over, by serial */
	struct lpl_map by_tid;		/* -> struct task, of all */
	struct lpl_map processes;	/* tgid -> struct process */
	uint64_t last_serial, last_process;
	uint64_t live;			/* not exited */
	uint64_t gaps;			/* how often events were missing */
	STAILQ_HEAD(, task) changed;	/* in the order of the changes; the idle task, too */
	/* NULL, or called with an anomaly and the event that showed it */
	void (*anomaly)(void *context, enum lpl_merge_anomaly kind,
			const struct lpl_event *event);
	void *context;
};

void lpl_tasks_init(struct tasks *tasks);
void lpl_tasks_free(struct tasks *tasks);

/* ---- the stream ---- */

/*
 * What ran when the kernel sent the event, if need be against what was known before.  false: no
 * memory.
 */
bool lpl_tasks_check(struct tasks *tasks, const struct lpl_event *event);

/*
 * Make an event of a task take effect; any other does nothing.  `space_known`: the space that
 * it names, if any, was known before.  false: no memory.
 */
bool lpl_tasks_event(struct tasks *tasks, const struct lpl_event *event, bool space_known);

/* A snapshot begins, or ends. */
void lpl_tasks_snapshot(struct tasks *tasks, bool begins);

/* LPL_EVENT_STATE and LPL_EVENT_TASK_STATE (task_state.c).  false: no memory. */
bool lpl_tasks_state(struct tasks *tasks, const struct lpl_event *event);

/* Events are missing: it is not known what runs, nor what has exited. */
void lpl_tasks_gap(struct tasks *tasks);

/* Nothing is known of any: all are lost, or have exited. */
void lpl_tasks_lose(struct tasks *tasks, const struct lpl_event *event);

/* The stream is over: all that live are left. */
void lpl_tasks_finish(struct tasks *tasks);

/*
 * The next task that began, changed or ended, in the order of the changes; NULL: no more.  One
 * that is over is the caller's, to be given to lpl_task_free().
 */
struct task *lpl_tasks_next_changed(struct tasks *tasks);
static inline bool task_is_over(const struct task *task)
{
	return task->view.state != LPL_TASK_LIVES;
}
/* Has the task's process ended with it, or before?  Never so of the kernel. */
bool lpl_task_was_last(const struct tasks *tasks, const struct task *task);
/* Not of idle, which has its place in struct tasks: then nothing happens. */
void lpl_task_free(struct task *task);

/* ---- what is known, for task_events.c ---- */

/* Its number changes when a tgid is used again. */
struct process {
	uint64_t number;
	uint64_t tasks;
	bool leader_exited;
};

/* NULL: none. */
struct task *lpl_task_find(const struct tasks *tasks, uint32_t tid);
struct process *lpl_process_find(const struct tasks *tasks, uint32_t tgid);

/* A new task; NULL: no memory. */
struct task *lpl_task_make(struct tasks *tasks, uint32_t tid, uint32_t tgid);
/* One that is met before it was reported. */
struct task *lpl_task_imply(struct tasks *tasks, uint32_t tid, uint32_t tgid,
			    const struct lpl_event *event);
/* An event names the task. */
static inline void task_named(const struct tasks *tasks, struct task *task)
{
	task->named_after = tasks->gaps;
}
/* The task's last state, by this event; it is kept in the list of changes. */
void lpl_task_end(struct tasks *tasks, struct task *task, enum lpl_task_state state,
		  const struct lpl_event *event);
/* Something has changed that outputs see. */
void lpl_task_changed(struct tasks *tasks, struct task *task);
/* Count the task in the process that its tgid and space give.  false: no memory. */
bool lpl_task_join_process(struct tasks *tasks, struct task *task);
/* Count it in the process of this tgid.  false: no memory. */
bool lpl_task_put_in_process(struct tasks *tasks, struct task *task, uint32_t tgid);
void lpl_tasks_anomaly(const struct tasks *tasks, enum lpl_merge_anomaly kind,
		       const struct lpl_event *event);

#endif
