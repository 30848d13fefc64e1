/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packing blocks that are as they were before, straight from a simulator's words: the path
 * that nearly all references take.
 *
 * Nothing is done for a fetch at all.  A block costs a look at the token that is expected: are
 * these its trace, its number of instructions, its data references?  Then it is a valid block, for
 * the one that it equals was (block_packer.c, prepare_words()).  If not, it may be another token of
 * its trace, which is written.  A data reference costs a look at where its site expects it, and is
 * hashed.  All else, which is rare, is left to lpl_block_packer_block(); nothing was done for it then.
 *
 * What is packed is just what lpl_block_packer_block() would make of the same blocks.
 */
#include <string.h>

#include "block_packer.h"

/* What the loop below changes, while it packs. */
struct position {
	struct lpl_block_encoder *encoder;
	uint32_t context, previous;	/* the model's */
	uint64_t near, far;		/* the words of the last data references; above their addresses is anything */
	uint64_t hits;			/* so many data references in a row were where they were expected */
	uint64_t blocks;		/* taken */
	uint64_t flow;			/* blocks less this: so many in a row were expected; modulo 2^64 */
	uint64_t fetches, data;		/* the hash's F and D */
	uint64_t data_page;		/* the hash's data_instr, less its low byte, which is in `near` */
	uint64_t instr;			/* of the next block */
	uint64_t left;			/* references that may still be taken */
};

/* Is all as it is after any block, so that the next one can begin with nothing else between? */
static bool is_settled(const struct lpl_block_packer *packer)
{
	const struct lpl_block_position *packed = &packer->packed;
	const struct lpl_stream_hash *hash = &packer->hash;
	const struct lpl_block_state *state = &packer->state;
	/* far enough from the counters' ends for all words that there may be */
	const uint64_t last = packer->next_instr + (UINT64_C(1) << 40);

	return lpl_block_packer_in_step(packer) && !packer->hashed_before && packer->refs > 0 &&
	       packed->ref >= packed->event_ref && packed->instr < packer->next_instr &&
	       packed->cycle <= packer->next_instr + state->cycle_offset &&
	       last > packer->next_instr &&
	       last + state->cycle_offset > packer->next_instr + state->cycle_offset &&
	       hash->ref == packed->ref && hash->offset == state->cycle_offset &&
	       hash->space == state->space && hash->user == state->user &&
	       hash->next_fetch == packer->next_instr && hash->data_instr != packer->next_instr;
}

/*
 * Are these the data references that the token expects?  The low byte of the count must have no
 * carry among them: subtracting it would borrow from the code.
 */
static inline bool are_expected(const uint64_t *word, const struct lpl_site *site, size_t count,
				uint64_t low)
{
	for (const uint64_t *const end = word + count; word < end; word++, site++) {
		if (((*word - low) ^ site->word) >> LPL_WORD_ADDRESS_BITS != 0)
			return false;
	}
	return true;
}

/* A block's data references. */
static inline void take_data(struct position *now, const uint64_t *word, struct lpl_site *site, size_t count)
{
	const uint64_t low = (uint64_t)(uint8_t)now->instr << LPL_WORD_COUNT_SHIFT;

	if (now->data_page != now->instr >> 8) {
		now->data = lpl_stream_hash_page(now->data, now->instr);
		now->data_page = now->instr >> 8;
	}
	for (size_t i = 0; i < count; i++) {
		const uint64_t this = word[i];

		if (!lpl_is_at(&site[i], lpl_kind(&site[i]), now->near, now->far, this)) {
			now->encoder->correct[LPL_BLOCK_HITS] = now->hits + i;
			now->hits = 0 - (i + 1);
			lpl_block_encode_miss(now->encoder, &site[i], this, now->near, now->far);
		}
		site[i].word = this - low;
		now->far = now->near;
		now->near = this;
		now->data = lpl_stream_hash_data(now->data, this);
	}
	now->hits += count;
}

/* A block is another token's than was expected, or that one was in doubt; its data references are as expected. */
static void take_unexpected(struct position *now, uint32_t token)
{
	struct lpl_block_encoder *encoder = now->encoder;

	encoder->model.context = now->context;
	encoder->model.previous = now->previous;
	encoder->correct[LPL_BLOCK_FLOW] = now->blocks - now->flow;
	lpl_block_encode_token(encoder, token);
	now->flow = now->blocks + 1 - encoder->correct[LPL_BLOCK_FLOW];
	now->context = encoder->model.context;
	now->previous = token;
}

static void begin(struct position *now, struct lpl_block_packer *packer, uint64_t most)
{
	struct lpl_block_encoder *encoder = &packer->encoder;
	const struct lpl_stream_hash *hash = &packer->hash;

	*now = (struct position){
		.encoder = encoder,
		.context = encoder->model.context, .previous = encoder->model.previous,
		.near = encoder->model.near | hash->data_instr << LPL_WORD_COUNT_SHIFT,
		.far = encoder->model.far,
		.hits = encoder->correct[LPL_BLOCK_HITS],
		.flow = 0 - encoder->correct[LPL_BLOCK_FLOW],
		.fetches = hash->fetches, .data = hash->data, .data_page = hash->data_instr >> 8,
		.instr = packer->next_instr,
		.left = most > packer->refs ? most - packer->refs : 0,
	};
}

static void end_with(const struct position *now, struct lpl_block_packer *packer, uint64_t refs)
{
	struct lpl_block_encoder *encoder = &packer->encoder;
	struct lpl_block_position *packed = &packer->packed;
	struct lpl_stream_hash *hash = &packer->hash;

	encoder->correct[LPL_BLOCK_FLOW] = now->blocks - now->flow;
	encoder->correct[LPL_BLOCK_SHAPE] += now->blocks;
	encoder->correct[LPL_BLOCK_HITS] = now->hits;
	encoder->model.context = now->context;
	encoder->model.previous = now->previous;
	encoder->model.near = now->near & LPL_ADDRESS_MASK;
	encoder->model.far = now->far & LPL_ADDRESS_MASK;
	packer->next_instr = packed->next_instr = now->instr;
	packed->instr = now->instr - 1;		/* the last block's last fetch, or with it */
	packed->cycle = packed->instr + packed->state.cycle_offset;
	packed->ref += refs;
	packer->refs += refs;
	hash->fetches = now->fetches;
	hash->data = now->data;
	hash->data_instr = now->data_page << 8 | (uint8_t)(now->near >> LPL_WORD_COUNT_SHIFT);
	hash->next_fetch = now->instr;
	hash->ref = packed->ref;
	hash->refs += refs;
}

/*
 * Is the next block, at `word` and the instruction count `instr`, such as this token's was when it was prepared, and
 * does another one follow?
 */
static inline bool is_next(const struct lpl_block_model *model, const struct lpl_token *token,
			   const uint64_t *word, const uint64_t *end, uint64_t instr, bool user)
{
	const size_t count = token->listed, after = (size_t)(uint8_t)instr + token->fetched;

	/* 64 bits, of which NONE is no word's lower half; subtracted, and in this order, it takes the fewest instructions */
	return (int64_t)(uint32_t)*word - token->word[user] == 0 && after <= 256 &&
	       (size_t)(end - word) >= count + 2 &&
	       word[count + 1] >> LPL_WORD_COUNT_SHIFT == (LPL_WORD_TRACE << 8 | (after & 0xff)) &&
	       are_expected(word + 1, &model->site[token->sites], count,
			    (uint64_t)(uint8_t)instr << LPL_WORD_COUNT_SHIFT);
}

/* The token of such a block, though another one was expected; or none. */
static uint32_t find(const struct lpl_block_packer *packer, const uint64_t *word, const uint64_t *end,
		     uint64_t instr, bool user)
{
	const struct lpl_block_model *model = &packer->encoder.model;
	const uint32_t number = (uint32_t)*word - 1;
	uint32_t token;

	if (number >= packer->traces || packer->in_chunk[number].chunk != packer->chunk)
		return LPL_TOKEN_NONE;
	token = packer->in_chunk[number].token;
	while (token != LPL_TOKEN_NONE && !is_next(model, &model->token[token], word, end, instr, user))
		token = model->token[token].next;
	return token;
}

size_t lpl_block_packer_words(struct lpl_block_packer *packer, const uint64_t *word,
			      const uint64_t *end, uint64_t most, uint64_t *instructions,
			      uint64_t *refs)
{
	struct lpl_block_model *const model = &packer->encoder.model;
	const uint64_t *const first = word;
	const bool user = packer->state.user;
	struct position now;

	*instructions = *refs = 0;
	if (!is_settled(packer) ||
	    *word >> LPL_WORD_COUNT_SHIFT !=
		    (LPL_WORD_TRACE << 8 | (uint8_t)packer->next_instr))
		return 0;
	begin(&now, packer, most);
	most = now.left;
	while (!now.encoder->full) {
		/* one that is in doubt has a higher number than any token */
		uint32_t number = model->after[now.context].best;
		const bool expected = number < model->tokens &&
				      is_next(model, &model->token[number], word, end, now.instr, user);
		struct lpl_token *token;
		size_t count;

		if (!expected)
			number = find(packer, word, end, now.instr, user);
		if (number == LPL_TOKEN_NONE)
			break;
		token = &model->token[number];
		count = token->listed;
		if (count + token->fetched >= now.left || !lpl_block_room(now.encoder, count))
			break;
		now.left -= count + token->fetched;
		if (expected) {
			now.context = lpl_context_after(now.context, number);
			now.previous = number;
		} else {
			take_unexpected(&now, number);
		}
		now.blocks++;
		if (count > 0)
			take_data(&now, word + 1, &model->site[token->sites], count);
		now.fetches = now.fetches * token->fetch_power + token->fetch_hash;
		now.instr += token->fetched;
		token->times[user]++;
		word += count + 1;
	}
	if (word == first)
		return 0;
	lpl_block_encoder_took(&packer->encoder, (size_t)(word - first));
	*instructions = now.instr - packer->next_instr;
	*refs = most - now.left;
	end_with(&now, packer, *refs);
	return (size_t)(word - first);
}
