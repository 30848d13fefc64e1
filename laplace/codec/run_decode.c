/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpacking runs: from columns to ops. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run_decode.h"
#include "run_expand.h"

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
		if (!get_number(decoder, LPL_RUN_TRACES, &value))
			return damaged(decoder, "a trace is not defined");
		decoder->defined += lpl_unzigzag(value);
		if (!lpl_run_model_trace(model, decoder->defined))
			return no_memory(decoder);
	}
	trace = &model->trace[number];
	while (trace->count < count) {
		if (!get_number(decoder, LPL_RUN_TRACES, &value) || value == 0 ||
		    value > LPL_INSTRUCTION_MAX)
			return damaged(decoder, "an instruction has no length");
		trace->length[trace->count++] = (uint8_t)value;
	}
	return lpl_trace_is_valid(trace) ? LPL_OK :
	       damaged(decoder, "a trace leaves its page");
}

/* A new token: of which run. */
static enum lpl_error get_new_token(struct lpl_run_decoder *decoder)
{
	struct lpl_run_model *model = &decoder->model;
	uint64_t trace, rest;
	unsigned int first, fetched;
	enum lpl_error error;

	if (!get_number(decoder, LPL_RUN_TRACES, &trace) ||
	    !get_number(decoder, LPL_RUN_TRACES, &rest) || rest >> 11 != 0 || trace == 0 ||
	    trace > model->traces)
		return damaged(decoder, "a run is not told");
	first = (unsigned int)(rest >> 6);
	fetched = rest & 63;
	if (first + (fetched > 0 ? fetched : 1) > LPL_TRACE_MAX)
		return damaged(decoder, "a run is longer than a trace");
	error = get_definition(decoder, trace, first + (fetched > 0 ? fetched : 1));
	if (error != LPL_OK)
		return error;
	if (model->tokens >= LPL_TOKENS_MAX)
		return damaged(decoder, "it has more tokens than a chunk may");
	return lpl_run_model_token(model, (uint32_t)trace, first, fetched) ? LPL_OK :
	       no_memory(decoder);
}

/* Another token than was expected. */
static enum lpl_error get_other_token(struct lpl_run_decoder *decoder, uint32_t *token)
{
	struct lpl_run_model *model = &decoder->model;
	unsigned int how;
	uint64_t number = 0;

	if (!get_byte(decoder, LPL_RUN_FLOW, &how) || !get_gap(decoder, LPL_RUN_FLOW))
		return damaged(decoder, "what comes next is not told");
	if (how == LPL_THE_OTHER)
		number = model->after[model->context].other;
	else if (how == LPL_THE_FOLLOWER)
		number = model->token[model->before].follower;
	else if (how != LPL_BY_NUMBER || !get_number(decoder, LPL_RUN_TRACES, &number))
		return damaged(decoder, "what comes next is not told");
	if (number == LPL_TOKEN_NONE || number > model->tokens)
		return damaged(decoder, "what comes next is not told");
	*token = (uint32_t)number;
	return number == model->tokens ? get_new_token(decoder) : LPL_OK;
}

static inline enum lpl_error get_token(struct lpl_run_decoder *decoder, uint32_t *token)
{
	struct lpl_run_model *model = &decoder->model;
	uint32_t best = model->after[model->context].best;
	enum lpl_error error;

	if (decoder->yes[LPL_RUN_FLOW] > 0) {
		decoder->yes[LPL_RUN_FLOW]--;
		*token = best & ~LPL_DOUBT;
		if (*token == LPL_TOKEN_NONE)
			return damaged(decoder, "nothing is expected here");
	} else {
		error = get_other_token(decoder, token);
		if (error != LPL_OK)
			return error;
	}
	if (*token != best)
		lpl_token_learn(model, *token);
	lpl_token_came(model, *token);
	return LPL_OK;
}

/* ---- its data references ---- */

/* A run while it is read: its data words go behind the op that is still to be written. */
struct reading {
	uint64_t *word;		/* with room for what a run can have */
	size_t words;		/* so far */
	size_t refs;		/* words less the lengths */
	unsigned int d;		/* of the last one */
};

/* One that is not where its site's kind says.  false: it is not told. */
static bool get_miss(struct lpl_run_decoder *decoder, struct lpl_site *site, uint64_t *address)
{
	const uint64_t near = decoder->model.near, far = decoder->model.far;
	const uint8_t *at;
	unsigned int told, bytes;
	uint64_t distance = 0;
	bool from_near;

	if (!get_byte(decoder, LPL_RUN_MISSES, &told) || told >= LPL_MISS_KINDS ||
	    !get_gap(decoder, LPL_RUN_HITS))
		return false;
	if (told < LPL_PREDICTIONS) {
		*address = lpl_predict(site, told, near, far);
	} else {
		from_near = told >= LPL_MISS(true, 0);
		bytes = told - LPL_MISS(from_near, 0);
		at = decoder->at[LPL_RUN_MISSES];
		if (decoder->end[LPL_RUN_MISSES] - at < (ptrdiff_t)bytes)
			return false;
		for (unsigned int i = 0; i < bytes; i++)
			distance |= (uint64_t)at[i] << (8 * i);
		decoder->at[LPL_RUN_MISSES] = at + bytes;
		*address = (lpl_unfold(distance) + (from_near ? near : site->word)) &
			   LPL_ADDRESS_MASK;
	}
	lpl_site_learn(site, told, *address, near, far);
	return true;
}

/* Where the site's reference is, which then came. */
static inline bool get_address(struct lpl_run_decoder *decoder, struct lpl_site *site,
			       uint64_t *address)
{
	struct lpl_run_model *model = &decoder->model;

	if (decoder->yes[LPL_RUN_HITS] > 0) {
		decoder->yes[LPL_RUN_HITS]--;
		*address = lpl_predict(site, lpl_kind(site), model->near, model->far);
	} else if (!get_miss(decoder, site, address)) {
		return false;
	}
	lpl_site_came(site, *address);
	model->far = model->near;
	model->near = *address;
	return true;
}

/* A site's word, of a run whose instruction count has that low byte. */
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
static enum lpl_error get_expected(struct lpl_run_decoder *decoder, struct reading *reading,
				   const struct lpl_token *token)
{
	struct lpl_site *site = &decoder->model.site[token->sites];
	uint8_t low = (uint8_t)decoder->now.next_instr;
	uint64_t address;

	for (size_t i = 0; i < token->listed; i++) {
		if (is_long(site[i].word))
			return damaged(decoder, "a run is not as expected");
		if (!get_address(decoder, &site[i], &address))
			return damaged(decoder, "an address is not told");
		reading->word[i] = as_referred(site[i].word, low);
	}
	reading->words = reading->refs = token->listed;
	if (token->listed > 0)
		reading->d = d_of(site[token->listed - 1].word);
	return LPL_OK;
}

/* As many more as are told, each as the one two before it.  false: that cannot be. */
static bool get_repetitions(struct lpl_run_decoder *decoder, struct reading *reading,
			    uint64_t refs)
{
	uint64_t *word = &reading->word[reading->words], times;

	if (!get_number(decoder, LPL_RUN_CODES, &times) || times > refs - reading->refs ||
	    times > LPL_RUN_WORDS_MAX - reading->words || reading->refs < 2 ||
	    reading->words != reading->refs)
		return false;
	for (; times > 0; times--, word++) {
		/* what comes before the first one has d = 0 */
		unsigned int before = reading->words > 2 ? d_of(word[-3]) : 0;
		unsigned int d = d_of(word[-1]) + d_of(word[-2]) - before;

		if (d > 255)
			return false;
		*word = (word[-2] & UINT64_C(0x7f) << LPL_CODE_SHIFT) |
			(uint64_t)d << LPL_WORD_COUNT_SHIFT;
		reading->d = d;
		reading->words++;
		reading->refs++;
	}
	return true;
}

/* All but their addresses, as sites have it, with lengths behind those that need it. */
static enum lpl_error get_codes(struct lpl_run_decoder *decoder, struct reading *reading)
{
	uint64_t refs;

	if (!get_number(decoder, LPL_RUN_CODES, &refs) || refs > LPL_RUN_WORDS_MAX)
		return damaged(decoder, "a run has too many data references");
	while (reading->refs < refs) {
		unsigned int code, higher = 0;
		uint64_t word, length;

		if (!get_byte(decoder, LPL_RUN_CODES, &code) ||
		    (code & 128 && !get_byte(decoder, LPL_RUN_CODES, &higher)))
			return damaged(decoder, "a column holds too little");
		if (code == LPL_CODE_REPEAT) {
			if (!get_repetitions(decoder, reading, refs))
				return damaged(decoder, "a repetition is malformed");
			continue;
		}
		reading->d += higher;
		/* a walk's has no flags */
		if (reading->d > 255 || reading->words == LPL_RUN_WORDS_MAX ||
		    (!(code & 0x40) && code & 0x30))
			return damaged(decoder, "a run's data references are malformed");
		word = (uint64_t)(code & 127) << LPL_CODE_SHIFT |
		       (uint64_t)reading->d << LPL_WORD_COUNT_SHIFT;
		reading->word[reading->words++] = word;
		reading->refs++;
		if (!is_long(word))
			continue;
		if (!get_number(decoder, LPL_RUN_CODES, &length) || length == 0 ||
		    length > 4096 || reading->words == LPL_RUN_WORDS_MAX)
			return damaged(decoder, "a data reference has no length");
		reading->word[reading->words++] = length;
	}
	return LPL_OK;
}

static enum lpl_error get_unexpected(struct lpl_run_decoder *decoder, struct reading *reading,
				     struct lpl_token *token)
{
	struct lpl_run_model *model = &decoder->model;
	uint8_t low = (uint8_t)decoder->now.next_instr;
	enum lpl_error error = get_codes(decoder, reading);
	bool learned = reading->refs <= LPL_LIST_MAX;
	size_t n = 0;

	if (error != LPL_OK)
		return error;
	if (model->sites + LPL_SITES_MAX > LPL_CHUNK_SITES_MAX)
		return damaged(decoder, "it has more data references of tokens than a chunk may");
	if (!lpl_run_model_sites(model, token, reading->refs))
		return no_memory(decoder);
	if (learned)
		token->listed = (uint16_t)reading->refs;
	for (size_t i = 0; i < reading->words; i++, n++) {
		struct lpl_site *site = &model->site[token->sites + lpl_site_of(n)];
		uint64_t *word = &reading->word[i], address;

		if (!get_address(decoder, site, &address))
			return damaged(decoder, "an address is not told");
		if (learned)
			site->word = *word | address;
		i += is_long(*word);
		*word = as_referred(*word | address, low);
	}
	return LPL_OK;
}

/* ---- the whole of a run ---- */

/* What was read moves the clocks on; false: backwards. */
static bool advance(struct lpl_run_decoder *decoder, const struct reading *reading,
		    unsigned int fetched)
{
	struct lpl_run_position *now = &decoder->now;
	/* without a fetch the first reference may come later than the run begins */
	uint64_t first = now->next_instr;
	uint64_t last = first + (fetched > 0 ? fetched - 1 : 0);

	if (fetched == 0)
		first += (uint8_t)((reading->word[0] >> LPL_WORD_COUNT_SHIFT) - first);
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

static enum lpl_error get_run(struct lpl_run_decoder *decoder, uint32_t number)
{
	struct lpl_token *token = &decoder->model.token[number];
	const struct lpl_instruction_trace *trace = &decoder->model.trace[token->trace];
	struct reading reading = { .words = 0 };
	uint64_t refs;
	enum lpl_error error;

	if (!lpl_reserve(decoder->op, decoder->op_room, decoder->ops + 1 + LPL_RUN_WORDS_MAX))
		return no_memory(decoder);
	reading.word = &decoder->op[decoder->ops + 1];
	if (decoder->yes[LPL_RUN_SHAPE] > 0) {
		decoder->yes[LPL_RUN_SHAPE]--;
		error = get_expected(decoder, &reading, token);
	} else {
		error = get_gap(decoder, LPL_RUN_SHAPE) ?
			get_unexpected(decoder, &reading, token) :
			damaged(decoder, "a column holds too little");
	}
	if (error != LPL_OK)
		return error;
	refs = reading.refs + token->fetched;
	if (token->fetched > 0 && lpl_trace_crosses(trace))
		refs++;
	if (refs == 0)
		return damaged(decoder, "a run without references");
	if (!advance(decoder, &reading, token->fetched))
		return damaged(decoder, "a run is out of order");
	decoder->op[decoder->ops] = LPL_RUN_OP(token->trace, token->first, token->fetched,
					       reading.words);
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
	if (!lpl_reserve(decoder->op, decoder->op_room, decoder->ops + LPL_STATE_OP_WORDS))
		return no_memory(decoder);
	op = &decoder->op[decoder->ops];
	op[0] = LPL_STATE_OP;
	op[1] = now->state.space;
	op[2] = now->state.user;
	op[3] = now->state.cycle_offset;
	op[4] = now->next_instr;
	decoder->ops += LPL_STATE_OP_WORDS;
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
	if (!lpl_reserve(decoder->op, decoder->op_room, decoder->ops + LPL_ANY_OP_WORDS))
		return no_memory(decoder);
	decoder->op[decoder->ops] = LPL_ANY_OP;
	memcpy(&decoder->op[decoder->ops + 1], &ref, sizeof(ref));
	decoder->ops += LPL_ANY_OP_WORDS;
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
		uint32_t token = 0;
		enum lpl_error error = get_token(decoder, &token);
		bool is_state = token >= LPL_TOKEN_STATE && token < LPL_TOKEN_RUNS;

		if (error != LPL_OK)
			return error;
		if (decoder->ops > LPL_OP_WORDS_MAX)
			return damaged(decoder, "it has more runs than a chunk may");
		if (is_state && after_state)
			return damaged(decoder, "a state follows a state");
		after_state = is_state;
		error = is_state ? get_state(decoder, token - LPL_TOKEN_STATE + 1) :
			token == LPL_TOKEN_ANY ? get_any(decoder) : get_run(decoder, token);
		if (error != LPL_OK)
			return error;
	}
	return decoder->refs == refs ? LPL_OK :
	       damaged(decoder, "a run goes on behind an event or the end");
}
