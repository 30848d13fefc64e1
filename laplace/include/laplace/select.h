/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of a trace: references by the kind of their page, by the task that made them and how,
 * and process by process.  Sinks, to be put between a reader and a simulator.
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
#include <laplace/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- by kind, and file ---- */

/*
 * Passes the references of a canonical trace that go to pages of some kinds, of a file, and all
 * events.  SPEC names the kinds (lpl_page_kind_name), joined by commas: "anonymous,shm"; NULL: all.
 * `page-cache` is the same as `file`: a page of a file, however it is reached.  FILE is the
 * path of one, or its last part; NULL: any.
 *
 * What a page is, LPL_EVENT_PAGE has said.  A reference to a page that no event described
 * ends the stream with LPL_ERR_UNSUPPORTED: the trace is not canonical, or has lost
 * records.  Memory: a byte a page.
 *
 * Errors of open: LPL_ERR_USAGE with the list of kinds, LPL_ERR_MEMORY.  `next` is not
 * owned.
 */
struct lpl_kinds;
enum lpl_error lpl_kinds_open(struct lpl_kinds **kinds, const char *spec, const char *file,
			      struct lpl_sink *next, struct lpl_report *report);
struct lpl_sink *lpl_kinds_sink(struct lpl_kinds *kinds);	/* owned by it */
void lpl_kinds_close(struct lpl_kinds *kinds);			/* NULL is fine */

/* ---- by the task that made them, and how ---- */

/* When something is chosen from, or up to. */
enum lpl_moment_kind {
	LPL_MOMENT_NONE,
	/* by the clocks of the records themselves (record.h): */
	LPL_MOMENT_REFERENCE,	/* the one with this number ... */
	LPL_MOMENT_INSTRUCTION,	/* ... or what is made at this count, */
	LPL_MOMENT_CYCLE,	/* or at this cycle; and what follows it */
	LPL_MOMENT_TIME,	/* the same, in microseconds of the guest's time since the first
				 * record of the stream (not counting what LPL_EVENT_STATE
				 * says there was before), ... */
	LPL_MOMENT_UPTIME,	/* ... or since the machine was switched on, at cycle 0 */
	LPL_MOMENT_MARK,	/* after the guest's mark, or that of a user, of this text */
	LPL_MOMENT_EXEC,	/* after an exec of this: the last part of the path, or all of
				 * it if this has a slash */
	LPL_MOMENT_BYTES	/* a recording has grown so long: nothing is chosen by it */
};

struct lpl_moment {
	enum lpl_moment_kind kind;
	uint64_t number;
	const char *text;
};

/*
 * How many cycles a second of the guest's has: what `cpu: ips=` says in the bochsrc that a trace's
 * header holds, the last of them if there are several; 0: nothing.
 */
uint64_t lpl_cycles_a_second(const struct lpl_meta *meta);

/* Which pages the references have that are passed. */
enum lpl_addresses {
	LPL_ADDRESSES_KEPT,		/* those in the trace */
	LPL_ADDRESSES_CANONICAL,
	LPL_ADDRESSES_PHYSICAL		/* by translation.h: of a trace with translations */
};

/* All of what is given has to hold for a reference; where nothing is, all do. */
struct lpl_choice_options {
	/*
	 * Of a process: its name, or, if that is a number, its tgid.  NULL: any.  Its name is the
	 * last part of the path that it executed last, and what the kernel calls it: so a script
	 * goes by its interpreter's name, and by its own from when it first waits.  Threads go
	 * with their process.
	 */
	const char *process;
	const char *task;	/* of a task, by its name or tid, likewise; NULL: any */
	unsigned int modes;	/* a sum of LPL_CHOOSE_*; 0: both */
	unsigned int types;	/* 1 << enum lpl_type, summed; 0: all */
	/*
	 * To addresses of this range, its end not included; where the trace has pages instead of
	 * addresses, to pages that it touches.  0, 0: any.
	 */
	uint64_t address, address_end;
	uint64_t page_size;	/* of those, in bytes; 0: 4096 */
	const char *kinds, *file;	/* of canonical pages, as lpl_kinds_open() has them */
	/* From the one moment on, up to the other, which is not included. */
	struct lpl_moment from, to;
	uint64_t cycles_a_second;	/* of the guest's time, for moments that need it; see above */
	enum lpl_numbering {
		LPL_NUMBERS_KEPT,	/* as they were: time is everybody's */
		/*
		 * From 1 on, as if there were no others: time is the chosen ones' own, as that
		 * of a working set has to be.  Of a stream that was not reduced:
		 */
		LPL_NUMBERS_COUNTED,
		/*
		 * or of one in which each reduction ended at every event, of which tasks alone are
		 * chosen: from event to event all numbers are the same task's.
		 */
		LPL_NUMBERS_BY_EVENTS
	} numbering;
	bool children;	/* of `process`: and of all that were made by such ones since */
	enum lpl_addresses addresses;	/* of what is passed: see below */
};
#define LPL_CHOOSE_USER		1U
#define LPL_CHOOSE_KERNEL	2U

/*
 * A choice in words, joined by plus signs or commas: "process:gzip+children+type:read+write".
 *
 *	process:NAME, process:PID, task:NAME, task:TID, children, user, kernel
 *	type:TYPE		read, write, fetch, walk-read, walk-write, a letter, or several
 *	range:START:END		hexadecimal
 *	kind:KIND		or several, joined by commas; of canonical traces, and so
 *	file:PATH
 *	from:MOMENT, until:MOMENT	references:N, instructions:N, cycles:N, seconds:S, uptime:S,
 *				mark:TEXT or exec:NAME, as docs/moments.md has them; to: is until:
 *
 * A name or a text may hold plus signs and commas, as long as no such word follows.
 */
#define LPL_CHOICE_SIZE 384	/* of the longest, its 0 included */
/*
 * Read one.  The texts of `options` are kept in `words`.  LPL_ERR_USAGE: it is none; nothing can be
 * said of `options` then.
 */
enum lpl_error lpl_choice_parse(struct lpl_choice_options *options, char words[LPL_CHOICE_SIZE],
				const char *spec, struct lpl_report *report);
/* The same of one word of it: its name and what is after the colon, which is kept as it is. */
enum lpl_error lpl_choice_set(struct lpl_choice_options *options, const char *name,
			      const char *value, struct lpl_report *report);
/*
 * The other way, with plus signs; "" chooses all.  LPL_ERR_USAGE: it is too long, or a name in it
 * would be read as another choice ("a+user").
 */
enum lpl_error lpl_choice_say(char spec[LPL_CHOICE_SIZE], const struct lpl_choice_options *options,
			      struct lpl_report *report);
/*
 * What is passed: references as they come, or the same ones on canonical pages (merge.h), which the
 * choice makes of them by a merge of its own: the space is 0, the address the canonical page's
 * number << LPL_PAGE_SHIFT, with the offset in the page that it had, and fences but KTR_EXEC are
 * left out: the pages and the events of lpl_merge_canonical_open().  References are chosen by what
 * they were in the trace: by their task, mode and address; by `kinds` and `file`, by the
 * canonical page.  All that was made before `from` has to be read for it.
 * lpl_addressing_of() says whether that is right for a trace.
 */
/* Is any reference left out by it?  By anything but the task that made it? */
bool lpl_choice_chooses(const struct lpl_choice_options *options);
bool lpl_choice_beyond_tasks(const struct lpl_choice_options *options);
/* What part of a trace that is, if it has pages of so many bytes; 0: that is not known. */
enum lpl_trace_part lpl_choice_part(const struct lpl_choice_options *options, uint64_t page_size);

/*
 * Passes the references that are chosen, and all events.  Which task runs is known by the events
 * of tasks, as in laplace/merge.h: never by its address space, as the number of one is used
 * again.  What the kernel does in a program's system call or fault, and in an interrupt
 * meanwhile, is that program's.  The idle task is none: what it references is in no choice of
 * tasks.
 *
 * What is left of a trace that was not reduced is exact for what was chosen; of one that was, it
 * depends on lpl_choice_part(): where two share a page, the references of the one may have been
 * dropped in favour of the other's, and likewise with modes, types and times.
 *
 * Memory: some hundred bytes for each task that lives.  LPL_ERR_USAGE: the range is none, it is
 * not known how long a second is, `children` without a process or a task, numbers by events where
 * more than tasks is chosen, a kind that there is not, or kinds of frames; LPL_ERR_MEMORY.  The options' texts are
 * copied; `next` is not owned.
 */
struct lpl_choice;
enum lpl_error lpl_choice_open(struct lpl_choice **choice,
			       const struct lpl_choice_options *options,
			       struct lpl_sink *next, struct lpl_report *report);
struct lpl_sink *lpl_choice_sink(struct lpl_choice *choice);	/* owned by it */
uint64_t lpl_choice_passed(const struct lpl_choice *choice);	/* references, so far */
/*
 * The stream as steps (trace.h) instead of references, where lpl_choice_steps() is: where no more than tasks and times are
 * chosen, of pages as they come or canonical ones.  They are of `chunk`, of which all or nothing is within the time: where
 * lpl_choice_need() is LPL_NEED_REFS, it has to come as references.  What is passed comes back, until
 * the next call, instead of going to `next`, which gets events, but not what pages are (LPL_EVENT_PAGE).
 */
struct lpl_page_steps;
bool lpl_choice_steps(const struct lpl_choice *choice);
enum lpl_error lpl_choice_step(struct lpl_choice *choice, const struct lpl_chunk *chunk,
			       const struct lpl_page_steps *steps, struct lpl_page_steps *passed,
			       struct lpl_report *report);
/*
 * What it can need of a chunk: all, as references if the time begins or ends within it; or, where the clocks show that all was made before `from` or
 * after `to`, at most its events, which say what runs and what pages are.  Chunks come in the
 * order of the stream, and before what is in them: seconds count from the first one's beginning.
 */
enum lpl_need lpl_choice_need(struct lpl_choice *choice, const struct lpl_chunk *chunk);
/*
 * Of the first `number` references of the stream, those that were chosen, before any reduction:
 * where they are counted all were passed, and `number` does not matter.  0: not known.
 */
uint64_t lpl_choice_before(const struct lpl_choice *choice, uint64_t number);
/* With LPL_ADDRESSES_PHYSICAL: references passed so far of which the frame is not known. */
uint64_t lpl_choice_unknown(const struct lpl_choice *choice);
/* Tasks that were chosen by name or number so far, children not counted. */
uint64_t lpl_choice_tasks(const struct lpl_choice *choice);
void lpl_choice_close(struct lpl_choice *choice);		/* NULL is fine */

/* ---- which addresses a trace has ---- */

/*
 * A trace has virtual pages, of which several may be one: a page that two address spaces
 * share is two.  Can it be read on canonical pages, and what is that worth?
 */
struct lpl_addressing {
	bool canonical;		/* its pages are canonical already: there is nothing to be done */
	bool maps;		/* its events say what is mapped: else pages cannot be known */
	bool can;		/* LPL_ADDRESSES_CANONICAL works on it */
	bool exact;		/* and what it is exact for, that is exact on canonical pages, too */
	bool translations;	/* LPL_ADDRESSES_PHYSICAL works: its header has them kept */
	bool frames_exact;	/* and what it is exact for, that is exact for frames, too */
	char why[160];		/* if not: "is reduced without fences (sad:64), ..." */
};
/*
 * Of the trace at PATH, as lpl_reader_open() has it; `meta` is its header.  A file is looked
 * through for its first event of a mapping, as far as that, in chunks that have events.  Of a
 * pipe, which is left alone, and of what cannot be opened once more, only the header is known: that
 * it was recorded (LPL_META_MACHINE) stands for `maps`.
 */
void lpl_addressing_of(struct lpl_addressing *addressing, const char *path,
		       const struct lpl_meta *meta);

/* ---- in columns ---- */

/*
 * What is chosen of a reader's references, by columns, as lpl_reader_fill() has them.  Events are
 * not handed over.  The reader is not owned, and is asked for by the selection alone from here on
 * (lpl_reader_ask()): what cannot hold anything that is chosen is not read.
 *
 * Errors of open: those of lpl_choice_open(), and LPL_ERR_UNSUPPORTED for a behaviour sequence, of
 * which nothing can be chosen.
 */
struct lpl_selection;
enum lpl_error lpl_selection_open(struct lpl_selection **selection, struct lpl_reader *reader,
				  const struct lpl_choice_options *options,
				  struct lpl_report *report);
/* The next `*count` of them, as many as `most` unless the trace ends; 0: it has ended. */
enum lpl_error lpl_selection_fill(struct lpl_selection *selection,
				  const struct lpl_ref_columns *columns, size_t most,
				  size_t *count, struct lpl_report *report);
/* What chooses: for lpl_choice_tasks(), which says whether a task of that name ran. */
const struct lpl_choice *lpl_selection_choice(const struct lpl_selection *selection);
void lpl_selection_close(struct lpl_selection *selection);	/* NULL is fine */

/* ---- by process ---- */

/* Somebody who made references. */
#define LPL_RUNNER_NAME 257	/* of the longest name, its 0 included */

struct lpl_runner {
	uint32_t id;			/* tgid of a process; tid of a task */
	char name[LPL_RUNNER_NAME];	/* the last one, escaped by lpl_text_escape(); a process has
					 * its leader's */
	uint64_t references;		/* so far */
};

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
 * With ws and vmin each process has a working set of its own, in its own time: a reference of the
 * process is a unit of it.  `space_time` is the sum of all, and `mean_resident` that divided by all
 * processes' times: how large the working set of the process that runs is, on average.
 *
 * The interface is that of the simulator, with differences: sizes have to be given, and not be
 * `all`; `jobs` is of no use; `exact` is true only where the trace was not reduced.
 */
struct lpl_local;
/* `page_size` as in struct lpl_simulator_options. */
enum lpl_error lpl_local_open(struct lpl_local **local, const char *reduction,
			      uint64_t page_size, struct lpl_report *report);
/*
 * Before policies are added: memories of different sizes.  SPEC is `NAME=SIZE`, joined by commas, for
 * processes by their last name (that of struct lpl_runner) or, if NAME is a number, by their tgid, and
 * `*=SIZE` for all others; a number counts for more than a name.  The kernel is `kernel`, and 0.  SIZE is a
 * number of pages, or bytes (`2M`).  A memory is of that size from its process's first reference to its last.
 *
 * Policies are then added without sizes (NULL), and ws and vmin not at all; each has one result, the sum of all
 * processes, of which `size` is 0.  Each process is simulated at all sizes that there are in SPEC.
 * LPL_ERR_USAGE: SPEC is malformed, has a name twice, or lacks `*`; LPL_ERR_MEMORY.
 */
enum lpl_error lpl_local_frames(struct lpl_local *local, const char *spec, struct lpl_report *report);
/* Before the first record: keep each process's results, too.  Memory: some 300 bytes for each, and 64 a result. */
void lpl_local_keep(struct lpl_local *local);
/* Errors as lpl_simulator_add(); LPL_ERR_USAGE for what is said above. */
enum lpl_error lpl_local_add(struct lpl_local *local, const char *policy,
			     const struct lpl_sizes *sizes, struct lpl_report *report);
struct lpl_sink *lpl_local_sink(struct lpl_local *local);
size_t lpl_local_count(const struct lpl_local *local);
const char *lpl_local_policy(const struct lpl_local *local, size_t index);
/* After finish(). */
const struct lpl_result *lpl_local_results(const struct lpl_local *local, size_t index,
					   size_t *count);
/* After finish(): the cold faults of each result, first references to a page by a process. */
uint64_t lpl_local_cold(const struct lpl_local *local);
/* Those that made a reference, the kernel included. */
uint64_t lpl_local_processes(const struct lpl_local *local);
/*
 * After finish(), if they were kept: of each of these, in the order of their first references, who it is, its
 * results (with frames one, `size` being that of its memory), and how many faults of each are cold.
 */
const struct lpl_runner *lpl_local_process(const struct lpl_local *local, size_t i);
const struct lpl_result *lpl_local_process_results(const struct lpl_local *local, size_t i, size_t index,
						   size_t *count);
uint64_t lpl_local_process_cold(const struct lpl_local *local, size_t i);
/* After finish(): the NAMEs of the frames that no process had, from 0 on; NULL: no more.  Owned by it. */
const char *lpl_local_frames_unused(const struct lpl_local *local, size_t i);
/*
 * References made in user mode that nothing gives to a process: before the first event, and
 * after a gap (LPL_EVENT_GAP) in which events are missing, until an event says what runs.
 * They are in the kernel's.
 */
uint64_t lpl_local_unknown(const struct lpl_local *local);
void lpl_local_close(struct lpl_local *local);			/* NULL is fine */

/* ---- faults by the task that runs ---- */

/*
 * One memory for all, as ever; each fault is charged to the process or task that runs when it
 * happens.  A sink in front of a simulator, to which all policies have been added:
 *
 *	lpl_runners_open(&runners, simulator, LPL_RUNNER_PROCESS, &report);
 *	lpl_reader_run(reader, lpl_runners_sink(runners), &report);
 *	for (size_t i = 0; i < lpl_runners_count(runners); i++)
 *		printf("%s %" PRIu64 "\n", lpl_runners_at(runners, i)->name,
 *		       lpl_simulator_charged(simulator, policy, result, (uint32_t)i));
 *
 * Which one runs is known by the events of tasks, as in laplace/merge.h.  What the kernel does in a
 * program's system call or fault, and in an interrupt meanwhile, is that program's.  The kernel's
 * own tasks are counted one by one, and the idle task is one of them.
 *
 * Memory: some 300 bytes for each that made a reference, and what lpl_simulator_charge() says.
 */
enum lpl_runner_unit {
	LPL_RUNNER_PROCESS,	/* a program's tasks, which are its threads, are one */
	LPL_RUNNER_TASK		/* each by itself */
};
struct lpl_runners;
/* The simulator is not owned.  Errors as lpl_simulator_charge(). */
enum lpl_error lpl_runners_open(struct lpl_runners **runners, struct lpl_simulator *simulator,
				enum lpl_runner_unit unit, struct lpl_report *report);
struct lpl_sink *lpl_runners_sink(struct lpl_runners *runners);	/* owned by it */
/*
 * Those that made a reference, in the order of their first ones; but number 0 is always that of no
 * known task: before the first event, and after a gap (LPL_EVENT_GAP) in which events are missing,
 * until an event says what runs.
 */
size_t lpl_runners_count(const struct lpl_runners *runners);
/* `i` is below their count, and the owner that lpl_simulator_charged() asks for. */
const struct lpl_runner *lpl_runners_at(const struct lpl_runners *runners, size_t i);
void lpl_runners_close(struct lpl_runners *runners);		/* NULL is fine */

/* ---- the program counter of what a reduction keeps ---- */

/*
 * A sink for what a reduction of the trace TRACE keeps.  It sends `next` (not owned) the same, and before
 * each reference that was made an event LPL_EVENT_PROGRAM_COUNTER: the address of the instruction that
 * made it, which is the last one that was fetched up to there.  Where that is not known, as before the first
 * fetch, there is none.  TRACE is read once more for that, so it is a file.  It has every
 * reference, or such events itself (LPL_META_PROGRAM_COUNTERS is "kept"): else
 * LPL_ERR_UNSUPPORTED.  Also what lpl_reader_open() returns; LPL_ERR_MEMORY.
 */
struct lpl_program_counters;
enum lpl_error lpl_program_counters_open(struct lpl_program_counters **counters, const char *trace,
					 struct lpl_sink *next, struct lpl_report *report);
struct lpl_sink *lpl_program_counters_sink(struct lpl_program_counters *counters);
void lpl_program_counters_close(struct lpl_program_counters *counters);	/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
