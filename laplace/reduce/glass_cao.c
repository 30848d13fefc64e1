/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `glass-cao:N`: the first and the last reference of each period in
 * which a page is active, as in the traces of Glass and Cao.
 *
 * Execution is cut into segments of N instructions: a reference is made in segment
 * instr / N.  A page becomes active with a reference made when it is not, and is so
 * until a whole segment has passed without one: two successive references to it
 * are of one period exactly when the later one's segment is at most the earlier
 * one's plus 1.  Of each period the first reference ("in") and the last ("out") are
 * kept, with their own clocks, in the order of time; one, if there is but one.
 * The last is a write if any reference of the period after the first is.
 *
 * How this relates to the paper's description (section 2.2): there, at the end of a
 * segment, a record "in" is emitted for each page first referenced for more than a
 * segment, and one "out" for each page no longer referenced for more than a
 * segment, to be read by a simulator made for it.  The periods are the same.  Our
 * records are the references that begin and end them, in their own places, so that
 * the result is a reference trace like others, and says more than the ends of
 * segments do.
 *
 * Why plain simulators are not exact on it.  Between its "in" and its "out" a page
 * is referenced in every other segment at least, but no record says so.  A
 * simulator made for such traces keeps active pages in memory, and is exact when
 * they all fit in and nothing that is active would ever be evicted.  A plain one
 * sees the page age: LRU evicts it once enough other pages were fetched, OPT does not
 * know that it is needed.  They are exact only for a memory that is larger than the
 * LRU distance from any "in" to its "out"; that is known when the trace has ended,
 * and may be all pages of the program.  So nothing is promised.
 *
 * What is held back: a page's latest reference, other than an "in", is dropped when
 * the page is referenced again in the same segment or the next.  Once that has passed
 * it is final.  So what is held was made in this segment or the one before, and is two
 * references a page at most: memory is O(pages active in two segments), and held
 * events as in sad.c.
 */
#include "base/try.h"
#include "method.h"
#include "pending.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* What is known of a page. */
struct active {
	uint64_t segment;	/* of its last reference */
	uint32_t pending;	/* that reference, unless it is the period's first */
	bool known;		/* it was referenced at all */
};

struct glass_cao {
	struct lpl_reducer_stage stage;
	uint64_t length;	/* N */
	uint64_t now;		/* instructions */
	uint64_t segment;	/* this one ... */
	uint64_t start;		/* ... and its first instruction */
	struct lpl_pages pages;	/* with a struct active each */
	struct lpl_pending pending;
};

static enum lpl_error no_memory(const struct glass_cao *gc, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY,
			"reduction glass-cao:%" PRIu64 ": no memory to hold more", gc->length);
}

static struct active *active_of(const struct glass_cao *gc, uint32_t i)
{
	return LPL_PAYLOAD(&gc->pages, struct active, i);
}

/* Is page i active in this segment, whatever follows? */
static bool is_active(const struct glass_cao *gc, uint32_t i)
{
	const struct active *active = active_of(gc, i);

	return active->known && gc->segment - active->segment < 2;
}

/* Another segment begins: what is final now is sent on. */
static enum lpl_error advance(struct glass_cao *gc, struct lpl_report *report)
{
	uint64_t segment = gc->now / gc->length;

	assert(segment > gc->segment);
	gc->segment = segment;
	gc->start = segment * gc->length;
	for (;;) {
		uint32_t oldest = lpl_pending_oldest(&gc->pending);

		if (oldest == 0 ||
		    segment - lpl_pending_ref(&gc->pending, oldest)->instr / gc->length < 2)
			return LPL_OK;
		LPL_TRY(lpl_pending_send(&gc->pending, report));
	}
}

/* The page becomes the newest; its number, 0 when there is no memory. */
static uint32_t make_newest(struct glass_cao *gc, struct lpl_page page)
{
	uint32_t i = lpl_pages_hit(&gc->pages, page);
	uint32_t oldest = lpl_pages_oldest(&gc->pages);

	if (i != 0)
		return i;
	return lpl_pages_enter(&gc->pages, page, is_active(gc, oldest) ? 0 : oldest);
}

/* Keep the reference `ref` to page i; drop the period's last one, unless it is the first. */
static enum lpl_error keep(struct glass_cao *gc, uint32_t i, const struct lpl_ref *ref,
			   struct lpl_report *report)
{
	struct active *active = active_of(gc, i);
	bool begins = !is_active(gc, i);

	assert(active->segment <= gc->segment);
	if (!begins && active->pending != 0) {
		lpl_pending_replace(&gc->pending, active->pending, ref);
	} else {
		uint32_t added = lpl_pending_add(&gc->pending, ref);

		if (added == 0)
			return no_memory(gc, report);
		active->pending = begins ? 0 : added;
	}
	active->known = true;
	active->segment = gc->segment;
	return LPL_OK;
}

static enum lpl_error glass_cao_refs(struct lpl_sink *sink, const struct lpl_ref *refs,
				     size_t count, struct lpl_report *report)
{
	struct glass_cao *gc = (struct glass_cao *)sink;

	for (size_t j = 0; j < count; j++) {
		const struct lpl_ref *ref = &refs[j];
		uint32_t i;

		if (ref->instr < gc->now)
			return lpl_fail(report, LPL_ERR_ORDER,
					"reduction glass-cao:%" PRIu64 ": instruction %" PRIu64
					" (reference %" PRIu64 ") comes after instruction %" PRIu64,
					gc->length, ref->instr, ref->ref, gc->now);
		gc->now = ref->instr;
		if (gc->now - gc->start >= gc->length)
			LPL_TRY(advance(gc, report));
		i = make_newest(gc, lpl_page_of(ref, gc->pending.shift));
		if (i == 0)
			return no_memory(gc, report);
		LPL_TRY(keep(gc, i, ref, report));
	}
	return LPL_OK;
}

static enum lpl_error glass_cao_event(struct lpl_sink *sink, const struct lpl_event *event,
				      struct lpl_report *report)
{
	return lpl_pending_event(&((struct glass_cao *)sink)->pending, event, report);
}

/* A period that is not over gets one record more: its latest reference until now. */
static enum lpl_error glass_cao_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	struct glass_cao *gc = (struct glass_cao *)stage;

	for (uint32_t i = 1; i <= gc->pages.count; i++)
		active_of(gc, i)->pending = 0;
	return lpl_pending_flush(&gc->pending, report);
}

static enum lpl_error glass_cao_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return lpl_pending_finish(&((struct glass_cao *)sink)->pending, report);
}

static void glass_cao_close(struct lpl_reducer_stage *stage)
{
	struct glass_cao *gc = (struct glass_cao *)stage;

	lpl_pages_free(&gc->pages);
	lpl_pending_free(&gc->pending);
	free(gc);
}

static struct lpl_reducer_stage *glass_cao_new(uint64_t number, unsigned int shift,
					       struct lpl_sink *next)
{
	struct glass_cao *gc = calloc(1, sizeof(*gc));

	if (gc == NULL)
		return NULL;
	gc->stage.sink = (struct lpl_sink){glass_cao_refs, glass_cao_event, glass_cao_finish};
	gc->stage.flush = glass_cao_flush;
	gc->stage.close = glass_cao_close;
	gc->length = number;
	if (!lpl_pending_init(&gc->pending, shift, next) ||
	    !lpl_pages_init_with(&gc->pages, sizeof(struct active))) {
		glass_cao_close(&gc->stage);
		return NULL;
	}
	return &gc->stage;
}

const struct lpl_method lpl_method_glass_cao = {
	.name = "glass-cao",
	.letter = "N",
	.unit = LPL_UNIT_INSTRUCTIONS,
	.drops = LPL_DROPS_ANYWHERE,
	.open = glass_cao_new,
};
