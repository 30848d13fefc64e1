/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kVMTrace: where the kernel calls it.
 *
 * While tracing is on, a page of a program is *open* (its entry in the page table
 * is present, and it is in the pool) or *protected*: present is cleared and
 * PROTNONE set, which leaves pte_present() true, so that copying, unmapping,
 * swapping and moving go on as they do.  What distinguishes it from memory that is
 * PROT_NONE by the program's own wish is _PAGE_USER, which the latter lacks.
 *
 * So the rule that all of this keeps: an entry that is present is in the pool.
 * Whoever makes a present entry calls kvmtrace_protect() (or, in a fault,
 * kvmtrace_fault()) before he sleeps; whoever takes one away calls kvmtrace_forget().
 * All of it runs on one processor, in process context, and does not sleep but in
 * kvmtrace_wait().
 */
#ifndef _LINUX_KVMTRACE_H
#define _LINUX_KVMTRACE_H

#include <linux/config.h>
#include <linux/mm.h>
#include <asm/pgtable.h>

#ifdef CONFIG_KVMTRACE

#if defined(CONFIG_SMP) || defined(CONFIG_X86_PAE) || !defined(CONFIG_X86_TSC)
#error kVMTrace is for one processor with a time stamp counter, without PAE
#endif

extern int kvmtrace_on;

extern void __kvmtrace_protect(struct mm_struct *mm, pte_t *ptep);
extern void __kvmtrace_forget(pte_t *ptep);
extern void __kvmtrace_young(pte_t *ptep);
extern pte_t __kvmtrace_pte(struct mm_struct *mm, unsigned long address);
extern void __kvmtrace_fault(struct vm_area_struct *vma, unsigned long address,
			     int write, int user, pte_t before);
extern void __kvmtrace_follow(struct vm_area_struct *vma, unsigned long address,
			      int write, pte_t before);
extern void __kvmtrace_wait(void);
extern void __kvmtrace_file(struct page *page, int write);
extern int __kvmtrace_new_task(void);
extern void __kvmtrace_fork(struct task_struct *child, struct mm_struct *mm,
			    unsigned long clone_flags);
extern void __kvmtrace_fork_failed(struct task_struct *child, unsigned long clone_flags);
extern void kvmtrace_exec_space(struct mm_struct *old, struct mm_struct *mm);
extern void __kvmtrace_exec(void);
extern void __kvmtrace_exit(long code);
extern void __kvmtrace_space_end(struct mm_struct *mm);
extern void __kvmtrace_remap(struct mm_struct *mm, unsigned long from,
			     unsigned long to, unsigned long length);
/* in ipc/shm.c: is it a segment of System V? */
extern int kvmtrace_is_sysv(struct vm_area_struct *vma);

#define KVMTRACE_CALL(call)	do { if (kvmtrace_on) call; } while (0)

#else

#define kvmtrace_on		0
#define KVMTRACE_CALL(call)	do { } while (0)
#define __kvmtrace_pte(mm, address)	__pte(0)
#define __kvmtrace_new_task()		0
#define kvmtrace_exec_space(old, mm)	do { } while (0)
#define __kvmtrace_fault(vma, address, write, user, before)	do { } while (0)

#endif

/*
 * This entry is new, or has become accessible.  The translation is not flushed:
 * it was not in the TLB, or the caller flushes.
 */
#define kvmtrace_protect(mm, ptep) \
	KVMTRACE_CALL(__kvmtrace_protect(mm, ptep))
/* This entry, which was `pte`, is no longer what it was. */
#define kvmtrace_forget(ptep, pte) \
	KVMTRACE_CALL(if ((pte).pte_low & _PAGE_PRESENT) __kvmtrace_forget(ptep))
/* It will be asked whether the page was referenced: pass on what is known. */
#define kvmtrace_young(ptep) \
	KVMTRACE_CALL(__kvmtrace_young(ptep))
/*
 * What the entry is now, for kvmtrace_fault() to see what a fault made of it; tracing
 * may begin, or end, while the fault sleeps.
 */
#define kvmtrace_pte(mm, address) \
	__kvmtrace_pte(mm, address)
/* A fault has been handled, which means that the page is referenced. */
#define kvmtrace_fault(vma, address, write, user, before) \
	__kvmtrace_fault(vma, address, write, user, before)
/* A page is used by its frame. */
#define kvmtrace_follow(vma, address, write, before) \
	KVMTRACE_CALL(__kvmtrace_follow(vma, address, write, before))
/* Sleeps until there is room in the log, but not within a handle of a journal. */
#define kvmtrace_wait() \
	KVMTRACE_CALL(__kvmtrace_wait())
/* read() or write() found this page of a file. */
#define kvmtrace_file(page, write) \
	KVMTRACE_CALL(__kvmtrace_file(page, write))
/* Room in the log for the records of another task: 0, or -ENOMEM.  Waits, too. */
#define kvmtrace_new_task()		(kvmtrace_on ? __kvmtrace_new_task() : 0)
/*
 * The child has its space.  When that is a copy, no other must be able to write to
 * the space that was copied before this is logged: mmap_sem is held.
 */
#define kvmtrace_fork(child, mm, flags)	KVMTRACE_CALL(__kvmtrace_fork(child, mm, flags))
/* It does not come to life, and loses its space. */
#define kvmtrace_fork_failed(child, flags) \
	KVMTRACE_CALL(__kvmtrace_fork_failed(child, flags))
#define kvmtrace_exec()			KVMTRACE_CALL(__kvmtrace_exec())
#define kvmtrace_exit(code)		KVMTRACE_CALL(__kvmtrace_exit(code))
#define kvmtrace_space_end(mm)		KVMTRACE_CALL(__kvmtrace_space_end(mm))
#define kvmtrace_remap(mm, from, to, length) \
	KVMTRACE_CALL(__kvmtrace_remap(mm, from, to, length))

#endif
