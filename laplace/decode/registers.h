/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which registers an instruction reads and writes, in the numbers that Pin has for them, which simulators of
 * processors know: 3 to 18 are rdi, rsi, rbp, rsp, rbx, rdx, rcx, rax, r8 to r15, also for their parts.
 */
#ifndef LAPLACE_DECODE_REGISTERS_H
#define LAPLACE_DECODE_REGISTERS_H

#include "decoder.h"

enum {
	LPL_REGISTER_SP = 6,
	LPL_REGISTER_FLAGS = 25,
	LPL_REGISTER_IP = 26,
	LPL_REGISTER_VECTOR = 64,	/* the first of 32 */
	LPL_REGISTER_X87 = 96,		/* the first of 8, also for MMX */
	LPL_REGISTER_MASK = 104,	/* the first of 8 */
	LPL_REGISTER_MEMORY = 127,	/* none: what an indirect branch loads from memory */
	LPL_REGISTERS = 16
};

/* Each register once, those that decide about branches (SP, FLAGS, IP) first. */
struct lpl_registers {
	unsigned int reads, writes;
	uint8_t read[LPL_REGISTERS], written[LPL_REGISTERS];
};

/* Segment, control and debug registers are left out.  false: it is no instruction. */
bool lpl_find_registers(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
			struct lpl_registers *registers);

#endif
