/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line of the future.
 *
 * OPT's stack (opt.c) says for each page its depth: memories of so many pages and more
 * have it.  Let the pages stand on a line, each at the time of its next use.  When the
 * page at the line's front is referenced, at depth d, the memories below d fetch it, and
 * each evicts the one of its pages that stands furthest.  All of that is done by
 * carrying a number along the line, from its far end to the front: it is d at first, and
 * each page met keeps the greater of its own depth and the number, and passes on the less.
 * For what arrives at a page of depth e is c, the least of d and all depths beyond.  If
 * e < c, the memories of e to c - 1 pages hold nobody beyond it, so they evict it, and its
 * depth is c now.  Else each memory below d that has it has somebody beyond it, too, and
 * it stays.  What is carried in the end is 1, the top's, and the referenced page is on
 * top now: it goes to where it is used next, with depth 1.  A page referenced first is
 * one that stood at a depth behind all others.
 *
 * Far from the front nobody has to know which page has which depth, only which depths a
 * region has: a number carried through it comes in, and the least goes out.  At a
 * time in block b of the line (blocks are of 128 positions) the line ahead is cut into one
 * region for each bit that is 0 in b, of so many blocks as the bit says; the block itself
 * has its depths one by one.  A step into the next block halves a region, its left half
 * again, and so on to that block.
 *
 * (region.c tells how a region is halved, which is what takes an argument.)
 *
 * So a number costs O(1) for each halving it goes through, and O(log pages) when it
 * arrives in a region that has been cut already and keeps a heap for those: a reference
 * O(log n log pages) at worst, and memory O(pages).
 */
#include "opt_stack.h"

#include "depth_log.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BITS = 7, BLOCK = 1 << BLOCK_BITS, STRIDE = 16, STRIDES = BLOCK / STRIDE,
       HEIGHTS = 31 };

/* Depths one by one, LPL_NOBODY where there is none; and no more than the least of each stride. */
struct block {
	uint32_t depth[BLOCK];
	uint32_t least[STRIDES];
};

struct lpl_line {
	uint32_t deepest;
	uint32_t pages;			/* ever, or deepest + 1 */
	uint32_t position;		/* the front */
	uint32_t heights;		/* bits of a block's number */
	uint32_t least[HEIGHTS];	/* of the region; LPL_NOBODY: it has none, or is not cut */
	struct lpl_region region[HEIGHTS];	/* by height: of 2^height blocks */
	struct lpl_region left[2];		/* while halving */
	struct block block;		/* the front's */
	struct lpl_scratch scratch;
};

/* ---- the front's block ---- */

static void clear_block(struct block *block)
{
	memset(block, 0xff, sizeof(*block));
}

static void come_to(struct block *block, uint32_t place)
{
	block->depth[place] = 1;
	block->least[place / STRIDE] = 1;
}

/* Carry a number through the block. */
static void carry_through(struct block *block, uint32_t size)
{
	for (uint32_t stride = STRIDES; stride-- > 0;) {
		uint32_t *depth = &block->depth[(size_t)stride * STRIDE];
		uint32_t least = LPL_NOBODY;

		if (block->least[stride] >= size)
			continue;
		for (uint32_t i = STRIDE; i-- > 0;) {
			uint32_t met = depth[i];	/* LPL_NOBODY is greater than all */
			uint32_t kept = met > size ? met : size;

			size = met > size ? size : met;
			least = kept < least ? kept : least;
			depth[i] = kept;
		}
		block->least[stride] = least;
	}
}

/* The front enters a block, the first of a region. */
static bool enter(struct lpl_line *line, uint32_t block)
{
	uint32_t height = (uint32_t)__builtin_ctz(block);
	struct lpl_region *region = &line->region[height];

	clear_block(&line->block);
	line->least[height] = LPL_NOBODY;
	while (region->events != 0 && height-- > 0) {
		uint32_t middle = (block + (UINT32_C(1) << height)) << BLOCK_BITS;
		struct lpl_region *left = &line->left[height % 2];

		if (!lpl_region_halve(&line->scratch, region, middle, left, &line->region[height]))
			return false;
		line->least[height] = lpl_region_least(&line->region[height]);
		region = left;
	}
	for (uint32_t i = 0; i < region->events; i++) {
		uint32_t event = region->event[i];

		if (event >= LPL_ARRIVAL)
			carry_through(&line->block, event - LPL_ARRIVAL);
		else if (event != LPL_FORGOTTEN)
			come_to(&line->block, event % BLOCK);
	}
	lpl_region_clear(region);
	return true;
}

/* ---- the line ---- */

struct lpl_line *lpl_line_new(uint32_t positions, uint32_t deepest)
{
	struct lpl_line *line = calloc(1, sizeof(*line));

	if (line == NULL)
		return NULL;
	line->deepest = deepest;
	while (positions >> BLOCK_BITS >> line->heights != 0)
		line->heights++;
	clear_block(&line->block);
	memset(line->least, 0xff, sizeof(line->least));
	return line;
}

void lpl_line_free(struct lpl_line *line)
{
	if (line == NULL)
		return;
	for (size_t i = 0; i < HEIGHTS; i++)
		lpl_region_free(&line->region[i]);
	lpl_region_free(&line->left[0]);
	lpl_region_free(&line->left[1]);
	lpl_scratch_free(&line->scratch);
	free(line);
}

bool lpl_line_next(struct lpl_line *line, uint32_t *depth)
{
	uint32_t place = ++line->position % BLOCK;

	if (place == 0 && !enter(line, line->position >> BLOCK_BITS))
		return false;
	*depth = line->block.depth[place];
	if (*depth == LPL_NOBODY)
		*depth = 0;
	line->block.depth[place] = LPL_NOBODY;
	return true;
}

bool lpl_line_reference(struct lpl_line *line, uint32_t depth, uint32_t position)
{
	uint32_t apart = line->position >> BLOCK_BITS ^ position >> BLOCK_BITS;
	uint32_t height = 31 - (uint32_t)__builtin_clz(apart | 1);
	uint32_t size = depth;

	if (depth == 0) {
		line->pages += line->pages <= line->deepest ? 1 : 0;
		size = line->pages;
	}
	for (uint32_t i = line->heights; i-- > 0;) {
		uint32_t least = line->least[i];

		if (least >= size)
			continue;
		if (!lpl_region_arrive(&line->region[i], size, &line->scratch))
			return false;
		line->least[i] = lpl_region_least(&line->region[i]);
		size = least;
	}
	carry_through(&line->block, size);
	if (apart == 0) {
		come_to(&line->block, position % BLOCK);
		return true;
	}
	line->least[height] = 1;
	return lpl_region_come(&line->region[height], position);
}
