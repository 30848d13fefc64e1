/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A manifest's segments, in order; manifest.h says what for. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/try.h"
#include "manifest.h"
#include "segment_names.h"

bool lpl_is_manifest(const void *bytes, size_t size)
{
	size_t magic = strlen(LPL_MANIFEST_MAGIC);

	return size >= magic && memcmp(bytes, LPL_MANIFEST_MAGIC, magic) == 0;
}

bool lpl_is_manifest_file(int fd)
{
	char magic[sizeof(LPL_MANIFEST_MAGIC)];
	ssize_t size = pread(fd, magic, sizeof(magic), 0);

	return size > 0 && lpl_is_manifest(magic, (size_t)size);
}

/* ---- lines ---- */

/* The next line, without its newline.  false: there is none that is whole, or it is too long. */
static bool read_line(struct lpl_manifest *m)
{
	size_t length = 0;
	int byte;

	while ((byte = getc(m->file)) != EOF) {
		if (length == LPL_MANIFEST_LINE_MAX || !lpl_reach(m->line, m->line_room, length))
			return false;
		if (byte == '\n') {
			m->line[length] = '\0';
			return true;
		}
		m->line[length++] = (char)byte;
	}
	return false;
}

static bool is_before(const struct lpl_clocks *a, const struct lpl_clocks *b)
{
	return a->ref < b->ref || a->instr < b->instr || a->cycle < b->cycle;
}

/* Can a segment be after another?  Each is no smaller than its chunks' headers. */
static bool follows(const struct lpl_segment_facts *next, const struct lpl_segment_facts *before)
{
	return next->number == before->number + 1 && !is_before(&next->first, &before->last) &&
	       !is_before(&next->last, &next->first) &&
	       next->refs_so_far >= before->refs_so_far &&
	       next->events_so_far >= before->events_so_far &&
	       next->bytes >= LPL_CHUNK_HEADER_BYTES &&
	       next->index <= next->bytes - LPL_CHUNK_HEADER_BYTES;
}

static enum lpl_error bad_line(const struct lpl_manifest *m, uint64_t line,
			       struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_DAMAGED,
			"%s: damaged: line %" PRIu64 " is none of a manifest of segments, or was"
			" changed, or does not belong there; the segments can be read one by one",
			m->name, line);
}

/* The first line: what the trace is, and where its segments are. */
static enum lpl_error read_begin(struct lpl_manifest *m, const char *path,
				 struct lpl_report *report)
{
	const char *slash = strrchr(path, '/');
	struct lpl_segment_facts facts;
	char *base = NULL;
	enum lpl_manifest_line kind = read_line(m) ?
		lpl_manifest_read(m->line, &base, m->meta, &facts) : LPL_MANIFEST_BAD;
	int length = -1;

	if (kind == LPL_MANIFEST_NEWER)
		return lpl_fail(report, LPL_ERR_FORMAT, "%s: a manifest of a version that is not"
				" known (only %d is); a newer Laplace may read it", m->name,
				LPL_MANIFEST_VERSION);
	if (kind != LPL_MANIFEST_BEGIN) {
		free(base);
		return bad_line(m, 1, report);
	}
	length = asprintf(&m->stem, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, base);
	free(base);
	if (length >= 0)
		return LPL_OK;
	m->stem = NULL;
	return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory to read it", m->name);
}

/* Where the first line is lost: what the segments beside it are called. */
static enum lpl_error begin_by_names(struct lpl_manifest *m, const char *path,
				     struct lpl_report *report)
{
	const size_t length = strlen(path), part = strlen(".part");
	char *manifest = strndup(path, length > part && strcmp(path + length - part, ".part") == 0 ?
					       length - part : length);

	m->stem = manifest ? lpl_segments_stem(manifest) : NULL;
	free(manifest);
	return m->stem ? LPL_OK : lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory to read it", m->name);
}

/* The others: is it what a manifest may be? */
static enum lpl_error check_lines(struct lpl_manifest *m, struct lpl_report *report)
{
	struct lpl_segment_facts facts, before = { .number = 0 };
	enum lpl_manifest_line kind;
	char *base;

	while (read_line(m)) {
		kind = lpl_manifest_read(m->line, &base, NULL, &facts);
		free(base);
		if (m->closed)
			kind = LPL_MANIFEST_BAD;	/* nothing follows the end */
		m->closed = kind == LPL_MANIFEST_END && facts.number == before.number;
		if (!m->closed && (kind != LPL_MANIFEST_SEGMENT || !follows(&facts, &before)))
			return bad_line(m, before.number + 2, report);
		if (m->closed)
			continue;
		m->bytes += facts.bytes;
		before = facts;
		m->segments = before.number;
	}
	return ferror(m->file) ? lpl_fail(report, LPL_ERR_IO, "%s: cannot be read", m->name) :
				 LPL_OK;
}

/* A file of segments; never waits for one that is a pipe.  -1: see errno. */
static int open_segment(const struct lpl_manifest *m, uint64_t which, bool part,
			char name[LPL_NAME_SIZE])
{
	char *path = lpl_segment_path(m->stem, which, part);
	int fd, number;

	if (!path) {
		errno = ENOMEM;
		return -1;
	}
	lpl_short_name(name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	number = errno;
	free(path);
	errno = number;
	return fd;
}

/*
 * What is written while it is read may get segments as fast as they are read; reading ends with
 * those that are there now.
 */
static void find_last(struct lpl_manifest *m)
{
	char name[LPL_NAME_SIZE];
	int fd = 0;

	for (m->last = m->segments; !m->closed && fd >= 0; m->last += fd >= 0) {
		fd = open_segment(m, m->last + 1, true, name);
		if (fd < 0)
			fd = open_segment(m, m->last + 1, false, name);
		if (fd >= 0)
			(void)close(fd);
	}
}

static enum lpl_error read_lines(struct lpl_manifest *m, const char *path, struct lpl_report *report)
{
	LPL_TRY(read_begin(m, path, report));
	return check_lines(m, report);
}

/* The same, but of damage, which is described in `damage`, all that stands before it is taken. */
static enum lpl_error read_damaged(struct lpl_manifest *m, const char *path, struct lpl_report *damage,
				   struct lpl_report *report)
{
	struct lpl_report found = { .error = LPL_OK };
	const enum lpl_error error = read_lines(m, path, &found);

	if (error == LPL_ERR_DAMAGED) {
		*damage = found;
		return m->stem ? LPL_OK : begin_by_names(m, path, report);
	}
	if (error != LPL_OK)
		*report = found;
	return error;
}

enum lpl_error lpl_manifest_open(struct lpl_manifest **result, int fd, const char *path,
				 struct lpl_report *damage, struct lpl_report *report)
{
	struct lpl_manifest *m = calloc(1, sizeof(*m));
	enum lpl_error error;

	*result = NULL;
	if (m) {
		m->meta = lpl_meta_new();
		m->file = fdopen(fd, "r");
	}
	if (!m || !m->file)
		(void)close(fd);
	if (!m || !m->file || !m->meta) {
		lpl_manifest_close(m);
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to read a manifest");
	}
	lpl_short_name(m->name, path);
	error = damage ? read_damaged(m, path, damage, report) : read_lines(m, path, report);
	if (error == LPL_OK)
		find_last(m);
	/* once more, a line at a time */
	if (error == LPL_OK && m->segments > 0 && (fseek(m->file, 0, SEEK_SET) != 0 || !read_line(m)))
		error = lpl_fail(report, LPL_ERR_IO, "%s: cannot be read again", m->name);
	if (error != LPL_OK) {
		lpl_manifest_close(m);
		return error;
	}
	*result = m;
	return LPL_OK;
}

void lpl_manifest_close(struct lpl_manifest *m)
{
	if (!m)
		return;
	if (m->file)
		(void)fclose(m->file);
	lpl_meta_free(m->meta);
	free(m->stem);
	free(m->line);
	free(m);
}

enum lpl_error lpl_manifest_lines(struct lpl_manifest *m, uint64_t count,
				  struct lpl_segment_facts *facts, uint64_t *size,
				  struct lpl_report *report)
{
	long at;
	char *base;

	for (uint64_t i = 0; i < count; i++)
		if (!read_line(m) ||
		    lpl_manifest_read(m->line, &base, NULL, facts) != LPL_MANIFEST_SEGMENT)
			return lpl_fail(report, LPL_ERR_IO, "%s: has changed while it was read",
					m->name);
	at = ftell(m->file);
	*size = (uint64_t)at;
	return at >= 0 ? LPL_OK : lpl_fail(report, LPL_ERR_IO, "%s: cannot be read", m->name);
}

bool lpl_manifest_is_over(const struct lpl_manifest *m)
{
	return m->closed && m->at.number == m->segments;
}

/* ---- segments ---- */

/* Is the file the segment that the manifest describes?  Its end says so: that covers all of it. */
static enum lpl_error check_segment(const struct lpl_manifest *m, int fd, const char *name,
				    struct lpl_report *report)
{
	const struct lpl_segment_facts *facts = &m->at;
	uint8_t bytes[LPL_CHUNK_HEADER_BYTES];
	struct lpl_chunk_header index;
	struct stat status;

	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (uint64_t)status.st_size == facts->bytes &&
	    pread(fd, bytes, sizeof(bytes), (off_t)facts->index) == (ssize_t)sizeof(bytes) &&
	    lpl_chunk_decode(&index, bytes) == facts->checksum &&
	    index.checksum == facts->checksum && index.kind == LPL_CHUNK_INDEX &&
	    lpl_clocks_equal(&index.last, &facts->last) &&
	    index.refs_so_far == facts->refs_so_far &&
	    index.events_so_far == facts->events_so_far &&
	    facts->index + LPL_CHUNK_HEADER_BYTES + index.stored == facts->bytes)
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_DAMAGED, "%s: is not the segment that %s names: it was"
			" changed or cut, or is another recording's; what can be read of it can be"
			" read alone, and what precedes it is whole", name, m->name);
}

static enum lpl_segment_kind next_named(struct lpl_manifest *m, int *fd,
					char name[LPL_NAME_SIZE], struct lpl_report *report)
{
	enum lpl_error error;

	*fd = open_segment(m, m->at.number, false, name);
	/* a file cannot have a name that is too long for one */
	if (*fd < 0 && (errno == ENOENT || errno == ENAMETOOLONG))
		error = lpl_fail(report, LPL_ERR_DAMAGED, "%s: this segment of %s is missing; what"
				 " precedes it is whole", name, m->name);
	else if (*fd < 0)
		error = lpl_fail(report, LPL_ERR_IO, "%s: this segment of %s cannot be opened",
				 name, m->name);
	else
		error = check_segment(m, *fd, name, report);
	if (error == LPL_OK)
		return LPL_SEGMENT_NAMED;
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	return LPL_SEGMENT_BAD;
}

int lpl_manifest_find(const struct lpl_manifest *m, uint64_t number, char name[LPL_NAME_SIZE],
		      uint64_t *bytes)
{
	int fd = open_segment(m, number, true, name);
	struct stat status;

	if (fd < 0)
		fd = open_segment(m, number, false, name);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		*bytes = (uint64_t)status.st_size;
		return fd;
	}
	(void)close(fd);
	return -1;
}

/* After the manifest's end: a segment that is being written, or is whole but not named yet. */
static enum lpl_segment_kind next_found(struct lpl_manifest *m, int *fd,
					char name[LPL_NAME_SIZE])
{
	m->at.number++;
	*fd = lpl_manifest_find(m, m->at.number, name, &m->at.bytes);
	return *fd >= 0 ? LPL_SEGMENT_FOUND : LPL_SEGMENT_NONE;
}

enum lpl_segment_kind lpl_manifest_next(struct lpl_manifest *m, int *fd,
					char name[LPL_NAME_SIZE], struct lpl_report *report)
{
	struct lpl_segment_facts facts;
	char *base;

	*fd = -1;
	m->passed += m->at.bytes;
	m->at.bytes = 0;
	if (m->at.number >= m->segments)
		return m->at.number < m->last ? next_found(m, fd, name) : LPL_SEGMENT_NONE;
	/* it was right when it was opened, and only grows */
	if (!read_line(m) ||
	    lpl_manifest_read(m->line, &base, NULL, &facts) != LPL_MANIFEST_SEGMENT ||
	    !follows(&facts, &m->at)) {
		(void)lpl_fail(report, LPL_ERR_IO, "%s: has changed while it was read", m->name);
		m->segments = m->at.number;
		return LPL_SEGMENT_BAD;
	}
	m->at = facts;
	return next_named(m, fd, name, report);
}
