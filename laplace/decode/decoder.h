/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an instruction is: its text, where it may go on, and which registers it reads and writes.
 *
 * Zydis knows the processor's instructions.  It is optional: without it no decoder can be opened.
 */
#ifndef LAPLACE_DECODE_DECODER_H
#define LAPLACE_DECODE_DECODER_H

#include <string.h>

#include <laplace/code.h>

/* The same bytes at the same address?  What is not known may be longer than an instruction is, and has no bytes. */
static inline bool lpl_same_instruction(const struct lpl_instruction *a, const struct lpl_instruction *b)
{
	return a->address == b->address && a->bits == b->bits &&
	       (a->bits == 0 || (a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0));
}

#define LPL_DISASSEMBLY_SIZE	160	/* of an instruction's text, with the byte that ends it */

/*
 * Where a processor may go on after an instruction.  Without a direct target that is where its registers,
 * or memory, say: also of far jumps and calls, which change the segment.
 */
enum lpl_branch {
	LPL_BRANCH_NONE,		/* at the next instruction */
	LPL_BRANCH_JUMP,		/* at the target */
	LPL_BRANCH_INDIRECT_JUMP,
	LPL_BRANCH_CONDITIONAL,		/* at the target, or at the next instruction */
	LPL_BRANCH_CALL,		/* at the target */
	LPL_BRANCH_INDIRECT_CALL,
	LPL_BRANCH_RETURN,
	LPL_BRANCH_SYSTEM_CALL,		/* in the kernel: syscall, sysenter, int and the like */
	LPL_BRANCH_SYSTEM_RETURN	/* where that was left, or interrupted: sysret, sysexit, iret */
};

struct lpl_decoded {
	enum lpl_branch branch;
	uint64_t target;		/* of a direct one; else 0 */
	bool repeats;			/* a string instruction with a prefix that repeats it */
	unsigned int reads, writes;	/* operands in memory, the stack included; of each repetition.  Hints have none */
};

struct lpl_decoder;

/* LPL_ERR_UNSUPPORTED: Laplace was built without Zydis; LPL_ERR_MEMORY. */
enum lpl_error lpl_decoder_open(struct lpl_decoder **decoder, struct lpl_report *report);
void lpl_decoder_close(struct lpl_decoder *decoder);	/* NULL is fine */

/* The instruction, of which the bytes are known, in the words of AT&T's assembler; "(bad)", if it is none. */
const char *lpl_disassemble(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
			    char text[LPL_DISASSEMBLY_SIZE]);

/* What it does; false, and zeros: it is none, or its bytes are not known. */
bool lpl_decode(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
		struct lpl_decoded *decoded);

#endif
