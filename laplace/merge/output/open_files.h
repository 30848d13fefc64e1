/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing thousands of files at once with a few handles and buffers: the file
 * that was written to least recently is closed, and opened again when it goes on.  Full
 * buffers are written by other threads, so that whoever fills them does not wait for the disk.
 */
#ifndef LAPLACE_MERGE_OUTPUT_OPEN_FILES_H
#define LAPLACE_MERGE_OUTPUT_OPEN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/error.h>

#define OPEN_FILES 64			/* handles */
#define OPEN_FILE_BUFFER (128 * 1024)	/* bytes, for each */

struct open_file;

/*
 * Directories are named by their numbers.  From FILES_GROUP on, so many of them share
 * a directory more, so that none has millions of entries: "9999", "10000-19999/10000".
 */
#define FILES_GROUP 10000
#define FILES_PATH 72
char *lpl_task_file_directory(char path[FILES_PATH], uint64_t directory);

/* One file, named by two numbers: DIRECTORY/NAME.  Zero-initialise. */
struct task_file {
	uint64_t directory, name;
	struct open_file *open;		/* NULL: not now */
	bool created;
	uint64_t size;			/* as it will be when all is written */
};

struct open_files;

/* Below the directory `fd` (not owned), which messages call `what` (copied). */
struct open_files *lpl_open_files_new(int fd, const char *what);
/* Write on so many threads (base/work_queue.h; without this 1), before anything is.  false: no
 * memory. */
bool lpl_open_files_jobs(struct open_files *files, unsigned int jobs);
/* Nothing more is written, and no error reported.  NULL is fine. */
void lpl_open_files_free(struct open_files *files);

/*
 * *room: where at most `size` bytes (up to OPEN_FILE_BUFFER) may be put at the file's
 * end.  What was put there is made part of the file by lpl_task_file_advance(), before any
 * other call.
 */
enum lpl_error lpl_task_file_room(struct open_files *files, struct task_file *file, size_t size,
				  char **room, struct lpl_report *report);
void lpl_task_file_advance(struct task_file *file, const char *end);

/* Write what is left; the file exists from here on, if only empty. */
enum lpl_error lpl_task_file_close(struct open_files *files, struct task_file *file,
				   struct lpl_report *report);

#endif
