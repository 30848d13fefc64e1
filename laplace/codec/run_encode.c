/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packing runs, behind a simulator that makes a hundred million references a second.
 *
 * Most runs are the ones expected, make the data references expected, at the addresses
 * predicted: three decisions, each far below a bit.  Whatever is longer than that is rare.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "run_encode.h"

/* The most decisions that one data reference or one instruction takes in a column. */
#define DECISIONS_EACH	64
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
	for (int i = 0; i < LPL_RUN_RANGES; i++)
		free(encoder->range[i].word);
	for (int i = 0; i < LPL_RUN_COLUMNS - LPL_RUN_RANGES; i++)
		free(encoder->numbers[i].byte);
	memset(encoder, 0, sizeof(*encoder));
}

/* Room in all columns for some hundreds of runs. */
static bool make_room(struct lpl_run_encoder *encoder)
{
	size_t most = (ROOM + LPL_RUN_WORDS_MAX) * (size_t)DECISIONS_EACH;
	size_t size = 0;
	bool ok = true;

	for (int i = 0; i < LPL_RUN_RANGES; i++) {
		size += encoder->range[i].words * LPL_RANGE_WORD_BYTES;
		ok = lpl_range_reserve(&encoder->range[i], most) && ok;
	}
	for (int i = 0; i < LPL_RUN_COLUMNS - LPL_RUN_RANGES; i++) {
		struct lpl_bytes *bytes = &encoder->numbers[i];

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
	for (int i = 0; i < LPL_RUN_RANGES; i++)
		lpl_range_begin(&encoder->range[i]);
	for (int i = 0; i < LPL_RUN_COLUMNS - LPL_RUN_RANGES; i++)
		encoder->numbers[i].size = 0;
	encoder->defined = 0;
	return lpl_run_model_begin(&encoder->model) && make_room(encoder);
}

static void put_number(struct lpl_run_encoder *encoder, enum lpl_run_column column,
		       uint64_t number)
{
	struct lpl_bytes *bytes = &encoder->numbers[column - LPL_RUN_RANGES];

	bytes->size = (size_t)(lpl_varint_put(&bytes->byte[bytes->size], number) - bytes->byte);
}

/* ---- which run ---- */

static void put_flow(struct lpl_run_encoder *encoder, const struct lpl_successor *successor,
		     enum lpl_candidate candidate, bool hit)
{
	lpl_range_put(&encoder->range[LPL_RUN_FLOW],
		      &encoder->model.odds.next[candidate][successor->confidence], hit);
}

/* The token, where the best candidate is another one.  false: it was not expected at all. */
static bool put_other_token(struct lpl_run_encoder *encoder, struct lpl_successor *three,
			    uint32_t token)
{
	struct lpl_successor *one = lpl_after_one(&encoder->model);
	bool hit = false;

	for (int i = LPL_THREE_OTHER; i < LPL_CANDIDATES && !hit; i++) {
		const struct lpl_successor *from = i < LPL_ONE_BEST ? three : one;
		uint32_t candidate = from->token[i & 1];

		if (!lpl_is_candidate(three, candidate, i))
			continue;
		hit = candidate == token;
		put_flow(encoder, from, (enum lpl_candidate)i, hit);
	}
	lpl_successor_learn(three, token);
	if (one->token[0] == token)
		lpl_successor_was_right(one);
	else
		lpl_successor_learn(one, token);
	return hit;
}

/* The token, if it was expected. */
static inline bool put_expected_token(struct lpl_run_encoder *encoder, uint32_t token)
{
	struct lpl_run_model *model = &encoder->model;
	struct lpl_successor *three = lpl_after_three(model);
	bool hit = three->token[0] == token;

	if (three->token[0] != 0)
		put_flow(encoder, three, LPL_THREE_BEST, hit);
	if (hit)
		lpl_successor_was_right(three);
	else
		hit = put_other_token(encoder, three, token);
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

static void put_shape(struct lpl_run_encoder *encoder, lpl_odds *odds, bool yes)
{
	lpl_range_put(&encoder->range[LPL_RUN_SHAPE], odds, yes);
}

/* A run's data references while they are told one by one. */
struct shaping {
	struct lpl_model_trace *trace;
	const uint64_t *word, *end;	/* those still to come */
	size_t told;
	uint8_t low;			/* byte of the run's first instruction count */
	unsigned int last;		/* offset of the last instruction */
	bool repeated;			/* some instruction of this run began its list again */
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
	struct lpl_run_odds *odds = &encoder->model.odds;
	unsigned int step = offset_of(shaping) - *offset;

	shaping->repeated = true;
	if (!is_last)
		return;		/* only the last one's repetitions have counts of their own */
	put_shape(encoder, &odds->again_at[0], step == 1);
	if (step == 1) {
		++*offset;
		return;
	}
	put_shape(encoder, &odds->again_at[1], step == 0);
	if (step != 0)
		put_number(encoder, LPL_RUN_CODES, step);
	*offset += step;
}

/* The references of the instruction that stands at `offset` in the run. */
static bool put_list(struct lpl_run_encoder *encoder, struct shaping *shaping,
		     unsigned int instruction, unsigned int offset)
{
	struct lpl_run_model *model = &encoder->model;
	struct lpl_run_odds *odds = &model->odds;
	struct lpl_model_trace *trace = shaping->trace;
	const bool is_last = offset == shaping->last;
	uint8_t list[LPL_LIST_MAX];
	size_t n = 0;

	for (;;) {
		size_t expected = (size_t)(trace->begin[instruction + 1] -
					   trace->begin[instruction]);
		bool left = n < expected;
		bool any = shaping->word < shaping->end &&
			   (is_last || offset_of(shaping) == offset);
		uint8_t code = any ? (uint8_t)(*shaping->word >> LPL_CODE_SHIFT) : 0;
		bool again = any && begins_again(shaping, list, n, offset);
		bool as_expected = left ? any && !again && code ==
			model->expected[trace->expected + trace->begin[instruction] + n].code :
			!any;

		put_shape(encoder, &odds->more[left][is_last][shaping->repeated], as_expected);
		if (!as_expected && left)
			put_shape(encoder, &odds->end, !any);
		if (!any)
			break;
		if (!as_expected)
			put_shape(encoder, &odds->again[left], again);
		if (again) {
			if (!lpl_run_model_expect(model, trace, instruction, list, n))
				return false;
			put_again(encoder, shaping, is_last, &offset);
			n = 0;
			continue;
		}
		if (!as_expected)
			put_number(encoder, LPL_RUN_CODES, code);
		if (lpl_run_model_site(model, trace, instruction, (unsigned int)n) == SIZE_MAX)
			return false;
		encoder->instruction[shaping->told] = (uint8_t)instruction;
		encoder->number[shaping->told] = (uint8_t)n;
		list[n++] = code;
		encoder->address[shaping->told++] = *shaping->word & LPL_ADDRESS_MASK;
		if (LENGTH_CLASS(*shaping->word++) == LPL_WORD_LONG)
			put_number(encoder, LPL_RUN_CODES, *shaping->word++);
	}
	return lpl_run_model_expect(model, trace, instruction, list, n);
}

/* ---- their addresses ---- */

static void put_hit(struct lpl_run_encoder *encoder, lpl_odds *odds, bool yes)
{
	lpl_range_put(&encoder->range[LPL_RUN_HITS], odds, yes);
}

/* So many bits of a number, the highest first, each in the context of those above it. */
static void put_bits(struct lpl_run_encoder *encoder, lpl_odds *tree, unsigned int bits,
		     unsigned int number)
{
	unsigned int node = 1;

	while (bits-- > 0) {
		bool bit = number >> bits & 1;

		lpl_range_put(&encoder->range[LPL_RUN_MISSES], &tree[node], bit);
		node = node << 1 | bit;
	}
}

/* An address that nobody predicted: the distance from the site's last, or from the one before. */
static void put_miss(struct lpl_run_encoder *encoder, const struct lpl_site *site,
		     uint64_t address, const uint64_t base[LPL_PREDICTORS])
{
	struct lpl_run_odds *odds = &encoder->model.odds;
	uint64_t from_last = lpl_fold(address - site->guess[LPL_PREDICT_LAST]);
	uint64_t from_before = lpl_fold(address - base[LPL_PREDICT_NEAR]);
	bool from = from_before < from_last;
	uint64_t distance = from ? from_before : from_last;
	unsigned int bytes = 0;

	while (distance >> (8 * bytes) != 0)
		bytes++;
	lpl_range_put(&encoder->range[LPL_RUN_MISSES], &odds->from, from);
	put_bits(encoder, odds->size[from], 3, bytes);
	for (unsigned int i = bytes; i-- > 0;)
		put_bits(encoder, odds->byte[from][bytes - 1][i], 8, distance >> (8 * i) & 0xff);
}

/*
 * An address where not all is as expected: does the best predictor hit, does another one?
 * One that says what a former one said is not asked.
 */
static void put_address(struct lpl_run_encoder *encoder, struct lpl_site *site, uint64_t address,
			const uint64_t base[LPL_PREDICTORS])
{
	struct lpl_run_odds *odds = &encoder->model.odds;
	unsigned int best = site->best;
	bool hit = lpl_predict(site, best, base) == address;
	unsigned int hits = site->hits;
	uint64_t said[LPL_PREDICTORS];

	put_hit(encoder, &odds->best[hits][best], hit);
	site->hits = (uint8_t)((hits << 1 | hit) & 31);
	if (hit)
		return;
	for (unsigned int i = 0; i < LPL_PREDICTORS; i++)
		said[i] = lpl_predict(site, i, base);
	for (unsigned int i = 0; i < LPL_PREDICTORS && !hit; i++) {
		if (!lpl_is_worth_asking(said, best, i))
			continue;
		hit = said[i] == address;
		put_hit(encoder, &odds->other[hits & 7][i][best], hit);
		if (hit)
			site->best = (uint8_t)i;
	}
	if (!hit)
		put_miss(encoder, site, address, base);
}

/* ---- the whole of a run ---- */

/* Are these the data references that are expected, each once? */
static bool is_expected(const struct lpl_expected *expected, size_t count,
			const struct lpl_run *run, uint8_t low)
{
	if (count != run->words)
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t top = (uint32_t)expected[i].code << 8 |
			       (uint8_t)(low + expected[i].instruction - run->first);

		if (run->word[i] >> LPL_WORD_COUNT_SHIFT != top ||
		    LENGTH_CLASS(run->word[i]) == LPL_WORD_LONG)
			return false;
	}
	return true;
}

/* Are the addresses of a run, whose data references were expected, all where the best says? */
static bool all_hit(const struct lpl_run_model *model, const struct lpl_expected *expected,
		    size_t count, const uint64_t *word)
{
	uint64_t base[LPL_PREDICTORS] = { model->base[LPL_PREDICT_NEAR], 0,
					  model->base[LPL_PREDICT_FAR], 0 };

	for (size_t i = 0; i < count; i++) {
		const struct lpl_site *site = &model->site[expected[i].site];
		uint64_t address = word[i] & LPL_ADDRESS_MASK;

		if (lpl_predict(site, site->best, base) != address)
			return false;
		lpl_base_came(base, address);
	}
	return true;
}

static void put_expected(struct lpl_run_encoder *encoder, struct lpl_model_trace *trace,
			 const struct lpl_expected *expected, size_t count,
			 const uint64_t *word)
{
	struct lpl_run_model *model = &encoder->model;
	bool all = all_hit(model, expected, count, word);

	put_hit(encoder, &model->odds.all[trace->hits][count < 8 ? count : 8], all);
	trace->hits = (uint8_t)((trace->hits << 1 | all) & 31);
	for (size_t i = 0; i < count; i++) {
		struct lpl_site *site = &model->site[expected[i].site];
		uint64_t address = word[i] & LPL_ADDRESS_MASK;

		if (!all)
			put_address(encoder, site, address, model->base);
		lpl_site_came(model, site, address);
	}
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
	for (size_t i = 0; i < shaping.told; i++) {
		struct lpl_site *site = &model->site[trace->place[encoder->instruction[i]] +
						     encoder->number[i]];

		put_address(encoder, site, encoder->address[i], model->base);
		lpl_site_came(model, site, encoder->address[i]);
	}
	return true;
}

static bool put_data(struct lpl_run_encoder *encoder, struct lpl_model_trace *trace,
		     const struct lpl_run *run, uint64_t instr)
{
	unsigned int behind = run->first + (run->fetched > 0 ? run->fetched : 1);
	size_t count = (size_t)(trace->begin[behind] - trace->begin[run->first]);
	const struct lpl_expected *expected =
		encoder->model.expected + trace->expected + trace->begin[run->first];
	bool as_expected = is_expected(expected, count, run, (uint8_t)instr);

	put_shape(encoder, &encoder->model.odds.shape[trace->shapes], as_expected);
	trace->shapes = (uint8_t)((trace->shapes << 1 | as_expected) & 3);
	if (!as_expected)
		return put_unexpected(encoder, trace, run, (uint8_t)instr);
	if (count > 0)
		put_expected(encoder, trace, expected, count, run->word);
	return true;
}

bool lpl_run_encode(struct lpl_run_encoder *encoder, uint32_t number,
		    const struct lpl_instruction_trace *trace, const struct lpl_run *run,
		    uint64_t instr)
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
	return put_data(encoder, &encoder->model.trace[number], run, instr);
}

bool lpl_run_encode_loose(struct lpl_run_encoder *encoder, const uint64_t *word, size_t words,
			  uint64_t instr)
{
	const struct lpl_run run = { .words = (uint32_t)words, .word = word };

	if (!reserve(encoder, words))
		return false;
	if (!put_expected_token(encoder, LPL_TOKEN_LOOSE))
		put_name(encoder, LPL_TOKEN_LOOSE);
	return put_data(encoder, &encoder->model.trace[0], &run, instr);
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
	for (int i = 0; i < LPL_RUN_RANGES; i++)
		size[i] = lpl_range_end(&encoder->range[i]) * LPL_RANGE_WORD_BYTES;
	for (int i = LPL_RUN_RANGES; i < LPL_RUN_COLUMNS; i++)
		size[i] = encoder->numbers[i - LPL_RUN_RANGES].size;
}

uint8_t *lpl_run_encoder_store(const struct lpl_run_encoder *encoder, uint8_t *out)
{
	for (int i = 0; i < LPL_RUN_RANGES; i++) {
		const struct lpl_range_writer *range = &encoder->range[i];

		for (size_t j = 0; j < range->words; j++) {
			uint32_t word = htole32(range->word[j]);

			out = (uint8_t *)memcpy(out, &word, sizeof(word)) + sizeof(word);
		}
	}
	for (int i = 0; i < LPL_RUN_COLUMNS - LPL_RUN_RANGES; i++) {
		const struct lpl_bytes *bytes = &encoder->numbers[i];

		if (bytes->size > 0)
			out = (uint8_t *)memcpy(out, bytes->byte, bytes->size) + bytes->size;
	}
	return out;
}
