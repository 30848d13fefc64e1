/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tasks.csv of a directory of traces by process: which files there are (docs/merging.md). */
#ifndef LAPLACE_CONVERT_TASK_INDEX_H
#define LAPLACE_CONVERT_TASK_INDEX_H

#include "merge/output/per_process.h"
#include "task_files.h"

/* The clocks of a record. */
struct task_time {
	uint64_t cycle, instr, ref;
};

/* A file: what the index says of it, and how far it was read. */
struct task_entry {
	struct task_source source;
	uint32_t tid, tgid;
	uint64_t first_cycle, last_cycle, references, events;
	bool empty;			/* without lines */
	bool begun;			/* `next` is a line's, not only the first cycle */
	struct task_time next;
	uint64_t references_read, events_read;
	bool differences;		/* its lines' numbers are */
	struct task_numbers last;	/* of the last reference read, then */
};

struct task_index {
	struct task_entry *entry;
	size_t count, room;
};

/* In the index's order; the array is not moved.  False after a complaint. */
bool lpl_task_index_read(struct lpl_importer *importer, struct task_files *files,
			 struct task_index *index);
void lpl_task_index_free(struct task_index *index);

#endif
