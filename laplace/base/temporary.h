/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A temporary file without a name: it is gone when it is closed, however the process ends. */
#ifndef LAPLACE_BASE_TEMPORARY_H
#define LAPLACE_BASE_TEMPORARY_H

#include <stddef.h>

#include <laplace/error.h>

struct lpl_temporary {
	int fd;
	char *directory;	/* that it is in, for messages */
};

/* `directory` NULL: that of TMPDIR, or /var/tmp, as it may get large.  LPL_ERR_MEMORY, LPL_ERR_IO. */
enum lpl_error lpl_temporary_open(struct lpl_temporary *file, const char *directory,
				  struct lpl_report *report);
void lpl_temporary_close(struct lpl_temporary *file);

/* All of it at an offset, or LPL_ERR_FULL or LPL_ERR_IO. */
enum lpl_error lpl_temporary_write(const struct lpl_temporary *file, const void *bytes, size_t size,
				   size_t offset, struct lpl_report *report);
/* As many of the bytes there as the file has: *got. */
enum lpl_error lpl_temporary_read(const struct lpl_temporary *file, void *bytes, size_t size,
				  size_t offset, size_t *got, struct lpl_report *report);

#endif
