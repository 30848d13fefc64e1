/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What happens to the pages of a guest, whatever shows which they are (regret-guest.h): they come, are used,
 * leave, are evicted, end; and what docs/reclaim.md defines of evictions.
 *
 * Time is counted in moments; two trees over them give the answers: one has for each moment how many of the
 * pages that were resident then have been used since, the other how many more an optimal memory has room for.
 * What is used is entered in both for the moments since its last use.  That is Belady's choice: of two pages,
 * that which is used sooner comes first.
 */
#ifndef LAPLACE_TESTS_REGRET_PAGES_H
#define LAPLACE_TESTS_REGRET_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT (UINT64_C(1) << 63)	/* in an inode: a System V segment */
#define MOMENTS (UINT32_C(1) << 18)	/* at most, and one less */
#define RECLAIMERS 4
#define NO_PROCESS UINT32_MAX

enum kind { ANONYMOUS, OF_FILE, SHARED, KINDS };
extern const char *const kind_name[KINDS];
extern const char *const reclaimer_name[RECLAIMERS];
enum outcome { USED, ENDED, NEVER, CUT, OUTCOMES };

struct clocks {
	uint64_t ref, instr, cycle;
};

struct counts {
	uint64_t evicted, outcome[OUTCOMES], better, written, back, optimal, brought, unused;
};

struct device {
	uint64_t number;
	bool taken;		/* reclaim takes its pages */
	uint32_t since;		/* this moment */
};

struct file {
	uint64_t device, inode, generation;
	bool known;		/* the generation is */
	enum kind kind;
	uint32_t on;		/* its device */
	const char *name;	/* NULL: not known */
	struct counts counts;
};

struct process {
	uint64_t number, tgid;	/* 0, 0: the kernel */
	const char *name;
	struct counts counts;	/* of anonymous pages that were its first */
	uint64_t reclaimed, missed;
};

struct task {
	uint64_t tid, tgid, space;	/* 0: none of its own, it is the kernel's */
	bool lives;		/* its exit was not reported */
	bool implied;		/* nor that it began */
	bool seen;		/* it was, with this space, since nothing was known of spaces */
	uint32_t process;
	const char *name;	/* NULL: not known */
};

/* The process that had a space first. */
struct owner {
	uint64_t space;
	uint32_t process;
};

struct span {
	uint32_t from, to;	/* moments */
};

/* All uses between two moments, and two cuts. */
struct uses {
	uint32_t since, cuts;	/* that moment; how many cuts there were before */
	struct clocks first, last;
};

struct page {
	uint32_t file;		/* 0: none, it is anonymous */
	uint64_t offset;
	uint64_t space, virtual_page;
	uint32_t process;	/* of an anonymous page; NO_PROCESS: not known */
	uint64_t swapped;	/* from this frame, the last time */
	uint64_t alias;		/* where the kernel has it in its own half, since the last time it was read */
	uint32_t places;	/* entries of tables that show it */
	bool resident, left, fresh, over, named;
	bool begun;		/* it has been in memory: OPT has it since `since`, or has to read it */
	struct clocks last;
	uint32_t since;		/* the moment before its last use, or before it came into memory first */
	uint32_t from;		/* resident since then, or since its last use */
	struct span *span;	/* when it was resident before that, and could be evicted ... */
	uint32_t spans, used;	/* ... and how many of these were before its last use */
	struct uses *history;
	uint32_t uses;
	uint64_t ended;		/* with this reference, if it is over */
	uint32_t waiting;	/* its last eviction without an outcome, 0 */
};

struct eviction {
	struct page *page;
	uint32_t before;	/* that of the same page, 0 */
	uint32_t moment, cuts, reclaimer;
	bool blind;			/* tracing was off */
	uint64_t dirty;
	uint32_t task;			/* that reclaimed */
	const char *by, *name;		/* of that, and of the file or process, when the outcome was known */
	struct clocks at, last, next;
	enum outcome outcome;
	bool back, unused;
	enum kind kind;
	uint64_t resident, rank;
};

struct books {
	struct device *device;
	uint32_t devices;
	struct file *file;		/* from 1 */
	uint32_t files;
	struct process *process;	/* 0: the kernel */
	uint32_t processes;
	struct task *task;		/* 0: idle, and boot */
	uint32_t tasks, running;
	struct owner *owner;
	uint32_t owners;
	bool in_snapshot;
	struct page **page;
	size_t pages;
	struct eviction *eviction;	/* from 1 */
	uint32_t evictions;
	uint32_t moment;		/* the last one */
	uint32_t cuts;			/* so far, those before the first moment among them ... */
	uint64_t shown_cuts;		/* ... or as they are counted */
	bool off;			/* tracing is, as far as is known */
	struct clocks now;
	uint64_t first_cycle;
	uint64_t *brought_at, *optimal_at;	/* in which cycle each was */
	uint64_t resident, most_resident;
	struct counts all, by_kind[KINDS], by_reclaimer[RECLAIMERS];
	uint64_t by_rank[12], by_distance[65];
	uint32_t used_since[MOMENTS + 1];	/* a Fenwick tree: of differences between moments */
	int64_t room[2 * MOMENTS];		/* the least of a subtree ... */
	int64_t more[2 * MOMENTS];		/* ... and what all below it have more */
	char **text;			/* what was kept */
	size_t texts;
};

/* Memory, or the end. */
void *resized(void *memory, size_t count, size_t size);
/* Room for one more of so many. */
void *with_room(void *array, uint64_t count, size_t size);

struct books *books_new(void);
void books_free(struct books *b);
/* The same text, as long as the books. */
const char *kept(struct books *b, const char *text);
struct page *new_page(struct books *b);
/* As far as is known by now. */
enum kind kind_of(const struct books *b, const struct page *p);
/* The file that has the inode now; 0: none. */
uint32_t known_file(const struct books *b, uint64_t on, uint64_t inode);
/* The same, or one that has it from now on; `new`: in any case. */
uint32_t file_of(struct books *b, uint64_t on, uint64_t inode, bool new);
/* A device's pages turn out to be such as reclaim takes. */
void device_is_taken(struct books *b, uint32_t on);
/* It is resident; `by_event`: that brought it, unless it was. */
void arrive(struct books *b, struct page *p, bool by_event);
void leave(struct books *b, struct page *p);
void use(struct books *b, struct page *p);
void end(struct books *b, struct page *p);
/* At the moment that comes next. */
void evict(struct books *b, struct page *p, uint64_t reclaimer, uint64_t dirty);
/* It is over, and all that was evicted in it, from this one on, is known.  False: there were too many. */
bool next_moment(struct books *b, uint32_t first);
/* Uses are not seen, or seen again. */
void switch_tracing(struct books *b, bool on);
/* Records are missing; `events`: of these, too, so that it is not known which pages are resident. */
void miss_records(struct books *b, bool events);
/* The trace is over. */
void close_books(struct books *b);

#endif
