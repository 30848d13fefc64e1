/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window's references in their order.
 *
 * The simulator sends a window's pages in the order of their first references, each with its
 * last one, too; the last ones are in no order.  So only these have to be sorted, by number,
 * and then both are merged.  Of a page the two records of the ring (wire.h) are kept until then, and
 * what is made of them is made in its place.
 */
#ifndef LAPLACE_COLLECT_WINDOW_ORDER_H
#define LAPLACE_COLLECT_WINDOW_ORDER_H

#include <laplace/record.h>

#include "ring/ring.h"

struct lpl_window_order {
	struct lpl_ring_record *record;	/* two for each page of this window */
	size_t records, record_room;
	struct lpl_ref *ref;		/* its references, in order */
	size_t ref_room;
	struct lpl_window_key *first;	/* of the references that are in order as they are ... */
	size_t first_room;
	struct lpl_window_key *other;	/* ... and of the others, with room for sorting them, twice */
	size_t other_room;
};

/* So many more records of pages.  false: no memory. */
bool lpl_window_add(struct lpl_window_order *order, const struct lpl_ring_record *record,
		    size_t records);

/* Has the latest page only one of its records yet? */
static inline bool lpl_window_awaits(const struct lpl_window_order *order)
{
	return order->records & 1;
}

/* Bring its references into `ref` and begin a new window; their number, or SIZE_MAX: no memory. */
size_t lpl_window_sort(struct lpl_window_order *order);
void lpl_window_order_free(struct lpl_window_order *order);

#endif
