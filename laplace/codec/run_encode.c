/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packing runs, one by one.  Those that are in everything as expected do not come here
 * (run_words.c).
 */
#include <stdlib.h>
#include <string.h>

#include "run_encode.h"

/* The most bytes that one data reference or one instruction takes in a column. */
#define BYTES_EACH	32
#define ROOM		4096	/* data references and instructions between looks for room */
#define REPETITIONS_MIN	4	/* fewer are told one by one */
#define LENGTH_CLASS(word) ((word) >> LPL_WORD_LENGTH_SHIFT & 7)

bool lpl_run_encoder_init(struct lpl_run_encoder *encoder)
{
	memset(encoder, 0, sizeof(*encoder));
	return lpl_run_model_init(&encoder->model);
}

void lpl_run_encoder_free(struct lpl_run_encoder *encoder)
{
	lpl_run_model_free(&encoder->model);
	for (int i = 0; i < LPL_RUN_COLUMNS; i++)
		free(encoder->column[i].byte);
	memset(encoder, 0, sizeof(*encoder));
}

bool lpl_run_encoder_make_room(struct lpl_run_encoder *encoder)
{
	size_t most = (ROOM + LPL_RUN_WORDS_MAX) * (size_t)BYTES_EACH;
	size_t size = 0;
	bool ok = true;

	for (int i = 0; i < LPL_RUN_COLUMNS; i++) {
		struct lpl_bytes *bytes = &encoder->column[i];

		size += bytes->size;
		ok = lpl_reserve(bytes->byte, bytes->room, bytes->size + most) && ok;
	}
	encoder->room = ROOM;
	encoder->full = encoder->full || size >= LPL_RUN_BYTES;
	return ok;
}

bool lpl_run_encoder_begin(struct lpl_run_encoder *encoder)
{
	for (int i = 0; i < LPL_RUN_COLUMNS; i++)
		encoder->column[i].size = 0;
	memset(encoder->yes, 0, sizeof(encoder->yes));
	encoder->defined = 0;
	encoder->op_words = 0;
	encoder->full = false;
	return lpl_run_model_begin(&encoder->model) && lpl_run_encoder_make_room(encoder);
}

static void put_number(struct lpl_run_encoder *encoder, enum lpl_run_column column,
		       uint64_t number)
{
	struct lpl_bytes *bytes = &encoder->column[column];

	bytes->size = (size_t)(lpl_varint_put(&bytes->byte[bytes->size], number) - bytes->byte);
}

static void put_byte(struct lpl_run_encoder *encoder, enum lpl_run_column column,
		     unsigned int byte)
{
	struct lpl_bytes *bytes = &encoder->column[column];

	bytes->byte[bytes->size++] = (uint8_t)byte;
}

/* Here is one that was not expected: so many were, before it. */
static void put_gap(struct lpl_run_encoder *encoder, enum lpl_run_column column)
{
	put_number(encoder, column, encoder->yes[column]);
	encoder->yes[column] = 0;
}

/* ---- which run ---- */

static bool is_token_of(const struct lpl_token *token, uint32_t trace, const struct lpl_run *run)
{
	return token->trace == trace && token->first == run->first &&
	       token->fetched == run->fetched;
}

uint32_t lpl_run_find_token(const struct lpl_run_model *model, uint32_t next, uint32_t trace,
			    const struct lpl_run *run)
{
	uint32_t best = model->after[model->context].best & ~LPL_DOUBT;

	if (best >= LPL_TOKEN_RUNS && is_token_of(&model->token[best], trace, run))
		return best;
	while (next != LPL_TOKEN_NONE && !is_token_of(&model->token[next], trace, run))
		next = model->token[next].next;
	return next;
}

/* A token, which is known or the next one to be known. */
static void put_token(struct lpl_run_encoder *encoder, uint32_t token)
{
	struct lpl_run_model *model = &encoder->model;
	const struct lpl_successor *after = &model->after[model->context];
	uint32_t best = after->best;

	if ((best & ~LPL_DOUBT) == token) {
		encoder->yes[LPL_RUN_FLOW]++;
	} else {
		put_gap(encoder, LPL_RUN_FLOW);
		if (after->other == token) {
			put_byte(encoder, LPL_RUN_FLOW, LPL_THE_OTHER);
		} else if (model->token[model->before].follower == token) {
			put_byte(encoder, LPL_RUN_FLOW, LPL_THE_FOLLOWER);
		} else {
			put_byte(encoder, LPL_RUN_FLOW, LPL_BY_NUMBER);
			put_number(encoder, LPL_RUN_TRACES, token);
		}
	}
	if (best != token)
		lpl_token_learn(model, token);
	lpl_token_came(model, token);
}

/* The token told last is a new one: what it is.  The chunk may have to learn of its trace. */
static bool put_definition(struct lpl_run_encoder *encoder, uint32_t number,
			   const struct lpl_instruction_trace *trace, const struct lpl_run *run)
{
	struct lpl_run_model *model = &encoder->model;
	unsigned int count = run->first + (run->fetched > 0 ? run->fetched : 1U);
	struct lpl_instruction_trace *known;

	put_number(encoder, LPL_RUN_TRACES, number);
	put_number(encoder, LPL_RUN_TRACES, run->first * 64U + run->fetched);
	if (number == model->traces) {
		if (!lpl_run_model_trace(model, trace->address))
			return false;
		put_number(encoder, LPL_RUN_TRACES,
			   lpl_zigzag(trace->address - encoder->defined));
		encoder->defined = trace->address;
	}
	known = &model->trace[number];
	while (known->count < count) {
		known->length[known->count] = trace->length[known->count];
		put_number(encoder, LPL_RUN_TRACES, trace->length[known->count]);
		known->count++;
	}
	return lpl_run_model_token(model, number, run->first, run->fetched);
}

/* ---- which data references ---- */

/* A word as a site has it: d in the place of the instruction count, which is never lower. */
static inline uint64_t as_expected(uint64_t word, uint8_t low)
{
	const uint64_t count = UINT64_C(0xff) << LPL_WORD_COUNT_SHIFT;

	return (word & ~count) | ((word - ((uint64_t)low << LPL_WORD_COUNT_SHIFT)) & count);
}

bool lpl_run_is_expected(const struct lpl_run_model *model, const struct lpl_token *token,
			 const struct lpl_run *run, uint8_t low)
{
	const struct lpl_site *site = &model->site[token->sites];
	uint64_t different = 0;

	if (token->listed != run->words)
		return false;
	for (size_t i = 0; i < run->words; i++) {
		different |= as_expected(run->word[i], low) ^ site[i].word;
		if (LENGTH_CLASS(run->word[i]) == LPL_WORD_LONG)
			return false;
	}
	return different >> LPL_WORD_ADDRESS_BITS == 0;
}

static size_t count_refs(const struct lpl_run *run)
{
	size_t refs = 0;

	for (size_t i = 0; i < run->words; i++, refs++)
		i += LENGTH_CLASS(run->word[i]) == LPL_WORD_LONG;
	return refs;
}

/* By how much a word's count is higher than that of the word before it in the run. */
static inline unsigned int rise(const uint64_t *word, size_t i, uint8_t low)
{
	unsigned int before = i > 0 ? (uint8_t)(word[i - 1] >> LPL_WORD_COUNT_SHIFT) : low;

	return (uint8_t)((word[i] >> LPL_WORD_COUNT_SHIFT) - before);
}

/* How many words from the i-th on are each like the one two before, as in strings. */
static size_t repetitions(const struct lpl_run *run, size_t i, uint8_t low)
{
	const uint64_t *word = run->word;
	size_t from = i;

	while (i >= 2 && i < run->words &&
	       word[i] >> LPL_CODE_SHIFT == word[i - 2] >> LPL_CODE_SHIFT &&
	       rise(word, i, low) == rise(word, i - 2, low) &&
	       LENGTH_CLASS(word[i]) != LPL_WORD_LONG)
		i++;
	return i - from;
}

/* All that a run refers to, but for the addresses. */
static void put_codes(struct lpl_run_encoder *encoder, const struct lpl_run *run, size_t refs,
		      uint8_t low)
{
	const bool has_lengths = refs != run->words;
	size_t again;

	put_gap(encoder, LPL_RUN_SHAPE);
	put_number(encoder, LPL_RUN_CODES, refs);
	for (size_t i = 0, last = 0; i < run->words; i++) {
		uint64_t word = run->word[i];
		unsigned int higher = (uint8_t)((word >> LPL_WORD_COUNT_SHIFT) -
						(i > 0 ? run->word[last] >> LPL_WORD_COUNT_SHIFT : low));

		again = has_lengths ? 0 : repetitions(run, i, low);
		if (again >= REPETITIONS_MIN) {
			put_byte(encoder, LPL_RUN_CODES, LPL_CODE_REPEAT);
			put_number(encoder, LPL_RUN_CODES, again);
			i += again - 1;
			last = i;
			continue;
		}
		last = i;
		put_byte(encoder, LPL_RUN_CODES,
			 (uint8_t)(word >> LPL_CODE_SHIFT) | (higher > 0 ? 128U : 0));
		if (higher > 0)
			put_byte(encoder, LPL_RUN_CODES, higher);
		if (LENGTH_CLASS(word) == LPL_WORD_LONG)
			put_number(encoder, LPL_RUN_CODES, run->word[++i]);
	}
}

/* ---- their addresses ---- */

void lpl_run_encode_miss(struct lpl_run_encoder *encoder, struct lpl_site *site,
			 uint64_t address, uint64_t near, uint64_t far)
{
	struct lpl_bytes *misses = &encoder->column[LPL_RUN_MISSES];
	uint64_t from_last, from_near, distance;
	unsigned int told = 0, bytes = 0;

	put_gap(encoder, LPL_RUN_HITS);
	while (told < LPL_PREDICTIONS && lpl_predict(site, told, near, far) != address)
		told++;
	if (told < LPL_PREDICTIONS) {
		put_byte(encoder, LPL_RUN_MISSES, told);
		lpl_site_learn(site, told, address, near, far);
		return;
	}
	from_last = lpl_fold(address - site->word);
	from_near = lpl_fold(address - near);
	distance = from_near < from_last ? from_near : from_last;
	while (distance >> (8 * bytes) != 0)
		bytes++;
	put_byte(encoder, LPL_RUN_MISSES, LPL_MISS(from_near < from_last, bytes));
	for (; bytes > 0; bytes--, distance >>= 8)
		misses->byte[misses->size++] = (uint8_t)distance;
	lpl_site_learn(site, LPL_PREDICTIONS, address, near, far);
}

/* The addresses of a run's data references; and its list, if that is learned. */
static void put_addresses(struct lpl_run_encoder *encoder, const struct lpl_token *token,
			  const struct lpl_run *run, uint8_t low, bool learned)
{
	struct lpl_run_model *model = &encoder->model;
	size_t n = 0;

	for (size_t i = 0; i < run->words; i++, n++) {
		struct lpl_site *site = &model->site[token->sites + lpl_site_of(n)];
		uint64_t address = run->word[i] & LPL_ADDRESS_MASK;

		if (lpl_predict(site, lpl_kind(site), model->near, model->far) == address)
			encoder->yes[LPL_RUN_HITS]++;
		else
			lpl_run_encode_miss(encoder, site, address, model->near, model->far);
		if (learned)
			site->word = as_expected(run->word[i], low);
		else
			lpl_site_came(site, address);
		model->far = model->near;
		model->near = address;
		i += LENGTH_CLASS(run->word[i]) == LPL_WORD_LONG;
	}
}

/* ---- the whole of a run ---- */

static bool put_data(struct lpl_run_encoder *encoder, uint32_t number, const struct lpl_run *run,
		     uint8_t low)
{
	struct lpl_run_model *model = &encoder->model;
	struct lpl_token *token = &model->token[number];
	bool expected = lpl_run_is_expected(model, token, run, low), learned = false;

	if (expected) {
		encoder->yes[LPL_RUN_SHAPE]++;
	} else {
		size_t refs = count_refs(run);

		put_codes(encoder, run, refs, low);
		if (!lpl_run_model_sites(model, token, refs))
			return false;
		learned = refs <= LPL_LIST_MAX;
		if (learned)
			token->listed = (uint16_t)refs;
	}
	put_addresses(encoder, token, run, low, learned);
	lpl_run_encoder_took(encoder, 1 + run->words);
	return true;
}

bool lpl_run_encode(struct lpl_run_encoder *encoder, uint32_t *token, uint32_t trace,
		    const struct lpl_instruction_trace *code, const struct lpl_run *run,
		    uint8_t low)
{
	struct lpl_run_model *model = &encoder->model;

	if (!lpl_run_room(encoder, run->words))
		return false;
	if (*token == LPL_TOKEN_NONE) {
		*token = (uint32_t)model->tokens;
		put_token(encoder, *token);
		if (!put_definition(encoder, trace, code, run))
			return false;
	} else {
		put_token(encoder, *token);
	}
	return put_data(encoder, *token, run, low);
}

bool lpl_run_encode_loose(struct lpl_run_encoder *encoder, const uint64_t *word, size_t words,
			  uint8_t low)
{
	const struct lpl_run run = { .words = (uint32_t)words, .word = word };

	if (!lpl_run_room(encoder, words))
		return false;
	put_token(encoder, LPL_TOKEN_LOOSE);
	return put_data(encoder, LPL_TOKEN_LOOSE, &run, low);
}

bool lpl_run_encode_state(struct lpl_run_encoder *encoder, unsigned int mask, uint64_t space,
			  uint64_t offset, uint64_t instr)
{
	const uint64_t by[] = { space, offset, instr };
	const unsigned int bit[] = { LPL_STATE_SPACE, LPL_STATE_OFFSET, LPL_STATE_INSTR };

	if (!lpl_run_room(encoder, 0))
		return false;
	put_token(encoder, LPL_TOKEN_STATE - 1 + mask);
	for (int i = 0; i < 3; i++) {
		if (mask & bit[i])
			put_number(encoder, LPL_RUN_STATES, lpl_zigzag(by[i]));
	}
	lpl_run_encoder_took(encoder, LPL_STATE_OP_WORDS);
	return true;
}

bool lpl_run_encode_any(struct lpl_run_encoder *encoder, const struct lpl_ref *ref,
			uint64_t instr, uint64_t offset, uint64_t number)
{
	const uint64_t field[] = {
		ref->type + 8U * ref->flags, ref->length, ref->ref - number,
		lpl_zigzag(ref->instr - instr), lpl_zigzag(ref->cycle - ref->instr - offset),
		ref->space, ref->address
	};

	if (!lpl_run_room(encoder, 0))
		return false;
	put_token(encoder, LPL_TOKEN_ANY);
	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++)
		put_number(encoder, LPL_RUN_STATES, field[i]);
	lpl_run_encoder_took(encoder, LPL_ANY_OP_WORDS);
	return true;
}

/* ---- the end ---- */

void lpl_run_encoder_end(struct lpl_run_encoder *encoder, size_t size[LPL_RUN_COLUMNS])
{
	for (int i = 0; i < LPL_RUN_GAPS; i++)
		put_gap(encoder, (enum lpl_run_column)i);
	for (int i = 0; i < LPL_RUN_COLUMNS; i++)
		size[i] = encoder->column[i].size;
}

uint8_t *lpl_run_encoder_store(const struct lpl_run_encoder *encoder, uint8_t *out)
{
	for (int i = 0; i < LPL_RUN_COLUMNS; i++) {
		const struct lpl_bytes *bytes = &encoder->column[i];

		if (bytes->size > 0)
			out = (uint8_t *)memcpy(out, bytes->byte, bytes->size) + bytes->size;
	}
	return out;
}
