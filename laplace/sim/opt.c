/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OPT (Belady's MIN) at every size in one pass over the stored page sequence:
 * Mattson's priority stack, a page's priority being its next use.
 *
 * The tie.  A full memory evicts the page whose next use is furthest; among pages
 * never used again it evicts the one least recently used.  Faults do not depend
 * on that choice, dirty evictions do.  It makes priority one order, independent of
 * the size, as the stack needs it.
 *
 * With it a trace reduced with K pages (block, window, SAD) has the dirty evictions
 * of its original at every size from K on.  A reduction keeps every page's last
 * reference (block: its run's first, which has the same neighbours): whenever a
 * page is evicted, the same pages are never used again, last used in the same
 * order.  Only a page between two kept references with fewer than K others
 * between them has another next use than in the original, and such a page is not
 * evicted: one of the others in memory is used later, or never.  So the same page
 * goes at the same reference, and a dropped write has moved to a reference before
 * that.  (Any tie by the order of last, or of first, references would do.)
 *
 * The stack.  Referencing the page at depth d puts it on top; the former top goes
 * down, and wherever it meets a page used later than itself, within the first
 * d - 1 places, it stays there and the other goes on down, until one arrives at
 * place d.  Only the pages met that are used later than all above them move.
 * They are found by the largest next use of each block of 16 places, and of each
 * group of 16 blocks: what holds nothing used later than the page going down is
 * skipped.  In the worst case (a stack sorted by next use, as the trace
 * ABC...CBA makes it) all d places move; usually few do.
 *
 * If only sizes up to some S are asked for, S places are kept; who falls off is
 * deeper than S, which is all that need be known.
 */
#include "policy.h"

#include "../reduce/pages.h"

#include <stdlib.h>

enum { BLOCK = 16 };

/*
 * Next uses: the number of a reference, from 1; of a page never used again, NEVER
 * less the number of its last reference.  So the larger is evicted the sooner.
 */
#define NEVER UINT32_MAX
#define MOST_REFERENCES (UINT32_MAX / 2 - 1)
#define MOST_NUMBERED_PAGES (UINT32_MAX / 2)

struct opt {
	struct lpl_policy policy;
	uint32_t largest;	/* places to keep */
	uint32_t pages;
	/* the trace: page << 1 | write */
	uint32_t *sequence;
	size_t count, capacity;
	/* the stack, from place 0: who is there, and when it is used next */
	uint32_t *page_at, *next_use;
	uint32_t *block_max, *group_max;
	uint32_t depth;		/* pages in it */
	uint32_t *place;	/* by page, from 1; 0: not in the stack */
};

static enum lpl_error no_memory(const struct opt *opt, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "opt: no memory for %zu references to %u pages",
			opt->count, opt->pages);
}

static enum lpl_error opt_reference(struct lpl_policy *policy, uint32_t page, bool write,
				    struct lpl_report *report)
{
	struct opt *opt = (struct opt *)policy;

	if (opt->count == MOST_REFERENCES || page > MOST_NUMBERED_PAGES)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED,
				"opt: more than %u references or pages; reduce the trace first",
				MOST_REFERENCES);
	if (opt->count == opt->capacity) {
		/* not cleared: what is not used yet takes no memory */
		size_t wanted = opt->capacity == 0 ? 4096 : opt->capacity * 2;
		uint32_t *grown = realloc(opt->sequence, wanted * sizeof(*grown));

		if (grown == NULL)
			return no_memory(opt, report);
		opt->sequence = grown;
		opt->capacity = wanted;
	}
	if (page > opt->pages)
		opt->pages = page;
	opt->sequence[opt->count++] = page << 1 | (write ? 1U : 0U);
	return LPL_OK;
}

/* By reference, from 0: its page's next use.  NULL: no memory. */
static uint32_t *find_next_uses(const struct opt *opt)
{
	uint32_t *next_uses = malloc((opt->count + 1) * sizeof(*next_uses));
	uint32_t *seen = calloc((size_t)opt->pages + 1, sizeof(*seen));

	if (next_uses == NULL || seen == NULL) {
		free(next_uses);
		free(seen);
		return NULL;
	}
	for (size_t i = opt->count; i-- > 0;) {
		uint32_t *next = &seen[opt->sequence[i] >> 1];
		uint32_t number = (uint32_t)i + 1;

		next_uses[i] = *next != 0 ? *next : NEVER - number;
		*next = number;
	}
	free(seen);
	return next_uses;
}

static void settle(struct opt *opt, uint32_t place, uint32_t page, uint32_t next_use)
{
	opt->page_at[place] = page;
	opt->next_use[place] = next_use;
	opt->place[page] = place + 1;
}

static uint32_t largest_of(const uint32_t *value)
{
	uint32_t largest = 0;

	for (unsigned int i = 0; i < BLOCK; i++)
		largest = value[i] > largest ? value[i] : largest;
	return largest;
}

/* Something changed in a block. */
static void update_block(struct opt *opt, uint32_t block)
{
	uint32_t group = block / BLOCK;

	opt->block_max[block] = largest_of(opt->next_use + (size_t)block * BLOCK);
	opt->group_max[group] = largest_of(opt->block_max + (size_t)group * BLOCK);
}

/* The first block from `block` on, before `end`, with something used after `next_use`. */
static uint32_t find_block(const struct opt *opt, uint32_t block, uint32_t end, uint32_t next_use)
{
	while (block < end) {
		if (block % BLOCK == 0 && opt->group_max[block / BLOCK] <= next_use)
			block += BLOCK;
		else if (opt->block_max[block] <= next_use)
			block++;
		else
			return block;
	}
	return end;
}

/* Put a page on top that is at `place` (the stack's depth: it is not in the stack). */
static void reference(struct opt *opt, uint32_t page, uint32_t next_use, uint32_t place)
{
	uint32_t last_block = place / BLOCK;
	uint32_t block = 0;
	uint32_t moving = opt->page_at[0];
	uint32_t moving_use = opt->next_use[0];

	settle(opt, 0, page, next_use);
	if (place == 0) {
		update_block(opt, 0);
		return;
	}
	for (;;) {
		uint32_t begin = block * BLOCK;
		uint32_t end = block < last_block ? begin + BLOCK : place;

		for (uint32_t i = block == 0 ? 1 : begin; i < end; i++) {
			uint32_t met = opt->page_at[i];
			uint32_t met_use = opt->next_use[i];

			if (met_use > moving_use) {
				settle(opt, i, moving, moving_use);
				moving = met;
				moving_use = met_use;
			}
		}
		if (block == last_block)
			break;
		update_block(opt, block);
		block = find_block(opt, block + 1, last_block, moving_use);
	}
	if (place < opt->largest)
		settle(opt, place, moving, moving_use);
	else
		opt->place[moving] = 0;
	update_block(opt, last_block);
}

static bool simulate(struct opt *opt, const uint32_t *next_uses)
{
	for (size_t i = 0; i < opt->count; i++) {
		uint32_t page = opt->sequence[i] >> 1;
		bool write = (opt->sequence[i] & 1) != 0;
		uint32_t place = opt->place[page] != 0 ? opt->place[page] - 1 : opt->depth;
		uint32_t depth = place + 1;

		/* pages get their numbers in the order of their first references */
		if (page > opt->policy.curve.pages)
			depth = LPL_DEPTH_NONE;
		reference(opt, page, next_uses[i], place);
		if (place == opt->depth && opt->depth < opt->largest)
			opt->depth++;
		if (!lpl_curve_reference(&opt->policy.curve, page, depth, write))
			return false;
	}
	for (uint32_t page = 1; page <= opt->pages; page++) {
		uint32_t depth = opt->place[page] != 0 ? opt->place[page] : opt->depth + 1;

		if (!lpl_curve_end(&opt->policy.curve, page, depth))
			return false;
	}
	return true;
}

static enum lpl_error opt_finish(struct lpl_policy *policy, struct lpl_report *report)
{
	struct opt *opt = (struct opt *)policy;
	/* the place just behind the last is passed over, not filled */
	size_t blocks = ((size_t)(opt->pages < opt->largest ? opt->pages : opt->largest)) / BLOCK + 1;
	size_t groups = blocks / BLOCK + 1;
	uint32_t *next_uses = find_next_uses(opt);
	bool done;

	opt->page_at = calloc(blocks * BLOCK, sizeof(*opt->page_at));
	opt->next_use = calloc(blocks * BLOCK, sizeof(*opt->next_use));
	opt->block_max = calloc(groups * BLOCK, sizeof(*opt->block_max));
	opt->group_max = calloc(groups, sizeof(*opt->group_max));
	opt->place = calloc((size_t)opt->pages + 1, sizeof(*opt->place));
	done = next_uses != NULL && opt->page_at != NULL && opt->next_use != NULL &&
	       opt->block_max != NULL && opt->group_max != NULL && opt->place != NULL &&
	       simulate(opt, next_uses);
	free(next_uses);
	return done ? LPL_OK : no_memory(opt, report);
}

static void opt_close(struct lpl_policy *policy)
{
	struct opt *opt = (struct opt *)policy;

	lpl_curve_free(&policy->curve);
	free(opt->sequence);
	free(opt->page_at);
	free(opt->next_use);
	free(opt->block_max);
	free(opt->group_max);
	free(opt->place);
	free(opt);
}

struct lpl_policy *lpl_opt_new(uint32_t largest)
{
	struct opt *opt = calloc(1, sizeof(*opt));

	if (opt == NULL)
		return NULL;
	opt->policy.reference = opt_reference;
	opt->policy.finish = opt_finish;
	opt->policy.close = opt_close;
	lpl_curve_init(&opt->policy.curve);
	opt->largest = largest;
	return &opt->policy;
}
