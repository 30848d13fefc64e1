/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a block to the references that it stands for, and back (block.h). */
#ifndef LAPLACE_CODEC_BLOCK_EXPAND_H
#define LAPLACE_CODEC_BLOCK_EXPAND_H

#include "block.h"

/* The most references that a block makes: an instruction that crosses a page makes two. */
#define LPL_BLOCK_REFS_MAX (LPL_TRACE_MAX + 1 + LPL_BLOCK_WORDS_MAX)

/* Does it cross a page?  Then it is alone in its trace, and its fetch is two. */
static inline bool lpl_trace_crosses(const struct lpl_instruction_trace *trace)
{
	return (trace->address & 0xfff) + trace->length[0] > 0x1000;
}

/* Do 48 bits give it, of which the highest extends to all above? */
static inline bool lpl_is_canonical(uint64_t address)
{
	return (uint64_t)((int64_t)(address << (64 - LPL_WORD_ADDRESS_BITS)) >>
			  (64 - LPL_WORD_ADDRESS_BITS)) == address;
}

/*
 * Is its address canonical, are its lengths such as instructions have, and does it stay on its
 * page, but for one alone?
 */
static inline bool lpl_trace_is_valid(const struct lpl_instruction_trace *trace)
{
	unsigned int end = trace->address & 0xfff;

	if (trace->count == 0 || trace->count > LPL_TRACE_MAX || !lpl_is_canonical(trace->address))
		return false;
	for (unsigned int i = 0; i < trace->count; i++) {
		if (trace->length[i] == 0 || trace->length[i] > LPL_INSTRUCTION_MAX)
			return false;
		end += trace->length[i];
	}
	return trace->count == 1 || end <= 0x1000;
}

/*
 * The references of a block, which is valid and begins at the instruction count `instr`, after the
 * reference numbered `ref`.  Returns how many, at most LPL_BLOCK_REFS_MAX.
 */
size_t lpl_block_expand(const struct lpl_instruction_trace *trace, const struct lpl_block *block,
			const struct lpl_block_state *state, uint64_t instr, uint64_t ref,
			struct lpl_ref *out);

#define LPL_CODE_SHIFT	56	/* of a word: above is its code */
#define LPL_CODE_REPEAT	0x10	/* no reference's: as many more as follow, as those two before */

/*
 * A data reference as a word, and its length where that is a word of its own (else word[1] is 0),
 * in the mode given.  Its instruction count's low byte is in it, its space and cycle are not.
 * false: it cannot be said so.
 */
bool lpl_word_of_ref(const struct lpl_ref *ref, bool user, uint64_t word[2]);
/* The same, as a block may have it.  false also if its code is taken: a walk's of one byte, for a read. */
bool lpl_block_word_of_ref(const struct lpl_ref *ref, bool user, uint64_t word[2]);

/* What a block's data words say all in all. */
struct lpl_block_data {
	size_t count;			/* of data references */
	unsigned int offset;		/* of the last one's instruction count, from the block's */
	uint32_t of_type[4];		/* walk-reads, walk-writes, reads, writes */
	uint32_t supervisors;		/* made as supervisor, in user mode */
};

/* `low`: the low byte of the block's instruction count.  false: its words are not valid. */
bool lpl_block_scan(const struct lpl_block *block, uint8_t low, bool user,
		    struct lpl_block_data *data);

#endif
