/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a manifest (docs/format.md, section 11): which segments a trace has, one after the
 * other.  Memory is that of a line, however many there are.
 *
 * While a trace is recorded, or when its recording was killed, its manifest ends before its
 * segments do.  Those it does not name yet are found by their names.
 */
#ifndef LAPLACE_CONTAINER_MANIFEST_H
#define LAPLACE_CONTAINER_MANIFEST_H

#include "base/output.h"
#include "manifest_line.h"

struct lpl_manifest {
	FILE *file;			/* owned */
	char name[LPL_NAME_SIZE];	/* for reports */
	char *stem;			/* owned: the path that those of the segments begin with */
	struct lpl_meta *meta;		/* owned: the trace's header */
	char *line;			/* owned: the latest */
	size_t line_room;
	struct lpl_segment_facts at;	/* the segment that was read last; number 0: none was */
	uint64_t segments, bytes;	/* that it names, and theirs; found when it was opened */
	uint64_t last;			/* the last one that was there then, named or not */
	uint64_t passed;		/* bytes of those read so far */
	bool closed;			/* it ends as one that is complete */
};

/* Do these bytes begin a manifest? */
bool lpl_is_manifest(const void *bytes, size_t size);
/* Does this file?  A pipe or a device does not; nothing of them is read. */
bool lpl_is_manifest_file(int fd);

/*
 * `fd` is the manifest's then, also on failure.  All of it is checked: LPL_ERR_DAMAGED names a
 * line that is wrong.  A last line that has no end is taken for one that was being written.
 * LPL_ERR_FORMAT: of a version that is not known.
 *
 * Where `damage` is not NULL, it is described there instead (untouched: there is none), and the
 * manifest is taken to end before the wrong line: the segments after it are found by their names.
 * Where that is the first line, `meta` is empty.
 */
enum lpl_error lpl_manifest_open(struct lpl_manifest **manifest, int fd, const char *path,
				 struct lpl_report *damage, struct lpl_report *report);
/* NULL is fine. */
void lpl_manifest_close(struct lpl_manifest *manifest);

enum lpl_segment_kind {
	LPL_SEGMENT_NONE,		/* there are no more */
	LPL_SEGMENT_NAMED,		/* manifest->at describes all of it */
	LPL_SEGMENT_FOUND,		/* it is not named (yet) */
	LPL_SEGMENT_BAD			/* named, but not there, or not the one that is named */
};

/*
 * The next segment: *fd is open, the caller's to close, and `name` its file's.  manifest->at has
 * its number; of one that is FOUND, the rest is that of the segment before.  Of a BAD one the
 * report says what is wrong (LPL_ERR_DAMAGED; other errors are the machine's), *fd is -1, and
 * the one after it may be asked for.
 */
enum lpl_segment_kind lpl_manifest_next(struct lpl_manifest *manifest, int *fd,
					char name[LPL_NAME_SIZE], struct lpl_report *report);
/*
 * A segment by its name, whether it is named here or not: its descriptor, the caller's to close,
 * and how long it is; -1: there is no such file that has something in it.
 */
int lpl_manifest_find(const struct lpl_manifest *manifest, uint64_t number,
		      char name[LPL_NAME_SIZE], uint64_t *bytes);
/*
 * After lpl_manifest_open(): the bytes of the manifest up to the end of the line of segment
 * `count` (0: of its first line), and what that line says; without asking for files.
 */
enum lpl_error lpl_manifest_lines(struct lpl_manifest *manifest, uint64_t count,
				  struct lpl_segment_facts *facts, uint64_t *size,
				  struct lpl_report *report);
/* Was the segment read last the last one of a trace that was closed? */
bool lpl_manifest_is_over(const struct lpl_manifest *manifest);

#endif
