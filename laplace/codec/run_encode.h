/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packing runs (docs/format.md, section 9): what a chunk says of them, in columns.  Knows nothing
 * of files, and believes what it is given: run_packer.h checks it.
 */
#ifndef LAPLACE_CODEC_RUN_ENCODE_H
#define LAPLACE_CODEC_RUN_ENCODE_H

#include "run_model.h"

/* The columns of a chunk, in their order. */
enum lpl_run_column {
	LPL_RUN_FLOW,		/* runs as expected in a row, and which came instead */
	LPL_RUN_SHAPE,		/* runs in a row with the data references that were expected */
	LPL_RUN_HITS,		/* data references in a row where their kinds say */
	LPL_RUN_GAPS,		/* the columns above count what was expected */
	LPL_RUN_MISSES = LPL_RUN_GAPS,	/* the addresses of others */
	LPL_RUN_TRACES,		/* tokens told by number, and defined */
	LPL_RUN_CODES,		/* data references that were not expected */
	LPL_RUN_STATES,		/* state changes, and references with all their fields */
	LPL_RUN_COLUMNS
};

#define LPL_RUN_BYTES	((size_t)24 << 20)

/* Bytes that grow. */
struct lpl_bytes {
	uint8_t *byte;		/* owned */
	size_t size, room;
};

struct lpl_run_encoder {
	struct lpl_run_model model;
	struct lpl_bytes column[LPL_RUN_COLUMNS];
	uint64_t yes[LPL_RUN_GAPS];	/* as expected, since the last one that was not */
	bool full;		/* the chunk should end: it has much of something */
	ptrdiff_t room;		/* the columns have it for so many more, see lpl_run_room() */
	uint64_t defined;	/* the address of the trace defined last */
	size_t op_words;	/* that its reader will keep */
};

bool lpl_run_encoder_init(struct lpl_run_encoder *encoder);	/* false: no memory */
void lpl_run_encoder_free(struct lpl_run_encoder *encoder);
bool lpl_run_encoder_begin(struct lpl_run_encoder *encoder);	/* a chunk; false: no memory */

/* Room in all columns for some hundreds of runs, whatever they are.  false: no memory. */
bool lpl_run_encoder_make_room(struct lpl_run_encoder *encoder);

/* So many words more will be kept by the chunk's reader. */
static inline void lpl_run_encoder_took(struct lpl_run_encoder *encoder, size_t op_words)
{
	encoder->op_words += op_words;
	encoder->full = encoder->full || encoder->op_words >= LPL_OP_WORDS_MAX / 2 ||
			encoder->model.tokens >= LPL_TOKENS_MAX / 2 ||
			encoder->model.sites >= LPL_CHUNK_SITES_MAX / 2;
}

/* Room for one run of so many words.  false: no memory. */
static inline bool lpl_run_room(struct lpl_run_encoder *encoder, size_t words)
{
	encoder->room -= (ptrdiff_t)words + LPL_TRACE_MAX + 1;
	return encoder->room >= 0 || lpl_run_encoder_make_room(encoder);
}

/*
 * The token of such a run of the chunk's trace with that number, which may be one more than the
 * chunk has; LPL_TOKEN_NONE: it has none yet.  `next` is a token of that trace, or none.
 */
uint32_t lpl_run_find_token(const struct lpl_run_model *model, uint32_t next, uint32_t trace,
			    const struct lpl_run *run);
/* Does a run have just the data references that its token expects? */
bool lpl_run_is_expected(const struct lpl_run_model *model, const struct lpl_token *token,
			 const struct lpl_run *run, uint8_t low);
/*
 * A run, whose first instruction has an instruction count with that low byte, of the trace
 * `code`, numbered so in the chunk.  `*token` is its token; if it has none it gets one.  The run
 * has something in it.  false: no memory.
 */
bool lpl_run_encode(struct lpl_run_encoder *encoder, uint32_t *token, uint32_t trace,
		    const struct lpl_instruction_trace *code, const struct lpl_run *run,
		    uint8_t low);
/* Data references of no instruction: as a run that fetches nothing. */
bool lpl_run_encode_loose(struct lpl_run_encoder *encoder, const uint64_t *word, size_t words,
			  uint8_t low);
/* The state changes that `mask` (LPL_STATE_...) tells, and by how much. */
bool lpl_run_encode_state(struct lpl_run_encoder *encoder, unsigned int mask, uint64_t space,
			  uint64_t offset, uint64_t instr);
/* A reference with all its fields, less what was expected of them. */
bool lpl_run_encode_any(struct lpl_run_encoder *encoder, const struct lpl_ref *ref,
			uint64_t instr, uint64_t offset, uint64_t number);
/*
 * A data reference at `address` that is not where its site's kind says, after those at `near` and,
 * before it, `far`; the column of misses has room.  Its site learns of it.
 */
void lpl_run_encode_miss(struct lpl_run_encoder *encoder, struct lpl_site *site,
			 uint64_t address, uint64_t near, uint64_t far);

/* Nothing more comes; the columns are as large as this. */
void lpl_run_encoder_end(struct lpl_run_encoder *encoder, size_t size[LPL_RUN_COLUMNS]);
/* Write them, one after the other; returns the byte after them. */
uint8_t *lpl_run_encoder_store(const struct lpl_run_encoder *encoder, uint8_t *out);

#endif
