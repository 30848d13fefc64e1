/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The post-processor: a sink that gives every reference its canonical page and
 * its task.
 *
 * A canonical page is a page as a container of data, whatever virtual page it
 * is seen through (Laplace, WOSP 2004, section 3.3).  All of them live in one
 * scalar space; numbers are given densely, from 1, at a page's first reference.
 *
 *	page of a file		(device, inode and its generation, page of the file):
 *				mapped shared, mapped private and not yet
 *				written, or seen by the kernel at the address
 *				that KTR_CACHE_ADD gave
 *	shared memory		(inode, page of the segment), for ever; inodes of
 *				System V segments may be marked by bit 63
 *	anonymous page		a virtual page of a space, shared by fork until a
 *				write parts the sharers; dies with its last
 *				mapping, and its number is never used again
 *	kernel page		the virtual page, the same in all spaces
 *	page-table walk		the physical page
 *
 * When a write parts sharers.  KTR_COW_BREAK is authoritative: the writing
 * space gets a new page and all others keep theirs; with equal frames it keeps
 * the page too, and from then on has it alone.  Where the event is missing, a
 * write *reference* (in either mode: the processor honours write protection in
 * both) to a page that others share is proof that the page table allowed the
 * write, so that the page was no longer shared: it is parted just the same, and
 * counted (`implied_breaks`).  A page that has no other sharers left is kept.
 * A private page of a file becomes anonymous at its first write, reported or seen.
 *
 * What cannot be known is said: a user address without a known mapping gets a
 * page by (space, virtual page), its kind is LPL_PAGE_UNRESOLVED, and it is
 * counted.  Events that make no sense are counted by kind, and change nothing
 * more than they must.
 *
 * Where records are missing (LPL_EVENT_GAP) and events among them, what was known of
 * tasks, mappings and the page cache may be wrong since.  It is forgotten: nothing is
 * resolved by what may be out of date.  What was named by the kernel remains the same: files,
 * kernel pages, the numbers of tasks.
 *
 * A stream may begin with a state (LPL_EVENT_STATE), which describes what there is.
 *
 * In a stream of canonical pages (LPL_EVENT_PAGE before the first reference) these are what it says;
 * only tasks are followed, no page leaves, and an audit has no references to look at.
 *
 * Two things may be missing from a stream, so that they are lost: without KTR_FILE an
 * inode number used again after its file was deleted names the same file here;
 * and a guest with page-table isolation runs user code on a second top-level
 * table, so it has to be started with `nopti`.
 *
 * Memory is bounded as far as a guest's events take it (struct lpl_merge_options); otherwise it
 * is O(live mappings and anonymous pages + live tasks + files mapped +
 * numbers of spaces used + file and kernel pages ever referenced); fork shares
 * structure.
 *
 * docs/merging.md describes it all at length, with the output formats.
 */
#ifndef LAPLACE_MERGE_H
#define LAPLACE_MERGE_H

#include <stdio.h>

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lpl_page_kind {
	LPL_PAGE_ANONYMOUS = 0,
	LPL_PAGE_FILE,		/* through a mapping */
	LPL_PAGE_SHM,		/* System V segments, shared anonymous memory */
	LPL_PAGE_SPECIAL,	/* vdso, device memory */
	LPL_PAGE_CACHE,		/* of a file, through the kernel's own mapping */
	LPL_PAGE_KERNEL,
	LPL_PAGE_PHYSICAL,	/* a page table, walked by the processor */
	LPL_PAGE_UNRESOLVED,	/* a user address without a known mapping */
	LPL_PAGE_KINDS
};

/* "anonymous", "file" ...; "unknown" for none of them. */
const char *lpl_page_kind_name(enum lpl_page_kind kind);

/* ---- tasks ---- */

enum lpl_task_state {
	LPL_TASK_LIVES = 0,
	/* and these are the last word on a task */
	LPL_TASK_EXITED,	/* KTR_EXIT, and what it ran until its last switch */
	LPL_TASK_LOST,		/* its exit was not reported: another task has its tid, or
				 * nothing mentioned it after records were missing */
	LPL_TASK_LEFT		/* it lived when the trace ended */
};

#define LPL_TASK_NAME 64

/* A task that ran.  Owned by the merge, valid until it has reported the task's last state. */
struct lpl_merge_task {
	uint32_t tid, tgid;	/* 0, 0: idle, and what ran before the first event */
	uint64_t serial;	/* tasks are numbered as they appear, from 1, so that a
				 * tid used again is another task; 0: idle, and boot */
	uint64_t process;	/* numbered likewise; 0: the kernel, which is idle, boot
				 * and every task that has no address space of its own */
	uint64_t parent;	/* serial of the task that made it; 0: not known */
	uint64_t space;		/* 0: none */
	uint64_t references;	/* made by it so far */
	enum lpl_task_state state;
	uint64_t exit_code;	/* as KTR_EXIT gave it */
	uint32_t name_length;	/* the last name known; guest input */
	char name[LPL_TASK_NAME];
};

/* ---- output formats ---- */

struct lpl_merged {
	const struct lpl_ref *ref;
	const struct lpl_merge_task *task;
	uint64_t page;		/* canonical */
	enum lpl_page_kind kind;
};

/* What a canonical page is.  What its kind does not have is 0. */
struct lpl_merge_page {
	uint64_t page;		/* canonical: the numbers come in their order */
	uint64_t number;	/* in the stream, if that has canonical pages already; else the same */
	enum lpl_page_kind kind;	/* never LPL_PAGE_CACHE: that is LPL_PAGE_FILE */
	uint64_t device, inode;	/* of files, of segments (device 0), of device memory;
				 * inode KTR_NONE where the guest did not know it */
	uint64_t generation;	/* which of the files that had the inode's number, if known */
	uint64_t offset;	/* its page in that; of page tables: the physical page */
	uint64_t space;		/* of anonymous and unresolved pages: where it was ... */
	uint64_t virtual_page;	/* ... referenced first; of kernel pages: the page */
	uint32_t name_length;	/* of a file, as it was mapped; guest input */
	const char *name;	/* valid during the call */
};

/*
 * An output format is a struct that begins with this one.  Calls come in stream
 * order, on one thread, until one fails or `finish` was called.
 *
 * `event` comes after the event took effect, with the task that was current
 * when it happened (a KTR_SCHEDULE belongs to the task that goes).  `page` comes
 * once for every canonical page, just before the first reference to it.  `task`
 * comes when a task has begun or when anything but `references` has changed of
 * it, after the `event` that did it, and a last time with its last state: for
 * each task, and for task 0, exactly once, at the latest before `finish`.
 *
 * `leave` comes when a page that was referenced is in memory no more.  `for_ever`: it
 * was anonymous or unresolved, and its last mapping went (or it is not known, after a
 * gap); its number is never used again.  Otherwise it is a page of a file or of shared memory
 * that left the page cache (KTR_CACHE_REMOVE, or another page took its frame): the next
 * reference to it, if there is one, brings it back under the same number.  It comes after the
 * `event` that did it, before its `task`s; where a write reference did it, before the next
 * event; those of one event always in the same order, pages of a file in the file's.  Pages
 * that are left at the end do not leave.
 *
 * Members after `finish` and `event` may be NULL.
 */
struct lpl_merge_output {
	enum lpl_error (*reference)(struct lpl_merge_output *output, const struct lpl_merged *merged,
				    struct lpl_report *report);
	enum lpl_error (*event)(struct lpl_merge_output *output, const struct lpl_event *event,
				const struct lpl_merge_task *task, struct lpl_report *report);
	enum lpl_error (*finish)(struct lpl_merge_output *output, struct lpl_report *report);
	enum lpl_error (*page)(struct lpl_merge_output *output, const struct lpl_merge_page *page,
			       struct lpl_report *report);
	enum lpl_error (*task)(struct lpl_merge_output *output, const struct lpl_merge_task *task,
			       struct lpl_report *report);
	enum lpl_error (*leave)(struct lpl_merge_output *output, uint64_t page, bool for_ever,
				struct lpl_report *report);
};

/* ---- anomalies ---- */

/*
 * What makes no sense, given what was before.  It is counted and changes nothing more than it
 * must.  In texts and JSON an anomaly is "odd".
 */
enum lpl_merge_anomaly {
	LPL_ANOMALY_RANGE = 0,	/* empty, backwards, or in the kernel's half */
	LPL_ANOMALY_MAP_KIND,	/* unknown KTR_MAP_* */
	LPL_ANOMALY_MAPPED_TWICE,	/* a mapping where something is mapped already */
	LPL_ANOMALY_UNMAP,		/* of a range with nothing mapped in it */
	LPL_ANOMALY_REMAP,		/* likewise */
	LPL_ANOMALY_DETACH,		/* where something else than a segment begins */
	LPL_ANOMALY_DUPLICATE,	/* of an unknown space, onto itself, or onto a live one */
	LPL_ANOMALY_SPACE_END,	/* of a space that has ended already */
	LPL_ANOMALY_COW_BREAK,	/* of a page not mapped, or mapped shared */
	LPL_ANOMALY_OWN_PAGES,		/* pages that are the space's own, or no longer, or shared
				 * (KTR_PAGE_OWN, KTR_DISCARD, KTR_PRESENT), where
				 * nothing is mapped that could have such */
	LPL_ANOMALY_CACHE_ADD,	/* of a frame that holds another page */
	LPL_ANOMALY_CACHE_REMOVE,	/* of a page that is not there */
	LPL_ANOMALY_TASK_CREATE,	/* of a task that lives */
	LPL_ANOMALY_TASK_UNKNOWN,	/* exit, exec ... of an unknown task, a second exit */
	LPL_ANOMALY_TASK_OTHER,	/* a tid with another tgid than before: another task has it */
	LPL_ANOMALY_SCHEDULE,	/* to a task that no event ever reported: counted when it
				 * ends, as a snapshot may come later */
	LPL_ANOMALY_MISSED_SCHEDULE,/* an event by another task than was scheduled */
	LPL_ANOMALY_MISSED_ASSIGN,	/* scheduled with another space than was assigned */
	LPL_ANOMALY_TAG,		/* an unknown tag */
	LPL_ANOMALY_GAP,		/* records are missing (LPL_EVENT_GAP) */
	/* found by an audit only */
	LPL_ANOMALY_UNRESOLVED,	/* a user-mode reference without a known mapping */
	LPL_ANOMALY_ATTRIBUTION,	/* ... in another space than its task's */
	LPL_ANOMALY_NOT_CACHED,	/* a reference to a page of a file not in the page cache */
	LPL_ANOMALY_UNREPORTED_BREAK,	/* a write to a shared page: its copy was not reported */
	LPL_ANOMALY_CACHED_TWICE,	/* an added page that another frame holds */
	LPL_ANOMALY_ORDER,		/* a record with clocks that run backwards */
	LPL_ANOMALIES
};

/* "range", "unmap" ...; "unknown" for none of them. */
const char *lpl_merge_anomaly_name(enum lpl_merge_anomaly anomaly);

struct lpl_merge_stats {
	uint64_t references[LPL_PAGE_KINDS];
	uint64_t user_unresolved;	/* unresolved references made in user mode */
	uint64_t pages[LPL_PAGE_KINDS];	/* canonical; those of files under
					 * LPL_PAGE_FILE however they were reached */
	uint64_t events;
	uint64_t tasks, spaces;		/* ever seen; without boot */
	uint64_t live_tasks, live_spaces;
	uint64_t cow_breaks;		/* reported by KTR_COW_BREAK */
	uint64_t cow_kept;		/* of these, with equal frames */
	uint64_t implied_breaks;	/* seen by a write reference only */
	uint64_t gaps;			/* LPL_EVENT_GAP: where records are missing */
	uint64_t gap_references;	/* missing there, as far as is known */
	uint64_t gap_events;
	uint64_t gap_unknown;		/* references after a gap and before an event said what
					 * runs: they count for task 0 */
	uint64_t forgotten;		/* how often events would have taken more memory than they
					 * may: see struct lpl_merge_options */
	uint64_t anomalies[LPL_ANOMALIES];
};

/* "name: number" lines; kinds of pages and anomalies with 0 are left out. */
void lpl_merge_stats_print(const struct lpl_merge_stats *stats, FILE *file);

/* ---- the merge ---- */

#define LPL_MERGE_MEMORY (UINT64_C(2) << 30)

struct lpl_merge_options {
	/* addresses from here up are the kernel's; 0: what the guest reports
	 * (KTR_SNAPSHOT), else 1 << 63.  A 32-bit Linux has 0xc0000000. */
	uint64_t kernel_base;
	/*
	 * Bytes for what events reported: tasks, spaces, mappings, pages that are reported,
	 * names of files that were not referenced.  Beyond it all that is forgotten, as after
	 * records were missing, tasks are lost, and that is counted (`forgotten`).  One event may
	 * take some 300 MB more.  0: LPL_MERGE_MEMORY.
	 */
	uint64_t memory;
	bool audit;		/* keep the books: see below */
	uint32_t problems;	/* how many of each kind of anomaly an audit keeps */
};

struct lpl_merge;

/* `output` is not owned; `options` may be NULL.  LPL_ERR_MEMORY. */
enum lpl_error lpl_merge_open(struct lpl_merge **merge, struct lpl_merge_output *output,
			      const struct lpl_merge_options *options,
			      struct lpl_report *report);
/* Where to send the stream; owned by the merge. */
struct lpl_sink *lpl_merge_sink(struct lpl_merge *merge);
/* Valid at any time until close. */
const struct lpl_merge_stats *lpl_merge_stats(const struct lpl_merge *merge);
void lpl_merge_close(struct lpl_merge *merge);	/* NULL is fine */

/* ---- the audit ---- */

/*
 * The books, each kept twice: what was counted as it happened, and what is there
 * at the end.  Closed by the sink's finish().
 */
struct lpl_merge_audit {
	bool balanced;			/* all pairs agree, and there was no anomaly */
	uint64_t references;		/* received */
	uint64_t by_kind, by_task;	/* sums over all kinds, over all tasks */
	uint64_t processes;		/* without the kernel */
	uint64_t tasks, tasks_ended, tasks_live;	/* tasks = ended + live */
	uint64_t spaces, spaces_ended, spaces_live;	/* likewise */
	uint64_t spaces_unused;		/* ended, but no other event was about them */
	/* pages of the page cache: added = removed + displaced + lost + held */
	uint64_t cache_added, cache_removed;
	uint64_t cache_displaced;	/* by another page in their frame */
	uint64_t cache_lost;		/* not known since records were missing */
	uint64_t cache_held;
	uint64_t file_references;	/* that were looked for in the page cache */
	/* user-mode references before the first snapshot that do not fit: no event could have
	 * said which task made them, and to what, so that they are no anomalies */
	uint64_t user_before_snapshot;
	uint64_t events;		/* received */
	/* how many there have to be, by lpl_merge_audit_expect(); 0: not known */
	uint64_t events_expected, references_expected;
	uint64_t anomalies;		/* of all kinds together */
};

/* NULL without `audit`, and before finish(). */
const struct lpl_merge_audit *lpl_merge_audit(const struct lpl_merge *merge);

/*
 * How many events, and in an unreduced trace references, there have to be (0:
 * not known), as the trace's totals say.  To be called before finish().
 */
void lpl_merge_audit_expect(struct lpl_merge *merge, uint64_t events, uint64_t references);

/* One record that does not fit: the first few of each kind are kept. */
struct lpl_merge_problem {
	enum lpl_merge_anomaly anomaly;
	bool is_event;
	struct lpl_event event;		/* with is_event */
	struct lpl_ref ref;		/* without */
	uint32_t tid, tgid;		/* the task it was counted for */
};

/* In the order of their kinds, then of the stream; *count of them. */
const struct lpl_merge_problem *lpl_merge_problems(const struct lpl_merge *merge, size_t *count);

/* The books as text, and after them the problems. */
void lpl_merge_audit_print(const struct lpl_merge *merge, FILE *file);

/* ---- formats ---- */

/*
 * Format `global`: the canonical page of every reference, in hex, one a line.
 * `file` is not owned; finish() flushes it.
 */
enum lpl_error lpl_merge_global_open(struct lpl_merge_output **output, FILE *file,
				     struct lpl_report *report);
void lpl_merge_global_close(struct lpl_merge_output *output);	/* NULL is fine */

/*
 * Format `per-process`: the directory PATH with a directory for each process and
 * in it a file for each task, all named by numbers, and an index, tasks.csv; see
 * docs/merging.md.  Everything is written below "PATH.part", which finish()
 * syncs and renames.  An existing PATH or PATH.part is an error (LPL_ERR_USAGE) unless
 * `overwrite`, and even then when there is anything in it that this format does
 * not write, or when another process is writing PATH.part.  What finish() cannot rename,
 * because PATH was made meanwhile, is left in PATH.part.  Memory is O(live tasks) and
 * some 9 MiB; at most 64 files are open.
 */
enum lpl_error lpl_merge_per_process_open(struct lpl_merge_output **output, const char *path,
					  bool overwrite, struct lpl_report *report);
/*
 * Write on so many threads, the caller's included (0: one for each processor, up to 8);
 * without this on the caller's alone.  Before anything is sent.  The files are the same,
 * and so are errors, which may come a few buffers later.
 */
enum lpl_error lpl_merge_per_process_jobs(struct lpl_merge_output *output, unsigned int jobs,
					  struct lpl_report *report);
/*
 * The numbers of a reference become differences from those of the reference before it in its file
 * (Kaplan, "Laplace: trace reduction": per-thread traces can themselves be difference encoded): half
 * the bytes, or less.  Before anything is sent.
 */
void lpl_merge_per_process_differences(struct lpl_merge_output *output);
/* What finish() had not written whole is removed.  NULL is fine. */
void lpl_merge_per_process_close(struct lpl_merge_output *output);

/*
 * Format `canonical`: a stream for `next` (not owned; lpl_writer_sink() makes
 * it a trace) in which the space is 0, the address is the canonical page's
 * number << LPL_PAGE_SHIFT, LPL_PAGED is set and the length 0; all else is
 * kept.  An LPL_EVENT_PAGE before the first reference to each page says what it is.
 * Events of tasks pass, so that it is known which task made a reference; fences
 * (lpl_event_is_fence) but KTR_EXEC are left out, for canonical pages do not change
 * their meaning.
 */
enum lpl_error lpl_merge_canonical_open(struct lpl_merge_output **output,
					struct lpl_sink *next, struct lpl_report *report);
void lpl_merge_canonical_close(struct lpl_merge_output *output);	/* NULL is fine */

/*
 * What the header of such a trace says, given that of its source: exact for the
 * same if the source's reduction respects changes of mapping, else for nothing
 * (lpl_reduction_fenced).  NULL: no memory.
 */
struct lpl_meta;
struct lpl_meta *lpl_merge_canonical_meta(const struct lpl_meta *source);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
