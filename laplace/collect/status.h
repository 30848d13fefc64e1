/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a collection, as a line of JSON for its watchers: docs/watching.md says what is
 * in it.  A pipe, a file and a socket all get the same lines.
 */
#ifndef LAPLACE_COLLECT_STATUS_H
#define LAPLACE_COLLECT_STATUS_H

#include <pthread.h>

#include <laplace/record.h>

#include "progress.h"

/* What a line says besides the numbers; any thread may use it. */
struct lpl_status {
	char *trace;			/* its path; "": nothing is written */
	int directory;			/* it is in, for the room on its disk; -1: not known */

	uint64_t begin_instr;		/* executed before this recording */
	_Atomic bool tracing;		/* as of the last event that switched it */
	_Atomic uint64_t checkpoints_failed;

	pthread_mutex_t lock;		/* of what follows */
	bool marked;
	struct lpl_event mark;		/* the last one */
	bool checkpointed;
	uint64_t checkpoint_instr, checkpoint_ns;	/* of the run, when it was made */
};

/* How a run is, where it is not just running; NULL: not known, or nothing to say. */
struct lpl_status_end {
	const char *state, *end, *message;
};

/* `path`: of the trace; NULL: nothing is written.  false: no memory. */
bool lpl_status_init(struct lpl_status *status, const char *path);
/* One that is all zeros but for `directory`, -1, is fine. */
void lpl_status_free(struct lpl_status *status);

/* An event of the stream: some are reported. */
void lpl_status_event(struct lpl_status *status, const struct lpl_event *event);
void lpl_status_checkpoint(struct lpl_status *status, uint64_t instr, uint64_t elapsed_ns);

/* An object and a newline, to be freed by the caller.  NULL: no memory. */
char *lpl_status_line(struct lpl_status *status, const struct lpl_collector_status *now,
		      struct lpl_pace *pace, struct lpl_status_end end);

/* All of the line to `fd`.  false: see errno. */
bool lpl_status_write(int fd, const char *line);

#endif
