/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an instruction is: its text, where it may go on, and which registers it reads and writes.
 *
 * Zydis knows the processor's instructions.  It is optional: without it no decoder can be opened.
 */
#ifndef LAPLACE_DECODE_DECODER_H
#define LAPLACE_DECODE_DECODER_H

#include <laplace/code.h>

#define LPL_DISASSEMBLY_SIZE	160	/* of an instruction's text, with the byte that ends it */

struct lpl_decoder;

/* LPL_ERR_UNSUPPORTED: Laplace was built without Zydis; LPL_ERR_MEMORY. */
enum lpl_error lpl_decoder_open(struct lpl_decoder **decoder, struct lpl_report *report);
void lpl_decoder_close(struct lpl_decoder *decoder);	/* NULL is fine */

/* The instruction, of which the bytes are known, in the words of AT&T's assembler; "(bad)", if it is none. */
const char *lpl_disassemble(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
			    char text[LPL_DISASSEMBLY_SIZE]);

#endif
