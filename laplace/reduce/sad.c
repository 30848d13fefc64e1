/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `sad:K`: Safely Allowed Drop, the paper's.
 *
 * References are walked in order.  When a page that has two kept references,
 * `first` and `second` its latest, is referenced a third time, the second is
 * dropped exactly when the LRU distance between first and third is below K: fewer
 * than K other pages were referenced between them in this stage's input.  If the
 * dropped one was a write, the third becomes one (LPL_WRITE; LPL_WALK_WRITE in
 * the space of walks).  Otherwise all are kept, and second and third are the latest
 * two.
 *
 * The test in O(1).  Times count references.  We keep the K+1 pages most recently
 * referenced, in that order, each with the times of its latest two kept
 * references.  Let T be the time of the last reference to the oldest of them, 0
 * while there are fewer than K+1.  At a reference to page p, p is the newest and
 * the oldest is the K-th most recent *other* page; the pages referenced since
 * p's first are those last referenced after it, so fewer than K others were
 * exactly when T < first (or there is no K-th other: T = 0).  For a page no
 * longer in the list at least K others were referenced after its last reference, so
 * neither its next one nor the one thereafter can drop anything that lies before.  It
 * starts anew.
 *
 * What is held back.  T never falls.  A kept reference to p is dropped later only
 * as a second, when T is below p's first, which is earlier still.  So what is not
 * after T is final, and what is after T is held: at most 2K references.  For only
 * K pages were referenced after T (the oldest's last reference is T itself), and
 * none of them has three kept references a < b < c after T, because when c was made
 * T was no later than now, thus below a, and b was dropped.  (The paper's bound
 * of 2K+1 counts the third while it arrives; here it takes the place of the
 * second.)  The pool enforces the bound.
 *
 * The list of recency is not kept.  The last references of the K pages are all
 * held, in order of time, so that those among the held which are their page's last
 * are that list: the next T is the first of them.  Looking for it passes only over
 * references that are before it, thus final, and are sent.
 *
 * Events keep their place, so an event after a held reference waits with it.  Of
 * these there may be any number: as long as the trace keeps within K pages, T
 * stands still, and whether the reference before the event is dropped is open.
 * Letting the event pass would mean deciding early, which would no longer be the
 * paper's SAD.  So memory is O(K) for references, and for events it is what happens
 * while the trace touches K+1 pages, at some 40 bytes each (event_queue.h).
 *
 * The fenced form, after `window:K` or `fence`, is the same algorithm on other
 * pages: (space, page, generation) instead of (space, page).  An event that gives
 * pages another meaning ends their generation (fence.h).  At most K+1 pages are
 * tracked, and only they can be mistaken for a page of another meaning; so it is
 * enough that they are no longer found: in the order of recency they remain, as pages
 * of their own.  All that was said above holds for it.
 *
 * Why the result remains exact on canonical pages.  Merge finds the same canonical
 * page for each reference that is kept, from the reduced trace as from the whole:
 * its state changes with events, which all are there, and with references in three
 * ways only.  A page is first touched: that reference is the first of its
 * generation, and those are kept as they are.  A write parts sharers though no
 * event reported it: as the first of a generation it is kept.  A write stands in for
 * one that was dropped before it in the same generation: since then nothing can
 * have made the page shared, so it parts nothing.  Thus the three references of
 * each triplet are to one canonical page, and fewer than K others were referenced
 * between first and third, for each of those has a generation of its own.  That is
 * the condition for a drop on canonical pages, for memories of K pages and more.
 *
 * What is left: a write that parts sharers without an event (merge.h's implied
 * breaks) *after* its space has referenced the page in the same generation.  It
 * may be dropped as a second, and the page then changes its meaning later than it
 * did; `window:K` cannot see it either.  A kernel reports such a break, because the
 * processor faults; linux-module/README.md says which ones are missed.
 */
#include "event_queue.h"
#include "fence.h"
#include "method.h"
#include "pages.h"

#include "base/array.h"
#include "base/try.h"

#include <assert.h>
#include <stdlib.h>

/* A kept reference, in the list of those held, in stream order; 0 is its sentinel. */
struct pending {
	struct lpl_ref ref;	/* `reserved`: the number of its page, while it is held */
	uint64_t time;
	uint32_t prev, next;
};

/* What is known of one of the K+1 most recent pages. */
struct recent {
	uint64_t last;		/* its last reference, the latest kept one */
	uint64_t first;		/* the kept one before that; 0: none, or forgotten */
	uint32_t pending;	/* the last reference, while it is after T */
};

struct sad {
	struct lpl_reducer_stage stage;
	struct lpl_outlet outlet;
	uint32_t limit;		/* K */
	unsigned int shift;	/* log2 of a page's size */
	uint64_t now;		/* references so far */
	uint64_t threshold;	/* T */
	uint32_t oldest;	/* of the K+1 pages; 0 while there are fewer */
	struct lpl_pages pages;	/* with a struct recent each; their list is not used */
	struct pending *pending;
	size_t pending_room;
	uint32_t pending_used;	/* elements of pending[] ever used, the sentinel not counted */
	uint32_t spare;		/* free ones, linked by next */
	struct lpl_event_queue events;	/* with the time of the reference before */
	struct lpl_fence fence;	/* of its fenced form, where `stage` points to it */
};

static struct recent *recent_of(const struct sad *sad, uint32_t i)
{
	return LPL_PAYLOAD(&sad->pages, struct recent, i);
}

static enum lpl_error no_memory(const struct sad *sad, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "reduction sad:%u: no memory to hold more",
			sad->limit);
}

static void unlink_pending(struct pending *pending, uint32_t i)
{
	assert(pending[pending[i].prev].next == i && pending[pending[i].next].prev == i);
	pending[pending[i].prev].next = pending[i].next;
	pending[pending[i].next].prev = pending[i].prev;
}

static void append_pending(struct pending *pending, uint32_t i)
{
	uint32_t last = pending[0].prev;

	pending[i].prev = last;
	pending[i].next = 0;
	pending[last].next = i;
	pending[0].prev = i;
}

/* Send on, in order, the references not after `threshold` and the events freed by that. */
static enum lpl_error drain(struct sad *sad, uint64_t threshold, struct lpl_report *report)
{
	for (;;) {
		uint32_t i = sad->pending[0].next;
		struct pending *head = &sad->pending[i];
		uint64_t position;
		const struct lpl_event *event = NULL;

		if (sad->events.count != 0)
			event = lpl_event_queue_front(&sad->events, &position);
		if (event != NULL && (i == 0 || position < head->time)) {
			LPL_TRY(lpl_outlet_event(&sad->outlet, event, report));
			lpl_event_queue_pop(&sad->events);
		} else if (i != 0 && head->time <= threshold) {
			LPL_TRY(lpl_outlet_paged(&sad->outlet, &head->ref, report));
			unlink_pending(sad->pending, i);
			head->next = sad->spare;
			sad->spare = i;
		} else {
			return LPL_OK;
		}
	}
}

/* An element of pending[] for one more reference. */
static enum lpl_error new_pending(struct sad *sad, uint32_t *index, struct lpl_report *report)
{
	if (sad->spare != 0) {
		*index = sad->spare;
		sad->spare = sad->pending[*index].next;
		return LPL_OK;
	}
	if (sad->pending_used == 2 * sad->limit)
		return lpl_fail(report, LPL_ERR_INTERNAL,
				"reduction sad:%u: more than 2K references held", sad->limit);
	if (!lpl_reach(sad->pending, sad->pending_room, sad->pending_used + 1))
		return no_memory(sad, report);
	*index = ++sad->pending_used;
	return LPL_OK;
}

/*
 * There are K+1 pages, and what was the oldest is referenced now, or there was
 * none or its number was given to another: the next one is the oldest, and T grows.
 */
static enum lpl_error advance(struct sad *sad, struct lpl_report *report)
{
	const struct pending *pending = sad->pending;
	uint32_t i = pending[0].next;

	assert(sad->pages.count == (uint64_t)sad->limit + 1);
	while (i != 0 && recent_of(sad, pending[i].ref.reserved)->pending != i)
		i = pending[i].next;
	if (i == 0)
		return lpl_fail(report, LPL_ERR_INTERNAL,
				"reduction sad:%u: a page's last reference is not held",
				sad->limit);
	assert(pending[i].time >= sad->threshold);	/* T never falls */
	sad->oldest = pending[i].ref.reserved;
	sad->threshold = pending[i].time;
	return drain(sad, sad->threshold, report);
}

/* What is held of a reference; its page's address and length are there already. */
static void hold(struct pending *pending, const struct lpl_ref *ref, uint64_t time, bool written,
		 unsigned int shift)
{
	pending->ref.ref = ref->ref;
	pending->ref.instr = ref->instr;
	pending->ref.cycle = ref->cycle;
	pending->ref.space = ref->space;	/* that a walk is made in is not its page's */
	pending->ref.type = ref->type;
	pending->ref.flags = lpl_paged_flags(ref, shift);
	if (written)
		lpl_make_write(&pending->ref);
	pending->time = time;
}

/* Keep the reference `ref`, made now, to page i; drop the one before it if SAD says so. */
static enum lpl_error keep(struct sad *sad, uint32_t i, const struct lpl_ref *ref,
			   struct lpl_report *report)
{
	struct recent *recent = recent_of(sad, i);
	bool written = false;
	struct pending *pending;

	assert(recent->first <= recent->last && recent->last < sad->now);
	if (recent->first > sad->threshold) {
		pending = &sad->pending[recent->pending];
		assert(pending->time == recent->last && pending->ref.reserved == i);
		written = lpl_is_write(&pending->ref);
		if (pending->next != 0) {
			unlink_pending(sad->pending, recent->pending);
			append_pending(sad->pending, recent->pending);
		}
	} else {
		LPL_TRY(new_pending(sad, &recent->pending, report));
		pending = &sad->pending[recent->pending];
		pending->ref = *ref;
		lpl_make_paged(&pending->ref, sad->shift);
		pending->ref.reserved = i;
		append_pending(sad->pending, recent->pending);
		recent->first = recent->last;
	}
	hold(pending, ref, sad->now, written, sad->shift);
	recent->last = sad->now;
	return LPL_OK;
}

static enum lpl_error sad_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			       struct lpl_report *report)
{
	struct sad *sad = (struct sad *)sink;

	for (size_t j = 0; j < count; j++) {
		struct lpl_page page = lpl_page_of(&refs[j], sad->shift);
		uint32_t i = lpl_pages_find(&sad->pages, page);
		/* older than K others, if there are so many? */
		bool older = i == 0 || i == sad->oldest;

		sad->now++;
		if (i == 0) {
			i = lpl_pages_enter(&sad->pages, page, sad->oldest);
			if (i == 0)
				return no_memory(sad, report);
		}
		if (older && sad->pages.count > sad->limit)
			LPL_TRY(advance(sad, report));
		LPL_TRY(keep(sad, i, &refs[j], report));
	}
	return LPL_OK;
}

static enum lpl_error sad_event(struct lpl_sink *sink, const struct lpl_event *event,
				struct lpl_report *report)
{
	struct sad *sad = (struct sad *)sink;

	if (sad->stage.fence != NULL)
		lpl_fence_pages(&sad->fence, event, &sad->pages, sad->shift);
	if (sad->pending[0].next == 0)	/* nothing to wait for */
		return lpl_outlet_event(&sad->outlet, event, report);
	return lpl_event_queue_push(&sad->events, event, sad->now) ? LPL_OK :
		no_memory(sad, report);
}

/*
 * All that is held becomes final, and no page is known any more: what follows is
 * reduced as if the stream began here.  That drops less and is as exact, for a
 * drop is judged by what lies between its first and its third alone.  The fences
 * keep their state: what they know of the kernel's pages remains true.
 */
static enum lpl_error sad_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	struct sad *sad = (struct sad *)stage;

	LPL_TRY(drain(sad, UINT64_MAX, report));
	lpl_pages_clear(&sad->pages);
	sad->oldest = 0;
	sad->threshold = sad->now;
	return lpl_outlet_flush(&sad->outlet, report);
}

static enum lpl_error sad_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct sad *sad = (struct sad *)sink;

	LPL_TRY(drain(sad, UINT64_MAX, report));
	return lpl_outlet_finish(&sad->outlet, report);
}

static void sad_close(struct lpl_reducer_stage *stage)
{
	struct sad *sad = (struct sad *)stage;

	lpl_pages_free(&sad->pages);
	lpl_event_queue_free(&sad->events);
	free(sad->pending);
	free(sad);
}

static struct lpl_reducer_stage *sad_new(uint64_t number, unsigned int shift,
					 struct lpl_sink *next)
{
	struct sad *sad = calloc(1, sizeof(*sad));

	if (sad == NULL)
		return NULL;
	sad->stage.sink = (struct lpl_sink){sad_refs, sad_event, sad_finish};
	sad->stage.flush = sad_flush;
	sad->stage.close = sad_close;
	sad->outlet.next = next;
	sad->limit = (uint32_t)number;
	sad->shift = shift;
	lpl_event_queue_init(&sad->events);
	if (!lpl_pages_init_with(&sad->pages, sizeof(struct recent)) ||
	    !lpl_reach(sad->pending, sad->pending_room, 0)) {
		sad_close(&sad->stage);
		return NULL;
	}
	return &sad->stage;
}

static struct lpl_reducer_stage *fenced_new(uint64_t number, unsigned int shift,
					    struct lpl_sink *next)
{
	struct lpl_reducer_stage *stage = sad_new(number, shift, next);

	if (stage != NULL)
		stage->fence = &((struct sad *)stage)->fence;
	return stage;
}

const struct lpl_method lpl_method_sad = {
	.name = "sad",
	.letter = "K",
	.unit = LPL_UNIT_PAGES,
	.drops = LPL_DROPS_ANYWHERE,
	.claims = LPL_CLAIM_LRU | LPL_CLAIM_OPT | LPL_CLAIM_ANY_ORDER,
	.windows = LPL_WINDOWS_FIRST,
	.open = sad_new,
	.open_fenced = fenced_new,
};
