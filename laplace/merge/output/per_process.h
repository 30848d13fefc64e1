/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index of what format `per-process` makes, for what writes it and what reads it. */
#ifndef LAPLACE_MERGE_OUTPUT_PER_PROCESS_H
#define LAPLACE_MERGE_OUTPUT_PER_PROCESS_H

#define TASKS_INDEX "tasks.csv"

/* So its heading begins in every version: a directory in which it does is of this kind. */
#define TASKS_COLUMNS \
	"directory,file,tid,tgid,parent,first_cycle,last_cycle,references,end,exit_code,name"
#define TASKS_HEADING TASKS_COLUMNS ",events,version\n"

/*
 * Of the lines in the files.  In version 1 the index does not have the last columns, and the lines had no
 * clock but the cycle.
 */
#define TASKS_VERSION "2"

#endif
