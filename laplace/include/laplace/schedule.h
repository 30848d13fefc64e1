/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads scheduled again: what a trace's tasks did, on a machine of one's choosing.
 *
 * A trace shows what tasks did in the order in which one machine ran them.  Here it is taken apart
 * into a sequence for each task (Laplace, WOSP 2004, section 3.3.3: a trace of each process), and
 * a machine with so many processors, a scheduler, a memory and paging devices runs these again, so
 * that scheduling and replacement can be studied together (section 5).  A task that waited for
 * another in the trace waits for it here; one that waited for a device, or for time to pass, waits
 * as long as it did.  docs/scheduling.md has the model, and what of it is exact.
 *
 *	lpl_schedule_open(&schedule, NULL, &report);
 *	lpl_reader_run(reader, lpl_schedule_sink(schedule), &report);
 *	struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR, .quantum = 100000,
 *				      .policy = "lru", .pages = 4096, .fault_cycles = 1000000};
 *	lpl_schedule_run(schedule, &machine, NULL, &report);
 *	printf("%" PRIu64 " cycles\n", lpl_schedule_result(schedule)->end);
 *	lpl_schedule_close(schedule);
 *
 * Time is in cycles of the simulated processor, and begins at 0.  All numbers are exact integers,
 * and the same in every run.  Memory: some 1000 bytes a task, 30 bytes a page, 16 MiB, and what a
 * memory's policy takes; the sequences are in a temporary file, of some 8 bytes a reference.
 */
#ifndef LAPLACE_SCHEDULE_H
#define LAPLACE_SCHEDULE_H

#include <laplace/error.h>
#include <laplace/merge.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- the machine ---- */

#define LPL_MOST_CPUS 64
/* Cycles: the longest run, and the longest time that is asked for (22 years at 100 MHz). */
#define LPL_LONGEST_SCHEDULE (UINT64_C(1) << 56)

enum lpl_scheduler {
	/*
	 * The order of the trace, the idle task included: one processor, which stands still during
	 * a fault.  Without such (fault_cycles 0) it is the trace as it was recorded.
	 */
	LPL_SCHEDULER_RECORDED = 0,
	LPL_SCHEDULER_RR,		/* round robin: one queue */
	LPL_SCHEDULER_PRIORITY,		/* by a number for each task, the lower the sooner, and
					 * preemptive; of one number as round robin */
	LPL_SCHEDULER_FAIR		/* the task that has run least, with the quantum as granularity */
};

enum lpl_memory_kind {
	LPL_MEMORY_GLOBAL = 0,		/* all pages compete, under `policy` */
	/*
	 * An LRU queue for each process (the kernel is one), and shares of the memory.  A fault
	 * evicts from the queue of the process that faults if that has its share, else from
	 * the one that is farthest above its share.
	 */
	LPL_MEMORY_LOCAL_EQUAL,		/* the same share for each that has pages */
	LPL_MEMORY_LOCAL_PROPORTIONAL,	/* as many distinct pages as it brought in so far */
	/*
	 * Each process has what it needs, by `window` of its own running time (the kernel's is
	 * the machine's): the pages that were referenced in it (Denning's working set, 1968); or
	 * those referenced since the fault before, if that is at least so long ago at a fault (Chu
	 * and Opderbeck's page-fault frequency, 1976).  A page belongs to the process that brought
	 * it in, whoever references it, and to the kernel once that has ended.  Where a page is to
	 * come and memory is full, the process that was activated last is deactivated: its pages
	 * leave, and its tasks are suspended until there is room for as many pages, or no other
	 * task could go on.  Not with `recorded`.
	 */
	LPL_MEMORY_WS,
	LPL_MEMORY_PFF
};

struct lpl_schedule_task;

enum lpl_schedule_state {
	LPL_SCHEDULE_READY,		/* also while a processor begins it */
	LPL_SCHEDULE_SUSPENDED,		/* with its process, by load control */
	LPL_SCHEDULE_RUNNING,
	LPL_SCHEDULE_PAGING,		/* waits for a page */
	LPL_SCHEDULE_WAITING,		/* otherwise */
	LPL_SCHEDULE_ENDED
};

/*
 * An observer of a run.  `cycle` is the machine's time, which never falls from one call to the next.
 * `task` has what it is, and results that are not complete.
 */
struct lpl_schedule_observer {
	/* The task is in a state from now on; it may be the one in which it was. */
	void (*state)(struct lpl_schedule_observer *observer, const struct lpl_schedule_task *task,
		      enum lpl_schedule_state state, uint64_t cycle);
	/* It referenced a page that was not there. */
	void (*fault)(struct lpl_schedule_observer *observer, const struct lpl_schedule_task *task,
		      uint64_t cycle);
};

struct lpl_machine {
	unsigned int cpus;		/* 1 to LPL_MOST_CPUS; `recorded` has 1 */
	enum lpl_scheduler scheduler;
	uint64_t quantum;		/* in cycles, or ... */
	bool quantum_instructions;	/* ... in instructions; 0: a task runs until it leaves */
	uint64_t switch_cycles;		/* to begin another task than the one before */
	enum lpl_memory_kind memory;
	/*
	 * LPL_MEMORY_GLOBAL's: "lru", or one of those that run on demand in laplace/simulator.h
	 * ("clock", "segq:fifo=16" ...).  NULL: "lru".  The others have none.
	 */
	const char *policy;
	/*
	 * Of memory.  0, with whichever memory: no limit; only first references fault, and those
	 * to pages that left by the window, and no process is deactivated.
	 */
	uint64_t pages;
	uint64_t window;		/* LPL_MEMORY_WS and LPL_MEMORY_PFF: in cycles; others: 0 */
	uint64_t fault_cycles;		/* for a page to arrive; 0: at once */
	uint64_t write_cycles;		/* more on a device, for each dirty page that left since the
					 * fault before */
	unsigned int devices;		/* that bring pages, one at a time each; 0: as many as
					 * are needed, and writes take no time */
	/* Of `priority`: the task's number; NULL: 0 for all.  `task` has what it is, no results. */
	int (*priority)(void *context, const struct lpl_schedule_task *task);
	void *context;
	struct lpl_schedule_observer *observer;	/* of lpl_schedule_run(); not owned; NULL: none */
};

/* "recorded", "rr", "priority", "fair"; NULL: none of them. */
const char *lpl_scheduler_name(enum lpl_scheduler scheduler);
/* "global", "local-equal", "local-proportional", "ws", "pff"; NULL: none of them. */
const char *lpl_memory_kind_name(enum lpl_memory_kind kind);

/* ---- a trace, taken apart ---- */

/* What there is to be scheduled. */
struct lpl_schedule_trace {
	uint64_t references, cycles, instructions;	/* traced, the idle task's included */
	uint64_t left_out_references, left_out_cycles;	/* of these the idle task's, which only
							 * `recorded` runs */
	uint64_t pages;			/* distinct, canonical */
	uint64_t shared;		/* pages that several tasks reference, without the idle task */
	uint64_t waits;			/* for other tasks, or for time to pass, that ended in the
					 * trace; without those in which tasks were when it began */
	uint64_t waits_guessed;		/* of these, those that no KTR_WAKE ended: they take the time
					 * that they took in the trace */
	uint64_t left_waiting;		/* tasks that waited when the trace ended: they end there */
};

struct lpl_schedule;

/*
 * `directory` is for the temporary file, which has no name there: NULL is that of the environment's
 * TMPDIR, or /var/tmp.  LPL_ERR_MEMORY, LPL_ERR_IO.
 */
enum lpl_error lpl_schedule_open(struct lpl_schedule **schedule, const char *directory,
				 struct lpl_report *report);
/*
 * Where to send the whole trace, and finish(): one with kernel events, as laplace/merge.h takes it, or
 * a canonical one.  Owned by the schedule.  LPL_ERR_MEMORY; LPL_ERR_IO and LPL_ERR_FULL of the
 * temporary file; LPL_ERR_UNSUPPORTED: 2^31 pages.
 */
struct lpl_sink *lpl_schedule_sink(struct lpl_schedule *schedule);
/* After finish(). */
const struct lpl_schedule_trace *lpl_schedule_trace(const struct lpl_schedule *schedule);

/* ---- a run ---- */

/*
 * Run all of it on a machine; as often as wanted, each time from the beginning.  Results stand until
 * the next run.
 *
 * `next` (not owned; NULL: none) gets the trace as that machine would have made it, and finish(): canonical
 * references and events as those of lpl_merge_canonical_open(), with the machine's clocks: cycle is
 * the time plus the trace's first cycle; instr and ref count what was done by whatever task, from
 * the trace's first on.  An LPL_EVENT_PAGE comes before the first reference to a page.  But for
 * `recorded`, KTR_SCHEDULE are those of this machine, one for each dispatch, and to the idle task where none
 * is ready: PREVIOUS_STATE is 0 of a preempted task, KTR_STATE_WAITING of one that waits for a page, what the
 * trace had of one that waits otherwise, KTR_STATE_DEAD of one that ended; and KTR_WAKE are the ends of waits.
 * LPL_EVENT_TRACING and LPL_EVENT_GAP are left out then, and a state at the beginning does not say which
 * task runs.  `recorded` has these events of the trace, and its own only around what waits for a page.  One
 * processor only.
 *
 * LPL_ERR_UNSUPPORTED: it takes more than LPL_LONGEST_SCHEDULE cycles.
 * LPL_ERR_USAGE: a machine that there is not, or `next` with several processors; the trace was not finished.
 * LPL_ERR_MEMORY; LPL_ERR_IO; and what `next` fails with.
 */
enum lpl_error lpl_schedule_run(struct lpl_schedule *schedule, const struct lpl_machine *machine,
				struct lpl_sink *next, struct lpl_report *report);

/* A task, or a process with the sums over its tasks.  Times are cycles. */
struct lpl_schedule_task {
	/* what it is, as it was in the end (a process: its leader) */
	uint64_t serial;		/* as in struct lpl_merge_task; of a process: its number */
	uint64_t process, parent;
	uint32_t tid, tgid;		/* 0, 0: the idle task, which only `recorded` runs */
	const char *name;		/* escaped by lpl_text_escape(); owned by the schedule */
	/* what became of it */
	uint64_t references, faults;
	uint64_t cold;			/* faults that were the page's first references */
	uint64_t joined;		/* references to a page that was on its way for another task */
	uint64_t begin, end;		/* released, and ended; end - begin is the sum of these four: */
	uint64_t running, ready, paging, waiting;
	uint64_t switching;		/* a part of `ready`: a processor began it */
	uint64_t suspended;		/* another: its process was deactivated (load control) */
	uint64_t dispatches, preemptions;
	uint64_t deactivations;		/* of a process; 0 for a task */
};

/* After a run: those with a record in the trace, by serial; `i` is below their number. */
size_t lpl_schedule_tasks(const struct lpl_schedule *schedule);
const struct lpl_schedule_task *lpl_schedule_task(const struct lpl_schedule *schedule, size_t i);
/* Likewise, processes by number; 0 is the kernel, with all that has no address space of its own. */
size_t lpl_schedule_processes(const struct lpl_schedule *schedule);
const struct lpl_schedule_task *lpl_schedule_process(const struct lpl_schedule *schedule, size_t i);

/*
 * How long a process takes on this machine if nothing else runs there, until its last task ends.
 * Waits for tasks of others take as long as they did in the trace, and a task that one of these
 * made is there from the beginning.  `process` is the number of one that has tasks: serial of an
 * lpl_schedule_process() that is not 0.  Results of the last lpl_schedule_run() stand.
 *
 * LPL_ERR_USAGE: there is no such process, or the order is the recorded one, which is that of all;
 * else as lpl_schedule_run().
 */
enum lpl_error lpl_schedule_run_alone(struct lpl_schedule *schedule,
				      const struct lpl_machine *machine, uint64_t process,
				      uint64_t *cycles, struct lpl_report *report);

struct lpl_schedule_result {
	uint64_t end;			/* when the last task has ended */
	/* of all processors; the sum of the first three is cpus * end */
	uint64_t busy, switching, idle;
	uint64_t idle_paging;		/* of `idle`, while some task waits for a page */
	uint64_t switches;		/* dispatches of another task than that processor's last */
	uint64_t references, faults, cold, joined;
	uint64_t evictions, dirty_evictions;
	uint64_t deactivations;		/* of processes */
	uint64_t device_busy;		/* of all devices, up to their last page */
};

/* After a run. */
const struct lpl_schedule_result *lpl_schedule_result(const struct lpl_schedule *schedule);

void lpl_schedule_close(struct lpl_schedule *schedule);		/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
