/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index of what format `per-process` makes, for what writes it and what reads it. */
#ifndef LAPLACE_MERGE_OUTPUT_PER_PROCESS_H
#define LAPLACE_MERGE_OUTPUT_PER_PROCESS_H

#include <stdint.h>

#define TASKS_INDEX "tasks.csv"

/* So its heading begins in every version: a directory in which it does is of this kind. */
#define TASKS_COLUMNS \
	"directory,file,tid,tgid,parent,first_cycle,last_cycle,references,end,exit_code,name"
#define TASKS_HEADING TASKS_COLUMNS ",events,version\n"

/*
 * Of the lines in a file.  In version 1 the index does not have the last columns, and the lines had no
 * clock but the cycle.
 */
#define TASKS_PLAIN '2'
#define TASKS_DIFFERENCES '3'	/* numbers of a reference less those of the one before it in the file */

/* Those numbers.  Before the first reference all are 0. */
struct task_numbers {
	uint64_t cycle, virtual_page, page, instr, ref;
};

#endif
