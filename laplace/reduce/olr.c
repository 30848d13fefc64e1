/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `olr:K`: Optimal LRU Reduction, the paper's (sections 4 and 5).
 *
 * Fault i = 0, 1 ... of an LRU memory of K pages fetches page x_i and evicts page
 * y_i, or nothing as long as the memory is not full.  The result is the references
 * that fault and, put in between, as few others as make each y_i the least
 * recently used page at its fault.  These are called clips.  Let e(i) be the fault
 * that evicts what fault i fetched, END (after all faults) if there is none.  The
 * run (i, e(i)) contains the run (j, e(j)) if i < j and e(j) < e(i).  It is tight
 * if it contains none.
 *
 * The rule.  Take the faults in order; list the pages in memory by recency in the
 * result so far.
 *   Late	Before fault i, clip the pages less recent than y_i, oldest first.
 *   Early	After fault i, if its run is tight and the next tight run to begin
 *		ends at f: clip the pages evicted after e(i) and before f, in that
 *		order.  If f is END, and e(i) is not, then clip also those never
 *		evicted that were fetched before fault i, oldest first.
 *
 * Tight runs, without a search.  Let g(p) be the least e(s) with s >= p: the first
 * fault with a victim that was fetched at p or later.  The run from i is tight exactly
 * when e(i) = g(i).  Of the runs from i + 1 on, the one that ends at g(i + 1) is
 * tight, and those that begin before it are not, as they contain it: it is the
 * next.  What is evicted in between was fetched before i.  g never falls, so one
 * pointer finds all its values, and g(p) <= p + K, since the K + 1 pages fetched
 * from p to p + K cannot all be in memory.  So a fault waits for the K + 1 after it
 * (the paper says 2K) and costs O(1), and O(1) for each clip.
 *
 * Why the behaviour is the same.  Clips are of pages in memory, and y_i is the
 * oldest at fault i, so that a memory of K pages holds the same pages at each
 * fault.  In a larger one the pages after the first K are in the order in which
 * these evicted them, which is the same, too.  Hence every memory of K pages and
 * more has the same contents at each fault, fetches and evicts the same pages, and
 * has no other faults.  If pages are mapped to fewer afterwards, the memory has
 * the first images in that order, and again they are the same.
 *
 * Why there are no fewer.  If run R contains a tight run (t, u), its page remains in
 * memory at u although x_t, fetched after R began, is evicted: it is referenced
 * between t and u.  Say that such a reference stabs (t, u).  Tight runs end in the order in
 * which they begin; those in R follow each other, T_a to T_b.  The fewest points
 * to stab them all are found greedily, by taking the last moment of the first run
 * not stabbed yet until there is none.  The rule clips R's page no more often:
 *
 * (1) R is clipped early once, at the beginning of T_b: that is where it contains
 *     the run that begins and not the next one.
 * (2) It is clipped late only at the ends of such of its T_c as it has not stabbed
 *     by then, with T_b beginning no earlier than T_c ends; so tight runs are never
 *     clipped.  By induction; let a late clip of R's page be made before fault u, and
 *     P be the run that u ends.  If P is tight, its page was last referenced where
 *     P began, so R began before P, contains it and has not stabbed it; and T_b
 *     cannot have begun between, or R would have been clipped by (1).  If P is not
 *     tight, let T be the last tight run in P.  P was clipped after T began, and
 *     not since, for that stabbed what was left in it.  R's page is less recent, so
 *     R began before T, ends after u, and so contains T without having stabbed it.
 *     If it does not contain the tight run after T, it was clipped by (1) after P
 *     was, as it ends later; if it does, it was clipped late at the end of T.
 *     Either makes its page more recent, a contradiction.
 * (3) Let T_c be the first run not stabbed.  If T_b begins no earlier than T_c
 *     ends, R's page is less recent than T_c's at that end, and is clipped there:
 *     greed's point.  Else T_c to T_b overlap, one clip by (1) stabs them all, and
 *     greed needs one as well.
 *
 * Dirtiness.  A page written to between fetch and eviction (by a memory of K
 * pages) is written by each reference of the result for which the eviction is known
 * when it is sent, that is, is among the faults waiting.  For the last one before the
 * eviction it is: K pages fetched after it evict the page, and K + 1 are known.  A fetch
 * otherwise keeps its type and a clip is a read, so a page not dirtied there is not
 * written.  A residency in a larger memory is made of whole ones in the smaller:
 * it is dirty in the result if it was in the trace.  Pages never evicted from K
 * pages are not evicted from more, and the result does not show whether they are dirty.
 *
 * What is put in.  A clip has the page of its fetch, LPL_USER as it, and the
 * clocks of the fault it follows.  Kernel events keep their place between faults,
 * after the clips there.
 *
 * What is held back.  K + 1 faults, and the residencies of pages that are in memory
 * before them: at most 2K + 2.  Events wait with the faults they stand after; of
 * these there may be any number, as long as nothing faults (some 40 bytes each,
 * event_queue.h).
 *
 * Instead of references the input may be the behaviour sequence as `lrubs:K`
 * writes it.  The result is then the same.
 */
#include "event_queue.h"
#include "lru_memory.h"
#include "method.h"

#include "base/array.h"
#include "base/try.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define NEVER UINT64_MAX

/*
 * A residency: a page's time in memory, and the fault that began it.  Element 0 is the
 * sentinel of the list of recency.
 */
struct residency {
	struct lpl_ref fetch;
	uint64_t begin;			/* the fault's number */
	uint64_t end;			/* its evicting fault's, NEVER as far as is known */
	uint32_t evicted;		/* the residency that the fault ends; 0: none */
	uint32_t next;			/* the next fault's; of a spare one, a spare one */
	uint32_t newer, older;		/* in the result so far, for pages in its memory */
	bool dirty;			/* when it ended, as far as is known */
};

struct olr {
	struct lpl_reducer_stage stage;
	struct lpl_outlet outlet;
	struct lpl_lru_memory memory;	/* at the latest fault; its frames know the residencies */
	struct residency *residency;
	size_t residency_room;
	uint32_t residencies_used;	/* elements ever used, the sentinel not counted */
	uint32_t spare;			/* free ones, linked by next */
	uint32_t first, last;		/* of the faults waiting, linked by next */
	uint32_t waiting;
	uint32_t tight_end;		/* g(first), or a fault before it; 0: END */
	uint64_t faults;		/* so far */
	bool ended;			/* there will be no more */
	struct lpl_ref clock;		/* the latest fetch sent */
	struct lpl_event_queue events;	/* with the number of faults before */
	/* of a behaviour sequence */
	bool fetching;			/* the eviction for `fetch` is not here yet */
	struct lpl_ref fetch;
};

static enum lpl_error no_memory(const struct olr *olr, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "reduction olr:%u: no memory to hold more",
			olr->memory.limit);
}

/* ---- the list of recency ---- */

static void unlink_residency(struct residency *residency, uint32_t i)
{
	assert(i != 0 && residency[residency[i].newer].older == i &&
	       residency[residency[i].older].newer == i);
	residency[residency[i].newer].older = residency[i].older;
	residency[residency[i].older].newer = residency[i].newer;
}

static void make_newest(struct residency *residency, uint32_t i)
{
	uint32_t newest = residency[0].older;

	residency[i].newer = 0;
	residency[i].older = newest;
	residency[newest].newer = i;
	residency[0].older = i;
}

/* ---- the rule ---- */

/* The next reference of the result, to the page of residency i. */
static enum lpl_error send_ref(struct olr *olr, uint32_t i, struct lpl_ref *ref,
			       struct lpl_report *report)
{
	const struct residency *residency = &olr->residency[i];

	if (residency->dirty)
		lpl_make_write(ref);
	make_newest(olr->residency, i);
	return lpl_outlet_ref(&olr->outlet, ref, report);
}

static enum lpl_error clip(struct olr *olr, uint32_t i, struct lpl_report *report)
{
	struct lpl_ref ref = olr->residency[i].fetch;

	ref.ref = olr->clock.ref;
	ref.instr = olr->clock.instr;
	ref.cycle = olr->clock.cycle;
	ref.type = lpl_is_walk(&ref) ? LPL_WALK_READ : LPL_READ;
	ref.flags |= LPL_SYNTHETIC;
	unlink_residency(olr->residency, i);
	return send_ref(olr, i, &ref, report);
}

static enum lpl_error clip_late(struct olr *olr, uint32_t evicted, struct lpl_report *report)
{
	uint32_t oldest;

	while ((oldest = olr->residency[0].newer) != evicted) {
		assert(oldest != 0);	/* what is evicted is in memory */
		LPL_TRY(clip(olr, oldest, report));
	}
	return LPL_OK;
}

/* The run from fault i is tight and ends at `end`, the next one at `next_end` (0: END). */
static enum lpl_error clip_early(struct olr *olr, uint32_t i, uint32_t end, uint32_t next_end,
				 struct lpl_report *report)
{
	uint32_t newer;

	for (uint32_t j = olr->residency[end].next; j != next_end; j = olr->residency[j].next)
		LPL_TRY(clip(olr, olr->residency[j].evicted, report));
	if (next_end != 0)
		return LPL_OK;
	for (uint32_t j = olr->residency[0].newer; j != i; j = newer) {
		newer = olr->residency[j].newer;
		if (olr->residency[j].end == NEVER)
			LPL_TRY(clip(olr, j, report));
	}
	return LPL_OK;
}

/* g(p): the first fault, from fault i on, that evicts a page fetched at p or later. */
static uint32_t find_end(const struct olr *olr, uint32_t i, uint64_t p)
{
	const struct residency *residency = olr->residency;

	while (i != 0 && (residency[i].evicted == 0 || residency[residency[i].evicted].begin < p))
		i = residency[i].next;
	return i;
}

/* Send the first of the waiting faults: the clips before it, itself, the clips after it. */
static enum lpl_error send_fault(struct olr *olr, struct lpl_report *report)
{
	uint32_t i = olr->first;
	struct residency *residency = &olr->residency[i];
	uint32_t evicted = residency->evicted;
	uint32_t end = find_end(olr, olr->tight_end, residency->begin);
	uint32_t next_end = find_end(olr, end, residency->begin + 1);
	struct lpl_ref fetch = residency->fetch;

	assert(olr->waiting > 0 && residency->end > residency->begin);
	assert(evicted == 0 || olr->residency[evicted].end == residency->begin);
	if (next_end == 0 && !olr->ended)
		return lpl_fail(report, LPL_ERR_INTERNAL,
				"reduction olr:%u: no tight run ends within K+1 faults",
				olr->memory.limit);
	if (evicted != 0) {
		LPL_TRY(clip_late(olr, evicted, report));
		unlink_residency(olr->residency, evicted);
		olr->residency[evicted].next = olr->spare;
		olr->spare = evicted;
	}
	LPL_TRY(lpl_event_queue_send(&olr->events, residency->begin + 1, &olr->outlet, report));
	LPL_TRY(send_ref(olr, i, &fetch, report));
	olr->clock = fetch;
	if (end != 0 && olr->residency[end].evicted == i)
		LPL_TRY(clip_early(olr, i, end, next_end, report));
	olr->tight_end = next_end;
	olr->first = residency->next;
	olr->waiting--;
	return LPL_OK;
}

/* ---- taking faults ---- */

/* An element of residency[] for one more fault. */
static enum lpl_error new_residency(struct olr *olr, uint32_t *index, struct lpl_report *report)
{
	if (olr->spare != 0) {
		*index = olr->spare;
		olr->spare = olr->residency[*index].next;
		return LPL_OK;
	}
	if (olr->residencies_used == 2 * olr->memory.limit + 2)
		return lpl_fail(report, LPL_ERR_INTERNAL,
				"reduction olr:%u: more than 2K+2 residencies held",
				olr->memory.limit);
	if (!lpl_reach(olr->residency, olr->residency_room, olr->residencies_used + 1))
		return no_memory(olr, report);
	*index = ++olr->residencies_used;
	return LPL_OK;
}

static enum lpl_error take_fault(struct olr *olr, const struct lpl_ref *ref,
				 const struct lpl_fault *fault, struct lpl_report *report)
{
	struct residency *residency;
	uint32_t i = 0;

	LPL_TRY(new_residency(olr, &i, report));
	residency = &olr->residency[i];
	*residency = (struct residency){.fetch = *ref, .begin = olr->faults++, .end = NEVER};
	lpl_make_paged(&residency->fetch, olr->memory.shift);
	if (fault->evicts) {
		struct residency *evicted = &olr->residency[fault->evicted.residency];

		assert(fault->evicted.residency != 0 && evicted->end == NEVER);
		evicted->end = residency->begin;
		evicted->dirty = fault->evicted.dirty;
		residency->evicted = fault->evicted.residency;
	}
	lpl_lru_memory_frame(&olr->memory, fault->frame)->residency = i;
	if (olr->waiting++ == 0)
		olr->first = i;
	else
		olr->residency[olr->last].next = i;
	olr->last = i;
	assert(olr->waiting <= (uint64_t)olr->memory.limit + 2);
	if (residency->begin == 0)
		olr->tight_end = i;
	return olr->waiting == olr->memory.limit + 2 ? send_fault(olr, report) : LPL_OK;
}

static enum lpl_error olr_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			       struct lpl_report *report)
{
	struct olr *olr = (struct olr *)sink;
	struct lpl_fault fault;

	for (size_t j = 0; j < count; j++) {
		uint32_t victim;

		if (lpl_lru_memory_hit(&olr->memory, &refs[j]))
			continue;
		victim = lpl_lru_memory_victim(&olr->memory);
		if (!lpl_lru_memory_fetch(&olr->memory, &refs[j], victim, &fault))
			return no_memory(olr, report);
		LPL_TRY(take_fault(olr, &refs[j], &fault, report));
	}
	return LPL_OK;
}

static enum lpl_error olr_event(struct lpl_sink *sink, const struct lpl_event *event,
				struct lpl_report *report)
{
	struct olr *olr = (struct olr *)sink;

	if (event->tag == LPL_EVENT_EVICTED)	/* of an annotated trace: OLR's is another one */
		return LPL_OK;
	if (olr->faults == 0)	/* nothing to wait for */
		return lpl_outlet_event(&olr->outlet, event, report);
	return lpl_event_queue_push(&olr->events, event, olr->faults) ? LPL_OK :
		no_memory(olr, report);
}

/* The input ends here: send on all that is held. */
static enum lpl_error drain(struct olr *olr, struct lpl_report *report)
{
	olr->ended = true;
	while (olr->waiting != 0)
		LPL_TRY(send_fault(olr, report));
	return lpl_event_queue_send(&olr->events, UINT64_MAX, &olr->outlet, report);
}

/*
 * What is decided has been sent, but for the last few references.  The faults that
 * wait depend on later ones: to send them now would be another reduction.
 */
static enum lpl_error olr_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	return lpl_outlet_flush(&((struct olr *)stage)->outlet, report);
}

static enum lpl_error olr_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct olr *olr = (struct olr *)sink;

	LPL_TRY(drain(olr, report));
	return lpl_outlet_finish(&olr->outlet, report);
}

/* ---- taking a behaviour sequence ---- */

/* The input cannot be what `lrubs:K` made: what precedes the damage is saved. */
static enum lpl_error damaged(struct olr *olr, uint64_t ref, const char *what,
			      struct lpl_report *report)
{
	LPL_TRY(drain(olr, report));
	LPL_TRY(lpl_outlet_flush(&olr->outlet, report));
	return lpl_fail(report, LPL_ERR_DAMAGED,
			"reduction olr:%u: no behaviour sequence of %u pages: reference %" PRIu64
			" %s; the result ends there", olr->memory.limit, olr->memory.limit, ref,
			what);
}

static enum lpl_error no_eviction(struct olr *olr, struct lpl_report *report)
{
	return damaged(olr, olr->fetch.ref, "is a fetch into a full memory and evicts no page",
		       report);
}

static enum lpl_error fetch(struct olr *olr, const struct lpl_ref *ref, uint32_t victim, bool dirty,
			    struct lpl_report *report)
{
	struct lpl_fault fault;

	if (!lpl_lru_memory_fetch(&olr->memory, ref, victim, &fault))
		return no_memory(olr, report);
	fault.evicted.dirty |= dirty;
	return take_fault(olr, ref, &fault, report);
}

static enum lpl_error behaviour_refs(struct lpl_sink *sink, const struct lpl_ref *refs,
				     size_t count, struct lpl_report *report)
{
	struct olr *olr = (struct olr *)sink;
	struct lpl_pages *pages = &olr->memory.pages;

	for (size_t j = 0; j < count; j++) {
		if (olr->fetching)
			return no_eviction(olr, report);
		if (lpl_pages_find(pages, lpl_page_of(&refs[j], olr->memory.shift)) != 0)
			return damaged(olr, refs[j].ref, "fetches a page that is in memory",
				       report);
		if (pages->count < olr->memory.limit) {
			LPL_TRY(fetch(olr, &refs[j], 0, false, report));
		} else {
			olr->fetching = true;
			olr->fetch = refs[j];
		}
	}
	return LPL_OK;
}

static enum lpl_error behaviour_event(struct lpl_sink *sink, const struct lpl_event *event,
				      struct lpl_report *report)
{
	struct olr *olr = (struct olr *)sink;
	struct lpl_page page = {
		.space = event->arg[LPL_EVENT_EVICTED_SPACE],
		.number = event->arg[LPL_EVENT_EVICTED_ADDRESS] >> olr->memory.shift,
	};
	uint32_t victim;

	if (event->tag != LPL_EVENT_EVICTED)
		return olr->fetching ? no_eviction(olr, report) : olr_event(sink, event, report);
	if (!olr->fetching)
		return damaged(olr, event->ref, "evicts a page that need not go", report);
	victim = lpl_pages_find(&olr->memory.pages, page);
	if (victim == 0)
		return damaged(olr, olr->fetch.ref, "evicts a page that is not in memory", report);
	olr->fetching = false;
	return fetch(olr, &olr->fetch, victim, event->arg[LPL_EVENT_EVICTED_DIRTY] != 0, report);
}

static enum lpl_error behaviour_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct olr *olr = (struct olr *)sink;

	return olr->fetching ? no_eviction(olr, report) : olr_finish(sink, report);
}

/* ---- opening and closing ---- */

static void olr_close(struct lpl_reducer_stage *stage)
{
	struct olr *olr = (struct olr *)stage;

	lpl_lru_memory_free(&olr->memory);
	lpl_event_queue_free(&olr->events);
	free(olr->residency);
	free(olr);
}

static struct lpl_reducer_stage *olr_new(uint64_t number, unsigned int shift,
					 struct lpl_sink *next)
{
	struct olr *olr = calloc(1, sizeof(*olr));

	if (olr == NULL)
		return NULL;
	olr->stage.sink = (struct lpl_sink){olr_refs, olr_event, olr_finish};
	olr->stage.flush = olr_flush;
	olr->stage.close = olr_close;
	olr->outlet.next = next;
	lpl_event_queue_init(&olr->events);
	if (!lpl_lru_memory_init(&olr->memory, (uint32_t)number, shift) ||
	    !lpl_reach(olr->residency, olr->residency_room, 0)) {
		olr_close(&olr->stage);
		return NULL;
	}
	return &olr->stage;
}

static struct lpl_reducer_stage *from_behaviour_new(uint64_t number, unsigned int shift,
						    struct lpl_sink *next)
{
	struct lpl_reducer_stage *stage = olr_new(number, shift, next);

	if (stage != NULL)
		stage->sink = (struct lpl_sink){behaviour_refs, behaviour_event, behaviour_finish};
	return stage;
}

/* No fenced form: what is put in may be of pages that no longer mean what they did. */
const struct lpl_method lpl_method_olr = {
	.name = "olr",
	.letter = "K",
	.unit = LPL_UNIT_PAGES,
	.drops = LPL_DROPS_ANYWHERE,
	.claims = LPL_CLAIM_LRU,
	.windows = LPL_WINDOWS_FIRST,
	.adds_references = true,
	.open = olr_new,
	.open_behaviour = from_behaviour_new,
};
