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
 * the result is a reference trace like others, and tells more than the ends of
 * segments do.
 *
 * Why plain simulators are not exact on it.  Between its "in" and its "out" a page
 * is referenced in every other segment at least, but no record says so.  A
 * simulator made for such traces keeps active pages in memory, and is exact when
 * they all fit in and nothing that is active would ever be evicted.  A plain one
 * sees the page age: LRU evicts it once enough other pages came in, OPT does not
 * know that it is needed.  They are exact only for a memory that is larger than the
 * LRU distance from any "in" to its "out"; that is known when the trace has ended,
 * and may be all pages of the program.  So nothing is promised.
 *
 * What is held back: a page's latest reference, other than an "in", is dropped when
 * another one comes in its own segment or the next.  Once that has passed it is
 * final.  So what is held was made in this segment or the one before, and is two
 * references a page at most: memory is O(pages active in two segments), and held
 * events as in sad.c.
 */
#include "held.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is known of a page. */
struct active {
	uint64_t segment;	/* of its last reference */
	uint32_t held;		/* that reference, unless it is the period's first */
	bool known;		/* it was referenced at all */
};

struct glass_cao {
	struct lpl_stage stage;
	uint64_t length;	/* N */
	uint64_t now;		/* instructions */
	uint64_t segment;	/* this one ... */
	uint64_t start;		/* ... and its first instruction */
	struct lpl_pages pages;
	struct active *active;	/* by page number */
	size_t active_capacity;
	struct lpl_held held;
};

static int no_memory(const struct glass_cao *gc, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY,
			"reduction glass-cao:%" PRIu64 ": no memory to hold more", gc->length);
}

/* Is page i active in this segment, whatever comes? */
static bool is_active(const struct glass_cao *gc, uint32_t i)
{
	return gc->active[i].known && gc->segment - gc->active[i].segment < 2;
}

/* Another segment begins: what is final now is sent on. */
static int advance(struct glass_cao *gc, struct lpl_report *report)
{
	uint64_t segment = gc->now / gc->length;
	int error = LPL_OK;

	gc->segment = segment;
	gc->start = segment * gc->length;
	while (error == LPL_OK) {
		uint32_t oldest = lpl_held_oldest(&gc->held);

		if (oldest == 0 ||
		    segment - lpl_held_ref(&gc->held, oldest)->instr / gc->length < 2)
			break;
		error = lpl_held_send(&gc->held, report);
	}
	return error;
}

/* The page becomes the newest; its number, 0 when there is no memory. */
static uint32_t make_newest(struct glass_cao *gc, struct lpl_page page)
{
	struct lpl_pages *pages = &gc->pages;
	uint32_t i = lpl_pages_find(pages, page);
	uint32_t oldest = lpl_pages_oldest(pages);

	if (i != 0) {
		lpl_pages_touch(pages, i);
		return i;
	}
	if (oldest != 0 && !is_active(gc, oldest)) {
		i = lpl_pages_replace_oldest(pages, page);
	} else {
		i = lpl_pages_add(pages, page);
		if (i == 0 || !lpl_reach(gc->active, gc->active_capacity, i))
			return 0;
	}
	gc->active[i] = (struct active){0};
	return i;
}

/* Keep the reference `ref` to page i; drop the period's last one, unless it is the first. */
static int keep(struct glass_cao *gc, uint32_t i, const struct lpl_ref *ref,
		struct lpl_report *report)
{
	struct active *active = &gc->active[i];
	bool begins = !is_active(gc, i);

	if (!begins && active->held != 0) {
		lpl_held_renew(&gc->held, active->held, ref);
	} else {
		uint32_t held = lpl_held_add(&gc->held, ref);

		if (held == 0)
			return no_memory(gc, report);
		active->held = begins ? 0 : held;
	}
	active->known = true;
	active->segment = gc->segment;
	return LPL_OK;
}

static int glass_cao_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			  struct lpl_report *report)
{
	struct glass_cao *gc = (struct glass_cao *)sink;

	for (size_t j = 0; j < count; j++) {
		const struct lpl_ref *ref = &refs[j];
		struct lpl_page page = lpl_page_of(ref);
		uint32_t i = lpl_pages_newest(&gc->pages);
		int error = LPL_OK;

		if (ref->instr < gc->now)
			return lpl_fail(report, LPL_ERR_ORDER,
					"reduction glass-cao:%" PRIu64 ": instruction %" PRIu64
					" (reference %" PRIu64 ") comes after instruction %" PRIu64,
					gc->length, ref->instr, ref->ref, gc->now);
		gc->now = ref->instr;
		if (gc->now - gc->start >= gc->length)
			error = advance(gc, report);
		if (error != LPL_OK)
			return error;
		if (i == 0 || !lpl_same_page(page, gc->pages.node[i].page)) {
			i = make_newest(gc, page);
			if (i == 0)
				return no_memory(gc, report);
		}
		error = keep(gc, i, ref, report);
		if (error != LPL_OK)
			return error;
	}
	return LPL_OK;
}

static int glass_cao_event(struct lpl_sink *sink, const struct lpl_event *event,
			   struct lpl_report *report)
{
	return lpl_held_event(&((struct glass_cao *)sink)->held, event, report);
}

/* A period that goes on has one record more: its latest reference until now. */
static int glass_cao_flush(struct lpl_stage *stage, struct lpl_report *report)
{
	struct glass_cao *gc = (struct glass_cao *)stage;

	for (uint32_t i = 1; i <= gc->pages.count; i++)
		gc->active[i].held = 0;
	return lpl_held_flush(&gc->held, report);
}

static int glass_cao_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return lpl_held_finish(&((struct glass_cao *)sink)->held, report);
}

static void glass_cao_close(struct lpl_stage *stage)
{
	struct glass_cao *gc = (struct glass_cao *)stage;

	lpl_pages_free(&gc->pages);
	lpl_held_free(&gc->held);
	free(gc->active);
	free(gc);
}

struct lpl_stage *lpl_glass_cao_new(uint64_t number, struct lpl_sink *next)
{
	struct glass_cao *gc = calloc(1, sizeof(*gc));

	if (gc == NULL)
		return NULL;
	gc->stage.sink = (struct lpl_sink){glass_cao_refs, glass_cao_event, glass_cao_finish};
	gc->stage.flush = glass_cao_flush;
	gc->stage.close = glass_cao_close;
	gc->length = number;
	if (!lpl_held_init(&gc->held, next) || !lpl_pages_init(&gc->pages)) {
		glass_cao_close(&gc->stage);
		return NULL;
	}
	return &gc->stage;
}
