/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `lrubs:K`, Coffman and Randell's LRU behaviour sequence, and `annotated:K`, the
 * annotated LRU trace that it is a part of.
 *
 * The result is what an LRU memory of K pages does, and no reference trace:
 * each reference that faults, and directly after it, once the memory is full, an
 * event LPL_EVENT_EVICTED with the fault's clocks and space: the page evicted, and
 * whether it was written to since it was fetched.  Other events keep their place.
 *
 * It has all that `olr:K` needs, and `olr:K` makes a reference trace of it,
 * exact for LRU from K pages on (olr.c).  Which of the pages are dirty that are
 * never evicted is lost; no memory of K pages or more evicts them.  Memory is
 * O(K), and nothing is held back.
 *
 * `annotated:K` has the hits, too (paper, section 4.1): it is the trace itself, of pages, with an
 * event in it wherever a page is evicted.  So all that was exact remains so.  Events of this kind
 * that are there already belong to another memory, and both methods leave them out.
 */
#include "base/try.h"
#include "lru_memory.h"
#include "method.h"

#include <stdlib.h>

struct lrubs {
	struct lpl_reducer_stage stage;
	struct lpl_outlet outlet;
	struct lpl_lru_memory memory;
	bool hits;		/* are wanted, too */
};

static enum lpl_error send_eviction(struct lrubs *lrubs, const struct lpl_ref *ref,
				    const struct lpl_fault *fault, struct lpl_report *report)
{
	const struct lpl_event event = {
		.ref = ref->ref,
		.instr = ref->instr,
		.cycle = ref->cycle,
		.space = ref->space,
		.tag = LPL_EVENT_EVICTED,
		.arg = {
			[LPL_EVENT_EVICTED_SPACE] = fault->victim.space,
			[LPL_EVENT_EVICTED_ADDRESS] = fault->victim.number <<
						      lrubs->memory.shift,
			[LPL_EVENT_EVICTED_DIRTY] = fault->evicted.dirty ? 1 : 0,
		},
	};

	return lpl_outlet_event(&lrubs->outlet, &event, report);
}

static enum lpl_error send_fault(struct lrubs *lrubs, const struct lpl_ref *ref,
				 struct lpl_report *report)
{
	uint32_t victim = lpl_lru_memory_victim(&lrubs->memory);
	struct lpl_ref fetch = *ref;
	struct lpl_fault fault;

	if (!lpl_lru_memory_fetch(&lrubs->memory, ref, victim, &fault))
		return lpl_fail(report, LPL_ERR_MEMORY,
				"reduction %s:%u: no memory for another page",
				lrubs->hits ? "annotated" : "lrubs", lrubs->memory.limit);
	lpl_make_paged(&fetch, lrubs->memory.shift);
	LPL_TRY(lpl_outlet_ref(&lrubs->outlet, &fetch, report));
	return fault.evicts ? send_eviction(lrubs, &fetch, &fault, report) : LPL_OK;
}

static enum lpl_error annotated_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				     struct lpl_report *report)
{
	struct lrubs *lrubs = (struct lrubs *)sink;

	for (size_t j = 0; j < count; j++) {
		struct lpl_ref hit = refs[j];

		if (lpl_lru_memory_hit(&lrubs->memory, &hit)) {
			lpl_make_paged(&hit, lrubs->memory.shift);
			LPL_TRY(lpl_outlet_ref(&lrubs->outlet, &hit, report));
		} else {
			LPL_TRY(send_fault(lrubs, &hit, report));
		}
	}
	return LPL_OK;
}

static enum lpl_error lrubs_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct lrubs *lrubs = (struct lrubs *)sink;

	for (size_t j = 0; j < count; j++)
		if (!lpl_lru_memory_hit(&lrubs->memory, &refs[j]))
			LPL_TRY(send_fault(lrubs, &refs[j], report));
	return LPL_OK;
}

static enum lpl_error lrubs_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	if (event->tag == LPL_EVENT_EVICTED)
		return LPL_OK;
	return lpl_outlet_event(&((struct lrubs *)sink)->outlet, event, report);
}

static enum lpl_error lrubs_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	return lpl_outlet_flush(&((struct lrubs *)stage)->outlet, report);
}

static enum lpl_error lrubs_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return lpl_outlet_finish(&((struct lrubs *)sink)->outlet, report);
}

static void lrubs_close(struct lpl_reducer_stage *stage)
{
	struct lrubs *lrubs = (struct lrubs *)stage;

	lpl_lru_memory_free(&lrubs->memory);
	free(lrubs);
}

static struct lpl_reducer_stage *lrubs_new(uint64_t number, unsigned int shift,
					   struct lpl_sink *next)
{
	struct lrubs *lrubs = calloc(1, sizeof(*lrubs));

	if (lrubs == NULL)
		return NULL;
	lrubs->stage.sink = (struct lpl_sink){lrubs_refs, lrubs_event, lrubs_finish};
	lrubs->stage.flush = lrubs_flush;
	lrubs->stage.close = lrubs_close;
	lrubs->outlet.next = next;
	if (!lpl_lru_memory_init(&lrubs->memory, (uint32_t)number, shift)) {
		lrubs_close(&lrubs->stage);
		return NULL;
	}
	return &lrubs->stage;
}

static struct lpl_reducer_stage *annotated_new(uint64_t number, unsigned int shift,
					      struct lpl_sink *next)
{
	struct lpl_reducer_stage *stage = lrubs_new(number, shift, next);

	if (stage == NULL)
		return NULL;
	stage->sink.refs = annotated_refs;
	((struct lrubs *)stage)->hits = true;
	return stage;
}

const struct lpl_method lpl_method_annotated = {
	.name = "annotated",
	.letter = "K",
	.unit = LPL_UNIT_PAGES,
	.drops = LPL_DROPS_NOTHING,
	.annotates = true,
	.open = annotated_new,
};

const struct lpl_method lpl_method_lrubs = {
	.name = "lrubs",
	.letter = "K",
	.unit = LPL_UNIT_PAGES,
	.drops = LPL_DROPS_ANYWHERE,
	.claims = LPL_CLAIM_LRU,
	.windows = LPL_WINDOWS_FIRST,
	.makes_behaviour = true,
	.open = lrubs_new,
};
