/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporary files without a name. */
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"

/* A file system that has no files without names has this. */
static int open_and_unlink(const char *directory)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/laplace-XXXXXX", directory) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	free(path);
	return fd;
}

enum lpl_error lpl_temporary_open(struct lpl_temporary *file, const char *directory,
				  struct lpl_report *report)
{
	if (directory == NULL)
		directory = getenv("TMPDIR");
	if (directory == NULL || directory[0] == '\0')
		directory = "/var/tmp";
	file->directory = strdup(directory);
	if (file->directory == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a temporary file");
	file->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file->fd < 0)
		file->fd = open_and_unlink(directory);
	if (file->fd >= 0)
		return LPL_OK;
	(void)lpl_fail(report, LPL_ERR_IO, "%.200s, where TMPDIR may name another: no temporary file can be made", directory);
	free(file->directory);
	file->directory = NULL;
	return LPL_ERR_IO;
}

void lpl_temporary_close(struct lpl_temporary *file)
{
	(void)close(file->fd);
	free(file->directory);
}

static enum lpl_error failed(const struct lpl_temporary *file, struct lpl_report *report)
{
	return lpl_fail(report, errno == ENOSPC || errno == EDQUOT ? LPL_ERR_FULL : LPL_ERR_IO,
			"%.200s, where TMPDIR may name another: a temporary file", file->directory);
}

enum lpl_error lpl_temporary_write(const struct lpl_temporary *file, const void *bytes, size_t size,
				   size_t offset, struct lpl_report *report)
{
	return lpl_write_all(file->fd, bytes, size, (off_t)offset) ? LPL_OK : failed(file, report);
}

enum lpl_error lpl_temporary_read(const struct lpl_temporary *file, void *bytes, size_t size,
				  size_t offset, size_t *got, struct lpl_report *report)
{
	*got = 0;
	while (*got < size) {
		const ssize_t some = pread(file->fd, (char *)bytes + *got, size - *got,
					   (off_t)(offset + *got));

		if (some < 0 && errno == EINTR)
			continue;
		if (some < 0)
			return failed(file, report);
		if (some == 0)
			break;
		*got += (size_t)some;
	}
	return LPL_OK;
}
