/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the laplace module share: how an event is written, and how
 * the events say where in the kernel they are seen.
 */
#ifndef LAPLACE_MODULE_H
#define LAPLACE_MODULE_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/version.h>

#include <laplace/kernel_trace_record.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "this module needs Linux 5.10 or later"
#endif

#include "compat.h"
#include "found.h"

#undef pr_fmt
#define pr_fmt(fmt) "laplace: " fmt

/*
 * Writing an event (record.c).  Between the two calls interrupts are off and
 * nothing may sleep or fault; what is done there counts as the tracer's own
 * work, so begin as soon as it is certain that there is an event.
 */
struct kernel_trace_record *lpl_begin(unsigned long *flags, u32 tag);
void lpl_end(unsigned long flags);

/* Append to the record's text, cut at its end. */
void lpl_text(struct kernel_trace_record *record, const char *text, size_t size);

void lpl_record_init(void);
void lpl_record_stop(void);		/* nothing is sent any more */
void lpl_handshake(void);
void lpl_goodbye(void);
u64 lpl_events(void);

/* Printing events, for people (log.c). */
void lpl_log(const struct kernel_trace_record *record);
void lpl_log_exit(void);

/*
 * Where an event is seen.  A hook names alternatives, best first, and the
 * first that this kernel has is used.  `tracepoint`, `entry` and `returned`
 * distinguish the three ways; only one of them is set.  All above them is LPL_AT,
 * a row of places.h as this kernel has it.
 */
#define LPL_AT(place) LPL_AT_##place

struct lpl_point {
	const char *event;
	const char *name;
	const char *unlike;		/* why it cannot be used here */
	bool optional;			/* the event, as this kernel is configured */
	bool interrupts;		/* call it, too, and of those calls none is wanted */
	bool from_interrupts;		/* calls come, too, and are wanted: only at `entry` */
	u8 arg[LPL_ARGS];		/* the number of each argument, from 1 on; 0: none */
	void *tracepoint;
	kprobe_pre_handler_t entry;
	kretprobe_handler_t entered;	/* may veto by returning 1 */
	kretprobe_handler_t returned;
	size_t data;			/* from `entered` to `returned` */
};

#define LPL_POINTS 3

struct lpl_hook {
	struct lpl_point points[LPL_POINTS];

	const struct lpl_point *used;	/* from before it can be hit */
	struct tracepoint *tp;
	struct kprobe kp;
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
	struct ftrace_ops ops;
#endif
	struct kretprobe rp;
};

struct lpl_hooks {
	struct lpl_hook *hook;
	size_t count;
	const char *choice;	/* attached if it is chosen by this name (choice.c); NULL: always */
};

extern const struct lpl_hooks lpl_task_hooks;
extern const struct lpl_hooks lpl_memory_hooks;
extern const struct lpl_hooks lpl_range_hooks;
extern const struct lpl_hooks lpl_cow_hooks;
extern const struct lpl_hooks lpl_own_hooks;
extern const struct lpl_hooks lpl_huge_hooks;
extern const struct lpl_hooks lpl_swap_hooks;
extern const struct lpl_hooks lpl_cache_hooks;
extern const struct lpl_hooks lpl_pipe_hooks;
extern const struct lpl_hooks lpl_reclaim_hooks;
extern const struct lpl_hooks lpl_lru_hooks;
extern const struct lpl_hooks lpl_swap_io_hooks;
extern const struct lpl_hooks lpl_fault_hooks;
extern const struct lpl_hooks lpl_pressure_hooks;
extern const struct lpl_hooks lpl_write_hooks;
extern const struct lpl_hooks lpl_place_hooks;

int lpl_attach(void);
void lpl_detach(void);
int lpl_attach_choice(const char *choice);
void lpl_detach_choice(const char *choice);
u64 lpl_missed(void);
/* Whether the current task is within a call that the group sees the end of. */
bool lpl_under(const struct lpl_hooks *group);
/* What the handlers keep of the current task's last call that this hook will see the end of, or NULL. */
void *lpl_call_of(const struct lpl_hook *hook);
struct tracepoint *lpl_tracepoint(const char *name);

/*
 * Arguments of probed functions (arguments.c): lpl_arg(PROBE, REGS, VMA), where a handler's first
 * argument is the probe; 0 where the function has none.  All that handlers get is sound.
 */
#define lpl_arg(probe, regs, part)								\
	lpl_argument(_Generic((probe), struct kprobe *: lpl_point_of_probe,			\
			      struct kretprobe_instance *: lpl_point_of_call)(probe),		\
		     regs, LPL_ARG_##part)

const struct lpl_point *lpl_point_of_probe(struct kprobe *kp);
const struct lpl_point *lpl_point_of_call(struct kretprobe_instance *ri);
unsigned long lpl_argument(const struct lpl_point *point, struct pt_regs *regs,
			   enum lpl_part part);
bool lpl_is_sound(const struct lpl_point *point, struct pt_regs *regs);
bool lpl_is_mapping(const struct vm_area_struct *vma);
bool lpl_is_page(const struct page *page);
bool lpl_peek(void *to, const void *from, size_t size);
/* Count a call that cannot be what it should; true. */
bool lpl_is_strange(const struct lpl_point *point);
u64 lpl_strange_calls(void);

/* The name by which events call an address space; 0 for none. */
static inline u64 lpl_space(const struct mm_struct *mm)
{
	return mm ? KTR_SPACE_OF(__pa(mm->pgd)) : 0;
}

/* Events with more than one source. */
void lpl_task_create(struct task_struct *task, u64 space, u64 clone_flags);
void lpl_space_assign(struct task_struct *task, u64 space);
void lpl_task_exit(struct task_struct *task);
/* `vma` may be NULL: then the one that is there, with the mmap lock held. */
void lpl_map(struct mm_struct *mm, unsigned long start, unsigned long end,
	     struct vm_area_struct *vma);
/* An event of a range, with nothing but that. */
void lpl_range(u32 tag, const struct mm_struct *mm, unsigned long start,
	       unsigned long end);
void lpl_huge(u32 tag, const struct mm_struct *mm, unsigned long address,
	      u64 frame);
void lpl_file(struct inode *inode);
void lpl_cache_add(struct folio *folio);
void lpl_cache_remove(struct folio *folio, struct inode *inode);
void lpl_swap_shared(u32 tag, struct folio *folio, struct inode *inode,
		     swp_entry_t entry);

u64 lpl_prot(const struct vm_area_struct *vma);
bool lpl_is_unfinished_stack(const struct vm_area_struct *vma);
swp_entry_t lpl_swap_entry(struct page *page);
/* Whether the current task brings a page back from swap, and which. */
bool lpl_swaps_in(swp_entry_t *entry);
/* The file a folio caches; swap's cache has none.  The page of it that the folio begins with. */
struct inode *lpl_folio_inode(struct folio *folio);
pgoff_t lpl_folio_index(struct folio *folio);

/* Which spaces may share anonymous pages (families.c). */
void lpl_family_fork(const struct mm_struct *parent,
		     const struct mm_struct *child);
void lpl_family_old(const struct mm_struct *mm);
void lpl_family_end(const struct mm_struct *mm);
bool lpl_has_family(const struct mm_struct *mm);
void lpl_family_exit(void);

/* Which system calls are reported (events_syscall.c). */
int lpl_syscalls(char *list);
int lpl_syscalls_init(void);
void lpl_syscalls_exit(void);
unsigned int lpl_syscalls_chosen(void);

/* What reclaim keeps while its events are chosen (events_reclaim.c). */
int lpl_reclaim_begin(void);
void lpl_reclaim_end(void);

/* What the events of reclaim call a page (KTR_FOLIO_ARGS). */
struct lpl_folio_name {
	u64 device, inode, offset, frame, pages, slot;
};

void lpl_name(struct lpl_folio_name *name, struct folio *folio);
struct kernel_trace_record *lpl_folio_begin(unsigned long *flags, u32 tag,
					    const struct lpl_folio_name *name);
/* Of a struct scan_control; false if there is none. */
bool lpl_reclaimer_of(enum ktr_reclaimer *reclaimer, const void *control);
/* Of each folio of a list that nothing else changes meanwhile; false if it is no list. */
bool lpl_each_listed(const struct list_head *list, void (*look)(struct folio *folio, void *context),
		     void *context);
/* Those in a list that reclaim has looked at, and that are active now (events_lru.c). */
void lpl_activated(const struct list_head *list);

/*
 * Each page's way through the lists (events_place.c), reported while lists are chosen: it is in another one now, or
 * of another generation; and these were taken from one to be reclaimed, false if that is no list.
 */
int lpl_place_begin(void);
void lpl_place_end(void);
void lpl_place(struct folio *folio, enum ktr_placed cause);
bool lpl_isolated(const struct list_head *taken, enum ktr_list list, const struct lruvec *lruvec,
		  enum ktr_reclaimer reclaimer);

/* What the kernel counts when it moves a page for another reason than its use. */
enum lpl_count { LPL_COUNT_LAZY, LPL_COUNT_LAST, LPL_COUNT_INACTIVE, LPL_COUNTS };

struct lpl_moving {
	struct folio *folio;
	u64 generation;
	unsigned long before[LPL_COUNTS];
};

/* Around a call that moves a page: before it, what it has counted, and where the page is after it. */
void lpl_moving(struct lpl_moving *moving, struct folio *folio);
bool lpl_is_counted(const struct lpl_moving *moving, enum lpl_count count);
void lpl_moved(const struct lpl_moving *moving);

/* Which groups of events are reported that are not always (choice.c). */
int lpl_choose_events(char *list);
int lpl_choice_init(void);
void lpl_choice_exit(void);
size_t lpl_choice_text(char *text, size_t size);

/*
 * What page tables hold in a range: pages, one after the other or many under
 * one entry, and entries of swap.  Whoever calls keeps the tables in place.
 */
struct lpl_walk {
	void *context;
	void (*present)(void *context, unsigned long address, struct page *page,
			unsigned long pages);
	void (*swapped)(void *context, unsigned long address, pte_t entry);
	void (*other)(void *context);	/* an entry that is neither; or NULL */
};

void lpl_walk(const struct lpl_walk *walk, struct mm_struct *mm,
	      unsigned long start, unsigned long end);

/* What names a file's contents: the device of this inode, and its id. */
struct inode *lpl_file_inode(const struct file *file);
u64 lpl_inode_id(struct inode *inode);
bool lpl_inode_is_sysv(struct inode *inode);

void lpl_snapshot(void);
/* A space that fork makes is a task's when this is over. */
void lpl_fork_begins(const struct mm_struct *child);
void lpl_fork_ends(const struct mm_struct *child);

int lpl_device_init(void);
void lpl_device_exit(void);

#endif
