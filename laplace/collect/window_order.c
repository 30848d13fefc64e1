/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window's references in their order; see window_order.h. */
#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "window_order.h"

enum { DIGIT_BITS = 7, DIGITS = 1 << DIGIT_BITS };

/* The number of last[at], above the least of them. */
struct lpl_last_key {
	uint64_t above;
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

/*
 * By their digits, from the lowest that any of them has on: numbers of one window are near each
 * other, so two or three times through are enough, and nothing depends on how they compare.
 * Returns where the sorted ones are.
 */
static struct lpl_last_key *sort(struct lpl_last_key *from, struct lpl_last_key *to, size_t n,
				 uint64_t greatest)
{
	for (unsigned int shift = 0; shift < 64 && greatest >> shift != 0; shift += DIGIT_BITS) {
		size_t start[DIGITS] = { 0 }, before = 0;

		for (size_t i = 0; i < n; i++)
			start[from[i].above >> shift & (DIGITS - 1)]++;
		for (size_t d = 0; d < DIGITS; d++) {
			const size_t count = start[d];

			start[d] = before;
			before += count;
		}
		for (size_t i = 0; i < n; i++)
			to[start[from[i].above >> shift & (DIGITS - 1)]++] = from[i];
		struct lpl_last_key *sorted = to;

		to = from;
		from = sorted;
	}
	return from;
}

/* The keys of the last references, in order. */
static const struct lpl_last_key *sorted_keys(const struct lpl_window_order *order)
{
	const struct lpl_ref *last = order->last;
	struct lpl_last_key *key = order->key;
	uint64_t least = UINT64_MAX, bits = 0;

	for (size_t i = 0; i < order->lasts; i++)
		least = last[i].ref < least ? last[i].ref : least;
	for (size_t i = 0; i < order->lasts; i++) {
		key[i] = (struct lpl_last_key){ last[i].ref - least, i };
		bits |= key[i].above;
	}
	return sort(key, key + order->lasts, order->lasts, bits);
}

size_t lpl_window_sort(struct lpl_window_order *order)
{
	const size_t lasts = order->lasts, all = order->firsts + lasts;
	const struct lpl_ref *first, *first_end;

	/* all three are there, though some may hold nothing: pointers into them are made below */
	if (!lpl_reserve(order->first, order->first_room, 0) ||
	    !lpl_reserve(order->ref, order->ref_room, all) ||
	    !lpl_reserve(order->key, order->key_room, 2 * lasts))
		return SIZE_MAX;
	const struct lpl_last_key *key = sorted_keys(order);
	struct lpl_ref *out = order->ref;

	first = order->first;
	first_end = first + order->firsts;
	for (size_t i = 0; i < lasts;) {
		const struct lpl_ref *last = &order->last[key[i].at];
		/* which is next cannot be predicted, by the processor neither: without a branch */
		const bool is_last = first == first_end || last->ref <= first->ref;

		*out++ = *(is_last ? last : first);
		i += is_last;
		first += !is_last;
	}
	while (first < first_end)
		*out++ = *first++;
	assert((size_t)(out - order->ref) == all);
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
