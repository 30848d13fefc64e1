/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* References and events held back: memory, and sending them on. */
#include "pending.h"

#include "base/array.h"
#include "base/try.h"

#include <assert.h>
#include <stdlib.h>

bool lpl_pending_init(struct lpl_pending *pending, unsigned int shift, struct lpl_sink *next)
{
	pending->shift = shift;
	pending->outlet.next = next;
	lpl_event_queue_init(&pending->events);
	return lpl_reach(pending->node, pending->capacity, 0);
}

void lpl_pending_free(struct lpl_pending *pending)
{
	lpl_event_queue_free(&pending->events);
	free(pending->node);
	pending->node = NULL;
}

bool lpl_pending_grow(struct lpl_pending *pending)
{
	return pending->used != UINT32_MAX &&
	       lpl_reach(pending->node, pending->capacity, (size_t)pending->used + 1);
}

/* Send on the events before the oldest reference held. */
static enum lpl_error send_events(struct lpl_pending *pending, struct lpl_report *report)
{
	uint32_t oldest = lpl_pending_oldest(pending);
	uint64_t until = oldest == 0 ? UINT64_MAX : pending->node[oldest].time;

	return lpl_event_queue_send(&pending->events, until, &pending->outlet, report);
}

enum lpl_error lpl_pending_send(struct lpl_pending *pending, struct lpl_report *report)
{
	uint32_t i = lpl_pending_oldest(pending);

	assert(i != 0);
	if (pending->events.count != 0)
		LPL_TRY(send_events(pending, report));
	LPL_TRY(lpl_outlet_ref(&pending->outlet, &pending->node[i].ref, report));
	lpl_pending_unlink(pending, i);
	pending->node[i].next = pending->spare;
	pending->spare = i;
	return pending->events.count != 0 ? send_events(pending, report) : LPL_OK;
}

enum lpl_error lpl_pending_send_all(struct lpl_pending *pending, struct lpl_report *report)
{
	while (lpl_pending_oldest(pending) != 0)
		LPL_TRY(lpl_pending_send(pending, report));
	return LPL_OK;
}

enum lpl_error lpl_pending_event(struct lpl_pending *pending, const struct lpl_event *event,
			      struct lpl_report *report)
{
	if (lpl_pending_oldest(pending) == 0)	/* nothing to wait for */
		return lpl_outlet_event(&pending->outlet, event, report);
	return lpl_event_queue_push(&pending->events, event, pending->now) ? LPL_OK :
		lpl_fail(report, LPL_ERR_MEMORY, "reduction: no memory to hold another event");
}

enum lpl_error lpl_pending_flush(struct lpl_pending *pending, struct lpl_report *report)
{
	LPL_TRY(lpl_pending_send_all(pending, report));
	return lpl_outlet_flush(&pending->outlet, report);
}

enum lpl_error lpl_pending_finish(struct lpl_pending *pending, struct lpl_report *report)
{
	LPL_TRY(lpl_pending_send_all(pending, report));
	return lpl_outlet_finish(&pending->outlet, report);
}
