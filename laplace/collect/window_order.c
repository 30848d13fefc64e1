/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window's references in their order; see window_order.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "wire.h"
#include "window_order.h"

enum { DIGIT_BITS = 7, DIGITS = 1 << DIGIT_BITS };

struct lpl_window_key {
	uint64_t number;	/* of a reference */
	size_t at;		/* the record that it is in */
};

bool lpl_window_add(struct lpl_window_order *order, const struct lpl_ring_record *record,
		    size_t records)
{
	if (!lpl_reserve(order->record, order->record_room, order->records + records - 1))
		return false;
	memcpy(&order->record[order->records], record, records * sizeof(*record));
	order->records += records;
	return true;
}

/* ---- which have to be sorted ---- */

/*
 * The last references, where a page has another than its first; and a first one that was sent after
 * a later one.
 */
struct parts {
	size_t firsts, others;
	uint64_t least, greatest;	/* number of the others */
};

static inline void put_other(struct lpl_window_order *order, struct parts *parts, uint64_t number,
			     size_t at)
{
	order->other[parts->others++] = (struct lpl_window_key){ number, at };
	parts->least = number < parts->least ? number : parts->least;
	parts->greatest = number > parts->greatest ? number : parts->greatest;
}

static struct parts divide(struct lpl_window_order *order, size_t records)
{
	struct parts parts = { .least = UINT64_MAX };
	uint64_t latest = 0;

	for (size_t i = 0; i < records; i += 2) {
		const uint64_t first = order->record[i].word[0] >> 3;
		const uint64_t last = order->record[i + 1].word[0] >> 3;

		if (first >= latest) {
			order->first[parts.firsts++] = (struct lpl_window_key){ first, i };
			latest = first;
		} else {
			put_other(order, &parts, first, i);
		}
		if (last != first)
			put_other(order, &parts, last, i + 1);
	}
	return parts;
}

/*
 * By their digits, from the lowest on: numbers of one window are near each other, so two or three
 * times through are enough, and nothing depends on how they compare.  Returns where the sorted ones
 * are.
 */
static const struct lpl_window_key *sort(struct lpl_window_key *from, const struct parts *parts)
{
	const size_t n = parts->others;
	const unsigned int bits = parts->greatest <= parts->least ? 0 :
		64 - (unsigned int)__builtin_clzll(parts->greatest - parts->least);
	const unsigned int times = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
	const unsigned int digit = times == 0 ? 0 : (bits + times - 1) / times;
	const size_t digits = (size_t)1 << digit;
	const uint64_t least = parts->least;
	struct lpl_window_key *to = from + n;

	for (unsigned int shift = 0; shift < bits; shift += digit) {
		size_t start[DIGITS], before = 0;

		for (size_t d = 0; d < digits; d++)
			start[d] = 0;
		for (size_t i = 0; i < n; i++)
			start[(from[i].number - least) >> shift & (digits - 1)]++;
		for (size_t d = 0; d < digits; d++) {
			const size_t count = start[d];

			start[d] = before;
			before += count;
		}
		for (size_t i = 0; i < n; i++)
			to[start[(from[i].number - least) >> shift & (digits - 1)]++] = from[i];
		struct lpl_window_key *sorted = to;

		to = from;
		from = sorted;
	}
	return from;
}

/* ---- references ---- */

/* That of record `at`: the time is its own, the rest it shares with the page's other one. */
static inline void set_ref(struct lpl_ref *ref, const struct lpl_ring_record *record, size_t at)
{
	const struct lpl_ring_record *r = &record[at];
	const uint64_t page = record[at & ~(size_t)1].word[3] & ~LPL_WIRE_KIND(0xff);
	const uint64_t rest = record[at | 1].word[3];
	const unsigned int walk = (rest & LPL_WIRE_WALK) != 0;
	/* the last one stands for the writes before it too */
	const bool wrote = (at & 1) & (size_t)((rest & LPL_WIRE_WROTE) != 0);
	const unsigned int type = wrote ? LPL_WRITE : (unsigned int)r->word[0] & 3;

	ref->ref = r->word[0] >> 3;
	ref->instr = r->word[1];
	ref->cycle = r->word[2];
	ref->address = page << LPL_PAGE_SHIFT;
	ref->space = rest & LPL_WIRE_SPACE;
	ref->type = (uint8_t)(type + walk * LPL_WALK_READ);
	ref->flags = (uint8_t)(LPL_PAGED | (r->word[0] >> 2 & LPL_USER));
	ref->length = 0;
	ref->reserved = 0;
}

size_t lpl_window_sort(struct lpl_window_order *order)
{
	const size_t records = order->records & ~(size_t)1;
	const struct lpl_window_key *first, *other, *others_end;
	struct lpl_ref *out;
	struct parts parts;

	/* with one first more; all are there, though a window may be empty */
	if (!lpl_reserve(order->first, order->first_room, records / 2) ||
	    !lpl_reserve(order->other, order->other_room, 2 * records) ||
	    !lpl_reserve(order->ref, order->ref_room, records))
		return SIZE_MAX;
	parts = divide(order, records);
	order->first[parts.firsts].number = UINT64_MAX;	/* it comes after all */
	first = order->first;
	other = sort(order->other, &parts);
	others_end = other + parts.others;
	out = order->ref;
	while (other < others_end) {
		/* which is next cannot be predicted, by the processor neither: without a branch */
		const bool is_other = other->number <= first->number;
		const struct lpl_window_key *next = is_other ? other : first;

		other += is_other;
		first += !is_other;
		set_ref(out++, order->record, next->at);
	}
	for (; first < order->first + parts.firsts; first++)
		set_ref(out++, order->record, first->at);
	assert((size_t)(out - order->ref) == parts.firsts + parts.others);
	order->records = 0;
	return parts.firsts + parts.others;
}

void lpl_window_order_free(struct lpl_window_order *order)
{
	free(order->record);
	free(order->first);
	free(order->ref);
	free(order->other);
}
