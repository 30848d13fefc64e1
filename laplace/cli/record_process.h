/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulators of a recording that several processes make (record_jobs.c): how each is started, seen to have ended, and
 * ended.
 *
 * The first pass is a child of ours, and reports through a pipe.  What traces a segment may run on another host, where a
 * launcher starts it: of such a process nothing is known but how the launcher ends and, by a file system that the hosts
 * share, what it leaves in the directory of its part.
 */
#ifndef LAPLACE_CLI_RECORD_PROCESS_H
#define LAPLACE_CLI_RECORD_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "machine.h"
#include "record_parts.h"

/* What is the same for all of them. */
struct record_simulator {
	char *bochs;			/* that which logs every reference */
	const char *trace;
	const char *launcher;		/* words for a shell, before the simulator's; NULL: segments are traced here */
	sigset_t signals;		/* that are blocked there */
};

struct record_process {
	struct machine machine;		/* its pid, -1 for none, and its status */
	uint64_t interval;
	char part[RECORD_PART_SIZE];	/* the directory that it writes to; "": it is the first pass */
};

/*
 * BOCHS WORDS... LINE, the line with what is this process's own; what it prints goes to `out`.  `pass`: of a segment,
 * segment or last, with process->part.  Returns a status, and complains.
 */
int record_process_count(const struct record_simulator *simulator, struct record_process *process, char *const *words,
			 const char *line, int out);
int record_process_segment(const struct record_simulator *simulator, struct record_process *process, char *const *words,
			   const char *line, const char *pass, int out);

bool record_process_runs(const struct record_process *process);
/* Take its status, as far as there is news; true: it has ended, and machine.wait_status says how. */
bool record_process_has_ended(const struct record_simulator *simulator, struct record_process *process);
/* All of them that run are ended, and have ended then: a launcher has some seconds to end what it has started. */
void record_processes_end(const struct record_simulator *simulator, struct record_process *process, unsigned int count);

#endif
