/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* References and events held back: memory, and the way out. */
#include "held.h"

#include "base/array.h"

#include <stdlib.h>

bool lpl_held_init(struct lpl_held *held, struct lpl_sink *next)
{
	held->outlet.next = next;
	lpl_events_init(&held->events);
	return lpl_reach(held->node, held->capacity, 0);
}

void lpl_held_free(struct lpl_held *held)
{
	lpl_events_free(&held->events);
	free(held->node);
	held->node = NULL;
}

bool lpl_held_grow(struct lpl_held *held)
{
	return held->used != UINT32_MAX &&
	       lpl_reach(held->node, held->capacity, (size_t)held->used + 1);
}

/* Send on the events that no reference held was made before. */
static int send_events(struct lpl_held *held, struct lpl_report *report)
{
	uint32_t oldest = lpl_held_oldest(held);
	const struct lpl_event *event;
	uint64_t position;

	while ((event = lpl_events_front(&held->events, &position)) != NULL) {
		int error;

		if (oldest != 0 && position >= held->node[oldest].time)
			break;
		error = lpl_outlet_event(&held->outlet, event, report);
		if (error != LPL_OK)
			return error;
		lpl_events_pop(&held->events);
	}
	return LPL_OK;
}

int lpl_held_send(struct lpl_held *held, struct lpl_report *report)
{
	uint32_t i = lpl_held_oldest(held);
	int error = held->events.count != 0 ? send_events(held, report) : LPL_OK;

	if (error == LPL_OK)
		error = lpl_outlet_ref(&held->outlet, &held->node[i].ref, report);
	if (error != LPL_OK)
		return error;
	lpl_held_unlink(held, i);
	held->node[i].next = held->spare;
	held->spare = i;
	return held->events.count != 0 ? send_events(held, report) : LPL_OK;
}

int lpl_held_send_all(struct lpl_held *held, struct lpl_report *report)
{
	int error = LPL_OK;

	while (lpl_held_oldest(held) != 0 && error == LPL_OK)
		error = lpl_held_send(held, report);
	return error;
}

int lpl_held_event(struct lpl_held *held, const struct lpl_event *event,
		   struct lpl_report *report)
{
	if (lpl_held_oldest(held) == 0)	/* nothing to wait for */
		return lpl_outlet_event(&held->outlet, event, report);
	return lpl_events_push(&held->events, event, held->now) ? LPL_OK :
		lpl_fail(report, LPL_ERR_MEMORY, "reduction: no memory to hold another event");
}

int lpl_held_flush(struct lpl_held *held, struct lpl_report *report)
{
	int error = lpl_held_send_all(held, report);

	return error != LPL_OK ? error : lpl_outlet_flush(&held->outlet, report);
}

int lpl_held_finish(struct lpl_held *held, struct lpl_report *report)
{
	int error = lpl_held_send_all(held, report);

	return error != LPL_OK ? error : lpl_outlet_finish(&held->outlet, report);
}
