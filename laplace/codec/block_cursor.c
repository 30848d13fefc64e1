/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpacking blocks: from ops to references, or to the stream's hash. */
#include <assert.h>
#include <string.h>

#include "block_decode.h"

void lpl_block_cursor_begin(struct lpl_block_cursor *cursor, struct lpl_block_decoder *decoder)
{
	if (decoder->parts != LPL_BLOCKS_WHOLE)
		lpl_block_decoder_again(decoder);
	*cursor = (struct lpl_block_cursor){ .now = decoder->begin };
}

/* Is there another op?  It may be in a part of the chunk that has still to be decoded. */
static bool has_more(struct lpl_block_cursor *cursor, struct lpl_block_decoder *decoder)
{
	if (cursor->op < decoder->ops)
		return true;
	if (decoder->parts == LPL_BLOCKS_WHOLE || decoder->refs == decoder->all)
		return false;
	cursor->op = decoder->ops = 0;
	/* it was done, with as much memory */
	return lpl_block_decode(decoder, decoder->all) == LPL_OK;
}

static void take_state(struct lpl_block_cursor *cursor, const uint64_t *op)
{
	cursor->now.state = (struct lpl_block_state){ .space = op[1], .user = op[2] != 0,
						      .cycle_offset = op[3] };
	cursor->now.next_instr = op[4];
	cursor->op += LPL_STATE_OP_WORDS;
}

static void take_any(struct lpl_block_cursor *cursor, const uint64_t *op, struct lpl_ref *out)
{
	memcpy(out, op + 1, sizeof(*out));
	cursor->now.ref = out->ref;
	cursor->op += LPL_ANY_OP_WORDS;
}

static struct lpl_block block_of(const uint64_t *op)
{
	return (struct lpl_block){ .trace = (uint32_t)(*op >> 22), .first = *op >> 17 & 31,
				   .fetched = *op >> 11 & 63, .words = *op & 0x7ff,
				   .word = op + 1 };
}

size_t lpl_block_cursor_next(struct lpl_block_cursor *cursor, struct lpl_block_decoder *decoder,
			     uint64_t refs, struct lpl_ref *out, size_t room)
{
	size_t count = 0;

	while (cursor->refs + count < refs && room - count >= LPL_BLOCK_REFS_MAX && has_more(cursor, decoder)) {
		const uint64_t *op = &decoder->op[cursor->op];
		struct lpl_block block;
		size_t n;

		if (*op == LPL_STATE_OP) {
			take_state(cursor, op);
			continue;
		}
		if (*op == LPL_ANY_OP) {
			take_any(cursor, op, &out[count++]);
			continue;
		}
		block = block_of(op);
		assert(block.trace < decoder->model.traces &&
		       cursor->op + 1 + block.words <= decoder->ops);
		n = lpl_block_expand(&decoder->model.trace[block.trace], &block,
				     &cursor->now.state, cursor->now.next_instr, cursor->now.ref,
				     &out[count]);
		assert(n <= LPL_BLOCK_REFS_MAX);
		count += n;
		cursor->now.ref += n;
		cursor->now.next_instr += block.fetched;
		cursor->op += 1 + block.words;
	}
	cursor->refs += count;
	return count;
}

/* ---- hashing ---- */

/* Most blocks are of a few traces; what was made for one is kept until another takes its place. */
#define KNOWN_TRACES	64

struct known_trace {
	uint32_t number;	/* 0: none is numbered so */
	unsigned int count;	/* of instructions; a trace may become longer as more of the chunk is decoded */
	uint64_t prefix[LPL_TRACE_MAX + 1];
};

static const uint64_t *prefix_of(struct known_trace known[KNOWN_TRACES], uint32_t number,
				 const struct lpl_instruction_trace *trace)
{
	struct known_trace *one = &known[number % KNOWN_TRACES];

	if (one->number != number || one->count != trace->count) {
		lpl_stream_hash_prefix(trace, one->prefix);
		one->number = number;
		one->count = trace->count;
	}
	return one->prefix;
}

static size_t data_refs(const struct lpl_block *block)
{
	size_t count = 0;

	for (size_t i = 0; i < block->words; i++, count++)
		i += (block->word[i] >> LPL_WORD_LENGTH_SHIFT & 7) == LPL_WORD_LONG;
	return count;
}

static uint64_t fetches_of(const struct lpl_block *block, const struct lpl_instruction_trace *trace)
{
	return block->fetched + (block->fetched > 0 && lpl_trace_crosses(trace) ? 1U : 0U);
}

void lpl_block_hash(struct lpl_block_decoder *decoder, struct lpl_stream_hash *hash)
{
	struct known_trace known[KNOWN_TRACES] = { { 0 } };
	struct lpl_block_cursor cursor;
	struct lpl_ref any;

	lpl_block_cursor_begin(&cursor, decoder);
	while (has_more(&cursor, decoder)) {
		const uint64_t *op = &decoder->op[cursor.op];

		if (*op == LPL_STATE_OP) {
			take_state(&cursor, op);
		} else if (*op == LPL_ANY_OP) {
			take_any(&cursor, op, &any);
			lpl_stream_hash_refs(hash, &any, 1);
		} else {
			const struct lpl_block block = block_of(op);
			const struct lpl_instruction_trace *trace =
				&decoder->model.trace[block.trace];
			const size_t data = data_refs(&block);

			lpl_stream_hash_block(hash, trace, prefix_of(known, block.trace, trace),
					      &block, data, &cursor.now.state,
					      cursor.now.next_instr, cursor.now.ref);
			cursor.now.ref += data + fetches_of(&block, trace);
			cursor.now.next_instr += block.fetched;
			cursor.op += 1 + block.words;
		}
	}
}
