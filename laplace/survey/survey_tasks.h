/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's tasks: which ran, which were ready, which were blocked.
 *
 * A guest may start millions of tasks, and no reader looks at all of them.  So many (the limit)
 * have a record.  When another one comes and all records are taken, half of the tasks that have
 * ended give up theirs, those that ran least, and are added to the sum of all others.  This is
 * done only where a quarter of the limit has ended, so that it costs little for each: at least
 * an eighth of the limit had more than each of them.  Where fewer have ended, the new one has
 * no record from the start: what it does is done by the sum.  Processes likewise (those
 * with the fewest pages give up their records).
 *
 * What is summed is what adds up: time on the processor and references (also by bin), calls,
 * switches.  Of the sum's time as ready or blocked nothing is known: several are at once.
 */
#ifndef LAPLACE_SURVEY_SURVEY_TASKS_H
#define LAPLACE_SURVEY_SURVEY_TASKS_H

#include "survey_pages.h"
#include "survey_processes.h"
#include "survey_time.h"

struct survey_task {
	struct lpl_survey_task result;	/* first, so that one is the other */
	enum lpl_survey_activity activity;	/* what it does ... */
	uint64_t since;			/* ... since when; NEVER: not known */
	struct survey_thread thread;
};

struct survey_tasks {
	struct lpl_survey_tasks result;
	struct task_slot {
		struct survey_task *task;	/* NULL: there was none; may be &sum */
		uint32_t process;
		uint32_t runner;	/* see survey_processes.h */
	} *slot;			/* by serial number */
	size_t slots;
	uint32_t runners;		/* numbers that are given */
	struct survey_task **record;	/* result.recorded of them, in no order */
	size_t record_room;
	size_t limit;			/* how many may have a record */
	uint64_t ended;			/* of those that have one */
	struct survey_task sum;		/* of the others */

	/* the one that runs; its process is processes->running */
	struct survey_task *running;	/* NULL before the first record */
	uint64_t running_serial;
	const struct lpl_merge_task *current;	/* the same for the merge; NULL: it has left the
						 * processor, and the next is not known yet */
	uint64_t switched;		/* since when it runs, or when the one before left */
	uint64_t new_references, new_user_references;	/* made by it, and not yet counted */
	uint64_t new_walks[2];		/* of these, not in user mode, and in it (survey_walks.h) */
	uint64_t user_references;	/* counted, of all tasks */
	bool in_snapshot;		/* what is reported now existed before */
	uint64_t reported_left;		/* the task that is reported has left the processor in
					 * this KTR_STATE_*; KTR_NONE: not known */

	/* not its own: */
	const struct survey_time *time;
	struct survey_processes *processes;
	struct survey_pages *pages;
};

void lpl_survey_tasks_init(struct survey_tasks *tasks, size_t limit,
			   const struct survey_time *time, struct survey_processes *processes,
			   struct survey_pages *pages);
void lpl_survey_tasks_free(struct survey_tasks *tasks);

/* `next` runs, since `switched`. */
enum lpl_error lpl_survey_tasks_switch(struct survey_tasks *tasks,
				       const struct lpl_merge_task *next,
				       struct lpl_report *report);
/* A task has begun, or something has changed of it, or it has ended. */
enum lpl_error lpl_survey_tasks_change(struct survey_tasks *tasks,
				       const struct lpl_merge_task *changed,
				       struct lpl_report *report);
/* The task that runs leaves the processor: a KTR_SCHEDULE. */
enum lpl_error lpl_survey_tasks_schedule(struct survey_tasks *tasks, const struct lpl_event *event,
					 struct lpl_report *report);

/* Count the references that were made since the last time.  false: no memory. */
bool lpl_survey_tasks_count(struct survey_tasks *tasks);
/* Two bins become one. */
void lpl_survey_tasks_fold(struct survey_tasks *tasks);
/* All tasks are over: their processes' pages are counted. */
void lpl_survey_tasks_finish(struct survey_tasks *tasks);

#endif
