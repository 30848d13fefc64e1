/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpacking blocks: from columns to ops. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "block_decode.h"
#include "block_expand.h"
#include "block_run.h"
#include "record/flags.h"

bool lpl_block_decoder_init(struct lpl_block_decoder *decoder)
{
	memset(decoder, 0, sizeof(*decoder));
	return lpl_block_model_init(&decoder->model);
}

void lpl_block_decoder_free(struct lpl_block_decoder *decoder)
{
	lpl_block_model_free(&decoder->model);
	free(decoder->op);
	lpl_block_steps_free(&decoder->steps);
	memset(decoder, 0, sizeof(*decoder));
}

static enum lpl_error damaged(const struct lpl_block_decoder *decoder, const char *what)
{
	return lpl_fail(decoder->cause, LPL_ERR_DAMAGED, "%s", what);
}

static bool get_number(struct lpl_block_decoder *decoder, enum lpl_block_column column,
		       uint64_t *number)
{
	const uint8_t *next = lpl_varint_get(decoder->at[column], decoder->end[column], number);

	if (next)
		decoder->at[column] = next;
	return next != NULL;
}

static bool get_byte(struct lpl_block_decoder *decoder, enum lpl_block_column column,
		     unsigned int *byte)
{
	if (decoder->at[column] == decoder->end[column])
		return false;
	*byte = *decoder->at[column]++;
	return true;
}

/* How many will be as expected before the next one that is not. */
static bool get_gap(struct lpl_block_decoder *decoder, enum lpl_block_column column)
{
	return get_number(decoder, column, &decoder->correct[column]);
}

/* The first reference is the next one. */
static enum lpl_error begin(struct lpl_block_decoder *decoder)
{
	memcpy(decoder->at, decoder->begin_at, sizeof(decoder->at));
	for (int i = 0; i < LPL_BLOCK_GAPS; i++) {
		if (!get_gap(decoder, (enum lpl_block_column)i))
			return damaged(decoder, "a column holds too little");
	}
	decoder->defined = 0;
	decoder->now = decoder->begin;
	decoder->refs = 0;
	decoder->ops = decoder->op_words = 0;
	lpl_block_steps_clear(&decoder->steps);
	return lpl_block_model_begin(&decoder->model) ? LPL_OK : lpl_block_no_memory(decoder);
}

enum lpl_error lpl_block_decoder_begin(struct lpl_block_decoder *decoder,
				       const struct lpl_block_position *position, const uint8_t *bytes,
				       const size_t size[LPL_BLOCK_COLUMNS],
				       struct lpl_report *cause)
{
	decoder->cause = cause;
	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++) {
		decoder->begin_at[i] = bytes;
		bytes += size[i];
		decoder->end[i] = bytes;
	}
	decoder->begin = *position;
	decoder->parts = LPL_BLOCKS_WHOLE;
	return begin(decoder);
}

void lpl_block_decoder_again(struct lpl_block_decoder *decoder)
{
	if (decoder->parts == LPL_BLOCKS_TOO_LONG)
		decoder->all = decoder->refs;
	decoder->parts = LPL_BLOCKS_IN_PARTS;
	decoder->cause = NULL;
	/* it was done, with as much memory */
	if (begin(decoder) != LPL_OK)
		assert(false);
}

bool lpl_block_decoder_overflowed(const struct lpl_block_decoder *decoder)
{
	return decoder->stepping &&
	       (decoder->steps.visits > LPL_STEP_VISITS_MOST || decoder->op_words > LPL_OP_WORDS_MAX);
}

bool lpl_block_decoder_done(const struct lpl_block_decoder *decoder)
{
	bool done = true;

	for (int i = 0; i < LPL_BLOCK_GAPS; i++)
		done = done && decoder->correct[i] == 0;
	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++)
		done = done && decoder->at[i] == decoder->end[i];
	return done;
}

/* ---- which block ---- */

/* A trace's next instructions, until `count` are known. */
static enum lpl_error get_definition(struct lpl_block_decoder *decoder, uint64_t number,
				     unsigned int count)
{
	struct lpl_block_model *model = &decoder->model;
	struct lpl_instruction_trace *trace;
	uint64_t value;

	if (number == model->traces) {
		if (!get_number(decoder, LPL_BLOCK_TRACES, &value))
			return damaged(decoder, "a trace is not defined");
		decoder->defined += lpl_unzigzag(value);
		if (!lpl_block_model_trace(model, decoder->defined))
			return lpl_block_no_memory(decoder);
	}
	trace = &model->trace[number];
	while (trace->count < count) {
		if (!get_number(decoder, LPL_BLOCK_TRACES, &value) || value == 0 ||
		    value > LPL_INSTRUCTION_MAX)
			return damaged(decoder, "an instruction has no length");
		trace->length[trace->count++] = (uint8_t)value;
	}
	return lpl_trace_is_valid(trace) ? LPL_OK :
	       damaged(decoder, "a trace leaves its page");
}

/* A new token: of which block. */
static enum lpl_error get_new_token(struct lpl_block_decoder *decoder)
{
	struct lpl_block_model *model = &decoder->model;
	uint64_t trace, rest;
	unsigned int first, fetched;

	if (!get_number(decoder, LPL_BLOCK_TRACES, &trace) ||
	    !get_number(decoder, LPL_BLOCK_TRACES, &rest) || rest >> 11 != 0 || trace == 0 ||
	    trace > model->traces)
		return damaged(decoder, "a new token names no block");
	first = (unsigned int)(rest >> 6);
	fetched = rest & 63;
	if (first + (fetched > 0 ? fetched : 1) > LPL_TRACE_MAX)
		return damaged(decoder, "a block is longer than a trace");
	LPL_TRY(get_definition(decoder, trace, first + (fetched > 0 ? fetched : 1)));
	if (model->tokens >= LPL_TOKENS_MAX)
		return damaged(decoder, "it has more tokens than a chunk may");
	return lpl_block_model_token(model, (uint32_t)trace, first, fetched) ? LPL_OK :
	       lpl_block_no_memory(decoder);
}

/* Another token than was expected. */
static enum lpl_error get_other_token(struct lpl_block_decoder *decoder, uint32_t *token)
{
	struct lpl_block_model *model = &decoder->model;
	unsigned int how;
	uint64_t number = 0;

	if (!get_byte(decoder, LPL_BLOCK_FLOW, &how) || !get_gap(decoder, LPL_BLOCK_FLOW))
		return damaged(decoder, "the next token is missing or is none");
	if (how == LPL_SECOND_CHOICE)
		number = model->after[model->context].second;
	else if (how == LPL_FOLLOWER)
		number = model->token[model->previous].follower;
	else if (how != LPL_BY_NUMBER || !get_number(decoder, LPL_BLOCK_TRACES, &number))
		return damaged(decoder, "the next token is missing or is none");
	if (number == LPL_TOKEN_NONE || number > model->tokens)
		return damaged(decoder, "the next token is missing or is none");
	*token = (uint32_t)number;
	return number == model->tokens ? get_new_token(decoder) : LPL_OK;
}

enum lpl_error lpl_block_decode_token(struct lpl_block_decoder *decoder, uint32_t *token)
{
	struct lpl_block_model *model = &decoder->model;
	uint32_t best = model->after[model->context].best;

	if (decoder->correct[LPL_BLOCK_FLOW] > 0) {
		decoder->correct[LPL_BLOCK_FLOW]--;
		*token = best & ~LPL_HYSTERESIS;
		if (*token == LPL_TOKEN_NONE)
			return damaged(decoder, "nothing is expected here");
	} else {
		LPL_TRY(get_other_token(decoder, token));
	}
	if (*token != best)
		lpl_block_model_update(model, *token);
	lpl_block_model_advance(model, *token);
	/* where what comes next is looked up while this block is decoded */
	__builtin_prefetch(&model->after[model->context]);
	return LPL_OK;
}

/* ---- its data references ---- */

/* A block while it is read: its data words follow the op that is still to be written. */
struct reading {
	uint64_t *word;		/* with room for what a block can have */
	size_t words;		/* so far */
	size_t refs;		/* words less the lengths */
	unsigned int d;		/* of the last one */
	unsigned int first;	/* d of the first one */
};

enum lpl_error lpl_block_decode_miss(struct lpl_block_decoder *decoder, struct lpl_site *site,
				     uint64_t *address)
{
	const uint64_t near = decoder->model.near, far = decoder->model.far;
	const uint8_t *at;
	unsigned int how, bytes;
	uint64_t distance = 0;
	bool from_near;

	if (!get_byte(decoder, LPL_BLOCK_MISSES, &how) || how >= LPL_MISS_KINDS ||
	    !get_gap(decoder, LPL_BLOCK_HITS))
		return damaged(decoder, "an address is missing or malformed");
	if (how < LPL_PREDICTIONS) {
		*address = lpl_predict(site, how, near, far);
	} else {
		from_near = how >= LPL_MISS(true, 0);
		bytes = how - LPL_MISS(from_near, 0);
		at = decoder->at[LPL_BLOCK_MISSES];
		if (decoder->end[LPL_BLOCK_MISSES] - at < (ptrdiff_t)bytes)
			return damaged(decoder, "an address is missing or malformed");
		if (decoder->end[LPL_BLOCK_MISSES] - at >= (ptrdiff_t)sizeof(distance)) {
			memcpy(&distance, at, sizeof(distance));	/* more than it is, which is quicker */
			distance = le64toh(distance) & ((UINT64_C(1) << 8 * bytes) - 1);
		} else {
			for (unsigned int i = 0; i < bytes; i++)
				distance |= (uint64_t)at[i] << (8 * i);
		}
		decoder->at[LPL_BLOCK_MISSES] = at + bytes;
		*address = (lpl_unfold(distance) + (from_near ? near : site->word)) &
			   LPL_ADDRESS_MASK;
	}
	lpl_site_update(site, how, *address, near, far);
	return LPL_OK;
}

/* A site's word, in a block with that low byte of its instruction count. */
static inline uint64_t as_referred(uint64_t word, uint8_t low)
{
	const uint64_t count = UINT64_C(0xff) << LPL_WORD_COUNT_SHIFT;

	return (word & ~count) | ((word + ((uint64_t)low << LPL_WORD_COUNT_SHIFT)) & count);
}

static unsigned int d_of(uint64_t site_word)
{
	return (uint8_t)(site_word >> LPL_WORD_COUNT_SHIFT);
}

static bool is_long(uint64_t word)
{
	return (word >> LPL_WORD_LENGTH_SHIFT & 7) == LPL_WORD_LONG;
}

/* Those that were expected. */
static enum lpl_error get_expected(struct lpl_block_decoder *decoder, struct reading *reading,
				   const struct lpl_token *token)
{
	struct lpl_site *site = &decoder->model.site[token->sites];
	uint8_t low = (uint8_t)decoder->now.next_instr;
	uint64_t address;

	for (size_t i = 0; i < token->listed; i++) {
		if (is_long(site[i].word))
			return damaged(decoder, "a block is not as expected");
		LPL_TRY(lpl_block_decode_address(decoder, &site[i], &address));
		reading->word[i] = as_referred(site[i].word, low);
	}
	reading->words = reading->refs = token->listed;
	if (token->listed > 0) {
		reading->first = d_of(site[0].word);
		reading->d = d_of(site[token->listed - 1].word);
	}
	return LPL_OK;
}

/*
 * The same where steps are made.  Sites have all that is the same as it was in the token's last
 * block, so only addresses are looked at: whether each is on the page where it was.
 */
static enum lpl_error step_expected(struct lpl_block_decoder *decoder, struct reading *reading,
				    struct lpl_token *token)
{
	const struct lpl_site *site = &decoder->model.site[token->sites];
	bool left_page;

	for (size_t i = 0; i < token->listed; i++) {
		if (is_long(site[i].word))
			return damaged(decoder, "a block is not as expected");
	}
	LPL_TRY(lpl_block_run_move(decoder, token, &left_page));
	reading->words = reading->refs = token->listed;
	if (token->listed > 0) {
		reading->first = d_of(site[0].word);
		reading->d = d_of(site[token->listed - 1].word);
	}
	lpl_block_run_learn(&decoder->model, token);
	if (token->pattern != 0 && token->space == decoder->now.state.space && !left_page)
		return lpl_block_steps_again(&decoder->steps, token->pattern - 1) ? LPL_OK :
		       lpl_block_no_memory(decoder);
	return lpl_block_run_pattern(decoder, token) ? LPL_OK : lpl_block_no_memory(decoder);
}

/* As many more as the column says, each as the one two before it.  false: that cannot be. */
static bool get_repetitions(struct lpl_block_decoder *decoder, struct reading *reading,
			    uint64_t refs)
{
	uint64_t *word = &reading->word[reading->words], d = reading->d, code[2], rise[2], times;

	if (!get_number(decoder, LPL_BLOCK_CODES, &times) || times > refs - reading->refs ||
	    times > LPL_BLOCK_WORDS_MAX - reading->words || reading->refs < 2 ||
	    reading->words != reading->refs)
		return false;
	for (int i = 0; i < 2; i++)
		code[i] = word[i - 2] & UINT64_C(0x7f) << LPL_CODE_SHIFT;
	/* what is before the first one has d = 0; and none is lower than the one before */
	rise[0] = d_of(word[-2]) - (reading->words > 2 ? d_of(word[-3]) : 0);
	rise[1] = d - d_of(word[-2]);
	for (uint64_t i = 0; i < times; i++) {
		d += rise[i % 2];
		word[i] = code[i % 2] | d << LPL_WORD_COUNT_SHIFT;
	}
	if (d > 255)
		return false;
	reading->d = (unsigned int)d;
	reading->words += times;
	reading->refs += times;
	return true;
}

/* All but their addresses, as sites have it, with lengths after those that need it. */
static enum lpl_error get_codes(struct lpl_block_decoder *decoder, struct reading *reading)
{
	uint64_t refs;

	if (!get_number(decoder, LPL_BLOCK_CODES, &refs) || refs > LPL_BLOCK_WORDS_MAX)
		return damaged(decoder, "a block has too many data references");
	while (reading->refs < refs) {
		unsigned int code, higher = 0;
		uint64_t word, length;

		if (!get_byte(decoder, LPL_BLOCK_CODES, &code) ||
		    (code & 128 && !get_byte(decoder, LPL_BLOCK_CODES, &higher)))
			return damaged(decoder, "a column holds too little");
		if (code == LPL_CODE_REPEAT) {
			if (!get_repetitions(decoder, reading, refs))
				return damaged(decoder, "a repetition is malformed");
			continue;
		}
		reading->d += higher;
		if (reading->d > 255 || reading->words == LPL_BLOCK_WORDS_MAX)
			return damaged(decoder, "a block's data references are malformed");
		word = (uint64_t)(code & 127) << LPL_CODE_SHIFT |
		       (uint64_t)reading->d << LPL_WORD_COUNT_SHIFT;
		reading->word[reading->words++] = word;
		reading->refs++;
		if (!is_long(word))
			continue;
		if (!get_number(decoder, LPL_BLOCK_CODES, &length) || length == 0 ||
		    length > 4096 || reading->words == LPL_BLOCK_WORDS_MAX)
			return damaged(decoder, "a data reference has no length");
		reading->word[reading->words++] = length;
	}
	return LPL_OK;
}

/* Their addresses; those that are `learned` are expected of the token from now on. */
static enum lpl_error get_addresses(struct lpl_block_decoder *decoder, struct reading *reading,
				    const struct lpl_token *token, bool learned)
{
	struct lpl_block_model *model = &decoder->model;
	struct lpl_site *const sites = &model->site[token->sites];
	const uint8_t low = (uint8_t)decoder->now.next_instr;
	uint64_t near = model->near, far = model->far, address;
	size_t n = 0;

	for (size_t i = 0; i < reading->words; i++, n++) {
		struct lpl_site *site = &sites[lpl_site_of(n)];
		const uint64_t word = reading->word[i];

		if (decoder->correct[LPL_BLOCK_HITS] > 0) {
			decoder->correct[LPL_BLOCK_HITS]--;
			address = lpl_predict(site, lpl_kind(site), near, far);
		} else {
			model->near = near;
			model->far = far;
			LPL_TRY(lpl_block_decode_miss(decoder, site, &address));
		}
		if (learned)
			site->word = word | address;
		else
			lpl_site_set_last(site, address);
		reading->word[i] = as_referred(word | address, low);
		far = near;
		near = address;
		i += is_long(word);
	}
	model->near = near;
	model->far = far;
	return LPL_OK;
}

static enum lpl_error get_unexpected(struct lpl_block_decoder *decoder, struct reading *reading,
				     struct lpl_token *token)
{
	struct lpl_block_model *model = &decoder->model;
	uint8_t low = (uint8_t)decoder->now.next_instr;
	uint32_t number;
	bool learned;

	LPL_TRY(get_codes(decoder, reading));
	reading->first = reading->words > 0 ? d_of(reading->word[0]) : 0;
	learned = reading->refs <= LPL_LIST_MAX;
	if (model->sites + LPL_SITES_MAX > LPL_CHUNK_SITES_MAX)
		return damaged(decoder, "it has more data references of tokens than a chunk may");
	if (!lpl_block_model_sites(model, token, reading->refs))
		return lpl_block_no_memory(decoder);
	if (learned)
		token->listed = (uint16_t)reading->refs;
	LPL_TRY(get_addresses(decoder, reading, token, learned));
	if (!decoder->stepping)
		return LPL_OK;
	/* only what was learned is what the next block is expected to do, and no word has its length after it then */
	lpl_block_run_learn(model, token);
	token->space = decoder->now.state.space;
	if (!lpl_block_steps_block(&decoder->steps, &model->trace[token->trace], token, token->space,
				   reading->word, reading->words, low, &number))
		return lpl_block_no_memory(decoder);
	token->pattern = learned && reading->words == reading->refs ? number + 1 : 0;
	return LPL_OK;
}

/* ---- the whole of a block ---- */

/* What was read moves the clocks on; false: backwards. */
static bool advance(struct lpl_block_decoder *decoder, const struct reading *reading,
		    unsigned int fetched)
{
	struct lpl_block_position *now = &decoder->now;
	/* without a fetch the first reference may come later than the block begins */
	uint64_t first = now->next_instr;
	uint64_t last = first + (fetched > 0 ? fetched - 1 : 0);

	if (fetched == 0)
		first += reading->first;
	if (reading->words > 0 && now->next_instr + reading->d > last)
		last = now->next_instr + reading->d;
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

static enum lpl_error get_block(struct lpl_block_decoder *decoder, uint32_t number)
{
	struct lpl_token *token = &decoder->model.token[number];
	const struct lpl_instruction_trace *trace = &decoder->model.trace[token->trace];
	struct reading reading = { .words = 0 };
	uint64_t refs;

	if (!lpl_reserve(decoder->op, decoder->op_room, decoder->ops + 1 + LPL_BLOCK_WORDS_MAX))
		return lpl_block_no_memory(decoder);
	reading.word = &decoder->op[decoder->ops + 1];
	if (decoder->correct[LPL_BLOCK_SHAPE] > 0) {
		decoder->correct[LPL_BLOCK_SHAPE]--;
		LPL_TRY(decoder->stepping ? step_expected(decoder, &reading, token) :
					    get_expected(decoder, &reading, token));
	} else if (get_gap(decoder, LPL_BLOCK_SHAPE)) {
		LPL_TRY(get_unexpected(decoder, &reading, token));
	} else {
		return damaged(decoder, "a column holds too little");
	}
	refs = reading.refs + token->fetched;
	if (token->fetched > 0 && lpl_trace_crosses(trace))
		refs++;
	if (refs == 0)
		return damaged(decoder, "a block without references");
	if (!advance(decoder, &reading, token->fetched))
		return damaged(decoder, "a block is out of order");
	decoder->op_words += 1 + reading.words;
	if (!decoder->stepping) {
		decoder->op[decoder->ops] = LPL_BLOCK_OP(token->trace, token->first, token->fetched,
							 reading.words);
		decoder->ops += 1 + reading.words;
	}
	decoder->now.ref += refs;
	decoder->refs += refs;
	return LPL_OK;
}

/* ---- the rest ---- */

static enum lpl_error get_state(struct lpl_block_decoder *decoder, unsigned int mask)
{
	struct lpl_block_position *now = &decoder->now;
	uint64_t *to[] = { &now->state.space, &now->state.cycle_offset, &now->next_instr };
	const unsigned int bit[] = { LPL_STATE_SPACE, LPL_STATE_OFFSET, LPL_STATE_INSTR };
	uint64_t value, *op;

	for (int i = 0; i < 3; i++) {
		if (!(mask & bit[i]))
			continue;
		if (!get_number(decoder, LPL_BLOCK_STATES, &value))
			return damaged(decoder, "a state is malformed");
		*to[i] += lpl_unzigzag(value);
	}
	now->state.user ^= (mask & LPL_STATE_USER) != 0;
	decoder->op_words += LPL_STATE_OP_WORDS;
	if (decoder->stepping)
		return LPL_OK;
	if (!lpl_reserve(decoder->op, decoder->op_room, decoder->ops + LPL_STATE_OP_WORDS))
		return lpl_block_no_memory(decoder);
	op = &decoder->op[decoder->ops];
	op[0] = LPL_STATE_OP;
	op[1] = now->state.space;
	op[2] = now->state.user;
	op[3] = now->state.cycle_offset;
	op[4] = now->next_instr;
	decoder->ops += LPL_STATE_OP_WORDS;
	return LPL_OK;
}

static enum lpl_error keep_any(struct lpl_block_decoder *decoder, const struct lpl_ref *ref)
{
	if (!lpl_reserve(decoder->op, decoder->op_room, decoder->ops + LPL_ANY_OP_WORDS))
		return lpl_block_no_memory(decoder);
	decoder->op[decoder->ops] = LPL_ANY_OP;
	memcpy(&decoder->op[decoder->ops + 1], ref, sizeof(*ref));
	decoder->ops += LPL_ANY_OP_WORDS;
	return LPL_OK;
}

static enum lpl_error step_any(struct lpl_block_decoder *decoder, const struct lpl_ref *ref)
{
	return lpl_block_steps_ref(&decoder->steps, ref) ? LPL_OK : lpl_block_no_memory(decoder);
}

static enum lpl_error get_any(struct lpl_block_decoder *decoder)
{
	enum { KIND, LENGTH, REF, INSTR, CYCLE, SPACE, ADDRESS, FIELDS };
	struct lpl_block_position *now = &decoder->now;
	uint64_t field[FIELDS], before;
	struct lpl_ref ref;

	for (int i = 0; i < FIELDS; i++) {
		if (!get_number(decoder, LPL_BLOCK_STATES, &field[i]))
			return damaged(decoder, "a reference is malformed");
	}
	if ((field[KIND] & 7) >= LPL_TYPES || field[LENGTH] > 4096 ||
	    field[KIND] >> 3 > lpl_flags_max(field[KIND] & 7, field[LENGTH] == 0))
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
	LPL_TRY(decoder->stepping ? step_any(decoder, &ref) : keep_any(decoder, &ref));
	decoder->op_words += LPL_ANY_OP_WORDS;
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

/* They would be too many with those to come. */
static void drop_ops(struct lpl_block_decoder *decoder)
{
	decoder->parts = LPL_BLOCKS_TOO_LONG;
	decoder->ops = 0;
}

enum lpl_error lpl_block_decode(struct lpl_block_decoder *decoder, uint64_t refs)
{
	bool after_state = false;

	while (decoder->refs < refs) {
		uint32_t token = LPL_TOKEN_NONE;
		bool is_state;

		if (lpl_block_decoder_overflowed(decoder))
			return lpl_fail(decoder->cause, LPL_ERR_MEMORY, "its blocks are too many for steps");
		if (decoder->stepping)
			LPL_TRY(lpl_block_run(decoder, refs, &token, &after_state));
		if (decoder->refs >= refs)
			break;
		if (decoder->ops > LPL_OPS_KEPT) {
			if (decoder->parts == LPL_BLOCKS_IN_PARTS)
				return LPL_OK;
			drop_ops(decoder);
		}
		if (token == LPL_TOKEN_NONE)
			LPL_TRY(lpl_block_decode_token(decoder, &token));
		is_state = token >= LPL_TOKEN_STATE && token < LPL_TOKEN_BLOCKS;
		if (is_state && after_state)
			return damaged(decoder, "a state follows a state");
		after_state = is_state;
		LPL_TRY(is_state ? get_state(decoder, token - LPL_TOKEN_STATE + 1) :
			token == LPL_TOKEN_ANY ? get_any(decoder) : get_block(decoder, token));
		if (decoder->op_words > LPL_OP_WORDS_MAX)
			return damaged(decoder, "it has more blocks than a chunk may");
	}
	return decoder->refs == refs ? LPL_OK :
	       damaged(decoder, "a block extends beyond an event or the end");
}
