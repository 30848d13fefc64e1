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

static bool get_number(struct lpl_run_decoder *decoder, enum lpl_run_column column,
		       uint64_t *number)
{
	const uint8_t *next = lpl_varint_get(decoder->at[column], decoder->end[column], number);

	if (next)
		decoder->at[column] = next;
	return next != NULL;
}

static bool get_byte(struct lpl_run_decoder *decoder, enum lpl_run_column column,
		     unsigned int *byte)
{
	if (decoder->at[column] == decoder->end[column])
		return false;
	*byte = *decoder->at[column]++;
	return true;
}

/* How many will be as expected before the next one that is not. */
static bool get_gap(struct lpl_run_decoder *decoder, enum lpl_run_column column)
{
	return get_number(decoder, column, &decoder->yes[column]);
}

enum lpl_error lpl_run_decoder_begin(struct lpl_run_decoder *decoder,
				     const struct lpl_run_position *begin, const uint8_t *bytes,
				     const size_t size[LPL_RUN_COLUMNS],
				     struct lpl_report *cause)
{
	decoder->cause = cause;
	for (int i = 0; i < LPL_RUN_COLUMNS; i++) {
		decoder->at[i] = bytes;
		bytes += size[i];
		decoder->end[i] = bytes;
	}
	for (int i = 0; i < LPL_RUN_GAPS; i++) {
		if (!get_gap(decoder, (enum lpl_run_column)i))
			return damaged(decoder, "a column holds too little");
	}
	decoder->defined = 0;
	decoder->begin = decoder->now = *begin;
	decoder->refs = 0;
	decoder->ops = 0;
	return lpl_run_model_begin(&decoder->model) ? LPL_OK : no_memory(decoder);
}

bool lpl_run_decoder_done(const struct lpl_run_decoder *decoder)
{
	bool done = true;

	for (int i = 0; i < LPL_RUN_GAPS; i++)
		done = done && decoder->yes[i] == 0;
	for (int i = 0; i < LPL_RUN_COLUMNS; i++)
		done = done && decoder->at[i] == decoder->end[i];
	return done;
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

/* Another token than the best candidate. */
static enum lpl_error get_other_token(struct lpl_run_decoder *decoder,
				      struct lpl_successor *three, uint32_t *token)
{
	struct lpl_successor *one = lpl_after_one(&decoder->model);
	const uint32_t candidate[LPL_CANDIDATES] = { 0, three->token[1], one->token[0],
						     one->token[1] };
	enum lpl_error error = LPL_OK;
	unsigned int which;

	if (!get_byte(decoder, LPL_RUN_FLOW, &which) || which >= LPL_CANDIDATES ||
	    (which > 0 && candidate[which] == 0) || !get_gap(decoder, LPL_RUN_FLOW))
		return damaged(decoder, "what comes next is not told");
	*token = candidate[which];
	if (which == 0)
		error = get_name(decoder, token);
	lpl_successor_learn(three, *token);
	if (one->token[0] == *token)
		lpl_successor_was_right(one);
	else
		lpl_successor_learn(one, *token);
	return error;
}

static enum lpl_error get_token(struct lpl_run_decoder *decoder, uint32_t *token)
{
	struct lpl_run_model *model = &decoder->model;
	struct lpl_successor *three = lpl_after_three(model);
	enum lpl_error error = LPL_OK;

	if (decoder->yes[LPL_RUN_FLOW] > 0) {
		decoder->yes[LPL_RUN_FLOW]--;
		*token = three->token[0];
		if (*token == 0)
			return damaged(decoder, "nothing is expected here");
		lpl_successor_was_right(three);
	} else {
		error = get_other_token(decoder, three, token);
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
};

static uint64_t word_of(uint8_t code, uint8_t low)
{
	return (uint64_t)code << LPL_CODE_SHIFT | (uint64_t)low << LPL_WORD_COUNT_SHIFT;
}

/* The list begins again; false: it does so as none can. */
static bool get_again(struct lpl_run_decoder *decoder, unsigned int op, bool is_last, size_t n,
		      unsigned int *offset)
{
	uint64_t step = op == LPL_LIST_AGAIN_NEXT;

	if (op > LPL_LIST_AGAIN_LATER || (step > 0 && !is_last) ||
	    (op == LPL_LIST_AGAIN_LATER &&
	     (!is_last || !get_number(decoder, LPL_RUN_CODES, &step) || step > 255)))
		return false;
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

/*
 * The references of the instruction that stands at `offset` in the run; `op` is what was read
 * and not yet done, and becomes that again.
 */
static enum lpl_error get_list(struct lpl_run_decoder *decoder, struct reading *reading,
			       unsigned int instruction, unsigned int offset, bool is_last,
			       unsigned int *op)
{
	struct lpl_run_model *model = &decoder->model;
	struct lpl_model_trace *trace = reading->trace;
	uint8_t low = (uint8_t)decoder->now.next_instr;
	uint8_t list[LPL_LIST_MAX];
	size_t n = 0;

	while (*op < LPL_LIST_ON || *op >= LPL_LIST_AGAIN) {
		if (*op >= LPL_LIST_AGAIN) {
			if (!lpl_run_model_expect(model, trace, instruction, list, n))
				return no_memory(decoder);
			if (!get_again(decoder, *op, is_last, n, &offset))
				return damaged(decoder, "a repetition is malformed");
			n = 0;
		} else {
			if (n == LPL_LIST_MAX || reading->words == LPL_RUN_WORDS_MAX)
				return damaged(decoder, "a run has too many data references");
			if (lpl_run_model_site(model, trace, instruction, (unsigned int)n) ==
			    SIZE_MAX)
				return no_memory(decoder);
			decoder->instruction[reading->told] = (uint8_t)instruction;
			decoder->item[reading->told++] = (uint8_t)n;
			list[n++] = (uint8_t)*op;
			reading->word[reading->words++] =
				word_of((uint8_t)*op, (uint8_t)(low + offset));
			reading->offset = offset;
			if ((*op >> 1 & 7) == LPL_WORD_LONG && !get_length(decoder, reading))
				return damaged(decoder, "a data reference has no length");
		}
		if (!get_byte(decoder, LPL_RUN_CODES, op))
			return damaged(decoder, "a column holds too little");
	}
	return lpl_run_model_expect(model, trace, instruction, list, n) ? LPL_OK :
	       no_memory(decoder);
}

/* ---- their addresses ---- */

/* One that its best predictor did not say.  false: it is not told. */
static bool get_miss(struct lpl_run_decoder *decoder, struct lpl_site *site, uint64_t *address)
{
	const uint64_t *base = decoder->model.base;
	const uint8_t *at;
	unsigned int kind, bytes;
	bool near;
	uint64_t distance = 0;

	if (!get_byte(decoder, LPL_RUN_MISSES, &kind) || kind >= LPL_MISS_KINDS ||
	    !get_gap(decoder, LPL_RUN_HITS))
		return false;
	if (kind < LPL_PREDICTORS) {
		site->best = kind;
		*address = lpl_predict(site, kind, base);
		return true;
	}
	near = kind >= LPL_MISS(true, 0);
	bytes = kind - LPL_MISS(near, 0);
	at = decoder->at[LPL_RUN_MISSES];
	if (decoder->end[LPL_RUN_MISSES] - at < (ptrdiff_t)bytes)
		return false;
	for (unsigned int i = 0; i < bytes; i++)
		distance |= (uint64_t)at[i] << (8 * i);
	decoder->at[LPL_RUN_MISSES] = at + bytes;
	*address = (lpl_unfold(distance) +
		    (near ? base[LPL_PREDICT_NEAR] : site->guess[LPL_PREDICT_LAST])) &
		   LPL_ADDRESS_MASK;
	return true;
}

static inline bool get_address(struct lpl_run_decoder *decoder, struct lpl_site *site,
			       uint64_t *address)
{
	if (decoder->yes[LPL_RUN_HITS] > 0) {
		decoder->yes[LPL_RUN_HITS]--;
		*address = lpl_predict(site, site->best, decoder->model.base);
	} else if (!get_miss(decoder, site, address)) {
		return false;
	}
	lpl_site_came(decoder->model.base, site, *address);
	return true;
}

/* ---- the whole of a run ---- */

/* The data references that were expected. */
static enum lpl_error get_expected(struct lpl_run_decoder *decoder, struct reading *reading,
				   const struct lpl_expected *expected, size_t count)
{
	struct lpl_run_model *model = &decoder->model;
	unsigned int first = LPL_TOKEN_FIRST(reading->token);
	uint8_t low = (uint8_t)decoder->now.next_instr;

	if (count > LPL_RUN_WORDS_MAX)
		return damaged(decoder, "a run is not as expected");
	for (size_t i = 0; i < count; i++) {
		uint64_t address;

		if ((expected[i].code >> 1 & 7) == LPL_WORD_LONG)
			return damaged(decoder, "a run is not as expected");
		if (!get_address(decoder, &model->site[expected[i].site], &address))
			return damaged(decoder, "an address is not told");
		reading->offset = expected[i].instruction - first;
		reading->word[i] = address | word_of(expected[i].code,
						     (uint8_t)(low + reading->offset));
	}
	reading->words = reading->told = count;
	return LPL_OK;
}

/* Their codes, instruction by instruction. */
static enum lpl_error get_lists(struct lpl_run_decoder *decoder, struct reading *reading)
{
	unsigned int first = LPL_TOKEN_FIRST(reading->token);
	unsigned int fetched = LPL_TOKEN_FETCHED(reading->token);
	unsigned int count = fetched > 0 ? fetched : 1, op;

	if (!get_byte(decoder, LPL_RUN_CODES, &op))
		return damaged(decoder, "a column holds too little");
	for (unsigned int i = 0; i < count;) {
		enum lpl_error error = get_list(decoder, reading, first + i, i, i == count - 1,
						&op);
		unsigned int on = op - LPL_LIST_ON;

		if (error != LPL_OK)
			return error;
		if (on == 0 || on > count - i)
			return damaged(decoder, "a run's data references are malformed");
		while (--on > 0) {
			if (!lpl_run_model_expect(&decoder->model, reading->trace, first + ++i,
						  NULL, 0))
				return no_memory(decoder);
		}
		if (++i < count && !get_byte(decoder, LPL_RUN_CODES, &op))
			return damaged(decoder, "a column holds too little");
	}
	return LPL_OK;
}

static enum lpl_error get_unexpected(struct lpl_run_decoder *decoder, struct reading *reading)
{
	struct lpl_run_model *model = &decoder->model;
	enum lpl_error error = get_lists(decoder, reading);

	for (size_t i = 0, word = 0; i < reading->told && error == LPL_OK; i++) {
		unsigned int instruction = decoder->instruction[i];
		struct lpl_site *site = &model->site[reading->trace->place[instruction] +
						     decoder->item[i]];
		uint64_t address;

		if (!get_address(decoder, site, &address))
			return damaged(decoder, "an address is not told");
		reading->word[word] |= address;
		if ((reading->word[word++] >> LPL_WORD_LENGTH_SHIFT & 7) == LPL_WORD_LONG)
			word++;		/* its length */
	}
	return error;
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
	if (now->next_instr > UINT64_MAX - 512 || first < now->instr ||
	    now->ref < now->event_ref || first + now->state.cycle_offset < now->cycle ||
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
	enum lpl_error error;

	if (!lpl_reserve(decoder->op, decoder->op_room, decoder->ops + 1 + LPL_RUN_WORDS_MAX))
		return no_memory(decoder);
	reading.word = &decoder->op[decoder->ops + 1];
	if (decoder->yes[LPL_RUN_SHAPE] > 0) {
		decoder->yes[LPL_RUN_SHAPE]--;
		error = get_expected(decoder, &reading, model->expected + trace->expected +
				     trace->begin[first], count);
	} else {
		error = get_gap(decoder, LPL_RUN_SHAPE) ? get_unexpected(decoder, &reading) :
			damaged(decoder, "a column holds too little");
	}
	if (error != LPL_OK)
		return error;
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
		uint32_t token = 0;

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
			error = token == LPL_TOKEN_ANY ? get_any(decoder) :
							 get_run(decoder, token);
		}
		if (error != LPL_OK)
			return error;
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
