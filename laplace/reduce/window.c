/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `window:K`.
 *
 * The definition, which the simulator's side implements on its own and has to
 * meet record for record:
 *
 * The stream is cut into windows.  The first begins with the stream; each of the
 * others where the one before ended.  A window ends
 *   - just before a reference to a page that would be its (K+1)th distinct one
 *     (that reference is the next window's first);
 *   - just before an event for which lpl_event_is_fence() holds, and just before
 *     LPL_EVENT_TRACING, LPL_EVENT_GAP and LPL_EVENT_STATE;
 *   - just before the LPL_WINDOW_EVENTS-th event since it began, of whatever kind,
 *     references or none in between;
 *   - at the end of the stream, and when it is flushed (lpl_reducer_flush()).
 * LPL_EVENT_TLB_FLUSH is left out, and none of the events above: TLBs are simulated on
 * every reference alone, and a kernel flushes at each switch of address spaces.
 * An event that ends a window stands between two windows and counts in neither:
 * the next window begins after it, with no events counted.
 *
 * Of the references to a page in a window the first and the last are kept (one,
 * if there is but one).  The first is of its own type.  The last becomes a write
 * (LPL_WRITE; LPL_WALK_WRITE in the space of walks) if any reference to the page
 * in this window after the first, itself included, is a write.  What is kept,
 * and the events, are sent on in the order they had in the stream, which is the
 * order of `ref`, an event with ref == r following reference r.
 *
 * Why it is exact from K pages on: a reference dropped lies between two that are
 * kept, with fewer than K other pages between these two.  So it is the second of
 * a triplet that SAD may drop, and the write it was moves to the third, as in SAD.
 */
#include "base/try.h"
#include "event_queue.h"
#include "method.h"
#include "pages.h"

#include <assert.h>
#include <stdlib.h>

/* What is kept of a page; `at` counts references since the start. */
struct kept {
	struct lpl_ref first, last;
	uint64_t first_at, last_at;	/* equal: there was one reference */
	bool written;			/* after the first */
};

struct window {
	struct lpl_reducer_stage stage;
	struct lpl_outlet outlet;
	struct lpl_pages pages;		/* of this window, with a struct kept each; numbered
					 * by first reference, listed by last reference */
	struct lpl_event_queue events;	/* of this window, before now */
	uint32_t limit;			/* K */
	unsigned int shift;		/* log2 of a page's size */
	unsigned int event_count;	/* since the window began */
	uint64_t now;
};

static struct kept *kept_of(const struct window *window, uint32_t i)
{
	return LPL_PAYLOAD(&window->pages, struct kept, i);
}

static enum lpl_error send_ref(struct window *window, struct lpl_ref *ref, uint64_t at,
			       struct lpl_report *report)
{
	LPL_TRY(lpl_event_queue_send(&window->events, at, &window->outlet, report));
	lpl_make_paged(ref, window->shift);
	return lpl_outlet_ref(&window->outlet, ref, report);
}

/* From page i on in order of last reference, the first that has two references. */
static uint32_t skip_singles(const struct window *window, uint32_t i)
{
	while (i != 0 && kept_of(window, i)->last_at == kept_of(window, i)->first_at)
		i = window->pages.node[i].newer;
	return i;
}

/*
 * Merge first references, last references and events, each of which is in
 * order already.
 */
static enum lpl_error end_window(struct window *window, struct lpl_report *report)
{
	uint32_t count = window->pages.count;
	uint32_t last = skip_singles(window, lpl_pages_oldest(&window->pages));
	uint32_t first = 1;

	assert(count <= window->limit && window->event_count < LPL_WINDOW_EVENTS);
	while (first <= count || last != 0) {
		struct kept *next_first = kept_of(window, first);
		struct kept *next_last = kept_of(window, last);

		if (last == 0 || (first <= count && next_first->first_at < next_last->last_at)) {
			LPL_TRY(send_ref(window, &next_first->first, next_first->first_at,
					 report));
			first++;
		} else {
			if (next_last->written)
				lpl_make_write(&next_last->last);
			LPL_TRY(send_ref(window, &next_last->last, next_last->last_at, report));
			last = skip_singles(window, window->pages.node[last].newer);
		}
	}
	LPL_TRY(lpl_event_queue_send(&window->events, UINT64_MAX, &window->outlet, report));
	lpl_pages_clear(&window->pages);
	window->event_count = 0;
	return LPL_OK;
}

/* A page that is not in the window; it may have to end first. */
static enum lpl_error add_page(struct window *window, struct lpl_page page,
			       const struct lpl_ref *ref, struct lpl_report *report)
{
	struct kept *kept;
	uint32_t i;

	if (window->pages.count == window->limit)
		LPL_TRY(end_window(window, report));
	i = lpl_pages_add(&window->pages, page);
	if (i == 0)
		return lpl_fail(report, LPL_ERR_MEMORY,
				"reduction window:%u: no memory for another page", window->limit);
	kept = kept_of(window, i);
	kept->first = *ref;
	kept->first_at = window->now;
	kept->last_at = window->now;
	return LPL_OK;
}

static enum lpl_error window_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				  struct lpl_report *report)
{
	struct window *window = (struct window *)sink;

	for (size_t j = 0; j < count; j++) {
		struct lpl_page page = lpl_page_of(&refs[j], window->shift);
		uint32_t i = lpl_pages_hit(&window->pages, page);
		struct kept *kept;

		window->now++;
		if (i == 0) {
			LPL_TRY(add_page(window, page, &refs[j], report));
			continue;
		}
		kept = kept_of(window, i);
		assert(kept->first_at <= kept->last_at && kept->last_at < window->now);
		kept->last = refs[j];
		kept->last_at = window->now;
		kept->written |= lpl_is_write(&refs[j]);
	}
	return LPL_OK;
}

static enum lpl_error window_event(struct lpl_sink *sink, const struct lpl_event *event,
				   struct lpl_report *report)
{
	struct window *window = (struct window *)sink;

	if (event->tag == LPL_EVENT_TLB_FLUSH)
		return LPL_OK;
	if (lpl_event_is_fence(event->tag) || event->tag == LPL_EVENT_TRACING ||
	    event->tag == LPL_EVENT_GAP || event->tag == LPL_EVENT_STATE ||
	    window->event_count + 1 == LPL_WINDOW_EVENTS) {
		LPL_TRY(end_window(window, report));
		return lpl_outlet_event(&window->outlet, event, report);
	}
	window->event_count++;
	if (!lpl_event_queue_push(&window->events, event, window->now))
		return lpl_fail(report, LPL_ERR_MEMORY,
				"reduction window:%u: no memory for another event", window->limit);
	return LPL_OK;
}

static enum lpl_error window_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	struct window *window = (struct window *)stage;

	LPL_TRY(end_window(window, report));
	return lpl_outlet_flush(&window->outlet, report);
}

static enum lpl_error window_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct window *window = (struct window *)sink;

	LPL_TRY(end_window(window, report));
	return lpl_outlet_finish(&window->outlet, report);
}

static void window_close(struct lpl_reducer_stage *stage)
{
	struct window *window = (struct window *)stage;

	lpl_pages_free(&window->pages);
	lpl_event_queue_free(&window->events);
	free(window);
}

static struct lpl_reducer_stage *window_new(uint64_t number, unsigned int shift,
					    struct lpl_sink *next)
{
	struct window *window = calloc(1, sizeof(*window));

	if (window == NULL)
		return NULL;
	window->stage.sink = (struct lpl_sink){window_refs, window_event, window_finish};
	window->stage.flush = window_flush;
	window->stage.close = window_close;
	window->outlet.next = next;
	window->limit = (uint32_t)number;
	window->shift = shift;
	lpl_event_queue_init(&window->events);
	if (!lpl_pages_init_with(&window->pages, sizeof(struct kept))) {
		window_close(&window->stage);
		return NULL;
	}
	return &window->stage;
}

const struct lpl_method lpl_method_window = {
	.name = "window",
	.letter = "K",
	.unit = LPL_UNIT_PAGES,
	.drops = LPL_DROPS_IN_WINDOW,
	.claims = LPL_CLAIM_LRU | LPL_CLAIM_OPT | LPL_CLAIM_ANY_ORDER,
	.fencing = LPL_FENCING_BEGINS,
	.windows = LPL_WINDOWS_ALL,
	.open = window_new,
};
