/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle's machine from within. */
#ifndef LAPLACE_TESTS_ORACLE_SCHEDULE_SIM_H
#define LAPLACE_TESTS_ORACLE_SCHEDULE_SIM_H

#include "oracle_schedule.h"
#include "oracle_schedule_memory.h"

enum { NO_TASK = -1, MOST_DUE = 4 * ORACLE_TASKS };

enum state { NOT_BEGUN, READY, ON_PROCESSOR, PAGING, WAITING, ENDED };

struct task {
	enum state state;
	size_t *place;			/* of its records in the trace, in order */
	size_t count, next;
	bool begun;			/* the next record: */
	uint64_t left;			/* of its dcycle */
	uint64_t used;			/* of its quantum */
	bool keeps;			/* what is left of its quantum */
	uint64_t v;
	uint64_t wake;			/* that it waits for; 0: none */
	uint64_t arrival;		/* likewise */
	uint64_t left_as;		/* KTR_STATE_* */
};

struct processor {
	int task, last;
	uint64_t switching;		/* so much of it is left */
};

struct due {
	uint64_t time, order;
	int task;			/* its wait ends; NO_TASK: */
	uint64_t arrival;		/* of a page */
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
	uint64_t order;
	int paging[MOST_DUE];		/* the tasks that wait for arrivals, in their order */
	int pagings;
	uint64_t arrivals;
	uint64_t device_free[ORACLE_DEVICES];
	uint64_t floor;
	bool *passed;			/* by the number of a wake */
	struct oracle_pages memory;
	uint64_t instructions, references;	/* that the output's clocks show */
	bool shown[ORACLE_PAGES + 1];	/* pages, in the output */
};

/* Of a task that has one. */
static inline const struct oracle_record *next_record(const struct sim *sim, const struct task *t)
{
	return &sim->split->record[t->place[t->next]];
}

/* ---- the re-interleaved trace, if it is wanted (oracle_schedule_show.c) ---- */

void oracle_show_head(struct sim *sim);
void oracle_show(struct sim *sim, const struct oracle_record *record);
/* A processor goes from one task to the other. */
void oracle_show_dispatch(struct sim *sim, int goes, int comes);

#endif
