/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From blocks to chunks of packed ones. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "block_packer.h"
#include "record/flags.h"

bool lpl_block_packer_init(struct lpl_block_packer *packer)
{
	memset(packer, 0, sizeof(*packer));
	lpl_stream_hash_init(&packer->hash);
	if (lpl_block_encoder_init(&packer->encoder) && lpl_block_packer_begin(packer))
		return true;
	lpl_block_packer_free(packer);
	return false;
}

void lpl_block_packer_free(struct lpl_block_packer *packer)
{
	lpl_block_encoder_free(&packer->encoder);
	free(packer->trace);
	free(packer->in_chunk);
	packer->trace = NULL;
	packer->in_chunk = NULL;
}

bool lpl_block_packer_begin(struct lpl_block_packer *packer)
{
	packer->chunk++;
	packer->refs = 0;
	packer->packed.state = packer->state;
	packer->packed.next_instr = packer->next_instr;
	packer->begin = packer->packed;
	return lpl_block_encoder_begin(&packer->encoder);
}

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory to pack blocks");
}

static enum lpl_error out_of_order(const struct lpl_block_packer *packer,
				   struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_ORDER,
			"what follows reference %" PRIu64 " at instruction %" PRIu64
			" and cycle %" PRIu64 " is not after it", packer->packed.ref,
			packer->packed.instr, packer->packed.cycle);
}

/* ---- the dictionary ---- */

/* Does `longer` begin with all of `trace`? */
static bool goes_on(const struct lpl_instruction_trace *trace,
		    const struct lpl_instruction_trace *longer)
{
	return trace->address == longer->address && trace->count <= longer->count &&
	       memcmp(trace->length, longer->length, trace->count) == 0;
}

/* No word stands for it from now on. */
static void forget_token(struct lpl_token *token)
{
	token->word[false] = token->word[true] = LPL_WORD_NONE;
}

enum lpl_error lpl_block_packer_define(struct lpl_block_packer *packer, uint32_t number,
				       const struct lpl_instruction_trace *trace,
				       struct lpl_report *report)
{
	struct lpl_token *tokens = packer->encoder.model.token;
	struct lpl_packed_trace *entry;
	struct lpl_chunk_trace *in_chunk;

	if (number > packer->traces || number >= LPL_TRACES_MAX || !lpl_trace_is_valid(trace))
		return lpl_fail(report, LPL_ERR_USAGE, "instruction trace %u is not valid",
				(unsigned int)number);
	if (number == packer->traces) {
		if (!lpl_reserve(packer->trace, packer->trace_room, number) ||
		    !lpl_reach(packer->in_chunk, packer->in_chunk_room, number))
			return no_memory(report);
		packer->in_chunk[packer->traces++].chunk = 0;
	}
	entry = &packer->trace[number];
	in_chunk = &packer->in_chunk[number];
	/* one that only got longer keeps what was learned of it */
	if (in_chunk->chunk == packer->chunk && !goes_on(&entry->code, trace)) {
		for (uint32_t i = in_chunk->token; i != LPL_TOKEN_NONE; i = tokens[i].next)
			forget_token(&tokens[i]);
		in_chunk->chunk = 0;
	}
	entry->code = *trace;
	lpl_stream_hash_prefix(trace, entry->hash);
	return LPL_OK;
}

void lpl_block_packer_forget(struct lpl_block_packer *packer)
{
	struct lpl_block_model *model = &packer->encoder.model;

	for (size_t i = LPL_TOKEN_BLOCKS; i < model->tokens; i++)
		forget_token(&model->token[i]);
	packer->traces = 0;
}

/* ---- state ---- */

/* Pack what has changed since it was packed, unless none of that is in `mask`. */
static enum lpl_error pack_state(struct lpl_block_packer *packer, unsigned int mask,
				 struct lpl_report *report)
{
	struct lpl_block_position *packed = &packer->packed;
	unsigned int changed =
		(packed->state.space != packer->state.space ? LPL_STATE_SPACE : 0) |
		(packed->state.user != packer->state.user ? LPL_STATE_USER : 0) |
		(packed->state.cycle_offset != packer->state.cycle_offset ? LPL_STATE_OFFSET : 0) |
		(packed->next_instr != packer->next_instr ? LPL_STATE_INSTR : 0);

	if ((changed & mask) == 0)
		return LPL_OK;
	if (!lpl_block_encode_state(&packer->encoder, changed,
				    packer->state.space - packed->state.space,
				    packer->state.cycle_offset - packed->state.cycle_offset,
				    packer->next_instr - packed->next_instr))
		return no_memory(report);
	packed->state = packer->state;
	packed->next_instr = packer->next_instr;
	return LPL_OK;
}

/* References come, from one count to another.  false: before what was there. */
static bool advance(struct lpl_block_packer *packer, uint64_t first, uint64_t last, uint64_t refs)
{
	struct lpl_block_position *packed = &packer->packed;
	uint64_t offset = packed->state.cycle_offset;

	if (packed->next_instr > UINT64_MAX - 512 || first < packed->instr ||
	    first + offset < packed->cycle || last + offset < first + offset ||
	    packed->ref < packed->event_ref)
		return false;
	if (packer->refs == 0) {
		packer->first_ref = packed->ref + 1;
		packer->first_instr = first;
		packer->first_cycle = first + offset;
	}
	packed->instr = last;
	packed->cycle = last + offset;
	packed->ref += refs;
	packer->refs += refs;
	return true;
}

/* ---- blocks ---- */

static void count_block(struct lpl_block_packer *packer, const struct lpl_block_data *data,
			size_t fetches)
{
	packer->of_type[LPL_FETCH] += fetches;
	packer->of_type[LPL_WALK_READ] += data->of_type[0];
	packer->of_type[LPL_WALK_WRITE] += data->of_type[1];
	packer->of_type[LPL_READ] += data->of_type[2];
	packer->of_type[LPL_WRITE] += data->of_type[3];
	if (packer->state.user)
		packer->users += fetches + data->of_type[2] + data->of_type[3] -
				 data->supervisors;
}

/* Blocks that were taken as words, as expected: add them up. */
static void settle(struct lpl_block_packer *packer, struct lpl_token *token)
{
	const uint64_t times = (uint64_t)token->times[false] + token->times[true];

	packer->of_type[LPL_FETCH] += times * token->fetched;
	packer->of_type[LPL_WALK_READ] += times * token->of_type[0];
	packer->of_type[LPL_WALK_WRITE] += times * token->of_type[1];
	packer->of_type[LPL_READ] += times * token->of_type[2];
	packer->of_type[LPL_WRITE] += times * token->of_type[3];
	packer->users += (uint64_t)token->times[true] *
			 ((uint64_t)token->fetched + token->of_type[2] + token->of_type[3] -
			  token->supervisors);
	token->times[false] = token->times[true] = 0;
}

void lpl_block_packer_count(struct lpl_block_packer *packer)
{
	struct lpl_block_model *model = &packer->encoder.model;

	for (size_t i = LPL_TOKEN_BLOCKS; i < model->tokens; i++)
		settle(packer, &model->token[i]);
}

/*
 * A block was packed: what its token says has changed, if it was not `expected`.  The next one that
 * is just the same may come as words, if it is a trace from its beginning, with nothing in it
 * that has to be looked at.
 */
static void prepare_words(struct lpl_block_packer *packer, uint32_t number,
			  const struct lpl_packed_trace *entry, const struct lpl_block *block,
			  const struct lpl_block_data *data, bool expected)
{
	struct lpl_token *token = &packer->encoder.model.token[number];

	if (!expected) {
		settle(packer, token);
		forget_token(token);
	}
	if (block->first > 0 || data->offset >= block->fetched || data->count != token->listed ||
	    data->count != block->words || lpl_trace_crosses(&entry->code))
		return;
	for (int i = 0; i < 4; i++)
		token->of_type[i] = (uint8_t)data->of_type[i];
	token->supervisors = (uint8_t)data->supervisors;
	token->fetch_power = packer->hash.power[block->fetched];
	token->fetch_hash = lpl_stream_hash_part(&packer->hash, entry->hash, 0, block->fetched);
	token->word[packer->state.user] = (int32_t)block->trace + 1;
}

static enum lpl_error pack_block(struct lpl_block_packer *packer, const struct lpl_packed_trace *entry,
				 const struct lpl_block *block, const struct lpl_block_data *data,
				 struct lpl_report *report)
{
	struct lpl_block_model *model = &packer->encoder.model;
	struct lpl_chunk_trace *in_chunk = &packer->in_chunk[block->trace];
	const struct lpl_block_state *state = &packer->packed.state;
	uint64_t instr = packer->next_instr, ref = packer->packed.ref;
	size_t fetches = block->fetched;
	uint64_t first = instr, last = instr + (fetches > 0 ? fetches - 1 : 0);
	bool known, expected = false;
	uint32_t token;

	if (fetches == 1 && lpl_trace_crosses(&entry->code))
		fetches = 2;
	if (fetches == 0)
		first += (uint8_t)((block->word[0] >> LPL_WORD_COUNT_SHIFT) - instr);
	if (data->count > 0 && instr + data->offset > last)
		last = instr + data->offset;
	if (!advance(packer, first, last, fetches + data->count))
		return out_of_order(packer, report);
	if (in_chunk->chunk != packer->chunk) {
		in_chunk->chunk = packer->chunk;
		in_chunk->number = (uint32_t)model->traces;
		in_chunk->token = LPL_TOKEN_NONE;
	}
	token = lpl_block_find_token(model, in_chunk->token, in_chunk->number, block);
	if (token != LPL_TOKEN_NONE)
		expected = lpl_block_is_expected(model, &model->token[token], block,
						 (uint8_t)instr);
	known = token != LPL_TOKEN_NONE;
	if (!lpl_block_encode(&packer->encoder, &token, in_chunk->number, &entry->code, block, data->count,
			      (uint8_t)instr))
		return no_memory(report);
	if (!known) {
		model->token[token].next = in_chunk->token;
		in_chunk->token = token;
	}
	prepare_words(packer, token, entry, block, data, expected);
	if (!packer->hashed_before)
		lpl_stream_hash_block(&packer->hash, &entry->code, entry->hash, block, data->count,
				      state, instr, ref);
	count_block(packer, data, fetches);
	packer->next_instr += block->fetched;
	packer->packed.next_instr = packer->next_instr;
	return LPL_OK;
}

enum lpl_error lpl_block_packer_block(struct lpl_block_packer *packer, const struct lpl_block *block,
				    struct lpl_report *report)
{
	const struct lpl_packed_trace *entry;
	struct lpl_block_data data;

	if (block->trace >= packer->traces)
		return lpl_fail(report, LPL_ERR_USAGE, "a block of trace %u, which is not defined",
				(unsigned int)block->trace);
	entry = &packer->trace[block->trace];
	if (block->first >= entry->code.count ||
	    block->first + block->fetched > entry->code.count ||
	    block->words > LPL_BLOCK_WORDS_MAX || (block->fetched == 0 && block->words == 0) ||
	    !lpl_block_scan(block, (uint8_t)packer->next_instr, packer->state.user, &data))
		return lpl_fail(report, LPL_ERR_USAGE,
				"a block after reference %" PRIu64 " is not valid",
				packer->packed.ref);
	if (!lpl_block_packer_in_step(packer))
		LPL_TRY(pack_state(packer, LPL_STATE_MASKS - 1, report));
	return pack_block(packer, entry, block, &data, report);
}

/* ---- loose references ---- */

/* Where a loose block's count begins: so that it is not far, with as few words as possible. */
static enum lpl_error pack_near(struct lpl_block_packer *packer, uint64_t instr,
				struct lpl_report *report)
{
	if (instr - packer->packed.next_instr <= 255)
		return pack_state(packer, LPL_STATE_MASKS - 1 - LPL_STATE_INSTR, report);
	return pack_state(packer, LPL_STATE_MASKS - 1, report);
}

/* May it be one of a block, in the state that is packed? */
static bool fits(const struct lpl_block_packer *packer, const struct lpl_ref *r, uint64_t ref,
		 uint64_t base, uint64_t word[2])
{
	const struct lpl_block_state *state = &packer->packed.state;
	bool walk = r->type == LPL_WALK_READ || r->type == LPL_WALK_WRITE;

	return r->ref == ref && ref > packer->packed.event_ref && r->instr - base <= 255 &&
	       r->cycle - r->instr == state->cycle_offset &&
	       (walk || r->space == state->space) && lpl_block_word_of_ref(r, state->user, word);
}

static enum lpl_error pack_any(struct lpl_block_packer *packer, const struct lpl_ref *r,
			       struct lpl_report *report)
{
	struct lpl_block_position *packed = &packer->packed;
	uint64_t before = packed->ref > packed->event_ref ? packed->ref : packed->event_ref;
	bool paged = r->flags & LPL_PAGED;

	if (r->type >= LPL_TYPES || r->flags > lpl_flags_max(r->type, paged) || r->reserved != 0 || r->length > 4096 ||
	    paged != (r->length == 0) || (paged && (r->address & 0xfff) != 0))
		return lpl_fail(report, LPL_ERR_USAGE, "reference %" PRIu64 " is out of range",
				r->ref);
	if (r->ref < before || (r->ref == before && !(r->flags & LPL_SYNTHETIC)) ||
	    r->instr < packed->instr || r->cycle < packed->cycle)
		return lpl_fail(report, LPL_ERR_ORDER, "reference %" PRIu64
				" is not after the record before it", r->ref);
	if (!lpl_block_encode_any(&packer->encoder, r, packed->next_instr,
				  packed->state.cycle_offset, packed->ref))
		return no_memory(report);
	if (packer->refs++ == 0) {
		packer->first_ref = r->ref;
		packer->first_instr = r->instr;
		packer->first_cycle = r->cycle;
	}
	packed->ref = r->ref;
	packed->instr = r->instr;
	packed->cycle = r->cycle;
	packer->of_type[r->type]++;
	packer->users += (r->flags & LPL_USER) != 0;
	if (!packer->hashed_before)
		lpl_stream_hash_refs(&packer->hash, r, 1);
	return LPL_OK;
}

enum lpl_error lpl_block_packer_loose(struct lpl_block_packer *packer, const struct lpl_ref *refs,
				      size_t count, struct lpl_report *report)
{
	uint64_t word[LPL_BLOCK_WORDS_MAX];
	enum lpl_error error = LPL_OK;
	size_t done = 0;

	while (done < count && error == LPL_OK) {
		const struct lpl_ref *first = &refs[done];
		uint64_t base, last, ref = packer->packed.ref + 1, one[2];
		struct lpl_block block = { .word = word };
		struct lpl_block_data data;
		size_t n = 0;

		error = pack_near(packer, first->instr, report);
		base = packer->packed.next_instr;
		last = packer->packed.instr;
		while (error == LPL_OK && done + n < count &&
		       block.words + 2 <= LPL_BLOCK_WORDS_MAX && refs[done + n].instr >= last &&
		       fits(packer, &refs[done + n], ref + n, base, one)) {
			last = refs[done + n].instr;
			word[block.words++] = one[0];
			if (one[1] != 0)
				word[block.words++] = one[1];
			n++;
		}
		if (error != LPL_OK)
			break;
		if (n == 0) {
			error = pack_any(packer, first, report);
			done++;
			continue;
		}
		if (!lpl_block_scan(&block, (uint8_t)base, packer->packed.state.user, &data) ||
		    !advance(packer, first->instr, last, n))
			return out_of_order(packer, report);
		if (!lpl_block_encode_loose(&packer->encoder, &block, n, (uint8_t)base))
			return no_memory(report);
		if (!packer->hashed_before)
			lpl_stream_hash_refs(&packer->hash, first, n);
		count_block(packer, &data, 0);
		done += n;
	}
	return error;
}

enum lpl_error lpl_block_packer_event(struct lpl_block_packer *packer,
				      const struct lpl_event *event, struct lpl_report *report)
{
	struct lpl_block_position *packed = &packer->packed;

	if (event->ref < packed->ref || event->ref < packed->event_ref ||
	    event->instr < packed->instr || event->cycle < packed->cycle)
		return out_of_order(packer, report);
	packed->event_ref = event->ref;
	packed->instr = event->instr;
	packed->cycle = event->cycle;
	return LPL_OK;
}
