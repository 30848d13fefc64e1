/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From references to blocks. */
#include <assert.h>
#include <string.h>

#include "base/try.h"
#include "block_finder.h"

#define ALTERNATIVES	8	/* codes kept at one address, of different spaces */

void lpl_block_finder_init(struct lpl_block_finder *finder, struct lpl_block_packer *out)
{
	memset(finder, 0, sizeof(*finder));
	finder->out = out;
	out->hashed_before = true;
	lpl_map_init(&finder->numbers, 2);
}

void lpl_block_finder_free(struct lpl_block_finder *finder)
{
	lpl_map_free(&finder->numbers);
}

/* ---- traces ---- */

static bool agrees(const struct lpl_instruction_trace *a, const struct lpl_instruction_trace *b)
{
	return memcmp(a->length, b->length, a->count < b->count ? a->count : b->count) == 0;
}

/* Numbers are used up: all of them begin again. */
static void start_over(struct lpl_block_finder *finder)
{
	lpl_map_free(&finder->numbers);
	lpl_map_init(&finder->numbers, 2);
	lpl_block_packer_forget(finder->out);
}

/* The number of the trace that the block's instructions are of, which is longer from now on. */
static enum lpl_error find_number(struct lpl_block_finder *finder, struct lpl_report *report)
{
	struct lpl_block_packer *out = finder->out;
	uint64_t *value = NULL;

	if (out->traces == LPL_TRACES_MAX)
		start_over(finder);
	for (uint64_t i = 0; i < ALTERNATIVES; i++) {
		value = lpl_map_reach(&finder->numbers, LPL_KEY(finder->code.address, i));
		if (!value)
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory to pack blocks");
		if (*value == 0 || agrees(&out->trace[*value - 1].code, &finder->code))
			break;
	}
	if (*value == 0)
		*value = out->traces + 1;
	finder->number = (uint32_t)*value - 1;
	if (finder->number < out->traces) {
		const struct lpl_instruction_trace *known = &out->trace[finder->number].code;

		if (agrees(known, &finder->code) && known->count >= finder->code.count)
			return LPL_OK;
	}
	return lpl_block_packer_define(out, finder->number, &finder->code, report);
}

/* ---- blocks ---- */

enum lpl_error lpl_block_finder_flush(struct lpl_block_finder *finder, struct lpl_report *report)
{
	struct lpl_block_packer *out = finder->out;
	struct lpl_block block = { .first = finder->first, .words = finder->words,
				   .word = finder->word, .fetched = finder->code.count };
	enum lpl_error error = LPL_OK;

	if (!finder->open)
		return LPL_OK;
	finder->open = false;
	if (block.fetched > 0)
		error = find_number(finder, report);
	if (error != LPL_OK || (block.fetched == 0 && block.words == 0))
		return error;
	block.trace = finder->number;
	out->state = finder->state;
	out->next_instr = finder->instr;
	error = lpl_block_packer_block(out, &block, report);
	/* what may still come of its last instruction */
	finder->first = (uint8_t)(block.first + (block.fetched > 0 ? block.fetched - 1 : 0));
	return error;
}

static bool is_walk(const struct lpl_ref *r)
{
	return r->type == LPL_WALK_READ || r->type == LPL_WALK_WRITE;
}

/* Does it follow on the last reference, in the block's state? */
static bool goes_on(const struct lpl_block_finder *finder, const struct lpl_ref *r)
{
	return finder->open && r->ref == finder->last_ref + 1 && r->instr >= finder->last_instr &&
	       r->cycle - r->instr == finder->state.cycle_offset &&
	       (is_walk(r) || r->space == finder->state.space);
}

static bool is_fetch(const struct lpl_ref *r)
{
	return r->type == LPL_FETCH && !(r->flags & ~(LPL_USER | LPL_SECOND)) &&
	       r->length > 0 && r->length <= LPL_INSTRUCTION_MAX && r->reserved == 0 &&
	       lpl_is_canonical(r->address);
}

/* The other part of the one instruction fetched so far, which ends with its page? */
static bool is_second(const struct lpl_block_finder *finder, const struct lpl_ref *r)
{
	return r->flags & LPL_SECOND && finder->code.count == 1 && finder->words == 0 &&
	       !finder->crossing && r->address == finder->next_address &&
	       (r->address & 0xfff) == 0 && r->instr == finder->instr &&
	       finder->code.length[0] + r->length <= LPL_INSTRUCTION_MAX;
}

/* The next instruction of the block? */
static bool is_next(const struct lpl_block_finder *finder, const struct lpl_ref *r)
{
	return !(r->flags & LPL_SECOND) && finder->code.count > 0 &&
	       finder->code.count < LPL_TRACE_MAX && !finder->crossing &&
	       r->address == finder->next_address && (r->address & 0xfff) != 0 &&
	       (r->address & 0xfff) + r->length <= 0x1000 &&
	       r->instr == finder->instr + finder->code.count &&
	       finder->last_instr < r->instr;
}

static void noted(struct lpl_block_finder *finder, const struct lpl_ref *r)
{
	finder->last_instr = r->instr;
	finder->last_ref = r->ref;
}

static void begin(struct lpl_block_finder *finder, const struct lpl_ref *r)
{
	finder->open = true;
	finder->crossing = false;
	finder->code.count = 0;
	finder->words = 0;
	finder->state.cycle_offset = r->cycle - r->instr;
	if (!is_walk(r))
		finder->state.space = r->space;
	finder->instr = r->instr;
	finder->last_instr = r->instr;
}

static void add_instruction(struct lpl_block_finder *finder, const struct lpl_ref *r)
{
	assert(finder->code.count < LPL_TRACE_MAX && r->length <= LPL_INSTRUCTION_MAX);
	finder->code.length[finder->code.count++] = (uint8_t)r->length;
	finder->next_address = r->address + r->length;
	noted(finder, r);
}

static enum lpl_error take_fetch(struct lpl_block_finder *finder, const struct lpl_ref *r,
				 struct lpl_report *report)
{
	bool follows = goes_on(finder, r) && !!(r->flags & LPL_USER) == finder->state.user;

	if (follows && is_second(finder, r)) {
		finder->code.length[0] = (uint8_t)(finder->code.length[0] + r->length);
		finder->crossing = true;
		noted(finder, r);
		return LPL_OK;
	}
	if (follows && is_next(finder, r)) {
		add_instruction(finder, r);
		return LPL_OK;
	}
	LPL_TRY(lpl_block_finder_flush(finder, report));
	if (r->flags & LPL_SECOND || r->ref != finder->out->packed.ref + 1 ||
	    finder->out->packed.event_ref > finder->out->packed.ref ||
	    (r->address & 0xfff) + r->length > 0x1000)
		return lpl_block_packer_loose(finder->out, r, 1, report);
	begin(finder, r);
	finder->state.user = r->flags & LPL_USER;
	finder->code.address = r->address;
	finder->first = 0;
	add_instruction(finder, r);
	return LPL_OK;
}

static bool add_word(struct lpl_block_finder *finder, const struct lpl_ref *r)
{
	uint64_t word[2];

	if (!goes_on(finder, r) || r->instr - finder->instr > 255 ||
	    finder->words + 2 > LPL_BLOCK_WORDS_MAX ||
	    !lpl_block_word_of_ref(r, finder->state.user, word))
		return false;
	finder->word[finder->words++] = word[0];
	if (word[1] != 0)
		finder->word[finder->words++] = word[1];
	assert(finder->words <= LPL_BLOCK_WORDS_MAX);
	noted(finder, r);
	return true;
}

static enum lpl_error take_data(struct lpl_block_finder *finder, const struct lpl_ref *r,
				struct lpl_report *report)
{
	bool was_open = finder->open;

	if (add_word(finder, r))
		return LPL_OK;
	LPL_TRY(lpl_block_finder_flush(finder, report));
	/* of a repeated instruction there may be any number */
	if (was_open && r->ref == finder->out->packed.ref + 1) {
		begin(finder, r);
		finder->last_ref = r->ref - 1;
		if (add_word(finder, r))
			return LPL_OK;
		finder->open = false;
	}
	return lpl_block_packer_loose(finder->out, r, 1, report);
}

enum lpl_error lpl_block_finder_refs(struct lpl_block_finder *finder, const struct lpl_ref *refs,
				     size_t count, struct lpl_report *report)
{
	enum lpl_error error = LPL_OK;

	lpl_stream_hash_refs(&finder->out->hash, refs, count);
	for (size_t i = 0; i < count && error == LPL_OK; i++)
		error = is_fetch(&refs[i]) ? take_fetch(finder, &refs[i], report) :
					     take_data(finder, &refs[i], report);
	return error;
}
