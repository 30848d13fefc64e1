/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading, line by line, thousands of files at once with a few handles and buffers: those of a
 * directory of traces by process (docs/merging.md).  The file that was read least recently is
 * closed, and opened again where it goes on.
 */
#ifndef LAPLACE_CONVERT_TASK_FILES_H
#define LAPLACE_CONVERT_TASK_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/convert.h>

#define TASK_FILES 64			/* handles */
#define TASK_FILE_BUFFER (64 * 1024)	/* bytes, for each; no line is longer */

struct task_file_open {
	struct task_source *source;	/* NULL: free */
	int fd;
	uint64_t used_at;		/* when a line of it was last asked for */
	char *buffer;			/* NULL until it is needed first */
	size_t at, lines_end, used;	/* the next line; up to here lines are whole; what is read */
	size_t wanted;			/* to be read next: a file that is read on is read in
					 * larger pieces */
	bool over;
};

/* A file, DIRECTORY/NAME or the index.  `line` begins as 1, all else as 0. */
struct task_source {
	bool index;
	uint64_t directory, name;
	uint64_t offset, line;		/* of its next line */
	struct task_file_open *open;	/* NULL: not now */
};

struct task_files {
	uint64_t now;
	const struct task_source *shown;	/* the importer has its path */
	struct task_file_open slot[TASK_FILES];
};

/* Nothing is read any more; of one that is zeroed, too. */
void lpl_task_files_close(struct task_files *files);

/*
 * *line: the next one, with its newline, or NULL at the end of the file; until the next call.
 * What is wrong with the input is about it from now on.  False after a complaint.
 */
bool lpl_task_line(struct lpl_importer *importer, struct task_files *files,
		   struct task_source *source, const char **line);

/* That line, which ended in this newline, has been read. */
void lpl_task_line_read(struct task_source *source, const char *newline);

/* No line is wanted any more. */
void lpl_task_source_close(struct task_source *source);

/* Is the file there, and empty?  False after a complaint. */
bool lpl_task_source_is_empty(struct lpl_importer *importer, struct task_files *files,
			      struct task_source *source);

#endif
