/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a block to the references that it stands for, and back. */
#include <string.h>

#include "block_expand.h"

/* By length class; the last one's is in the next word. */
static const uint16_t class_length[8] = { 1, 2, 4, 8, 16, 10, 32, 0 };

/* What the references of a block have in common, and where they go. */
struct expansion {
	struct lpl_ref *out;
	uint64_t ref, offset, space;
	bool user;
};

static inline void put(struct expansion *to, uint64_t instr, uint64_t address, enum lpl_type type,
		       unsigned int flags, unsigned int length)
{
	*to->out++ = (struct lpl_ref){
		.ref = ++to->ref, .instr = instr, .cycle = instr + to->offset,
		.address = address, .space = to->space,
		.type = (uint8_t)type, .flags = (uint8_t)flags, .length = (uint16_t)length,
	};
}

static inline void put_fetch(struct expansion *to, uint64_t instr, uint64_t address,
			     unsigned int length)
{
	unsigned int left = 0x1000 - (unsigned int)(address & 0xfff);
	unsigned int mode = to->user ? LPL_USER : 0;

	if (length <= left) {
		put(to, instr, address, LPL_FETCH, mode, length);
		return;
	}
	put(to, instr, address, LPL_FETCH, mode, left);
	put(to, instr, address + left, LPL_FETCH, mode | LPL_SECOND, length - left);
}

static inline unsigned int offset_of(uint64_t word, uint64_t instr)
{
	return (uint8_t)((word >> LPL_WORD_COUNT_SHIFT) - instr);
}

/*
 * A data word of a block that begins at the count `from`, and its length if that is a word of its
 * own; returns what follows.
 */
static inline const uint64_t *put_data(struct expansion *to, uint64_t from, const uint64_t *at)
{
	uint64_t word = *at++, instr = from + offset_of(word, from);
	uint64_t address = (uint64_t)((int64_t)(word << (64 - LPL_WORD_ADDRESS_BITS)) >>
				      (64 - LPL_WORD_ADDRESS_BITS));
	unsigned int write = (word & LPL_WORD_WRITE) != 0;
	unsigned int class = word >> LPL_WORD_LENGTH_SHIFT & 7;
	unsigned int length = class != LPL_WORD_LONG ? class_length[class] : (unsigned int)*at++;

	if (word & LPL_WORD_DATA) {
		bool user = to->user && !(word & LPL_WORD_SUPERVISOR);

		put(to, instr, address, write ? LPL_WRITE : LPL_READ,
		    (user ? LPL_USER : 0) | (word & LPL_WORD_SECOND ? LPL_SECOND : 0), length);
	} else {
		put(to, instr, address, write ? LPL_WALK_WRITE : LPL_WALK_READ,
		    word >> LPL_WORD_WALK_SHIFT & LPL_WALK_FLAGS, length);
		to->out[-1].space = 0;
	}
	return at;
}

size_t lpl_block_expand(const struct lpl_instruction_trace *trace, const struct lpl_block *block,
			const struct lpl_block_state *state, uint64_t instr, uint64_t ref,
			struct lpl_ref *out)
{
	struct expansion to = { .out = out, .ref = ref, .offset = state->cycle_offset,
				.space = state->space, .user = state->user };
	const uint64_t *word = block->word, *end = word + block->words;
	uint64_t address = trace->address;

	for (unsigned int i = 0; i < block->first; i++)
		address += trace->length[i];
	for (unsigned int i = 0; i <= block->fetched; i++) {
		unsigned int upto = UINT8_MAX;	/* after the last fetch all that is left */

		if (i < block->fetched) {
			unsigned int length = trace->length[block->first + i];

			put_fetch(&to, instr + i, address, length);
			address += length;
			upto = i;
		}
		while (word < end && offset_of(*word, instr) <= upto)
			word = put_data(&to, instr, word);
	}
	return (size_t)(to.out - out);
}

/* ---- back ---- */

static unsigned int length_class(unsigned int length)
{
	static const uint8_t class_of[33] = { 7, 0, 1, 7, 2, 7, 7, 7, 3, 7, 5, 7, 7, 7, 7, 7, 4,
					      7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6 };

	return length <= 32 ? class_of[length] : LPL_WORD_LONG;
}

bool lpl_word_of_ref(const struct lpl_ref *r, bool user, uint64_t word[2])
{
	uint64_t address = r->address & ((UINT64_C(1) << LPL_WORD_ADDRESS_BITS) - 1);
	unsigned int class = length_class(r->length);
	bool walk = r->type == LPL_WALK_READ || r->type == LPL_WALK_WRITE;
	bool write = r->type == LPL_WRITE || r->type == LPL_WALK_WRITE;

	if (r->type == LPL_FETCH || r->type >= LPL_TYPES || r->reserved != 0 ||
	    r->flags & ~(walk ? LPL_WALK_FLAGS : LPL_USER | LPL_SECOND) || r->length == 0 ||
	    !lpl_is_canonical(r->address) || (walk ? r->space != 0 : r->flags & LPL_USER && !user))
		return false;
	word[0] = address | (r->instr & 0xff) << LPL_WORD_COUNT_SHIFT |
		  (uint64_t)class << LPL_WORD_LENGTH_SHIFT | (write ? LPL_WORD_WRITE : 0);
	if (walk)
		word[0] |= (uint64_t)r->flags << LPL_WORD_WALK_SHIFT;
	else
		word[0] |= LPL_WORD_DATA | (r->flags & LPL_SECOND ? LPL_WORD_SECOND : 0) |
			   (user && !(r->flags & LPL_USER) ? LPL_WORD_SUPERVISOR : 0);
	word[1] = class == LPL_WORD_LONG ? r->length : 0;
	return true;
}

bool lpl_block_word_of_ref(const struct lpl_ref *r, bool user, uint64_t word[2])
{
	return lpl_word_of_ref(r, user, word) && word[0] >> LPL_CODE_SHIFT != LPL_CODE_REPEAT;
}

bool lpl_block_scan(const struct lpl_block *block, uint8_t low, bool user,
		    struct lpl_block_data *data)
{
	const uint64_t *at = block->word, *end = at + block->words;
	uint64_t bad = 0;
	unsigned int before = 0;	/* offset of the word before */
	uint32_t references = 0, made = 0, written = 0, writes = 0, supervisors = 0;

	for (; at < end; at++, references++) {
		const uint64_t word = *at;
		const unsigned int offset = (uint8_t)((word >> LPL_WORD_COUNT_SHIFT) - low);
		const unsigned int by_code = word >> 62 & 1, write = word >> 56 & 1;

		bad |= (offset < before) | word >> 63 | (word >> LPL_CODE_SHIFT == LPL_CODE_REPEAT);
		before = offset;
		made += by_code;
		written += write;
		writes += by_code & write;
		supervisors += word >> 61 & by_code;
		if ((word >> LPL_WORD_LENGTH_SHIFT & 7) == LPL_WORD_LONG) {
			if (++at == end)
				return false;
			bad |= *at == 0 || *at > 4096;
		}
	}
	data->count = references;
	data->offset = before;
	data->of_type[0] = references - made - (written - writes);
	data->of_type[1] = written - writes;
	data->of_type[2] = made - writes;
	data->of_type[3] = writes;
	data->supervisors = supervisors;
	return bad == 0 && (user || supervisors == 0);
}
