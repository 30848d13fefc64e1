/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which instruction each fetch was of: its bytes.
 *
 * A trace recorded with `code=on` (LPL_META_CODE is "kept") has them once, where they are: in physical
 * memory.  An event LPL_EVENT_CODE stands before the first fetch of what it reports, and another one where
 * the processor executes something else there (docs/format.md, section 15).  Such a
 * trace has translations, too, by which a fetch finds its frame:
 *
 *	lpl_code_open(&code, &report);
 *	(at each event) lpl_code_follow(code, event, &report);
 *	(at each fetch) lpl_code_fetch(code, ref, &instruction);
 *
 * An instruction that crosses pages makes two fetches, which fill the same `instruction` one after the other:
 * it is whole at the next reference that is not a fetch with LPL_SECOND.
 *
 * Memory: some 550 bytes for each block of LPL_CODE_BYTES of memory that was executed, and that of translations.  A
 * recording forgets all blocks, and reports them again as they are used, before they are more than
 * LPL_CODE_MAX.
 */
#ifndef LAPLACE_CODE_H
#define LAPLACE_CODE_H

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LPL_CODE_BYTES		KTR_TEXT	/* at most in an event; and in a block, which is aligned */
#define LPL_CODE_MAX		(1U << 16)	/* blocks that are known at a time, whole or in part */
#define LPL_INSTRUCTION_MAX	15		/* bytes of an instruction */

struct lpl_instruction {
	uint64_t address, space;	/* virtual, as in its (first) fetch */
	uint64_t instr;			/* the count at its fetch */
	unsigned int length;		/* so far */
	unsigned int bits;		/* 16, 32 or 64: how it was decoded; 0: its bytes are not known */
	bool user;
	uint8_t bytes[LPL_INSTRUCTION_MAX];
};

/* Does a header say that a trace has the bytes of its instructions, and is each fetch still there? */
struct lpl_meta;
bool lpl_has_code(const struct lpl_meta *meta);

struct lpl_code;
/* LPL_ERR_MEMORY. */
enum lpl_error lpl_code_open(struct lpl_code **code, struct lpl_report *report);
void lpl_code_close(struct lpl_code *code);	/* NULL is fine */

/*
 * Each event of a stream in turn; those that say nothing of code or translations are left alone.  After
 * LPL_EVENT_GAP with events missing nothing is known.  LPL_ERR_DAMAGED: what format.md does not allow;
 * LPL_ERR_MEMORY.
 */
enum lpl_error lpl_code_follow(struct lpl_code *code, const struct lpl_event *event,
			       struct lpl_report *report);

/*
 * A reference of type LPL_FETCH: without LPL_SECOND it begins `instruction` anew, with LPL_SECOND it
 * continues it, unless that has no length (as after the beginning of a trace).  False: the bytes of this part are not known, so `instruction->bits` is 0.
 */
bool lpl_code_fetch(const struct lpl_code *code, const struct lpl_ref *fetch,
		    struct lpl_instruction *instruction);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
