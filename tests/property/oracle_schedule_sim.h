/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle's machine from within. */
#ifndef LAPLACE_TESTS_ORACLE_SCHEDULE_SIM_H
#define LAPLACE_TESTS_ORACLE_SCHEDULE_SIM_H

#include <inttypes.h>

#include "oracle_schedule.h"
#include "oracle_schedule_memory.h"

enum { NO_TASK = -1, IDLE = 0, MOST_DUE = 4 * ORACLE_TASKS };

enum state { NOT_BEGUN, READY, ON_PROCESSOR, PAGING, WAITING, SUSPENDED, ENDED };

struct task {
	enum state state;
	size_t *place;			/* of its records in the trace, in order */
	size_t count, next;
	int taken;			/* of what the next record takes */
	bool begun;			/* the next record: */
	uint64_t left;			/* of its dcycle */
	uint64_t used;			/* of its quantum */
	bool keeps;			/* what is left of its quantum */
	uint64_t v;
	uint64_t wake;			/* that it waits for; 0: none */
	uint64_t wake_order;		/* among those that wait for one */
	uint64_t arrival;		/* likewise */
	uint64_t left_as;		/* KTR_STATE_* */
};

struct processor {
	int task, last;
	bool idle;			/* the output says that it has none */
	uint64_t switching;		/* so much of it is left */
};

struct due {
	uint64_t time, order;
	int task;			/* its wait ends; NO_TASK: */
	uint64_t arrival;		/* of a page */
};

/* What load control knows of a process. */
struct load {
	uint64_t activated;		/* the number of its last activation; 0: none yet */
	uint64_t deactivated;		/* likewise; 0: it is not */
	uint64_t wanted;		/* pages that it had then */
};

struct sim {
	const struct oracle_split *split;
	const struct oracle_machine *machine;
	struct oracle_result *result;
	struct stream *out;
	FILE *log;
	uint64_t now, scale;
	struct task task[ORACLE_TASKS];
	struct processor processor[ORACLE_CPUS];
	int ready[ORACLE_TASKS];	/* from the head */
	int readies;
	struct due due[MOST_DUE];
	int dues;
	uint64_t order, wake_order;
	int paging[MOST_DUE];		/* the tasks that wait for arrivals, in their order */
	int pagings;
	uint64_t arrivals;
	uint64_t device_free[ORACLE_DEVICES];
	uint64_t floor;
	bool *passed;			/* by the number of a wake or give */
	struct oracle_pages memory;
	struct load load[ORACLE_TASKS];	/* by process */
	uint64_t activations, deactivations;
	int suspended[ORACLE_TASKS];	/* tasks, in the order of their suspension */
	int suspendeds;
	bool settles;			/* at the end of what is happening */
	uint64_t instructions, references;	/* that the output's clocks show */
	bool shown[ORACLE_PAGES + 1];	/* pages, in the output */
};

/* Of a task that has one. */
static inline const struct oracle_record *next_record(const struct sim *sim, const struct task *t)
{
	return &sim->split->record[t->place[t->next]];
}

void oracle_say(const struct sim *sim, int task, const char *format, uint64_t number);

/* ---- which tasks have processors (oracle_schedule_processors.c) ---- */

void oracle_become_ready(struct sim *sim, int task);
void oracle_dispatch(struct sim *sim, struct processor *processor, int task);
void oracle_take_off(struct sim *sim, struct processor *processor);
void oracle_end_quantum(struct sim *sim, struct processor *processor);
/* The first of the process's tasks to be dispatched, or NO_TASK. */
int oracle_take_ready_of(struct sim *sim, uint64_t process);
/* Processors that are free get tasks that are ready, or else the idle task. */
void oracle_fill(struct sim *sim);

/* ---- load control (oracle_schedule_load.c); nothing, of memories that do not need it ---- */

/* Of which process a task is where it stands. */
uint64_t oracle_process_of(const struct sim *sim, int task);
/* In place of becoming ready? */
bool oracle_load_suspends(struct sim *sim, int task);
/* Before a reference of the process; and when all that it does is done, if it activated the process. */
void oracle_load_refer(struct sim *sim, uint64_t process);
void oracle_load_ready(struct sim *sim, uint64_t process);
/* Makes room for a fault. */
void oracle_load_fault(struct sim *sim, uint64_t process);
/* A task of the process has ended. */
void oracle_load_end(struct sim *sim, uint64_t process);
/* At the end of a happening. */
void oracle_load_settle(struct sim *sim);

/* ---- the re-interleaved trace, if it is wanted (oracle_schedule_show.c) ---- */

void oracle_show_head(struct sim *sim);
void oracle_show(struct sim *sim, const struct oracle_record *record);
/* The processor goes from one task to the other. */
void oracle_show_dispatch(struct sim *sim, int goes, int comes);
/* The task's wait ends, by another task's record, or by what is due. */
void oracle_show_wake(struct sim *sim, int task, int waker);
void oracle_show_interrupt(struct sim *sim, int task);
/* All stands still until the record's page is there, and then the task goes on.  The idle task has such time anyway. */
void oracle_show_stall(struct sim *sim, const struct oracle_record *record);
void oracle_show_stalled(struct sim *sim, const struct oracle_record *record);

#endif
