/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unpacking runs.
 *
 * What was decoded is kept as a sequence of *ops*, of one word and what follows it:
 *
 *	a run		trace << 22 | first << 17 | fetched << 11 | words, and its data words
 *	a state		STATE_OP, and the space, mode, cycle offset and instruction count
 *	any reference	ANY_OP, and the reference
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run_decode.h"
#include "run_expand.h"

#define STATE_OP	(UINT64_C(1) << 62)
#define STATE_WORDS	5
#define ANY_OP		(UINT64_C(1) << 63)
#define ANY_WORDS	(1 + sizeof(struct lpl_ref) / sizeof(uint64_t))
#define RUN_OP(trace, first, fetched, words) \
	((uint64_t)(trace) << 22 | (uint64_t)(first) << 17 | (uint64_t)(fetched) << 11 | (words))

_Static_assert(sizeof(struct lpl_ref) % sizeof(uint64_t) == 0, "a reference is whole words");
_Static_assert(LPL_RUN_WORDS_MAX < 1 << 11, "a run's words fit their field");

bool lpl_run_decoder_init(struct lpl_run_decoder *decoder)
{
	memset(decoder, 0, sizeof(*decoder));
	return lpl_run_model_init(&decoder->model);
}

void lpl_run_decoder_free(struct lpl_run_decoder *decoder)
{
	lpl_run_model_free(&decoder->model);
	free(decoder->op);
	memset(decoder, 0, sizeof(*decoder));
}

static enum lpl_error damaged(const struct lpl_run_decoder *decoder, const char *what)
{
	return lpl_fail(decoder->cause, LPL_ERR_DAMAGED, "%s", what);
}

static enum lpl_error no_memory(const struct lpl_run_decoder *decoder)
{
	return lpl_fail(decoder->cause, LPL_ERR_MEMORY, "no memory for its records");
}

enum lpl_error lpl_run_decoder_begin(struct lpl_run_decoder *decoder,
				     const struct lpl_run_position *begin, const uint8_t *bytes,
				     const size_t size[LPL_RUN_COLUMNS],
				     struct lpl_report *cause)
{
	for (int i = 0; i < LPL_RUN_RANGES; i++) {
		lpl_range_open(&decoder->range[i], bytes, size[i]);
		bytes += size[i];
	}
	for (int i = LPL_RUN_RANGES; i < LPL_RUN_COLUMNS; i++) {
		decoder->number[i - LPL_RUN_RANGES] = bytes;
		bytes += size[i];
		decoder->number_end[i - LPL_RUN_RANGES] = bytes;
	}
	decoder->defined = 0;
	decoder->begin = decoder->now = *begin;
	decoder->refs = 0;
	decoder->ops = 0;
	decoder->cause = cause;
	return lpl_run_model_begin(&decoder->model) ? LPL_OK : no_memory(decoder);
}

bool lpl_run_decoder_done(const struct lpl_run_decoder *decoder)
{
	bool done = true;

	for (int i = 0; i < LPL_RUN_RANGES; i++)
		done = done && lpl_range_done(&decoder->range[i]);
	for (int i = 0; i < LPL_RUN_COLUMNS - LPL_RUN_RANGES; i++)
		done = done && decoder->number[i] == decoder->number_end[i];
	return done;
}

static bool get_number(struct lpl_run_decoder *decoder, enum lpl_run_column column,
		       uint64_t *number)
{
	const uint8_t **at = &decoder->number[column - LPL_RUN_RANGES];
	const uint8_t *next = lpl_varint_get(*at, decoder->number_end[column - LPL_RUN_RANGES],
					     number);

	if (next)
		*at = next;
	return next != NULL;
}

static bool get(struct lpl_run_decoder *decoder, enum lpl_run_column column, lpl_odds *odds)
{
	return lpl_range_get(&decoder->range[column], odds);
}

/* ---- which run ---- */

/* A trace's next instructions, until `count` are known. */
static enum lpl_error get_definition(struct lpl_run_decoder *decoder, uint64_t number,
				     unsigned int count)
{
	struct lpl_run_model *model = &decoder->model;
	struct lpl_instruction_trace *trace;
	uint64_t value;

	if (number == model->traces) {
		if (number == LPL_TRACES_MAX || !get_number(decoder, LPL_RUN_TRACES, &value))
			return damaged(decoder, "a trace is not defined");
		decoder->defined += lpl_unzigzag(value);
		if (!lpl_run_model_add(model, decoder->defined))
			return no_memory(decoder);
	}
	trace = &model->trace[number].code;
	for (; trace->count < count; trace->count++) {
		if (number == 0 || !get_number(decoder, LPL_RUN_TRACES, &value) || value == 0 ||
		    value > LPL_INSTRUCTION_MAX)
			return damaged(decoder, "an instruction has no length");
		trace->length[trace->count] = (uint8_t)value;
	}
	return number == 0 || lpl_trace_is_valid(trace) ? LPL_OK :
	       damaged(decoder, "a trace leaves its page");
}

/* A token that was not expected: told by name. */
static enum lpl_error get_name(struct lpl_run_decoder *decoder, uint32_t *token)
{
	uint64_t number, rest;
	unsigned int first, fetched;

	if (!get_number(decoder, LPL_RUN_TRACES, &number) ||
	    !get_number(decoder, LPL_RUN_TRACES, &rest) || rest >> 11 != 0 ||
	    number > decoder->model.traces)
		return damaged(decoder, "a run has no valid name");
	first = (unsigned int)(rest >> 6);
	fetched = rest & 63;
	*token = LPL_TOKEN(number, first, fetched);
	if (number == 0)
		return *token == LPL_TOKEN_LOOSE || *token == LPL_TOKEN_ANY ||
		       (first == LPL_TOKEN_FIRST(LPL_TOKEN_STATE(0)) && fetched > 0 &&
			fetched < LPL_STATE_MASKS) ?
		       LPL_OK : damaged(decoder, "a run has no valid name");
	if (first + (fetched > 0 ? fetched : 1) > LPL_TRACE_MAX)
		return damaged(decoder, "a run is longer than a trace");
	return get_definition(decoder, number, first + (fetched > 0 ? fetched : 1));
}

/* The token, where the best candidate was another one; 0: none of them. */
static uint32_t get_other_token(struct lpl_run_decoder *decoder,
				const struct lpl_successor *three,
				const struct lpl_successor *one)
{
	for (int i = LPL_THREE_OTHER; i < LPL_CANDIDATES; i++) {
		const struct lpl_successor *from = i < LPL_ONE_BEST ? three : one;
		uint32_t candidate = from->token[i & 1];

		if (lpl_is_candidate(three, candidate, i) &&
		    get(decoder, LPL_RUN_FLOW, &decoder->model.odds.next[i][from->confidence]))
			return candidate;
	}
	return 0;
}

static enum lpl_error get_token(struct lpl_run_decoder *decoder, uint32_t *token)
{
	struct lpl_run_model *model = &decoder->model;
	struct lpl_successor *three = lpl_after_three(model), *one;
	enum lpl_error error = LPL_OK;

	*token = three->token[0];
	if (*token != 0 && get(decoder, LPL_RUN_FLOW,
			       &model->odds.next[LPL_THREE_BEST][three->confidence])) {
		lpl_successor_was_right(three);
	} else {
		one = lpl_after_one(model);
		*token = get_other_token(decoder, three, one);
		if (*token == 0)
			error = get_name(decoder, token);
		lpl_successor_learn(three, *token);
		if (one->token[0] == *token)
			lpl_successor_was_right(one);
		else
			lpl_successor_learn(one, *token);
	}
	lpl_token_came(model, *token);
	return error;
}

/* ---- which data references ---- */

/* A run while it is read: its data words go behind the op that is still to be written. */
struct reading {
	uint32_t token;
	struct lpl_model_trace *trace;
	uint64_t *word;		/* with room for what a run can have */
	size_t words;		/* so far */
	size_t told;		/* data references so far: words less the lengths */
	unsigned int offset;	/* of the last one's instruction count */
	bool repeated;		/* some instruction of this run began its list again */
};

static uint64_t word_of(uint8_t code, uint8_t low)
{
	return (uint64_t)code << LPL_CODE_SHIFT | (uint64_t)low << LPL_WORD_COUNT_SHIFT;
}

/* The list begins again; false: it does so as none can. */
static bool get_again(struct lpl_run_decoder *decoder, struct reading *reading, bool is_last,
		      size_t n, unsigned int *offset)
{
	struct lpl_run_odds *odds = &decoder->model.odds;
	uint64_t step = 0;

	reading->repeated = true;
	if (is_last) {
		if (get(decoder, LPL_RUN_SHAPE, &odds->again_at[0]))
			step = 1;
		else if (!get(decoder, LPL_RUN_SHAPE, &odds->again_at[1]) &&
			 (!get_number(decoder, LPL_RUN_CODES, &step) || step > 255))
			return false;
	}
	*offset += (unsigned int)step;
	return *offset <= 255 && (step > 0 || n > 0);
}

static bool get_length(struct lpl_run_decoder *decoder, struct reading *reading)
{
	uint64_t length;

	if (!get_number(decoder, LPL_RUN_CODES, &length) || length == 0 || length > 4096 ||
	    reading->words == LPL_RUN_WORDS_MAX)
		return false;
	reading->word[reading->words++] = length;
	return true;
}

/* The references of the instruction that stands at `offset` in the run. */
static enum lpl_error get_list(struct lpl_run_decoder *decoder, struct reading *reading,
			       unsigned int instruction, unsigned int offset, bool is_last)
{
	struct lpl_run_model *model = &decoder->model;
	struct lpl_run_odds *odds = &model->odds;
	struct lpl_model_trace *trace = reading->trace;
	uint8_t low = (uint8_t)decoder->now.next_instr;
	uint8_t list[LPL_LIST_MAX];
	size_t n = 0;

	for (;;) {
		bool left = n < (size_t)(trace->begin[instruction + 1] - trace->begin[instruction]);
		uint64_t code;

		if (decoder->range[LPL_RUN_SHAPE].overrun)
			return damaged(decoder, "a column holds too little");
		if (get(decoder, LPL_RUN_SHAPE,
			&odds->more[left][is_last][reading->repeated])) {
			if (!left)
				break;
			code = model->expected[trace->expected + trace->begin[instruction] + n].code;
		} else {
			if (left && get(decoder, LPL_RUN_SHAPE, &odds->end))
				break;
			if (get(decoder, LPL_RUN_SHAPE, &odds->again[left])) {
				if (!lpl_run_model_expect(model, trace, instruction, list, n))
					return no_memory(decoder);
				if (!get_again(decoder, reading, is_last, n, &offset))
					return damaged(decoder, "a repetition is malformed");
				n = 0;
				continue;
			}
			if (!get_number(decoder, LPL_RUN_CODES, &code) || code >> 7 != 0)
				return damaged(decoder, "a data reference has no valid code");
		}
		if (n == LPL_LIST_MAX || reading->words == LPL_RUN_WORDS_MAX)
			return damaged(decoder, "a run has too many data references");
		if (lpl_run_model_site(model, trace, instruction, (unsigned int)n) == SIZE_MAX)
			return no_memory(decoder);
		decoder->instruction[reading->told] = (uint8_t)instruction;
		decoder->item[reading->told++] = (uint8_t)n;
		list[n++] = (uint8_t)code;
		reading->word[reading->words++] = word_of((uint8_t)code, (uint8_t)(low + offset));
		reading->offset = offset;
		if ((code >> 1 & 7) == LPL_WORD_LONG && !get_length(decoder, reading))
			return damaged(decoder, "a data reference has no length");
	}
	return lpl_run_model_expect(model, trace, instruction, list, n) ? LPL_OK :
	       no_memory(decoder);
}

/* ---- their addresses ---- */

static unsigned int get_bits(struct lpl_run_decoder *decoder, lpl_odds *tree, unsigned int bits)
{
	unsigned int node = 1;

	for (unsigned int i = 0; i < bits; i++)
		node = node << 1 | get(decoder, LPL_RUN_MISSES, &tree[node]);
	return node - (1U << bits);
}

static uint64_t get_miss(struct lpl_run_decoder *decoder, const struct lpl_site *site)
{
	struct lpl_run_model *model = &decoder->model;
	struct lpl_run_odds *odds = &model->odds;
	bool from = get(decoder, LPL_RUN_MISSES, &odds->from);
	unsigned int bytes = get_bits(decoder, odds->size[from], 3);
	uint64_t distance = 0;

	/* a size that no address has: whatever it says, the columns will not end together */
	if (bytes > LPL_MISS_BYTES)
		decoder->range[LPL_RUN_MISSES].overrun = true;
	else
		for (unsigned int i = bytes; i-- > 0;)
			distance = distance << 8 |
				   get_bits(decoder, odds->byte[from][bytes - 1][i], 8);
	return (lpl_unfold(distance) +
		(from ? model->base[LPL_PREDICT_NEAR] : site->guess[LPL_PREDICT_LAST])) &
	       LPL_ADDRESS_MASK;
}

static uint64_t get_address(struct lpl_run_decoder *decoder, struct lpl_site *site)
{
	struct lpl_run_model *model = &decoder->model;
	struct lpl_run_odds *odds = &model->odds;
	unsigned int best = site->best, hits = site->hits;
	uint64_t said[LPL_PREDICTORS];
	bool hit = get(decoder, LPL_RUN_HITS, &odds->best[hits][best]);

	site->hits = (uint8_t)((hits << 1 | hit) & 31);
	if (hit)
		return lpl_predict(site, best, model->base);
	for (unsigned int i = 0; i < LPL_PREDICTORS; i++)
		said[i] = lpl_predict(site, i, model->base);
	for (unsigned int i = 0; i < LPL_PREDICTORS; i++) {
		if (lpl_is_worth_asking(said, best, i) &&
		    get(decoder, LPL_RUN_HITS, &odds->other[hits & 7][i][best])) {
			site->best = (uint8_t)i;
			return said[i];
		}
	}
	return get_miss(decoder, site);
}

/* ---- the whole of a run ---- */

/* The data references that were expected.  false: there are none such. */
static bool get_expected(struct lpl_run_decoder *decoder, struct reading *reading,
			 const struct lpl_expected *expected, size_t count)
{
	struct lpl_run_model *model = &decoder->model;
	struct lpl_model_trace *trace = reading->trace;
	unsigned int first = LPL_TOKEN_FIRST(reading->token);
	uint8_t low = (uint8_t)decoder->now.next_instr;
	bool all;

	if (count > LPL_RUN_WORDS_MAX)
		return false;
	all = get(decoder, LPL_RUN_HITS, &model->odds.all[trace->hits][count < 8 ? count : 8]);
	trace->hits = (uint8_t)((trace->hits << 1 | all) & 31);
	for (size_t i = 0; i < count; i++) {
		struct lpl_site *site = &model->site[expected[i].site];
		uint64_t address = all ? lpl_predict(site, site->best, model->base) :
				   get_address(decoder, site);

		if ((expected[i].code >> 1 & 7) == LPL_WORD_LONG)
			return false;
		lpl_site_came(model, site, address);
		reading->offset = expected[i].instruction - first;
		reading->word[i] = address | word_of(expected[i].code,
						     (uint8_t)(low + reading->offset));
	}
	reading->words = reading->told = count;
	return true;
}

static enum lpl_error get_unexpected(struct lpl_run_decoder *decoder, struct reading *reading)
{
	struct lpl_run_model *model = &decoder->model;
	unsigned int first = LPL_TOKEN_FIRST(reading->token);
	unsigned int fetched = LPL_TOKEN_FETCHED(reading->token);
	unsigned int last = fetched > 0 ? fetched - 1 : 0;

	for (unsigned int i = 0; i <= last; i++) {
		enum lpl_error error = get_list(decoder, reading, first + i, i, i == last);

		if (error != LPL_OK)
			return error;
	}
	for (size_t i = 0, word = 0; i < reading->told; i++) {
		unsigned int instruction = decoder->instruction[i];
		struct lpl_site *site = &model->site[reading->trace->place[instruction] +
						     decoder->item[i]];
		uint64_t address = get_address(decoder, site);

		lpl_site_came(model, site, address);
		reading->word[word] |= address;
		word += (reading->word[word] >> LPL_WORD_LENGTH_SHIFT & 7) == LPL_WORD_LONG ? 2 : 1;
	}
	return LPL_OK;
}

/* What was read moves the clocks on; false: backwards. */
static bool advance(struct lpl_run_decoder *decoder, const struct reading *reading)
{
	struct lpl_run_position *now = &decoder->now;
	unsigned int fetched = LPL_TOKEN_FETCHED(reading->token);
	/* without a fetch the first reference may come later than the run begins */
	uint64_t first = now->next_instr;
	uint64_t last = first + (fetched > 0 ? fetched - 1 : 0);

	if (fetched == 0)
		first += (uint8_t)((reading->word[0] >> LPL_WORD_COUNT_SHIFT) - first);
	if (reading->words > 0 && now->next_instr + reading->offset > last)
		last = now->next_instr + reading->offset;
	if (now->next_instr > UINT64_MAX - 512 || first < now->instr || now->ref < now->event_ref ||
	    first + now->state.cycle_offset < now->cycle ||
	    last + now->state.cycle_offset < first + now->state.cycle_offset)
		return false;
	if (decoder->refs == 0) {
		decoder->first_ref = now->ref + 1;
		decoder->first_instr = first;
		decoder->first_cycle = first + now->state.cycle_offset;
	}
	now->instr = last;
	now->cycle = last + now->state.cycle_offset;
	now->next_instr += fetched;
	return true;
}

static enum lpl_error get_run(struct lpl_run_decoder *decoder, uint32_t token)
{
	struct lpl_run_model *model = &decoder->model;
	unsigned int first = LPL_TOKEN_FIRST(token), fetched = LPL_TOKEN_FETCHED(token);
	struct lpl_model_trace *trace = &model->trace[LPL_TOKEN_TRACE(token)];
	unsigned int behind = first + (fetched > 0 ? fetched : 1);
	size_t count = (size_t)(trace->begin[behind] - trace->begin[first]);
	struct reading reading = { .token = token, .trace = trace };
	uint64_t refs;
	bool as_expected;

	if (!lpl_reserve(decoder->op, decoder->op_room, decoder->ops + 1 + LPL_RUN_WORDS_MAX))
		return no_memory(decoder);
	reading.word = &decoder->op[decoder->ops + 1];
	as_expected = get(decoder, LPL_RUN_SHAPE, &model->odds.shape[trace->shapes]);
	trace->shapes = (uint8_t)((trace->shapes << 1 | as_expected) & 3);
	if (!as_expected) {
		enum lpl_error error = get_unexpected(decoder, &reading);

		if (error != LPL_OK)
			return error;
	} else if (count > 0 &&
		   !get_expected(decoder, &reading, &model->expected[trace->expected +
								      trace->begin[first]], count)) {
		return damaged(decoder, "a run is not as expected");
	}
	refs = reading.told + fetched;
	if (fetched > 0 && lpl_trace_crosses(&trace->code))
		refs++;
	if (refs == 0)
		return damaged(decoder, "a run without references");
	if (!advance(decoder, &reading))
		return damaged(decoder, "a run is out of order");
	decoder->op[decoder->ops] = RUN_OP(LPL_TOKEN_TRACE(token), first, fetched, reading.words);
	decoder->ops += 1 + reading.words;
	decoder->now.ref += refs;
	decoder->refs += refs;
	return LPL_OK;
}

/* ---- what else there is ---- */

static enum lpl_error get_state(struct lpl_run_decoder *decoder, unsigned int mask)
{
	struct lpl_run_position *now = &decoder->now;
	uint64_t *to[] = { &now->state.space, &now->state.cycle_offset, &now->next_instr };
	const unsigned int bit[] = { LPL_STATE_SPACE, LPL_STATE_OFFSET, LPL_STATE_INSTR };
	uint64_t value, *op;

	for (int i = 0; i < 3; i++) {
		if (!(mask & bit[i]))
			continue;
		if (!get_number(decoder, LPL_RUN_STATES, &value))
			return damaged(decoder, "a state is malformed");
		*to[i] += lpl_unzigzag(value);
	}
	now->state.user ^= (mask & LPL_STATE_USER) != 0;
	if (!lpl_reserve(decoder->op, decoder->op_room, decoder->ops + STATE_WORDS))
		return no_memory(decoder);
	op = &decoder->op[decoder->ops];
	op[0] = STATE_OP;
	op[1] = now->state.space;
	op[2] = now->state.user;
	op[3] = now->state.cycle_offset;
	op[4] = now->next_instr;
	decoder->ops += STATE_WORDS;
	return LPL_OK;
}

static enum lpl_error get_any(struct lpl_run_decoder *decoder)
{
	enum { KIND, LENGTH, REF, INSTR, CYCLE, SPACE, ADDRESS, FIELDS };
	struct lpl_run_position *now = &decoder->now;
	uint64_t field[FIELDS], before;
	struct lpl_ref ref;

	for (int i = 0; i < FIELDS; i++) {
		if (!get_number(decoder, LPL_RUN_STATES, &field[i]))
			return damaged(decoder, "a reference is malformed");
	}
	if (field[KIND] >> 7 != 0 || (field[KIND] & 7) >= LPL_TYPES || field[LENGTH] > 4096)
		return damaged(decoder, "a reference is out of range");
	memset(&ref, 0, sizeof(ref));
	ref.type = field[KIND] & 7;
	ref.flags = (uint8_t)(field[KIND] >> 3);
	ref.length = (uint16_t)field[LENGTH];
	ref.ref = now->ref + field[REF];
	ref.instr = now->next_instr + lpl_unzigzag(field[INSTR]);
	ref.cycle = ref.instr + now->state.cycle_offset + lpl_unzigzag(field[CYCLE]);
	ref.space = field[SPACE];
	ref.address = field[ADDRESS];
	if (((ref.flags & LPL_PAGED) != 0) != (ref.length == 0) ||
	    (ref.flags & LPL_PAGED && (ref.address & 0xfff) != 0))
		return damaged(decoder, "a reference is out of range");
	before = now->ref > now->event_ref ? now->ref : now->event_ref;
	if (ref.ref < before || (ref.ref == before && !(ref.flags & LPL_SYNTHETIC)) ||
	    ref.instr < now->instr || ref.cycle < now->cycle)
		return damaged(decoder, "a reference is out of order");
	if (!lpl_reserve(decoder->op, decoder->op_room, decoder->ops + ANY_WORDS))
		return no_memory(decoder);
	decoder->op[decoder->ops] = ANY_OP;
	memcpy(&decoder->op[decoder->ops + 1], &ref, sizeof(ref));
	decoder->ops += ANY_WORDS;
	if (decoder->refs++ == 0) {
		decoder->first_ref = ref.ref;
		decoder->first_instr = ref.instr;
		decoder->first_cycle = ref.cycle;
	}
	now->ref = ref.ref;
	now->instr = ref.instr;
	now->cycle = ref.cycle;
	return LPL_OK;
}

enum lpl_error lpl_run_decode(struct lpl_run_decoder *decoder, uint64_t refs)
{
	bool after_state = false;

	while (decoder->refs < refs) {
		enum lpl_error error;
		uint32_t token;

		error = get_token(decoder, &token);
		if (error != LPL_OK)
			return error;
		if (LPL_TOKEN_TRACE(token) == 0 && token != LPL_TOKEN_LOOSE &&
		    token != LPL_TOKEN_ANY) {
			if (after_state)
				return damaged(decoder, "a state follows a state");
			after_state = true;
			error = get_state(decoder, LPL_TOKEN_FETCHED(token));
		} else {
			after_state = false;
			error = token == LPL_TOKEN_ANY ? get_any(decoder) : get_run(decoder, token);
		}
		if (error != LPL_OK)
			return error;
		for (int i = 0; i < LPL_RUN_RANGES; i++) {
			if (decoder->range[i].overrun)
				return damaged(decoder, "a column holds too little");
		}
	}
	return decoder->refs == refs ? LPL_OK :
	       damaged(decoder, "a run goes on behind an event or the end");
}

/* ---- from what was decoded to references ---- */

void lpl_run_cursor_begin(struct lpl_run_cursor *cursor, const struct lpl_run_decoder *decoder)
{
	*cursor = (struct lpl_run_cursor){ .now = decoder->begin };
}

static void take_state(struct lpl_run_cursor *cursor, const uint64_t *op)
{
	cursor->now.state = (struct lpl_run_state){ .space = op[1], .user = op[2] != 0,
						    .cycle_offset = op[3] };
	cursor->now.next_instr = op[4];
	cursor->op += STATE_WORDS;
}

static void take_any(struct lpl_run_cursor *cursor, const uint64_t *op, struct lpl_ref *out)
{
	memcpy(out, op + 1, sizeof(*out));
	cursor->now.ref = out->ref;
	cursor->op += ANY_WORDS;
}

size_t lpl_run_cursor_next(struct lpl_run_cursor *cursor, const struct lpl_run_decoder *decoder,
			   uint64_t refs, struct lpl_ref *out, size_t room)
{
	size_t count = 0;

	while (cursor->refs + count < refs && room - count >= LPL_RUN_REFS_MAX) {
		const uint64_t *op = &decoder->op[cursor->op];
		struct lpl_run run;
		size_t n;

		if (*op == STATE_OP) {
			take_state(cursor, op);
			continue;
		}
		if (*op == ANY_OP) {
			take_any(cursor, op, &out[count++]);
			continue;
		}
		run = (struct lpl_run){
			.trace = (uint32_t)(*op >> 22), .first = *op >> 17 & 31,
			.fetched = *op >> 11 & 63, .words = *op & 0x7ff, .word = op + 1 };
		n = lpl_run_expand(&decoder->model.trace[run.trace].code, &run,
				   &cursor->now.state, cursor->now.next_instr, cursor->now.ref,
				   &out[count]);
		count += n;
		cursor->now.ref += n;
		cursor->now.next_instr += run.fetched;
		cursor->op += 1 + run.words;
	}
	cursor->refs += count;
	return count;
}
