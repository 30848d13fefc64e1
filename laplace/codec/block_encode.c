/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packing blocks, one by one.  Those that are as they were before mostly do not get here
 * (block_words.c).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "block_encode.h"

/* The most bytes that one data reference or one instruction takes in a column. */
#define BYTES_EACH	32
#define ROOM		4096	/* data references and instructions between looks for room */
#define REPETITIONS_MIN	4	/* fewer are written one by one */
#define LENGTH_CLASS(word) ((word) >> LPL_WORD_LENGTH_SHIFT & 7)

bool lpl_block_encoder_init(struct lpl_block_encoder *encoder)
{
	memset(encoder, 0, sizeof(*encoder));
	return lpl_block_model_init(&encoder->model);
}

void lpl_block_encoder_free(struct lpl_block_encoder *encoder)
{
	lpl_block_model_free(&encoder->model);
	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++)
		free(encoder->column[i].byte);
	memset(encoder, 0, sizeof(*encoder));
}

bool lpl_block_encoder_make_room(struct lpl_block_encoder *encoder)
{
	size_t most = (ROOM + LPL_BLOCK_WORDS_MAX) * (size_t)BYTES_EACH;
	size_t size = 0;
	bool ok = true;

	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++) {
		struct lpl_bytes *bytes = &encoder->column[i];

		size += bytes->size;
		ok = lpl_reserve(bytes->byte, bytes->room, bytes->size + most) && ok;
	}
	encoder->room = ROOM;
	encoder->full = encoder->full || size >= LPL_BLOCK_BYTES;
	return ok;
}

bool lpl_block_encoder_begin(struct lpl_block_encoder *encoder)
{
	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++)
		encoder->column[i].size = 0;
	memset(encoder->correct, 0, sizeof(encoder->correct));
	encoder->defined = 0;
	encoder->op_words = 0;
	encoder->full = false;
	return lpl_block_model_begin(&encoder->model) && lpl_block_encoder_make_room(encoder);
}

static void put_number(struct lpl_block_encoder *encoder, enum lpl_block_column column,
		       uint64_t number)
{
	struct lpl_bytes *bytes = &encoder->column[column];

	assert(bytes->size + LPL_VARINT_MAX <= bytes->room);
	bytes->size = (size_t)(lpl_varint_put(&bytes->byte[bytes->size], number) - bytes->byte);
}

static void put_byte(struct lpl_block_encoder *encoder, enum lpl_block_column column,
		     unsigned int byte)
{
	struct lpl_bytes *bytes = &encoder->column[column];

	assert(bytes->size < bytes->room);
	bytes->byte[bytes->size++] = (uint8_t)byte;
}

/* Here is one that was not expected: so many were, before it. */
static void put_gap(struct lpl_block_encoder *encoder, enum lpl_block_column column)
{
	put_number(encoder, column, encoder->correct[column]);
	encoder->correct[column] = 0;
}

/* ---- which block ---- */

static bool is_token_of(const struct lpl_token *token, uint32_t trace,
			const struct lpl_block *block)
{
	return token->trace == trace && token->first == block->first &&
	       token->fetched == block->fetched;
}

uint32_t lpl_block_find_token(const struct lpl_block_model *model, uint32_t next, uint32_t trace,
			      const struct lpl_block *block)
{
	uint32_t best = model->after[model->context].best & ~LPL_HYSTERESIS;

	if (best >= LPL_TOKEN_BLOCKS && is_token_of(&model->token[best], trace, block))
		return best;
	while (next != LPL_TOKEN_NONE && !is_token_of(&model->token[next], trace, block))
		next = model->token[next].next;
	return next;
}

void lpl_block_encode_token(struct lpl_block_encoder *encoder, uint32_t token)
{
	struct lpl_block_model *model = &encoder->model;
	const struct lpl_successor *after = &model->after[model->context];
	uint32_t best = after->best;

	if ((best & ~LPL_HYSTERESIS) == token) {
		encoder->correct[LPL_BLOCK_FLOW]++;
	} else {
		put_gap(encoder, LPL_BLOCK_FLOW);
		if (after->second == token) {
			put_byte(encoder, LPL_BLOCK_FLOW, LPL_SECOND_CHOICE);
		} else if (model->token[model->previous].follower == token) {
			put_byte(encoder, LPL_BLOCK_FLOW, LPL_FOLLOWER);
		} else {
			put_byte(encoder, LPL_BLOCK_FLOW, LPL_BY_NUMBER);
			put_number(encoder, LPL_BLOCK_TRACES, token);
		}
	}
	if (best != token)
		lpl_block_model_update(model, token);
	lpl_block_model_advance(model, token);
}

/* The token written last is a new one: what it is.  The chunk may have to define its trace. */
static bool put_definition(struct lpl_block_encoder *encoder, uint32_t number,
			   const struct lpl_instruction_trace *trace, const struct lpl_block *block)
{
	struct lpl_block_model *model = &encoder->model;
	unsigned int count = block->first + (block->fetched > 0 ? block->fetched : 1U);
	struct lpl_instruction_trace *known;

	put_number(encoder, LPL_BLOCK_TRACES, number);
	put_number(encoder, LPL_BLOCK_TRACES, block->first * 64U + block->fetched);
	if (number == model->traces) {
		if (!lpl_block_model_trace(model, trace->address))
			return false;
		put_number(encoder, LPL_BLOCK_TRACES,
			   lpl_zigzag(trace->address - encoder->defined));
		encoder->defined = trace->address;
	}
	known = &model->trace[number];
	while (known->count < count) {
		known->length[known->count] = trace->length[known->count];
		put_number(encoder, LPL_BLOCK_TRACES, trace->length[known->count]);
		known->count++;
	}
	return lpl_block_model_token(model, number, block->first, block->fetched);
}

/* ---- which data references ---- */

/* A word as a site has it: d in the place of the instruction count, which is never lower. */
static inline uint64_t as_expected(uint64_t word, uint8_t low)
{
	const uint64_t count = UINT64_C(0xff) << LPL_WORD_COUNT_SHIFT;

	return (word & ~count) | ((word - ((uint64_t)low << LPL_WORD_COUNT_SHIFT)) & count);
}

bool lpl_block_is_expected(const struct lpl_block_model *model, const struct lpl_token *token,
			   const struct lpl_block *block, uint8_t low)
{
	const struct lpl_site *site = &model->site[token->sites];
	uint64_t different = 0;

	if (token->listed != block->words)
		return false;
	for (size_t i = 0; i < block->words; i++) {
		different |= as_expected(block->word[i], low) ^ site[i].word;
		if (LENGTH_CLASS(block->word[i]) == LPL_WORD_LONG)
			return false;
	}
	return different >> LPL_WORD_ADDRESS_BITS == 0;
}

/* By how much a word's count is higher than that of the word before it in the block. */
static inline unsigned int rise(const uint64_t *word, size_t i, uint8_t low)
{
	unsigned int before = i > 0 ? (uint8_t)(word[i - 1] >> LPL_WORD_COUNT_SHIFT) : low;

	return (uint8_t)((word[i] >> LPL_WORD_COUNT_SHIFT) - before);
}

/* How many words from the i-th on are each like the one two before, as in strings. */
static size_t repetitions(const struct lpl_block *block, size_t i, uint8_t low)
{
	const uint64_t *word = block->word;
	size_t from = i;

	while (i >= 2 && i < block->words &&
	       word[i] >> LPL_CODE_SHIFT == word[i - 2] >> LPL_CODE_SHIFT &&
	       rise(word, i, low) == rise(word, i - 2, low) &&
	       LENGTH_CLASS(word[i]) != LPL_WORD_LONG)
		i++;
	return i - from;
}

/* All that a block refers to, but for the addresses. */
static void put_codes(struct lpl_block_encoder *encoder, const struct lpl_block *block, size_t refs,
		      uint8_t low)
{
	const bool has_lengths = refs != block->words;
	size_t again;

	put_gap(encoder, LPL_BLOCK_SHAPE);
	put_number(encoder, LPL_BLOCK_CODES, refs);
	for (size_t i = 0, last = 0; i < block->words; i++) {
		uint64_t word = block->word[i];
		uint64_t before = i > 0 ? block->word[last] >> LPL_WORD_COUNT_SHIFT : low;
		unsigned int higher = (uint8_t)((word >> LPL_WORD_COUNT_SHIFT) - before);

		again = has_lengths ? 0 : repetitions(block, i, low);
		if (again >= REPETITIONS_MIN) {
			put_byte(encoder, LPL_BLOCK_CODES, LPL_CODE_REPEAT);
			put_number(encoder, LPL_BLOCK_CODES, again);
			i += again - 1;
			last = i;
			continue;
		}
		last = i;
		put_byte(encoder, LPL_BLOCK_CODES,
			 (uint8_t)(word >> LPL_CODE_SHIFT) | (higher > 0 ? 128U : 0));
		if (higher > 0)
			put_byte(encoder, LPL_BLOCK_CODES, higher);
		if (LENGTH_CLASS(word) == LPL_WORD_LONG)
			put_number(encoder, LPL_BLOCK_CODES, block->word[++i]);
	}
}

/* ---- their addresses ---- */

void lpl_block_encode_miss(struct lpl_block_encoder *encoder, struct lpl_site *site,
			   uint64_t word, uint64_t near, uint64_t far)
{
	struct lpl_bytes *misses = &encoder->column[LPL_BLOCK_MISSES];
	const uint64_t address = word & LPL_ADDRESS_MASK;
	uint64_t from_last, from_near, distance;
	unsigned int how = 0, bytes;

	put_gap(encoder, LPL_BLOCK_HITS);
	while (how < LPL_PREDICTIONS && !lpl_is_at(site, how, near, far, address))
		how++;
	if (how < LPL_PREDICTIONS) {
		put_byte(encoder, LPL_BLOCK_MISSES, how);
		lpl_site_update(site, how, address, near, far);
		return;
	}
	from_last = lpl_fold(address - site->word);
	from_near = lpl_fold(address - near);
	distance = from_near < from_last ? from_near : from_last;
	bytes = distance ? (71U - (unsigned int)__builtin_clzll(distance)) / 8 : 0;
	put_byte(encoder, LPL_BLOCK_MISSES, LPL_MISS(from_near < from_last, bytes));
	/* all of it; what is not used of it is overwritten */
	assert(misses->size + sizeof(distance) <= misses->room);
	distance = htole64(distance);
	memcpy(&misses->byte[misses->size], &distance, sizeof(distance));
	misses->size += bytes;
	lpl_site_update(site, LPL_PREDICTIONS, address, near, far);
}

/* The addresses of a block's data references; and its list, if that is learned. */
static void put_addresses(struct lpl_block_encoder *encoder, const struct lpl_token *token,
			  const struct lpl_block *block, uint8_t low, bool learned)
{
	struct lpl_block_model *model = &encoder->model;
	struct lpl_site *const sites = &model->site[token->sites];
	uint64_t near = model->near, far = model->far;
	size_t n = 0;

	for (size_t i = 0; i < block->words; i++, n++) {
		struct lpl_site *site = &sites[lpl_site_of(n)];
		const uint64_t word = block->word[i], address = word & LPL_ADDRESS_MASK;

		if (lpl_is_at(site, lpl_kind(site), near, far, address))
			encoder->correct[LPL_BLOCK_HITS]++;
		else
			lpl_block_encode_miss(encoder, site, address, near, far);
		if (learned)
			site->word = as_expected(word, low);
		else
			lpl_site_set_last(site, address);
		far = near;
		near = address;
		i += LENGTH_CLASS(word) == LPL_WORD_LONG;
	}
	model->near = near;
	model->far = far;
}

/* ---- the whole of a block ---- */

static bool put_data(struct lpl_block_encoder *encoder, uint32_t number,
		     const struct lpl_block *block, size_t refs, uint8_t low)
{
	struct lpl_block_model *model = &encoder->model;
	struct lpl_token *token = &model->token[number];
	bool expected = lpl_block_is_expected(model, token, block, low), learned = false;

	if (expected) {
		encoder->correct[LPL_BLOCK_SHAPE]++;
	} else {
		put_codes(encoder, block, refs, low);
		if (!lpl_block_model_sites(model, token, refs))
			return false;
		learned = refs <= LPL_LIST_MAX;
		if (learned)
			token->listed = (uint16_t)refs;
	}
	put_addresses(encoder, token, block, low, learned);
	lpl_block_encoder_took(encoder, 1 + block->words);
	return true;
}

bool lpl_block_encode(struct lpl_block_encoder *encoder, uint32_t *token, uint32_t trace,
		      const struct lpl_instruction_trace *code, const struct lpl_block *block,
		      size_t refs, uint8_t low)
{
	struct lpl_block_model *model = &encoder->model;

	if (!lpl_block_room(encoder, block->words))
		return false;
	if (*token == LPL_TOKEN_NONE) {
		*token = (uint32_t)model->tokens;
		lpl_block_encode_token(encoder, *token);
		if (!put_definition(encoder, trace, code, block))
			return false;
	} else {
		lpl_block_encode_token(encoder, *token);
	}
	return put_data(encoder, *token, block, refs, low);
}

bool lpl_block_encode_loose(struct lpl_block_encoder *encoder, const struct lpl_block *block, size_t refs, uint8_t low)
{
	if (!lpl_block_room(encoder, block->words))
		return false;
	lpl_block_encode_token(encoder, LPL_TOKEN_LOOSE);
	return put_data(encoder, LPL_TOKEN_LOOSE, block, refs, low);
}

bool lpl_block_encode_state(struct lpl_block_encoder *encoder, unsigned int mask, uint64_t space,
			    uint64_t offset, uint64_t instr)
{
	const uint64_t by[] = { space, offset, instr };
	const unsigned int bit[] = { LPL_STATE_SPACE, LPL_STATE_OFFSET, LPL_STATE_INSTR };

	if (!lpl_block_room(encoder, 0))
		return false;
	lpl_block_encode_token(encoder, LPL_TOKEN_STATE - 1 + mask);
	for (int i = 0; i < 3; i++) {
		if (mask & bit[i])
			put_number(encoder, LPL_BLOCK_STATES, lpl_zigzag(by[i]));
	}
	lpl_block_encoder_took(encoder, LPL_STATE_OP_WORDS);
	return true;
}

bool lpl_block_encode_any(struct lpl_block_encoder *encoder, const struct lpl_ref *ref,
			  uint64_t instr, uint64_t offset, uint64_t number)
{
	const uint64_t field[] = {
		ref->type + 8U * ref->flags, ref->length, ref->ref - number,
		lpl_zigzag(ref->instr - instr), lpl_zigzag(ref->cycle - ref->instr - offset),
		ref->space, ref->address
	};

	if (!lpl_block_room(encoder, 0))
		return false;
	lpl_block_encode_token(encoder, LPL_TOKEN_ANY);
	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++)
		put_number(encoder, LPL_BLOCK_STATES, field[i]);
	lpl_block_encoder_took(encoder, LPL_ANY_OP_WORDS);
	return true;
}

/* ---- the end ---- */

void lpl_block_encoder_end(struct lpl_block_encoder *encoder, size_t size[LPL_BLOCK_COLUMNS])
{
	for (int i = 0; i < LPL_BLOCK_GAPS; i++)
		put_gap(encoder, (enum lpl_block_column)i);
	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++)
		size[i] = encoder->column[i].size;
}

uint8_t *lpl_block_encoder_store(const struct lpl_block_encoder *encoder, uint8_t *out)
{
	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++) {
		const struct lpl_bytes *bytes = &encoder->column[i];

		if (bytes->size > 0)
			out = (uint8_t *)memcpy(out, bytes->byte, bytes->size) + bytes->size;
	}
	return out;
}
