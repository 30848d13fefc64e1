/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which tasks there are, which of them runs, and which processes they make up,
 * by the kernel's events alone.  tasks.c tells how the stream is read.
 */
#ifndef LAPLACE_MERGE_TASKS_H
#define LAPLACE_MERGE_TASKS_H

#include <sys/queue.h>

#include <laplace/merge.h>

#include "base/map.h"

struct task {
	struct lpl_merge_task name;
	TAILQ_ENTRY(task) in_all;
	STAILQ_ENTRY(task) in_changed;
	struct lpl_event *seen_at;	/* of an implied task, where wanted: what showed it */
	uint32_t process_tgid;		/* it is counted in that process ... */
	bool in_process;		/* ... if so */
	uint32_t old_tid;		/* it took its leader's id; the old one's end is due */
	bool changed;			/* is in the list of those to be told of */
	bool implied;			/* nothing told that it begins (yet) */
	bool exited;			/* but may run until its last switch */
	uint64_t heard;			/* of it last, after so many gaps */
};

struct tasks {
	struct task idle;		/* tid 0 */
	struct task *current;
	bool current_known;		/* an event has told who runs */
	bool in_snapshot;		/* what is told of existed already */
	bool snapshot_begun;		/* one has, ever */
	bool keep_events;		/* in seen_at */
	TAILQ_HEAD(, task) all;		/* that are not over, by serial; without idle */
	struct lpl_map by_tid;		/* -> struct task, of all */
	struct lpl_map processes;	/* tgid -> struct process */
	uint64_t last_serial, last_process;
	uint64_t live;			/* not exited; without idle */
	uint64_t gaps;			/* how often events were missing */
	STAILQ_HEAD(, task) changed;
	/* called with what is odd, and the event that showed it */
	void (*odd)(void *context, enum lpl_merge_anomaly kind, const struct lpl_event *event);
	void *context;
};

void tasks_init(struct tasks *tasks);
void tasks_free(struct tasks *tasks);

/*
 * Who ran when the kernel told the event, if need be against what was known
 * before.  false: no memory.
 */
bool tasks_check(struct tasks *tasks, const struct lpl_event *event);

/*
 * Make an event of a task take effect; *known: it is one.  `space_told`: the
 * space in arg[2], if any, has been told of before.  false: no memory.
 */
bool tasks_event(struct tasks *tasks, const struct lpl_event *event, bool space_told,
		 bool *known);

/* A snapshot begins, or ends. */
void tasks_snapshot(struct tasks *tasks, bool begins);

/* Events are missing: nobody knows who runs, nor who has exited. */
void tasks_forget(struct tasks *tasks);

/* The stream is over: all that live are left. */
void tasks_finish(struct tasks *tasks);

/*
 * The next task that began, changed or ended, in the order of the changes; NULL:
 * no more.  One that ended is the caller's, to be given to task_free().
 */
struct task *tasks_next_changed(struct tasks *tasks);
static inline bool task_is_over(const struct task *task)
{
	return task->name.state != LPL_TASK_LIVES;
}
/* Has the task's process ended with it, or before?  Never so of the kernel. */
bool task_was_last(const struct tasks *tasks, const struct task *task);
/* Not of idle, which has its place in struct tasks: then nothing happens. */
void task_free(struct task *task);

#endif
