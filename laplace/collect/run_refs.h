/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From runs (codec/run.h, which defines them) to the references that they stand for, for the
 * reducers behind the log, and for a writer that has no runs.
 */
#ifndef LAPLACE_COLLECT_RUN_REFS_H
#define LAPLACE_COLLECT_RUN_REFS_H

#include <laplace/record.h>
#include <laplace/trace.h>

#include "codec/run_expand.h"

#define LPL_RUN_REFS_BLOCK 4096	/* references delivered together */

struct lpl_run_refs {
	struct lpl_run_sink sink;	/* gets the runs */

	/* set by the caller */
	struct lpl_sink *out;		/* gets the references */
	struct lpl_writer *writer;	/* at its end, is told the totals; NULL: there is none */
	const uint64_t *tracer_refs;	/* how many the tracer has left out */

	struct lpl_instruction_trace *trace;	/* by number */
	size_t trace_room;
	struct lpl_run_state state;
	uint64_t instr;			/* the count that the next run begins with */

	/* room for a run behind a block */
	struct lpl_ref ref[LPL_RUN_REFS_BLOCK + LPL_RUN_REFS_MAX];
	size_t refs, block;		/* gathered; to be delivered together */
	uint64_t number;		/* of the latest */
	struct lpl_totals totals;	/* as of what was delivered */
};

/* `refs` is all zeros but for what the caller set. */
void lpl_run_refs_init(struct lpl_run_refs *refs);
/* Deliver what is gathered. */
enum lpl_error lpl_run_refs_deliver(struct lpl_run_refs *refs, struct lpl_report *report);
void lpl_run_refs_free(struct lpl_run_refs *refs);

#endif
