/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel event as one line of text; laplace-merge(1) has them all, made from the table in event_line.c. */
#ifndef LAPLACE_MERGE_EVENT_LINE_H
#define LAPLACE_MERGE_EVENT_LINE_H

#include <laplace/record.h>

/* The longest line: letters, cycle, tid, arguments, escaped text, two clocks, newline. */
#define EVENT_LINE (5 + (KTR_ARGS + 5) * 21 + 4 * KTR_TEXT + 1)

/* At most EVENT_LINE bytes; returns what follows the newline. */
char *lpl_put_event_line(char *out, const struct lpl_event *event);

/*
 * Read such a line, which ends in a newline: that is returned, NULL if it is none.  What no line
 * has is 0: the reporter's process and space, and arguments that the event's format leaves out.
 */
const char *lpl_scan_event_line(const char *at, struct lpl_event *event);

#endif
