/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OPT's stack (Mattson, Gecsei, Slutz, Traiger: "Evaluation techniques for storage hierarchies",
 * 1970), kept in the order of next uses.
 *
 * The stack gives each page a depth: memories of so many pages and more have it.  Let the pages
 * stand on a line, each at the time of its next use.  When the page at the line's front is
 * referenced, at depth d, the memories below d fetch it, and each evicts the one of its pages
 * that stands furthest.  All of that is done by carrying a depth along the line, from its far
 * end to the front: it is d at first, and each page met keeps the greater of its own depth and
 * the one carried, and passes on the less.
 *
 * That is right: what arrives at a page of depth e is c, the least of d and all depths beyond.
 * If e < c, the memories of e to c - 1 pages hold no page beyond it, so they evict it, and its
 * depth is c now.  Else each memory below d that has it has a page beyond it, too, and
 * keeps it.  What is carried in the end is 1, the top's, and the referenced page is on top now: it
 * goes to where it is used next, with depth 1.  A page referenced first is one that stood at a
 * depth after all others.
 *
 * Ten references, each with its depth, and the line after it.  A page never used again stands
 * beyond the end, the further the longer ago it was used.
 *
 *	            4    6    7    8    9    10 | 11   12   13   15
 *	 1 A, new   A 1
 *	 2 B, new   A 2  B 1
 *	 3 C, new   A 2  B 3  C 1
 *	 4 A, 2          B 3  C 2  A 1
 *	 5 D, new        B 3  C 2  A 4  D 1
 *	 6 B, 3               C 2  A 4  D 3                     B 1
 *	 7 C, 2                    A 4  D 3  C 1                B 2
 *	 8 A, 4                         D 3  C 2           A 1  B 4
 *	 9 D, 3                              C 2      D 1  A 3  B 4
 *	10 C, 2                                  C 1  D 2  A 3  B 4
 *
 * At 8, A is referenced at depth 4: B takes the 4 and passes on its 2, C takes the 2 and passes
 * on its 1.  A memory of three pages has five faults, the four first references and this one.
 *
 * Far from the front it need not be known which page has which depth, only which depths there are
 * in a region: a depth carried through it is added to them, and the least of all is evicted, to
 * be carried on.  A region keeps them in a log (depth_log.h).  At a time in block b of the line
 * (blocks are of 128 positions) the line ahead is cut into one region for each bit that is 0 in
 * b, of so many blocks as the bit says; the block itself has its depths one by one.  A step
 * into the next block halves a region, its left half again, and so on to that block.
 *
 * So a depth costs O(1) for each halving it goes through, and O(log pages) when it arrives in a
 * region that has been cut already: a reference takes O(log n log pages) at worst, and memory
 * is O(pages).
 */
#include "opt_stack.h"

#include "depth_log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_BITS = 7,
	BLOCK = 1 << BLOCK_BITS,
	STRIDE = 16,
	STRIDES = BLOCK / STRIDE,
	HEIGHTS = 31
};

/*
 * Depths one by one, LPL_NO_DEPTH where there is no page; and by stride one that is not above
 * the least there.
 */
struct block {
	uint32_t depth[BLOCK];
	uint32_t least[STRIDES];
};

struct lpl_opt_stack {
	uint32_t deepest;
	uint32_t pages;			/* ever, or deepest + 1 */
	uint32_t position;		/* the front */
	uint32_t heights;		/* bits of a block's number */
	struct lpl_depth_log region[HEIGHTS];	/* by height: of 2^height blocks */
	uint32_t least[HEIGHTS];	/* of the region; LPL_NO_DEPTH: it is empty, or not cut */
	struct lpl_depth_log left[2];	/* while halving */
	struct block block;		/* the front's */
	struct lpl_halving halving;
};

/* ---- the front's block ---- */

static void clear_block(struct block *block)
{
	memset(block, 0xff, sizeof(*block));
}

static void insert_in_block(struct block *block, uint32_t place)
{
	block->depth[place] = 1;
	block->least[place / STRIDE] = 1;
}

static void carry_through_block(struct block *block, uint32_t carried)
{
	for (uint32_t stride = STRIDES; stride-- > 0;) {
		uint32_t *depth = &block->depth[(size_t)stride * STRIDE];
		uint32_t least = LPL_NO_DEPTH;

		if (block->least[stride] >= carried)
			continue;
		for (uint32_t i = STRIDE; i-- > 0;) {
			uint32_t met = depth[i];	/* LPL_NO_DEPTH is greater than all */
			uint32_t kept = met > carried ? met : carried;

			carried = met > carried ? carried : met;
			least = kept < least ? kept : least;
			depth[i] = kept;
		}
		block->least[stride] = least;
	}
}

/* The front enters a block, the first of a region: cut that, until the block is left. */
static bool enter_block(struct lpl_opt_stack *stack, uint32_t block)
{
	uint32_t height = (uint32_t)__builtin_ctz(block);
	struct lpl_depth_log *region = &stack->region[height];

	assert(height < HEIGHTS);
	clear_block(&stack->block);
	stack->least[height] = LPL_NO_DEPTH;
	while (region->events != 0 && height-- > 0) {
		uint32_t middle = (block + (UINT32_C(1) << height)) << BLOCK_BITS;
		struct lpl_depth_log *left = &stack->left[height % 2];
		struct lpl_depth_log *right = &stack->region[height];

		if (!lpl_depth_log_halve(&stack->halving, region, middle, left, right))
			return false;
		stack->least[height] = lpl_depth_log_least(right);
		region = left;
	}
	for (uint32_t i = 0; i < region->events; i++) {
		uint32_t event = region->event[i];

		if (event >= LPL_ARRIVAL)
			carry_through_block(&stack->block, event - LPL_ARRIVAL);
		else if (event != LPL_ERASED)
			insert_in_block(&stack->block, event % BLOCK);
	}
	lpl_depth_log_clear(region);
	return true;
}

/* ---- the line ---- */

struct lpl_opt_stack *lpl_opt_stack_new(uint32_t positions, uint32_t deepest)
{
	struct lpl_opt_stack *stack = calloc(1, sizeof(*stack));

	if (stack == NULL)
		return NULL;
	stack->deepest = deepest;
	while (positions >> BLOCK_BITS >> stack->heights != 0)
		stack->heights++;
	clear_block(&stack->block);
	memset(stack->least, 0xff, sizeof(stack->least));
	return stack;
}

void lpl_opt_stack_free(struct lpl_opt_stack *stack)
{
	if (stack == NULL)
		return;
	for (size_t i = 0; i < HEIGHTS; i++)
		lpl_depth_log_free(&stack->region[i]);
	lpl_depth_log_free(&stack->left[0]);
	lpl_depth_log_free(&stack->left[1]);
	lpl_halving_free(&stack->halving);
	free(stack);
}

bool lpl_opt_stack_next(struct lpl_opt_stack *stack, uint32_t *depth)
{
	uint32_t place = ++stack->position % BLOCK;

	if (place == 0 && !enter_block(stack, stack->position >> BLOCK_BITS))
		return false;
	*depth = stack->block.depth[place];
	if (*depth == LPL_NO_DEPTH)
		*depth = 0;
	stack->block.depth[place] = LPL_NO_DEPTH;
	return true;
}

bool lpl_opt_stack_reference(struct lpl_opt_stack *stack, uint32_t depth, uint32_t position)
{
	uint32_t apart = stack->position >> BLOCK_BITS ^ position >> BLOCK_BITS;
	uint32_t height = 31 - (uint32_t)__builtin_clz(apart | 1);
	uint32_t carried = depth;

	assert(position > stack->position && depth <= stack->pages);
	assert(apart == 0 || height < stack->heights);
	if (depth == 0) {
		stack->pages += stack->pages <= stack->deepest ? 1 : 0;
		carried = stack->pages;
	}
	for (uint32_t i = stack->heights; i-- > 0;) {
		uint32_t least = stack->least[i];

		if (least >= carried)
			continue;
		if (!lpl_depth_log_arrive(&stack->region[i], carried, &stack->halving))
			return false;
		stack->least[i] = lpl_depth_log_least(&stack->region[i]);
		carried = least;
	}
	carry_through_block(&stack->block, carried);
	if (apart == 0) {
		insert_in_block(&stack->block, position % BLOCK);
		return true;
	}
	stack->least[height] = 1;
	return lpl_depth_log_insert(&stack->region[height], position);
}
