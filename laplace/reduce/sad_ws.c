/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `sad-ws:TAU`: SAD by reference distance, for the working set.
 *
 * References are walked in order.  When a page that has two kept references,
 * `first` and `second` its latest, is referenced a third time, the second is
 * dropped exactly when third.ref - first.ref <= TAU.  If it was a write, the
 * third becomes one.  Otherwise all are kept, and second and third are the latest two.
 *
 * Distance is taken from the references' own clock, `ref`, which counts all that
 * were made, reduced away or not.  It is the paper's annotation: `time_passed` of
 * a record is the difference of `ref` to the record before, less 1.  So a reduced
 * trace may be reduced again, and simulators have but to go by `ref`: in WS a
 * reference faults exactly when it is the page's first or is made more than tau
 * after the page's last; in VMIN the page is kept in memory after a reference exactly
 * when the next one is made at most tau later.
 *
 * Why it is exact for WS and VMIN from tau = TAU on.  From first to third it is at
 * most TAU <= tau.  So in both policies the page is in memory all the time from
 * first to third, with the second as without it, and neither of the two later
 * ones fetches; what third is to those after it, and first to those before, does
 * not change.  All fetches and evictions, their times, what is dirty then, and the
 * memory's size at each moment are the same.
 *
 * It is exact for LRU and OPT from TAU pages on, too: `ref` grows with each
 * reference, so between first and third lie fewer than TAU others, and fewer than
 * TAU other pages.  The second is one that `sad:TAU` may drop.  (After `olr:K`
 * this does not hold: what it puts in repeats `ref`.)
 *
 * What is held back.  A kept reference r is dropped later only when a third is made
 * at most TAU after the one kept before r, which was no later than r.  So r is
 * final once now is more than TAU after it.  Of a page at most two that are not
 * final have to be held: of three, a < b < c, b was dropped as c - a <= TAU.
 * Memory is O(distinct pages in TAU references), and held events as in sad.c.
 *
 * The fenced form is the same on generations of pages, as in sad.c, and remains exact
 * on canonical pages for the same reasons: what is dropped lies between two
 * references to the same canonical page, at most TAU apart; and the first of a
 * generation is kept as it is.
 */
#include "base/try.h"
#include "fence.h"
#include "method.h"
#include "pending.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* What is known of a page; times are values of `ref`. */
struct recent {
	uint64_t last;		/* its last reference, the latest kept one */
	uint64_t first;		/* the kept one before that */
	bool two;		/* there is one before that */
	uint32_t pending;	/* the last reference, while it is not final */
};

struct sad_ws {
	struct lpl_reducer_stage stage;
	uint64_t tau;
	uint64_t now;
	struct lpl_pages pages;	/* with a struct recent each */
	struct lpl_pending pending;
	struct lpl_fence fence;	/* of its fenced form, where `stage` points to it */
};

static struct recent *recent_of(const struct sad_ws *ws, uint32_t i)
{
	return LPL_PAYLOAD(&ws->pages, struct recent, i);
}

static enum lpl_error no_memory(const struct sad_ws *ws, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY,
			"reduction sad-ws:%" PRIu64 ": no memory to hold more", ws->tau);
}

/*
 * The page becomes the newest; its number, 0 when there is no memory.  A page not
 * referenced for more than TAU can drop nothing any more: its place is used.
 */
static uint32_t make_newest(struct sad_ws *ws, struct lpl_page page)
{
	uint32_t i = lpl_pages_hit(&ws->pages, page);
	uint32_t victim = lpl_pages_oldest(&ws->pages);

	if (i != 0)
		return i;
	if (victim != 0 && ws->now - recent_of(ws, victim)->last <= ws->tau)
		victim = 0;
	return lpl_pages_enter(&ws->pages, page, victim);
}

/* Keep the reference `ref` to page i; drop the one before it if that is allowed. */
static enum lpl_error keep(struct sad_ws *ws, uint32_t i, const struct lpl_ref *ref,
			   struct lpl_report *report)
{
	struct recent *recent = recent_of(ws, i);

	if (recent->two && ref->ref - recent->first <= ws->tau) {
		/* it was made after `first`, so it is not final */
		assert(lpl_pending_ref(&ws->pending, recent->pending)->ref == recent->last);
		lpl_pending_replace(&ws->pending, recent->pending, ref);
	} else {
		recent->two = recent->pending != 0;
		recent->first = recent->last;
		recent->pending = lpl_pending_add(&ws->pending, ref);
		if (recent->pending == 0)
			return no_memory(ws, report);
	}
	recent->last = ref->ref;
	return LPL_OK;
}

static const struct lpl_ref *oldest_pending(const struct sad_ws *ws)
{
	assert(lpl_pending_oldest(&ws->pending) != 0);
	return lpl_pending_ref(&ws->pending, lpl_pending_oldest(&ws->pending));
}

static enum lpl_error sad_ws_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				  struct lpl_report *report)
{
	struct sad_ws *ws = (struct sad_ws *)sink;

	for (size_t j = 0; j < count; j++) {
		const struct lpl_ref *ref = &refs[j];
		uint32_t i;

		if (ref->ref < ws->now)
			return lpl_fail(report, LPL_ERR_ORDER,
					"reduction sad-ws:%" PRIu64 ": reference %" PRIu64
					" comes after reference %" PRIu64, ws->tau, ref->ref,
					ws->now);
		ws->now = ref->ref;
		i = make_newest(ws, lpl_page_of(ref, ws->pending.shift));
		if (i == 0)
			return no_memory(ws, report);
		LPL_TRY(keep(ws, i, ref, report));
		/* the reference made now is held, so there is an oldest one */
		while (ws->now - oldest_pending(ws)->ref > ws->tau)
			LPL_TRY(lpl_pending_send(&ws->pending, report));
	}
	return LPL_OK;
}

static enum lpl_error sad_ws_event(struct lpl_sink *sink, const struct lpl_event *event,
				   struct lpl_report *report)
{
	struct sad_ws *ws = (struct sad_ws *)sink;

	if (ws->stage.fence != NULL)
		lpl_fence_pages(&ws->fence, event, &ws->pages, ws->pending.shift);
	return lpl_pending_event(&ws->pending, event, report);
}

/* As in sad.c: what was sent can be dropped no more, and is not a `first`. */
static enum lpl_error sad_ws_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	struct sad_ws *ws = (struct sad_ws *)stage;

	LPL_TRY(lpl_pending_flush(&ws->pending, report));
	lpl_pages_clear(&ws->pages);
	return LPL_OK;
}

static enum lpl_error sad_ws_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return lpl_pending_finish(&((struct sad_ws *)sink)->pending, report);
}

static void sad_ws_close(struct lpl_reducer_stage *stage)
{
	struct sad_ws *ws = (struct sad_ws *)stage;

	lpl_pages_free(&ws->pages);
	lpl_pending_free(&ws->pending);
	free(ws);
}

static struct lpl_reducer_stage *sad_ws_new(uint64_t number, unsigned int shift,
					    struct lpl_sink *next)
{
	struct sad_ws *ws = calloc(1, sizeof(*ws));

	if (ws == NULL)
		return NULL;
	ws->stage.sink = (struct lpl_sink){sad_ws_refs, sad_ws_event, sad_ws_finish};
	ws->stage.flush = sad_ws_flush;
	ws->stage.close = sad_ws_close;
	ws->tau = number;
	if (!lpl_pending_init(&ws->pending, shift, next) ||
	    !lpl_pages_init_with(&ws->pages, sizeof(struct recent))) {
		sad_ws_close(&ws->stage);
		return NULL;
	}
	return &ws->stage;
}

static struct lpl_reducer_stage *fenced_new(uint64_t number, unsigned int shift,
					    struct lpl_sink *next)
{
	struct lpl_reducer_stage *stage = sad_ws_new(number, shift, next);

	if (stage != NULL)
		stage->fence = &((struct sad_ws *)stage)->fence;
	return stage;
}

const struct lpl_method lpl_method_sad_ws = {
	.name = "sad-ws",
	.letter = "TAU",
	.unit = LPL_UNIT_REFERENCES,
	.drops = LPL_DROPS_ANYWHERE,
	.claims = LPL_CLAIM_LRU | LPL_CLAIM_OPT | LPL_CLAIM_WS | LPL_CLAIM_ANY_ORDER,
	.open = sad_ws_new,
	.open_fenced = fenced_new,
};
