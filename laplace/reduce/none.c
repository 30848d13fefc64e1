/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What drops nothing: everything passes untouched, offsets and lengths too.  `none` is
 * there to be named; `fence` and `unfence` decide what the methods after them respect.
 */
#include "method.h"

#include <stdlib.h>

struct none {
	struct lpl_reducer_stage stage;
	struct lpl_sink *next;
};

static enum lpl_error none_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_sink *next = ((struct none *)sink)->next;

	return next->refs(next, refs, count, report);
}

static enum lpl_error none_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_sink *next = ((struct none *)sink)->next;

	return next->event(next, event, report);
}

static enum lpl_error none_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *next = ((struct none *)sink)->next;

	return next->finish(next, report);
}

static void none_close(struct lpl_reducer_stage *stage)
{
	free(stage);
}

static struct lpl_reducer_stage *none_new(uint64_t number, unsigned int shift,
					  struct lpl_sink *next)
{
	struct none *none = calloc(1, sizeof(*none));

	(void)number;
	(void)shift;
	if (none == NULL)
		return NULL;
	none->stage.sink = (struct lpl_sink){none_refs, none_event, none_finish};
	none->stage.close = none_close;
	none->next = next;
	return &none->stage;
}

const struct lpl_method lpl_method_none = {
	.name = "none",
	.drops = LPL_DROPS_NOTHING,
	.unmentioned = true,
	.open = none_new,
};

const struct lpl_method lpl_method_fence = {
	.name = "fence",
	.drops = LPL_DROPS_NOTHING,
	.fencing = LPL_FENCING_BEGINS,
	.open = none_new,
};

const struct lpl_method lpl_method_unfence = {
	.name = "unfence",
	.drops = LPL_DROPS_NOTHING,
	.fencing = LPL_FENCING_ENDS,
	.open = none_new,
};
