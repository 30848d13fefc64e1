/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine: the patched Bochs as a child process, and what it reports of itself
 * through a pipe, one JSON object a line.
 */
#ifndef LAPLACE_CLI_MACHINE_H
#define LAPLACE_CLI_MACHINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collection.h"

struct machine {
	pid_t pid;
	int status_fd;		/* to read */
	int signal_fd;
	int stream_fd;		/* gets the trace, and is handed on to the machine; -1: a file does */
	sigset_t taken, old_mask;
	struct cli_collection status;	/* the last one read */
	char line[16384];	/* of the pipe, up to here without an end of line */
	size_t line_used;
	bool ending;		/* we have asked it to close the trace ... */
	bool interrupted;	/* ... as we were asked to */
	bool killable;		/* that was long ago, and we have said so */
	int64_t patient_until;	/* until then, in ms of the monotonic clock */
	int wait_status;	/* of waitpid(), in the end */
};

/*
 * Prepare: a pipe, and signals taken.  *child_fd is the descriptor which the
 * machine will inherit, for its command line; stream_fd, which it inherits as well, is -1 until
 * it is set.  In Bochs' debugger SIGINT is the
 * debugger's.  Returns an exit status.
 */
int machine_prepare(struct machine *machine, bool debugger, int *child_fd);

/*
 * Run argv[0] (a path) until it ends; `update` is called for every status.
 * The first of SIGINT, SIGTERM and SIGHUP is passed on, so that the machine closes
 * its trace.  When it has not done so after some seconds, that is reported, and from
 * then on SIGINT kills it.  SIGUSR1 and SIGUSR2 are passed on as they come: they flush, and begin
 * another segment.  When the stream is not read any more, the machine is asked to end, too.
 * Returns an exit status: CLI_FAILED when it could not
 * be started (reported), otherwise CLI_DONE: the rest is in `machine`.
 */
int machine_run(struct machine *machine, char **argv, int child_fd,
		void (*update)(const struct machine *machine, void *context), void *context);

/* Take the statuses that are there, calling `update` for each.  Returns false at the pipe's end. */
bool machine_read(struct machine *machine,
		  void (*update)(const struct machine *machine, void *context), void *context);

#endif
