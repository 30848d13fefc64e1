/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hash of a stream of references (docs/format.md, section 10): what was sent, whatever the
 * way it is packed.  It is made of references or of the blocks that stand for them, and is the
 * same; of blocks it costs a multiplication each, and some instructions for each data word.
 */
#ifndef LAPLACE_CODEC_STREAM_HASH_H
#define LAPLACE_CODEC_STREAM_HASH_H

#include "block.h"

#define LPL_HASH		UINT64_C(0x9e3779b97f4a7c15)

struct lpl_stream_hash {
	uint64_t fetches, data;		/* F and D */
	uint64_t power[LPL_TRACE_MAX + 1];	/* of LPL_HASH: what so many fetches multiply F by */
	uint64_t refs;			/* hashed */
	uint64_t ref;			/* number of the last one */
	uint64_t space, offset;		/* of the last mark */
	bool user;
	uint64_t next_fetch;		/* instruction count of the next fetch, if it goes on */
	uint64_t data_instr;		/* of the last data reference; UINT64_MAX: none */
};

void lpl_stream_hash_init(struct lpl_stream_hash *hash);

void lpl_stream_hash_refs(struct lpl_stream_hash *hash, const struct lpl_ref *refs, size_t count);
/*
 * A block of that trace, which is valid and makes `data` data references, begins at the
 * instruction count `instr` and follows the reference numbered `ref`.  `prefix` is the trace's.
 */
void lpl_stream_hash_block(struct lpl_stream_hash *hash, const struct lpl_instruction_trace *trace,
			   const uint64_t prefix[LPL_TRACE_MAX + 1], const struct lpl_block *block,
			   size_t data, const struct lpl_block_state *state, uint64_t instr,
			   uint64_t ref);

/*
 * What F becomes from 0 by the trace's first fetches, none of which crosses a page, for each number
 * of them: made once for all of its blocks.
 */
void lpl_stream_hash_prefix(const struct lpl_instruction_trace *trace,
			    uint64_t prefix[LPL_TRACE_MAX + 1]);
/* And by `fetched` of them, from `first` on. */
static inline uint64_t lpl_stream_hash_part(const struct lpl_stream_hash *hash,
					    const uint64_t prefix[LPL_TRACE_MAX + 1],
					    unsigned int first, unsigned int fetched)
{
	return prefix[first + fetched] - prefix[first] * hash->power[fetched];
}

static inline uint64_t lpl_stream_hash_data(uint64_t data, uint64_t word)
{
	data = (data ^ word) * LPL_HASH;
	return data ^ data >> 32;
}

/* Data references follow that have another instruction count, and not in its low byte alone. */
uint64_t lpl_stream_hash_page(uint64_t data, uint64_t instr);

/* The hash of all that was hashed so far; more may follow. */
uint64_t lpl_stream_hash_value(const struct lpl_stream_hash *hash);

#endif
