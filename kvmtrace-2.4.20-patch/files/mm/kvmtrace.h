/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kVMTrace: what its two halves, the pool and the log, know of each other. */
#ifndef _MM_KVMTRACE_H
#define _MM_KVMTRACE_H

#include <linux/kvmtrace.h>
#include <linux/kvmtrace_record.h>
#include <linux/sched.h>

/* ---- the pool (kvmtrace.c) ---- */

struct kvmtrace_pool {
	unsigned int size, policy;	/* wanted; size entries, when there are any */
	unsigned int open;		/* entries in use */
	unsigned int wrong;		/* entries of pages that were not open: a bug */
};
extern struct kvmtrace_pool kvmtrace_pool;

/* 0 or -EINVAL, -ENOMEM; what was in the pool is protected. */
extern int kvmtrace_set_pool(unsigned int pages, unsigned int policy);
/* Protect all pages of all programs, or give them back. */
extern void kvmtrace_protect_all(void);
extern void kvmtrace_release_all(void);
/* Those of a space that was not traced. */
extern void kvmtrace_protect_space(struct mm_struct *mm);

/* What was given on the kernel's command line for the pool; NULL: nothing. */
extern char *kvmtrace_given;
/* A decimal number, and on to what follows; 0: there is none.  None is so large that it wraps. */
extern unsigned int kvmtrace_number(char **text);

/* ---- the log (kvmtrace_log.c) ---- */

/* The space that is not traced: the reader's. */
extern struct mm_struct *kvmtrace_reader;

static inline int kvmtrace_traced(struct mm_struct *mm)
{
	return mm && mm != kvmtrace_reader;
}

/*
 * The next record, of the current task, to be completed before anybody sleeps;
 * never NULL.
 */
extern struct kvmtrace_record *kvmtrace_log(unsigned int kind, unsigned int flags,
					    struct mm_struct *mm, unsigned long address);

#endif
