/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `sad2:K`: one pass of the paper's SAD2.
 *
 * References are walked in order, past an LRU memory of K pages.  When a page was
 * fetched by its reference and is referenced again before any other page was
 * fetched, the earlier of the two is dropped.  So of a fetched page's references
 * between its own fault and the next fault only the last is kept, and that one
 * becomes the fetching one.  If one that was dropped was a write, it becomes a
 * write.  The faults are those of this stage's input: what one pass makes possible
 * is for another pass to find (sad2_fix.c).
 *
 * Why it is exact for LRU from K pages on.  Take a memory of m >= K pages, and the
 * references between two faults of the memory of K: x, which is fetched, and the
 * hits up to the next fault.  Only references to x are dropped here.
 *
 * - No page but x is fetched into the memory of m in between, for what hits in K
 *   pages hits in m: that is the same for the reduced trace.
 * - The pages that are hit in between are among the K-1 that were the most recent
 *   ones when x was fetched, for these and x are what is in the memory of K until
 *   the next fault.  As x was fetched it was not among the K most recent pages, so
 *   these K-1 pages were all referenced after x was last.  That they are referenced
 *   again before x is now adds no page to those referenced between x's last
 *   reference before and the one that now fetches it: its LRU distance is the
 *   same, and x faults in the memory of m or does not as it did before.
 * - If it does and a page is evicted, that is the m-th most recent one besides x,
 *   before the hits as after them, for they change the order of the first K-1
 *   only.  It was not referenced in between, so it is as dirty.
 * - The last reference to each page before the next fault is kept.  So at the next
 *   fault all pages are in the same order, x is in memory, and is dirty if it was.
 *
 * Thus faults, fetches, evictions and what is written back are the same and in the
 * same order, for each m >= K.  It is not exact for OPT, which looks ahead:
 * with two pages A B C B C A takes four faults, the reduced A B B C A three.
 *
 * What is held back: whether the reference that fetched is dropped depends on those
 * before the next fault, so it is held together with all hits after it (but for those
 * to the page itself, which take its place, so that the others are sent on).
 * After `sad:K` these are at most 2K: K pages are in memory, and of none does SAD
 * leave three references among K pages.  Alone it is what lies between two faults,
 * which may be the whole rest of a trace that has found its K pages: put `sad:K`
 * before it.  Held events as in sad.c.
 */
#include "base/try.h"
#include "method.h"
#include "pending.h"

#include <assert.h>
#include <stdlib.h>

struct sad2 {
	struct lpl_reducer_stage stage;
	uint32_t limit;		/* K */
	uint32_t fetched;	/* the page fetched last, 0 before the first */
	uint32_t candidate;	/* its reference, the oldest pending */
	struct lpl_pages pages;	/* in memory */
	struct lpl_pending pending;	/* since the candidate */
};

static enum lpl_error no_memory(const struct sad2 *sad2, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "reduction sad2:%u: no memory to hold more",
			sad2->limit);
}

/* Fetch a page, which decides what is pending. */
static enum lpl_error fetch(struct sad2 *sad2, struct lpl_page page, struct lpl_report *report)
{
	struct lpl_pages *pages = &sad2->pages;
	uint32_t victim = pages->count < sad2->limit ? 0 : lpl_pages_oldest(pages);

	sad2->fetched = lpl_pages_enter(pages, page, victim);
	assert(pages->count <= sad2->limit);
	return sad2->fetched == 0 ? no_memory(sad2, report) :
		lpl_pending_send_all(&sad2->pending, report);
}

static enum lpl_error sad2_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct sad2 *sad2 = (struct sad2 *)sink;

	for (size_t j = 0; j < count; j++) {
		struct lpl_page page = lpl_page_of(&refs[j], sad2->pending.shift);
		uint32_t i = lpl_pages_hit(&sad2->pages, page);
		uint32_t added;

		if (i == 0)
			LPL_TRY(fetch(sad2, page, report));
		if (i != 0 && i == sad2->fetched) {
			lpl_pending_replace(&sad2->pending, sad2->candidate, &refs[j]);
			/* which is the newest now, so the others are before it */
			while (lpl_pending_oldest(&sad2->pending) != sad2->candidate)
				LPL_TRY(lpl_pending_send(&sad2->pending, report));
			continue;
		}
		added = lpl_pending_add(&sad2->pending, &refs[j]);
		if (added == 0)
			return no_memory(sad2, report);
		if (i == 0)
			sad2->candidate = added;
	}
	return LPL_OK;
}

static enum lpl_error sad2_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	return lpl_pending_event(&((struct sad2 *)sink)->pending, event, report);
}

/* The memory remains as it is; the page fetched last keeps all its references. */
static enum lpl_error sad2_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	struct sad2 *sad2 = (struct sad2 *)stage;

	sad2->fetched = 0;
	return lpl_pending_flush(&sad2->pending, report);
}

static enum lpl_error sad2_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return lpl_pending_finish(&((struct sad2 *)sink)->pending, report);
}

static void sad2_close(struct lpl_reducer_stage *stage)
{
	struct sad2 *sad2 = (struct sad2 *)stage;

	lpl_pages_free(&sad2->pages);
	lpl_pending_free(&sad2->pending);
	free(sad2);
}

static struct lpl_reducer_stage *sad2_new(uint64_t number, unsigned int shift,
					  struct lpl_sink *next)
{
	struct sad2 *sad2 = calloc(1, sizeof(*sad2));

	if (sad2 == NULL)
		return NULL;
	sad2->stage.sink = (struct lpl_sink){sad2_refs, sad2_event, sad2_finish};
	sad2->stage.flush = sad2_flush;
	sad2->stage.close = sad2_close;
	sad2->limit = (uint32_t)number;
	if (!lpl_pending_init(&sad2->pending, shift, next) || !lpl_pages_init(&sad2->pages)) {
		sad2_close(&sad2->stage);
		return NULL;
	}
	return &sad2->stage;
}

/*
 * There is no fenced form: it drops first references, from which merge knows in which of
 * several related spaces a page was made.
 */
const struct lpl_method lpl_method_sad2 = {
	.name = "sad2",
	.letter = "K",
	.unit = LPL_UNIT_PAGES,
	.drops = LPL_DROPS_ANYWHERE,
	.claims = LPL_CLAIM_LRU,
	.open = sad2_new,
};
