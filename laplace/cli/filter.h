/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Another program as a filter: it reads from a pipe what we write, and writes to a file
 * that we opened.  No shell and no file name is involved.
 */
#ifndef LAPLACE_CLI_FILTER_H
#define LAPLACE_CLI_FILTER_H

#include <stdio.h>
#include <sys/types.h>

struct filter {
	FILE *in;		/* where to write */
	const char *name;
	pid_t pid;
};

/*
 * argv[0] is looked for in $PATH; where it is not, `missing` is the complaint.  Returns an
 * exit status; on failure there is nothing to end.
 */
int filter_start(struct filter *filter, char *const argv[], FILE *out, const char *missing);
/* No more is written: await it.  Returns an exit status. */
int filter_end(struct filter *filter);

#endif
