/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hash of a stream of references (docs/format.md, section 10): what was sent, whatever the
 * way it is packed.  It is made of references or of the runs that stand for them, and is the
 * same; of runs it costs little more than to look at each word.
 */
#ifndef LAPLACE_CODEC_STREAM_HASH_H
#define LAPLACE_CODEC_STREAM_HASH_H

#include <xxhash.h>

#include "run.h"

#define LPL_HASH_WORDS 1024

/* Words on their way into a hash. */
struct lpl_hash_words {
	XXH3_state_t *state;		/* owned */
	size_t count;
	uint64_t word[LPL_HASH_WORDS];
};

struct lpl_stream_hash {
	struct lpl_hash_words fetches, data;
	uint64_t refs;			/* hashed */
	uint64_t ref;			/* number of the last one */
	uint64_t space, offset;		/* as told last */
	bool user;
	uint64_t next_fetch;		/* instruction count of the next fetch, if it goes on */
	uint64_t data_instr;		/* of the last data reference; UINT64_MAX: none */
};

bool lpl_stream_hash_init(struct lpl_stream_hash *hash);	/* false: no memory */
void lpl_stream_hash_free(struct lpl_stream_hash *hash);

void lpl_stream_hash_refs(struct lpl_stream_hash *hash, const struct lpl_ref *refs, size_t count);
/* A trace's fetches as words, made once for all of its runs; of those that do not cross a page. */
void lpl_stream_hash_fetches(const struct lpl_instruction_trace *trace,
			     uint64_t fetch[LPL_TRACE_MAX]);
/*
 * A run of that trace, which is valid and makes `data` data references, begins at the
 * instruction count `instr` and follows the reference numbered `ref`.
 */
void lpl_stream_hash_run(struct lpl_stream_hash *hash, const struct lpl_instruction_trace *trace,
			 const uint64_t *fetch, const struct lpl_run *run, size_t data,
			 const struct lpl_run_state *state, uint64_t instr, uint64_t ref);

/* The hash of all that came so far; more may come. */
uint64_t lpl_stream_hash_value(struct lpl_stream_hash *hash);

#endif
