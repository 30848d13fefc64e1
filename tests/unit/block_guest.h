/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A guest that executes instruction traces, made from a seed: what it sends is blocks, as a
 * simulator would, and what these stand for it keeps as references, by the words of
 * laplace/codec/block.h and not by its code.
 */
#ifndef LAPLACE_TESTS_BLOCK_GUEST_H
#define LAPLACE_TESTS_BLOCK_GUEST_H

#include "codec/block.h"
#include "stream.h"

#define GUEST_TRACES 60
#define GUEST_WORDS 20000

struct block_guest {
	struct lpl_block_sink *out;
	struct stream stream;		/* what was sent, as references and events */
	uint64_t random;
	bool calm;			/* everything is as it was before */
	struct lpl_instruction_trace trace[GUEST_TRACES];
	unsigned int defined;
	struct lpl_block_state state;
	uint64_t instr;			/* of the next block */
	uint64_t last_instr, last_cycle, ref;
	uint64_t pointer[8];		/* where data is referred to */
	/* blocks that are still to be sent, as words */
	uint64_t word[GUEST_WORDS];
	size_t words;
	uint64_t words_instr;		/* the count that they begin with */
	size_t fast, slow;		/* blocks of them that were taken as such, or not */
};

/* Of what is rare, 0 makes it happen; never while it is calm. */
static inline uint64_t guest_dice(struct block_guest *guest, uint64_t sides)
{
	return guest->calm ? 1 : next_random(&guest->random) % sides;
}

static inline void guest_sent(int error, const struct lpl_report *report)
{
	if (error != LPL_OK)
		fail_msg("%s", report->text);
}

/* How long the block is that begins at a word: its trace's word, and its data words. */
static inline size_t guest_run_length(const uint64_t *word)
{
	size_t length = 1;

	while (word[length] >> 56 != LPL_WORD_TRACE)
		length++;
	return length;
}

/* Send the blocks that wait: as words while they are taken so, else one as itself. */
static inline void guest_flush(struct block_guest *guest)
{
	struct lpl_report report = { .error = LPL_OK };
	uint64_t *word = guest->word, *end = word + guest->words, instr = guest->words_instr;

	if (guest->words == 0)
		return;
	*end++ = UINT64_C(0x80) << 56 | (guest->instr & 255) << 48 | 1;
	while (word + 1 < end) {
		uint64_t instructions, refs;
		size_t taken = guest->out->words(guest->out, word, end, &instructions, &refs);
		size_t length;

		for (size_t at = 0; at < taken; at += length, guest->fast++) {
			length = guest_run_length(word + at);
			refs -= length - 1;
		}
		if (taken > 0) {
			instr += instructions;
			assert_int_equal(refs, instructions);	/* which are fetches */
			assert_int_equal(word[taken] >> 48, 0x8000 | (instr & 255));
			word += taken;
			continue;
		}
		length = guest_run_length(word);
		guest_sent(guest->out->block(guest->out, &(struct lpl_block){
			.trace = (uint32_t)*word - 1, .words = (uint32_t)length - 1, .word = word + 1,
			.fetched = (uint8_t)((word[length] >> 48) - (*word >> 48)) }, &report),
			   &report);
		instr += (uint8_t)((word[length] >> 48) - (*word >> 48));
		word += length;
		guest->slow++;
	}
	assert_int_equal(instr, guest->instr);
	guest->words = 0;
}

static inline struct lpl_ref *guest_note(struct block_guest *guest, uint64_t instr)
{
	struct lpl_ref *r = &stream_add(&guest->stream)->ref;

	r->ref = ++guest->ref;
	r->instr = instr;
	r->cycle = instr + guest->state.cycle_offset;
	r->space = guest->state.space;
	guest->last_instr = instr;
	guest->last_cycle = r->cycle;
	return r;
}

static inline void guest_define(struct block_guest *guest, unsigned int number)
{
	struct lpl_instruction_trace *trace = &guest->trace[number];
	struct lpl_report report = { .error = LPL_OK };
	unsigned int offset = (unsigned int)guest_dice(guest, 4096);

	memset(trace, 0, sizeof(*trace));
	trace->address = (guest_dice(guest, 2) ? UINT64_C(0xffffffff81000000) : 0x400000) +
			 guest_dice(guest, 20) * 4096 + offset;
	do {
		unsigned int length = 1 + (unsigned int)guest_dice(guest, 15);

		if (trace->count > 0 && offset + length > 4096)
			break;
		trace->length[trace->count++] = (uint8_t)length;
		offset += length;
	} while (trace->count < LPL_TRACE_MAX && offset < 4096 && guest_dice(guest, 12));
	guest_flush(guest);
	guest_sent(guest->out->define(guest->out, number, trace, &report), &report);
	if (number == guest->defined)
		guest->defined++;
}

static inline void guest_state(struct block_guest *guest)
{
	struct lpl_report report = { .error = LPL_OK };

	if (guest_dice(guest, 3) == 0)
		guest->state.space = guest_dice(guest, 4) + 7;
	if (guest_dice(guest, 2) == 0)
		guest->state.user = !guest->state.user;
	if (guest_dice(guest, 3) == 0)
		guest->state.cycle_offset += guest_dice(guest, 1000);
	guest_flush(guest);
	guest_sent(guest->out->state(guest->out, &guest->state, &report), &report);
}

static inline void guest_at(struct block_guest *guest, uint64_t instr)
{
	struct lpl_report report = { .error = LPL_OK };

	guest_flush(guest);
	guest->instr = instr;
	guest_sent(guest->out->at(guest->out, instr, &report), &report);
}

/* A data reference, as a word, and in the stream. */
static inline void guest_data(struct block_guest *guest, uint64_t instr, unsigned int site,
			      uint64_t *word, uint32_t *words)
{
	static const uint16_t lengths[] = { 1, 2, 4, 8, 16, 10, 32, 64 };
	unsigned int class = guest_dice(guest, 40) && site % 31 ? (site * 7 + 1) % 7 : 7;
	bool write = guest_dice(guest, 30) ? site & 1 : guest_dice(guest, 2);
	bool walk = guest_dice(guest, 60) == 0, second = !walk && guest_dice(guest, 50) == 0;
	bool supervisor = !walk && guest->state.user &&
			  (guest_dice(guest, 20) == 0 || site % 11 == 0);
	uint64_t *pointer = &guest->pointer[site % 8], address;
	struct lpl_ref *r;

	if (guest_dice(guest, 9) == 0)
		*pointer = (uint64_t)((int64_t)(next_random(&guest->random) << 16) >> 16) >>
			   (guest_dice(guest, 2) * 20);
	else if (site % 3 == 0)
		*pointer += lengths[class];
	address = (uint64_t)((int64_t)(*pointer << 16) >> 16);
	r = guest_note(guest, instr);
	r->address = address;
	r->type = walk ? LPL_WALK_READ + write : write ? LPL_WRITE : LPL_READ;
	r->flags = (guest->state.user && !walk && !supervisor ? LPL_USER : 0) |
		   (second ? LPL_SECOND : 0);
	r->length = class < 7 ? lengths[class] : (uint16_t)(1 + guest_dice(guest, 4096));
	if (walk)
		r->space = 0;
	word[(*words)++] = (address & ((UINT64_C(1) << 48) - 1)) | (instr & 255) << 48 |
		(write ? UINT64_C(1) << 56 : 0) | (uint64_t)class << 57 |
		(second ? UINT64_C(1) << 60 : 0) | (supervisor ? UINT64_C(1) << 61 : 0) |
		(walk ? 0 : UINT64_C(1) << 62);
	if (class == 7)
		word[(*words)++] = r->length;
}

static inline void guest_fetch(struct block_guest *guest, const struct lpl_instruction_trace *trace,
			       unsigned int index, uint64_t instr)
{
	uint64_t address = trace->address;
	unsigned int parts[2];

	for (unsigned int i = 0; i < index; i++)
		address += trace->length[i];
	parts[0] = trace->length[index];
	parts[1] = 0;
	if ((address & 4095) + parts[0] > 4096) {
		parts[1] = (unsigned int)((address & 4095) + parts[0] - 4096);
		parts[0] -= parts[1];
	}
	for (int i = 0; i < 2 && parts[i] > 0; i++) {
		struct lpl_ref *r = guest_note(guest, instr);

		r->type = LPL_FETCH;
		r->address = address + (i ? parts[0] : 0);
		r->length = (uint16_t)parts[i];
		r->flags = (guest->state.user ? LPL_USER : 0) | (i ? LPL_SECOND : 0);
	}
}

/* May it be sent as words?  Then it waits. */
static inline bool guest_waits(struct block_guest *guest, const struct lpl_block *block)
{
	if (block->first > 0 || block->fetched == 0 ||
	    guest->words + block->words + 2 > GUEST_WORDS)
		return false;
	if (guest->words == 0)
		guest->words_instr = guest->instr;
	guest->word[guest->words++] = UINT64_C(0x80) << 56 | (guest->instr & 255) << 48 |
				      (block->trace + 1);
	memcpy(&guest->word[guest->words], block->word, block->words * sizeof(*block->word));
	guest->words += block->words;
	return true;
}

/* A part of a trace, or all of it; with a repeated instruction at its end, now and then. */
static inline void guest_block(struct block_guest *guest, unsigned int number)
{
	const struct lpl_instruction_trace *trace = &guest->trace[number];
	static uint64_t word[LPL_BLOCK_WORDS_MAX];
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_block block = { .trace = number, .word = word };
	uint64_t count = guest->instr;
	unsigned int repeats = number % 16 == 7 ? 2 :
			       guest_dice(guest, 15) ? 0 : (unsigned int)guest_dice(guest, 250);
	unsigned int last = 0;

	block.first = (uint8_t)(guest_dice(guest, 8) ? 0 : guest_dice(guest, trace->count));
	block.fetched = (uint8_t)(trace->count - block.first);
	if (guest_dice(guest, 5) == 0)
		block.fetched = (uint8_t)guest_dice(guest, block.fetched + 1U);
	for (unsigned int i = 0; i < block.fetched; i++) {
		unsigned int index = block.first + i;

		count = guest->instr + i;
		last = index;
		guest_fetch(guest, trace, index, count);
		for (unsigned int n = (number + index) % 3; n > 0; n--)
			if (guest_dice(guest, 20))
				guest_data(guest, count, number * 3 + index + n, word, &block.words);
	}
	while (block.words + 4 < LPL_BLOCK_WORDS_MAX &&
	       ((block.fetched == 0 && block.words == 0) || repeats > 0)) {
		/* iterations that count, or are done at once */
		if (guest_dice(guest, 3) && count < guest->instr + 255)
			count += guest_dice(guest, 40) ? 1 : guest_dice(guest, guest->instr + 256 - count);
		guest_data(guest, count, number + last, word, &block.words);
		if (guest_dice(guest, 2))
			guest_data(guest, count, number + last + 3, word, &block.words);
		repeats -= repeats > 0;
	}
	if (!guest_waits(guest, &block)) {
		guest_flush(guest);
		guest_sent(guest->out->block(guest->out, &block, &report), &report);
	}
	guest->instr += block.fetched;
	if (guest->last_instr >= guest->instr)
		guest_at(guest, guest->last_instr + guest_dice(guest, 2));
}

/* References without a fetch, of whatever kind. */
static inline void guest_loose(struct block_guest *guest)
{
	struct lpl_report report = { .error = LPL_OK };
	size_t count = 1 + guest_dice(guest, 9), first = guest->stream.count;
	uint64_t instr = guest->instr > guest->last_instr && guest_dice(guest, 2) ?
			 guest->instr : guest->last_instr;
	static struct lpl_ref refs[16];
	uint64_t word[32];
	uint32_t words = 0;

	for (size_t i = 0; i < count; i++) {
		struct lpl_ref *r;

		guest_data(guest, instr, 5 + (unsigned int)i, word, &words);
		r = &guest->stream.items[guest->stream.count - 1].ref;
		if (guest_dice(guest, 8) == 0)
			r->address = next_random(&guest->random);
		if (guest_dice(guest, 8) == 0)
			r->space = 99;
		if (guest_dice(guest, 8) == 0)
			r->flags ^= LPL_USER;
		if (guest_dice(guest, 20) == 0)
			r->type = LPL_FETCH;
		instr += guest_dice(guest, 4) == 0;
	}
	for (size_t i = 0; i < count; i++)
		refs[i] = guest->stream.items[first + i].ref;
	guest_flush(guest);
	guest_sent(guest->out->loose(guest->out, refs, count, &report), &report);
	if (guest->instr <= guest->last_instr)
		guest_at(guest, guest->last_instr + guest_dice(guest, 2));
}

static inline void guest_event(struct block_guest *guest)
{
	struct lpl_report report = { .error = LPL_OK };
	struct item *item = stream_add(&guest->stream);

	item->is_event = true;
	random_event(&item->event, &guest->random);
	item->event.ref = guest->ref;
	item->event.instr = guest->last_instr;
	item->event.cycle = guest->last_cycle;
	guest_flush(guest);
	guest_sent(guest->out->event(guest->out, &item->event, &report), &report);
}

/* All was forgotten: the same code is elsewhere now. */
static inline void guest_moves(struct block_guest *guest)
{
	struct lpl_report report = { .error = LPL_OK };

	for (unsigned int i = 0; i < guest->defined; i++) {
		guest->trace[i].address += 0x100000;
		guest_sent(guest->out->define(guest->out, i, &guest->trace[i], &report), &report);
	}
}

/* Some `steps` of all that there is. */
static inline void guest_play(struct block_guest *guest, struct lpl_block_sink *out, size_t steps,
			      uint64_t seed)
{
	struct lpl_report report = { .error = LPL_OK };
	unsigned int number = 0;

	memset(guest, 0, sizeof(*guest));
	stream_init(&guest->stream);
	guest->out = out;
	guest->random = seed;
	guest_at(guest, guest_dice(guest, 1000));
	for (size_t i = 0; i < steps; i++) {
		guest->calm = guest->defined > 0 && i / 300 % 2 == 1;
		if (guest_dice(guest, 1500) == 0 || (guest->calm && i % 300 == 200)) {
			guest_flush(guest);
			guest_sent(out->forget(out, &report), &report);
			guest_moves(guest);
		}
		if (guest->defined == 0 ||
		    (guest->defined < GUEST_TRACES && guest_dice(guest, 10) == 0))
			guest_define(guest, guest->defined);
		else if (guest_dice(guest, 200) == 0)	/* other code in its place */
			guest_define(guest, (unsigned int)guest_dice(guest, guest->defined));
		if (guest_dice(guest, 40) == 0)
			guest_state(guest);
		if (guest_dice(guest, 60) == 0)
			guest_at(guest, guest->instr + guest_dice(guest, 400));
		if (guest_dice(guest, 50) == 0)
			guest_loose(guest);
		if (guest_dice(guest, 100) == 0)
			guest_event(guest);
		number = (unsigned int)((guest_dice(guest, 6) ? number + 1 : guest_dice(guest, 60)) %
					guest->defined);
		guest_block(guest, number);
	}
	guest_flush(guest);
}

#endif
