/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bytes of the instructions that are executed, as events of the trace (laplace/code.h).
 *
 * Bochs decodes an instruction once, keeps it, and forgets it when what it was decoded from is written to.  So
 * what it decodes while it records is compared with what the trace's readers know, by physical address
 * (laplace/translate/code.h), and nothing is done where an instruction is executed.  When recording begins,
 * Bochs forgets all, to decode it again; the instruction that is under way then is looked up.  So is one that
 * crosses pages, each time: Bochs finds what it has decoded by the first page alone (physical.h).
 *
 * What is called by an instruction that calls the kernel is in a register, so that is an event, too.
 */
#ifndef LAPLACE_CODE_CC_H
#define LAPLACE_CODE_CC_H

/* After laplace_physical_open(). */
void laplace_code_open(void);
void laplace_code_close(void);

#endif
