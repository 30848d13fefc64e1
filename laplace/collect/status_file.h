/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A status file: lines of JSON (status.h), appended for as long as a collection runs, for who
 * looks on from elsewhere or afterwards.
 *
 * Nothing that becomes of it harms the collection.  A line is one write(), so a reader sees it
 * whole or not at all; what a full disk cut off is taken away again.
 */
#ifndef LAPLACE_COLLECT_STATUS_FILE_H
#define LAPLACE_COLLECT_STATUS_FILE_H

#include <stdbool.h>

#include <laplace/error.h>

struct lpl_status_file {
	int fd;				/* -1: there is none */
	char *made;			/* its path, if it was not there before; owned */
	bool torn;			/* it ends within a line, of an earlier run */
	bool failed;			/* the latest line could not be written */
};

/*
 * Open `path`, or make it.  LPL_ERR_USAGE: it is there and no status file, or it is the
 * trace `trace` (NULL: there is none) by whatever name.
 */
enum lpl_error lpl_status_file_open(struct lpl_status_file *file, const char *path,
				    const char *trace, struct lpl_report *report);
/* false: it was not written, for the first time since one was; see errno. */
bool lpl_status_file_append(struct lpl_status_file *file, const char *line);
/* What has no line in it is taken away again, if it was made for this run. */
void lpl_status_file_close(struct lpl_status_file *file);

#endif
