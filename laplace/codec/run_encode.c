/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packing runs, behind a simulator that makes a hundred million references a second.
 *
 * Most runs are the ones expected, make the data references expected, at the addresses
 * predicted: all that is done then is to count them, and to learn.
 */
#include <stdlib.h>
#include <string.h>

#include "run_encode.h"

/* The most bytes that one data reference or one instruction takes in a column. */
#define BYTES_EACH	32
#define ROOM		4096	/* data references and instructions between looks for room */
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

/* Room in all columns for some hundreds of runs. */
static bool make_room(struct lpl_run_encoder *encoder)
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
	encoder->full = size >= LPL_RUN_BYTES;
	return ok;
}

/* Room for one run of so many words. */
static inline bool reserve(struct lpl_run_encoder *encoder, size_t words)
{
	encoder->room -= (ptrdiff_t)words + LPL_TRACE_MAX + 1;
	return encoder->room >= 0 || make_room(encoder);
}

bool lpl_run_encoder_begin(struct lpl_run_encoder *encoder)
{
	for (int i = 0; i < LPL_RUN_COLUMNS; i++)
		encoder->column[i].size = 0;
	memset(encoder->yes, 0, sizeof(encoder->yes));
	encoder->defined = 0;
	return lpl_run_model_begin(&encoder->model) && make_room(encoder);
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

/* Another token than the best candidate.  false: none of them. */
static bool put_other_token(struct lpl_run_encoder *encoder, struct lpl_successor *three,
			    uint32_t token)
{
	struct lpl_successor *one = lpl_after_one(&encoder->model);
	const uint32_t candidate[LPL_CANDIDATES] = { 0, three->token[1], one->token[0],
						     one->token[1] };
	unsigned int which = LPL_THREE_OTHER;

	while (which < LPL_CANDIDATES && candidate[which] != token)
		which++;
	which %= LPL_CANDIDATES;	/* 0, the best one's number: by name */
	put_gap(encoder, LPL_RUN_FLOW);
	put_byte(encoder, LPL_RUN_FLOW, which);
	lpl_successor_learn(three, token);
	if (one->token[0] == token)
		lpl_successor_was_right(one);
	else
		lpl_successor_learn(one, token);
	return which != 0;
}

/* The token, if it was expected. */
static inline bool put_expected_token(struct lpl_run_encoder *encoder, uint32_t token)
{
	struct lpl_run_model *model = &encoder->model;
	struct lpl_successor *three = lpl_after_three(model);
	bool hit = three->token[0] == token;

	if (hit) {
		encoder->yes[LPL_RUN_FLOW]++;
		lpl_successor_was_right(three);
	} else {
		hit = put_other_token(encoder, three, token);
	}
	lpl_token_came(model, token);
	return hit;
}

static void put_name(struct lpl_run_encoder *encoder, uint32_t token)
{
	put_number(encoder, LPL_RUN_TRACES, LPL_TOKEN_TRACE(token));
	put_number(encoder, LPL_RUN_TRACES, token & ((1U << 11) - 1));
}

/* The chunk has to know the trace's first `count` instructions. */
static bool put_definition(struct lpl_run_encoder *encoder, uint32_t number,
			   const struct lpl_instruction_trace *trace, unsigned int count)
{
	struct lpl_run_model *model = &encoder->model;
	struct lpl_instruction_trace *known;

	if (number == model->traces) {
		if (!lpl_run_model_add(model, trace->address))
			return false;
		put_number(encoder, LPL_RUN_TRACES,
			   lpl_zigzag(trace->address - encoder->defined));
		encoder->defined = trace->address;
	}
	known = &model->trace[number].code;
	for (; known->count < count; known->count++) {
		known->length[known->count] = trace->length[known->count];
		put_number(encoder, LPL_RUN_TRACES, trace->length[known->count]);
	}
	return true;
}

/* ---- which data references ---- */

/* A run's data references while they are told one by one. */
struct shaping {
	struct lpl_model_trace *trace;
	const uint64_t *word, *end;	/* those still to come */
	size_t told;
	uint8_t low;			/* byte of the run's first instruction count */
	unsigned int last;		/* offset of the last instruction */
	unsigned int on;		/* instructions to go on before the next reference */
};

static unsigned int offset_of(const struct shaping *shaping)
{
	return (uint8_t)((*shaping->word >> LPL_WORD_COUNT_SHIFT) - shaping->low);
}

/*
 * Shall the instruction's list begin again with the next reference?  When the count has gone
 * on: always.  Else where a list is full, or a period of it is there twice: strings that are
 * done at once.
 */
static bool begins_again(const struct shaping *shaping, const uint8_t *list, size_t n,
			 unsigned int offset)
{
	if (offset_of(shaping) != offset || n == LPL_LIST_MAX)
		return true;
	return n >= 4 && n % 2 == 0 && (uint8_t)(*shaping->word >> LPL_CODE_SHIFT) == list[0] &&
	       memcmp(list, list + n / 2, n / 2) == 0;
}

static void put_again(struct lpl_run_encoder *encoder, struct shaping *shaping,
		      bool is_last, unsigned int *offset)
{
	/* only the last one's repetitions have counts of their own */
	unsigned int step = is_last ? offset_of(shaping) - *offset : 0;

	*offset += step;
	if (step < 2) {
		put_byte(encoder, LPL_RUN_CODES, step ? LPL_LIST_AGAIN_NEXT : LPL_LIST_AGAIN);
		return;
	}
	put_byte(encoder, LPL_RUN_CODES, LPL_LIST_AGAIN_LATER);
	put_number(encoder, LPL_RUN_CODES, step);
}

static void put_on(struct lpl_run_encoder *encoder, struct shaping *shaping)
{
	if (shaping->on > 0)
		put_byte(encoder, LPL_RUN_CODES, LPL_LIST_ON + shaping->on);
	shaping->on = 0;
}

/* The references of the instruction that stands at `offset` in the run. */
static bool put_list(struct lpl_run_encoder *encoder, struct shaping *shaping,
		     unsigned int instruction, unsigned int offset)
{
	struct lpl_run_model *model = &encoder->model;
	struct lpl_model_trace *trace = shaping->trace;
	const bool is_last = offset == shaping->last;
	uint8_t list[LPL_LIST_MAX];
	size_t n = 0;

	while (shaping->word < shaping->end && (is_last || offset_of(shaping) == offset)) {
		uint8_t code = (uint8_t)(*shaping->word >> LPL_CODE_SHIFT);

		put_on(encoder, shaping);
		if (begins_again(shaping, list, n, offset)) {
			if (!lpl_run_model_expect(model, trace, instruction, list, n))
				return false;
			put_again(encoder, shaping, is_last, &offset);
			n = 0;
		}
		put_byte(encoder, LPL_RUN_CODES, code);
		if (lpl_run_model_site(model, trace, instruction, (unsigned int)n) == SIZE_MAX)
			return false;
		encoder->instruction[shaping->told] = (uint8_t)instruction;
		encoder->number[shaping->told] = (uint8_t)n;
		list[n++] = code;
		encoder->address[shaping->told++] = *shaping->word & LPL_ADDRESS_MASK;
		if (LENGTH_CLASS(*shaping->word++) == LPL_WORD_LONG)
			put_number(encoder, LPL_RUN_CODES, *shaping->word++);
	}
	shaping->on++;
	return lpl_run_model_expect(model, trace, instruction, list, n);
}

/* ---- their addresses ---- */

/* One that its best predictor did not say: by another one, or by its distance from another. */
static void put_miss(struct lpl_run_encoder *encoder, struct lpl_site *site, uint64_t address,
		     const uint64_t base[LPL_PREDICTORS])
{
	struct lpl_bytes *misses = &encoder->column[LPL_RUN_MISSES];
	uint64_t from_last, from_near, distance;
	unsigned int bytes = 0;

	put_gap(encoder, LPL_RUN_HITS);
	for (unsigned int i = 0; i < LPL_PREDICTORS; i++) {
		if (lpl_predict(site, i, base) == address) {
			site->best = i;
			put_byte(encoder, LPL_RUN_MISSES, i);
			return;
		}
	}
	from_last = lpl_fold(address - site->guess[LPL_PREDICT_LAST]);
	from_near = lpl_fold(address - base[LPL_PREDICT_NEAR]);
	distance = from_near < from_last ? from_near : from_last;
	while (distance >> (8 * bytes) != 0)
		bytes++;
	put_byte(encoder, LPL_RUN_MISSES, LPL_MISS(from_near < from_last, bytes));
	for (; bytes > 0; bytes--, distance >>= 8)
		misses->byte[misses->size++] = (uint8_t)distance;
}

static inline void put_address(struct lpl_run_encoder *encoder, struct lpl_site *site,
			       uint64_t address, uint64_t base[LPL_PREDICTORS])
{
	if (lpl_predict(site, site->best, base) == address)
		encoder->yes[LPL_RUN_HITS]++;
	else
		put_miss(encoder, site, address, base);
	lpl_site_came(base, site, address);
}

/* ---- the whole of a run ---- */

/* What is expected of the instructions that a run has; returns how many. */
static inline size_t expected_of(const struct lpl_run_model *model,
				 const struct lpl_model_trace *trace, const struct lpl_run *run,
				 const struct lpl_expected **expected)
{
	unsigned int behind = run->first + (run->fetched > 0 ? run->fetched : 1U);

	*expected = model->expected + trace->expected + trace->begin[run->first];
	return (size_t)(trace->begin[behind] - trace->begin[run->first]);
}

bool lpl_run_is_expected(const struct lpl_run_encoder *encoder, uint32_t number,
			 const struct lpl_run *run, uint64_t instr)
{
	const struct lpl_expected *expected;
	const size_t count = expected_of(&encoder->model, &encoder->model.trace[number], run,
					 &expected);
	uint8_t low = (uint8_t)(instr - run->first);

	if (count != run->words)
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t top = (uint32_t)expected[i].code << 8 |
			       (uint8_t)(low + expected[i].instruction);

		if (run->word[i] >> LPL_WORD_COUNT_SHIFT != top ||
		    LENGTH_CLASS(run->word[i]) == LPL_WORD_LONG)
			return false;
	}
	return true;
}

/* All data references of a run, as they are. */
static bool put_unexpected(struct lpl_run_encoder *encoder, struct lpl_model_trace *trace,
			   const struct lpl_run *run, uint8_t low)
{
	struct lpl_run_model *model = &encoder->model;
	struct shaping shaping = { .trace = trace, .word = run->word,
				   .end = run->word + run->words, .low = low,
				   .last = run->fetched > 0 ? run->fetched - 1U : 0 };

	for (unsigned int i = 0; i <= shaping.last; i++) {
		if (!put_list(encoder, &shaping, run->first + i, i))
			return false;
	}
	put_on(encoder, &shaping);
	for (size_t i = 0; i < shaping.told; i++)
		put_address(encoder, &model->site[trace->place[encoder->instruction[i]] +
						  encoder->number[i]],
			    encoder->address[i], model->base);
	return true;
}

static bool put_data(struct lpl_run_encoder *encoder, struct lpl_model_trace *trace,
		     const struct lpl_run *run, uint64_t instr, bool as_expected)
{
	struct lpl_run_model *model = &encoder->model;
	const struct lpl_expected *expected;
	size_t count;

	if (!as_expected) {
		put_gap(encoder, LPL_RUN_SHAPE);
		return put_unexpected(encoder, trace, run, (uint8_t)instr);
	}
	encoder->yes[LPL_RUN_SHAPE]++;
	count = expected_of(model, trace, run, &expected);
	for (size_t i = 0; i < count; i++)
		put_address(encoder, &model->site[expected[i].site],
			    run->word[i] & LPL_ADDRESS_MASK, model->base);
	return true;
}

bool lpl_run_encode(struct lpl_run_encoder *encoder, uint32_t number,
		    const struct lpl_instruction_trace *trace, const struct lpl_run *run,
		    uint64_t instr, bool expected)
{
	uint32_t token = LPL_TOKEN(number, run->first, run->fetched);

	if (!reserve(encoder, run->words))
		return false;
	if (!put_expected_token(encoder, token)) {
		put_name(encoder, token);
		if (!put_definition(encoder, number, trace,
				    run->first + (run->fetched > 0 ? run->fetched : 1U)))
			return false;
	}
	return put_data(encoder, &encoder->model.trace[number], run, instr, expected);
}

bool lpl_run_encode_loose(struct lpl_run_encoder *encoder, const uint64_t *word, size_t words,
			  uint64_t instr)
{
	const struct lpl_run run = { .words = (uint32_t)words, .word = word };

	if (!reserve(encoder, words))
		return false;
	if (!put_expected_token(encoder, LPL_TOKEN_LOOSE))
		put_name(encoder, LPL_TOKEN_LOOSE);
	return put_data(encoder, &encoder->model.trace[0], &run, instr,
			lpl_run_is_expected(encoder, 0, &run, instr));
}

bool lpl_run_encode_state(struct lpl_run_encoder *encoder, unsigned int mask, uint64_t space,
			  uint64_t offset, uint64_t instr)
{
	const uint64_t by[] = { space, offset, instr };
	const unsigned int bit[] = { LPL_STATE_SPACE, LPL_STATE_OFFSET, LPL_STATE_INSTR };

	if (!reserve(encoder, 0))
		return false;
	if (!put_expected_token(encoder, LPL_TOKEN_STATE(mask)))
		put_name(encoder, LPL_TOKEN_STATE(mask));
	for (int i = 0; i < 3; i++) {
		if (mask & bit[i])
			put_number(encoder, LPL_RUN_STATES, lpl_zigzag(by[i]));
	}
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

	if (!reserve(encoder, 0))
		return false;
	if (!put_expected_token(encoder, LPL_TOKEN_ANY))
		put_name(encoder, LPL_TOKEN_ANY);
	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++)
		put_number(encoder, LPL_RUN_STATES, field[i]);
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
