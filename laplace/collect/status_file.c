/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The status file; see status_file.h.
 *
 * A run's lines follow those of earlier runs, so the file may be there already.  But one that does
 * not begin with a status line is a file of another kind, and is left as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "status_file.h"

static const char FIRST[] = "{\"laplace-status\":";

/* The file that `fd` is, under another name. */
static bool is_also(int fd, const char *path)
{
	struct stat ours, other;

	return fstat(fd, &ours) == 0 && stat(path, &other) == 0 && ours.st_dev == other.st_dev &&
	       ours.st_ino == other.st_ino;
}

/* The trace, finished or growing.  That does not yet have its name; but now we have it. */
static bool is_trace(int fd, const char *trace)
{
	char part[4096 + 8];

	return trace && (is_also(fd, trace) ||
			 ((size_t)snprintf(part, sizeof(part), "%s.part", trace) < sizeof(part) &&
			  is_also(fd, part)));
}

static enum lpl_error check_existing(struct lpl_status_file *file, const char *name,
				     struct lpl_report *report)
{
	char first[sizeof(FIRST) - 1], last;
	struct stat about;

	if (fstat(file->fd, &about) != 0)
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be read", name);
	if (!S_ISREG(about.st_mode) ||
	    (about.st_size && (pread(file->fd, first, sizeof(first), 0) != sizeof(first) ||
			       memcmp(first, FIRST, sizeof(first)) != 0)))
		return lpl_fail(report, LPL_ERR_USAGE, "%s: is there already, and no status file; "
				"choose another name", name);
	file->torn = about.st_size && pread(file->fd, &last, 1, about.st_size - 1) == 1 &&
		     last != '\n';
	return LPL_OK;
}

enum lpl_error lpl_status_file_open(struct lpl_status_file *file, const char *path,
				    const char *trace, struct lpl_report *report)
{
	const int how = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	enum lpl_error error = LPL_OK;
	char name[LPL_NAME_SIZE];
	bool there = false;

	*file = (struct lpl_status_file){ .fd = open(path, how | O_EXCL, 0666) };
	lpl_short_name(name, path);
	if (file->fd < 0 && errno == EEXIST) {
		there = true;
		file->fd = open(path, how, 0666);
	}
	if (file->fd < 0)
		return lpl_fail(report, LPL_ERR_IO, "%s: the status file cannot be opened", name);
	if (!there && !(file->made = strdup(path)))
		error = lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory for its name", name);
	else if (is_trace(file->fd, trace))
		error = lpl_fail(report, LPL_ERR_USAGE, "%s: is the trace; the status goes into "
				 "a file of its own", name);
	else if (there)
		error = check_existing(file, name, report);
	if (error)
		lpl_status_file_close(file);
	return error;
}

/* A line that could be written only in part is removed, so that the file has whole lines. */
static bool append(struct lpl_status_file *file, const char *text)
{
	const size_t size = strlen(text);
	struct stat before;
	ssize_t written;

	if (fstat(file->fd, &before) != 0)
		return false;
	do
		written = write(file->fd, text, size);
	while (written < 0 && errno == EINTR);
	if (written == (ssize_t)size)
		return true;
	if (written > 0) {
		file->torn = ftruncate(file->fd, before.st_size) != 0;
		errno = ENOSPC;
	}
	return false;
}

bool lpl_status_file_append(struct lpl_status_file *file, const char *line)
{
	bool had_failed = file->failed;

	file->failed = file->torn && !append(file, "\n");
	if (!file->failed) {
		file->torn = false;
		file->failed = !append(file, line);
	}
	return had_failed || !file->failed;
}

void lpl_status_file_close(struct lpl_status_file *file)
{
	struct stat about;

	if (file->made && fstat(file->fd, &about) == 0 && about.st_size == 0)
		(void)unlink(file->made);
	if (file->fd >= 0)
		(void)close(file->fd);
	free(file->made);
	*file = (struct lpl_status_file){ .fd = -1 };
}
