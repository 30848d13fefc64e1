/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window's references in their order.
 *
 * The simulator sends a window's pages in the order of their first references, each with its
 * last one, too; the last ones are in no order.  So only these have to be sorted, as numbers and
 * not as whole references, and then both are merged.
 */
#ifndef LAPLACE_COLLECT_WINDOW_ORDER_H
#define LAPLACE_COLLECT_WINDOW_ORDER_H

#include <laplace/record.h>

struct lpl_window_order {
	struct lpl_ref *first, *last;	/* of this window */
	size_t firsts, first_room, lasts, last_room;
	struct lpl_ref *ref;		/* both, in order */
	size_t ref_room;
	struct lpl_last_key *key;	/* room for sorting, twice */
	size_t key_room;
};

/*
 * Room for one more first reference, with this number, or last one, to be filled in at once;
 * NULL: no memory.  A first one that is sent after a later one is sorted with the last ones.
 */
struct lpl_ref *lpl_window_first(struct lpl_window_order *order, uint64_t number);
struct lpl_ref *lpl_window_last(struct lpl_window_order *order);
/* Bring them into `ref` and forget them; their number, or SIZE_MAX: no memory. */
size_t lpl_window_sort(struct lpl_window_order *order);
void lpl_window_order_free(struct lpl_window_order *order);

#endif
