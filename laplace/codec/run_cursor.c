/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpacking runs: from ops to references. */
#include <string.h>

#include "run_decode.h"

void lpl_run_cursor_begin(struct lpl_run_cursor *cursor, const struct lpl_run_decoder *decoder)
{
	*cursor = (struct lpl_run_cursor){ .now = decoder->begin };
}

static void take_state(struct lpl_run_cursor *cursor, const uint64_t *op)
{
	cursor->now.state = (struct lpl_run_state){ .space = op[1], .user = op[2] != 0,
						    .cycle_offset = op[3] };
	cursor->now.next_instr = op[4];
	cursor->op += LPL_STATE_OP_WORDS;
}

static void take_any(struct lpl_run_cursor *cursor, const uint64_t *op, struct lpl_ref *out)
{
	memcpy(out, op + 1, sizeof(*out));
	cursor->now.ref = out->ref;
	cursor->op += LPL_ANY_OP_WORDS;
}

size_t lpl_run_cursor_next(struct lpl_run_cursor *cursor, const struct lpl_run_decoder *decoder,
			   uint64_t refs, struct lpl_ref *out, size_t room)
{
	size_t count = 0;

	while (cursor->refs + count < refs && room - count >= LPL_RUN_REFS_MAX) {
		const uint64_t *op = &decoder->op[cursor->op];
		struct lpl_run run;
		size_t n;

		if (*op == LPL_STATE_OP) {
			take_state(cursor, op);
			continue;
		}
		if (*op == LPL_ANY_OP) {
			take_any(cursor, op, &out[count++]);
			continue;
		}
		run = (struct lpl_run){
			.trace = (uint32_t)(*op >> 22), .first = *op >> 17 & 31,
			.fetched = *op >> 11 & 63, .words = *op & 0x7ff, .word = op + 1 };
		n = lpl_run_expand(&decoder->model.trace[run.trace], &run,
				   &cursor->now.state, cursor->now.next_instr, cursor->now.ref,
				   &out[count]);
		count += n;
		cursor->now.ref += n;
		cursor->now.next_instr += run.fetched;
		cursor->op += 1 + run.words;
	}
	cursor->refs += count;
	return count;
}
