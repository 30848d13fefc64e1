/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a decoder of blocks has: block_decode.h says what it does, block_run.h what it does faster. */
#ifndef LAPLACE_CODEC_BLOCK_DECODER_H
#define LAPLACE_CODEC_BLOCK_DECODER_H

#include "block_encode.h"
#include "block_steps.h"

/* Where the stream is: what the next block begins with, and the record before it. */
struct lpl_block_position {
	struct lpl_block_state state;
	uint64_t next_instr;		/* of the next block's first instruction */
	uint64_t ref;			/* of the last reference */
	uint64_t event_ref;		/* of the last event: what follows has a higher one */
	uint64_t instr, cycle;		/* of the last record */
};

/* Are all ops of the chunk there?  If not, it is decoded once more, in parts, for whoever wants them. */
enum lpl_block_parts { LPL_BLOCKS_WHOLE, LPL_BLOCKS_TOO_LONG, LPL_BLOCKS_IN_PARTS };

struct lpl_block_decoder {
	struct lpl_block_model model;
	const uint8_t *begin_at[LPL_BLOCK_COLUMNS], *at[LPL_BLOCK_COLUMNS], *end[LPL_BLOCK_COLUMNS];
	uint64_t correct[LPL_BLOCK_GAPS];	/* correct predictions, before the next wrong one */
	uint64_t defined;		/* the address of the trace defined last */
	struct lpl_block_position begin, now;
	uint64_t first_ref, first_instr, first_cycle;	/* of the first reference */
	uint64_t refs;			/* decoded so far */
	uint64_t *op;			/* what was decoded, or the last part of that; owned */
	size_t ops, op_room;
	size_t op_words;		/* of all that was decoded; where steps are made, at most so many */
	enum lpl_block_parts parts;
	uint64_t all;			/* where it is in parts: references of the chunk */
	bool stepping;			/* to be set before a chunk begins: steps are made, no ops */
	struct lpl_block_steps steps;
	struct lpl_report *cause;	/* of a failure */
};

static inline enum lpl_error lpl_block_no_memory(const struct lpl_block_decoder *decoder)
{
	return lpl_fail(decoder->cause, LPL_ERR_MEMORY, "no memory for its records");
}

#endif
