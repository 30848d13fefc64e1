/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From references to blocks: finds instruction traces in a stream that was recorded elsewhere.
 *
 * Straight code is followed from wherever the stream jumps to, until it jumps again, leaves the
 * page, or is LPL_TRACE_MAX instructions long.  A trace is what began at its address, and gets
 * longer when one goes on where others jumped.
 */
#ifndef LAPLACE_CODEC_BLOCK_FINDER_H
#define LAPLACE_CODEC_BLOCK_FINDER_H

#include "base/map.h"
#include "block_packer.h"

struct lpl_block_finder {
	struct lpl_block_packer *out;	/* not owned */
	/* of traces, plus 1: by address, and a number for each code there */
	struct lpl_map numbers;
	/* the block at hand; none while `open` is false */
	bool open;
	struct lpl_instruction_trace code;	/* what of it was fetched */
	uint32_t number;		/* where nothing was: its trace, and instruction */
	uint8_t first;
	uint64_t next_address;		/* after the last instruction fetched */
	bool crossing;			/* that goes on on the next page */
	struct lpl_block_state state;
	uint64_t instr;			/* of the block's first instruction */
	uint64_t last_instr;		/* of its last reference */
	uint64_t last_ref;
	uint64_t word[LPL_BLOCK_WORDS_MAX];
	uint32_t words;
};

void lpl_block_finder_init(struct lpl_block_finder *finder, struct lpl_block_packer *out);
void lpl_block_finder_free(struct lpl_block_finder *finder);
enum lpl_error lpl_block_finder_refs(struct lpl_block_finder *finder, const struct lpl_ref *refs,
				     size_t count, struct lpl_report *report);
/* Hand on what is held back. */
enum lpl_error lpl_block_finder_flush(struct lpl_block_finder *finder, struct lpl_report *report);

#endif
