/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Page images as files: a directory with a file for each content that is stored, by its hash, and a table
 * of all images.  It is "DIRECTORY.part" until it is whole.
 */
#include <laplace/image.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/try.h"

struct lpl_image_files {
	struct lpl_sink sink;
	struct lpl_image_reader reader;
	char path[PATH_MAX], part[PATH_MAX];
	int directory;		/* -1: none */
	FILE *table;
};

static enum lpl_error fail(const struct lpl_image_files *files, const char *what,
			   struct lpl_report *report)
{
	return lpl_fail(report, errno == ENOSPC ? LPL_ERR_FULL : LPL_ERR_IO, "%.300s: %s", files->part, what);
}

/* ---- contents ---- */

static enum lpl_error write_all(const struct lpl_image_files *files, int file, const uint8_t *bytes,
				struct lpl_report *report)
{
	size_t done = 0;

	while (done < LPL_IMAGE_BYTES) {
		const ssize_t now = write(file, bytes + done, LPL_IMAGE_BYTES - done);

		if (now < 0 && errno != EINTR)
			return fail(files, "an image cannot be written", report);
		done += now > 0 ? (size_t)now : 0;
	}
	return LPL_OK;
}

/* (The same contents may come again.) */
static enum lpl_error write_contents(const struct lpl_image_files *files, const char *name,
				     const uint8_t *bytes, struct lpl_report *report)
{
	const int file = openat(files->directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	enum lpl_error error;

	if (file < 0)
		return fail(files, "an image cannot be written", report);
	error = write_all(files, file, bytes, report);
	if (close(file) != 0 && error == LPL_OK)
		error = fail(files, "an image cannot be written", report);
	return error;
}

/* ---- the stream ---- */

static void say_number(FILE *table, uint64_t number)
{
	if (number == KTR_NONE)
		fputs(",-", table);
	else
		fprintf(table, ",%" PRIx64, number);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	static const char *const kinds[] = { "unknown", "filled", "stored" };
	struct lpl_image_files *files = (struct lpl_image_files *)sink;
	char name[LPL_IMAGE_NAME_SIZE] = "";
	struct lpl_image image;

	if (!lpl_image_take(&files->reader, event, &image))
		return LPL_OK;
	if (image.kind == LPL_IMAGE_STORED)
		lpl_image_name(name, image.hash);
	if (image.kind == LPL_IMAGE_FILLED)
		snprintf(name, sizeof(name), "%" PRIx64, image.word);
	if (image.bytes != NULL)
		LPL_TRY(write_contents(files, name, image.bytes, report));
	fprintf(files->table, "%" PRIu64 ",%" PRIu64 ",%" PRIu64, event->ref, event->instr, event->cycle);
	say_number(files->table, image.space);
	say_number(files->table, image.address);
	say_number(files->table, image.frame);
	fprintf(files->table, ",%s,%s\n", image.lost ? "lost" : kinds[image.kind], name);
	return ferror(files->table) ? fail(files, "images.csv cannot be written", report) : LPL_OK;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	(void)sink, (void)refs, (void)count, (void)report;
	return LPL_OK;
}

/* What was made meanwhile is not replaced. */
static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_image_files *files = (struct lpl_image_files *)sink;
	FILE *table = files->table;

	files->table = NULL;
	if (fclose(table) != 0 || fsync(files->directory) != 0)
		return fail(files, "images.csv cannot be written", report);
	if (renameat2(AT_FDCWD, files->part, AT_FDCWD, files->path, RENAME_NOREPLACE) != 0)
		return fail(files, "cannot get its name", report);
	return LPL_OK;
}

/* ---- opening and closing ---- */

enum lpl_error lpl_image_files_open(struct lpl_image_files **result, const char *path,
				    struct lpl_report *report)
{
	struct lpl_image_files *files = calloc(1, sizeof(*files));
	int table, length = (int)strnlen(path, PATH_MAX);

	*result = NULL;
	if (files == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for images");
	files->directory = -1;
	files->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	lpl_image_reader_init(&files->reader);
	while (length > 1 && path[length - 1] == '/')
		length--;
	snprintf(files->path, sizeof(files->path), "%.*s", length, path);
	if ((size_t)snprintf(files->part, sizeof(files->part), "%.*s.part", length, path) >= sizeof(files->part) ||
	    *path == '\0' || access(path, F_OK) == 0) {
		free(files);
		return lpl_fail(report, LPL_ERR_USAGE, "%.300s: is there already, or no name of a directory",
				path);
	}
	*result = files;
	if (mkdir(files->part, 0777) != 0)
		return fail(files, "cannot be made", report);
	files->directory = open(files->part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	table = files->directory < 0 ? -1 : openat(files->directory, "images.csv",
						   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	files->table = table < 0 ? NULL : fdopen(table, "w");
	if (files->table == NULL || fputs("reference,instruction,cycle,space,address,frame,kind,contents\n",
					  files->table) < 0)
		return fail(files, "cannot be written", report);
	return LPL_OK;
}

struct lpl_sink *lpl_image_files_sink(struct lpl_image_files *files)
{
	return &files->sink;
}

void lpl_image_files_close(struct lpl_image_files *files)
{
	if (files == NULL)
		return;
	if (files->table != NULL)
		fclose(files->table);
	if (files->directory >= 0)
		close(files->directory);
	free(files);
}
