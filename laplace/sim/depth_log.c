/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions of the line.
 *
 * To halve a region one has to know what happened in it, and when: which positions pages
 * came to, and which numbers arrived.  But only numbers that are still there: one that
 * went out again may as well not have come.  Let it be x, and go out at the arrival of y > x.
 * Look at depths only as low or high, with any bound between: a low number changes nothing,
 * a high one makes the furthest low depth high, if there is one.  Is x low, it changes
 * nothing.  Is it high, everything is high when it goes out.  Without x at most one
 * depth is low there that is high with it, ever, and y makes that one high.  So the same
 * depths are where they are from then on, for all bounds.  (Leave them out in the order in
 * which they went; then nothing else is changed.)  So a region's log has one arrival for
 * each page but one that came with depth 1 and kept it: that page's place is vacant.
 *
 * Halving.  At the right half arrive all the numbers, at the left half those that the
 * right one passes on.  At each arrival the least in the right half goes out: a vacant place
 * if it has one, and nothing arrives on the left then.  Else take the numbers in the order of
 * their size: each goes out at the first of these arrivals, from its own on, that no
 * smaller one goes out at; if there is none, it stays.  The free arrivals are bits of
 * words, and words without any are skipped, for good.  Both halves are then in order of
 * time, and in order of size, as the whole was.
 */
#include "depth_log.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, FEW = 48, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

void lpl_region_clear(struct lpl_region *region)
{
	region->events = 0;
	region->forgotten = 0;
	region->first = 0;
	region->olds = 0;
	region->youngs = 0;
	region->vacant = false;
}

void lpl_region_free(struct lpl_region *region)
{
	free(region->event);
	free(region->old);
	free(region->young);
}

void lpl_scratch_free(struct lpl_scratch *scratch)
{
	free(scratch->free);
	free(scratch->skip);
	free(scratch->out);
	free(scratch->stays);
	free(scratch->to_left);
	free(scratch->to_right);
	free(scratch->sorted);
}

static bool append(struct lpl_region *region, uint32_t event)
{
	if (region->events == region->event_room &&
	    !lpl_reserve(region->event, region->event_room, region->events))
		return false;
	region->event[region->events++] = event;
	return true;
}

bool lpl_region_come(struct lpl_region *region, uint32_t position)
{
	region->vacant = true;
	return append(region, position);
}

static bool push_young(struct lpl_region *region, lpl_number new)
{
	uint32_t i = region->youngs;

	if (i == region->young_room && !lpl_reserve(region->young, region->young_room, i))
		return false;
	region->youngs++;
	for (; i > 0 && region->young[(i - 1) / 2] > new; i = (i - 1) / 2)
		region->young[i] = region->young[(i - 1) / 2];
	region->young[i] = new;
	return true;
}

/* In place of the least. */
static void replace_young(struct lpl_region *region, lpl_number new)
{
	lpl_number *young = region->young;
	uint32_t i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= region->youngs)
			break;
		if (child + 1 < region->youngs && young[child + 1] < young[child])
			child++;
		if (young[child] >= new)
			break;
		young[i] = young[child];
		i = child;
	}
	young[i] = new;
}

uint32_t lpl_region_least(const struct lpl_region *region)
{
	lpl_number old = region->first < region->olds ? region->old[region->first] : UINT64_MAX;
	lpl_number young = region->youngs != 0 ? region->young[0] : UINT64_MAX;

	return region->vacant ? 1 : (uint32_t)((old < young ? old : young) >> 32);
}

/* Take the forgotten arrivals out of the log. */
static bool tidy(struct lpl_region *region, struct lpl_scratch *scratch)
{
	uint32_t kept = 0;

	if (!lpl_reserve(scratch->to_right, scratch->right_room, region->events))
		return false;
	for (uint32_t i = 0; i < region->events; i++) {
		scratch->to_right[i] = kept;
		region->event[kept] = region->event[i];
		kept += region->event[i] != LPL_FORGOTTEN ? 1 : 0;
	}
	for (uint32_t i = region->first; i < region->olds; i++)
		region->old[i] = region->old[i] >> 32 << 32 |
			scratch->to_right[(uint32_t)region->old[i]];
	for (uint32_t i = 0; i < region->youngs; i++)
		region->young[i] = region->young[i] >> 32 << 32 |
			scratch->to_right[(uint32_t)region->young[i]];
	region->events = kept;
	region->forgotten = 0;
	return true;
}

bool lpl_region_arrive(struct lpl_region *region, uint32_t size, struct lpl_scratch *scratch)
{
	lpl_number new = (lpl_number)size << 32 | region->events;
	bool fits = append(region, size | LPL_ARRIVAL);

	if (!fits)
		return false;
	if (region->vacant) {
		region->vacant = false;
		return push_young(region, new);
	}
	if (region->youngs == 0 || (region->first < region->olds &&
				    region->old[region->first] < region->young[0])) {
		region->event[(uint32_t)region->old[region->first++]] = LPL_FORGOTTEN;
		fits = push_young(region, new);
	} else {
		region->event[(uint32_t)region->young[0]] = LPL_FORGOTTEN;
		replace_young(region, new);
	}
	region->forgotten++;
	return fits && (region->forgotten < FIRST_ROOM || region->forgotten < region->events / 2 ||
			tidy(region, scratch));
}

/* ---- halving ---- */

static void sort_few(lpl_number *numbers, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		lpl_number moving = numbers[i];
		uint32_t j = i;

		for (; j > 0 && numbers[j - 1] > moving; j--)
			numbers[j] = numbers[j - 1];
		numbers[j] = moving;
	}
}

/* By size, digit by digit. */
static bool sort(lpl_number **numbers, size_t *room, uint32_t count, struct lpl_scratch *scratch)
{
	uint32_t largest = 0;

	if (count <= FEW) {
		sort_few(*numbers, count);
		return true;
	}
	if (!lpl_reserve(scratch->sorted, scratch->sorted_room, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if ((*numbers)[i] >> 32 > largest)
			largest = (uint32_t)((*numbers)[i] >> 32);
	for (unsigned int shift = 32; shift < 64 && largest >> (shift - 32) != 0;
	     shift += DIGIT_BITS) {
		uint32_t at[DIGITS] = {0};
		uint32_t sum = 0;
		lpl_number *from = *numbers;
		size_t from_room = *room;

		for (uint32_t i = 0; i < count; i++)
			at[from[i] >> shift & (DIGITS - 1)]++;
		for (uint32_t i = 0; i < DIGITS; i++) {
			uint32_t here = at[i];

			at[i] = sum;
			sum += here;
		}
		for (uint32_t i = 0; i < count; i++)
			scratch->sorted[at[from[i] >> shift & (DIGITS - 1)]++] = from[i];
		*numbers = scratch->sorted;
		*room = scratch->sorted_room;
		scratch->sorted = from;
		scratch->sorted_room = from_room;
	}
	return true;
}

/* All numbers are old, sorted, from old[0]. */
static bool merge(struct lpl_region *region, struct lpl_scratch *scratch)
{
	uint32_t olds = region->olds - region->first;
	uint32_t youngs = region->youngs;
	uint32_t all = olds + youngs;

	if (!lpl_reserve(region->old, region->old_room, (size_t)region->first + all) ||
	    !sort(&region->young, &region->young_room, youngs, scratch))
		return false;
	memmove(region->old, region->old + region->first, olds * sizeof(*region->old));
	for (uint32_t to = all; youngs > 0;)
		region->old[--to] = olds > 0 && region->old[olds - 1] > region->young[youngs - 1] ?
			region->old[--olds] : region->young[--youngs];
	region->first = 0;
	region->olds = all;
	region->youngs = 0;
	return true;
}

static bool make_room(struct lpl_scratch *scratch, const struct lpl_region *region, size_t words,
		      struct lpl_region *left, struct lpl_region *right)
{
	/* one more than there can be: places are written to before it is known who goes there */
	size_t events = region->events;
	size_t numbers = region->olds;

	return lpl_reserve(scratch->free, scratch->free_room, words) &&
	       lpl_reserve(scratch->skip, scratch->skip_room, words) &&
	       lpl_reserve(scratch->out, scratch->out_room, events) &&
	       lpl_reserve(scratch->stays, scratch->stays_room, events) &&
	       lpl_reserve(scratch->to_left, scratch->left_room, events) &&
	       lpl_reserve(scratch->to_right, scratch->right_room, events) &&
	       lpl_reserve(left->event, left->event_room, events) &&
	       lpl_reserve(right->event, right->event_room, events) &&
	       lpl_reserve(left->old, left->old_room, numbers) &&
	       lpl_reserve(right->old, right->old_room, numbers);
}

/*
 * Arrivals that find a vacant place in the right half, from `middle` on, let nothing
 * else out; the others are free.  Returns the vacant places left.
 */
static uint32_t fill_vacant(struct lpl_scratch *scratch, const struct lpl_region *region,
			    uint32_t middle, uint32_t words)
{
	uint32_t vacant = 0;

	for (uint32_t word = 0; word < words; word++) {
		uint32_t begin = word * 64;
		uint32_t end = region->events < begin + 64 ? region->events : begin + 64;
		uint64_t bits = 0;

		for (uint32_t i = begin; i < end; i++) {
			uint32_t arrival = region->event[i] / LPL_ARRIVAL;
			uint32_t fills = arrival & (vacant != 0 ? 1U : 0U);

			vacant += (arrival ^ 1) & (region->event[i] >= middle ? 1U : 0U);
			vacant -= fills;
			bits |= (uint64_t)(arrival ^ fills) << i % 64;
			scratch->out[i] = 0;
			scratch->stays[i] = 0;
		}
		scratch->free[word] = bits;
		scratch->skip[word] = word + 1;
	}
	return vacant;
}

/* The first free arrival from event i on, which is not free then; the last word has one. */
static uint32_t take_free(struct lpl_scratch *scratch, uint32_t i)
{
	uint64_t *free = scratch->free;
	uint32_t word = i / 64;
	uint64_t bits = free[word] >> i % 64 << i % 64;

	if (bits == 0) {
		for (word++; free[word] == 0; word = scratch->skip[word])
			if (free[scratch->skip[word]] == 0)
				scratch->skip[word] = scratch->skip[scratch->skip[word]];
		bits = free[word];
	}
	free[word] &= ~(bits & -bits);
	return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* Which number goes from the right half to the left, and when: old[] has that event then. */
static void match(struct lpl_scratch *scratch, struct lpl_region *region, uint32_t words)
{
	uint64_t *beyond = &scratch->free[words - 1];

	for (uint32_t i = 0; i < region->olds; i++) {
		uint32_t size = (uint32_t)(region->old[i] >> 32);
		uint32_t event = (uint32_t)region->old[i];
		uint32_t exit;

		*beyond = 1;
		exit = take_free(scratch, event);
		if (exit < region->events) {
			scratch->out[exit] = size;
			region->old[i] = (lpl_number)size << 32 | exit | LPL_ARRIVAL;
		} else {
			scratch->stays[event] = 1;
		}
	}
}

static void divide(const struct lpl_scratch *scratch, const struct lpl_region *region,
		   uint32_t middle, struct lpl_region *left, struct lpl_region *right)
{
	for (uint32_t i = 0; i < region->events; i++) {
		uint32_t event = region->event[i];
		uint32_t arrival = event / LPL_ARRIVAL;
		uint32_t far = event >= middle ? 1 : 0;

		right->event[right->events] = event;
		left->event[left->events] = arrival != 0 ? scratch->out[i] | LPL_ARRIVAL : event;
		scratch->to_right[i] = right->events;
		scratch->to_left[i] = left->events;
		right->events += arrival != 0 ? scratch->stays[i] : far;
		left->events += arrival != 0 ? scratch->out[i] != 0 : far ^ 1;
	}
	for (uint32_t i = 0; i < region->olds; i++) {
		lpl_number size = region->old[i] >> 32 << 32;
		uint32_t goes = (uint32_t)region->old[i] / LPL_ARRIVAL;
		uint32_t event = (uint32_t)region->old[i] % LPL_ARRIVAL;

		left->old[left->olds] = size | scratch->to_left[event];
		right->old[right->olds] = size | scratch->to_right[event];
		left->olds += goes;
		right->olds += goes ^ 1;
	}
}

bool lpl_region_halve(struct lpl_scratch *scratch, struct lpl_region *region, uint32_t middle,
		  struct lpl_region *left, struct lpl_region *right)
{
	uint32_t words;

	lpl_region_clear(left);
	lpl_region_clear(right);
	if ((region->forgotten != 0 && !tidy(region, scratch)) || !merge(region, scratch))
		return false;
	words = region->events / 64 + 2;
	if (!make_room(scratch, region, words, left, right))
		return false;
	right->vacant = fill_vacant(scratch, region, middle, words) != 0;
	match(scratch, region, words);
	divide(scratch, region, middle, left, right);
	lpl_region_clear(region);
	return true;
}
