/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks that are counted, and not written: where a writer would be after them (container/writer.h).
 *
 * A recording's first pass sends them here; what another process writes from there on is then what it would
 * have written after a writer that got all of them.
 */
#ifndef LAPLACE_COLLECT_BLOCK_COUNT_H
#define LAPLACE_COLLECT_BLOCK_COUNT_H

#include "codec/block.h"
#include "codec/stream_hash.h"
#include "container/keeper.h"
#include "container/writer.h"

struct lpl_block_count {
	struct lpl_block_sink sink;		/* first: a sink is its counter */
	struct lpl_state_keeper *keeper;	/* gets the events; to be set */
	struct lpl_writer_place place;		/* without totals, until lpl_block_count_end() */
	uint64_t segment;			/* the number of that which all belongs to */
	bool has_records;			/* were there any in it? */
	struct lpl_stream_hash hash;		/* of its references */
	uint64_t ended;				/* that of the segment that ended last */
	struct lpl_counted_trace {
		struct lpl_instruction_trace code;
		uint8_t plain;		/* its instructions; 0: it crosses pages, or was forgotten */
		uint64_t hash[LPL_TRACE_MAX + 1];	/* of its first fetches */
	} *trace;				/* by number; owned */
	size_t room;
};

/* From the beginning, with the first segment. */
void lpl_block_count_init(struct lpl_block_count *count);
void lpl_block_count_free(struct lpl_block_count *count);
/* A segment ends here, if there is anything in it; the totals know these two, too. */
void lpl_block_count_end(struct lpl_block_count *count, uint64_t events, uint64_t tracer_refs);

#endif
