/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory by working sets (Denning, 1968) or by page-fault frequency (Chu and Opderbeck, 1976), and
 * load control: where memory does not hold what the processes need, one of them is left out for a
 * while.  It loses its pages, and its tasks are suspended.
 *
 *	memory_ws.c	which pages are there
 *	load_control.c	which processes run
 */
#ifndef LAPLACE_SCHEDULE_LOAD_H
#define LAPLACE_SCHEDULE_LOAD_H

#include "queues.h"

struct machine;
struct task;

struct process {			/* by its number; 0: the kernel */
	/* its clock: the cycles that its tasks have run; the kernel's is the machine's time */
	uint64_t v, since;		/* up to then */
	uint64_t running;		/* tasks, from then on */
	uint64_t live;			/* tasks that were released, and have not ended */
	enum { PROCESS_NEW, PROCESS_ACTIVE, PROCESS_DEACTIVATED } state;
	uint64_t activated, deactivated;	/* when it was last, in the order of all that were */
	uint64_t deactivations;
	uint64_t wanted;		/* pages that it had when it was deactivated */
	uint64_t first, last;		/* serials of those of its tasks that are suspended */
	bool faulted;
	uint64_t fault;			/* PFF: at its last one, its clock */
};

struct load_control {
	struct page_memory memory;
	struct machine *machine;
	bool by_faults;			/* PFF */
	uint64_t pages, window;		/* pages 0: no limit */
	struct queues queues;
	uint64_t *stamp;		/* by page: its owner's clock when it was last referenced */
	size_t stamp_room;
	struct process *process;
	size_t process_room;
	uint64_t order;			/* of what is activated or deactivated */
	uint64_t deactivated;		/* processes that are */
	/* of what happens now: */
	uint64_t t;
	bool unsettled;			/* a task left its processor, or was suspended */
	uint64_t rejoins;		/* this process was activated by a reference; 0: none */
};

enum lpl_error lpl_load_open(struct load_control **load, struct machine *machine,
			     struct lpl_report *report);

/* ---- clocks and tasks ---- */

static inline uint64_t lpl_load_clock(const struct load_control *load, uint64_t process, uint64_t t)
{
	const struct process *p = &load->process[process];

	return process == 0 ? t : p->v + p->running * (t - p->since);
}

/* One of the process's tasks begins to run, or no longer runs. */
void lpl_load_runs(struct load_control *load, uint64_t process, bool runs, uint64_t t);
/* A task becomes one of another process. */
enum lpl_error lpl_load_moves(struct load_control *load, const struct task *task, uint64_t from,
			      struct lpl_report *report);
/* One was released, or ended. */
void lpl_load_begins(struct load_control *load, uint64_t process);
void lpl_load_ends(struct load_control *load, uint64_t process, uint64_t t);
/* A task left its processor. */
static inline void lpl_load_left(struct load_control *load, uint64_t t)
{
	load->unsettled = true;
	load->t = t;
}

/* How often it was left out. */
static inline uint64_t lpl_load_deactivations(const struct load_control *load, uint64_t process)
{
	return process < load->process_room ? load->process[process].deactivations : 0;
}

/* ---- pages ---- */

/* Those of whichever process that are in no working set any more leave. */
void lpl_load_expire_all(struct load_control *load, uint64_t t);

/* ---- load control ---- */

/* A reference by a process that is not active. */
void lpl_load_activate(struct load_control *load, struct reference *reference);
/* A page is to come: as many processes are deactivated as it takes. */
enum lpl_error lpl_load_make_room(struct load_control *load, struct reference *reference,
				  struct lpl_report *report);
/* A task would become ready: true: it is suspended. */
bool lpl_load_suspends(struct load_control *load, struct task *task, uint64_t t);
/* At the end of whatever happened: which process comes back? */
enum lpl_error lpl_load_settle(struct load_control *load, struct lpl_report *report);

#endif
