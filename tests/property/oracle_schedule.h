/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An oracle for threads that are scheduled again: a machine that is watched at every cycle, as
 * docs/scheduling.md defines it.  All is plain arrays; time passes one cycle after the other, and
 * at each of them whoever is in a state gets a cycle of it.  Nothing is shared with the library.
 */
#ifndef LAPLACE_TESTS_ORACLE_SCHEDULE_H
#define LAPLACE_TESTS_ORACLE_SCHEDULE_H

#include "oracle.h"

enum { ORACLE_TASKS = 40, ORACLE_PAGES = 200, ORACLE_CPUS = 8, ORACLE_DEVICES = 4 };

/* ---- a trace, taken apart ---- */

enum oracle_wait {
	WAIT_NOT,		/* ready, or goes on */
	WAIT_WAKE,		/* until wake `number` has been passed */
	WAIT_CYCLES,		/* `number` of them */
	WAIT_EVER		/* nothing ends it: so the sequence ends */
};

struct oracle_name {
	const char *text;		/* in the event that gave it */
	uint32_t length;
};

struct oracle_record {
	const struct item *item;
	uint64_t dcycle, dinstr, dref;
	int task;			/* serial */
	uint64_t process;		/* of the task, then */
	uint64_t process_before;	/* the record, and while the time up to it passes */
	uint64_t space;			/* likewise */
	struct oracle_name name;	/* likewise */
	uint32_t page;			/* canonical, of a reference */
	int child;			/* that this creates; 0: none */
	uint64_t wake;			/* the number of the wake, or give, that this is; 0: none */
	uint64_t take[ORACLE_TASKS];	/* numbers of gives that it takes from a pipe, ... */
	int giver[ORACLE_TASKS];	/* ... and of their tasks */
	int takes;
	bool leaves, dies;		/* a KTR_SCHEDULE; the last of a task */
	enum oracle_wait wait;
	uint64_t number;
};

struct oracle_split {
	const struct stream *in;
	size_t head;			/* so many items are a state, and no records */
	struct oracle_record *record;
	size_t count;
	bool canonical;			/* pages have their numbers */
	bool valid;			/* such a stream as one processor reports */
	uint64_t first_cycle, first_instr, first_ref;	/* where the clocks begin */
	struct oracle_split_task {
		uint32_t tid, tgid;
		uint64_t space, process;	/* at its end */
		struct oracle_name name;
		struct oracle_name last_name;	/* at its last record */
		uint64_t last_space;
		uint64_t records;	/* none: the machine knows nothing of it */
		int parent;		/* 0: not known, so that it is there from the beginning */
		enum oracle_wait wait;	/* at the beginning */
		uint64_t number;
	} task[ORACLE_TASKS];
	int tasks;			/* task 0, the idle one, included */
	uint64_t waits_guessed;
	uint64_t left_waiting;
	uint64_t wakes;
	uint32_t pages;
};

void oracle_split(const struct stream *in, struct oracle_split *split);
void oracle_split_free(struct oracle_split *split);
/* What is left of it if there were only those tasks that are the process's at their end. */
void oracle_split_alone(const struct oracle_split *all, uint64_t process,
			struct oracle_split *alone);

/* ---- a machine ---- */

enum oracle_scheduler { ORACLE_RECORDED, ORACLE_RR, ORACLE_PRIORITY, ORACLE_FAIR };
enum oracle_memory { ORACLE_LRU, ORACLE_CLOCK, ORACLE_EQUAL, ORACLE_PROPORTIONAL, ORACLE_WS,
		     ORACLE_PFF };

struct oracle_machine {
	unsigned int cpus;
	enum oracle_scheduler scheduler;
	uint64_t quantum;
	bool instructions;		/* the quantum's unit */
	uint64_t switch_cycles;
	enum oracle_memory memory;
	uint64_t pages;			/* 0: no limit */
	uint64_t window;		/* of ORACLE_WS and ORACLE_PFF; cycles */
	uint64_t fault_cycles, write_cycles;
	unsigned int devices;
	uint64_t scale;			/* a cycle and an instruction are shown as so many;
					 * 0: as one */
	int priority[ORACLE_TASKS];	/* by serial */
};

struct oracle_task {
	uint64_t references, cold, again, joined;
	uint64_t running, ready, paging, waiting, switching, suspended;
	uint64_t begin, end;
	uint64_t dispatches, preemptions;
};

struct oracle_result {
	struct oracle_task task[ORACLE_TASKS];	/* by serial */
	uint64_t end, busy, switching, idle, idle_paging;
	uint64_t switches, faults, evictions, dirty_evictions, device_busy;
	uint64_t left_out_references, left_out_cycles;
	uint64_t deactivations[ORACLE_TASKS];	/* by process */
};

/*
 * What the machine does with the trace.  `out`, if not NULL, gets the re-interleaved trace; `log`,
 * if not NULL, a line for whatever happens.
 */
void oracle_schedule(const struct oracle_split *split, const struct oracle_machine *machine,
		     struct oracle_result *result, struct stream *out, FILE *log);

#endif
