/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's processes: their records, and the pages that each of them referenced. */
#ifndef LAPLACE_SURVEY_SURVEY_PROCESSES_H
#define LAPLACE_SURVEY_SURVEY_PROCESSES_H

#include "page_set.h"
#include "survey_time.h"

/* A task of a program: the pages that it referenced. */
struct survey_thread {
	struct page_set pages;		/* its own, unless they are its process': */
	struct survey_process *alone;	/* which never had another task; NULL: they are not */
};

struct survey_process {
	struct lpl_survey_process result;	/* first, so that one is the other */
	uint64_t living_tasks;
	bool over;			/* all its tasks have ended */
	struct page_set pages;		/* that it referenced, until it is over */
	struct survey_thread *alone;	/* its only task so far, if that has no set of its own */
	uint64_t bin_most;		/* the most alive in this bin */
	struct survey_process *next, **link;	/* in the list of those that are not over */
};

struct survey_processes {
	struct lpl_survey_processes result;
	struct survey_process **by_number;	/* NULL: there was none; may be &sum */
	size_t by_number_room;
	struct survey_process **record;		/* result.recorded of them, in no order */
	size_t record_room;
	size_t limit;			/* how many may have a record */
	uint64_t over;			/* of those that have one */
	struct survey_process sum;	/* of the others: one process to all that ask */
	struct survey_process *living;	/* a list in no order */
	struct survey_process *running;	/* NULL before the first record */
	struct survey_thread *thread;	/* of it, that runs; it counts if it is a program's */
	/* a number that is another one for each task of a program, and for each process that it is in
	 * one after the other; the kernel's tasks have the same */
	uint32_t runner;
};

/* The number of the sum, which no process has. */
#define OTHER_PROCESSES (UINT32_MAX - 1)

/* The process by number, or the sum that it is in; NULL: no such. */
static inline struct survey_process *lpl_survey_processes_find(struct survey_processes *processes,
							       uint64_t number)
{
	if (number < processes->by_number_room)
		return processes->by_number[number];
	return number == OTHER_PROCESSES ? &processes->sum : NULL;
}

/* `limit`: how many get a record of their own (survey_tasks.h). */
void lpl_survey_processes_init(struct survey_processes *processes, size_t limit);
void lpl_survey_processes_free(struct survey_processes *processes);

/* The process by number, made if it is new.  NULL: no memory. */
struct survey_process *lpl_survey_processes_reach(struct survey_processes *processes,
						  uint64_t number);

/* All tasks of the process have ended, and its pages are counted: its set of them goes. */
void lpl_survey_process_end(struct survey_processes *processes, struct survey_process *process);

/* The bin is over.  false: no memory. */
bool lpl_survey_processes_close_bin(struct survey_processes *processes, unsigned int bin);
/* Two bins become one. */
void lpl_survey_processes_fold(struct survey_processes *processes);

#endif
