/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reducer: a chain of stages, one for each step of its SPEC.
 *
 * If it leaves out references, instructions among them, the bytes of instructions (LPL_EVENT_CODE) go no
 * further: they are of no use without each fetch, and would be most of what is left.
 */
#include "base/try.h"
#include "fence_state.h"
#include "reduction.h"

#include <assert.h>
#include <stdlib.h>

struct lpl_reducer {
	struct lpl_sink sink;	/* sends to the first stage */
	bool drops;
	size_t count;
	struct lpl_reducer_stage *stage[];	/* the first stage is the first to receive */
};

static struct lpl_sink *first_stage(struct lpl_sink *sink)
{
	struct lpl_reducer *reducer = (struct lpl_reducer *)sink;

	assert(reducer->count > 0);
	return &reducer->stage[0]->sink;
}

static enum lpl_error send_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_sink *first = first_stage(sink);

	return first->refs(first, refs, count, report);
}

static enum lpl_error send_event(struct lpl_sink *sink, const struct lpl_event *event, struct lpl_report *report)
{
	struct lpl_sink *first = first_stage(sink);

	if (event->tag == LPL_EVENT_CODE && ((struct lpl_reducer *)sink)->drops)
		return LPL_OK;
	return first->event(first, event, report);
}

static enum lpl_error send_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *first = first_stage(sink);

	return first->finish(first, report);
}

/*
 * What makes a step's stage.  `fenced`: it is after a fence of its own SPEC;
 * `behaviour`: it gets a behaviour sequence.
 */
static lpl_stage_new *opener(const struct lpl_method *method, bool fenced, bool behaviour)
{
	if (behaviour && method->open_behaviour != NULL)
		return method->open_behaviour;
	return fenced && method->open_fenced != NULL ? method->open_fenced : method->open;
}

/* log2 of the size of the pages that a step knows (lpl_page_of()). */
static unsigned int shift_of(const struct lpl_reduction *reduction)
{
	unsigned int shift = 0;

	while (shift < LPL_PAGE_SHIFT && UINT64_C(1) << shift < lpl_page_bytes(reduction))
		shift++;
	return shift;
}

enum lpl_error lpl_reducer_open(struct lpl_reducer **reducer, const char *before,
				const char *spec, struct lpl_sink *next,
				struct lpl_report *report)
{
	struct lpl_steps steps;
	lpl_stage_new *open[LPL_MOST_STEPS];
	unsigned int shift[LPL_MOST_STEPS];
	struct lpl_reduction state;
	struct lpl_reduction end;
	struct lpl_reducer *opened;

	*reducer = NULL;
	LPL_TRY(lpl_spec_parse_new(&steps, spec, report));
	(void)lpl_reduction_read(&state, before);
	end = state;
	LPL_TRY(lpl_reduction_follow(&end, &steps, report));
	opened = calloc(1, sizeof(*opened) + steps.count * sizeof(opened->stage[0]));
	if (opened == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "reduction '%s': no memory", spec);
	opened->sink = (struct lpl_sink){ send_refs, send_event, send_finish };
	opened->count = steps.count;
	state.fenced = false;
	for (size_t i = 0; i < steps.count; i++) {
		opened->drops |= steps.step[i].method->drops != LPL_DROPS_NOTHING;
		open[i] = opener(steps.step[i].method, state.fenced, state.behaviour != 0);
		lpl_reduction_apply(&state, &steps.step[i]);
		shift[i] = shift_of(&state);
	}
	for (size_t i = steps.count; i-- > 0;) {
		opened->stage[i] = open[i](steps.step[i].number, shift[i], next);
		if (opened->stage[i] == NULL) {
			lpl_reducer_close(opened);
			return lpl_fail(report, LPL_ERR_MEMORY, "reduction '%s': no memory", spec);
		}
		next = &opened->stage[i]->sink;
	}
	*reducer = opened;
	return LPL_OK;
}

struct lpl_sink *lpl_reducer_sink(struct lpl_reducer *reducer)
{
	return &reducer->sink;
}

enum lpl_error lpl_reducer_flush(struct lpl_reducer *reducer, struct lpl_report *report)
{
	for (size_t i = 0; i < reducer->count; i++)
		if (reducer->stage[i]->flush != NULL)
			LPL_TRY(reducer->stage[i]->flush(reducer->stage[i], report));
	return LPL_OK;
}

struct lpl_fence lpl_reducer_fence(const struct lpl_reducer *reducer)
{
	for (size_t i = 0; i < reducer->count; i++)
		if (reducer->stage[i]->fence != NULL)
			return *reducer->stage[i]->fence;
	return (struct lpl_fence){ .offsets = 0 };
}

void lpl_reducer_set_fence(struct lpl_reducer *reducer, const struct lpl_fence *fence)
{
	for (size_t i = 0; i < reducer->count; i++)
		if (reducer->stage[i]->fence != NULL)
			*reducer->stage[i]->fence = *fence;
}

void lpl_reducer_close(struct lpl_reducer *reducer)
{
	if (reducer == NULL)
		return;
	for (size_t i = 0; i < reducer->count; i++)
		if (reducer->stage[i] != NULL)
			reducer->stage[i]->close(reducer->stage[i]);
	free(reducer);
}
