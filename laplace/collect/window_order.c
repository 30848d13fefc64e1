/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window's references in their order; see window_order.h. */
#include <stdlib.h>

#include "base/array.h"
#include "window_order.h"

/* The reference with this number is last[at]. */
struct lpl_last_key {
	uint64_t ref;
	size_t at;
};

struct lpl_ref *lpl_window_last(struct lpl_window_order *order)
{
	if (!lpl_reach(order->last, order->last_room, order->lasts))
		return NULL;
	return &order->last[order->lasts++];
}

struct lpl_ref *lpl_window_first(struct lpl_window_order *order, uint64_t number)
{
	if (order->firsts > 0 && number < order->first[order->firsts - 1].ref)
		return lpl_window_last(order);
	if (!lpl_reach(order->first, order->first_room, order->firsts))
		return NULL;
	return &order->first[order->firsts++];
}

static void merge(const struct lpl_last_key *a, const struct lpl_last_key *a_end,
		  const struct lpl_last_key *b, const struct lpl_last_key *b_end,
		  struct lpl_last_key *out)
{
	while (a < a_end && b < b_end)
		*out++ = a->ref <= b->ref ? *a++ : *b++;
	while (a < a_end)
		*out++ = *a++;
	while (b < b_end)
		*out++ = *b++;
}

/* By merging ever longer runs to and fro; returns where the sorted ones are. */
static struct lpl_last_key *sort(struct lpl_last_key *from, struct lpl_last_key *to, size_t n)
{
	for (size_t run = 1; run < n; run *= 2) {
		for (size_t i = 0; i < n; i += 2 * run) {
			size_t middle = i + run < n ? i + run : n;
			size_t end = middle + run < n ? middle + run : n;

			merge(from + i, from + middle, from + middle, from + end, to + i);
		}
		struct lpl_last_key *sorted = to;

		to = from;
		from = sorted;
	}
	return from;
}

size_t lpl_window_sort(struct lpl_window_order *order)
{
	const size_t firsts = order->firsts, lasts = order->lasts, all = firsts + lasts;
	size_t first = 0;

	if (!lpl_reserve(order->ref, order->ref_room, all) ||
	    !lpl_reserve(order->key, order->key_room, 2 * lasts))
		return SIZE_MAX;
	for (size_t i = 0; i < lasts; i++)
		order->key[i] = (struct lpl_last_key){ order->last[i].ref, i };

	const struct lpl_last_key *last = sort(order->key, order->key + lasts, lasts);
	struct lpl_ref *out = order->ref;

	for (size_t i = 0; i < lasts; i++) {
		while (first < firsts && order->first[first].ref < last[i].ref)
			*out++ = order->first[first++];
		*out++ = order->last[last[i].at];
	}
	while (first < firsts)
		*out++ = order->first[first++];
	order->firsts = order->lasts = 0;
	return all;
}

void lpl_window_order_free(struct lpl_window_order *order)
{
	free(order->first);
	free(order->last);
	free(order->ref);
	free(order->key);
}
