/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `in-out:N`: the "in" and "out" records of Glass and Cao.
 *
 * Segments and periods are those of `glass-cao:N`: execution is cut into segments of N
 * instructions, and a page is active from a reference made when it is not until a whole segment has
 * passed without one.  A record "in" is the first reference of a period, kept in its place.  A record
 * "out" is an event LPL_EVENT_OUT where the period is known to be over: where the second segment after
 * that of its last reference begins.  It says when that reference was made, and whether one after the
 * first wrote.  Those of one place are in the order of their last references.  A period that is not
 * known to be over when the trace ends has no "out".
 *
 * This is no reference trace, but a simulator that keeps active pages in memory is exact for LRU if
 * all of them fit: a page that is not reported yet was referenced in this segment or the one before,
 * those that were reported are older, and their order is known.  So a victim is the one reported
 * first.  The largest number of pages that are active and not reported at one time is therefore the
 * smallest memory that can be simulated.  It is known when the trace has ended, and an event
 * LPL_EVENT_LEAST_MEMORY says it there.  `replay` (replay.c) makes a reference trace of the records.
 *
 * Memory is O(pages active in two segments), and nothing is held back.
 */
#include "base/try.h"
#include "method.h"
#include "pages.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* What is known of a page. */
struct period {
	uint64_t ref, instr, cycle;	/* clocks of its last reference */
	bool active;
	bool written;			/* by a reference after the first */
};

struct in_out {
	struct lpl_reducer_stage stage;
	struct lpl_outlet outlet;
	unsigned int shift;	/* of the pages */
	uint64_t length;	/* N */
	uint64_t segment;	/* this one ... */
	uint64_t start;		/* ... and its first instruction */
	uint64_t ref, instr, cycle;	/* clocks of the last record */
	uint64_t active, most;	/* pages not reported: now, and at most so far */
	struct lpl_pages pages;	/* with a struct period each */
};

static struct period *period_of(const struct in_out *io, uint32_t i)
{
	return LPL_PAYLOAD(&io->pages, struct period, i);
}

static enum lpl_error send_out(struct in_out *io, uint32_t i, struct lpl_report *report)
{
	struct period *period = period_of(io, i);
	const struct lpl_page page = io->pages.node[i].page;
	const struct lpl_event event = {
		.ref = io->ref,
		.instr = io->start,
		.cycle = io->cycle,
		.tag = LPL_EVENT_OUT,
		.arg = {
			[LPL_EVENT_OUT_SPACE] = page.space,
			[LPL_EVENT_OUT_ADDRESS] = page.number << io->shift,
			[LPL_EVENT_OUT_REFERENCE] = period->ref,
			[LPL_EVENT_OUT_INSTRUCTION] = period->instr,
			[LPL_EVENT_OUT_CYCLE] = period->cycle,
			[LPL_EVENT_OUT_WRITTEN] = period->written,
		},
	};

	assert(period->active && io->active != 0);
	period->active = false;
	io->active--;
	return lpl_outlet_event(&io->outlet, &event, report);
}

/* Time goes on to `instr`: where another segment begins, periods turn out to be over. */
static enum lpl_error advance(struct in_out *io, uint64_t instr, struct lpl_report *report)
{
	if (instr - io->start < io->length)
		return LPL_OK;
	io->segment = instr / io->length;
	io->start = io->segment * io->length;
	for (uint32_t i = lpl_pages_oldest(&io->pages); i != 0; i = io->pages.node[i].newer) {
		const struct period *period = period_of(io, i);

		if (!period->active)
			continue;
		if (io->segment - period->instr / io->length < 2)
			break;
		LPL_TRY(send_out(io, i, report));
	}
	return LPL_OK;
}

static enum lpl_error check_order(const struct in_out *io, const struct lpl_ref *ref,
				  struct lpl_report *report)
{
	if (ref->instr >= io->instr)
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_ORDER, "reduction in-out:%" PRIu64 ": instruction %" PRIu64
			" (reference %" PRIu64 ") comes after instruction %" PRIu64, io->length,
			ref->instr, ref->ref, io->instr);
}

/* The page becomes the newest; its number, 0 when there is no memory. */
static uint32_t make_newest(struct in_out *io, struct lpl_page page)
{
	uint32_t i = lpl_pages_hit(&io->pages, page);
	uint32_t oldest = lpl_pages_oldest(&io->pages);

	if (i != 0)
		return i;
	return lpl_pages_enter(&io->pages, page,
			       oldest != 0 && period_of(io, oldest)->active ? 0 : oldest);
}

/* A period begins. */
static enum lpl_error send_in(struct in_out *io, struct period *period, const struct lpl_ref *ref,
			      struct lpl_report *report)
{
	struct lpl_ref in = *ref;

	period->active = true;
	period->written = false;
	io->active++;
	if (io->active > io->most)
		io->most = io->active;
	lpl_make_paged(&in, io->shift);
	return lpl_outlet_ref(&io->outlet, &in, report);
}

static enum lpl_error take(struct in_out *io, const struct lpl_ref *ref, struct lpl_report *report)
{
	struct period *period;
	uint32_t i;

	LPL_TRY(check_order(io, ref, report));
	LPL_TRY(advance(io, ref->instr, report));
	i = make_newest(io, lpl_page_of(ref, io->shift));
	if (i == 0)
		return lpl_fail(report, LPL_ERR_MEMORY, "reduction in-out:%" PRIu64
				": no memory for another page", io->length);
	period = period_of(io, i);
	io->ref = period->ref = ref->ref;
	io->instr = period->instr = ref->instr;
	io->cycle = period->cycle = ref->cycle;
	if (!period->active)
		return send_in(io, period, ref, report);
	period->written |= lpl_is_write(ref);
	return LPL_OK;
}

static enum lpl_error in_out_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				  struct lpl_report *report)
{
	for (size_t j = 0; j < count; j++)
		LPL_TRY(take((struct in_out *)sink, &refs[j], report));
	return LPL_OK;
}

static enum lpl_error in_out_event(struct lpl_sink *sink, const struct lpl_event *event,
				   struct lpl_report *report)
{
	struct in_out *io = (struct in_out *)sink;

	if (event->instr > io->instr) {
		LPL_TRY(advance(io, event->instr, report));
		io->instr = event->instr;
	}
	if (event->ref > io->ref)
		io->ref = event->ref;
	if (event->cycle > io->cycle)
		io->cycle = event->cycle;
	return lpl_outlet_event(&io->outlet, event, report);
}

static enum lpl_error in_out_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	return lpl_outlet_flush(&((struct in_out *)stage)->outlet, report);
}

static enum lpl_error in_out_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct in_out *io = (struct in_out *)sink;
	const struct lpl_event event = {
		.ref = io->ref,
		.instr = io->instr,
		.cycle = io->cycle,
		.tag = LPL_EVENT_LEAST_MEMORY,
		.arg = { [LPL_EVENT_LEAST_MEMORY_PAGES] = io->most },
	};

	if (io->most != 0)
		LPL_TRY(lpl_outlet_event(&io->outlet, &event, report));
	return lpl_outlet_finish(&io->outlet, report);
}

static void in_out_close(struct lpl_reducer_stage *stage)
{
	struct in_out *io = (struct in_out *)stage;

	lpl_pages_free(&io->pages);
	free(io);
}

static struct lpl_reducer_stage *in_out_new(uint64_t number, unsigned int shift,
					    struct lpl_sink *next)
{
	struct in_out *io = calloc(1, sizeof(*io));

	if (io == NULL)
		return NULL;
	io->stage.sink = (struct lpl_sink){in_out_refs, in_out_event, in_out_finish};
	io->stage.flush = in_out_flush;
	io->stage.close = in_out_close;
	io->outlet.next = next;
	io->length = number;
	io->shift = shift;
	if (!lpl_pages_init_with(&io->pages, sizeof(struct period))) {
		free(io);
		return NULL;
	}
	return &io->stage;
}

const struct lpl_method lpl_method_in_out = {
	.name = "in-out",
	.letter = "N",
	.unit = LPL_UNIT_INSTRUCTIONS,
	.drops = LPL_DROPS_ANYWHERE,
	.makes_records = true,
	.open = in_out_new,
};
