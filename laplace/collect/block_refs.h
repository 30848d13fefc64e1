/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From blocks (codec/block.h, which defines them) to the references that they stand for, for the
 * reducers after the log, and for a writer that has no blocks.
 */
#ifndef LAPLACE_COLLECT_BLOCK_REFS_H
#define LAPLACE_COLLECT_BLOCK_REFS_H

#include <laplace/record.h>
#include <laplace/trace.h>

#include "codec/block_expand.h"

#define LPL_BLOCK_REFS_BATCH 4096	/* references delivered together */

struct lpl_block_refs {
	struct lpl_block_sink sink;	/* gets the blocks */

	/* set by the caller */
	struct lpl_sink *out;		/* gets the references */
	struct lpl_writer *writer;	/* at its end, gets the totals; NULL: there is none */
	const uint64_t *tracer_refs;	/* how many the tracer has left out */

	struct lpl_instruction_trace *trace;	/* by number */
	size_t trace_room;
	struct lpl_block_state state;
	uint64_t instr;			/* the count that the next block begins with */

	/* room for a block after a batch */
	struct lpl_ref ref[LPL_BLOCK_REFS_BATCH + LPL_BLOCK_REFS_MAX];
	size_t refs, batch;		/* gathered; to be delivered together */
	uint64_t number;		/* of the latest */
	struct lpl_totals totals;	/* as of what was delivered */
};

/* `refs` is all zeros but for what the caller set. */
void lpl_block_refs_init(struct lpl_block_refs *refs);
/* Deliver what is gathered. */
enum lpl_error lpl_block_refs_deliver(struct lpl_block_refs *refs, struct lpl_report *report);
void lpl_block_refs_free(struct lpl_block_refs *refs);

#endif
