/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packing blocks (docs/format.md, section 9): what a chunk says of them, in columns.  Knows nothing
 * of files, and believes what it is given: block_packer.h checks it.
 */
#ifndef LAPLACE_CODEC_BLOCK_ENCODE_H
#define LAPLACE_CODEC_BLOCK_ENCODE_H

#include "block_model.h"

/* The columns of a chunk, in their order. */
enum lpl_block_column {
	LPL_BLOCK_FLOW,		/* correct predictions in a row, and the token instead */
	LPL_BLOCK_SHAPE,	/* blocks in a row with the data references that were expected */
	LPL_BLOCK_HITS,		/* data references in a row where their kinds say */
	LPL_BLOCK_GAPS,		/* the columns above count what was expected */
	LPL_BLOCK_MISSES = LPL_BLOCK_GAPS,	/* the addresses of others */
	LPL_BLOCK_TRACES,	/* tokens by number, and their definitions */
	LPL_BLOCK_CODES,	/* data references that were not expected */
	LPL_BLOCK_STATES,	/* state changes, and references with all their fields */
	LPL_BLOCK_COLUMNS
};

#define LPL_BLOCK_BYTES	((size_t)24 << 20)

/* Bytes that grow. */
struct lpl_bytes {
	uint8_t *byte;		/* owned */
	size_t size, room;
};

struct lpl_block_encoder {
	struct lpl_block_model model;
	struct lpl_bytes column[LPL_BLOCK_COLUMNS];
	uint64_t correct[LPL_BLOCK_GAPS];	/* correct predictions since the last wrong one */
	bool full;		/* the chunk should end: it has much of something */
	ptrdiff_t room;		/* the columns have it for so many more, see lpl_block_room() */
	uint64_t defined;	/* the address of the trace defined last */
	size_t op_words;	/* that its reader will keep */
};

bool lpl_block_encoder_init(struct lpl_block_encoder *encoder);	/* false: no memory */
void lpl_block_encoder_free(struct lpl_block_encoder *encoder);
/* A chunk begins.  false: no memory. */
bool lpl_block_encoder_begin(struct lpl_block_encoder *encoder);

/* Room in all columns for some hundreds of blocks, whatever they are.  false: no memory. */
bool lpl_block_encoder_make_room(struct lpl_block_encoder *encoder);

/* So many words more will be kept by the chunk's reader. */
static inline void lpl_block_encoder_took(struct lpl_block_encoder *encoder, size_t op_words)
{
	encoder->op_words += op_words;
	encoder->full = encoder->full || encoder->op_words >= LPL_OP_WORDS_MAX / 2 ||
			encoder->model.tokens >= LPL_TOKENS_MAX / 2 ||
			encoder->model.sites >= LPL_CHUNK_SITES_MAX / 2;
}

/* Room for one block of so many words.  false: no memory. */
static inline bool lpl_block_room(struct lpl_block_encoder *encoder, size_t words)
{
	encoder->room -= (ptrdiff_t)words + LPL_TRACE_MAX + 1;
	return encoder->room >= 0 || lpl_block_encoder_make_room(encoder);
}

/*
 * The token of such a block of the chunk's trace with that number, which may be one more than the
 * chunk has; LPL_TOKEN_NONE: it has none yet.  `next` is a token of that trace, or none.
 */
uint32_t lpl_block_find_token(const struct lpl_block_model *model, uint32_t next, uint32_t trace,
			      const struct lpl_block *block);
/* Does a block have just the data references that its token expects? */
bool lpl_block_is_expected(const struct lpl_block_model *model, const struct lpl_token *token,
			   const struct lpl_block *block, uint8_t low);
/*
 * A block, with that low byte of its first instruction's count, of the trace `code`, numbered so
 * in the chunk.  `*token` is its token; if it has none it gets one.  The block has something in it; `refs` of it are data
 * references.  false: no memory.
 */
bool lpl_block_encode(struct lpl_block_encoder *encoder, uint32_t *token, uint32_t trace,
		      const struct lpl_instruction_trace *code, const struct lpl_block *block,
		      size_t refs, uint8_t low);
/* Data references of no instruction: a block that fetches nothing, of no trace. */
bool lpl_block_encode_loose(struct lpl_block_encoder *encoder, const struct lpl_block *block, size_t refs, uint8_t low);
/* The state changes in `mask` (LPL_STATE_...), and by how much. */
bool lpl_block_encode_state(struct lpl_block_encoder *encoder, unsigned int mask, uint64_t space,
			    uint64_t offset, uint64_t instr);
/* A reference with all its fields, less what was expected of them. */
bool lpl_block_encode_any(struct lpl_block_encoder *encoder, const struct lpl_ref *ref,
			  uint64_t instr, uint64_t offset, uint64_t number);
/* What is next in the chunk: a token, which is known or the next one to be known. */
void lpl_block_encode_token(struct lpl_block_encoder *encoder, uint32_t token);
/*
 * A data reference, at the address in `word`, that is not where its site's kind says, after those at `near` and,
 * before it, `far`; the column of misses has room.  Its site learns of it.
 */
void lpl_block_encode_miss(struct lpl_block_encoder *encoder, struct lpl_site *site,
			   uint64_t word, uint64_t near, uint64_t far);

/* The chunk ends; the columns are as large as this. */
void lpl_block_encoder_end(struct lpl_block_encoder *encoder, size_t size[LPL_BLOCK_COLUMNS]);
/* Write them, one after the other; returns the byte after them. */
uint8_t *lpl_block_encoder_store(const struct lpl_block_encoder *encoder, uint8_t *out);

#endif
