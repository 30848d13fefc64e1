/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The workloads of the guests that try kVMTrace, and what they share. */
#ifndef KVMTRACE_WORKLOAD_H
#define KVMTRACE_WORKLOAD_H

#include "guest.h"

#define DEVICE "/dev/kvmtrace"
#define CALL_nice ((enum call)34)

struct workload {
	const char *name;
	int (*run)(void);	/* 0: its data were what they should be */
	enum {
		RUNS_AS_PROGRAM = 1,	/* executed by another workload */
		WANTS_SWAP = 2,
		RUNS_TWICE = 4,		/* traced, stopped, and traced again */
		SLOW_READER = 8
	} how;
};

/* NULL: there is none of this name. */
const struct workload *find_workload(const char *name);

int locality_run(void);		/* locality.c */
int calls_run(void);		/* calls.c */
int executed_run(void);
int slow_run(void);
int stress_run(void);		/* stress.c */
int crowd_run(void);		/* crowd.c */
/* These start and end tracing by themselves. */
int forks_run(void);		/* crowd.c */
int stops_run(void);		/* stops.c */
int journal_run(void);		/* journal.c */
int threads_read_run(void);	/* readers.c */
int executes_run(void);
int reads_on_run(void);
int stalled_run(void);
int steer_run(void);		/* steer.c */
int sort_run(void);		/* work.c */
int tree_run(void);
int copy_run(void);
int churn_run(void);		/* churn.c */

/* Reads the log slowly, and sees that it has no gap; for a process of its own. */
int slow_reader(void);		/* steer.c */

/* 1 when the texts are equal. */
int same(const char *a, const char *b);
/* A hundredth of a second, or two. */
void nap(void);
unsigned long long cycles(void);

/* Numbers that repeat: the next of a sequence. */
u32 next_random(u32 *state);

/* Anonymous memory of so many pages; ends the program when there is none. */
u32 *pages_of(u32 count);
/* A task with the memory and files of this one, to wait for; `work` must exit. */
int start_thread(void (*work)(u32), u32 number, u32 *stack_end);
/* Say what is wrong, and return 1. */
int wrong(const char *what);

#endif
