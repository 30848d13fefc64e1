/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel reports to Laplace's simulator: calls to put where things happen.  They fill
 * kernel_trace_record (kernel/laplace.c) and do nothing on a machine that does not watch it.
 */
#ifndef _LINUX_LAPLACE_H
#define _LINUX_LAPLACE_H

#ifdef __ASSEMBLY__

/* entry.S: a system call begins, with the registers saved, and %eax is free to be lost. */
#define LAPLACE_CALL_ENTER \
	cmpl $0,SYMBOL_NAME(laplace_calls); \
	je 77f; \
	call SYMBOL_NAME(laplace_call_enter); \
77:	movl ORIG_EAX(%esp),%eax;

/* entry.S: its result is saved. */
#define LAPLACE_CALL_EXIT \
	cmpl $0,SYMBOL_NAME(laplace_calls); \
	je 78f; \
	call SYMBOL_NAME(laplace_call_exit); \
78:

#else

#include <linux/kernel_trace_record.h>

struct linux_binprm;
struct mm_struct;
struct page;
struct pt_regs;
struct shmid_kernel;
struct task_struct;
struct vm_area_struct;

/* An event of a space, with these other arguments; unused ones are 0. */
extern void laplace_send(int tag, struct mm_struct *mm, unsigned long a, unsigned long b,
			 unsigned long c, unsigned long d);

extern void laplace_task_create(struct task_struct *child, unsigned long clone_flags);
extern void laplace_schedule(struct task_struct *prev, struct task_struct *next);
extern void laplace_exec_space(void);		/* current has a space for a new image */
extern void laplace_exec(struct linux_binprm *bprm);
extern void laplace_exit(long code);

extern unsigned long laplace_space(struct mm_struct *mm);
extern void laplace_map(struct vm_area_struct *vma, unsigned long start, unsigned long end);
extern void laplace_unmap(struct vm_area_struct *vma, unsigned long start, unsigned long end);
extern void laplace_copy_begins(struct mm_struct *mm, struct mm_struct *copy);
extern void laplace_copy_ends(struct mm_struct *mm, struct mm_struct *copy);
extern void laplace_discard(struct mm_struct *mm, unsigned long start, unsigned long end);
extern void laplace_swap(int tag, struct vm_area_struct *vma, unsigned long address,
			 unsigned long entry, unsigned long page);

/* A page enters or leaves the page cache, or the buffer cache. */
extern void laplace_cache(int tag, struct page *page);
extern void laplace_buffers(int tag, unsigned long page);

/* The same of a segment's page; all pages of one that goes; the segment that a vm_pte means. */
extern void laplace_shm_page(int tag, int segment, unsigned long index, unsigned long page,
			     unsigned long entry);
extern void laplace_shm_end(struct shmid_kernel *shp, int segment);
extern int laplace_shm_segment(unsigned long vm_pte);

/* A signal's handler returns, by this call. */
extern void laplace_sigreturn(struct pt_regs *regs, long call, long result);

extern void laplace_init(void);			/* /proc/laplace */

#endif
#endif
