/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trace that `laplace schedule -o' writes. */
#ifndef LAPLACE_CLI_SCHEDULE_REMADE_H
#define LAPLACE_CLI_SCHEDULE_REMADE_H

#include <laplace/schedule.h>

#include "pass.h"
#include "trace_kind.h"

struct cli_remade_options {
	const char *path;
	bool overwrite;
	unsigned int jobs;		/* 0: one for each processor */
	const struct lpl_machine *machine;	/* that makes it */
	const char *priorities;		/* as they were given; NULL: none */
	const struct cli_trace_kind *kind;	/* of the trace that is taken apart */
};

struct cli_remade {
	struct lpl_sink sink;		/* for lpl_schedule_run() */
	struct lpl_writer *writer;
	struct lpl_sink *next;		/* the writer's */
	const struct cli_pass *pass;
	bool recorded;			/* its order is that of the trace */
	struct lpl_event gap;		/* after the last record; its tag is 0 where none is missing */
};

/* After the pass that took the trace apart.  Complains; returns an exit status. */
int cli_remade_open(struct cli_remade *remade, const struct cli_pass *pass,
		    const struct cli_remade_options *options);
/* After the run: `status` is how that went.  Complains; returns it, or what happens here. */
int cli_remade_close(struct cli_remade *remade, int status);

#endif
