/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey: what there is to know of a whole-system trace, gathered in one pass behind
 * the merge, for `laplace report` and the plots of traces.
 *
 *	trace ─► lpl_merge ─► survey.c ─┬─ survey_tasks.c	who ran, who waited, system calls
 *	                                ├─ survey_rest.c	those that are told of in sum
 *	                                ├─ survey_pages.c	pages, who shares them, which are hot
 *	                                └─ survey_files.c	names of files
 *	struct survey ─► report_text, report_html, report_json, chart_*.c
 *
 * Memory is O(pages that live + what living processes use of them): time has a
 * fixed number of bins (axis.h), a process' set of pages goes when it ends, a page's record
 * when the page is over, and so many tasks and processes have a record of their own
 * (SURVEY_KEPT).  A task beyond costs 16 bytes, a process 8.
 *
 * Times are of one clock, from the first record's on.
 */
#ifndef LAPLACE_SURVEY_SURVEY_H
#define LAPLACE_SURVEY_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/merge.h>

#include "series.h"
#include "cli/common.h"
#include "page_set.h"
#include "tally.h"

/* What all tasks do all the time: one of these. */
enum survey_doing { SURVEY_RUNS, SURVEY_READY, SURVEY_BLOCKED, SURVEY_DOINGS };

/* Why a task left the processor (KTR_STATE_*). */
enum survey_why {
	SURVEY_PREEMPTED,	/* it could have run on */
	SURVEY_SLEEPING,
	SURVEY_WAITING,		/* for a disk, say */
	SURVEY_STOPPED,		/* or traced, or parked */
	SURVEY_IDLES,		/* a kernel thread with nothing to do */
	SURVEY_EXITED,
	SURVEY_WHYS
};
extern const char *const survey_why_name[SURVEY_WHYS];

#define SURVEY_NEVER UINT64_MAX

/*
 * How many tasks, and how many processes, are told of one by one (or eight times as many
 * as a table has lines, if that is more): see survey_rest.c.  A record is some 600 bytes,
 * and up to 8 KB for what it did over time.
 */
#define SURVEY_KEPT 16384

struct survey_task {
	uint64_t serial, process, parent;
	uint32_t tid, tgid;
	char name[4 * LPL_TASK_NAME + 1];	/* escaped */
	enum lpl_task_state state;
	uint64_t exit_code;
	bool begun;			/* it began in the trace, at: */
	uint64_t begin, end;
	uint64_t references, user_references;
	uint64_t scheduled;		/* how often it got the processor */
	uint64_t left[SURVEY_WHYS];	/* and lost it */
	uint64_t time[SURVEY_DOINGS];
	uint64_t calls, errors;		/* system calls told */
	struct series doing[SURVEY_DOINGS];	/* time by bin */
	struct series referenced;	/* references by bin */
	enum survey_doing now;		/* what it does ... */
	uint64_t since;			/* ... since when; SURVEY_NEVER: not known */
};

/* Pages that one process referenced, by what became of them. */
struct survey_footprint {
	uint64_t pages[LPL_PAGE_KINDS];
	/* without the kernel's own: */
	uint64_t alone;			/* no other program referenced them */
	double proportional;		/* each divided by the programs that did */
};

struct survey_process {
	uint64_t number;		/* 0: the kernel */
	uint32_t tgid;
	char name[4 * LPL_TASK_NAME + 1];
	uint64_t tasks, live;		/* ever; now */
	uint64_t begin, end;
	uint64_t references;
	struct survey_footprint footprint;
	/* pages it referenced that are alive, without the kernel's own: now; the most */
	uint64_t alive, peak;
	uint64_t bin_peak;		/* in this bin */
	bool over;
	struct survey_process *next, **link;	/* of those that are not over */
	struct series resident;		/* the most in each bin */
	struct page_set set;
};

/* Where a task is told of. */
struct survey_slot {
	struct survey_task *task;	/* NULL: there was none; &survey->other_task: in sum */
	uint64_t process;
};

/* The number of the process that stands for all that have no record of their own. */
#define SURVEY_OTHERS (UINT32_MAX - 1)

/* What is known of a file (a segment, a device's memory), by its pages. */
struct survey_file {
	uint64_t device, inode, generation;
	enum lpl_page_kind kind;
	char *name;			/* escaped; NULL: none is known */
	uint64_t pages, references;
	uint64_t most_users;		/* programs that referenced one page of it */
	size_t hash;
};

/* Where a page is, for people. */
struct survey_place {
	uint64_t page;			/* canonical */
	enum lpl_page_kind kind;
	uint64_t offset;		/* in a file: page; else the virtual (physical) page */
	uint64_t space;
	uint32_t file;			/* index + 1; 0: none */
	uint64_t task;			/* serial of who referenced it first */
};

struct survey_hot {
	struct survey_place place;
	uint64_t references;
	uint64_t users;			/* programs */
};

/* The hottest pages of the kernel, and of all others, which it would crowd out. */
enum survey_side { SIDE_OTHERS, SIDE_KERNEL, SURVEY_SIDES };
struct survey_hottest {
	struct survey_hot *hot;		/* a heap while gathering, sorted in the end */
	uint64_t count;
};

/* How many pages have how many references, in narrow steps: see survey_pages.c. */
#define SURVEY_STEPS 4096
struct survey_step {
	uint64_t pages, references;
};

struct survey_call {
	uint64_t abi, number;
	uint64_t count, returned, errors;
	char name[4 * 32 + 1];		/* escaped */
};
#define SURVEY_CALLS 1024		/* different ones; what is beyond is counted as one */

struct survey_mark {
	uint64_t time;
	char text[4 * 48 + 1];		/* escaped */
};
#define SURVEY_MARKS 128

/* By how many programs pages are shared: 0 (the kernel alone), 1, 2, 3-4, 5-8, more. */
#define SURVEY_SHARERS 6
extern const char *const survey_sharers_name[SURVEY_SHARERS];

/* How pages of files were reached. */
enum survey_reach { REACH_MAPPED, REACH_CACHE, REACH_BOTH, REACHES };

#define HEAT_ROWS_BITS 7
#define HEAT_ROWS (1U << HEAT_ROWS_BITS)

enum survey_clock { CLOCK_CYCLES, CLOCK_INSTRUCTIONS, CLOCK_REFERENCES, CLOCKS };
extern const char *const survey_clock_name[CLOCKS];

struct survey {
	struct lpl_merge_output output;	/* first: the merge knows us by this */
	enum survey_clock clock;
	uint64_t top;			/* how many of the hottest pages are kept */

	/* the records that came by */
	bool begun;
	struct lpl_ref first, last;	/* their clocks */
	uint64_t references[LPL_PAGE_KINDS][LPL_TYPES];
	uint64_t user_references;
	struct tally tally;		/* of events */
	struct lpl_merge_stats stats;	/* the merge's, at the end */

	/* time */
	struct time_axis axis;
	uint64_t origin;		/* the clock of the first record */
	uint64_t now, bin_end;
	unsigned int bin;
	struct survey_mark mark[SURVEY_MARKS];
	uint64_t marks;			/* all that came */

	/* tasks and processes, by their numbers */
	struct survey_slot *slot;
	struct survey_process **process;
	struct survey_process *living;	/* in no order */
	uint64_t slots, processes, slot_room, process_room;
	/* those that have records of their own, in no order; how many may, and could go */
	struct survey_task **kept_task;
	struct survey_process **kept_process;
	uint64_t kept_tasks, kept_processes, kept_task_room, kept_process_room;
	uint64_t limit, ended, over_processes;
	/* and the sum of the others, which are so many */
	struct survey_task other_task;
	struct survey_process other_process;
	uint64_t other_tasks, other_processes;
	const struct lpl_merge_task *current;	/* NULL: not known since an event */
	struct survey_task *runs;
	uint64_t runs_serial;
	struct survey_process *runs_process;
	uint64_t switched;		/* when it was scheduled */
	uint64_t run_references, run_user;	/* of its references, those not yet counted */
	uint64_t switches;
	bool in_snapshot;		/* what is told of now existed before */

	/* system calls */
	struct survey_call *call;
	size_t calls;
	struct survey_call other_calls;

	/* pages */
	struct survey_leaf **leaf;	/* by page number >> SURVEY_LEAF_BITS */
	uint64_t leaves;
	uint64_t alive[LPL_PAGE_KINDS];
	uint64_t alive_all, peak, peak_time;
	uint64_t pages[LPL_PAGE_KINDS];	/* ever */
	uint64_t over;			/* that ended for ever */
	struct series resident[LPL_PAGE_KINDS];	/* alive at the end of each bin */
	struct series kind_references[LPL_PAGE_KINDS];
	uint64_t kind_counted[LPL_PAGE_KINDS];
	/*
	 * The working set: distinct pages referenced in each bin.  A page in both of two
	 * bins that become one is to be counted once, so first references in a bin are
	 * kept by how often bins have to be folded until the one before is in the same.
	 */
	uint64_t first_in_bin[AXIS_BINS][AXIS_BITS + 1];
	uint64_t shared[LPL_PAGE_KINDS][SURVEY_SHARERS];
	uint64_t most_users;
	uint64_t reached[REACHES];
	struct survey_step step[SURVEY_STEPS];
	struct survey_hottest hottest[SURVEY_SIDES];

	/* references by page, in the order of first touch, and time */
	unsigned int heat_shift;	/* pages in a row: 1 << heat_shift */
	uint64_t (*heat)[AXIS_BINS];
	uint64_t (*row_kind)[LPL_PAGE_KINDS];	/* pages of each kind in a row */

	struct survey_file *file;
	size_t files;
	uint32_t *file_index;		/* a hash table; index + 1 */
	size_t file_slots;

	/* from events */
	uint64_t cache_added, cache_removed;	/* pages */
	uint64_t swapped_out, swapped_in;	/* likewise */
};

/* ---- survey.c ---- */

enum lpl_error survey_init(struct survey *survey, enum survey_clock clock, uint64_t top,
			   struct lpl_report *report);
void survey_free(struct survey *survey);
/* --clock, or a usage error that ends the program. */
enum survey_clock survey_parse_clock(const char *text, struct argp_state *state);

/* What a subcommand was told of the trace. */
struct survey_options {
	const char *trace;
	uint64_t kernel_base;
	enum cli_when progress;
};

/* The trace as a file, beside what its records tell. */
struct survey_trace {
	struct lpl_reader *reader;	/* open until survey_trace_close() */
	const char *path;
	const struct lpl_meta *meta;
	struct lpl_totals totals;
	uint64_t before;		/* references before reduction; 0: not told */
	uint64_t bytes;
	bool taken;			/* there is a survey, of what could be read */
	bool damaged;			/* and not all could be */
};

/* Read the trace.  Returns an exit status, of which all is told. */
int survey_take(struct survey *survey, struct survey_trace *trace,
		const struct survey_options *options);
void survey_trace_close(struct survey_trace *trace);

/* Where time is; bins that it reaches are made.  0, or an error that is in the report. */
int survey_advance(struct survey *survey, uint64_t time, struct lpl_report *report);
/* How many bins there are. */
unsigned int survey_bins(const struct survey *survey);
/* Distinct pages referenced in a bin. */
uint64_t survey_working_set(const struct survey *survey, unsigned int bin);
uint64_t survey_all_references(const struct survey *survey);

/* ---- survey_tasks.c ---- */

/* The task is this one from `switched` on. */
int survey_switch(struct survey *survey, const struct lpl_merge_task *task,
		  struct lpl_report *report);
int survey_task_told(struct survey *survey, const struct lpl_merge_task *task,
		     struct lpl_report *report);
int survey_task_event(struct survey *survey, const struct lpl_event *event,
		      struct lpl_report *report);
/* Put what the one that runs did so far into its series.  false: no memory. */
bool survey_settle(struct survey *survey);
void survey_tasks_fold(struct survey *survey);
/* A bin is over.  false: no memory. */
bool survey_tasks_close_bin(struct survey *survey);
void survey_tasks_free(struct survey *survey);
/* What it points to. */
void survey_task_free(struct survey_task *task);
void survey_process_free(struct survey_process *process);
/* The process by number, or that of the others; NULL: no such. */
struct survey_process *survey_process(struct survey *survey, uint64_t number);
/* The task by number; NULL: no such, or one that is told of in sum. */
const struct survey_task *survey_task(const struct survey *survey, uint64_t serial);

/* ---- survey_rest.c ---- */

void survey_rest_init(struct survey *survey);
/*
 * May another task (process) have a record of its own?  Those that ended, and did least,
 * give up theirs if need be.  *enough is false where there is no memory for that.
 */
bool survey_task_fits(struct survey *survey, bool *enough);
bool survey_process_fits(struct survey *survey);
/* The one that stands for all others gets one more. */
struct survey_task *survey_task_shared(struct survey *survey);
struct survey_process *survey_process_shared(struct survey *survey);

/* ---- survey_pages.c ---- */

int survey_page_told(struct survey *survey, const struct lpl_merge_page *page,
		     struct lpl_report *report);
int survey_page_left(struct survey *survey, uint64_t page, bool for_ever,
		     struct lpl_report *report);
/* A reference at survey->now by survey->runs. */
int survey_page_used(struct survey *survey, uint64_t number, enum lpl_page_kind kind,
		     struct lpl_report *report);
/* Those that it referenced and that are no kernel's and no page table's. */
uint64_t survey_own_pages(const struct survey_process *process);
/* Its pages are counted, and its set goes. */
void survey_process_over(struct survey *survey, struct survey_process *process);
bool survey_pages_close_bin(struct survey *survey);
void survey_pages_fold(struct survey *survey);
void survey_pages_finish(struct survey *survey);
void survey_pages_free(struct survey *survey);
/* For page_set. */
bool survey_page_lives(const void *survey, uint64_t page);
/* How many of the hottest pages have `share` of all references. */
uint64_t survey_concentration(const struct survey *survey, double share);

/* ---- survey_files.c ---- */

/* The index of a page's file, plus 1; 0: no memory. */
uint32_t survey_file_of(struct survey *survey, const struct lpl_merge_page *page);
void survey_files_free(struct survey *survey);
/* "/lib/libc.so.6", "segment 3" ... in buf, which is returned. */
#define SURVEY_PLACE_TEXT 1400
char *survey_file_text(const struct survey_file *file, char *buf);
/* "/lib/libc.so.6, page 12", "7ffe1000 of sh (61)" ... likewise. */
char *survey_place_text(const struct survey *survey, const struct survey_place *place, char *buf);

#endif
