/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of many files. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "importer.h"
#include "merge/output/open_files.h"
#include "merge/output/per_process.h"
#include "task_files.h"

#define FIRST_PIECE 4096	/* a task that runs for a moment has a few lines */

/* What is wrong from now on is in this file, in its next line. */
static void show(struct lpl_importer *importer, struct task_files *files,
		 const struct task_source *source)
{
	char directory[FILES_PATH];

	importer->place = source->line;
	if (files->shown == source)
		return;
	files->shown = source;
	if (source->index)
		strcpy(importer->below, TASKS_INDEX);
	else
		snprintf(importer->below, sizeof(importer->below), "%s/%" PRIu64,
			 lpl_task_file_directory(directory, source->directory), source->name);
}

static bool failed(struct lpl_importer *importer, enum lpl_error error, const char *why)
{
	(void)lpl_fail(importer->report, error, "%s/%s: %s", importer->options.input,
		       importer->below, why);
	return false;
}

static bool no_file(struct lpl_importer *importer, const struct task_source *source)
{
	if (source->index && errno == ENOENT)
		return failed(importer, LPL_ERR_FORMAT, "is not there: this is no directory of "
			      "laplace merge --format per-process");
	if (errno == ENOENT || errno == ELOOP)
		return failed(importer, LPL_ERR_DAMAGED, "is no file that is there, and "
			      TASKS_INDEX " names it");
	return failed(importer, LPL_ERR_IO, "cannot be opened");
}

static void close_slot(struct task_file_open *open)
{
	if (!open->source)
		return;
	(void)close(open->fd);
	open->source->open = NULL;
	open->source = NULL;
}

void lpl_task_files_close(struct task_files *files)
{
	for (size_t i = 0; i < TASK_FILES; i++) {
		close_slot(&files->slot[i]);
		free(files->slot[i].buffer);
		files->slot[i].buffer = NULL;
	}
}

void lpl_task_source_close(struct task_source *source)
{
	if (source->open)
		close_slot(source->open);
}

/* -1 after a complaint. */
static int open_file(struct lpl_importer *importer, const struct task_source *source, off_t *size)
{
	/* not to wait for whoever writes to a pipe */
	int fd = openat(importer->fd, importer->below,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat about;

	if (fd < 0) {
		(void)no_file(importer, source);
		return -1;
	}
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
		*size = about.st_size;
		return fd;
	}
	(void)close(fd);
	(void)failed(importer, LPL_ERR_DAMAGED, "is no file");
	return -1;
}

static bool open_source(struct lpl_importer *importer, struct task_files *files,
			struct task_source *source)
{
	struct task_file_open *open = &files->slot[0];
	off_t size;
	int fd;

	for (size_t i = 0; i < TASK_FILES && open->source; i++)
		if (!files->slot[i].source || files->slot[i].used_at < open->used_at)
			open = &files->slot[i];
	close_slot(open);
	if (!open->buffer)
		open->buffer = malloc(TASK_FILE_BUFFER);
	if (!open->buffer)
		return lpl_import_no_memory(importer);
	fd = open_file(importer, source, &size);
	if (fd < 0)
		return false;
	*open = (struct task_file_open){ .source = source, .fd = fd, .buffer = open->buffer,
					 .wanted = FIRST_PIECE };
	source->open = open;
	return true;
}

/* Read on after what is left, until there is a whole line, or the file ends. */
static bool fill(struct lpl_importer *importer, struct task_file_open *open)
{
	const struct lpl_import_options *options = &importer->options;
	const char *newline;
	ssize_t n;

	open->used -= open->at;
	memmove(open->buffer, open->buffer + open->at, open->used);
	open->at = open->lines_end = 0;
	while (!open->lines_end && !open->over) {
		size_t room = TASK_FILE_BUFFER - open->used;

		if (!room)
			return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "longer than %d bytes",
						 TASK_FILE_BUFFER);
		n = pread(open->fd, open->buffer + open->used,
			  open->wanted < room ? open->wanted : room,
			  (off_t)(open->source->offset + open->used));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed(importer, LPL_ERR_IO, "cannot be read");
		open->over = n == 0;
		newline = memrchr(open->buffer + open->used, '\n', (size_t)n);
		open->used += (size_t)n;
		if (newline)
			open->lines_end = (size_t)(newline - open->buffer) + 1;
		if (open->wanted < TASK_FILE_BUFFER)
			open->wanted *= 2;
		importer->result.bytes += (uint64_t)n;
	}
	if (options->progress)
		options->progress(importer, options->context);
	if (open->lines_end || !open->used)
		return true;
	if (open->used < TASK_FILE_BUFFER)
		open->buffer[open->used] = '\n';	/* for the complaint */
	importer->line = open->buffer;
	return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the file ends within a line: was "
				 "it cut off?");
}

bool lpl_task_line(struct lpl_importer *importer, struct task_files *files,
		   struct task_source *source, const char **line)
{
	struct task_file_open *open = source->open;

	show(importer, files, source);
	importer->line = NULL;
	if (!open && !open_source(importer, files, source))
		return false;
	open = source->open;
	assert(open);
	open->used_at = ++files->now;
	if (open->at == open->lines_end && !fill(importer, open))
		return false;
	*line = open->at < open->lines_end ? open->buffer + open->at : NULL;
	importer->line = *line;
	return true;
}

void lpl_task_line_read(struct task_source *source, const char *newline)
{
	struct task_file_open *open = source->open;
	const size_t end = (size_t)(newline - open->buffer) + 1;

	source->offset += end - open->at;
	source->line++;
	open->at = end;
}

bool lpl_task_source_is_empty(struct lpl_importer *importer, struct task_files *files,
			      struct task_source *source)
{
	off_t size = 0;
	int fd;

	show(importer, files, source);
	fd = open_file(importer, source, &size);
	if (fd < 0)
		return false;
	(void)close(fd);
	return size == 0 || failed(importer, LPL_ERR_DAMAGED, "has lines, and " TASKS_INDEX
				   " says that it has none");
}
