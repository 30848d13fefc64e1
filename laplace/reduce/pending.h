/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * References that a reducer holds back, in stream order, and the events that
 * wait after them.
 *
 * Every reference the reducer gets is added; the reducer removes those it drops
 * and sends the others on, oldest first.  An event is sent on as soon as all that
 * is held was made after it.  A reference's number in here is good until it is
 * removed or sent.
 */
#ifndef LAPLACE_REDUCE_PENDING_H
#define LAPLACE_REDUCE_PENDING_H

#include "event_queue.h"
#include "pages.h"
#include "stage.h"

#include <assert.h>

/* In the list of those held; 0 is its sentinel, and the sentinel's `next` the oldest. */
struct lpl_pending_node {
	struct lpl_ref ref;
	uint64_t time;		/* references added until then, itself included */
	uint32_t prev, next;
};

struct lpl_pending {
	struct lpl_outlet outlet;
	unsigned int shift;	/* log2 of a page's size */
	struct lpl_pending_node *node;
	size_t capacity;
	uint32_t used;		/* nodes ever used, the sentinel not counted */
	uint32_t spare;		/* free ones, linked by next */
	uint64_t now;		/* references added so far */
	struct lpl_event_queue events;	/* with the time of the reference before */
};

/* false: no memory. */
bool lpl_pending_init(struct lpl_pending *pending, unsigned int shift, struct lpl_sink *next);
void lpl_pending_free(struct lpl_pending *pending);

/* One more node is used and none is spare: make room.  false: no memory. */
bool lpl_pending_grow(struct lpl_pending *pending);

/* The oldest reference held, 0 when there is none. */
static inline uint32_t lpl_pending_oldest(const struct lpl_pending *pending)
{
	return pending->node[0].next;
}

static inline const struct lpl_ref *lpl_pending_ref(const struct lpl_pending *pending, uint32_t i)
{
	return &pending->node[i].ref;
}

static inline void lpl_pending_link(struct lpl_pending *pending, uint32_t i)
{
	uint32_t last = pending->node[0].prev;

	pending->node[i].prev = last;
	pending->node[i].next = 0;
	pending->node[last].next = i;
	pending->node[0].prev = i;
}

static inline void lpl_pending_unlink(struct lpl_pending *pending, uint32_t i)
{
	assert(pending->node[pending->node[i].prev].next == i);
	assert(pending->node[pending->node[i].next].prev == i);
	pending->node[pending->node[i].prev].next = pending->node[i].next;
	pending->node[pending->node[i].next].prev = pending->node[i].prev;
}

static inline void lpl_pending_set(struct lpl_pending *pending, uint32_t i,
				   const struct lpl_ref *ref)
{
	pending->node[i].ref = *ref;
	lpl_make_paged(&pending->node[i].ref, pending->shift);
	pending->node[i].time = ++pending->now;
}

/* Hold `ref`, made now.  Its number; 0: no memory. */
static inline uint32_t lpl_pending_add(struct lpl_pending *pending, const struct lpl_ref *ref)
{
	uint32_t i = pending->spare;

	if (i != 0) {
		pending->spare = pending->node[i].next;
	} else {
		if (pending->used + (size_t)1 >= pending->capacity && !lpl_pending_grow(pending))
			return 0;
		i = ++pending->used;
	}
	lpl_pending_link(pending, i);
	lpl_pending_set(pending, i, ref);
	return i;
}

/*
 * Drop the reference i in favour of `ref`, made now to the same page, which
 * takes its number and becomes a write if it was one.
 */
static inline void lpl_pending_replace(struct lpl_pending *pending, uint32_t i,
				       const struct lpl_ref *ref)
{
	bool written = lpl_is_write(&pending->node[i].ref);

	assert(i >= 1 && i <= pending->used);
	assert(lpl_same_page(lpl_page_of(&pending->node[i].ref, pending->shift),
			     lpl_page_of(ref, pending->shift)));
	if (pending->node[0].prev != i) {
		lpl_pending_unlink(pending, i);
		lpl_pending_link(pending, i);
	}
	lpl_pending_set(pending, i, ref);
	if (written)
		lpl_make_write(&pending->node[i].ref);
}

/* Send on the oldest reference, which there is, and the events around it. */
enum lpl_error lpl_pending_send(struct lpl_pending *pending, struct lpl_report *report);
/* Send on all. */
enum lpl_error lpl_pending_send_all(struct lpl_pending *pending, struct lpl_report *report);

/* An event, after all references so far. */
enum lpl_error lpl_pending_event(struct lpl_pending *pending, const struct lpl_event *event,
			      struct lpl_report *report);
/* Send on all, to the next stage; that is not flushed. */
enum lpl_error lpl_pending_flush(struct lpl_pending *pending, struct lpl_report *report);
enum lpl_error lpl_pending_finish(struct lpl_pending *pending, struct lpl_report *report);

#endif
