/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A first-in first-out queue of events held back by a reducer, each with the
 * position in the stream it has to keep: the number of references before it.
 *
 * Events are kept as differences in a few bytes (a schedule takes about 40
 * where struct lpl_event takes 400), because a reducer may have to hold many.
 * Of the text, `text_length` bytes are kept; what follows comes out as zeros.
 */
#ifndef LAPLACE_REDUCE_EVENT_QUEUE_H
#define LAPLACE_REDUCE_EVENT_QUEUE_H

#include "stage.h"

struct lpl_event_queue_block;

struct lpl_event_queue {
	struct lpl_event_queue_block *first, *last;
	size_t read, write;	/* offsets in first and last */
	size_t count;
	bool decoded;		/* front and front_position are the front's */
	struct lpl_event front, back;	/* differences are taken against these */
	uint64_t front_position, back_position;
};

void lpl_event_queue_init(struct lpl_event_queue *events);
void lpl_event_queue_free(struct lpl_event_queue *events);
bool lpl_event_queue_push(struct lpl_event_queue *events, const struct lpl_event *event,
		     uint64_t position);	/* false: no memory */
/* The event that is next to leave, and its position; NULL when there is none. */
const struct lpl_event *lpl_event_queue_front(struct lpl_event_queue *events, uint64_t *position);
void lpl_event_queue_pop(struct lpl_event_queue *events);	/* there must be one */
/* Send on those with positions below `until`. */
enum lpl_error lpl_event_queue_send(struct lpl_event_queue *events, uint64_t until,
				    struct lpl_outlet *outlet, struct lpl_report *report);

#endif
