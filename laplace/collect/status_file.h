/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A status file: lines of JSON (status.h), appended for as long as a collection runs, to be read
 * from elsewhere or afterwards.
 *
 * Whatever happens to it does no harm to the collection.  A line is one write(), so a reader sees it
 * whole or not at all; a line that a full disk cut off is removed again.
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
/* One that has no line is removed again, if it was made for this run. */
void lpl_status_file_close(struct lpl_status_file *file);

#endif
