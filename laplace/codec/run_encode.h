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
	LPL_RUN_HITS,		/* data references in a row where their best predictors say */
	LPL_RUN_GAPS,		/* the columns above count what was expected */
	LPL_RUN_MISSES = LPL_RUN_GAPS,	/* the addresses of others */
	LPL_RUN_TRACES,		/* traces named and defined */
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
	bool full;		/* the chunk should end: it has LPL_RUN_BYTES or more */
	ptrdiff_t room;		/* the columns have it for so many more, see make_room() */
	uint64_t defined;	/* the address of the trace defined last */
	/* of the run at hand: each data reference's instruction, number in its list, address */
	uint8_t instruction[LPL_RUN_WORDS_MAX], number[LPL_RUN_WORDS_MAX];
	uint64_t address[LPL_RUN_WORDS_MAX];
};

bool lpl_run_encoder_init(struct lpl_run_encoder *encoder);	/* false: no memory */
void lpl_run_encoder_free(struct lpl_run_encoder *encoder);
bool lpl_run_encoder_begin(struct lpl_run_encoder *encoder);	/* a chunk; false: no memory */

/* Does a run make the data references that are expected, in a chunk that knows its trace? */
bool lpl_run_is_expected(const struct lpl_run_encoder *encoder, uint32_t number,
			 const struct lpl_run *run, uint64_t instr);
/*
 * A run of the trace with that number in the chunk: at most the number of those it has, which
 * then is a new one.  `trace` is what it is, `instr` the count of the run's first instruction,
 * `expected` what lpl_run_is_expected() said of it, false if the trace is new.  The run has
 * something in it.  false: no memory.
 */
bool lpl_run_encode(struct lpl_run_encoder *encoder, uint32_t number,
		    const struct lpl_instruction_trace *trace, const struct lpl_run *run,
		    uint64_t instr, bool expected);
/* Data references of no instruction: as a run that fetches nothing. */
bool lpl_run_encode_loose(struct lpl_run_encoder *encoder, const uint64_t *word, size_t words,
			  uint64_t instr);
/* The state changes that `mask` (LPL_STATE_...) tells, and by how much. */
bool lpl_run_encode_state(struct lpl_run_encoder *encoder, unsigned int mask, uint64_t space,
			  uint64_t offset, uint64_t instr);
/* A reference with all its fields, less what was expected of them. */
bool lpl_run_encode_any(struct lpl_run_encoder *encoder, const struct lpl_ref *ref,
			uint64_t instr, uint64_t offset, uint64_t number);

/* Nothing more comes; the columns are as large as this. */
void lpl_run_encoder_end(struct lpl_run_encoder *encoder, size_t size[LPL_RUN_COLUMNS]);
/* Write them, one after the other; returns the byte after them. */
uint8_t *lpl_run_encoder_store(const struct lpl_run_encoder *encoder, uint8_t *out);

#endif
