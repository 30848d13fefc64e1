/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An export for DynamoRIO's drmemtrace that goes on: drmemtrace_export.c follows the trace, drmemtrace_output.c has the
 * files that it becomes.
 */
#ifndef LAPLACE_CONVERT_DRMEMTRACE_EXPORT_H
#define LAPLACE_CONVERT_DRMEMTRACE_EXPORT_H

#include <laplace/convert.h>

#include "base/map.h"
#include "drmemtrace_templates.h"
#include "drmemtrace_thread.h"
#include "merge/tasks.h"
#include "translate/code.h"

enum {
	DRMEMTRACE_IDLE = 4194304,	/* above Linux' largest number of a task: the idle task's ... */
	DRMEMTRACE_UNKNOWN		/* ... and that of what ran before the first event */
};

struct drmemtrace_known {
	struct lpl_instruction instruction;
	struct lpl_decoded decoded;
	bool valid;
};

struct lpl_drmemtrace {
	struct lpl_sink sink;
	struct lpl_export_result result;
	const char *trace;
	bool strict;
	char *path, *part;
	int top, directory;		/* of `part`, and "trace" in it */
	uint64_t cycles_a_second;
	struct lpl_code *code;
	struct lpl_decoder *decoder;
	struct drmemtrace_known *known;
	struct tasks tasks;
	struct lpl_map by_serial;	/* of a task, + 1 -> index in `thread`, + 1 */
	struct drmemtrace_thread **thread;
	size_t threads, threads_room;
	struct drmemtrace_thread *now;	/* that runs; NULL: to be found */
	struct drmemtrace_thread *of;	/* that the step is of */
	struct drmemtrace_step step;	/* the instruction that is going on, of length 0: none */
	bool of_templates;
	uint64_t part_size;		/* instructions of a part of a zip; 0: files are not packed */
	struct drmemtrace_templates calls, switches;
	struct drmemtrace_thread *switched;	/* what is executed since one; NULL: nothing is of interest */
	struct lpl_losses again;		/* of what its own thread counts, too */
	uint32_t previous_tgid;		/* of the task before that one */
	bool scheduled;			/* an event says so, and nothing was executed since */
	bool kernel;			/* instructions of it are in the trace ... */
	bool numbers;			/* ... and numbers of system calls */
	uint64_t cycle, gaps;
	struct lpl_report *report;
};

/* A thread's flush(): its file is made when something comes into it. */
bool lpl_drmemtrace_flush(struct drmemtrace_thread *thread, void *context);
/* A thread's next_part(), of one that is packed. */
bool lpl_drmemtrace_next_part(struct drmemtrace_thread *thread, void *context);
/* The directories; and all that is in them goes. */
enum lpl_error lpl_drmemtrace_make_directories(struct lpl_drmemtrace *made, struct lpl_report *report);
void lpl_drmemtrace_remove_files(const struct lpl_drmemtrace *made);
/* All of a thread is in its file, which gets its name; and all that was written is on the disk. */
enum lpl_error lpl_drmemtrace_finish_file(struct lpl_drmemtrace *made, const struct drmemtrace_thread *thread,
					  struct lpl_report *report);
enum lpl_error lpl_drmemtrace_sync(const struct lpl_drmemtrace *made, struct lpl_report *report);
/* A file of templates; *count: how many are in it.  Without any there is none. */
enum lpl_error lpl_drmemtrace_write_templates(struct lpl_drmemtrace *made, const char *name, bool calls, uint64_t *count,
					      struct lpl_report *report);

#endif
