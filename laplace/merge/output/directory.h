/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory of numbered directories of numbered files, with an index, that
 * gets its name only when it is whole, and that replaces only its like.  Numbered
 * directories may stand in one more, of a group of them ("10000-19999").
 */
#ifndef LAPLACE_MERGE_OUTPUT_DIRECTORY_H
#define LAPLACE_MERGE_OUTPUT_DIRECTORY_H

#include <stdbool.h>

#include <laplace/error.h>

struct directory {
	char *path, *part;	/* NULL: not open */
	const char *index;	/* the name of the index */
	const char *heading;	/* its first line, by which we know what is ours */
	bool overwrite;
	int fd;			/* of PATH.part */
};

/*
 * Make PATH.part.  `index` and `heading` are not copied; the index itself is the
 * caller's to write, before anything else.
 */
enum lpl_error directory_open(struct directory *directory, const char *path,
			      const char *index, const char *heading, bool overwrite,
			      struct lpl_report *report);
/* PATH.part becomes PATH, in the place of what is there, if that is ours. */
enum lpl_error directory_commit(struct directory *directory, struct lpl_report *report);
/* Remove PATH.part, if directory_commit() has not renamed it; free. */
void directory_discard(struct directory *directory);

#endif
