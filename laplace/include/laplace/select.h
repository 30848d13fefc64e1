/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of a trace: references by the kind of their page, by who made them and how, and
 * process by process.  Sinks, to be put between a reader and a simulator.
 *
 * What is left after a choice by kind is exact for whatever the trace was: of two
 * references to a page no more others lie between than before.  A choice by process
 * is not: where two processes share a page, a reduction may have dropped the one's
 * references in favour of the other's.
 */
#ifndef LAPLACE_SELECT_H
#define LAPLACE_SELECT_H

#include <laplace/error.h>
#include <laplace/record.h>
#include <laplace/simulator.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- by kind ---- */

/*
 * Passes the references of a canonical trace that go to pages of some kinds, and all
 * events.  SPEC names the kinds (lpl_page_kind_name), joined by commas: "anonymous,shm".
 * `page-cache` is the same as `file`: a page of a file, however it is reached.
 *
 * What a page is, LPL_EVENT_PAGE has told.  A reference to a page that no event told of
 * ends the stream with LPL_ERR_UNSUPPORTED: the trace is not canonical, or has lost
 * records.  Memory: a byte a page.
 *
 * Errors of open: LPL_ERR_USAGE with the list of kinds, LPL_ERR_MEMORY.  `next` is not
 * owned.
 */
struct lpl_kinds;
enum lpl_error lpl_kinds_open(struct lpl_kinds **kinds, const char *spec,
			      struct lpl_sink *next, struct lpl_report *report);
struct lpl_sink *lpl_kinds_sink(struct lpl_kinds *kinds);	/* owned by it */
void lpl_kinds_close(struct lpl_kinds *kinds);			/* NULL is fine */

/* ---- by who made them, and how ---- */

/* All of what is given has to hold for a reference; where nothing is, all do. */
struct lpl_choice_options {
	/*
	 * Of a process: its name, or, if that is a number, its tgid.  NULL: any.  Its name is the
	 * last part of the path that it executed last, and what the kernel calls it: so a script
	 * goes by its interpreter's name, and by its own from when it first waits.  Threads go
	 * with their process.
	 */
	const char *process;
	bool children;		/* and of all processes that were made by such ones since */
	const char *task;	/* of a task, by its name or tid, likewise; NULL: any */
	unsigned int modes;	/* a sum of LPL_CHOOSE_*; 0: both */
	unsigned int types;	/* 1 << enum lpl_type, summed; 0: all */
	/*
	 * To addresses of this range, its end not included; where the trace has pages instead of
	 * addresses, to pages that it touches.  0, 0: any.
	 */
	uint64_t address, address_end;
	uint64_t page_size;	/* of those, in bytes; 0: 4096 */
};
#define LPL_CHOOSE_USER		1U
#define LPL_CHOOSE_KERNEL	2U

/*
 * Passes the references that are chosen, and all events.  Who runs is known by the events of
 * tasks, as in laplace/merge.h: by the task, never by its address space, whose number is used
 * again.  What the kernel does in a program's system call or fault, and in an interrupt
 * meanwhile, is that program's.  The idle task is nobody: what it references is in no choice of
 * tasks.
 *
 * What is left of a trace that was not reduced is exact for what was chosen; of one that was, it
 * is not, but where a range alone is given: where two share a page, the references of the one may
 * have been dropped in favour of the other's, and likewise with modes and types.
 *
 * Memory: some hundred bytes for each task that lives.  LPL_ERR_USAGE: the range is none, or
 * `children` without a process or a task; LPL_ERR_MEMORY.  The options' texts are copied; `next`
 * is not owned.
 */
struct lpl_choice;
enum lpl_error lpl_choice_open(struct lpl_choice **choice,
			       const struct lpl_choice_options *options,
			       struct lpl_sink *next, struct lpl_report *report);
struct lpl_sink *lpl_choice_sink(struct lpl_choice *choice);	/* owned by it */
uint64_t lpl_choice_passed(const struct lpl_choice *choice);	/* references, so far */
/* Tasks that were chosen by name or number so far, children not counted. */
uint64_t lpl_choice_tasks(const struct lpl_choice *choice);
void lpl_choice_close(struct lpl_choice *choice);		/* NULL is fine */

/* ---- by process ---- */

/*
 * Local replacement: each process has a memory of its own, of the given size, and its
 * pages compete with each other only.  The results of all processes are summed.
 *
 * Processes are those of laplace/merge.h, known by the events of tasks; the kernel
 * is one, with what its own tasks reference.  What it references in a system call or a
 * fault of a program is the program's.  A page that several processes use is in the
 * memory of each.  Memory: that of a simulator (simulator.h) for each process that
 * lives.
 *
 * The interface is that of the simulator, with differences: sizes have to be given,
 * not be `all`, and be of a policy for which they are pages (not ws and vmin, each of
 * which needs no memory to share out); `jobs` is of no use; `exact` is true only
 * where the trace was not reduced.
 */
struct lpl_local;
enum lpl_error lpl_local_open(struct lpl_local **local, const char *reduction,
			      struct lpl_report *report);
/* Errors as lpl_simulator_add(); LPL_ERR_USAGE for what is said above. */
enum lpl_error lpl_local_add(struct lpl_local *local, const char *policy,
			     const struct lpl_sizes *sizes, struct lpl_report *report);
struct lpl_sink *lpl_local_sink(struct lpl_local *local);
size_t lpl_local_count(const struct lpl_local *local);
const char *lpl_local_policy(const struct lpl_local *local, size_t index);
/* After finish(). */
const struct lpl_result *lpl_local_results(const struct lpl_local *local, size_t index,
					   size_t *count);
/* Those that made a reference, the kernel included. */
uint64_t lpl_local_processes(const struct lpl_local *local);
/*
 * References made in user mode that nothing gives to a process: before the first event, and
 * after a gap (LPL_EVENT_GAP) in which events are missing, until an event tells who runs.
 * They are in the kernel's.
 */
uint64_t lpl_local_unknown(const struct lpl_local *local);
void lpl_local_close(struct lpl_local *local);			/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
