/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks as steps.  A pattern has the pages of lpl_block_expand()'s references, in that order: fetches, all of them on
 * the trace's page (but for an instruction that crosses into the next, which is alone in its
 * trace), and between them data references, each after the fetches at its instruction count and
 * before.  So between two data references the trace's page is visited if at least one fetch is.
 */
#include <stdlib.h>

#include "block_steps.h"

enum { PAGE_BITS = LPL_PAGE_SHIFT };

void lpl_block_steps_free(struct lpl_block_steps *steps)
{
	free(steps->step);
	free(steps->pattern);
	free(steps->visit);
	*steps = (struct lpl_block_steps){ .steps = 0 };
}

void lpl_block_steps_clear(struct lpl_block_steps *steps)
{
	steps->steps = steps->patterns = steps->visits = 0;
}

/* Room for a pattern of so many visits, which is the next one.  NULL: no memory. */
static struct lpl_visit *begin_pattern(struct lpl_block_steps *steps, size_t visits)
{
	if (!lpl_reserve(steps->pattern, steps->pattern_room, steps->patterns) ||
	    !lpl_reserve(steps->visit, steps->visit_room, steps->visits + visits))
		return NULL;
	steps->pattern[steps->patterns].visit = (uint32_t)steps->visits;
	return &steps->visit[steps->visits];
}

static bool end_pattern(struct lpl_block_steps *steps, size_t visits)
{
	steps->pattern[steps->patterns].visits = (uint32_t)visits;
	steps->visits += visits;
	return lpl_block_steps_again(steps, (uint32_t)steps->patterns++);
}

/* One more reference, to a page; several to one in a row are one visit. */
static inline struct lpl_visit *visit(struct lpl_visit *first, struct lpl_visit *next,
				      uint64_t space, uint64_t page, bool write)
{
	if (next > first && next[-1].page == page && next[-1].space == space) {
		next[-1].write |= write;
		return next;
	}
	*next = (struct lpl_visit){ .space = space, .page = page, .write = write, .reads = !write };
	return next + 1;
}

bool lpl_block_steps_block(struct lpl_block_steps *steps, const struct lpl_instruction_trace *trace,
			   const struct lpl_token *token, uint64_t space, const uint64_t *word,
			   size_t words, uint8_t low)
{
	const uint64_t code = trace->address >> PAGE_BITS;
	const uint64_t *const end = word + words;
	struct lpl_visit *first = begin_pattern(steps, 2 * words + 2), *next = first;
	unsigned int fetched = 0;

	if (!first)
		return false;
	if (token->fetched > 0 && lpl_trace_crosses(trace)) {
		next = visit(first, next, space, code, false);
		next = visit(first, next, space,
			     (trace->address + 0x1000) >> PAGE_BITS, false);
		fetched = token->fetched;
	}
	while (word < end) {
		const uint64_t here = *word++;
		const uint8_t offset = (uint8_t)((here >> LPL_WORD_COUNT_SHIFT) - low);
		const uint64_t address = (uint64_t)((int64_t)(here << (64 - LPL_WORD_ADDRESS_BITS)) >>
						    (64 - LPL_WORD_ADDRESS_BITS));

		if (fetched < token->fetched && offset >= fetched) {
			next = visit(first, next, space, code, false);
			fetched = offset + 1U;
		}
		next = visit(first, next, here & LPL_WORD_DATA ? space : LPL_VISIT_WALK,
			     address >> PAGE_BITS, (here & LPL_WORD_WRITE) != 0);
		word += (here >> LPL_WORD_LENGTH_SHIFT & 7) == LPL_WORD_LONG;
	}
	if (fetched < token->fetched)
		next = visit(first, next, space, code, false);
	return end_pattern(steps, (size_t)(next - first));
}

bool lpl_block_steps_ref(struct lpl_block_steps *steps, const struct lpl_ref *ref)
{
	const bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
	struct lpl_visit *first = begin_pattern(steps, 1);

	if (!first)
		return false;
	(void)visit(first, first, walk ? LPL_VISIT_WALK : ref->space, ref->address >> PAGE_BITS,
		    ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE);
	return end_pattern(steps, 1);
}
