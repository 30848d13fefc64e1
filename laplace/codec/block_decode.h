/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unpacking blocks (docs/format.md, section 9).  Nothing that is read is believed.
 *
 * A chunk is decoded to blocks, which take some five bytes a reference, and expanded to references
 * as they are asked for.  A chunk for which that would be too much, as it copies strings, say, is decoded twice: as a whole,
 * so that what is wrong with it is found, and part by part as references are asked for.
 */
#ifndef LAPLACE_CODEC_BLOCK_DECODE_H
#define LAPLACE_CODEC_BLOCK_DECODE_H

#include "block_decoder.h"

/*
 * What was decoded is kept as a sequence of *ops*, of one word and what follows it:
 *
 *	a block		trace << 22 | first << 17 | fetched << 11 | words, and its data words
 *	a state		LPL_STATE_OP, and the space, mode, cycle offset and instruction count
 *	any reference	LPL_ANY_OP, and the reference
 */
#define LPL_BLOCK_OP(trace, first, fetched, words) \
	((uint64_t)(trace) << 22 | (uint64_t)(first) << 17 | (uint64_t)(fetched) << 11 | (words))
#define LPL_STATE_OP		(UINT64_C(1) << 62)
#define LPL_ANY_OP		(UINT64_C(1) << 63)

_Static_assert(sizeof(struct lpl_ref) % sizeof(uint64_t) == 0, "a reference is whole words");
_Static_assert(LPL_BLOCK_WORDS_MAX < 1 << 11, "a block's words fit their field");

/* So many words of them, and one block more, are kept at once: enough for most chunks. */
#define LPL_OPS_KEPT		((1U << 21) - 2 * LPL_BLOCK_WORDS_MAX)

bool lpl_block_decoder_init(struct lpl_block_decoder *decoder);	/* false: no memory */
void lpl_block_decoder_free(struct lpl_block_decoder *decoder);

/*
 * A chunk begins, at `begin`, with columns of these sizes, one after the other at `bytes`, which
 * stay there.  Each of the functions below fails with LPL_ERR_DAMAGED and says why in `cause`, or
 * with LPL_ERR_MEMORY.
 */
enum lpl_error lpl_block_decoder_begin(struct lpl_block_decoder *decoder,
				       const struct lpl_block_position *begin, const uint8_t *bytes,
				       const size_t size[LPL_BLOCK_COLUMNS],
				       struct lpl_report *cause);
/*
 * Decode until there are exactly so many references; `now` is after them then.  In parts: or until no more ops are to be
 * kept, after those that there are.
 */
enum lpl_error lpl_block_decode(struct lpl_block_decoder *decoder, uint64_t refs);
/*
 * Have the steps more visits than LPL_STEP_VISITS_MOST, or might its ops be longer than LPL_OP_WORDS_MAX?  Then
 * lpl_block_decode() has failed, or the chunk's last block was one too many, and the chunk is to be decoded anew, without
 * steps.
 */
bool lpl_block_decoder_overflowed(const struct lpl_block_decoder *decoder);
/* Once more, in parts.  The columns have to be there still. */
void lpl_block_decoder_again(struct lpl_block_decoder *decoder);
/* Was all of the columns used? */
bool lpl_block_decoder_done(const struct lpl_block_decoder *decoder);

/* ---- from what was decoded to references ---- */

/* A decoder has one at a time. */
struct lpl_block_cursor {
	size_t op;			/* the next one */
	uint64_t refs;			/* expanded so far */
	struct lpl_block_position now;
};

void lpl_block_cursor_begin(struct lpl_block_cursor *cursor, struct lpl_block_decoder *decoder);
/*
 * Put references into `out`, as long as there are fewer than `refs` in all and room for
 * LPL_BLOCK_REFS_MAX more; returns how many.
 */
size_t lpl_block_cursor_next(struct lpl_block_cursor *cursor, struct lpl_block_decoder *decoder,
			     uint64_t refs, struct lpl_ref *out, size_t room);

/* Hash all that was decoded.  It is what its references would be hashed to, in less time. */
void lpl_block_hash(struct lpl_block_decoder *decoder, struct lpl_stream_hash *hash);

#endif
