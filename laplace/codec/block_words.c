/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packing blocks that are in everything as expected, straight from a simulator's words: the path
 * that nearly all references take.
 *
 * Nothing is done for a fetch at all.  A block costs a look at the token that is expected: are
 * these its trace, its number of instructions, its data references?  Then it is a valid block, for
 * the one that it equals was (block_packer.c, prepare_words()).  A data reference costs a look at
 * where its site expects it, and is hashed.  All else, which is rare, is left to
 * lpl_block_packer_block(); nothing was done for it then.
 *
 * What is packed is just what lpl_block_packer_block() would make of the same blocks.
 */
#include <string.h>

#include "block_packer.h"

/* What the loop below changes, while it blocks. */
struct position {
	struct lpl_block_encoder *encoder;
	uint64_t near, far;		/* the last addresses */
	uint64_t hits;			/* where they were expected */
	uint64_t fetches, data;		/* the hash's F and D */
	uint64_t data_instr;		/* the hash's, too */
	uint64_t instr;			/* of the next block */
	uint64_t refs;			/* taken */
	uint64_t blocks;
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
	uint64_t different = 0;

	for (size_t i = 0; i < count; i++)
		different |= (word[i] - low) ^ site[i].word;
	return different >> LPL_WORD_ADDRESS_BITS == 0;
}

/* A block's data references; `low`, the low byte of its instruction count, is in its place. */
static inline void take_data(struct position *now, const uint64_t *word, struct lpl_site *site,
			     size_t count, uint64_t low)
{
	if (now->instr >> 8 != now->data_instr >> 8)
		now->data = lpl_stream_hash_page(now->data, now->instr);
	for (size_t i = 0; i < count; i++) {
		const uint64_t address = word[i] & LPL_ADDRESS_MASK;

		if (lpl_predict(&site[i], lpl_kind(&site[i]), now->near, now->far) == address) {
			now->hits++;
		} else {
			now->encoder->correct[LPL_BLOCK_HITS] += now->hits;
			now->hits = 0;
			lpl_block_encode_miss(now->encoder, &site[i], address, now->near, now->far);
		}
		site[i].word = word[i] - low;
		now->far = now->near;
		now->near = address;
		now->data = lpl_stream_hash_data(now->data, word[i]);
	}
	now->data_instr = now->instr +
			  (uint8_t)((word[count - 1] - low) >> LPL_WORD_COUNT_SHIFT);
}

static void begin(struct position *now, struct lpl_block_packer *packer)
{
	const struct lpl_block_model *model = &packer->encoder.model;
	const struct lpl_stream_hash *hash = &packer->hash;

	*now = (struct position){
		.encoder = &packer->encoder, .near = model->near, .far = model->far,
		.fetches = hash->fetches, .data = hash->data, .data_instr = hash->data_instr,
		.instr = packer->next_instr,
	};
}

static void end_with(const struct position *now, struct lpl_block_packer *packer)
{
	struct lpl_block_encoder *encoder = &packer->encoder;
	struct lpl_block_position *packed = &packer->packed;
	struct lpl_stream_hash *hash = &packer->hash;

	encoder->correct[LPL_BLOCK_FLOW] += now->blocks;
	encoder->correct[LPL_BLOCK_SHAPE] += now->blocks;
	encoder->correct[LPL_BLOCK_HITS] += now->hits;
	encoder->model.near = now->near;
	encoder->model.far = now->far;
	packer->next_instr = packed->next_instr = now->instr;
	packed->instr = now->instr - 1;		/* the last block's last fetch, or with it */
	packed->cycle = packed->instr + packed->state.cycle_offset;
	packed->ref += now->refs;
	packer->refs += now->refs;
	hash->fetches = now->fetches;
	hash->data = now->data;
	hash->data_instr = now->data_instr;
	hash->next_fetch = now->instr;
	hash->ref = packed->ref;
	hash->refs += now->refs;
}

size_t lpl_block_packer_words(struct lpl_block_packer *packer, const uint64_t *word,
			      const uint64_t *end, uint64_t most, uint64_t *instructions,
			      uint64_t *refs)
{
	struct lpl_block_model *const model = &packer->encoder.model;
	const uint64_t *const first = word;
	const bool user = packer->state.user;
	uint32_t context = model->context, previous = model->previous;
	struct position now;

	*instructions = *refs = 0;
	if (!is_settled(packer) ||
	    *word >> LPL_WORD_COUNT_SHIFT !=
		    (LPL_WORD_TRACE << 8 | (uint8_t)packer->next_instr))
		return 0;
	begin(&now, packer);
	for (;;) {
		/* one that is in doubt has a higher number than any token */
		const uint32_t number = model->after[context].best;
		const uint64_t low = (uint64_t)(uint8_t)now.instr << LPL_WORD_COUNT_SHIFT;
		struct lpl_token *token;
		struct lpl_site *site;
		size_t count, after;

		if (number >= model->tokens || now.encoder->full)
			break;
		token = &model->token[number];
		count = token->listed;
		after = (size_t)(uint8_t)now.instr + token->fetched;
		if (token->word[user] != (uint32_t)*word || (size_t)(end - word) < count + 2 ||
		    word[count + 1] >> LPL_WORD_COUNT_SHIFT !=
			    (LPL_WORD_TRACE << 8 | (after & 0xff)) || after > 256)
			break;
		site = &model->site[token->sites];
		if (!are_expected(word + 1, site, count, low))
			break;
		if (packer->refs + now.refs + count + token->fetched + 1 > most ||
		    !lpl_block_room(now.encoder, count))
			break;
		if (count > 0)
			take_data(&now, word + 1, site, count, low);
		now.fetches = now.fetches * token->fetch_power + token->fetch_hash;
		now.instr += token->fetched;
		now.refs += count + token->fetched;
		now.blocks++;
		token->times[user]++;
		context = lpl_context_after(context, number);
		previous = number;
		word += count + 1;
	}
	if (now.blocks == 0)
		return 0;
	model->context = context;
	model->previous = previous;
	lpl_block_encoder_took(&packer->encoder, (size_t)(word - first));
	*instructions = now.instr - packer->next_instr;
	*refs = now.refs;
	end_with(&now, packer);
	return (size_t)(word - first);
}
