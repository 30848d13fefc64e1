/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * References that a reducer holds back, in stream order, and the events that
 * wait behind them.
 *
 * Every reference the reducer gets is added; the reducer removes those it drops
 * and sends the others on, oldest first.  An event is sent on as soon as all that
 * is held was made after it.  A reference's number in here is good until it is
 * removed or sent.
 */
#ifndef LAPLACE_REDUCE_HELD_H
#define LAPLACE_REDUCE_HELD_H

#include "events.h"
#include "pages.h"
#include "stage.h"

/* In the list of those held; 0 is its sentinel, whose `next` is the oldest. */
struct lpl_held_node {
	struct lpl_ref ref;
	uint64_t time;		/* references added until then, itself included */
	uint32_t prev, next;
};

struct lpl_held {
	struct lpl_outlet outlet;
	struct lpl_held_node *node;
	size_t capacity;
	uint32_t used;		/* nodes ever used, the sentinel not counted */
	uint32_t spare;		/* free ones, linked by next */
	uint64_t now;		/* references added so far */
	struct lpl_events events;	/* with the time of the reference before */
};

bool lpl_held_init(struct lpl_held *held, struct lpl_sink *next);	/* false: no memory */
void lpl_held_free(struct lpl_held *held);

/* One more node is used and none is spare: make room.  false: no memory. */
bool lpl_held_grow(struct lpl_held *held);

/* The oldest reference held, 0 when there is none. */
static inline uint32_t lpl_held_oldest(const struct lpl_held *held)
{
	return held->node[0].next;
}

static inline const struct lpl_ref *lpl_held_ref(const struct lpl_held *held, uint32_t i)
{
	return &held->node[i].ref;
}

static inline void lpl_held_link(struct lpl_held *held, uint32_t i)
{
	uint32_t last = held->node[0].prev;

	held->node[i].prev = last;
	held->node[i].next = 0;
	held->node[last].next = i;
	held->node[0].prev = i;
}

static inline void lpl_held_unlink(struct lpl_held *held, uint32_t i)
{
	held->node[held->node[i].prev].next = held->node[i].next;
	held->node[held->node[i].next].prev = held->node[i].prev;
}

static inline void lpl_held_set(struct lpl_held *held, uint32_t i, const struct lpl_ref *ref)
{
	held->node[i].ref = *ref;
	lpl_make_paged(&held->node[i].ref);
	held->node[i].time = ++held->now;
}

/* Hold `ref`, made now.  Its number; 0: no memory. */
static inline uint32_t lpl_held_add(struct lpl_held *held, const struct lpl_ref *ref)
{
	uint32_t i = held->spare;

	if (i != 0) {
		held->spare = held->node[i].next;
	} else {
		if (held->used + (size_t)1 >= held->capacity && !lpl_held_grow(held))
			return 0;
		i = ++held->used;
	}
	lpl_held_link(held, i);
	lpl_held_set(held, i, ref);
	return i;
}

/*
 * Drop the reference i in favour of `ref`, made now to the same page, which
 * takes its number and becomes a write if it was one.
 */
static inline void lpl_held_renew(struct lpl_held *held, uint32_t i, const struct lpl_ref *ref)
{
	bool written = lpl_is_write(&held->node[i].ref);

	if (held->node[0].prev != i) {
		lpl_held_unlink(held, i);
		lpl_held_link(held, i);
	}
	lpl_held_set(held, i, ref);
	if (written)
		lpl_make_write(&held->node[i].ref);
}

/* Send on the oldest reference, which there is, and the events around it. */
int lpl_held_send(struct lpl_held *held, struct lpl_report *report);
/* Send on all. */
int lpl_held_send_all(struct lpl_held *held, struct lpl_report *report);

/* An event that comes now. */
int lpl_held_event(struct lpl_held *held, const struct lpl_event *event,
		   struct lpl_report *report);
/* Send on all, to the next stage; that is not flushed. */
int lpl_held_flush(struct lpl_held *held, struct lpl_report *report);
int lpl_held_finish(struct lpl_held *held, struct lpl_report *report);

#endif
