/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpacking blocks: from ops to references. */
#include <assert.h>
#include <string.h>

#include "block_decode.h"

void lpl_block_cursor_begin(struct lpl_block_cursor *cursor,
			    const struct lpl_block_decoder *decoder)
{
	*cursor = (struct lpl_block_cursor){ .now = decoder->begin };
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

size_t lpl_block_cursor_next(struct lpl_block_cursor *cursor,
			     const struct lpl_block_decoder *decoder, uint64_t refs,
			     struct lpl_ref *out, size_t room)
{
	size_t count = 0;

	while (cursor->refs + count < refs && room - count >= LPL_BLOCK_REFS_MAX) {
		const uint64_t *op = &decoder->op[cursor->op];
		struct lpl_block block;
		size_t n;

		assert(cursor->op < decoder->ops);
		if (*op == LPL_STATE_OP) {
			take_state(cursor, op);
			continue;
		}
		if (*op == LPL_ANY_OP) {
			take_any(cursor, op, &out[count++]);
			continue;
		}
		block = (struct lpl_block){
			.trace = (uint32_t)(*op >> 22), .first = *op >> 17 & 31,
			.fetched = *op >> 11 & 63, .words = *op & 0x7ff, .word = op + 1 };
		n = lpl_block_expand(&decoder->model.trace[block.trace], &block,
				     &cursor->now.state, cursor->now.next_instr, cursor->now.ref,
				     &out[count]);
		count += n;
		cursor->now.ref += n;
		cursor->now.next_instr += block.fetched;
		cursor->op += 1 + block.words;
	}
	cursor->refs += count;
	return count;
}
