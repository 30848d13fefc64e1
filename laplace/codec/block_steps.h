/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks as steps (laplace/trace.h: struct lpl_page_steps): what a chunk's blocks do to pages, instead of the
 * references that they make.
 *
 * A block that is executed again mostly refers to the pages that it referred to the last time.  Then it is one step, of
 * four bytes, to the pattern that was made of it then.  Any other block makes a new pattern, if none of the chunk
 * has the same pages.
 */
#ifndef LAPLACE_CODEC_BLOCK_STEPS_H
#define LAPLACE_CODEC_BLOCK_STEPS_H

#include <laplace/trace.h>

#include "base/array.h"
#include "block_model.h"

/*
 * What a chunk's patterns may have together: a hundred thousand visits are usual, and this many take 4 MB here and as much
 * wherever patterns are kept.  A chunk that has more is of code that refers to another few pages whenever it is executed: its
 * patterns are nearly as long as its references, and come once.
 */
#ifndef LPL_STEP_VISITS_MOST
#define LPL_STEP_VISITS_MOST	((size_t)1 << 18)
#endif

/* Of one chunk.  Starts as zeros; the arrays are owned. */
struct lpl_block_steps {
	uint32_t *step;			/* numbers of patterns */
	struct lpl_pattern *pattern;
	struct lpl_visit *visit;
	size_t steps, patterns, visits;
	size_t step_room, pattern_room, visit_room;
	uint32_t *place;		/* by what it has (block_steps.c): a pattern, plus 1; 0: none */
	size_t places;			/* a power of two, or 0 */
};

void lpl_block_steps_free(struct lpl_block_steps *steps);
void lpl_block_steps_clear(struct lpl_block_steps *steps);	/* a chunk begins */

/*
 * A step to the pattern of a block.  Its data words, lengths included, are those of an op
 * (block_decode.h), for a block that begins at an instruction count with the low byte `low`.
 * In `number` the pattern.  false: no memory.
 */
bool lpl_block_steps_block(struct lpl_block_steps *steps, const struct lpl_instruction_trace *trace,
			   const struct lpl_token *token, uint64_t space, const uint64_t *word,
			   size_t words, uint8_t low, uint32_t *number);
/* To that of a single reference.  false: no memory. */
bool lpl_block_steps_ref(struct lpl_block_steps *steps, const struct lpl_ref *ref);

/* A pattern happens again.  false: no memory. */
static inline bool lpl_block_steps_again(struct lpl_block_steps *steps, uint32_t pattern)
{
	if (steps->steps >= steps->step_room &&
	    !lpl_reserve(steps->step, steps->step_room, steps->steps))
		return false;
	steps->step[steps->steps++] = pattern;
	return true;
}

#endif
