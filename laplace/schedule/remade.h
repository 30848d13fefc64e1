/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trace that the machine would have made: canonical references and events, for a sink. */
#ifndef LAPLACE_SCHEDULE_REMADE_H
#define LAPLACE_SCHEDULE_REMADE_H

#include "parts.h"

enum { REMADE_BATCH = 1024 };

struct remade {
	struct lpl_sink *next;
	struct lpl_parts *parts;
	bool recorded;			/* the order of the trace */
	uint64_t ref;			/* the number that the output has come to */
	size_t count;
	struct lpl_ref batch[REMADE_BATCH];
};

/*
 * `next` is not owned.  It gets the events of the state that there was at the beginning; which task ran
 * then is part of that only in the recorded order.
 */
enum lpl_error lpl_remade_open(struct remade **remade, struct lpl_parts *parts, bool recorded,
			       struct lpl_sink *next, struct lpl_report *report);
enum lpl_error lpl_remade_finish(struct remade *remade, struct lpl_report *report);
void lpl_remade_close(struct remade *remade);		/* NULL is fine */

enum lpl_error lpl_remade_send(struct remade *remade, struct lpl_report *report);

/*
 * A reference to the page with this index, at the machine's clocks; `first`: what the page is
 * comes before it.
 */
enum lpl_error lpl_remade_page(struct remade *remade, uint64_t index, const struct lpl_ref *ref,
			       const struct lpl_identity *task, struct lpl_report *report);

static inline enum lpl_error lpl_remade_reference(struct remade *remade, const struct lpl_item *item,
						  bool first, const struct lpl_identity *task,
						  uint64_t instructions, uint64_t t,
						  struct lpl_report *report)
{
	const struct lpl_parts *parts = remade->parts;
	struct lpl_ref *ref = &remade->batch[remade->count];

	remade->ref += item->references;
	*ref = (struct lpl_ref){
		.ref = remade->ref, .instr = parts->first_instr + instructions,
		.cycle = parts->first_cycle + t,
		.address = parts->page[item->value].number << LPL_PAGE_SHIFT,
		.type = item->type, .flags = item->flags | LPL_PAGED
	};
	if (first)
		LPL_TRY(lpl_remade_page(remade, item->value, ref, task, report));
	return ++remade->count == REMADE_BATCH ? lpl_remade_send(remade, report) : LPL_OK;
}

/*
 * An event of the trace, that is the item's body.  In another order those are left out that are about
 * all records around them, of windows and gaps, and those that say what the machine itself says.  In the
 * recorded order the machine says only where it stands still for a page.
 */
enum lpl_error lpl_remade_event(struct remade *remade, const struct lpl_item *item,
				const uint8_t *body, uint64_t instructions, uint64_t t,
				struct lpl_report *report);

/* The machine's own events; NULL stands for the idle task. */

/* The processor goes from one task, which leaves it in that KTR_STATE_*, to another. */
enum lpl_error lpl_remade_schedule(struct remade *remade, const struct lpl_identity *last,
				   uint64_t left, const struct lpl_identity *next,
				   uint64_t instructions, uint64_t t, struct lpl_report *report);
/* A task's wait ends, by one that runs or by an interrupt of it. */
enum lpl_error lpl_remade_wake(struct remade *remade, const struct lpl_identity *by,
			       enum ktr_context context, const struct lpl_identity *task,
			       uint64_t instructions, uint64_t t, struct lpl_report *report);

#endif
