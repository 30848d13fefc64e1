/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stage of a reducer: a sink that can be closed, and the outlet through which
 * it delivers to the next one.
 */
#ifndef LAPLACE_REDUCE_STAGE_H
#define LAPLACE_REDUCE_STAGE_H

#include <assert.h>

#include <laplace/error.h>
#include <laplace/record.h>

#include "base/try.h"

struct lpl_fence;

struct lpl_reducer_stage {
	struct lpl_sink sink;	/* first: a stage is found from its sink */
	/*
	 * Send on what is decided by now, see lpl_reducer_flush().  It does not call the
	 * next stage's.  NULL: nothing is ever held back.
	 */
	enum lpl_error (*flush)(struct lpl_reducer_stage *stage, struct lpl_report *report);
	void (*close)(struct lpl_reducer_stage *stage);
	struct lpl_fence *fence;	/* what it knows from events (fence.h); NULL: nothing */
};

/*
 * Make a stage; NULL: no memory.  `number` is the method's K, TAU, BYTES ... (0 without
 * one), checked to be in its range; `shift` is log2 of the size of a page (lpl_page_of()).
 */
typedef struct lpl_reducer_stage *lpl_stage_new(uint64_t number, unsigned int shift,
						struct lpl_sink *next);

/* Gathers references, so that the next stage is called once for many. */
enum { LPL_OUTLET_REFS = 256 };

struct lpl_outlet {
	struct lpl_sink *next;
	size_t count;
	struct lpl_ref ref[LPL_OUTLET_REFS];
};

static inline enum lpl_error lpl_outlet_flush(struct lpl_outlet *outlet, struct lpl_report *report)
{
	size_t count = outlet->count;

	outlet->count = 0;
	return count == 0 ? LPL_OK : outlet->next->refs(outlet->next, outlet->ref, count, report);
}

static inline enum lpl_error lpl_outlet_ref(struct lpl_outlet *outlet, const struct lpl_ref *ref,
					    struct lpl_report *report)
{
	assert(outlet->count < LPL_OUTLET_REFS);
	outlet->ref[outlet->count++] = *ref;
	return outlet->count < LPL_OUTLET_REFS ? LPL_OK : lpl_outlet_flush(outlet, report);
}

/* Likewise, without what a reducer has in `reserved`. */
static inline enum lpl_error lpl_outlet_paged(struct lpl_outlet *outlet, const struct lpl_ref *ref,
					      struct lpl_report *report)
{
	struct lpl_ref *sent = &outlet->ref[outlet->count++];

	*sent = *ref;	/* as a whole: a field changed before would have to arrive first */
	sent->reserved = 0;
	return outlet->count < LPL_OUTLET_REFS ? LPL_OK : lpl_outlet_flush(outlet, report);
}

static inline enum lpl_error lpl_outlet_event(struct lpl_outlet *outlet,
					      const struct lpl_event *event,
					      struct lpl_report *report)
{
	LPL_TRY(lpl_outlet_flush(outlet, report));
	return outlet->next->event(outlet->next, event, report);
}

static inline enum lpl_error lpl_outlet_finish(struct lpl_outlet *outlet, struct lpl_report *report)
{
	LPL_TRY(lpl_outlet_flush(outlet, report));
	return outlet->next->finish(outlet->next, report);
}

#endif
