/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory until it is whole: numbered directories of numbered files, with an index, grow
 * in "PATH.part", which gets its name at the end, when all is on the disk.  It replaces only
 * its like, and never what was made meanwhile.  Numbered directories may be in one more, of a
 * group of them ("10000-19999").
 */
#ifndef LAPLACE_MERGE_OUTPUT_DIRECTORY_H
#define LAPLACE_MERGE_OUTPUT_DIRECTORY_H

#include <stdbool.h>

#include <laplace/error.h>

struct lpl_output_directory {
	char *path, *part;	/* NULL: not open, or it has its name */
	const char *index;	/* the name of the index */
	const char *heading;	/* how it begins, by which we know what is ours */
	bool overwrite;
	int fd;			/* of PATH.part, locked */
};

/*
 * Make PATH.part.  `index` and `heading` are not copied; the index itself is the caller's to
 * write, before anything else.
 */
enum lpl_error lpl_output_directory_open(struct lpl_output_directory *directory,
					 const char *path, const char *index,
					 const char *heading, bool overwrite,
					 struct lpl_report *report);
/*
 * All is written and closed.  Sync; PATH.part becomes PATH, with `overwrite` in the place of
 * what is there, if that is ours.  If that fails PATH.part is left as it is.
 */
enum lpl_error lpl_output_directory_commit(struct lpl_output_directory *directory,
					   struct lpl_report *report);
/* Remove PATH.part, unless it was to be committed; free. */
void lpl_output_directory_discard(struct lpl_output_directory *directory);

#endif
