/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code blocks: the form in which every reference travels from a simulator to a trace.
 *
 * An *instruction trace* is straight code that a simulator keeps decoded: at most
 * LPL_TRACE_MAX instructions that follow each other in memory, all beginning on one page.  An
 * instruction that crosses a page is alone in its trace.  It is defined once, by a number,
 * and then only named.
 *
 * A *block* is one execution of such a trace, or a part of one: which of its instructions were
 * fetched, and the data references made meanwhile, a word each.  (It is what others call an
 * executed basic block.)  What holds for many blocks is sent when it changes: the address space,
 * the mode, by how much the cycle counter is ahead of the instruction count, and the instruction
 * count itself.
 *
 * The stream of references that blocks stand for (lpl_ref, record.h):
 *
 * - ref: increases by one from reference to reference.  A loose reference has its own; a
 *   recording's increase by one, too, because the writer counts them.
 * - Instruction `first + k` of the trace, for k below `fetched`, is fetched at the instruction
 *   count `instr + k`: a fetch of its address and length in the present space and mode.  If
 *   it crosses a page, it makes two fetches, the second flagged LPL_SECOND.  `instr` is what
 *   at() gave, or that of the block before plus its `fetched`.
 * - A data word holds the low byte of its instruction count, which is from `instr` to
 *   `instr + 255` and never less than that of the word before it.  It follows
 *   the fetches made at its count and before; those of a higher count follow it.
 *   (So what an instruction refers to follows its fetch, and the references
 *   of its repetitions, with counts of their own, follow the block's last fetch.)
 * - cycle: instruction count + `cycle_offset`, for each of them.
 *
 * A block may fetch nothing: then it is data references of instruction `first`, for instance more
 * repetitions of it.  Where state changes in the middle of a trace, the block is cut in two.
 */
#ifndef LAPLACE_CODEC_BLOCK_H
#define LAPLACE_CODEC_BLOCK_H

#include <laplace/error.h>
#include <laplace/record.h>

#define LPL_TRACE_MAX		32		/* instructions in a trace */
#define LPL_INSTRUCTION_MAX	15		/* bytes in an instruction */
#define LPL_TRACES_MAX		(1U << 20)	/* numbers are below */
#define LPL_BLOCK_WORDS_MAX	1024		/* data words of one block, lengths included */

/* An instruction trace. */
struct lpl_instruction_trace {
	uint64_t address;			/* linear, canonical, of the first instruction */
	uint8_t count;				/* 1 to LPL_TRACE_MAX; all on one page, or one */
	uint8_t length[LPL_TRACE_MAX];		/* of each, 1 to LPL_INSTRUCTION_MAX bytes */
};

/*
 * A data reference as a word:
 *
 *	bits 0..47	address; bit 47 extends to 63.  (Others have to be loose.)
 *	bits 48..55	low byte of the instruction count
 *	bit 56		a write
 *	bits 57..59	length: 1, 2, 4, 8, 16, 10, 32 bytes; 7: the next word is the length
 *			(a number of bytes from 1 to 4096, and nothing else)
 *	bit 60		LPL_SECOND
 *	bit 61		made by the processor itself, as supervisor; only where the mode is user
 *	bits 62..63	1; 0 for a page walk's, which are LPL_WALK_READ or LPL_WALK_WRITE:
 *			a physical address, in no space and no mode; bits 60 and 61 are
 *			LPL_WALK_FLAGS.  (A walk-read of one byte with LPL_FOR_READ has to be loose.)
 */
#define LPL_WORD_ADDRESS_BITS	48
#define LPL_WORD_COUNT_SHIFT	48
#define LPL_WORD_WRITE		(UINT64_C(1) << 56)
#define LPL_WORD_LENGTH_SHIFT	57
#define LPL_WORD_SECOND		(UINT64_C(1) << 60)
#define LPL_WORD_SUPERVISOR	(UINT64_C(1) << 61)
#define LPL_WORD_DATA		(UINT64_C(1) << 62)
#define LPL_WORD_WALK_SHIFT	56	/* of LPL_WALK_FLAGS, up to bits 60 and 61 */
#define LPL_WORD_LONG		7	/* the length class: the next word is the length */

/*
 * That a trace begins, as a word:
 *
 *	bits 0..31	its number, plus 1
 *	bits 48..55	low byte of the instruction count
 *	bits 56..63	LPL_WORD_TRACE
 */
#define LPL_WORD_TRACE		0x80

struct lpl_block {
	uint32_t trace;		/* its number */
	uint8_t first;		/* index of the first instruction */
	uint8_t fetched;	/* first + fetched is at most the trace's count; first below it */
	uint32_t words;		/* at most LPL_BLOCK_WORDS_MAX */
	const uint64_t *word;	/* only looked at during the call */
};

/* What holds for all that follows; all 0 at first. */
struct lpl_block_state {
	uint64_t space;		/* page number of the top-level page table */
	uint64_t cycle_offset;	/* cycle less instruction count, modulo 2^64 */
	bool user;		/* mode */
};

/*
 * A consumer of blocks.  Calls come in stream order, on one thread, and return an enum lpl_error;
 * after a failure nothing more may be sent.  A writer of traces is one
 * (lpl_writer_blocks(), container/block_writer.h).
 *
 * Numbers of traces are dense: one that is defined is at most one above all those defined since
 * forget(), which takes back all of them.  A number may be defined again: it means the new
 * trace from then on.
 */
struct lpl_block_sink {
	enum lpl_error (*define)(struct lpl_block_sink *sink, uint32_t number,
				 const struct lpl_instruction_trace *trace,
				 struct lpl_report *report);
	enum lpl_error (*forget)(struct lpl_block_sink *sink, struct lpl_report *report);
	enum lpl_error (*state)(struct lpl_block_sink *sink, const struct lpl_block_state *state,
				struct lpl_report *report);
	/* the instruction count of the next block's first instruction */
	enum lpl_error (*at)(struct lpl_block_sink *sink, uint64_t instr, struct lpl_report *report);
	enum lpl_error (*block)(struct lpl_block_sink *sink, const struct lpl_block *block,
				struct lpl_report *report);
	/*
	 * Blocks as words, in the state and from the instruction count that were sent: of each,
	 * which begins with its trace, the trace's word and its data words; the word of the next
	 * trace has to follow.  Takes those that it can take fast, from the first on, and says
	 * of how many instructions and references they are.  Returns the words taken, so that what
	 * is left begins with a trace's word; 0: the first one has to be sent with block().
	 * NULL: all have to.
	 */
	size_t (*words)(struct lpl_block_sink *sink, const uint64_t *word, const uint64_t *end,
			uint64_t *instructions, uint64_t *refs);
	/* references as they are, of any kind: always right, never cheap; state, and where the
	 * next block begins, stay as they were */
	enum lpl_error (*loose)(struct lpl_block_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report);
	enum lpl_error (*event)(struct lpl_block_sink *sink, const struct lpl_event *event,
				struct lpl_report *report);
};

#endif
