/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the packing of blocks predicts (docs/format.md, sections 9.3 to 9.5): the part that its
 * writer and its reader have in common.  Both keep one of these for each chunk, ask it for the same
 * predictions and update it with the same outcomes, so that only what it did not predict has to
 * be written.
 *
 * Three things are expected of a block, and learned from it:
 *
 * - which it is.  It has a *token*, and after the last few tokens that follows which followed
 *   then.
 * - which data references it makes: the same as when it was executed last.
 * - their addresses.  A block's n-th reference belongs to its token's n-th *site*, and each site
 *   has its predictions, one of which was right last.
 *
 * All of it is made to be fast: a hundred million references a second come from a simulator.
 * So where an expectation was right there is next to nothing to learn, what is learned lies
 * in few cache lines, and most of it in the order in which it is used.
 */
#ifndef LAPLACE_CODEC_BLOCK_MODEL_H
#define LAPLACE_CODEC_BLOCK_MODEL_H

#include <stddef.h>

#include "base/array.h"
#include "base/varint.h"
#include "block_expand.h"
#include "stream_hash.h"

#define LPL_ADDRESS_MASK	((UINT64_C(1) << LPL_WORD_ADDRESS_BITS) - 1)

/* ---- tokens: what a chunk consists of, in order ---- */

enum lpl_special_token {
	LPL_TOKEN_NONE,
	LPL_TOKEN_LOOSE,	/* data references of no instruction */
	LPL_TOKEN_ANY,		/* one reference, with all its fields */
	LPL_TOKEN_STATE,	/* less 1, plus a sum of LPL_STATE_...: state changes */
	LPL_TOKEN_BLOCKS = 18	/* blocks of traces, from here on */
};
#define LPL_STATE_SPACE		1
#define LPL_STATE_USER		2
#define LPL_STATE_OFFSET	4
#define LPL_STATE_INSTR		8
#define LPL_STATE_MASKS		16

/*
 * What one chunk may have, so that its reader's memory is bounded; a writer ends a chunk that has
 * half of one of them.
 */
#define LPL_TOKENS_MAX		(1U << 19)
#define LPL_CHUNK_SITES_MAX	(1U << 21)
#ifndef LPL_OP_WORDS_MAX	/* fuzzers have fewer, and fewer LPL_STEP_VISITS_MOST */
#define LPL_OP_WORDS_MAX	(1U << 25)	/* as block_decode.h counts them */
#endif
#define LPL_STATE_OP_WORDS	5
#define LPL_ANY_OP_WORDS	(1 + sizeof(struct lpl_ref) / sizeof(uint64_t))

#define LPL_WORD_NONE		(-1)		/* no trace's number plus 1, nor the low half of a word */
#define LPL_LIST_MAX		64		/* data references expected of a block */
#define LPL_SITES_MAX		(LPL_LIST_MAX + 8)

/* Where a block's n-th data reference belongs. */
static inline size_t lpl_site_of(size_t n)
{
	return n < LPL_LIST_MAX ? n : LPL_LIST_MAX + n % 8;
}

struct lpl_token {
	uint32_t sites;		/* index of its first one */
	uint16_t listed;	/* data references expected of it */
	uint8_t first, fetched;

	union {
		struct {
			/* for the writer alone (block_packer.h): of such a block as it is expected */
			uint32_t times[2];	/* how often it occurred so, in supervisor and user mode */
			int32_t word[2];	/* the trace's in its word, in either; or NONE */
			uint64_t fetch_hash, fetch_power;
			uint8_t of_type[4];	/* walk-reads, walk-writes, reads, writes */
			uint8_t supervisors;	/* of those, when in user mode */
			uint8_t reserved[3];
		};
		struct {
			/* for a reader of steps alone (block_steps.h): the pattern of its last block, plus 1, and
			 * the space that was in; 0: there is none with which the next one can be compared */
			uint32_t pattern;
			/* and, where there is one, of such a block as it is expected (block_run.h): its references,
			 * the first and the last one's instruction count, from the block's */
			uint8_t refs, begins, ends;
			bool still;		/* its data references will be where they were */
			uint64_t space;
		};
	};

	uint32_t next;		/* for the writer: another token of its trace; 0: none */
	uint32_t trace;		/* number in the chunk */
	uint32_t site_room;
	uint32_t follower;	/* the token after it when it was last mispredicted */
};

/* NONE is not 0, and a reader's token begins with no pattern. */
_Static_assert(offsetof(struct lpl_token, word) >= offsetof(struct lpl_token, space), "a pattern is 0 at first");

/* The predictor's entry for a context, the last few tokens: which token follows. */
struct lpl_successor {
	uint32_t best;		/* the first choice, plus LPL_HYSTERESIS; 0: none */
	uint32_t second;	/* choice, if the first one is wrong */
};
/* The first choice was wrong the last time, and is replaced if it is wrong again. */
#define LPL_HYSTERESIS		(UINT32_C(1) << 31)

#define LPL_CONTEXT_BITS	16

static inline uint32_t lpl_context_after(uint32_t context, uint32_t token)
{
	return (context << 5 ^ (uint32_t)(token * LPL_HASH >> 48)) &
	       ((UINT32_C(1) << LPL_CONTEXT_BITS) - 1);
}

/* How a token that was not the first choice is written. */
enum lpl_candidate { LPL_BY_NUMBER, LPL_SECOND_CHOICE, LPL_FOLLOWER };

/* ---- sites ---- */

enum lpl_prediction {
	LPL_PREDICT_STEP,	/* from the last address on */
	LPL_PREDICT_NEAR,	/* from the data reference before */
	LPL_PREDICT_FAR,	/* from the one before that */
	LPL_PREDICT_SEEN,	/* from the last one on, by another step than before */
	LPL_PREDICTIONS,
	LPL_SITE_KINDS = LPL_PREDICT_SEEN
};

/*
 * The word is as a data word: the last address, and where a reference is expected here, its code
 * and, in the place of the instruction count, d.  The differences are modulo 2^48; above that
 * number LPL_PREDICT_STEP has the site's kind.
 */
struct lpl_site {
	uint64_t word;
	uint64_t difference[LPL_PREDICTIONS];
};

/* ---- the whole ---- */

#define LPL_MISS_BYTES	6	/* of an address that no prediction gives */
/* How an address is written: by a prediction, or by its distance from another one, in bytes. */
#define LPL_MISS(from_near, bytes) \
	(LPL_PREDICTIONS + ((from_near) ? LPL_MISS_BYTES + 1U : 0) + (bytes))
#define LPL_MISS_KINDS	LPL_MISS(true, LPL_MISS_BYTES + 1)

struct lpl_block_model {
	struct lpl_successor *after;	/* by context; owned, as all arrays */
	uint32_t context;
	uint32_t previous;		/* the last token */
	uint64_t near, far;		/* the last data reference's address, the one's before */
	struct lpl_instruction_trace *trace;	/* as much as is known so far; 0 is no code */
	struct lpl_token *token;
	struct lpl_site *site;
	size_t traces, tokens, sites;
	size_t trace_room, token_room, site_room;
};

bool lpl_block_model_init(struct lpl_block_model *model);	/* false: no memory */
void lpl_block_model_free(struct lpl_block_model *model);
/* Forget everything: a chunk begins.  false: no memory. */
bool lpl_block_model_begin(struct lpl_block_model *model);

/* A trace that the chunk did not know; its number is traces - 1 then.  false: no memory. */
bool lpl_block_model_trace(struct lpl_block_model *model, uint64_t address);
/* A token that the chunk did not know; its number is tokens - 1 then.  false: no memory. */
bool lpl_block_model_token(struct lpl_block_model *model, uint32_t trace, unsigned int first,
			   unsigned int fetched);
/* A token gets sites for so many data references.  false: no memory. */
bool lpl_block_model_sites(struct lpl_block_model *model, struct lpl_token *token, size_t refs);

/* Update the entry: this was the token, mispredicted or with the hysteresis bit set. */
void lpl_block_model_update(struct lpl_block_model *model, uint32_t token);

/* The history advances by this token: the next prediction is from another entry. */
static inline void lpl_block_model_advance(struct lpl_block_model *model, uint32_t token)
{
	model->previous = token;
	model->context = lpl_context_after(model->context, token);
}

/* ---- addresses ---- */

static inline unsigned int lpl_kind(const struct lpl_site *site)
{
	return (unsigned int)(site->difference[LPL_PREDICT_STEP] >> LPL_WORD_ADDRESS_BITS);
}

/* Where the site's reference is by that prediction, after those at `near` and, before it, `far`: in the address's bits. */
static inline uint64_t lpl_predict_bits(const struct lpl_site *site, unsigned int prediction,
					uint64_t near, uint64_t far)
{
	uint64_t from = prediction == LPL_PREDICT_NEAR ? near :
			prediction == LPL_PREDICT_FAR ? far : site->word;

	return from + site->difference[prediction];
}

static inline uint64_t lpl_predict(const struct lpl_site *site, unsigned int prediction,
				   uint64_t near, uint64_t far)
{
	return lpl_predict_bits(site, prediction, near, far) & LPL_ADDRESS_MASK;
}

/* Is it at `address`?  Of all three only the address's bits count. */
static inline bool lpl_is_at(const struct lpl_site *site, unsigned int prediction, uint64_t near,
			     uint64_t far, uint64_t address)
{
	return (lpl_predict_bits(site, prediction, near, far) - address) << (64 - LPL_WORD_ADDRESS_BITS) == 0;
}

/* Mispredicted: it is at `address`, which was written as `how` says. */
static inline void lpl_site_update(struct lpl_site *site, unsigned int how, uint64_t address,
				   uint64_t near, uint64_t far)
{
	uint64_t *difference = site->difference;
	uint64_t step = difference[LPL_PREDICT_STEP] & LPL_ADDRESS_MASK;
	uint64_t kind = how < LPL_SITE_KINDS ? how : lpl_kind(site);

	if (how == LPL_PREDICT_SEEN) {
		step = difference[LPL_PREDICT_SEEN];
		kind = LPL_PREDICT_STEP;
	}
	difference[LPL_PREDICT_STEP] = step | kind << LPL_WORD_ADDRESS_BITS;
	difference[LPL_PREDICT_NEAR] = address - near;
	difference[LPL_PREDICT_FAR] = address - far;
	difference[LPL_PREDICT_SEEN] = (address - site->word) & LPL_ADDRESS_MASK;
}

/* The site's last address is this one, its code and d stay. */
static inline void lpl_site_set_last(struct lpl_site *site, uint64_t address)
{
	site->word = (site->word & ~LPL_ADDRESS_MASK) | address;
}

/* Addresses that were not predicted are written as distances from another one. */
static inline uint64_t lpl_fold(uint64_t distance)
{
	return lpl_zigzag((uint64_t)((int64_t)(distance << 16) >> 16));
}

static inline uint64_t lpl_unfold(uint64_t folded)
{
	return lpl_unzigzag(folded) & LPL_ADDRESS_MASK;
}

#endif
