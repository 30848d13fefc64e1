/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a trace as segments.
 *
 * Whatever stops the writing, what is there can be read.  A segment gets its name once it is whole
 * and on the disk, then its line in the manifest, and only then the next one is begun.  So the
 * manifest names nothing that is not there, and at most one segment is there that it does not name:
 * a reader finds it by its name.
 *
 * A full disk (writer_full.c) ends the present segment; for its line and the last one room is
 * kept after the manifest's end.  If the next segment cannot begin all the same, because others
 * took the room that was there, nothing can say what is missing, and the manifest is not closed.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/try.h"
#include "manifest.h"
#include "segment_names.h"
#include "segments.h"
#include "segments_join.h"
#include "writer.h"

#define META_SEGMENT_SIZE 24
#define LINE_ROOM 1024		/* for a line of the manifest: a byte of a name may become five */

struct lpl_segments {
	struct lpl_writer *writer;
	struct lpl_output manifest;
	char *stem;			/* of the names, as a path */
	struct lpl_meta *meta;		/* of the present segment: the trace's, and which it is */
	_Atomic uint64_t number;
	bool alone;			/* there is no manifest, and no other segment */
};

/* ---- what was there before ---- */

static enum lpl_error remove_file(char *path, struct lpl_report *report)
{
	char name[LPL_NAME_SIZE];
	enum lpl_error error = LPL_OK;

	if (!path)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to replace segments");
	if (unlink(path) != 0 && errno != ENOENT) {
		lpl_short_name(name, path);
		error = lpl_fail(report, LPL_ERR_IO, "%s: cannot be replaced", name);
	}
	free(path);
	return error;
}

/* How many segments an old manifest has, and are called as ours would be; 0: it is none. */
static enum lpl_error count_old(const char *path, const char *stem, uint64_t *count,
				struct lpl_report *report)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char name[LPL_NAME_SIZE];
	struct lpl_manifest *old;

	*count = 0;
	if (fd < 0)
		return LPL_OK;
	if (!lpl_is_manifest_file(fd)) {
		(void)close(fd);
		return LPL_OK;
	}
	lpl_short_name(name, path);
	if (lpl_part_is_locked(fd)) {
		(void)close(fd);
		return lpl_fail(report, LPL_ERR_USAGE, "%s: is being written by somebody else;"
				" choose another name", name);
	}
	/* if it cannot be read, it is not known what it names: its segments are in the way */
	if (lpl_manifest_open(&old, fd, path, NULL, NULL) != LPL_OK)
		return LPL_OK;
	if (strcmp(old->stem, stem) == 0)
		*count = old->segments + !old->closed;
	lpl_manifest_close(old);
	return LPL_OK;
}

/* Last first: there is never a gap between those that are left, whatever happens. */
static enum lpl_error remove_segments(const char *stem, uint64_t first, uint64_t last,
				      struct lpl_report *report)
{
	assert(first >= 1);	/* or it would have no end */
	for (; last >= first; last--) {
		LPL_TRY(remove_file(lpl_segment_path(stem, last, true), report));
		LPL_TRY(remove_file(lpl_segment_path(stem, last, false), report));
	}
	return LPL_OK;
}

/* Nothing is removed before it is known that nothing else is in the way. */
static enum lpl_error make_way(const char *path, const char *stem, bool overwrite,
			       struct lpl_report *report)
{
	uint64_t old = 0, old_part = 0;
	enum lpl_error error;
	char *part;

	if (overwrite) {
		if (asprintf(&part, "%s.part", path) < 0)
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory to replace segments");
		error = count_old(part, stem, &old_part, report);
		free(part);
		LPL_TRY(error);
		LPL_TRY(count_old(path, stem, &old, report));
		if (old < old_part)
			old = old_part;
	}
	LPL_TRY(lpl_segments_are_free(stem, old, report));
	return remove_segments(stem, 1, old, report);
}

/* ---- the manifest ---- */

/* Room for so many lines after those that are there. */
static enum lpl_error keep_room(struct lpl_segments *s, unsigned int lines,
				struct lpl_report *report)
{
	const size_t line = LINE_ROOM + 5 * strlen(lpl_segments_base(s->stem));

	/* no more than that: the segments need the room */
	return s->writer->ends_when_full ?
	       lpl_output_reserve(&s->manifest, lines * line, 0, report) : LPL_OK;
}

/* To begin there had to be room; from here on a full disk is what the options make of it. */
static enum lpl_error expect_full_disk(struct lpl_segments *s, struct lpl_report *report)
{
	s->manifest.no_room = s->writer->output.no_room;
	s->manifest.context = s->writer->output.context;
	return keep_room(s, 2, report);
}

/* A line, which is on the disk then.  `text` is freed; NULL: there was no memory for it. */
static enum lpl_error put_line(struct lpl_segments *s, char *text, struct lpl_report *report)
{
	enum lpl_error error;

	if (!text)
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory for a line",
				s->manifest.name);
	error = lpl_output_write(&s->manifest, text, strlen(text), report);
	free(text);
	return error == LPL_OK ? lpl_output_sync(&s->manifest, report) : error;
}

static enum lpl_error put_begin(struct lpl_segments *s, struct lpl_report *report)
{
	return put_line(s, lpl_manifest_begin_line(lpl_segments_base(s->stem), s->meta), report);
}

/* Of one that is alone the line is a file, which is there when all else is. */
static enum lpl_error keep_line(const struct lpl_segments *s, const struct lpl_segment_facts *facts,
				struct lpl_report *report)
{
	char *line = lpl_manifest_segment_line(lpl_segments_base(s->stem), facts);
	char *file = lpl_segment_path(s->stem, facts->number, false), *path = NULL;
	struct lpl_output output;
	enum lpl_error error;

	if (!line || !file || asprintf(&path, "%s.line", file) < 0) {
		path = NULL;
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory for a segment's line");
	} else {
		error = lpl_output_open(&output, path, true, report);
	}
	if (error == LPL_OK) {
		error = lpl_output_write(&output, line, strlen(line), report);
		if (error == LPL_OK)
			error = lpl_output_commit(&output, report);
		else
			lpl_output_discard(&output);
	}
	free(path);
	free(file);
	free(line);
	return error;
}

static enum lpl_error put_segment(struct lpl_segments *s, struct lpl_report *report)
{
	struct lpl_segment_facts facts = s->writer->file;

	facts.number = lpl_segments_number(s);
	if (s->alone)
		return keep_line(s, &facts, report);
	return put_line(s, lpl_manifest_segment_line(lpl_segments_base(s->stem), &facts), report);
}

static enum lpl_error put_end(struct lpl_segments *s, struct lpl_report *report)
{
	return put_line(s, lpl_manifest_end_line(lpl_segments_number(s)), report);
}

/* ---- segments ---- */

/* The next one: its number is in its header, and *path is its file's, to be freed. */
static enum lpl_error begin_segment(struct lpl_segments *s, char **path,
				    struct lpl_report *report)
{
	uint64_t number = atomic_load_explicit(&s->number, memory_order_relaxed) + 1;
	char text[META_SEGMENT_SIZE];

	(void)snprintf(text, sizeof(text), "%" PRIu64, number);
	*path = lpl_segment_path(s->stem, number, false);
	if (!*path || lpl_meta_set(s->meta, LPL_META_SEGMENT, text) != LPL_OK)
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory for a segment",
				s->manifest.name);
	atomic_store_explicit(&s->number, number, memory_order_relaxed);
	return LPL_OK;
}

static void destroy(struct lpl_segments *s)
{
	lpl_writer_abandon(s->writer);
	lpl_output_discard(&s->manifest);
	lpl_meta_free(s->meta);
	free(s->stem);
	free(s);
}

static enum lpl_error not_a_file(const char *path, struct lpl_report *report)
{
	char name[LPL_NAME_SIZE];

	lpl_short_name(name, path);
	return lpl_fail(report, LPL_ERR_USAGE, "%s: a trace in segments is several files, with names"
			" made of this one: it has to be that of a file", name);
}

/* All but the first segment. */
static enum lpl_error prepare(struct lpl_segments *s, const char *path, bool overwrite,
			      struct lpl_report *report)
{
	LPL_TRY(make_way(path, s->stem, overwrite, report));
	LPL_TRY(lpl_output_open(&s->manifest, path, overwrite, report));
	return put_begin(s, report);
}

/* In any case to be destroyed, if it is there. */
static enum lpl_error begin(struct lpl_segments **made, const char *path, const struct lpl_meta *meta, bool overwrite,
			    struct lpl_report *report)
{
	struct lpl_segments *s = calloc(1, sizeof(*s));

	*made = s;
	if (!s)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for segments");
	s->manifest.fd = -1;
	s->stem = lpl_segments_stem(path);
	s->meta = lpl_meta_copy(meta);
	return s->stem && s->meta ? prepare(s, path, overwrite, report) :
				    lpl_fail(report, LPL_ERR_MEMORY, "no memory for segments");
}

enum lpl_error lpl_segments_open(struct lpl_segments **result, const char *path,
				 const struct lpl_meta *meta,
				 const struct lpl_writer_options *options,
				 struct lpl_state_keeper *keeper, bool overwrite,
				 struct lpl_report *report)
{
	struct lpl_segments *s;
	char *first = NULL;
	enum lpl_error error;
	struct stat status;

	*result = NULL;
	if (strcmp(path, "-") == 0 || path[0] == '\0' ||
	    (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
		return not_a_file(path, report);
	error = begin(&s, path, meta, overwrite, report);
	if (!s)
		return error;
	if (error == LPL_OK)
		error = begin_segment(s, &first, report);
	if (error == LPL_OK)
		error = lpl_writer_open(&s->writer, first, s->meta, options, false, report);
	if (error == LPL_OK)
		error = expect_full_disk(s, report);
	free(first);
	if (error != LPL_OK) {
		s->manifest.written = 0;	/* it names nothing, and need not be kept */
		destroy(s);
		return error;
	}
	s->writer->keeper = keeper;
	*result = s;
	return LPL_OK;
}

static enum lpl_error not_of_it(const struct lpl_segments *s, const char *why,
				struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_USAGE, "%s: cannot be continued: %s",
			s->manifest.name, why);
}

/*
 * The manifest's lines of the segments before `number`: where they end, and whether `place` is
 * there; `last` is the greatest number that any of it has.
 */
static enum lpl_error find_place(struct lpl_segments *s, int fd, const char *path,
				 uint64_t number, const struct lpl_writer_place *place,
				 uint64_t *size, uint64_t *last, struct lpl_report *report)
{
	struct lpl_segment_facts facts = { .number = 0 };
	struct lpl_manifest *manifest;
	enum lpl_error error = LPL_OK;

	assert(number >= 1);
	if (!lpl_is_manifest_file(fd)) {
		(void)close(fd);
		return not_of_it(s, "it is not a manifest of segments", report);
	}
	LPL_TRY(lpl_manifest_open(&manifest, fd, path, NULL, report));
	if (strcmp(manifest->stem, s->stem) != 0 || manifest->segments < number - 1)
		error = not_of_it(s, "the checkpoint is of another trace", report);
	*last = manifest->segments + 1;
	s->meta = lpl_meta_copy(manifest->meta);	/* it is the same trace */
	if (error == LPL_OK && !s->meta)
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory to go on with segments");
	if (error == LPL_OK)
		error = lpl_manifest_lines(manifest, number - 1, &facts, size, report);
	if (error == LPL_OK && number > 1 &&
	    (!lpl_clocks_equal(&facts.last, &place->last) ||
	     facts.refs_so_far != place->refs_so_far ||
	     facts.events_so_far != place->events_so_far))
		error = not_of_it(s, "the checkpoint is of another trace", report);
	lpl_manifest_close(manifest);
	return error;
}

static enum lpl_error go_to(struct lpl_segments *s, const char *path, uint64_t number,
			    const struct lpl_writer_place *place, bool overwrite,
			    struct lpl_report *report)
{
	uint64_t size = 0, last = 0;
	enum lpl_error error;
	bool closed;
	char *part;
	int fd;

	lpl_short_name(s->manifest.name, path);
	if (asprintf(&part, "%s.part", path) < 0)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to go on with segments");
	fd = open(part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	/* of a run that was ended before its time */
	closed = fd < 0 && errno == ENOENT;
	if (closed)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		error = not_of_it(s, "it cannot be opened", report);
	else
		error = find_place(s, fd, path, number, place, &size, &last, report);
	/* nothing is changed before it is known to be the right one */
	if (error == LPL_OK && closed && rename(path, part) != 0)
		error = lpl_fail(report, LPL_ERR_IO, "%s: cannot be renamed", s->manifest.name);
	free(part);
	if (error == LPL_OK)
		error = lpl_output_continue(&s->manifest, path, size, overwrite, report);
	if (error == LPL_OK)
		error = remove_segments(s->stem, number, last, report);
	atomic_store_explicit(&s->number, number - 1, memory_order_relaxed);
	return error;
}

enum lpl_error lpl_segments_continue(struct lpl_segments **result, const char *path,
				     const struct lpl_writer_options *options,
				     struct lpl_state_keeper *keeper, uint64_t number,
				     const struct lpl_writer_place *place, bool overwrite,
				     struct lpl_report *report)
{
	struct lpl_segments *s = calloc(1, sizeof(*s));
	char *next = NULL;
	enum lpl_error error;

	*result = NULL;
	if (!s)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for segments");
	s->manifest.fd = -1;
	s->stem = lpl_segments_stem(path);
	error = s->stem ? go_to(s, path, number, place, overwrite, report) :
			  lpl_fail(report, LPL_ERR_MEMORY, "no memory for segments");
	if (error == LPL_OK)
		error = begin_segment(s, &next, report);
	if (error == LPL_OK)
		error = lpl_writer_open_at(&s->writer, next, s->meta, options, place, keeper,
					   false, report);
	if (error == LPL_OK)
		error = expect_full_disk(s, report);
	free(next);
	if (error == LPL_OK)
		*result = s;
	else
		destroy(s);
	return error;
}

/* ---- several processes ---- */

enum lpl_error lpl_segments_begin(const char *path, const struct lpl_meta *meta, bool overwrite,
				  struct lpl_report *report)
{
	struct lpl_segments *s;
	const enum lpl_error error = begin(&s, path, meta, overwrite, report);

	if (s)
		destroy(s);	/* what was written stays */
	return error;
}

static enum lpl_error open_own(struct lpl_segments *s, const char *path, const struct lpl_meta *meta,
			       const struct lpl_writer_options *options, struct lpl_state_keeper *keeper,
			       const struct lpl_writer_place *place, struct lpl_report *report)
{
	char *own = NULL;
	enum lpl_error error;

	if (place)
		LPL_TRY(lpl_segments_meta(path, &s->meta, report));
	else
		s->meta = lpl_meta_copy(meta);
	if (!s->stem || !s->meta)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for segments");
	error = begin_segment(s, &own, report);
	if (error == LPL_OK)
		error = place ? lpl_writer_open_at(&s->writer, own, s->meta, options, place, keeper, true,
						   report) :
				lpl_writer_open(&s->writer, own, s->meta, options, true, report);
	free(own);
	if (error == LPL_OK)
		s->writer->keeper = keeper;
	return error;
}

enum lpl_error lpl_segments_open_alone(struct lpl_segments **result, const char *path, const char *own,
				       const struct lpl_meta *meta,
				       const struct lpl_writer_options *options,
				       struct lpl_state_keeper *keeper, uint64_t number,
				       const struct lpl_writer_place *place, struct lpl_report *report)
{
	struct lpl_segments *s = calloc(1, sizeof(*s));
	enum lpl_error error;

	*result = NULL;
	if (!s)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for segments");
	s->manifest.fd = -1;
	lpl_short_name(s->manifest.name, path);
	s->alone = true;
	s->stem = lpl_segments_stem(own);
	atomic_store_explicit(&s->number, number - 1, memory_order_relaxed);
	error = open_own(s, path, meta, options, keeper, place, report);
	if (error == LPL_OK)
		*result = s;
	else
		destroy(s);
	return error;
}

struct lpl_writer *lpl_segments_writer(struct lpl_segments *s)
{
	return s->writer;
}

uint64_t lpl_segments_number(const struct lpl_segments *s)
{
	return atomic_load_explicit(&s->number, memory_order_relaxed);
}

uint64_t lpl_segments_bytes(const struct lpl_segments *s)
{
	return s->writer->output.written;
}

bool lpl_segments_is_empty(const struct lpl_segments *s)
{
	return !lpl_writer_has_records(s->writer);
}

enum lpl_error lpl_segments_rotate(struct lpl_segments *s, struct lpl_report *report)
{
	struct lpl_writer *writer = s->writer;
	struct lpl_report *failure = &writer->failure;
	char *path = NULL;

	if (failure->error != LPL_OK)
		return lpl_writer_failed(writer, report);
	if (lpl_segments_is_empty(s))
		return LPL_OK;
	if (s->alone) {
		if (lpl_writer_flush(writer, NULL) == LPL_OK &&
		    lpl_writer_end_file(writer, false, failure) == LPL_OK)
			(void)put_segment(s, failure);
		return failure->error == LPL_OK ? LPL_OK : lpl_writer_failed(writer, report);
	}
	/* what fails here stops the writer, too; room is kept for a line of the next one's, too */
	if (lpl_writer_flush(writer, NULL) == LPL_OK && keep_room(s, 3, failure) == LPL_OK &&
	    lpl_writer_room_for_next(writer, s->meta) == LPL_OK &&
	    lpl_writer_end_file(writer, false, failure) == LPL_OK &&
	    put_segment(s, failure) == LPL_OK && begin_segment(s, &path, failure) == LPL_OK)
		(void)lpl_writer_next_file(writer, path, s->meta, false, failure);
	free(path);
	return failure->error == LPL_OK ? LPL_OK : lpl_writer_failed(writer, report);
}

enum lpl_error lpl_segments_close(struct lpl_segments *s, struct lpl_report *report)
{
	const enum lpl_error ended = lpl_writer_end_file(s->writer, true, report);
	struct lpl_report failure = { .error = LPL_OK };

	/* nothing is missing, or the last segment reports it */
	if (ended == LPL_OK || s->writer->ended_early) {
		if (put_segment(s, &failure) == LPL_OK && !s->alone && put_end(s, &failure) == LPL_OK)
			(void)lpl_output_commit(&s->manifest, &failure);
		if (failure.error != LPL_OK && report)
			*report = failure;
	}
	destroy(s);
	return failure.error != LPL_OK ? failure.error : ended;
}

void lpl_segments_abandon(struct lpl_segments *s)
{
	if (s)
		destroy(s);
}
