/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file until it is whole: it grows under "PATH.part" by whole pieces and gets its name at
 * the end, when it is on the disk, but never in the place of a file that was made meanwhile.
 * stdout ("-"), descriptors ("/dev/fd/N"), devices and pipes are written as they are.
 */
#ifndef LAPLACE_BASE_OUTPUT_H
#define LAPLACE_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <laplace/error.h>

#define LPL_NAME_SIZE 192

/*
 * There is no room, and `why` says where and for what: true after some waiting, if it shall be
 * tried again, false if that is a failure.  Once there is room it is called with NULL.
 */
typedef bool (*lpl_no_room)(void *context, const struct lpl_report *why);

struct lpl_output {
	int fd;
	char *path, *part;		/* owned; NULL when written as it is */
	bool overwrite;
	uint64_t written;		/* bytes of whole pieces */
	uint64_t reserved;		/* up to here there is room for the file on its disk */
	bool cannot_reserve;		/* its file system does not do that */
	bool name_synced;		/* that of the ".part" */
	lpl_no_room no_room;		/* NULL: that is a failure; may be set at any time */
	void *context;
	char name[LPL_NAME_SIZE];	/* for reports */
};

/* A path's end, short enough to leave room in a report. */
void lpl_short_name(char name[LPL_NAME_SIZE], const char *path);

/*
 * Does the path name a descriptor that is open already, as "/dev/fd/7"?  That itself is written,
 * as a shell would: not its file, opened anew, which would be refused, or written from its start.
 */
bool lpl_names_descriptor(const char *path, int *fd);
/* `path` is copied.  On failure nothing is to be undone. */
enum lpl_error lpl_output_open(struct lpl_output *output, const char *path, bool overwrite,
			       struct lpl_report *report);
/*
 * Could it be opened, of a file that is not yet there, or may be overwritten?  Errors are those of
 * lpl_output_open(); nothing is left, and a ".part" that is there remains.
 */
enum lpl_error lpl_output_try(const char *path, bool overwrite, struct lpl_report *report);
/*
 * Continue "PATH.part": its first `size` bytes are whole, and what is after them is cut off.
 * `overwrite`: as it was opened.  LPL_ERR_USAGE: another process is writing it.
 */
enum lpl_error lpl_output_continue(struct lpl_output *output, const char *path, uint64_t size,
				   bool overwrite, struct lpl_report *report);
/*
 * All of it, or (where that can be undone) nothing.  Where the room ends within it, and more
 * comes (see lpl_no_room), it goes on there.
 */
enum lpl_error lpl_output_write(struct lpl_output *output, const void *bytes, size_t size,
				struct lpl_report *report);
/*
 * Keep room for so many bytes after what was written, so that what is written there does not
 * fail for want of it, whoever else fills the disk.  LPL_ERR_FULL: there is not so much, and
 * what was kept before is kept.  LPL_OK also where nothing can be kept.  `ahead` bytes are kept
 * besides, if there are so many, so that the file system is not asked for each piece.
 */
enum lpl_error lpl_output_reserve(struct lpl_output *output, uint64_t size, uint64_t ahead,
				  struct lpl_report *report);
/*
 * A barrier: what was written is on the disk, and the ".part" in its directory.  After an error
 * it is not known what is; nothing should be written any more.
 */
enum lpl_error lpl_output_sync(struct lpl_output *output, struct lpl_report *report);
/*
 * For text: a stream into the file, to be closed by the caller before lpl_output_commit() or
 * lpl_output_discard().  NULL: see errno.
 */
FILE *lpl_output_stream(const struct lpl_output *output);
/* Sync, rename, close. */
enum lpl_error lpl_output_commit(struct lpl_output *output, struct lpl_report *report);
/* Close; ".part" is kept if lpl_output_write() has written to it, for its pieces are whole. */
void lpl_output_discard(struct lpl_output *output);

/* ---- the rules, for what is not one file; `name` is for reports ---- */

/*
 * Whoever writes a ".part" holds a lock on it, where the file system knows locks.  true: another
 * has it.  false: it is taken, until `fd` is closed.
 */
bool lpl_part_is_locked(int fd);
/* Complain, with LPL_ERR_USAGE and `what`, if there is anything of that name. */
enum lpl_error lpl_refuse_existing(const char *path, const char *what, struct lpl_report *report);
/* ... what of a ".part". */
#define LPL_LEFT_PART "is there already, in use or left by a run that did not end"
/* Rename what is whole; never in the place of what is there. */
enum lpl_error lpl_part_rename(const char *part, const char *path, const char *name,
			       struct lpl_report *report);
/* Write all of it, at `offset`, or where that is LPL_HERE at the file's own.  false: see errno. */
#define LPL_HERE ((off_t)-1)
bool lpl_write_all(int fd, const void *bytes, size_t count, off_t offset);
/* The name itself survives a crash, too. */
enum lpl_error lpl_sync_name(const char *path, const char *name, struct lpl_report *report);

#endif
