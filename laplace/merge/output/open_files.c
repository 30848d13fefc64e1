/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A cache of open files. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/try.h"
#include "base/work_queue.h"
#include "open_files.h"

struct open_file {
	struct task_file *file;	/* NULL: free */
	int fd;
	uint64_t used_at;	/* when it was last asked for */
	size_t used;		/* of the buffer */
	char *buffer;		/* NULL until it is needed first */
};

/* A full buffer on its way into its file, which may be another's by the time that is reported. */
struct batch {
	int fd;
	char *buffer;		/* NULL until it is needed first */
	size_t size;
	uint64_t offset;	/* in the file */
	uint64_t directory, name;
	int error;		/* errno */
};

struct open_files {
	int fd;
	char *what;
	uint64_t now;
	struct open_file slot[OPEN_FILES];
	struct lpl_work_queue *queue;
	unsigned int jobs;
	struct batch batch[LPL_QUEUE_MOST_SLOTS];	/* by slot */
};

char *lpl_task_file_directory(char path[FILES_PATH], uint64_t directory)
{
	const uint64_t first = directory - directory % FILES_GROUP;

	if (first == 0)
		(void)snprintf(path, FILES_PATH, "%" PRIu64, directory);
	else
		(void)snprintf(path, FILES_PATH, "%" PRIu64 "-%" PRIu64 "/%" PRIu64, first,
			       first + (FILES_GROUP - 1), directory);
	return path;
}

/* On any thread. */
static void write_batch(void *context, unsigned int slot)
{
	struct batch *batch = &((struct open_files *)context)->batch[slot];
	size_t done = 0;

	batch->error = 0;
	while (done < batch->size) {
		ssize_t count = pwrite(batch->fd, batch->buffer + done, batch->size - done,
				       (off_t)(batch->offset + done));

		if (count > 0)
			done += (size_t)count;
		else if (count == 0 || errno != EINTR)
			batch->error = count == 0 ? ENOSPC : errno;
		if (batch->error != 0)
			return;
	}
}

bool lpl_open_files_jobs(struct open_files *files, unsigned int jobs)
{
	lpl_work_queue_free(files->queue);
	files->jobs = lpl_work_queue_jobs(jobs);
	files->queue = lpl_work_queue_new(files->jobs, write_batch, files);
	return files->queue != NULL;
}

struct open_files *lpl_open_files_new(int fd, const char *what)
{
	struct open_files *files = calloc(1, sizeof(*files));

	if (files == NULL)
		return NULL;
	files->fd = fd;
	files->what = strdup(what);
	if (files->what == NULL || !lpl_open_files_jobs(files, 1)) {
		lpl_open_files_free(files);
		return NULL;
	}
	return files;
}

void lpl_open_files_free(struct open_files *files)
{
	if (files == NULL)
		return;
	lpl_work_queue_free(files->queue);	/* its threads first: they use what follows */
	for (size_t i = 0; i < LPL_QUEUE_MOST_SLOTS; i++)
		free(files->batch[i].buffer);
	for (size_t i = 0; i < OPEN_FILES; i++) {
		if (files->slot[i].file != NULL)
			(void)close(files->slot[i].fd);
		free(files->slot[i].buffer);
	}
	free(files->what);
	free(files);
}

static enum lpl_error failed_at(const struct open_files *files, uint64_t directory, uint64_t name,
				const char *why, struct lpl_report *report)
{
	bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
	enum lpl_error error = full ? LPL_ERR_FULL : LPL_ERR_IO;
	const int number = errno;
	char path[FILES_PATH];

	(void)lpl_task_file_directory(path, directory);
	errno = number;
	(void)lpl_fail(report, error, "%s/%s/%" PRIu64 ": %s", files->what, path, name, why);
	return error;
}

static enum lpl_error failed(const struct open_files *files, const struct task_file *file,
			     const char *why, struct lpl_report *report)
{
	return failed_at(files, file->directory, file->name, why, report);
}

/* The oldest batch is written, or was not. */
static enum lpl_error settle(struct open_files *files, struct lpl_report *report)
{
	const struct batch *batch = &files->batch[lpl_work_queue_oldest(files->queue)];

	lpl_work_queue_take(files->queue);
	if (batch->error == 0)
		return LPL_OK;
	errno = batch->error;
	return failed_at(files, batch->directory, batch->name, "cannot be written", report);
}

static enum lpl_error no_buffer(const struct open_files *files, struct lpl_report *report)
{
	(void)lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory for a buffer", files->what);
	return LPL_ERR_MEMORY;
}

static enum lpl_error write_out(struct open_files *files, struct open_file *open,
				struct lpl_report *report)
{
	enum lpl_error error = lpl_work_queue_full(files->queue) ? settle(files, report) : LPL_OK;
	struct batch *batch;
	char *empty;

	if (error != LPL_OK || open->used == 0)
		return error;
	batch = &files->batch[lpl_work_queue_next(files->queue)];
	if (batch->buffer == NULL)
		batch->buffer = malloc(OPEN_FILE_BUFFER);
	empty = batch->buffer;
	if (empty == NULL)
		return no_buffer(files, report);
	*batch = (struct batch){ .fd = open->fd, .buffer = open->buffer, .size = open->used,
				 .offset = open->file->size,
				 .directory = open->file->directory, .name = open->file->name };
	open->buffer = empty;
	open->file->size += open->used;
	open->used = 0;
	lpl_work_queue_put(files->queue);
	/* alone there is no other to wait for */
	return files->jobs == 1 ? settle(files, report) : LPL_OK;
}

static enum lpl_error release(struct open_files *files, struct open_file *open,
			      struct lpl_report *report)
{
	struct task_file *file = open->file;
	enum lpl_error error = write_out(files, open, report);

	while (!lpl_work_queue_empty(files->queue)) {
		const enum lpl_error failure = settle(files, report);

		error = error != LPL_OK ? error : failure;
	}
	file->open = NULL;
	open->file = NULL;
	open->used = 0;
	if (close(open->fd) != 0 && error == LPL_OK)
		error = failed(files, file, "cannot be closed", report);
	return error;
}

static struct open_file *oldest(struct open_files *files)
{
	struct open_file *best = &files->slot[0];

	for (size_t i = 0; i < OPEN_FILES && best->file != NULL; i++)
		if (files->slot[i].file == NULL || files->slot[i].used_at < best->used_at)
			best = &files->slot[i];
	return best;
}

/* The directory, and the group's if it is in one. */
static bool make_directory(const struct open_files *files, char *path)
{
	char *slash = strchr(path, '/');

	if (slash != NULL) {
		*slash = '\0';
		if (mkdirat(files->fd, path, 0777) != 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return mkdirat(files->fd, path, 0777) == 0 || errno == EEXIST;
}

static enum lpl_error open_it(struct open_files *files, struct task_file *file,
			      struct lpl_report *report)
{
	struct open_file *open = oldest(files);
	char directory[FILES_PATH], path[FILES_PATH + 32];

	if (open->file != NULL)
		LPL_TRY(release(files, open, report));
	if (open->buffer == NULL)
		open->buffer = malloc(OPEN_FILE_BUFFER);
	if (open->buffer == NULL)
		return no_buffer(files, report);
	(void)lpl_task_file_directory(directory, file->directory);
	(void)snprintf(path, sizeof(path), "%s/%" PRIu64, directory, file->name);
	if (!file->created && !make_directory(files, directory))
		return failed(files, file, "its directory cannot be made", report);
	open->fd = openat(files->fd, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW |
			  (file->created ? 0 : O_CREAT), 0666);
	if (open->fd < 0)
		return failed(files, file, "cannot be opened", report);
	file->created = true;
	file->open = open;
	open->file = file;
	return LPL_OK;
}

enum lpl_error lpl_task_file_room(struct open_files *files, struct task_file *file, size_t size,
				  char **room, struct lpl_report *report)
{
	if (file->open == NULL)
		LPL_TRY(open_it(files, file, report));
	if (OPEN_FILE_BUFFER - file->open->used < size)
		LPL_TRY(write_out(files, file->open, report));
	assert(OPEN_FILE_BUFFER - file->open->used >= size);
	file->open->used_at = ++files->now;
	*room = file->open->buffer + file->open->used;
	return LPL_OK;
}

void lpl_task_file_advance(struct task_file *file, const char *end)
{
	assert(file->open->buffer <= end && end - file->open->buffer <= OPEN_FILE_BUFFER);
	file->open->used = (size_t)(end - file->open->buffer);
}

enum lpl_error lpl_task_file_close(struct open_files *files, struct task_file *file,
				   struct lpl_report *report)
{
	if (file->open == NULL && file->created)
		return LPL_OK;
	if (file->open == NULL)
		LPL_TRY(open_it(files, file, report));
	return release(files, file->open, report);
}
