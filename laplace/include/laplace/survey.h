/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey: what happened in a recording of a whole system, in numbers.  Which tasks ran and which
 * waited, which pages there were, which programs shared them, which were hot; all of it in one
 * pass.  `laplace report` and `laplace plot` show it; docs/report.md defines each number.
 *
 *	struct lpl_survey *survey;
 *
 *	lpl_survey_open(&survey, NULL, &report);
 *	lpl_reader_run(reader, lpl_survey_sink(survey), &report);
 *	printf("%" PRIu64 " pages alive at most\n", survey->pages->most_alive);
 *	lpl_survey_close(survey);
 *
 * Memory grows with the pages that live and with what living processes, and threads where a
 * process has several, use of them, not with the length of the trace: time has a fixed number of
 * bins, the set of pages of a process or a thread goes when it ends, a page's record when the page
 * does.  So many tasks and processes have a record of their own (LPL_SURVEY_RECORDS); a task
 * beyond costs 16 bytes, a process 8.
 *
 * A *program* is a process other than the kernel, a *thread* a task of one.  *Kernel's pages* are
 * those of the kind LPL_PAGE_KERNEL and LPL_PAGE_PHYSICAL.  Times are of the survey's clock, from
 * the first record on.  Names are a guest's, escaped by lpl_text_escape().
 */
#ifndef LAPLACE_SURVEY_H
#define LAPLACE_SURVEY_H

#include <laplace/counts.h>
#include <laplace/error.h>
#include <laplace/merge.h>
#include <laplace/record.h>
#include <laplace/simulator.h>
#include <laplace/walk.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- time ---- */

enum lpl_survey_clock {
	LPL_SURVEY_CYCLES,
	LPL_SURVEY_INSTRUCTIONS,
	LPL_SURVEY_REFERENCES,
	LPL_SURVEY_CLOCKS
};
/* "cycles", "instructions", "references" */
const char *lpl_survey_clock_name(enum lpl_survey_clock clock);

#define LPL_SURVEY_BINS 256

struct lpl_survey_clocks {
	uint64_t ref, instr, cycle;
};

struct lpl_survey_time {
	enum lpl_survey_clock clock;	/* what time is counted in */
	bool begun;			/* there was a record at all */
	struct lpl_survey_clocks first, last;	/* of the first and the last record */
	uint64_t length;		/* from the first record to the last */
	unsigned int bin_shift;		/* a bin is 1 << bin_shift long */
	unsigned int bins;		/* that the trace reaches, up to LPL_SURVEY_BINS */
};

/* When a bin begins. */
static inline uint64_t lpl_survey_bin_start(const struct lpl_survey_time *time, unsigned int bin)
{
	return (uint64_t)bin << time->bin_shift;
}

/* Numbers by bin.  Only those from `first` on are kept, `count` of them; the others are 0. */
struct lpl_time_series {
	uint64_t *value;
	size_t room;			/* in `value` */
	uint32_t first, count;
};

/* The number of any bin. */
uint64_t lpl_time_series_get(const struct lpl_time_series *series, unsigned int bin);

/* ---- references and events ---- */

struct lpl_survey_references {
	uint64_t count[LPL_PAGE_KINDS][LPL_TYPES];
	uint64_t by_kind[LPL_PAGE_KINDS], by_type[LPL_TYPES], all;	/* sums of these */
	uint64_t user;			/* made in user mode */
};

/* KTR_MARK and LPL_EVENT_MARK. */
struct lpl_survey_mark {
	uint64_t time;
	char text[4 * 48 + 1];		/* the first 48 bytes, escaped */
};
#define LPL_SURVEY_MARKS 128

struct lpl_survey_events {
	struct lpl_event_counts counts;
	uint64_t cache_added, cache_removed;	/* pages; as the kernel reported */
	/* pages that a space lost to swap and got back: each space counts, and no device is asked */
	uint64_t swapped_out, swapped_in;
	uint64_t marks;			/* all of them */
	unsigned int marks_kept;	/* the first of them: */
	struct lpl_survey_mark mark[LPL_SURVEY_MARKS];
};

/* System calls of one number, those that the guest was asked to report. */
struct lpl_survey_call {
	uint64_t abi, number;		/* KTR_ABI_*; the number in it */
	uint64_t count, returned;	/* calls begun, calls ended */
	uint64_t errors;		/* of those that ended */
	char name[4 * 32 + 1];		/* "" where none was reported */
};
#define LPL_SURVEY_CALLS 1024

struct lpl_survey_calls {
	size_t count;			/* of different ones, in the order of their first uses */
	struct lpl_survey_call call[LPL_SURVEY_CALLS];
	struct lpl_survey_call others;	/* the sum of those first made when there was no room */
};

/* ---- tasks ---- */

/*
 * What a task does.  Kernels do not report wakings, so the time for which a woken task waits
 * for the processor counts as blocked.
 */
enum lpl_survey_activity {
	LPL_SURVEY_RUNNING,
	LPL_SURVEY_READY,		/* it could run on when it lost the processor */
	LPL_SURVEY_BLOCKED,
	LPL_SURVEY_ACTIVITIES
};

/* Why a task left the processor (KTR_STATE_*). */
enum lpl_survey_reason {
	LPL_SURVEY_PREEMPTED,		/* it could have run on */
	LPL_SURVEY_SLEEPING,
	LPL_SURVEY_WAITING,		/* for a disk, say */
	LPL_SURVEY_STOPPED,		/* or traced, or parked */
	LPL_SURVEY_IDLE,		/* a kernel thread with nothing to do */
	LPL_SURVEY_EXITED,
	LPL_SURVEY_REASONS
};
/* "preempted", "sleeping" ... */
const char *lpl_survey_reason_name(enum lpl_survey_reason reason);

/* How many tasks, and how many processes, have records of their own if nothing is asked for. */
#define LPL_SURVEY_RECORDS 16384

#define LPL_SURVEY_NAME (4 * LPL_TASK_NAME + 1)

struct lpl_survey_task {
	uint64_t serial, process, parent;	/* as in struct lpl_merge_task */
	uint32_t tid, tgid;
	char name[LPL_SURVEY_NAME];
	enum lpl_task_state state;
	uint64_t exit_code;		/* as KTR_EXIT gave it */
	bool begun;			/* it began in the trace (else it existed before), at: */
	uint64_t begin, end;		/* end: unless its state is LPL_TASK_LEFT */
	uint64_t references, user_references;
	uint64_t scheduled;		/* how often it got the processor */
	uint64_t left[LPL_SURVEY_REASONS];	/* how often it left it */
	uint64_t time[LPL_SURVEY_ACTIVITIES];
	uint64_t calls, call_errors;	/* system calls that were reported */
	struct lpl_time_series activity[LPL_SURVEY_ACTIVITIES];	/* `time` by bin */
	struct lpl_time_series references_by_bin;
};

struct lpl_survey_tasks {
	size_t recorded;		/* that have a record: see lpl_survey_task_at() */
	uint64_t others;		/* that have none */
	/*
	 * The sum of those: references, time[LPL_SURVEY_RUNNING], these two by bin, scheduled,
	 * left, and calls.  The rest of it means nothing.
	 */
	const struct lpl_survey_task *sum;
	uint64_t running;		/* time for which anybody ran */
	uint64_t switches;		/* from one task to another */
};

/* ---- processes ---- */

/*
 * References, and those to page tables that the processor made for them: how many of them were in the
 * kernel's mode [0], and in user mode [1].  A walk is made for the next reference that is none.
 */
struct lpl_survey_walked {
	uint64_t references[2];		/* without those of walks */
	uint64_t walks[2];
};

/* Distinct pages that a process referenced in its whole life. */
struct lpl_survey_footprint {
	uint64_t pages[LPL_PAGE_KINDS];
	/* without the kernel's pages: */
	uint64_t all;
	uint64_t unshared;		/* that no other program referenced */
	double proportional;		/* each divided by the programs that did */
};

struct lpl_survey_process {
	uint64_t number;		/* as in struct lpl_merge_task; 0: the kernel */
	uint32_t tgid;
	char name[LPL_SURVEY_NAME];	/* of its first task */
	uint64_t tasks;			/* that it ever had */
	uint64_t references;
	struct lpl_survey_walked walked;
	struct lpl_survey_footprint footprint;	/* whole after finish() */
	/* pages that it referenced and that are alive, without the kernel's: */
	uint64_t alive, most_alive;	/* now; the most at once */
	struct lpl_time_series alive_by_bin;	/* the most in each bin */
};

struct lpl_survey_processes {
	size_t recorded;		/* see lpl_survey_process_at() */
	uint64_t others;		/* that have no record */
	/* the sum of those: tasks, references, walked and footprint */
	const struct lpl_survey_process *sum;
};

/* ---- pages ---- */

/* Classes of pages by how many programs, or threads, referenced them: none, 1, 2, 3-4, 5-8, more. */
#define LPL_SURVEY_SHARINGS 6
/* "kernel alone", "1", "2", "3-4" ... */
const char *lpl_survey_sharing_name(unsigned int sharing);

/* How pages of files and of shared memory were reached. */
enum lpl_survey_reach {
	LPL_SURVEY_BY_MAPPING,		/* of a program alone */
	LPL_SURVEY_BY_KERNEL,		/* by the kernel's own mapping alone */
	LPL_SURVEY_BY_BOTH,
	LPL_SURVEY_REACHES
};

/* A page is alive from its first reference to when it leaves memory (docs/report.md). */
struct lpl_survey_pages {
	uint64_t ever[LPL_PAGE_KINDS];	/* that were referenced; LPL_PAGE_CACHE: none, they are
					 * under LPL_PAGE_FILE */
	uint64_t alive[LPL_PAGE_KINDS];	/* at the end */
	uint64_t all_alive;
	uint64_t most_alive, most_alive_time;	/* of all kinds at once, and when first */
	struct lpl_time_series alive_by_bin[LPL_PAGE_KINDS];	/* at the end of each bin */
	struct lpl_time_series working_set;	/* distinct pages referenced in each bin */
	uint64_t by_sharing[LPL_PAGE_KINDS][LPL_SURVEY_SHARINGS];	/* pages */
	uint64_t most_programs;		/* on one page that is not the kernel's */
	uint64_t by_threads[LPL_PAGE_KINDS][LPL_SURVEY_SHARINGS];	/* pages */
	uint64_t within_program[LPL_PAGE_KINDS];	/* of one program, but of several threads */
	uint64_t most_threads;		/* on one page that is not the kernel's */
	uint64_t by_reach[LPL_SURVEY_REACHES];	/* pages */
};

/* A file, a segment of shared memory, or a device's memory, that pages are of. */
struct lpl_survey_file {
	uint64_t device, inode, generation;	/* as in struct lpl_merge_page */
	enum lpl_page_kind kind;
	char *name;			/* NULL: none is known */
	uint64_t pages;			/* of it that were referenced */
	uint64_t references;
	uint64_t walks[2];		/* to page tables, as in struct lpl_survey_walked */
	uint64_t most_programs;		/* that referenced one page of it */
};

struct lpl_survey_files {
	struct lpl_survey_file *file;	/* in the order in which their first pages appeared */
	size_t count;
};

struct lpl_survey_hot_page {
	uint64_t page;			/* canonical number */
	enum lpl_page_kind kind;
	uint32_t file;			/* its index + 1; 0: it is of none */
	uint64_t offset;		/* page of the file; else the virtual page where it was
					 * referenced first, of page tables the physical page */
	uint64_t task;			/* serial of the one that referenced it first */
	uint64_t references;
	uint64_t programs;		/* that referenced it */
};

/* The hottest pages, the one with the most references first. */
struct lpl_survey_hottest {
	struct lpl_survey_hot_page *page;
	size_t count;
};

/* The kernel's pages are listed apart: they would crowd out all others. */
enum lpl_survey_side {
	LPL_SURVEY_OF_PROGRAMS,		/* and of no known process */
	LPL_SURVEY_OF_KERNEL,
	LPL_SURVEY_SIDES
};

#define LPL_SURVEY_ROWS 128

/* References by canonical page (numbered in the order of first references), or by frame, and by time. */
struct lpl_survey_heatmap {
	unsigned int row_shift;		/* a row is of 1 << row_shift pages */
	uint64_t references[LPL_SURVEY_ROWS][LPL_SURVEY_BINS];
	uint64_t pages[LPL_SURVEY_ROWS][LPL_PAGE_KINDS];	/* there are, in a row */
};

/* ---- page walks ---- */

/* References to the entries of tables of one number (walk.h). */
struct lpl_survey_table {
	uint64_t reads[LPL_PURPOSES];	/* by what the tables were walked for */
	uint64_t large;			/* of all those: entries that map large pages */
	uint64_t accessed, dirty;	/* bits that were set */
};

/* Of a trace of every reference, with those to page tables. */
struct lpl_survey_walks {
	struct lpl_survey_walked by_kind[LPL_PAGE_KINDS];	/* of the page that was referenced */
	struct lpl_survey_table table[LPL_TABLE_MAX + 1];	/* by number; 0: it is not known */
	uint64_t unknown;		/* not known for which reference: none followed, or some are missing */
};

/* ---- physical memory ---- */

/* Sizes of the pages by which memory is mapped: 4 KB, 2 MB, 4 MB, 1 GB; and no paging. */
#define LPL_SURVEY_PAGE_SIZES 5
/* "4 KB", "2 MB" ... */
const char *lpl_survey_page_size_name(unsigned int size);

struct lpl_survey_mapped {
	uint64_t references;
	uint64_t pages;		/* of that size that were referenced, of all spaces; global ones once */
	uint64_t bytes;		/* of those pages */
	uint64_t frames;	/* of 4096 bytes, in which they were: of a large page often fewer than it has */
};

/*
 * What forks do to frames: of the pages that a space had used when it was copied, how many its child used in a
 * frame of the space's (of the last four that it had there), and how many in another one.
 */
struct lpl_survey_forks {
	uint64_t count;			/* spaces that were copied */
	uint64_t pages;			/* that these had used, of all sizes; global ones are not counted */
	uint64_t kept;			/* the child used it, in its parent's frame as long as it lived */
	uint64_t copied;		/* the child used it, in another frame, from its first use or later */
	uint64_t left_by_parents;	/* it was elsewhere when the parent used it next: once for each fork */
};

/* Classes of runs by their length: 1, 2-3, 4-7 ... 512 and more. */
#define LPL_SURVEY_RUNS 10
/* "1", "2-3" ... */
const char *lpl_survey_run_name(unsigned int run);

/* How pages of 4 KB, of spaces and not global, lay in memory at the end of their spaces, as far as they were used. */
struct lpl_survey_contiguity {
	uint64_t pages[LPL_SURVEY_RUNS];	/* in runs of pages one after the other, in frames one after the other */
	uint64_t regions;		/* of 2 MB that have such pages */
	uint64_t regions_in_place;	/* of which each page is where it would be in one page of 2 MB ... */
	uint64_t pages_in_place;	/* ... and their pages */
};

/* Of a trace with translations (translation.h). */
struct lpl_survey_frames {
	uint64_t all;				/* frames that were referenced, by data and fetches */
	struct lpl_survey_mapped mapped[LPL_SURVEY_PAGE_SIZES];
	uint64_t unknown;			/* references of which the frame is not known */
	/* frames by how many spaces referenced them, other than by global pages ("kernel alone": none) */
	uint64_t by_spaces[LPL_SURVEY_SHARINGS];
	/* how often a page was in another frame than when it was used last: it was copied, or its space's
	 * number used again, if the end of the one before is not known */
	uint64_t moved;
	uint64_t runs, longest_run;		/* of frames one after the other */
	uint64_t by_run[LPL_SURVEY_RUNS];	/* frames by the length of the run that they are in */
	struct lpl_survey_forks forks;
	struct lpl_survey_contiguity contiguity;
	/* references by frame; without those from 3 to 4 GB, which are devices' in a PC */
	struct lpl_survey_heatmap heatmap;
};

/* ---- a survey ---- */

struct lpl_survey_options {
	enum lpl_survey_clock clock;
	uint64_t kernel_base;	/* as in struct lpl_merge_options */
	bool frames;		/* count frames, of a trace with translations: lpl_has_translations() */
	size_t hottest;		/* how many of the hottest pages are kept, of each side */
	size_t records;		/* how many tasks, and how many processes, have records of their
				 * own (a few more may); 0: LPL_SURVEY_RECORDS, or eight times
				 * `hottest` if that is more.  A record has some 600 bytes, and up
				 * to 8 KB for what was when */
};

/*
 * The results.  All of it is the survey's: it grows as the stream comes, is whole when the
 * sink's finish() was called, and goes with lpl_survey_close().
 */
struct lpl_survey {
	const struct lpl_survey_time *time;
	const struct lpl_survey_references *references;
	const struct lpl_survey_events *events;
	const struct lpl_survey_calls *calls;
	const struct lpl_survey_tasks *tasks;
	const struct lpl_survey_processes *processes;
	const struct lpl_survey_pages *pages;
	const struct lpl_survey_files *files;
	const struct lpl_survey_hottest *hottest;	/* [LPL_SURVEY_SIDES] */
	const struct lpl_survey_heatmap *heatmap;
	const struct lpl_survey_walks *walks;
	const struct lpl_survey_frames *frames;		/* NULL: they were not asked for */
	const struct lpl_merge_stats *merge;	/* what the merge has to say */
};

/*
 * `options` may be NULL: as if all were 0.  LPL_ERR_MEMORY; *survey is NULL then.
 */
enum lpl_error lpl_survey_open(struct lpl_survey **survey,
			       const struct lpl_survey_options *options,
			       struct lpl_report *report);

/*
 * Where to send the stream: of a recording, raw or reduced, with the events of its guest's
 * kernel, as lpl_merge_sink() takes it.  Owned by the survey.  Its errors: LPL_ERR_MEMORY, and
 * those of the merge.
 */
struct lpl_sink *lpl_survey_sink(struct lpl_survey *survey);

/*
 * When the recording began, if that is known and not to be the first record that comes: where some
 * of a trace's references are left out (select.h), the first one may be among them.  To be called
 * before anything is sent.
 */
void lpl_survey_begin(struct lpl_survey *survey, struct lpl_survey_clocks first);

void lpl_survey_close(struct lpl_survey *survey);	/* NULL is fine */

/* The tasks that have records, `i` below survey->tasks->recorded, in no order. */
const struct lpl_survey_task *lpl_survey_task_at(const struct lpl_survey *survey, size_t i);
/* A task by its serial number; NULL: it is in the sum of the others, or there is no such. */
const struct lpl_survey_task *lpl_survey_task(const struct lpl_survey *survey, uint64_t serial);
/* The processes that have records, `i` below survey->processes->recorded, in no order. */
const struct lpl_survey_process *lpl_survey_process_at(const struct lpl_survey *survey, size_t i);

/*
 * The least number of pages that get `share` (0 to 1) of all references.  Exact as far as pages
 * with fewer than 128 references decide it, to 1.6 % of each one's references above.  To be
 * asked after finish().
 */
uint64_t lpl_survey_concentration(const struct lpl_survey *survey, double share);

/* ---- faults over time ---- */

/*
 * When the faults of a simulation are taken: a sink in front of a simulator, to which all policies
 * have been added, each with sizes other than `all`.
 *
 *	lpl_fault_times_open(&times, simulator, LPL_SURVEY_CYCLES, &report);
 *	lpl_reader_run(reader, lpl_fault_times_sink(times), &report);
 *	lpl_fault_times_get(times, policy, result, faults);
 *	for (unsigned int bin = 0; bin < lpl_fault_times_time(times)->bins; bin++)
 *		printf("%" PRIu64 "\n", faults[bin]);
 *
 * Bins are those of a survey, and exact: their sum is what the result says.  Memory: that of
 * lpl_simulator_charge() for some thousand owners.
 */
struct lpl_fault_times;
/* The simulator is not owned.  Errors as lpl_simulator_charge(). */
enum lpl_error lpl_fault_times_open(struct lpl_fault_times **times, struct lpl_simulator *simulator,
				    enum lpl_survey_clock clock, struct lpl_report *report);
/* As lpl_survey_begin(). */
void lpl_fault_times_begin(struct lpl_fault_times *times, struct lpl_survey_clocks first);
struct lpl_sink *lpl_fault_times_sink(struct lpl_fault_times *times);	/* owned by it */
/* After finish(), as the next one. */
const struct lpl_survey_time *lpl_fault_times_time(const struct lpl_fault_times *times);
/* Of the policy's result with that index (simulator.h), by bin; 0 from the number of bins on. */
void lpl_fault_times_get(const struct lpl_fault_times *times, size_t policy, size_t result,
			 uint64_t faults[LPL_SURVEY_BINS]);
void lpl_fault_times_close(struct lpl_fault_times *times);	/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
