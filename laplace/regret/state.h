/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a regret: pages (pages.c), what happens to them (lives.c), what is summed of it
 * (sums.c, worst.c).  regret.c has the stream.
 */
#ifndef LAPLACE_REGRET_STATE_H
#define LAPLACE_REGRET_STATE_H

#include <laplace/regret.h>

#include "base/map.h"
#include "moments.h"

#define NO_OWNER UINT32_MAX

/* What was evicted, until it is known what becomes of it. */
struct eviction {
	uint64_t number, moment;	/* the trace's */
	struct lpl_regret_clocks when, returned;
	bool is_back, unused;
	bool blind;			/* tracing was off: no use of it was seen before, nor since */
	uint64_t resident, reclaimer, dirty;
	uint32_t task;			/* regret.task */
};

/* A time for which a page was resident and not used, and the eviction that ended it, if one did. */
struct stay {
	struct stay *next;		/* the one before */
	uint32_t first, last;		/* boundaries: at the moments of (first, last] */
	uint32_t moment;		/* the eviction's; 0: none */
	struct eviction eviction;
};

/* A page; those of files are kept as long as the regret, for they may come back. */
struct page {
	uint64_t canonical;		/* 0: not referenced yet */
	uint64_t at;			/* in the file; virtual, of an anonymous page */
	uint64_t space;			/* of that */
	uint64_t slot;			/* of swap, the latest; KTR_NONE */
	uint64_t frame;			/* in which it got that */
	uint32_t owner;			/* regret.file, or regret.process; NO_OWNER */
	uint32_t next_free;		/* of pages that are free */
	uint8_t kind;			/* LPL_PAGE_ANONYMOUS; LPL_PAGE_FILE: of that kind which its
					 * file has; LPL_PAGE_KINDS: it is free */
	bool counted;			/* it may be evicted, as far as is known */
	bool resident;
	bool removed;			/* from the page cache; not known yet: by reclaim? */
	bool fresh;			/* brought into memory, and not used since */
	uint32_t since;			/* boundary: resident and not used from here on ... */
	uint32_t until;			/* ... up to here, with `removed` */
	uint32_t begun;			/* boundary: OPT may keep it from here on; or NO_BOUNDARY */
	struct stay *stay;		/* since its last use, the newest first */
};

/* What is touched at each reference, by canonical page. */
struct latest {
	uint64_t ref, instr, cycle;	/* the last use */
	uint32_t boundary;		/* nothing is to be done for a use before the next one */
	uint32_t page;			/* regret.page; 0: not one that reclaim may take */
};

struct task {
	uint32_t tid, tgid, process;
	uint64_t space;
	char *name;
};

/* An eviction for which the best alternative is looked for. */
struct tracked {
	struct lpl_regret_worst result;
	uint32_t task, owner;		/* of the eviction; of its page */
	uint32_t moment;
	struct page best;		/* the best so far, as it was */
	uint64_t unused;		/* pages that would have been better, and were not used yet */
	bool open;			/* these are followed */
};

struct lpl_regret {
	struct lpl_sink sink;
	struct lpl_merge_output output;
	struct lpl_merge *merge;
	struct lpl_regret_options options;
	struct lpl_regret_results results;
	struct moments moments;
	struct lpl_regret_clocks now;	/* of the record that is looked at */
	bool begun;
	uint64_t forgotten;		/* the merge's, as far as was seen */
	uint64_t noted;			/* the task that was noted last: its serial + 1; 0: none since spaces were forgotten */
	bool off;			/* tracing is, as far as is known: no uses are seen */
	bool in_refs;			/* the merge is ahead: */
	uint64_t *left;			/* pages that ended, of which references are still to come */
	size_t lefts, left_room;

	struct latest *latest;
	size_t latest_room;
	struct page *page;		/* from 1 */
	size_t pages, page_room;
	uint32_t free_page;
	struct lpl_map by_offset;	/* file, offset -> page */
	struct lpl_map by_slot;		/* swap entry -> page */

	struct lpl_regret_file *file;
	size_t files, file_room;
	struct lpl_map by_inode;	/* device, inode -> the file that has it now */
	struct lpl_map takes;		/* devices without numbers that reclaim takes pages of */
	uint64_t segments_on;		/* the device of segments, in events that have it; 0: not known */
	struct lpl_regret_process *process;
	size_t processes, process_room;
	struct lpl_map by_process, by_space;	/* -> process; the first that had the space */
	struct task *task;
	size_t tasks, task_room;
	struct lpl_map by_task;		/* serial -> task */

	struct stay **taken;		/* by the event that is looked at */
	size_t takens, taken_room;
	struct tracked *worst;
	struct lpl_regret_worst *shown;	/* of these, in the end */
};

static inline struct lpl_regret_clocks clocks_of_latest(const struct latest *latest)
{
	return (struct lpl_regret_clocks){ latest->ref, latest->instr, latest->cycle };
}

enum lpl_error lpl_regret_no_memory(struct lpl_report *report);

/* ---- pages.c: which there are, files, processes, tasks; 0, or false: no memory ---- */

void lpl_regret_pages_init(struct lpl_regret *regret);
void lpl_regret_pages_free(struct lpl_regret *regret);
/* The number that a device and an inode are known by. */
void lpl_regret_normalise(uint64_t *device, uint64_t *inode);
/* The file that has the inode now: its number + 1. */
uint32_t lpl_regret_file(struct lpl_regret *regret, uint64_t device, uint64_t inode);
/* KTR_FILE; a name may come with a page, too. */
bool lpl_regret_name_file(struct lpl_regret *regret, const struct lpl_event *event);
bool lpl_regret_rename(char const **name, const char *text, size_t length);
/* KTR_MAP: it may be shared memory. */
bool lpl_regret_note_map(struct lpl_regret *regret, const struct lpl_event *event);
/* A page of it, known or new. */
uint32_t lpl_regret_file_page(struct lpl_regret *regret, uint64_t device, uint64_t inode,
			      uint64_t offset);
/* The same, only if it is known; 0: it is not. */
uint32_t lpl_regret_find_page(struct lpl_regret *regret, uint64_t device, uint64_t inode,
			      uint64_t offset);
/* Does reclaim take pages of the device, as far as is known? */
bool lpl_regret_takes(const struct lpl_regret *regret, uint64_t device);
/* There is a canonical page. */
bool lpl_regret_meet(struct lpl_regret *regret, const struct lpl_merge_page *page);
/* The page, in this frame, goes to swap under this entry, and the entry is no other's. */
bool lpl_regret_set_slot(struct lpl_regret *regret, uint32_t page, uint64_t slot, uint64_t frame);
/*
 * So does what is in this frame, which is not known: its program has ended, and is still being cleared away.
 * If it is what had the entry last, others share it; if not, that one has the entry no more.
 */
void lpl_regret_lose_slot(struct lpl_regret *regret, uint64_t slot, uint64_t frame);
/* Nothing is known of any entry any more. */
void lpl_regret_forget_slots(struct lpl_regret *regret);
/* It is no more; an anonymous one. */
void lpl_regret_free_page(struct lpl_regret *regret, uint32_t page);
/* Number + 1 of a process, by the merge's. */
uint32_t lpl_regret_process(struct lpl_regret *regret, uint64_t number, uint32_t tgid);
bool lpl_regret_note_task(struct lpl_regret *regret, const struct lpl_merge_task *task);
/* KTR_SPACE_END: the number may be another space's from now on. */
void lpl_regret_end_space(struct lpl_regret *regret, uint64_t space);
/* The ends of some may be missing. */
void lpl_regret_forget_spaces(struct lpl_regret *regret);
uint32_t lpl_regret_task(struct lpl_regret *regret, const struct lpl_merge_task *task);
struct lpl_regret_page lpl_regret_describe(const struct lpl_regret *regret, const struct page *page);

/* ---- lives.c: what happens to a page ---- */

/* It has a frame. */
enum lpl_error lpl_regret_enter(struct lpl_regret *regret, uint32_t page,
				struct lpl_report *report);
/* The same, by an event that says that it came. */
enum lpl_error lpl_regret_bring(struct lpl_regret *regret, uint32_t page,
				struct lpl_report *report);
/* It is used; `latest` has the use before it. */
enum lpl_error lpl_regret_use(struct lpl_regret *regret, uint32_t page, struct lpl_report *report);
/* It leaves the page cache: for swap, by reclaim, or it ends. */
void lpl_regret_remove(struct lpl_regret *regret, uint32_t page);
/* It goes to swap, and has its frame still. */
enum lpl_error lpl_regret_keep_frame(struct lpl_regret *regret, uint32_t page,
				     struct lpl_report *report);
/* Reclaim takes it, with all that are taken before ... */
enum lpl_error lpl_regret_take(struct lpl_regret *regret, uint32_t page,
			       struct lpl_report *report);
/* ... this: they were taken by that event, at a moment that is now over. */
enum lpl_error lpl_regret_taken(struct lpl_regret *regret, const struct lpl_event *event,
				uint32_t task, struct lpl_report *report);
/* Its contents are no more. */
enum lpl_error lpl_regret_end(struct lpl_regret *regret, uint32_t page, struct lpl_report *report);
/* Reclaim takes pages of this device: all of them may be evicted from now on. */
void lpl_regret_join(struct lpl_regret *regret, uint64_t device);
/*
 * Of pages that were evicted and not used since nothing more will be known; nor, with `forget`, which
 * pages have frames.
 */
enum lpl_error lpl_regret_close_all(struct lpl_regret *regret, enum lpl_regret_outcome outcome,
				    bool forget, struct lpl_report *report);

/* ---- sums.c, worst.c ---- */

/* It is known now what became of the page.  `next`: with LPL_REGRET_USED. */
enum lpl_error lpl_regret_report(struct lpl_regret *regret, const struct page *page,
				 const struct stay *stay, enum lpl_regret_outcome outcome,
				 uint64_t rank, struct lpl_report *report);
/* OPT has to read it; it is brought. */
void lpl_regret_count_optimal(struct lpl_regret *regret, const struct page *page);
void lpl_regret_count_brought(struct lpl_regret *regret, const struct page *page);
void lpl_regret_advance(struct lpl_regret *regret, struct lpl_regret_clocks now);

bool lpl_regret_worst_init(struct lpl_regret *regret);
void lpl_regret_worst_add(struct lpl_regret *regret, const struct lpl_regret_eviction *eviction,
			  const struct page *page, const struct stay *stay);
/* A page is used that was not before, or ends, at the moments of (first, last]. */
void lpl_regret_worst_used(struct lpl_regret *regret, const struct page *page, uint32_t first,
			   uint32_t last);
void lpl_regret_worst_ended(struct lpl_regret *regret, const struct page *page, uint32_t first,
			    uint32_t last);
/* It is over: `known`, at the end of the trace, by what was never used; or it is not known. */
void lpl_regret_worst_close(struct lpl_regret *regret, bool known);
/* Puts what is to be shown in order. */
void lpl_regret_worst_finish(struct lpl_regret *regret);

#endif
