/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file being written: it grows under "PATH.part" by whole pieces and gets
 * its name at the end.  stdout ("-"), devices and pipes are written as they are.
 */
#ifndef LAPLACE_CONTAINER_OUTPUT_H
#define LAPLACE_CONTAINER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/error.h>

#define LPL_NAME_SIZE 192

struct lpl_output {
	int fd;
	char *path, *part;		/* owned; NULL when written as it is */
	bool overwrite;
	uint64_t written;		/* bytes of whole pieces */
	char name[LPL_NAME_SIZE];	/* for reports */
};

/* A path's end, short enough to leave room in a report. */
void lpl_short_name(char name[LPL_NAME_SIZE], const char *path);

enum lpl_error lpl_output_open(struct lpl_output *output, const char *path, bool overwrite,
			       struct lpl_report *report);
/* All of it, or (where that can be undone) nothing. */
enum lpl_error lpl_output_write(struct lpl_output *output, const void *bytes, size_t size,
				struct lpl_report *report);
/* Sync, rename, close. */
enum lpl_error lpl_output_commit(struct lpl_output *output, struct lpl_report *report);
/* Close; ".part" stays, unless it is empty. */
void lpl_output_discard(struct lpl_output *output);

#endif
