/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Depth logs.
 *
 * To halve a region one has to know what happened in it, and when: at which positions pages
 * were inserted, and which depths arrived.  The log of the region of positions 8 to 15 in the
 * example of opt_stack.c, when the front comes to it at 8, is
 *
 *	insert 8, 4 arrives, insert 9, 3 arrives, insert 15, 2 arrives, insert 10
 *
 * Halving at 12.  All depths arrive at the right half first; each evicts the least there, which
 * goes on to the left half.  The 4 and the 3 find no page on the right and go through; the 2
 * finds page 15 and evicts its 1, which changes nothing on the left, where no depth is less:
 *
 *	right	insert 15, 2 arrives
 *	left	insert 8, 4 arrives, insert 9, 3 arrives, insert 10
 *
 * and from the left one its depths follow one by one: 4 at 8, 3 at 9, 1 at 10.
 *
 * What may be erased.  Only the depths that are still in the region have to be in its log: an
 * arrival of a depth that was evicted again may as well not have been.  Let it be x, evicted at the
 * arrival of y > x.  Look at depths only as low or high, with any bound between: a low one
 * that arrives changes nothing, a high one makes the furthest low depth high, if there is one.
 * Is x low, it changes nothing.  Is it high, everything is high when it is evicted.  Without x at
 * most one depth is low there that is high with it, ever, and y makes that one high.  So the
 * same depths are where they are from then on, for all bounds.  (Erase them in the order in
 * which they were evicted; then nothing else is changed.)  So a log has one arrival for each
 * page but one that was inserted with depth 1 and kept it.
 *
 * Which depth is evicted from the right half at which arrival is the off-line minimum problem
 * (Aho, Hopcroft, Ullman: "The Design and Analysis of Computer Algorithms", 1974, section 4.8).
 * An arrival evicts a 1 if the right half has one.  For the other arrivals take the depths in
 * rising order: each is evicted at the first of these arrivals, from its own on, at which no
 * lesser one is; if there is none, it is kept.  The arrivals that are still free are bits of
 * words, and words without any are skipped, for good.  Both halves are then in order of time,
 * and in order of depth, as the whole was.
 */
#include "depth_log.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_ERASED = 64, FEW = 48, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

void lpl_depth_log_clear(struct lpl_depth_log *log)
{
	log->events = 0;
	log->erased = 0;
	log->first = 0;
	log->sorteds = 0;
	log->heaped = 0;
	log->one = false;
}

void lpl_depth_log_free(struct lpl_depth_log *log)
{
	free(log->event);
	free(log->sorted);
	free(log->heap);
}

void lpl_halving_free(struct lpl_halving *halving)
{
	free(halving->free);
	free(halving->skip);
	free(halving->evicted);
	free(halving->kept);
	free(halving->to_left);
	free(halving->to_right);
	free(halving->spare);
}

static bool append(struct lpl_depth_log *log, uint32_t event)
{
	if (log->events == log->event_room &&
	    !lpl_reserve(log->event, log->event_room, log->events))
		return false;
	log->event[log->events++] = event;
	return true;
}

bool lpl_depth_log_insert(struct lpl_depth_log *log, uint32_t position)
{
	log->one = true;
	return append(log, position);
}

static bool push_heap(struct lpl_depth_log *log, lpl_arrived new)
{
	uint32_t i = log->heaped;

	if (i == log->heap_room && !lpl_reserve(log->heap, log->heap_room, i))
		return false;
	log->heaped++;
	for (; i > 0 && log->heap[(i - 1) / 2] > new; i = (i - 1) / 2)
		log->heap[i] = log->heap[(i - 1) / 2];
	log->heap[i] = new;
	return true;
}

/* In place of the heap's least. */
static void replace_least(struct lpl_depth_log *log, lpl_arrived new)
{
	lpl_arrived *heap = log->heap;
	uint32_t i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= log->heaped)
			break;
		if (child + 1 < log->heaped && heap[child + 1] < heap[child])
			child++;
		if (heap[child] >= new)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = new;
}

uint32_t lpl_depth_log_least(const struct lpl_depth_log *log)
{
	lpl_arrived sorted = log->first < log->sorteds ? log->sorted[log->first] : UINT64_MAX;
	lpl_arrived heaped = log->heaped != 0 ? log->heap[0] : UINT64_MAX;

	return log->one ? 1 : (uint32_t)((sorted < heaped ? sorted : heaped) >> 32);
}

/* Close the gaps of what was erased. */
static bool close_gaps(struct lpl_depth_log *log, struct lpl_halving *halving)
{
	uint32_t kept = 0;

	if (!lpl_reserve(halving->to_right, halving->right_room, log->events))
		return false;
	for (uint32_t i = 0; i < log->events; i++) {
		halving->to_right[i] = kept;
		log->event[kept] = log->event[i];
		kept += log->event[i] != LPL_ERASED ? 1 : 0;
	}
	for (uint32_t i = log->first; i < log->sorteds; i++)
		log->sorted[i] = log->sorted[i] >> 32 << 32 |
			halving->to_right[(uint32_t)log->sorted[i]];
	for (uint32_t i = 0; i < log->heaped; i++)
		log->heap[i] = log->heap[i] >> 32 << 32 |
			halving->to_right[(uint32_t)log->heap[i]];
	assert(log->events - kept == log->erased);
	log->events = kept;
	log->erased = 0;
	return true;
}

bool lpl_depth_log_arrive(struct lpl_depth_log *log, uint32_t depth, struct lpl_halving *halving)
{
	lpl_arrived new = (lpl_arrived)depth << 32 | log->events;

	assert(depth > lpl_depth_log_least(log) && depth < LPL_ARRIVAL);
	if (!append(log, depth | LPL_ARRIVAL))
		return false;
	if (log->one) {
		log->one = false;
		return push_heap(log, new);
	}
	if (log->heaped == 0 || (log->first < log->sorteds &&
				 log->sorted[log->first] < log->heap[0])) {
		log->event[(uint32_t)log->sorted[log->first++]] = LPL_ERASED;
		if (!push_heap(log, new))
			return false;
	} else {
		log->event[(uint32_t)log->heap[0]] = LPL_ERASED;
		replace_least(log, new);
	}
	log->erased++;
	return log->erased < MANY_ERASED || log->erased < log->events / 2 ||
	       close_gaps(log, halving);
}

/* ---- halving ---- */

static void sort_few(lpl_arrived *depths, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		lpl_arrived moving = depths[i];
		uint32_t j = i;

		for (; j > 0 && depths[j - 1] > moving; j--)
			depths[j] = depths[j - 1];
		depths[j] = moving;
	}
}

/* By depth, digit by digit. */
static bool sort(lpl_arrived **depths, size_t *room, uint32_t count, struct lpl_halving *halving)
{
	uint32_t largest = 0;

	if (count <= FEW) {
		sort_few(*depths, count);
		return true;
	}
	if (!lpl_reserve(halving->spare, halving->spare_room, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if ((*depths)[i] >> 32 > largest)
			largest = (uint32_t)((*depths)[i] >> 32);
	for (unsigned int shift = 32; shift < 64 && largest >> (shift - 32) != 0;
	     shift += DIGIT_BITS) {
		uint32_t at[DIGITS] = {0};
		uint32_t sum = 0;
		lpl_arrived *from = *depths;
		size_t from_room = *room;

		for (uint32_t i = 0; i < count; i++)
			at[from[i] >> shift & (DIGITS - 1)]++;
		for (uint32_t i = 0; i < DIGITS; i++) {
			uint32_t here = at[i];

			at[i] = sum;
			sum += here;
		}
		for (uint32_t i = 0; i < count; i++)
			halving->spare[at[from[i] >> shift & (DIGITS - 1)]++] = from[i];
		*depths = halving->spare;
		*room = halving->spare_room;
		halving->spare = from;
		halving->spare_room = from_room;
	}
	return true;
}

/* All depths become sorted ones, from sorted[0]. */
static bool sort_all(struct lpl_depth_log *log, struct lpl_halving *halving)
{
	uint32_t sorteds = log->sorteds - log->first;
	uint32_t heaped = log->heaped;
	uint32_t all = sorteds + heaped;

	if (!lpl_reserve(log->sorted, log->sorted_room, (size_t)log->first + all) ||
	    !sort(&log->heap, &log->heap_room, heaped, halving))
		return false;
	memmove(log->sorted, log->sorted + log->first, sorteds * sizeof(*log->sorted));
	for (uint32_t to = all; heaped > 0;) {
		lpl_arrived last = log->heap[heaped - 1];

		log->sorted[--to] = sorteds > 0 && log->sorted[sorteds - 1] > last ?
			log->sorted[--sorteds] : log->heap[--heaped];
	}
	log->first = 0;
	log->sorteds = all;
	log->heaped = 0;
	return true;
}

static bool make_room(struct lpl_halving *halving, const struct lpl_depth_log *log, size_t words,
		      struct lpl_depth_log *left, struct lpl_depth_log *right)
{
	/* each has room for one more: split() writes there before it knows what belongs there */
	size_t events = log->events;
	size_t depths = log->sorteds;

	return lpl_reserve(halving->free, halving->free_room, words) &&
	       lpl_reserve(halving->skip, halving->skip_room, words) &&
	       lpl_reserve(halving->evicted, halving->evicted_room, events) &&
	       lpl_reserve(halving->kept, halving->kept_room, events) &&
	       lpl_reserve(halving->to_left, halving->left_room, events) &&
	       lpl_reserve(halving->to_right, halving->right_room, events) &&
	       lpl_reserve(left->event, left->event_room, events) &&
	       lpl_reserve(right->event, right->event_room, events) &&
	       lpl_reserve(left->sorted, left->sorted_room, depths) &&
	       lpl_reserve(right->sorted, right->sorted_room, depths);
}

/*
 * Arrivals that find a depth of 1 in the right half, from `middle` on, evict that; the others
 * are free.  Returns how many depths of 1 are left there.
 */
static uint32_t evict_ones(struct lpl_halving *halving, const struct lpl_depth_log *log,
			   uint32_t middle, uint32_t words)
{
	uint32_t ones = 0;

	for (uint32_t word = 0; word < words; word++) {
		uint32_t begin = word * 64;
		uint32_t end = log->events < begin + 64 ? log->events : begin + 64;
		uint64_t bits = 0;

		for (uint32_t i = begin; i < end; i++) {
			uint32_t arrival = log->event[i] / LPL_ARRIVAL;
			uint32_t evicts = arrival & (ones != 0 ? 1U : 0U);

			ones += (arrival ^ 1) & (log->event[i] >= middle ? 1U : 0U);
			ones -= evicts;
			bits |= (uint64_t)(arrival ^ evicts) << i % 64;
			halving->evicted[i] = 0;
			halving->kept[i] = 0;
		}
		halving->free[word] = bits;
		halving->skip[word] = word + 1;
	}
	return ones;
}

/* The first free arrival from event i on, which is not free then; the last word has one. */
static uint32_t take_free(struct lpl_halving *halving, uint32_t i)
{
	uint64_t *free = halving->free;
	uint32_t word = i / 64;
	uint64_t bits = free[word] >> i % 64 << i % 64;

	if (bits == 0) {
		for (word++; free[word] == 0; word = halving->skip[word])
			if (free[halving->skip[word]] == 0)
				halving->skip[word] = halving->skip[halving->skip[word]];
		bits = free[word];
	}
	free[word] &= ~(bits & -bits);
	return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/*
 * Which depth is evicted from the right half at which arrival: sorted[] has that event then,
 * as LPL_ARRIVAL | event, in place of its own.
 */
static void evict_others(struct lpl_halving *halving, struct lpl_depth_log *log, uint32_t words)
{
	uint64_t *beyond = &halving->free[words - 1];	/* after all events: always free */

	for (uint32_t i = 0; i < log->sorteds; i++) {
		uint32_t depth = (uint32_t)(log->sorted[i] >> 32);
		uint32_t event = (uint32_t)log->sorted[i];
		uint32_t exit;

		assert(event < log->events);
		*beyond = 1;
		exit = take_free(halving, event);
		if (exit < log->events) {
			halving->evicted[exit] = depth;
			log->sorted[i] = (lpl_arrived)depth << 32 | exit | LPL_ARRIVAL;
		} else {
			halving->kept[event] = 1;
		}
	}
}

/* Without branches: what belongs to the other half is written over by what comes next. */
static void split(const struct lpl_halving *halving, const struct lpl_depth_log *log,
		  uint32_t middle, struct lpl_depth_log *left, struct lpl_depth_log *right)
{
	for (uint32_t i = 0; i < log->events; i++) {
		uint32_t event = log->event[i];
		uint32_t arrival = event / LPL_ARRIVAL;
		uint32_t far = event >= middle ? 1 : 0;

		right->event[right->events] = event;
		left->event[left->events] =
			arrival != 0 ? halving->evicted[i] | LPL_ARRIVAL : event;
		halving->to_right[i] = right->events;
		halving->to_left[i] = left->events;
		right->events += arrival != 0 ? halving->kept[i] : far;
		left->events += arrival != 0 ? halving->evicted[i] != 0 : far ^ 1;
	}
	for (uint32_t i = 0; i < log->sorteds; i++) {
		lpl_arrived depth = log->sorted[i] >> 32 << 32;
		uint32_t goes = (uint32_t)log->sorted[i] / LPL_ARRIVAL;
		uint32_t event = (uint32_t)log->sorted[i] % LPL_ARRIVAL;

		left->sorted[left->sorteds] = depth | halving->to_left[event];
		right->sorted[right->sorteds] = depth | halving->to_right[event];
		left->sorteds += goes;
		right->sorteds += goes ^ 1;
	}
	assert(left->events <= log->events && right->events <= log->events);
	assert(left->sorteds + right->sorteds == log->sorteds);
}

bool lpl_depth_log_halve(struct lpl_halving *halving, struct lpl_depth_log *log, uint32_t middle,
			 struct lpl_depth_log *left, struct lpl_depth_log *right)
{
	uint32_t words;

	lpl_depth_log_clear(left);
	lpl_depth_log_clear(right);
	if ((log->erased != 0 && !close_gaps(log, halving)) || !sort_all(log, halving))
		return false;
	words = log->events / 64 + 2;
	if (!make_room(halving, log, words, left, right))
		return false;
	right->one = evict_ones(halving, log, middle, words) != 0;
	evict_others(halving, log, words);
	split(halving, log, middle, left, right);
	lpl_depth_log_clear(log);
	return true;
}
