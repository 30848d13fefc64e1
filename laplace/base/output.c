/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that get their name only when they are whole: see output.h.
 *
 * What a full disk does to them is decided in three places.  lpl_output_reserve() finds out before
 * a piece is begun, and has the file system keep the room (beyond the file's end, so that its size
 * says what is in it).  Where that cannot be done, lpl_output_write() meets it within a piece: it
 * goes on there when there is room, or takes the piece back.  lpl_output_sync() meets what a file
 * system noticed late; no waiting helps then, for the kernel may have forgotten the data.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "digits.h"
#include "output.h"
#include "try.h"

void lpl_short_name(char name[LPL_NAME_SIZE], const char *path)
{
	size_t length = strlen(path);

	if (length < LPL_NAME_SIZE)
		memcpy(name, path, length + 1);
	else
		(void)snprintf(name, LPL_NAME_SIZE, "...%s",
			       path + length - (LPL_NAME_SIZE - 4));
}

static bool out_of_space(int number)
{
	return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

bool lpl_part_is_locked(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/* May what is called so be removed?  Sets errno. */
static bool can_remove(const char *path)
{
	char *copy = strdup(path);
	const bool can = copy && access(dirname(copy), W_OK | X_OK) == 0;

	free(copy);
	return can;
}

/*
 * A ".part" that exists already: left by a run that ended early, or still being written?  It is removed,
 * or, with `only_try`, it is said whether it could be.
 */
static enum lpl_error remove_part(struct lpl_output *output, bool only_try, struct lpl_report *report)
{
	int fd = open(output->part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool locked = fd >= 0 && lpl_part_is_locked(fd);
	enum lpl_error error = LPL_OK;

	if (locked)
		error = lpl_fail(report, LPL_ERR_USAGE, "%s.part: is being written by somebody else;"
				 " choose another name", output->name);
	else if (only_try ? !can_remove(output->part) : unlink(output->part) != 0 && errno != ENOENT)
		error = lpl_fail(report, LPL_ERR_IO, "%s.part: cannot be replaced", output->name);
	if (fd >= 0)
		(void)close(fd);
	return error;
}

/* "PATH.part" is ours from here on. */
static enum lpl_error open_part(struct lpl_output *output, struct lpl_report *report)
{
	enum lpl_error error = output->overwrite ? remove_part(output, false, report) : LPL_OK;

	if (error != LPL_OK)
		return error;
	output->fd = open(output->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (output->fd >= 0) {
		(void)lpl_part_is_locked(output->fd);	/* not yet: it is new; now it is by us */
		return LPL_OK;
	}
	if (errno == EEXIST)
		return lpl_fail(report, LPL_ERR_USAGE,
				"%s.part: " LPL_LEFT_PART "; read what it holds, then remove it, or allow"
				" overwriting", output->name);
	return lpl_fail(report, out_of_space(errno) ? LPL_ERR_FULL : LPL_ERR_IO,
			"%s.part: cannot be created", output->name);
}

static enum lpl_error take_names(struct lpl_output *output, const char *path,
				 struct lpl_report *report)
{
	output->path = strdup(path);
	if (output->path && asprintf(&output->part, "%s.part", path) >= 0)
		return LPL_OK;
	free(output->path);
	output->path = output->part = NULL;
	return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory for its name", output->name);
}

static void forget_names(struct lpl_output *output)
{
	free(output->path);
	free(output->part);
	output->path = output->part = NULL;
}

bool lpl_names_descriptor(const char *path, int *fd)
{
	static const char folder[] = "/dev/fd/";
	uint64_t number;

	if (strncmp(path, folder, sizeof(folder) - 1) != 0 ||
	    !lpl_parse_decimal(path + sizeof(folder) - 1, &number) || number > INT_MAX)
		return false;
	*fd = (int)number;
	return true;
}

enum lpl_error lpl_output_open(struct lpl_output *output, const char *path, bool overwrite,
			       struct lpl_report *report)
{
	struct stat status;
	enum lpl_error error;
	int fd = -1;

	memset(output, 0, sizeof(*output));
	output->fd = -1;
	output->overwrite = overwrite;
	if (strcmp(path, "-") == 0) {
		lpl_short_name(output->name, "(standard output)");
		output->fd = STDOUT_FILENO;
		return LPL_OK;
	}
	if (path[0] == '\0') {
		errno = ENOENT;
		return lpl_fail(report, LPL_ERR_IO, "the output has no name");
	}
	lpl_short_name(output->name, path);
	if (lpl_names_descriptor(path, &fd) ||
	    (stat(path, &status) == 0 && !S_ISREG(status.st_mode))) {
		output->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) :
				       open(path, O_WRONLY | O_CLOEXEC);
		if (output->fd >= 0)
			return LPL_OK;
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be written", output->name);
	}
	if (!overwrite && lstat(path, &status) == 0)
		return lpl_fail(report, LPL_ERR_USAGE,
				"%s: exists; choose another name, or allow overwriting",
				output->name);

	error = take_names(output, path, report);
	if (error == LPL_OK)
		error = open_part(output, report);
	if (error != LPL_OK)
		forget_names(output);
	return error;
}

enum lpl_error lpl_output_try(const char *path, bool overwrite, struct lpl_report *report)
{
	struct lpl_output output = { .fd = -1 };
	struct stat left;
	enum lpl_error error;

	lpl_short_name(output.name, path);
	LPL_TRY(take_names(&output, path, report));
	if (overwrite && path[0] != '\0' && lstat(output.part, &left) == 0) {
		error = remove_part(&output, true, report);
		forget_names(&output);
		return error;
	}
	forget_names(&output);
	LPL_TRY(lpl_output_open(&output, path, overwrite, report));
	lpl_output_discard(&output);
	return LPL_OK;
}

static enum lpl_error continue_part(struct lpl_output *output, struct lpl_report *report)
{
	const off_t size = (off_t)output->written;

	output->fd = open(output->part, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (output->fd >= 0 && lpl_part_is_locked(output->fd))
		return lpl_fail(report, LPL_ERR_USAGE, "%s.part: is being written by somebody else",
				output->name);
	if (output->fd >= 0 && ftruncate(output->fd, size) == 0 &&
	    lseek(output->fd, size, SEEK_SET) >= 0)
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_IO, "%s.part: cannot be continued", output->name);
}

enum lpl_error lpl_output_continue(struct lpl_output *output, const char *path, uint64_t size,
				   bool overwrite, struct lpl_report *report)
{
	enum lpl_error error;

	memset(output, 0, sizeof(*output));
	lpl_short_name(output->name, path);
	output->overwrite = overwrite;
	output->written = size;
	output->fd = -1;
	error = take_names(output, path, report);
	if (error == LPL_OK)
		error = continue_part(output, report);
	if (error != LPL_OK) {
		if (output->fd >= 0)
			(void)close(output->fd);
		output->fd = -1;
		forget_names(output);
	}
	return error;
}

/* `%s%s`, the file's name as it is now */
#define NAME_NOW(output) (output)->name, (output)->part ? ".part" : ""

static enum lpl_error report_no_room(const struct lpl_output *output, size_t size, int number,
				     struct lpl_report *report)
{
	errno = number;
	return lpl_fail(report, LPL_ERR_FULL, "%s%s: no room for %zu bytes at offset %" PRIu64
			"; what was written before is whole: make room, or write to another device",
			NAME_NOW(output), size, output->written);
}

/* Shall it be tried again?  A limit of the file's own size (EFBIG) does not pass. */
static bool waited_for_room(const struct lpl_output *output, size_t size, int number)
{
	struct lpl_report why = { .error = LPL_OK };

	if (!output->no_room || (number != ENOSPC && number != EDQUOT))
		return false;
	(void)report_no_room(output, size, number, &why);
	return output->no_room(output->context, &why);
}

/* Back to the last whole piece. */
static void take_back(const struct lpl_output *output, size_t done)
{
	if (!output->part || done == 0)
		return;
	if (ftruncate(output->fd, (off_t)output->written) != 0) {
		/* the rest remains, until it is written over or a reader finds it */
	}
	(void)lseek(output->fd, (off_t)output->written, SEEK_SET);
}

static enum lpl_error write_failed(const struct lpl_output *output, size_t size, int number,
				   struct lpl_report *report)
{
	if (out_of_space(number))
		return report_no_room(output, size, number, report);
	errno = number;
	if (number == EPIPE)
		return lpl_fail(report, LPL_ERR_IO, "%s: is not read beyond offset %" PRIu64,
				output->name, output->written);
	return lpl_fail(report, LPL_ERR_IO, "%s%s: cannot write %zu bytes at offset %" PRIu64,
			NAME_NOW(output), size, output->written);
}

enum lpl_error lpl_output_write(struct lpl_output *output, const void *bytes, size_t size,
				struct lpl_report *report)
{
	bool waited = false;
	size_t done = 0;

	while (done < size) {
		ssize_t count = write(output->fd, (const char *)bytes + done, size - done);
		int number = errno;

		if (count > 0) {
			done += (size_t)count;
			continue;
		}
		if (count < 0 && number == EINTR)
			continue;
		if (count < 0 && number == EAGAIN) {	/* a pipe somebody made so */
			(void)poll(&(struct pollfd){ output->fd, POLLOUT, 0 }, 1, -1);
			continue;
		}
		if (count == 0)
			number = ENOSPC;	/* nothing written, no reason given */
		if (waited_for_room(output, size, number)) {
			waited = true;
			continue;
		}
		take_back(output, done);
		return write_failed(output, size, number, report);
	}
	output->written += size;
	if (waited)
		(void)output->no_room(output->context, NULL);
	return LPL_OK;
}

/* Room up to `size` bytes after what was written.  Returns errno, or 0. */
static int reserve(const struct lpl_output *output, uint64_t size)
{
	int result;

	do
		result = fallocate(output->fd, FALLOC_FL_KEEP_SIZE, (off_t)output->written,
				   (off_t)size);
	while (result != 0 && errno == EINTR);
	return result == 0 ? 0 : errno;
}

enum lpl_error lpl_output_reserve(struct lpl_output *output, uint64_t size, uint64_t ahead,
				  struct lpl_report *report)
{
	bool waited = false;
	int number;

	if (!output->part || output->cannot_reserve || output->written + size <= output->reserved)
		return LPL_OK;
	while ((number = reserve(output, size + ahead)) != 0) {
		if (!out_of_space(number)) {
			output->cannot_reserve = true;
			break;
		}
		if (ahead > 0) {	/* for this piece there may be enough */
			ahead = 0;
			continue;
		}
		if (!waited_for_room(output, size, number))
			return report_no_room(output, size, number, report);
		waited = true;
	}
	if (number == 0)
		output->reserved = output->written + size + ahead;
	if (waited)
		(void)output->no_room(output->context, NULL);
	return LPL_OK;
}

/* Give back what was kept and not used. */
static void release_reserved(struct lpl_output *output)
{
	if (output->reserved > output->written && output->fd >= 0 &&
	    ftruncate(output->fd, (off_t)output->written) != 0)
		errno = 0;	/* it is given back when the file is removed */
	output->reserved = 0;
}

static bool synced(int (*sync)(int fd), int fd)
{
	int result;

	do
		result = sync(fd);
	while (result != 0 && errno == EINTR);
	return result == 0;
}

static enum lpl_error not_synced(const struct lpl_output *output, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_IO, "%s.part: cannot be synced: what was written up to "
			"offset %" PRIu64 " may not be on the disk", output->name,
			output->written);
}

enum lpl_error lpl_output_sync(struct lpl_output *output, struct lpl_report *report)
{
	if (!output->part)
		return LPL_OK;
	if (!synced(fdatasync, output->fd))
		return not_synced(output, report);
	if (output->name_synced)
		return LPL_OK;
	output->name_synced = true;
	return lpl_sync_name(output->part, output->name, report);
}

FILE *lpl_output_stream(const struct lpl_output *output)
{
	int fd = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
	FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (stream == NULL && fd >= 0)
		(void)close(fd);
	return stream;
}

enum lpl_error lpl_sync_name(const char *path, const char *name, struct lpl_report *report)
{
	char *copy = strdup(path);
	bool known;
	int fd;

	if (!copy)
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory for its name", name);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	/* a directory we may write but not read, or that cannot be synced */
	if (fd < 0)
		return LPL_OK;
	known = synced(fsync, fd) || errno == EINVAL || errno == EROFS;
	if (!known)
		(void)lpl_fail(report, LPL_ERR_IO, "%s: its directory cannot be synced", name);
	(void)close(fd);
	return known ? LPL_OK : LPL_ERR_IO;
}

static enum lpl_error made_meanwhile(const char *name, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_USAGE,
			"%s: was created by somebody else meanwhile; all of it is in %s.part",
			name, name);
}

static enum lpl_error not_renamed(const char *name, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_IO, "%s.part: cannot be renamed", name);
}

bool lpl_write_all(int fd, const void *bytes, size_t count, off_t offset)
{
	const char *at = bytes;
	size_t done = 0;

	while (done < count) {
		ssize_t n = offset == LPL_HERE ? write(fd, at + done, count - done) :
			    pwrite(fd, at + done, count - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)	/* nothing written, no reason given: it would be so again */
			errno = ENOSPC;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

enum lpl_error lpl_refuse_existing(const char *path, const char *what, struct lpl_report *report)
{
	struct stat status;
	char name[LPL_NAME_SIZE];

	lpl_short_name(name, path);
	return lstat(path, &status) == 0 ? lpl_fail(report, LPL_ERR_USAGE, "%s: %s", name, what) : LPL_OK;
}

enum lpl_error lpl_part_rename(const char *part, const char *path, const char *name,
			       struct lpl_report *report)
{
	struct stat status;

	if (renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return LPL_OK;
	if (errno == EEXIST)
		return made_meanwhile(name, report);
	if (errno != EINVAL && errno != ENOSYS)
		return not_renamed(name, report);
	/* a file system that cannot; then as well as it can be done */
	if (lstat(path, &status) == 0)
		return made_meanwhile(name, report);
	return rename(part, path) == 0 ? LPL_OK : not_renamed(name, report);
}

static enum lpl_error give_name(const struct lpl_output *output, struct lpl_report *report)
{
	if (!output->overwrite)
		return lpl_part_rename(output->part, output->path, output->name, report);
	return rename(output->part, output->path) == 0 ? LPL_OK :
							 not_renamed(output->name, report);
}

enum lpl_error lpl_output_commit(struct lpl_output *output, struct lpl_report *report)
{
	enum lpl_error error = LPL_OK;
	int fd = output->fd, lock;

	if (!output->part) {
		lpl_output_discard(output);
		return LPL_OK;
	}
	release_reserved(output);
	output->fd = -1;
	lock = dup(fd);		/* the same one: it is held until the file has its name */
	if (!synced(fsync, fd))
		error = not_synced(output, report);
	if (close(fd) != 0 && errno != EINTR && error == LPL_OK)
		error = lpl_fail(report, out_of_space(errno) ? LPL_ERR_FULL : LPL_ERR_IO,
				 "%s.part: cannot be closed", output->name);
	if (error == LPL_OK)
		error = give_name(output, report);
	if (lock >= 0)
		(void)close(lock);
	if (error == LPL_OK)
		error = lpl_sync_name(output->path, output->name, report);
	forget_names(output);
	return error;
}

void lpl_output_discard(struct lpl_output *output)
{
	release_reserved(output);
	if (output->fd >= 0 && output->fd != STDOUT_FILENO)
		(void)close(output->fd);
	output->fd = -1;
	if (output->part && output->written == 0)
		(void)unlink(output->part);
	forget_names(output);
}
