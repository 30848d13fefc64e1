/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `replay`: a reference trace made of the records of `in-out:N`.
 *
 * A record "in" is a reference, and stays.  In the place of the records "out" of one moment stand
 * references to their pages, in the same order, and after them one to each page that is active then:
 * inserted ones, with the clocks of that moment, as nothing was referenced there.  So in the order of
 * recency each active page comes before all that were reported, and these are in the order of their
 * last references, as in the original trace.  For every memory that holds all active pages LRU
 * therefore has the same faults and the same victims (in_out.c says why, and which memories these are).
 *
 * A report of a page that was written to is a write: the page is in memory at that time, and has not
 * been evicted since the write.
 *
 * Memory is O(pages active at a time), and nothing is held back.
 */
#include "base/try.h"
#include "method.h"
#include "pages.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is known of a page. */
struct activity {
	bool active;
	bool user;		/* its record "in" is of user mode */
	uint64_t space;		/* ... and of this space, which a page of walks does not have */
	uint8_t type;
	uint32_t spare;		/* the next place that is free, if this one is */
};

struct replay {
	struct lpl_reducer_stage stage;
	struct lpl_outlet outlet;
	unsigned int shift;	/* of the pages */
	struct lpl_pages pages;	/* with a struct activity each */
	uint32_t spare;		/* a place that is free; 0: there is none */
	bool reported;		/* records "out" were the last of the stream */
	struct lpl_event last;	/* the latest of them */
};

static struct activity *activity_of(const struct replay *replay, uint32_t i)
{
	return LPL_PAYLOAD(&replay->pages, struct activity, i);
}

/* A reference to page i at the moment of the last report. */
static enum lpl_error insert(struct replay *replay, uint32_t i, bool write,
			     struct lpl_report *report)
{
	const struct activity *activity = activity_of(replay, i);
	struct lpl_ref ref = {
		.ref = replay->last.ref,
		.instr = replay->last.instr,
		.cycle = replay->last.cycle,
		.address = replay->pages.node[i].page.number << replay->shift,
		.space = activity->space,
		.type = activity->type,
		.flags = (uint8_t)(LPL_SYNTHETIC | (activity->user ? LPL_USER : 0)),
	};

	lpl_make_paged(&ref, replay->shift);
	if (write)
		lpl_make_write(&ref);
	return lpl_outlet_ref(&replay->outlet, &ref, report);
}

/* All reports of this moment are there: whatever is active is newer than they are. */
static enum lpl_error refresh(struct replay *replay, struct lpl_report *report)
{
	if (!replay->reported)
		return LPL_OK;
	replay->reported = false;
	for (uint32_t i = lpl_pages_oldest(&replay->pages); i != 0;
	     i = replay->pages.node[i].newer)
		if (activity_of(replay, i)->active)
			LPL_TRY(insert(replay, i, false, report));
	return LPL_OK;
}

static enum lpl_error take_in(struct replay *replay, const struct lpl_ref *ref,
			      struct lpl_report *report)
{
	const uint32_t spare = replay->spare;
	struct activity *activity;
	uint32_t i;

	LPL_TRY(refresh(replay, report));
	if (lpl_pages_find(&replay->pages, lpl_page_of(ref, replay->shift)) != 0)
		return lpl_fail(report, LPL_ERR_DAMAGED, "reduction replay: reference %" PRIu64
				" is to a page that is active already", ref->ref);
	if (spare != 0)
		replay->spare = activity_of(replay, spare)->spare;
	i = lpl_pages_enter(&replay->pages, lpl_page_of(ref, replay->shift), spare);
	if (i == 0)
		return lpl_fail(report, LPL_ERR_MEMORY, "reduction replay: no memory for another "
				"page");
	activity = activity_of(replay, i);
	activity->active = true;
	activity->user = (ref->flags & LPL_USER) != 0;
	activity->space = ref->space;
	activity->type = lpl_is_walk(ref) ? LPL_WALK_READ : LPL_READ;
	return lpl_outlet_ref(&replay->outlet, ref, report);
}

static enum lpl_error replay_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				  struct lpl_report *report)
{
	for (size_t j = 0; j < count; j++)
		LPL_TRY(take_in((struct replay *)sink, &refs[j], report));
	return LPL_OK;
}

static enum lpl_error take_out(struct replay *replay, const struct lpl_event *event,
			       struct lpl_report *report)
{
	const uint32_t i = lpl_pages_find(&replay->pages, (struct lpl_page){
		.space = event->arg[LPL_EVENT_OUT_SPACE],
		.number = event->arg[LPL_EVENT_OUT_ADDRESS] >> replay->shift,
	});

	if (i == 0)
		return lpl_fail(report, LPL_ERR_DAMAGED, "reduction replay: after reference %" PRIu64
				" a page is reported that is not active", event->ref);
	replay->reported = true;
	replay->last = *event;
	LPL_TRY(insert(replay, i, event->arg[LPL_EVENT_OUT_WRITTEN] != 0, report));
	activity_of(replay, i)->active = false;
	activity_of(replay, i)->spare = replay->spare;
	replay->spare = i;
	lpl_pages_retire(&replay->pages, i);
	return LPL_OK;
}

static enum lpl_error replay_event(struct lpl_sink *sink, const struct lpl_event *event,
				   struct lpl_report *report)
{
	struct replay *replay = (struct replay *)sink;

	if (event->tag == LPL_EVENT_OUT)
		return take_out(replay, event, report);
	LPL_TRY(refresh(replay, report));
	return lpl_outlet_event(&replay->outlet, event, report);
}

static enum lpl_error replay_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	return lpl_outlet_flush(&((struct replay *)stage)->outlet, report);
}

static enum lpl_error replay_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct replay *replay = (struct replay *)sink;

	LPL_TRY(refresh(replay, report));
	return lpl_outlet_finish(&replay->outlet, report);
}

static void replay_close(struct lpl_reducer_stage *stage)
{
	struct replay *replay = (struct replay *)stage;

	lpl_pages_free(&replay->pages);
	free(replay);
}

static struct lpl_reducer_stage *replay_new(uint64_t number, unsigned int shift,
					    struct lpl_sink *next)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	(void)number;
	if (replay == NULL)
		return NULL;
	replay->stage.sink = (struct lpl_sink){replay_refs, replay_event, replay_finish};
	replay->stage.flush = replay_flush;
	replay->stage.close = replay_close;
	replay->outlet.next = next;
	replay->shift = shift;
	if (!lpl_pages_init_with(&replay->pages, sizeof(struct activity))) {
		free(replay);
		return NULL;
	}
	return &replay->stage;
}

const struct lpl_method lpl_method_replay = {
	.name = "replay",
	.letter = "",
	.unit = LPL_UNIT_NONE,
	.drops = LPL_DROPS_ANYWHERE,
	.adds_references = true,
	.reads_records = true,
	.open = replay_new,
};
