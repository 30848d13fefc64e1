/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `irg:THETA`: Phalke and Gopinath's inter-reference gap filter.
 *
 * Exactly those references are kept that are the first to their page within THETA
 * references: they are their page's first of all, or now.ref - last.ref > THETA,
 * where `last` is the page's reference before, kept or not.  The clock is `ref`, as
 * in sad-ws:TAU.  These are the references that fault in a working set of THETA;
 * `irg` is to that what sd:K is to LRU.
 *
 * It is exact for nothing: when a page leaves the working set follows from its last
 * reference, and that is dropped unless it was fetched by it (paper, section 2.2).
 * For WS and VMIN of THETA itself the number of faults is right, and with one more number the mean
 * size of memory (paper, note 1).  The event LPL_EVENT_GAPS at the end has it: the sum S of all
 * distances between successive references to a page that are not above THETA.  VMIN keeps a page for
 * these distances and for one reference after each that has none, which are as many as faults F: its
 * space-time is S + F.  WS keeps it for THETA then: S + THETA F, less what the end of the trace cuts
 * off of that, which the event has, too.
 *
 * Dirtiness: as in sd.c, a dropped write makes the next reference kept of its page
 * a write, which is the one that fetches it the next time, or is lost.
 *
 * Nothing is held back, and events pass at once.  Memory is O(distinct pages in
 * THETA references) and what it takes to remember those pages among the others to
 * which a write was dropped.
 */
#include "base/try.h"
#include "dropped_writes.h"
#include "method.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is known of a page. */
struct recent {
	uint64_t last;		/* .ref of its last reference */
	bool written;		/* by a reference dropped since the last one kept */
};

struct irg {
	struct lpl_reducer_stage stage;
	struct lpl_outlet outlet;
	uint64_t theta;
	unsigned int shift;	/* log2 of a page's size */
	uint64_t now;
	uint64_t ref, instr, cycle;	/* clocks of the last record */
	uint64_t sum;		/* of the distances that are not above theta */
	struct lpl_pages pages;	/* with a struct recent each */
	struct lpl_dropped_writes dropped;	/* to pages that are not there */
};

static struct recent *recent_of(const struct irg *irg, uint32_t i)
{
	return LPL_PAYLOAD(&irg->pages, struct recent, i);
}

/* Add a page that is not there, perhaps in place of one long past.  0: no memory. */
static uint32_t enter(struct irg *irg, struct lpl_page page)
{
	struct lpl_pages *pages = &irg->pages;
	uint32_t i = lpl_pages_oldest(pages);

	if (i != 0 && irg->now - recent_of(irg, i)->last <= irg->theta)
		i = 0;
	if (i != 0 && recent_of(irg, i)->written &&
	    !lpl_dropped_writes_add(&irg->dropped, pages->node[i].page))
		return 0;
	i = lpl_pages_enter(pages, page, i);
	if (i != 0)
		recent_of(irg, i)->written = lpl_dropped_writes_take(&irg->dropped, page);
	return i;
}

static enum lpl_error keep(struct irg *irg, uint32_t i, struct lpl_ref ref,
			   struct lpl_report *report)
{
	struct recent *recent = recent_of(irg, i);

	lpl_make_paged(&ref, irg->shift);
	if (recent->written)
		lpl_make_write(&ref);
	recent->written = false;
	return lpl_outlet_ref(&irg->outlet, &ref, report);
}

static enum lpl_error irg_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			       struct lpl_report *report)
{
	struct irg *irg = (struct irg *)sink;

	for (size_t j = 0; j < count; j++) {
		const struct lpl_ref *ref = &refs[j];
		struct lpl_page page = lpl_page_of(ref, irg->shift);
		struct recent *recent;
		bool new;
		uint32_t i;

		if (ref->ref < irg->now)
			return lpl_fail(report, LPL_ERR_ORDER,
					"reduction irg:%" PRIu64 ": reference %" PRIu64
					" comes after reference %" PRIu64, irg->theta, ref->ref,
					irg->now);
		irg->now = irg->ref = ref->ref;
		irg->instr = ref->instr;
		irg->cycle = ref->cycle;
		i = lpl_pages_hit(&irg->pages, page);
		new = i == 0;
		if (new)
			i = enter(irg, page);
		if (i == 0)
			return lpl_fail(report, LPL_ERR_MEMORY, "reduction irg:%" PRIu64
					": no memory for another page", irg->theta);
		recent = recent_of(irg, i);
		if (new || ref->ref - recent->last > irg->theta) {
			LPL_TRY(keep(irg, i, *ref, report));
		} else {
			recent->written |= lpl_is_write(ref);
			irg->sum += ref->ref - recent->last;
		}
		recent->last = ref->ref;
	}
	return LPL_OK;
}

static enum lpl_error irg_event(struct lpl_sink *sink, const struct lpl_event *event,
				struct lpl_report *report)
{
	struct irg *irg = (struct irg *)sink;

	irg->ref = event->ref;
	irg->instr = event->instr;
	irg->cycle = event->cycle;
	return lpl_outlet_event(&irg->outlet, event, report);
}

static enum lpl_error irg_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	return lpl_outlet_flush(&((struct irg *)stage)->outlet, report);
}

/* How many of the THETA references for which pages stay after their last one the trace does not have. */
static uint64_t cut_off(const struct irg *irg)
{
	uint64_t cut = 0;

	for (uint32_t i = lpl_pages_newest(&irg->pages); i != 0; i = irg->pages.node[i].older) {
		uint64_t stayed = irg->now - recent_of(irg, i)->last + 1;

		if (stayed >= irg->theta)
			break;
		cut += irg->theta - stayed;
	}
	return cut;
}

static enum lpl_error irg_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct irg *irg = (struct irg *)sink;
	const struct lpl_event event = {
		.ref = irg->ref,
		.instr = irg->instr,
		.cycle = irg->cycle,
		.tag = LPL_EVENT_GAPS,
		.arg = {
			[LPL_EVENT_GAPS_SUM] = irg->sum,
			[LPL_EVENT_GAPS_CUT] = cut_off(irg),
			[LPL_EVENT_GAPS_THETA] = irg->theta,
			[LPL_EVENT_GAPS_LAST] = irg->now,
		},
	};

	if (irg->now != 0)
		LPL_TRY(lpl_outlet_event(&irg->outlet, &event, report));
	return lpl_outlet_finish(&irg->outlet, report);
}

static void irg_close(struct lpl_reducer_stage *stage)
{
	struct irg *irg = (struct irg *)stage;

	lpl_pages_free(&irg->pages);
	lpl_dropped_writes_free(&irg->dropped);
	free(irg);
}

static struct lpl_reducer_stage *irg_new(uint64_t number, unsigned int shift,
					 struct lpl_sink *next)
{
	struct irg *irg = calloc(1, sizeof(*irg));

	if (irg == NULL)
		return NULL;
	irg->stage.sink = (struct lpl_sink){irg_refs, irg_event, irg_finish};
	irg->stage.flush = irg_flush;
	irg->stage.close = irg_close;
	irg->outlet.next = next;
	irg->theta = number;
	irg->shift = shift;
	if (!lpl_dropped_writes_init(&irg->dropped) ||
	    !lpl_pages_init_with(&irg->pages, sizeof(struct recent))) {
		irg_close(&irg->stage);
		return NULL;
	}
	return &irg->stage;
}

const struct lpl_method lpl_method_irg = {
	.name = "irg",
	.letter = "THETA",
	.unit = LPL_UNIT_REFERENCES,
	.drops = LPL_DROPS_ANYWHERE,
	.open = irg_new,
};
