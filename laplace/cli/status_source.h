/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a collection reports its status: a status file, of which the last line counts, or its
 * control socket, which is asked.
 */
#ifndef LAPLACE_CLI_STATUS_SOURCE_H
#define LAPLACE_CLI_STATUS_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

struct cli_status_source {
	const char *path;
	bool is_socket;
	dev_t device;			/* of a file: where it was read up to */
	ino_t inode;
	off_t at;
	json_int_t pid, elapsed_ns;	/* what its last line says of these */
	uint64_t period_ns;		/* the longest between two lines of one run; 0: not known */
};

/* false: `path` is neither, or not there (complained). */
bool cli_status_source_open(struct cli_status_source *source, const char *path);

enum cli_news {
	CLI_NEWS,			/* *status is new, and the caller's */
	CLI_NO_NEWS,
	CLI_NO_SOURCE,			/* there is no source (any more); see errno */
	CLI_NO_STATUS			/* what was read is none (complained) */
};
enum cli_news cli_status_source_look(struct cli_status_source *source, json_t **status);

#endif
