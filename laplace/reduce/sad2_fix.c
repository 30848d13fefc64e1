/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `sad2-fix:K`: SAD and SAD2 again and again, until neither drops
 * anything.
 *
 * The result is that of whole passes, one after the other: sad:K, sad2:K, sad:K,
 * sad2:K ... until two in a row change nothing.  (The order matters.  In A A b A,
 * where K is 3 and b faults, SAD drops the second A and SAD2 the first, and then
 * there is nothing left to do, either way.)  Both are exact for LRU from K pages
 * on, so this is; and dropped writes move as in the passes, which comes to this: to
 * the next reference of the page that is kept in the end.
 *
 * No number of passes, one after the other, would do, and no bounded memory either.
 * Take A B A C B D C E D F E F and K = 3.  The first pass of SAD2 can drop nothing but
 * the first F; then the second can drop the first E, and so on to the first A, six
 * passes in all.  Without the last F nothing is dropped.  However long such a row is,
 * its end decides about its beginning.  But such rows are rare: mostly, what a pass
 * does is decided by what is near.
 *
 * So: what SAD keeps, which is a stage of its own before this one, is gathered
 * in an array.  Once that has grown enough, all passes are run over it, with a
 * record of what depends on the future (fixpoint.c).  What is before the first such
 * reference is decided: it is sent on or forgotten, and so much of it is kept in the
 * array as is needed to judge what follows, together with the number of the pass
 * that dropped each.  At the end of the trace nothing is open and all is sent on.
 *
 * Memory is O(K) and what lies between the first reference that is open and now,
 * at 150 bytes a reference that SAD keeps.  The array may grow to twice what could
 * not be sent on, and by some tens of thousands if K is large, before it is looked
 * at again, so that a reference is looked at a few times only.  Time is O(1) for
 * each mostly, and O(K) in rows as above.  Events wait with the references before
 * them.
 */
#include "event_queue.h"
#include "method.h"
#include "pages.h"
#include "fixpoint.h"

#include "base/array.h"
#include "base/try.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct sad2_fix {
	struct lpl_reducer_stage stage;
	struct lpl_reducer_stage *sad;	/* gets the input */
	struct lpl_sink kept;	/* gets what that keeps */
	struct lpl_outlet outlet;
	unsigned int shift;	/* log2 of a page's size */
	struct lpl_pages pages;	/* in a memory of K pages; with the number of the page's
				 * last reference in the array, a uint32_t */
	struct lpl_fix_ref *array;
	size_t capacity;
	uint32_t count;
	uint32_t decided;	/* so many at the array's front */
	size_t batch;		/* the count at which to run the passes */
	uint64_t forgotten;	/* references before the array */
	struct lpl_fixpoint fixpoint;
	struct lpl_event_queue events;	/* with the number of references before */
};

static uint32_t *last_of(const struct sad2_fix *fix, uint32_t page)
{
	return LPL_PAYLOAD(&fix->pages, uint32_t, page);
}

#define FIX_OF_KEPT(sink) \
	((struct sad2_fix *)((char *)(sink) - offsetof(struct sad2_fix, kept)))

static enum lpl_error no_memory(const struct sad2_fix *fix, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "reduction sad2-fix:%u: no memory to hold more",
			fix->fixpoint.pages);
}

/* As many new references as outweigh those that are looked at again. */
static size_t least_batch(size_t pages)
{
	return pages < 256 ? pages * pages : pages + 65536 - 256;
}

/* ---- out ---- */

/* Send on the events before reference i; all, if that is not there. */
static enum lpl_error send_events(struct sad2_fix *fix, uint32_t i, struct lpl_report *report)
{
	uint64_t until = i == fix->count ? UINT64_MAX : fix->forgotten + i + 1;

	return lpl_event_queue_send(&fix->events, until, &fix->outlet, report);
}

/* Leave out the first references of the array. */
static void forget(struct sad2_fix *fix, uint32_t count)
{
	assert(count <= fix->decided && fix->decided <= fix->count);
	if (count == 0)
		return;
	fix->count -= count;
	fix->decided -= count;
	fix->forgotten += count;
	memmove(fix->array, fix->array + count, fix->count * sizeof(*fix->array));
	for (uint32_t i = 0; i < fix->count; i++) {
		uint32_t *before = &fix->array[i].before;

		if (*before != LPL_NO_REF)
			*before = *before < count ? LPL_NO_REF : *before - count;
	}
	for (uint32_t page = 1; page <= fix->pages.count; page++) {
		uint32_t *last = last_of(fix, page);

		if (*last != LPL_NO_REF)
			*last = *last < count ? LPL_NO_REF : *last - count;
	}
}

/* Run the passes, and send on what they decide. */
static enum lpl_error run(struct sad2_fix *fix, bool ended, struct lpl_report *report)
{
	uint32_t i = fix->decided;

	LPL_TRY(lpl_fixpoint_run(&fix->fixpoint, fix->array, fix->count, &fix->decided, ended,
				 report));
	assert(i <= fix->decided && (!ended || fix->decided == fix->count));
	for (; i < fix->decided; i++) {
		if (fix->array[i].dropped != 0)
			continue;
		LPL_TRY(send_events(fix, i, report));
		LPL_TRY(lpl_outlet_ref(&fix->outlet, &fix->array[i].ref, report));
	}
	LPL_TRY(send_events(fix, fix->decided, report));
	forget(fix, lpl_fixpoint_context(&fix->fixpoint, fix->array, fix->decided));
	fix->batch = 2 * (size_t)fix->count + least_batch(fix->fixpoint.pages);
	return LPL_OK;
}

/* ---- in ---- */

/* Fetch a page, and evict another one; its number, 0: no memory. */
static uint32_t fetch(struct sad2_fix *fix, struct lpl_page page)
{
	struct lpl_pages *pages = &fix->pages;
	uint32_t victim = pages->count < fix->fixpoint.pages ? 0 : lpl_pages_oldest(pages);

	assert(pages->count <= fix->fixpoint.pages);
	assert(victim == 0 || *last_of(fix, victim) == LPL_NO_REF ||
	       *last_of(fix, victim) < fix->count);
	if (victim != 0 && *last_of(fix, victim) != LPL_NO_REF)
		fix->array[*last_of(fix, victim)].leaves = true;
	return lpl_pages_enter(pages, page, victim);
}

static enum lpl_error keep(struct sad2_fix *fix, const struct lpl_ref *ref,
			   struct lpl_report *report)
{
	struct lpl_page page = lpl_page_of(ref, fix->shift);
	uint32_t i = lpl_pages_hit(&fix->pages, page);
	bool fetches = i == 0;

	if (fix->count == LPL_NO_REF - 1 || !lpl_reach(fix->array, fix->capacity, fix->count))
		return no_memory(fix, report);
	if (fetches)
		i = fetch(fix, page);
	if (i == 0)
		return no_memory(fix, report);
	fix->array[fix->count] = (struct lpl_fix_ref){
		.ref = *ref,
		.before = fetches ? LPL_NO_REF : *last_of(fix, i),
		.fetches = fetches,
	};
	*last_of(fix, i) = fix->count++;
	return fix->count < fix->batch ? LPL_OK : run(fix, false, report);
}

static enum lpl_error keep_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	for (size_t i = 0; i < count; i++)
		LPL_TRY(keep(FIX_OF_KEPT(sink), &refs[i], report));
	return LPL_OK;
}

static enum lpl_error keep_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct sad2_fix *fix = FIX_OF_KEPT(sink);

	if (fix->decided == fix->count)	/* nothing to wait for */
		return lpl_outlet_event(&fix->outlet, event, report);
	return lpl_event_queue_push(&fix->events, event, fix->forgotten + fix->count) ? LPL_OK :
		no_memory(fix, report);
}

static enum lpl_error keep_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct sad2_fix *fix = FIX_OF_KEPT(sink);

	LPL_TRY(run(fix, true, report));
	return lpl_outlet_finish(&fix->outlet, report);
}

/* ---- the input is passed to SAD ---- */

/* Only what the passes decide is flushed, and not SAD: they rely on it everywhere. */
static enum lpl_error fix_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	struct sad2_fix *fix = (struct sad2_fix *)stage;

	LPL_TRY(run(fix, false, report));
	return lpl_outlet_flush(&fix->outlet, report);
}

static enum lpl_error fix_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			       struct lpl_report *report)
{
	struct lpl_sink *sad = &((struct sad2_fix *)sink)->sad->sink;

	return sad->refs(sad, refs, count, report);
}

static enum lpl_error fix_event(struct lpl_sink *sink, const struct lpl_event *event,
				struct lpl_report *report)
{
	struct lpl_sink *sad = &((struct sad2_fix *)sink)->sad->sink;

	return sad->event(sad, event, report);
}

static enum lpl_error fix_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *sad = &((struct sad2_fix *)sink)->sad->sink;

	return sad->finish(sad, report);
}

static void fix_close(struct lpl_reducer_stage *stage)
{
	struct sad2_fix *fix = (struct sad2_fix *)stage;

	if (fix->sad != NULL)
		fix->sad->close(fix->sad);
	lpl_pages_free(&fix->pages);
	lpl_fixpoint_free(&fix->fixpoint);
	lpl_event_queue_free(&fix->events);
	free(fix->array);
	free(fix);
}

static struct lpl_reducer_stage *fix_new(uint64_t number, unsigned int shift,
					 struct lpl_sink *next)
{
	struct sad2_fix *fix = calloc(1, sizeof(*fix));

	if (fix == NULL)
		return NULL;
	fix->stage.sink = (struct lpl_sink){fix_refs, fix_event, fix_finish};
	fix->stage.flush = fix_flush;
	fix->stage.close = fix_close;
	fix->kept = (struct lpl_sink){keep_refs, keep_event, keep_finish};
	fix->outlet.next = next;
	fix->shift = shift;
	fix->batch = least_batch((uint32_t)number);
	lpl_fixpoint_init(&fix->fixpoint, (uint32_t)number);
	lpl_event_queue_init(&fix->events);
	fix->sad = lpl_method_sad.open(number, shift, &fix->kept);
	if (!lpl_pages_init_with(&fix->pages, sizeof(uint32_t)) || fix->sad == NULL) {
		fix_close(&fix->stage);
		return NULL;
	}
	return &fix->stage;
}

/* No fenced form, as of sad2. */
const struct lpl_method lpl_method_sad2_fix = {
	.name = "sad2-fix",
	.letter = "K",
	.unit = LPL_UNIT_PAGES,
	.drops = LPL_DROPS_ANYWHERE,
	.claims = LPL_CLAIM_LRU,
	.open = fix_new,
};
