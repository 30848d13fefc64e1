/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of a drmemtrace trace; see drmemtrace.h. */
#include "drmemtrace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define NO_FILES "has no file *.trace, *.trace.gz or *.trace.zip, nor a directory `trace' with such files; " \
		 "what the tracer leaves in `raw' is converted by drraw2trace"

/* ---- complaints ---- */

bool lpl_drmemtrace_refuse(struct lpl_importer *importer, const struct drmemtrace_file *file,
			   enum lpl_error error, const char *format, ...)
{
	char what[LPL_REPORT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	(void)lpl_fail(importer->report, error, "%s%s%s: byte %" PRIu64 ": %s", importer->options.input,
		       file->name ? "/" : "", file->name ? file->name : "", file->offset, what);
	return false;
}

static bool no_file(struct lpl_importer *importer, const char *name)
{
	(void)lpl_fail(importer->report, LPL_ERR_IO, "%s/%s: cannot be opened", importer->options.input,
		       name);
	return false;
}

/* ---- which files ---- */

static bool ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), end_length = strlen(end);

	return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static int is_trace(const struct dirent *entry)
{
	const char *name = entry->d_name;

	return ends_with(name, ".trace") || ends_with(name, ".trace.gz") || ends_with(name, ".trace.zip");
}

/* The file is the trace's from here on, whatever becomes of it. */
static bool add_file(struct lpl_importer *importer, int fd, const char *name)
{
	struct drmemtrace *trace = importer->state;
	struct drmemtrace_file *file = calloc(1, sizeof(*file));

	if (file && name)
		file->name = strdup(name);
	if (!file || (name && !file->name) || !lpl_reach(trace->file, trace->room, trace->count)) {
		if (file)
			free(file->name);
		free(file);
		if (name)
			(void)close(fd);
		return lpl_import_no_memory(importer);
	}
	file->fd = fd;
	file->cpu = UINT64_MAX;
	lpl_unpack_begin(&file->unpack, fd);
	trace->file[trace->count++] = file;
	return true;
}

/* `below` is the directory of these names, below the input, with a slash, or "". */
static bool add_named(struct lpl_importer *importer, const char *below, const char *name)
{
	char path[2 * NAME_MAX];
	struct stat about;
	int fd;

	snprintf(path, sizeof(path), "%s%s", below, name);
	/* not to wait for whoever writes to a pipe */
	fd = openat(importer->fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return no_file(importer, path);
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
		return add_file(importer, fd, path);
	(void)close(fd);
	(void)lpl_fail(importer->report, LPL_ERR_FORMAT, "%s/%s: is no file", importer->options.input,
		       path);
	return false;
}

/* -1 after a complaint; else how many. */
static int add_directory(struct lpl_importer *importer, const char *directory, const char *below)
{
	struct dirent **entries = NULL;
	const int count = scandirat(importer->fd, directory, &entries, is_trace, alphasort);
	bool fine = count >= 0;

	for (int i = 0; i < count; i++) {
		fine = fine && add_named(importer, below, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return fine ? count : importer->report->error ? -1 : 0;
}

bool lpl_drmemtrace_open(struct lpl_importer *importer)
{
	struct stat about;
	int count;

	if (fstat(importer->fd, &about) != 0 || !S_ISDIR(about.st_mode))
		return add_file(importer, importer->fd, NULL);
	count = add_directory(importer, ".", "");
	if (count == 0)
		count = add_directory(importer, "trace", "trace/");
	if (count == 0)
		(void)lpl_fail(importer->report, LPL_ERR_FORMAT, "%s: " NO_FILES, importer->options.input);
	return count > 0;
}

/* Nothing of it is read any more. */
static void close_file(struct drmemtrace_file *file)
{
	if (file->name && file->fd >= 0)
		(void)close(file->fd);
	file->fd = -1;
	lpl_unpack_end(&file->unpack);
}

void lpl_drmemtrace_close(struct drmemtrace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		close_file(trace->file[i]);
		free(trace->file[i]->name);
		free(trace->file[i]);
	}
	free(trace->file);
	lpl_map_free(&trace->process);
	lpl_map_free(&trace->begun);
}

/* ---- what is in them ---- */

static bool fill(struct lpl_importer *importer, struct drmemtrace_file *file)
{
	const uint64_t before = file->unpack.input.read;
	const char *wrong = lpl_unpack_read(&file->unpack, file->bytes, sizeof(file->bytes), &file->end);

	file->at = 0;
	importer->result.bytes += file->unpack.input.read - before;
	if (importer->options.progress)
		importer->options.progress(importer, importer->options.context);
	if (!wrong)
		return true;
	return *wrong ? lpl_drmemtrace_refuse(importer, file, LPL_ERR_DAMAGED, "%s", wrong) :
			lpl_drmemtrace_refuse(importer, file, LPL_ERR_IO, "cannot be read");
}

bool lpl_drmemtrace_entry(struct lpl_importer *importer, struct drmemtrace_file *file,
			  struct drmemtrace_entry *entry, bool *more)
{
	const uint8_t *at;

	if (file->at == file->end && !fill(importer, file))
		return false;
	*more = file->end > 0;
	if (!*more) {
		close_file(file);
		return true;
	}
	if (file->end - file->at < DRMEMTRACE_ENTRY)
		return lpl_drmemtrace_refuse(importer, file, LPL_ERR_TRUNCATED, "the file ends within an "
					     "entry, after %zu of its %d bytes: was it cut off?",
					     file->end - file->at, DRMEMTRACE_ENTRY);
	at = file->bytes + file->at;
	*entry = (struct drmemtrace_entry){ scan_le16(at), scan_le16(at + 2), scan_le64(at + 4) };
	file->at += DRMEMTRACE_ENTRY;
	file->offset += DRMEMTRACE_ENTRY;
	return true;
}
