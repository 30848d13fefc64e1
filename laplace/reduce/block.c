/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reductions `block`, one reference for each run of references to one page, and
 * `block:BYTES`, which makes pages larger first, or finer than 4096 bytes.
 *
 * A run is a longest sequence of references to one page with neither another
 * page's reference nor an event between them.  Its first reference is kept, with
 * its own clocks, and becomes a write if any reference of the run is one.
 *
 * This is exact for LRU and OPT from one page on, dirty evictions included: after
 * its first reference the page is in memory and is the most recent one until the
 * run ends; nothing is fetched or evicted in between, so when within the run it got
 * dirty makes no difference.
 *
 * Where pages are finer than 4096 bytes, an access may lie in several.  It is a reference to
 * each, in the order of their addresses, with its clocks; all but the first are LPL_SYNTHETIC, as
 * they repeat its number.  (An access that crosses a page of 4096 bytes is two references in
 * the trace already.)
 */
#include "base/try.h"
#include "method.h"
#include "pages.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct block {
	struct lpl_reducer_stage stage;
	struct lpl_outlet outlet;
	unsigned int shift;	/* log2 of a page's size */
	unsigned int paged;	/* of a reference that is sent on (lpl_make_paged()) */
	bool holding;		/* a run has begun; its first reference is `first` */
	struct lpl_page page;
	struct lpl_ref first;
};

/* Send the run's first reference on. */
static enum lpl_error end_run(struct block *block, struct lpl_report *report)
{
	if (!block->holding)
		return LPL_OK;
	block->holding = false;
	lpl_make_paged(&block->first, block->paged);
	block->first.address = block->first.address >> block->shift << block->shift;
	return lpl_outlet_ref(&block->outlet, &block->first, report);
}

static inline enum lpl_error take(struct block *block, const struct lpl_ref *ref,
				  struct lpl_report *report)
{
	struct lpl_page page = lpl_page_of(ref, block->shift);

	if (block->holding && lpl_same_page(page, block->page)) {
		if (lpl_is_write(ref))
			lpl_make_write(&block->first);
		return LPL_OK;
	}
	LPL_TRY(end_run(block, report));
	block->holding = true;
	block->page = page;
	block->first = *ref;
	return LPL_OK;
}

static enum lpl_error block_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct block *block = (struct block *)sink;

	for (size_t i = 0; i < count; i++)
		LPL_TRY(take(block, &refs[i], report));
	return LPL_OK;
}

/* The same where an access may lie in several pages. */
static enum lpl_error finer_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct block *block = (struct block *)sink;

	for (size_t i = 0; i < count; i++) {
		struct lpl_ref part = refs[i];

		if (part.flags & LPL_PAGED)
			return lpl_fail(report, LPL_ERR_USAGE, "reduction block:%" PRIu64
					": reference %" PRIu64 " is to a whole page, and no finer one "
					"is known of it", UINT64_C(1) << block->shift, part.ref);
		LPL_TRY(take(block, &part, report));
		for (unsigned int more = lpl_pages_after(&part, block->shift); more > 0; more--) {
			lpl_next_part(&part, block->shift);
			LPL_TRY(take(block, &part, report));
		}
	}
	return LPL_OK;
}

static enum lpl_error block_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct block *block = (struct block *)sink;

	LPL_TRY(end_run(block, report));
	return lpl_outlet_event(&block->outlet, event, report);
}

/* The run is cut in two: the rest of it begins with a reference of its own. */
static enum lpl_error block_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	struct block *block = (struct block *)stage;

	LPL_TRY(end_run(block, report));
	return lpl_outlet_flush(&block->outlet, report);
}

static enum lpl_error block_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct block *block = (struct block *)sink;

	LPL_TRY(end_run(block, report));
	return lpl_outlet_finish(&block->outlet, report);
}

static void block_close(struct lpl_reducer_stage *stage)
{
	free(stage);
}

/* `shift` is of the pages that are known before, or of `number` bytes where these are finer. */
static struct lpl_reducer_stage *block_new(uint64_t number, unsigned int shift,
					   struct lpl_sink *next)
{
	struct block *block = calloc(1, sizeof(*block));

	if (block == NULL)
		return NULL;
	assert((number & (number - 1)) == 0);	/* a power of two, or 0: see in_range() */
	block->shift = block->paged = shift;
	while (number > UINT64_C(1) << block->shift)
		block->shift++;
	block->stage.sink = (struct lpl_sink){
		block->shift < LPL_PAGE_SHIFT ? finer_refs : block_refs, block_event, block_finish
	};
	block->stage.flush = block_flush;
	block->stage.close = block_close;
	block->outlet.next = next;
	return &block->stage;
}

const struct lpl_method lpl_method_block = {
	.name = "block",
	.letter = "BYTES",
	.unit = LPL_UNIT_BYTES,
	.drops = LPL_DROPS_IN_RUN,
	.claims = LPL_CLAIM_LRU | LPL_CLAIM_OPT | LPL_CLAIM_ANY_ORDER | LPL_CLAIM_DEMAND,
	.open = block_new,
};
