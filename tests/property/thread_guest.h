/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small guest with threads: random streams as one processor reports them, of a few tasks that
 * make others, wait, wake each other, are woken by interrupts, exit, and share some of their pages.
 */
#ifndef LAPLACE_TESTS_THREAD_GUEST_H
#define LAPLACE_TESTS_THREAD_GUEST_H

#include "oracle.h"

struct thread_plot {
	size_t count;			/* of records, or a few more */
	int tasks;			/* at the beginning */
	int most_tasks;
	enum { TASKS_APPEAR, TASKS_LISTED, TASKS_MADE_BY_IDLE, TASKS_IN_STATE } begin;
	uint32_t pages;			/* for each process */
	uint32_t dcycle, dinstr;	/* at most so many from record to record */
	bool idle;			/* its task runs, too */
	bool wakes;			/* are reported; one in `missed` is not (0: all are) */
	uint32_t missed;
	bool reduced;			/* numbers of references are left out */
	bool windows;			/* time that was not traced */
	bool gaps;			/* as if records were missing */
	bool helpers;			/* threads of the kernel that become a program's */
	bool alone;			/* each task is a process, with pages that it alone references */
	bool pipes;			/* things are passed on */
};

struct thread_plot random_thread_plot(struct random *random);
/* The stream, in place of what was in `out`. */
void play_threads(struct random *random, const struct thread_plot *plot, struct stream *out);

/* Record by record, as text, for a reader. */
void print_threads(const struct stream *stream, FILE *file);

#endif
