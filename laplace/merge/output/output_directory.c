/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Directories that get their name only when they are whole.
 *
 * What is removed is looked through first: it has to begin with our index, and to
 * hold nothing but what we write.  Anything else is refused, and left as it is.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "base/try.h"
#include "output_directory.h"

static int open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_number(const char *name)
{
	return name[0] != '\0' && name[strspn(name, "0123456789")] == '\0';
}

/* "10000-19999" */
static bool is_group(const char *name)
{
	const char *last = name + strspn(name, "0123456789");

	return last != name && *last == '-' && is_number(last + 1);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Call `each` for every entry of a directory until it returns other than 0. */
static int walk(int parent, const char *name,
		int (*each)(int fd, const char *name, void *context), void *context)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int result = 0;

	if (stream == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	while (result == 0 && (entry = readdir(stream)) != NULL)
		if (!is_dots(entry->d_name))
			result = each(fd, entry->d_name, context);
	(void)closedir(stream);
	return result;
}

/* ---- is it ours? ---- */

static bool has_heading(int fd, const struct lpl_output_directory *directory)
{
	size_t length = strlen(directory->heading);
	char *found = calloc(1, length + 1);
	int index = openat(fd, directory->index, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool same = index >= 0 && found != NULL && read(index, found, length) == (ssize_t)length &&
		    strcmp(found, directory->heading) == 0;

	if (index >= 0)
		(void)close(index);
	free(found);
	return same;
}

static int is_numbered_file(int fd, const char *name, void *context)
{
	struct stat status;

	(void)context;
	return is_number(name) && fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(status.st_mode) ? 0 : 1;
}

static int is_numbered_directory(int fd, const char *name, void *context)
{
	return is_number(name) ? walk(fd, name, is_numbered_file, context) : 1;
}

static int is_our_entry(int fd, const char *name, void *context)
{
	const struct lpl_output_directory *directory = context;

	if (strcmp(name, directory->index) == 0)
		return has_heading(fd, directory) ? 0 : 1;
	return is_group(name) ? walk(fd, name, is_numbered_directory, context) :
				is_numbered_directory(fd, name, context);
}

static bool is_ours(struct lpl_output_directory *directory, const char *path)
{
	struct stat status;
	int fd;
	bool ours;

	if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode))
		return false;
	fd = open_directory(path);
	if (fd < 0)
		return false;
	ours = has_heading(fd, directory);
	(void)close(fd);
	return ours && walk(AT_FDCWD, path, is_our_entry, directory) == 0;
}

/* ---- removal ---- */

static int remove_file(int fd, const char *name, void *context)
{
	(void)context;
	return is_number(name) ? unlinkat(fd, name, 0) : 0;
}

static int remove_directory(int fd, const char *name, void *context)
{
	if (!is_number(name))
		return 0;
	if (walk(fd, name, remove_file, context) != 0)
		return -1;
	return unlinkat(fd, name, AT_REMOVEDIR);
}

static int remove_entry(int fd, const char *name, void *context)
{
	if (!is_group(name))
		return remove_directory(fd, name, context);
	if (walk(fd, name, remove_directory, context) != 0)
		return -1;
	return unlinkat(fd, name, AT_REMOVEDIR);
}

/* The index goes last: as long as it is there, what is left is known as ours. */
static bool remove_all(struct lpl_output_directory *directory, const char *path)
{
	int fd = open_directory(path);
	bool done = fd >= 0 && walk(fd, ".", remove_entry, directory) == 0 &&
		    (unlinkat(fd, directory->index, 0) == 0 || errno == ENOENT);

	if (fd >= 0)
		(void)close(fd);
	return done && rmdir(path) == 0;
}

/* ---- the life of one ---- */

static bool exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

/* May what is at `path`, if anything, be replaced? */
static enum lpl_error check_target(struct lpl_output_directory *directory, const char *path,
				   struct lpl_report *report)
{
	if (!exists(path))
		return LPL_OK;
	if (!directory->overwrite)
		return lpl_fail(report, LPL_ERR_USAGE,
				path == directory->part ?
				"%s: exists, left by another run; overwriting replaces it" :
				"%s: exists; overwriting has to be asked for", path);
	if (!is_ours(directory, path))
		return lpl_fail(report, LPL_ERR_USAGE,
				"%s: is no directory of traces by process, or holds something "
				"else as well: it is not replaced", path);
	return LPL_OK;
}

/* A ".part" that exists already: left by a run that ended early, or still being written? */
static enum lpl_error remove_part(struct lpl_output_directory *directory,
				  struct lpl_report *report)
{
	int fd = open_directory(directory->part);
	enum lpl_error error = LPL_OK;

	if (fd >= 0 && lpl_part_is_locked(fd))
		error = lpl_fail(report, LPL_ERR_USAGE, "%s: is being written by somebody else;"
				 " choose another name", directory->part);
	else if (!remove_all(directory, directory->part))
		error = lpl_fail(report, LPL_ERR_IO, "%s: cannot be removed", directory->part);
	if (fd >= 0)
		(void)close(fd);
	return error;
}

/* "PATH.part" is ours from here on. */
static enum lpl_error make_part(struct lpl_output_directory *directory,
				struct lpl_report *report)
{
	enum lpl_error error;

	if (mkdir(directory->part, 0777) != 0)
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be made", directory->part);
	directory->fd = open_directory(directory->part);
	if (directory->fd >= 0) {
		(void)lpl_part_is_locked(directory->fd);	/* now it is by us */
		return LPL_OK;
	}
	error = lpl_fail(report, LPL_ERR_IO, "%s: cannot be opened", directory->part);
	(void)rmdir(directory->part);
	return error;
}

static void free_names(struct lpl_output_directory *directory)
{
	free(directory->path);
	free(directory->part);
	directory->path = directory->part = NULL;
}

enum lpl_error lpl_output_directory_open(struct lpl_output_directory *directory,
					 const char *path, const char *index,
					 const char *heading, bool overwrite,
					 struct lpl_report *report)
{
	size_t length = strlen(path);
	enum lpl_error error;

	*directory = (struct lpl_output_directory){ .index = index, .heading = heading,
						    .overwrite = overwrite, .fd = -1 };
	while (length > 1 && path[length - 1] == '/')
		length--;
	directory->path = strndup(path, length);
	if (directory->path == NULL ||
	    asprintf(&directory->part, "%s.part", directory->path) < 0) {
		directory->part = NULL;
		free_names(directory);
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory for its name", path);
	}
	error = check_target(directory, directory->path, report);
	if (error == LPL_OK)
		error = check_target(directory, directory->part, report);
	if (error == LPL_OK && exists(directory->part))
		error = remove_part(directory, report);
	if (error == LPL_OK)
		error = make_part(directory, report);
	if (error != LPL_OK)
		free_names(directory);
	return error;
}

/* One call for thousands of files. */
static enum lpl_error sync_all(const struct lpl_output_directory *directory,
			       struct lpl_report *report)
{
	if (syncfs(directory->fd) == 0 || errno == EROFS || errno == ENOSYS)
		return LPL_OK;
	return lpl_fail(report, errno == ENOSPC || errno == EDQUOT ? LPL_ERR_FULL : LPL_ERR_IO,
			"%s: cannot be synced", directory->part);
}

/* What is there has its name until the new one has it, where the file system can do that. */
static enum lpl_error replace(struct lpl_output_directory *directory, struct lpl_report *report)
{
	const char *old = directory->part;

	LPL_TRY(check_target(directory, directory->path, report));
	if (renameat2(AT_FDCWD, directory->part, AT_FDCWD, directory->path,
		      RENAME_EXCHANGE) != 0) {
		if (errno != EINVAL && errno != ENOSYS)
			return lpl_fail(report, LPL_ERR_IO, "%s: cannot be renamed",
					directory->part);
		old = directory->path;
	}
	if (!remove_all(directory, old))
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be removed", old);
	return old == directory->part ? LPL_OK :
			lpl_part_rename(directory->part, directory->path, directory->path,
					report);
}

enum lpl_error lpl_output_directory_commit(struct lpl_output_directory *directory,
					   struct lpl_report *report)
{
	enum lpl_error error = sync_all(directory, report);

	if (error == LPL_OK && directory->overwrite && exists(directory->path))
		error = replace(directory, report);
	else if (error == LPL_OK)
		error = lpl_part_rename(directory->part, directory->path, directory->path,
					report);
	if (error == LPL_OK)
		error = lpl_sync_name(directory->path, directory->path, report);
	free_names(directory);
	return error;
}

void lpl_output_directory_discard(struct lpl_output_directory *directory)
{
	if (directory->part != NULL)
		(void)remove_all(directory, directory->part);
	if (directory->fd >= 0)
		(void)close(directory->fd);
	directory->fd = -1;
	free_names(directory);
}
