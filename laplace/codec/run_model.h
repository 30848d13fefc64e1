/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the packing of runs expects (docs/format.md, section 9.3): the part that its writer and
 * its reader have in common.  Both keep one of these for each chunk, ask it the same questions
 * and tell it the same answers, so that only what it did not expect has to be written.
 *
 * Three things are expected of a run, and learned from it:
 *
 * - which it is.  It has a *token*, and after the last three tokens, or after the last one
 *   alone, that follows which followed then.
 * - which data references its instructions make: the same as when each was executed last.
 * - their addresses.  Where an instruction makes its n-th reference is a *site*, and each site
 *   has four predictors: as far from the data reference before as last time; where it was last
 *   time; as far as last time from the data reference before the one before; and as far from
 *   where it was last time as that was from the time before.
 *
 * All of it is made to be fast: a hundred million references a second come from a simulator.
 */
#ifndef LAPLACE_CODEC_RUN_MODEL_H
#define LAPLACE_CODEC_RUN_MODEL_H

#include "base/array.h"
#include "base/varint.h"
#include "run_expand.h"

#define LPL_ADDRESS_MASK	((UINT64_C(1) << LPL_WORD_ADDRESS_BITS) - 1)
#define LPL_HASH_BITS		16
#define LPL_HASH_1		UINT64_C(0x9e3779b97f4a7c15)
#define LPL_HASH_2		UINT64_C(0xc2b2ae3d27d4eb4f)
#define LPL_HASH_3		UINT64_C(0x165667b19e3779f9)

/* ---- tokens: what comes next in a chunk ---- */

/*
 * A run of a trace: its number in the chunk, its first instruction, how many were fetched.  Trace
 * 0 is no code: it has the data references that no instruction made, and what else is no
 * run.
 */
#define LPL_TOKEN(trace, first, fetched) \
	(UINT32_C(1) << 31 | (uint32_t)(trace) << 11 | (uint32_t)(first) << 6 | (fetched))
#define LPL_TOKEN_TRACE(token)		((token) >> 11 & (LPL_TRACES_MAX - 1))
#define LPL_TOKEN_FIRST(token)		((token) >> 6 & 31)
#define LPL_TOKEN_FETCHED(token)	((token) & 63)

#define LPL_TOKEN_LOOSE		LPL_TOKEN(0, 0, 0)	/* data references of no instruction */
#define LPL_TOKEN_ANY		LPL_TOKEN(0, 1, 0)	/* one reference, with all its fields */
#define LPL_TOKEN_STATE(mask)	LPL_TOKEN(0, 2, mask)	/* state changes: LPL_STATE_... */
#define LPL_STATE_SPACE		1
#define LPL_STATE_USER		2
#define LPL_STATE_OFFSET	4
#define LPL_STATE_INSTR		8
#define LPL_STATE_MASKS		16

#define LPL_CONFIDENCE_MAX	15

/* Which tokens followed on a context: the best, another one; 0: none. */
struct lpl_successor {
	uint32_t token[2];
	uint32_t confidence;
};

/* What the next token may be; the first is what it is most of the time. */
enum lpl_candidate {
	LPL_THREE_BEST, LPL_THREE_OTHER, LPL_ONE_BEST, LPL_ONE_OTHER, LPL_CANDIDATES
};

/* ---- sites ---- */

enum lpl_predictor {
	LPL_PREDICT_NEAR,	/* the data reference before, and what it was more last time */
	LPL_PREDICT_LAST,
	LPL_PREDICT_FAR,	/* as NEAR, with the one before that */
	LPL_PREDICT_STRIDE,
	LPL_PREDICTORS
};

/*
 * Each predictor adds a guess to a base: to the address of the data reference before, to
 * nothing, to the one before the one before, to nothing.  All is modulo 2^48.
 */
struct lpl_site {
	uint64_t guess[LPL_PREDICTORS];
	uint32_t best;		/* the predictor that was right last */
};

/* One reference that is expected of an instruction. */
struct lpl_expected {
	uint8_t instruction;
	uint8_t code;		/* the word's bits 56 to 62 */
	uint16_t reserved;
	uint32_t site;		/* index */
};

#define LPL_CODE_SHIFT		56
#define LPL_LIST_MAX		64	/* references in the list of an instruction */

/* How a list that was not expected is told: codes, which are below these, and */
enum lpl_list_op {
	LPL_LIST_ON = 128,	/* plus how many instructions to go on, up to 32 */
	LPL_LIST_AGAIN = 192,	/* the list begins again, at the same count */
	LPL_LIST_AGAIN_NEXT,	/* at the next one */
	LPL_LIST_AGAIN_LATER	/* by a number */
};

/* ---- traces, as a chunk knows them ---- */

struct lpl_model_trace {
	struct lpl_instruction_trace code;	/* as many instructions as are known so far */
	uint32_t place[LPL_TRACE_MAX];		/* sites of each instruction: the first's index */
	uint8_t room[LPL_TRACE_MAX];		/* and how many there are */
	uint16_t begin[LPL_TRACE_MAX + 1];	/* of each instruction's list in `expected` */
	uint32_t expected, expected_room;	/* index of the first, and room */
	uint32_t scanned;			/* the run with this token makes, when it ... */
	struct lpl_run_data data;		/* ... is as expected, these; 0: it has to be seen */
};

/* ---- the whole ---- */

#define LPL_MISS_BYTES	6	/* of an address that nobody predicted */
/* How an address is told: by the predictor, or by its distance from another one, in bytes. */
#define LPL_MISS(from_near, bytes) \
	(LPL_PREDICTORS + ((from_near) ? LPL_MISS_BYTES + 1U : 0) + (bytes))
#define LPL_MISS_KINDS	LPL_MISS(true, LPL_MISS_BYTES + 1)

struct lpl_run_model {
	struct lpl_successor *three, *one;	/* owned, as all arrays: of 2^LPL_HASH_BITS */
	uint32_t token[3];			/* the last ones, the latest first */
	uint64_t base[LPL_PREDICTORS];		/* of the predictors */
	struct lpl_model_trace *trace;
	struct lpl_site *site;
	struct lpl_expected *expected;
	size_t traces, sites, expecteds;
	size_t trace_room, site_room, expected_room;
};

bool lpl_run_model_init(struct lpl_run_model *model);	/* false: no memory */
void lpl_run_model_free(struct lpl_run_model *model);
/* Forget everything: a chunk begins.  false: no memory. */
bool lpl_run_model_begin(struct lpl_run_model *model);

/* A trace that the chunk did not know; its number is traces - 1 then.  false: no memory. */
bool lpl_run_model_add(struct lpl_run_model *model, uint64_t address);
/* An instruction's list is this from now on, so many codes.  false: no memory. */
bool lpl_run_model_expect(struct lpl_run_model *model, struct lpl_model_trace *trace,
			  unsigned int instruction, const uint8_t *code, size_t count);
/* The site of an instruction's n-th reference, for n below LPL_LIST_MAX.  SIZE_MAX: no memory. */
size_t lpl_run_model_site(struct lpl_run_model *model, struct lpl_model_trace *trace,
			  unsigned int instruction, unsigned int n);

/* ---- tokens ---- */

static inline struct lpl_successor *lpl_after_three(const struct lpl_run_model *model)
{
	uint64_t hash = model->token[0] * LPL_HASH_1 + model->token[1] * LPL_HASH_2 +
			model->token[2] * LPL_HASH_3;

	return &model->three[hash >> (64 - LPL_HASH_BITS)];
}

static inline struct lpl_successor *lpl_after_one(const struct lpl_run_model *model)
{
	return &model->one[model->token[0] * LPL_HASH_1 >> (64 - LPL_HASH_BITS)];
}

/* This token came after those. */
static inline void lpl_token_came(struct lpl_run_model *model, uint32_t token)
{
	model->token[2] = model->token[1];
	model->token[1] = model->token[0];
	model->token[0] = token;
}

/* A successor that did not have it as its best one learns of it. */
void lpl_successor_learn(struct lpl_successor *successor, uint32_t token);

static inline void lpl_successor_was_right(struct lpl_successor *successor)
{
	successor->confidence += successor->confidence < LPL_CONFIDENCE_MAX;
}

/* ---- addresses ---- */

static inline uint64_t lpl_predict(const struct lpl_site *site, unsigned int predictor,
				   const uint64_t base[LPL_PREDICTORS])
{
	return (base[predictor] + site->guess[predictor]) & LPL_ADDRESS_MASK;
}

/* A data reference came: the next ones are near it. */
static inline void lpl_base_came(uint64_t base[LPL_PREDICTORS], uint64_t address)
{
	base[LPL_PREDICT_FAR] = base[LPL_PREDICT_NEAR];
	base[LPL_PREDICT_NEAR] = address;
}

/* It came from this site. */
static inline void lpl_site_came(uint64_t base[LPL_PREDICTORS], struct lpl_site *site,
				 uint64_t address)
{
	site->guess[LPL_PREDICT_STRIDE] = 2 * address - site->guess[LPL_PREDICT_LAST];
	site->guess[LPL_PREDICT_NEAR] = address - base[LPL_PREDICT_NEAR];
	site->guess[LPL_PREDICT_LAST] = address;
	site->guess[LPL_PREDICT_FAR] = address - base[LPL_PREDICT_FAR];
	lpl_base_came(base, address);
}

/* Addresses that nobody predicted are told by how far they are from another one. */
static inline uint64_t lpl_fold(uint64_t distance)
{
	return lpl_zigzag((uint64_t)((int64_t)(distance << 16) >> 16));
}

static inline uint64_t lpl_unfold(uint64_t folded)
{
	return lpl_unzigzag(folded) & LPL_ADDRESS_MASK;
}

#endif
