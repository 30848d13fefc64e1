/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The post-processor: a sink that gives every reference its canonical page and
 * its task.
 *
 * A canonical page is a page as a container of data, whatever virtual page it
 * is seen through (Laplace, WOSP 2004, section 3.3).  All of them live in one
 * scalar space; numbers are given densely, from 1, at a page's first reference.
 *
 *	page of a file		(device, inode, page of the file), for ever:
 *				mapped shared, mapped private and not yet
 *				written, or seen by the kernel at the address
 *				that KTR_CACHE_ADD told
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
 * counted (`implied_breaks`).  A page whose other sharers are all gone is kept.
 * A private page of a file becomes anonymous at its first write, told or seen.
 *
 * What cannot be known is said: a user address without a known mapping gets a
 * page by (space, virtual page), its kind is LPL_PAGE_UNRESOLVED, and it is
 * counted.  Events that make no sense are counted by kind, and change nothing
 * more than they must.
 *
 * Two things the stream cannot tell, so that they are lost: an inode number
 * used again after its file was deleted names the same file here; and a guest
 * with page-table isolation runs user code on a second top-level table, so it
 * has to be started with `nopti`.
 *
 * Memory is O(live mappings and anonymous pages + tasks + file and kernel pages
 * ever referenced); fork shares structure.
 */
#ifndef LAPLACE_MERGE_H
#define LAPLACE_MERGE_H

#include <stdio.h>

#include <laplace/error.h>
#include <laplace/record.h>

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

/* "anonymous", "file" ... */
const char *lpl_page_kind_name(enum lpl_page_kind kind);

/* Who ran.  Owned by the merge, valid during the call it is passed to. */
struct lpl_merge_task {
	uint32_t tid, tgid;	/* 0, 0 until the first event ("boot") */
	uint64_t serial;	/* tasks are numbered as they appear, from 1, so that a
				 * tid used again is another task; 0: boot, and idle */
};

struct lpl_merged {
	const struct lpl_ref *ref;
	const struct lpl_merge_task *task;
	uint64_t page;		/* canonical */
	enum lpl_page_kind kind;
};

/*
 * An output format.  Calls come in stream order; `event` comes after the event
 * took effect, with the task that was current when it happened (a KTR_SCHEDULE
 * belongs to the task that goes).  `event` may be NULL.
 */
struct lpl_merge_output {
	int (*reference)(struct lpl_merge_output *output, const struct lpl_merged *merged,
			 struct lpl_report *report);
	int (*event)(struct lpl_merge_output *output, const struct lpl_event *event,
		     const struct lpl_merge_task *task, struct lpl_report *report);
	int (*finish)(struct lpl_merge_output *output, struct lpl_report *report);
};

/* Events that make no sense, given what came before. */
enum lpl_merge_odd {
	LPL_ODD_RANGE = 0,	/* empty, backwards, or in the kernel's half */
	LPL_ODD_MAP_KIND,	/* unknown KTR_MAP_* */
	LPL_ODD_UNMAP,		/* of a range with nothing mapped in it */
	LPL_ODD_REMAP,		/* likewise */
	LPL_ODD_DETACH,		/* where something else than a segment begins */
	LPL_ODD_DUPLICATE,	/* of an unknown space, onto itself, or onto a live one */
	LPL_ODD_SPACE_END,	/* of an unknown space */
	LPL_ODD_COW_BREAK,	/* of a page not mapped, or mapped shared */
	LPL_ODD_CACHE_ADD,	/* of a frame that holds another page */
	LPL_ODD_CACHE_REMOVE,	/* of a page that is not there */
	LPL_ODD_TASK_CREATE,	/* of a task that lives */
	LPL_ODD_TASK_UNKNOWN,	/* exit, exec ... of an unknown task */
	LPL_ODD_SCHEDULE,	/* to an unknown task */
	LPL_ODD_MISSED_SCHEDULE,/* an event by another task than was scheduled */
	LPL_ODD_TAG,		/* an unknown tag */
	LPL_ODDS
};

/* "range", "unmap" ... */
const char *lpl_merge_odd_name(enum lpl_merge_odd odd);

struct lpl_merge_stats {
	uint64_t references[LPL_PAGE_KINDS];
	uint64_t user_unresolved;	/* unresolved references made in user mode */
	uint64_t pages[LPL_PAGE_KINDS];	/* canonical; those of files under
					 * LPL_PAGE_FILE however they were reached */
	uint64_t events;
	uint64_t tasks, spaces;		/* ever seen; without boot */
	uint64_t live_tasks, live_spaces;
	uint64_t cow_breaks;		/* told by KTR_COW_BREAK */
	uint64_t cow_kept;		/* of these, with equal frames */
	uint64_t implied_breaks;	/* seen by a write reference only */
	uint64_t odd[LPL_ODDS];
};

/* "name: number" lines; zeros of kinds and odd events are left out. */
void lpl_merge_stats_print(const struct lpl_merge_stats *stats, FILE *file);

struct lpl_merge_options {
	/* addresses from here up are the kernel's; 0: 1 << 63.  A 32-bit Linux
	 * has 0xc0000000. */
	uint64_t kernel_base;
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

/*
 * Format `global`: the canonical page of every reference, in hex, one a line.
 * `file` is not owned; finish() flushes it.
 */
enum lpl_error lpl_merge_global_open(struct lpl_merge_output **output, FILE *file,
				     struct lpl_report *report);
void lpl_merge_global_close(struct lpl_merge_output *output);	/* NULL is fine */

/*
 * Format `canonical`: a stream for `next` (not owned; lpl_writer_sink() makes
 * it a trace) in which the space is 0, the address is the canonical page's
 * number << LPL_PAGE_SHIFT, LPL_PAGED is set and the length 0; all else is
 * kept.  Fences (lpl_event_is_fence) are left out: canonical pages do not
 * change their meaning.  Other events pass.
 */
enum lpl_error lpl_merge_canonical_open(struct lpl_merge_output **output,
					struct lpl_sink *next, struct lpl_report *report);
void lpl_merge_canonical_close(struct lpl_merge_output *output);	/* NULL is fine */

/* What the header of such a trace says, given that of its source.  NULL: no memory. */
struct lpl_meta;
struct lpl_meta *lpl_merge_canonical_meta(const struct lpl_meta *source);

#endif
