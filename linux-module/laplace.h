/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the laplace module share: how an event is written, and how
 * the events say where in the kernel they are seen.
 */
#ifndef LAPLACE_MODULE_H
#define LAPLACE_MODULE_H

#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/version.h>

#include <laplace/kernel_trace_record.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "this module needs Linux 6.1 or later (maple trees, folios)"
#endif

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
void lpl_handshake(void);
void lpl_goodbye(void);
u64 lpl_events(void);

/* Printing events, for people (log.c). */
void lpl_log(const struct kernel_trace_record *record);
void lpl_log_exit(void);

/*
 * Where an event is seen.  A hook names alternatives, best first, and the
 * first that this kernel has is used.  `tracepoint`, `entry` and `returned`
 * tell the three ways apart; only one of them is set.
 */
struct lpl_point {
	const char *name;
	void *tracepoint;
	kprobe_pre_handler_t entry;
	kretprobe_handler_t entered;	/* may veto by returning 1 */
	kretprobe_handler_t returned;
	size_t data;			/* from `entered` to `returned` */
};

#define LPL_POINTS 3

struct lpl_hook {
	const char *event;
	bool optional;
	struct lpl_point points[LPL_POINTS];

	const struct lpl_point *used;
	struct tracepoint *tp;
	struct kprobe kp;
	struct kretprobe rp;
};

struct lpl_hooks {
	struct lpl_hook *hook;
	size_t count;
};

extern const struct lpl_hooks lpl_task_hooks;
extern const struct lpl_hooks lpl_memory_hooks;
extern const struct lpl_hooks lpl_cow_hooks;
extern const struct lpl_hooks lpl_cache_hooks;

int lpl_attach(void);
void lpl_detach(void);
u64 lpl_missed(void);

/* The name by which events call an address space; 0 for none. */
static inline u64 lpl_space(const struct mm_struct *mm)
{
	return mm ? KTR_SPACE_OF(__pa(mm->pgd)) : 0;
}

/* Events with more than one source. */
void lpl_task_create(struct task_struct *task, u64 space, u64 clone_flags);
void lpl_space_assign(struct task_struct *task, u64 space);
/* `vma` may be NULL: then the one that is there, with the mmap lock held. */
void lpl_map(struct mm_struct *mm, unsigned long start, unsigned long end,
	     struct vm_area_struct *vma);
void lpl_cache_add(struct folio *folio);

/* What names a file's contents: its device, and this (events_cache.c). */
u64 lpl_inode_id(struct inode *inode);
bool lpl_inode_is_sysv(struct inode *inode);

void lpl_snapshot(void);

int lpl_device_init(void);
void lpl_device_exit(void);

#endif
