/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory of NumPy's files, one for each field of the references: what is of interest is
 * read, or mapped, without the rest.
 *
 * The directory grows as PATH.part, and gets its name when all files are whole and on the disk.
 * How many references there are is known at the end, so each file's header is written twice.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/convert.h>

#include "base/output.h"
#include "base/try.h"
#include "npy.h"

#define BUFFER 65536

enum kind { NUMBER64, NUMBER16, LETTER, FLAG };

/* The names are those of `csv` and of the fields of `npy`. */
static const struct column {
	const char *name;
	size_t offset;		/* of a number in the reference */
	enum kind kind;
	uint8_t flag;
} columns[] = {
	{ "reference", offsetof(struct lpl_ref, ref), NUMBER64, 0 },
	{ "instruction", offsetof(struct lpl_ref, instr), NUMBER64, 0 },
	{ "cycle", offsetof(struct lpl_ref, cycle), NUMBER64, 0 },
	{ "space", offsetof(struct lpl_ref, space), NUMBER64, 0 },
	{ "address", offsetof(struct lpl_ref, address), NUMBER64, 0 },
	{ "length", 0, NUMBER16, 0 },
	{ "type", 0, LETTER, 0 },
	{ "user", 0, FLAG, LPL_USER },
	{ "second", 0, FLAG, LPL_SECOND },
	{ "paged", 0, FLAG, LPL_PAGED },
	{ "synthetic", 0, FLAG, LPL_SYNTHETIC },
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static const char *const header_of[] = {
	[NUMBER64] = "{'descr': '<u8', 'fortran_order': False, 'shape': (",
	[NUMBER16] = "{'descr': '<u2', 'fortran_order': False, 'shape': (",
	[LETTER] = "{'descr': '|S1', 'fortran_order': False, 'shape': (",
	[FLAG] = "{'descr': '|b1', 'fortran_order': False, 'shape': (",
};

struct lpl_npy_columns {
	struct lpl_sink sink;
	struct lpl_export_result result;
	char *path, *part;
	int directory;			/* of `part` */
	struct column_file {
		int fd;			/* -1: not made */
		size_t used;
		char buffer[BUFFER];
	} file[COLUMNS];
};

/* ---- writing ---- */

static char *file_name(char name[32], const struct column *column)
{
	(void)snprintf(name, 32, "%s.npy", column->name);
	return name;
}

static enum lpl_error not_written(const struct lpl_npy_columns *made, const struct column *column,
				  struct lpl_report *report)
{
	char name[LPL_NAME_SIZE];

	lpl_short_name(name, made->part);
	return lpl_fail(report, LPL_ERR_IO, "%s/%s.npy", name, column->name);
}

static char *put(char *out, const struct column *column, const struct lpl_ref *ref)
{
	uint64_t number;

	switch (column->kind) {
	case NUMBER64:
		memcpy(&number, (const char *)ref + column->offset, sizeof(number));
		return put_le64(out, number);
	case NUMBER16:
		*out++ = (char)(ref->length & 0xff);
		*out++ = (char)(ref->length >> 8);
		break;
	case LETTER:
		*out++ = lpl_type_letter(ref->type);
		break;
	case FLAG:
		*out++ = (ref->flags & column->flag) != 0;
		break;
	}
	return out;
}

static enum lpl_error flush(struct lpl_npy_columns *made, int i, struct lpl_report *report)
{
	struct column_file *file = &made->file[i];

	if (!lpl_write_all(file->fd, file->buffer, file->used, LPL_HERE))
		return not_written(made, &columns[i], report);
	made->result.bytes += file->used;
	file->used = 0;
	return LPL_OK;
}

static enum lpl_error take_column(struct lpl_npy_columns *made, int i, const struct lpl_ref *refs,
				  size_t count, struct lpl_report *report)
{
	struct column_file *file = &made->file[i];

	for (size_t k = 0; k < count; k++) {
		if (BUFFER - file->used < sizeof(uint64_t) && flush(made, i, report))
			return LPL_ERR_IO;
		file->used = (size_t)(put(file->buffer + file->used, &columns[i], &refs[k]) -
				      file->buffer);
		assert(file->used <= BUFFER);
	}
	return LPL_OK;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_npy_columns *made = (struct lpl_npy_columns *)sink;

	for (int i = 0; i < COLUMNS; i++)
		LPL_TRY(take_column(made, i, refs, count, report));
	for (size_t i = 0; i < count; i++)
		made->result.losses.purposes += (refs[i].flags & LPL_WALK_FLAGS) != 0;
	made->result.refs += count;
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	(void)event, (void)report;
	((struct lpl_npy_columns *)sink)->result.losses.events++;
	return LPL_OK;
}

/* Headers say how many records there are, and what was written is on the disk. */
static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_npy_columns *made = (struct lpl_npy_columns *)sink;
	char header[NPY_RECORDS_AT];

	for (int i = 0; i < COLUMNS; i++) {
		if (flush(made, i, report))
			return LPL_ERR_IO;
		npy_put_header(header, header_of[columns[i].kind], made->result.refs);
		if (!lpl_write_all(made->file[i].fd, header, sizeof(header), 0) ||
		    fsync(made->file[i].fd) != 0)
			return not_written(made, &columns[i], report);
	}
	return LPL_OK;
}

/* ---- the directory ---- */

/* Nothing of it is left. */
void lpl_npy_columns_discard(struct lpl_npy_columns *made)
{
	char name[32];

	if (!made)
		return;
	for (int i = 0; i < COLUMNS; i++) {
		if (made->file[i].fd < 0)
			continue;
		(void)close(made->file[i].fd);
		(void)unlinkat(made->directory, file_name(name, &columns[i]), 0);
	}
	if (made->directory >= 0) {
		(void)close(made->directory);
		(void)rmdir(made->part);
	}
	free(made->path);
	free(made->part);
	free(made);
}

static enum lpl_error make_directory(struct lpl_npy_columns *made, struct lpl_report *report)
{
	char name[LPL_NAME_SIZE];

	lpl_short_name(name, made->part);
	if (mkdir(made->part, 0777) != 0)
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be made", name);
	made->directory = open(made->part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made->directory >= 0)
		return LPL_OK;
	(void)lpl_fail(report, LPL_ERR_IO, "%s: cannot be opened", name);
	(void)rmdir(made->part);
	return LPL_ERR_IO;
}

static enum lpl_error open_file(struct lpl_npy_columns *made, int i, struct lpl_report *report)
{
	struct column_file *file = &made->file[i];
	char name[32];

	file->fd = openat(made->directory, file_name(name, &columns[i]),
			  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (file->fd < 0)
		return not_written(made, &columns[i], report);
	npy_put_header(file->buffer, header_of[columns[i].kind], 0);
	file->used = NPY_RECORDS_AT;
	return LPL_OK;
}

static enum lpl_error open_all(struct lpl_npy_columns *made, struct lpl_report *report)
{
	LPL_TRY(lpl_refuse_existing(made->path, "exists; columns go into a directory that is made for "
				"them", report));
	LPL_TRY(lpl_refuse_existing(made->part, LPL_LEFT_PART "; remove it", report));
	LPL_TRY(make_directory(made, report));
	for (int i = 0; i < COLUMNS; i++)
		LPL_TRY(open_file(made, i, report));
	return LPL_OK;
}

enum lpl_error lpl_npy_columns_open(struct lpl_npy_columns **result, const char *path,
				    struct lpl_report *report)
{
	struct lpl_npy_columns *made;
	size_t length = strlen(path);
	enum lpl_error error;

	*result = NULL;
	if (length == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "the output has no name");
	while (length > 1 && path[length - 1] == '/')
		length--;
	made = calloc(1, sizeof(*made));
	if (!made)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->directory = -1;
	for (int i = 0; i < COLUMNS; i++)
		made->file[i].fd = -1;
	made->path = strndup(path, length);
	if (!made->path || asprintf(&made->part, "%s.part", made->path) < 0) {
		made->part = NULL;
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	} else {
		error = open_all(made, report);
	}
	if (error)
		lpl_npy_columns_discard(made);
	else
		*result = made;
	return error;
}

struct lpl_sink *lpl_npy_columns_sink(struct lpl_npy_columns *made)
{
	return &made->sink;
}

const struct lpl_export_result *lpl_npy_columns_result(const struct lpl_npy_columns *made)
{
	return &made->result;
}

enum lpl_error lpl_npy_columns_commit(struct lpl_npy_columns *made, struct lpl_report *report)
{
	char name[LPL_NAME_SIZE];
	enum lpl_error error = LPL_OK;

	lpl_short_name(name, made->path);
	if (fsync(made->directory) != 0 && errno != EINVAL && errno != EROFS)
		error = lpl_fail(report, LPL_ERR_IO, "%s.part: cannot be synced", name);
	if (!error)
		error = lpl_part_rename(made->part, made->path, name, report);
	if (error) {
		lpl_npy_columns_discard(made);
		return error;
	}
	for (int i = 0; i < COLUMNS; i++)
		(void)close(made->file[i].fd);	/* all of it is on the disk */
	(void)close(made->directory);
	error = lpl_sync_name(made->path, name, report);
	free(made->path);
	free(made->part);
	free(made);
	return error;
}
