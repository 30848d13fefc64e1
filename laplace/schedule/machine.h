/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine that runs a trace's parts: its processors, tasks, memory, devices and clock.
 *
 *	machine.c	tasks become ready, begin and leave; pages and devices; the end
 *	run.c		the order of happenings
 *	recorded.c	the order of the trace instead of that
 *	schedulers.h	which task runs
 *	memory.h	which pages are there
 *	load.h	... and which processes run, where not all have what they need
 *	remade.h	the trace that such a machine would have made
 */
#ifndef LAPLACE_SCHEDULE_MACHINE_H
#define LAPLACE_SCHEDULE_MACHINE_H

#include "base/map.h"
#include "heap.h"
#include "load.h"
#include "remade.h"
#include "parts.h"
#include "schedulers.h"

enum task_state {
	TASK_ABSENT, TASK_READY, TASK_SUSPENDED, TASK_RUNNING, TASK_PAGING, TASK_WAITING, TASK_ENDED
};
_Static_assert(TASK_READY - 1 == (int)LPL_SCHEDULE_READY && TASK_ENDED - 1 == (int)LPL_SCHEDULE_ENDED,
	       "states of observers are these, but for the first");

struct task {
	struct lpl_schedule_task result;	/* its results */
	struct lpl_schedule_observer *observer;	/* NULL: none */
	struct lpl_identity identity;
	struct lpl_cursor cursor;
	struct lpl_item item;		/* what comes next, and of it: */
	uint64_t passed;		/* cycles, ... */
	uint64_t done;			/* ... and instructions */
	enum task_state state;
	uint64_t since;			/* when that began */
	struct processor *on;		/* NULL: none */
	uint64_t used;			/* of its quantum */
	bool keeps_quantum;		/* what is left of it, for when it runs again */
	int64_t number;			/* scheduler `priority` */
	uint64_t v;			/* scheduler `fair`: up to `since`, while it runs */
	uint64_t left;			/* in which KTR_STATE_* it left the processor */
	uint64_t next;			/* serial: waits for the same page, or is suspended, too;
					 * 0: the last one.  Or waits for the same wake; the
					 * last one has the first */
};

struct processor {
	struct task *task;		/* NULL: it stands still */
	struct task *last;		/* that it ran, or runs */
	const struct task *shown;	/* that it runs in the output; NULL: the idle one */
	uint64_t time;			/* up to here all is counted */
	uint64_t switching;		/* cycles until the task begins */
};

/* A page on its way. */
struct arrival {
	uint32_t page;			/* its index, ... */
	uint32_t number;		/* ... and the run's number of it */
	uint32_t next_free;
	uint64_t first, last;		/* serials of those that wait for it */
};

struct machine {
	const struct lpl_machine *how;
	struct lpl_parts *parts;
	uint64_t process;		/* that is alone here, or ... */
#define ALL_PROCESSES UINT64_MAX
	struct task *task;		/* by serial */
	size_t tasks, live;		/* live: exist and have not ended */
	struct processor processor[LPL_MOST_CPUS];
	const struct scheduler *scheduler;
	struct lpl_heap ready;		/* serials */
	uint64_t order;			/* of what is put into a heap */
	uint64_t floor;			/* scheduler `fair` */
	struct lpl_heap due;		/* value: serial << 1, or index of an arrival << 1 | 1 */
	/* wakes that end a wait, and gives */
	uint64_t *passed;		/* a bit for each: it has been */
	struct lpl_map waiting;		/* for one that has not: its number -> the last of them */
	/* pages */
	struct page_memory *memory;	/* NULL: all pages stay */
	struct load_control *load;	/* that, if it has load control; else NULL */
	uint64_t written;		/* dirty pages that had left at the last fault */
	uint32_t *page;			/* by index: in this run 0: not referenced yet; else its
					 * number in the order of first references, or ... */
#define PAGE_ARRIVING (UINT32_C(1) << 31)	/* ... with this its newest arrival, which has that */
	uint32_t pages;			/* referenced so far */
	struct arrival *arrival;
	size_t arrival_room;
	uint32_t arrivals, free_arrival;
	uint64_t *device;		/* until when each is busy: a heap */
	uint64_t paging;		/* tasks that wait for a page */
	uint64_t instructions;		/* done on all processors */
	struct remade *remade;		/* NULL: none is wanted */
	struct lpl_schedule_result result;
};

/* Only the tasks of `process` run, or ALL_PROCESSES. */
enum lpl_error lpl_machine_open(struct machine *machine, struct lpl_parts *parts,
				const struct lpl_machine *how, uint64_t process,
				struct lpl_sink *next, struct lpl_report *report);
void lpl_machine_close(struct machine *machine);

/* From the beginning to the end. */
enum lpl_error lpl_machine_run(struct machine *machine, struct lpl_report *report);
enum lpl_error lpl_machine_run_recorded(struct machine *machine, struct lpl_report *report);

/* Does the task run here? */
static inline bool lpl_machine_has(const struct machine *machine, uint64_t serial)
{
	const struct lpl_part *part = &machine->parts->part[serial];

	return part->exists &&
	       (machine->process == ALL_PROCESSES || part->process == machine->process);
}

/* ---- time ---- */

/* Count what a processor does up to t, which is not before its time. */
/*
 * The machine's time is beyond LPL_LONGEST_SCHEDULE.  Whatever adds to it is no larger than
 * twice that, so that a sum does not wrap before it is looked at.
 */
enum lpl_error lpl_machine_too_long(struct lpl_report *report);
void lpl_machine_pass(struct machine *machine, struct processor *processor, uint64_t t);
/* The same for all processors that stand still: they are idle in two ways. */
void lpl_machine_pass_idle(struct machine *machine, uint64_t t);
void lpl_machine_set_state(struct machine *machine, struct task *task, enum task_state state, uint64_t t);
/* Instructions of the item, of which `passed` cycles have passed; all of one without cycles. */
uint64_t lpl_machine_done(const struct lpl_item *item, uint64_t passed);

/* ---- tasks ---- */

/* A task is released at t; its cursor is paused. */
enum lpl_error lpl_machine_begin(struct machine *machine, struct task *task, uint64_t t,
				 struct lpl_report *report);
/* The item that comes next; a change of the task's identity is taken from it.  The cursor has to be resumed. */
enum lpl_error lpl_machine_next_item(struct machine *machine, struct task *task,
				     struct lpl_report *report);
/* `parent` made it just now; or NULL. */
enum lpl_error lpl_machine_make_ready(struct machine *machine, struct task *task,
				      const struct task *parent, uint64_t t,
				      struct lpl_report *report);
/*
 * The task's item is a wait: it begins to wait at t, or takes the item after it (*waits false).
 * It is on no processor yet, or the caller takes it off.
 */
enum lpl_error lpl_machine_wait(struct machine *machine, struct task *task, uint64_t t, bool *waits,
				struct lpl_report *report);
/* Its wait is over by time, or a page has come. */
enum lpl_error lpl_machine_end_wait(struct machine *machine, struct task *task, uint64_t t,
				    struct lpl_report *report);
/* A running task leaves its processor, which takes the next one. */
enum lpl_error lpl_machine_leave(struct machine *machine, struct task *task, enum task_state state,
				 uint64_t left, uint64_t t, struct lpl_report *report);
/* The two parts of that; where no task is ready, the processor stands still. */
void lpl_machine_take_off(struct machine *machine, struct task *task, enum task_state state,
			  uint64_t left, uint64_t t);
enum lpl_error lpl_machine_take_next(struct machine *machine, struct processor *processor, uint64_t t,
				     struct lpl_report *report);
/* The same for one that another takes the place of; `other` NULL: whoever is next. */
enum lpl_error lpl_machine_preempt(struct machine *machine, struct processor *processor,
				   struct task *other, uint64_t t, struct lpl_report *report);
/* The wake with this number, of a task that runs, has been. */
enum lpl_error lpl_machine_wake(struct machine *machine, const struct task *by, uint64_t number,
				uint64_t t, struct lpl_report *report);
enum lpl_error lpl_machine_put_due(struct machine *machine, uint64_t t, uint64_t value,
				   struct lpl_report *report);

/* ---- pages ---- */

/* The task's item is a reference, which happens at t. */
enum lpl_error lpl_machine_reference(struct machine *machine, struct task *task, uint64_t t,
				     struct reference *reference, struct lpl_report *report);
/* When a page is there that is wanted at t; a device writes so many dirty ones before. */
uint64_t lpl_machine_fetch(struct machine *machine, uint64_t t, uint64_t dirty);
/* The task has left, and waits for the page, which comes, or is on its way already. */
enum lpl_error lpl_machine_await_page(struct machine *machine, struct task *task,
				      const struct reference *reference, uint64_t t,
				      struct lpl_report *report);
/* An arrival is due. */
enum lpl_error lpl_machine_page_arrives(struct machine *machine, uint32_t i, uint64_t t,
					struct lpl_report *report);

#endif
