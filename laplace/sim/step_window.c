/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of patterns: what is kept of one, in order.
 *
 * The first reference to a page is known as it comes.  The last one is the latest of those that
 * came one by one and of those of the patterns that the window knows, each when it came last: in
 * it the later of two visits to a page counts, as it has the higher number.  What is written after
 * the first reference was so already when the pattern that writes came one by one.
 */
#include "step_window.h"

#include "base/array.h"

#include <stdlib.h>

enum { PLACE_BITS = 12, MOST_PLACES = 1 << PLACE_BITS };	/* entries */
enum { DIGIT_BITS = 8, DIGIT = (1 << DIGIT_BITS) - 1 };

bool lpl_step_window_init(struct lpl_step_window *window, uint32_t limit)
{
	*window = (struct lpl_step_window){ .limit = limit, .number = 1 };
	window->entry = malloc((limit + 1) * sizeof(*window->entry));
	window->kept = malloc(2 * (size_t)limit * sizeof(*window->kept));
	window->order = malloc(limit * sizeof(*window->order));
	window->spare = malloc(limit * sizeof(*window->spare));
	assert(limit <= MOST_PLACES);
	return window->entry != NULL && window->kept != NULL && window->order != NULL &&
	       window->spare != NULL;
}

void lpl_step_window_free(struct lpl_step_window *window)
{
	free(window->entry);
	free(window->place);
	free(window->pattern);
	free(window->kept);
	free(window->order);
	free(window->spare);
}

bool lpl_step_window_reach(struct lpl_step_window *window, uint32_t pages)
{
	return pages < window->place_room || lpl_reach(window->place, window->place_room, pages);
}

bool lpl_step_window_know(struct lpl_step_window *window, struct lpl_step_patterns *patterns,
			  uint32_t pattern)
{
	if (!lpl_reserve(window->pattern, window->pattern_room, window->patterns))
		return false;
	window->pattern[window->patterns++] = pattern;
	patterns->state[pattern].since = window->number;
	patterns->state[pattern].last = 0;
	return true;
}

/* The pages of a pattern were last referenced when it came last, or later. */
static void settle(struct lpl_step_window *window, const struct lpl_step_patterns *patterns,
		   const struct lpl_step_state *state)
{
	const uint32_t *page = &patterns->page[state->visit];

	for (uint32_t i = 0; i < state->visits; i++) {
		struct lpl_step_entry *entry = &window->entry[window->place[page[i]]];
		const uint64_t at = state->last << LPL_STEP_VISITS_BITS | i;

		assert(entry->page == page[i]);
		if (at > entry->last)
			entry->last = at;
	}
}

void lpl_step_window_forget(struct lpl_step_window *window, struct lpl_step_patterns *patterns)
{
	for (size_t i = 0; i < window->patterns; i++) {
		const struct lpl_step_state *state = &patterns->state[window->pattern[i]];

		if (state->last != 0)
			settle(window, patterns, state);
	}
	window->patterns = 0;
}

/*
 * The entries that have two references, by the last one: their numbers in the low bits of `order`.
 * A radix sort by when that was, since the window began.  Returns how many.
 */
static size_t sort(struct lpl_step_window *window)
{
	const uint64_t begin = window->entry[0].first >> LPL_STEP_VISITS_BITS << LPL_STEP_VISITS_BITS;
	uint64_t highest = 0;
	size_t count = 0;

	for (uint32_t i = 0; i < window->count; i++) {
		const struct lpl_step_entry *entry = &window->entry[i];

		if (entry->last == entry->first)
			continue;
		window->order[count++] = (entry->last - begin) << PLACE_BITS | i;
		highest |= entry->last - begin;
	}
	assert(highest >> (64 - PLACE_BITS) == 0);
	for (unsigned int shift = 0; shift < 64 && highest >> shift != 0; shift += DIGIT_BITS) {
		uint32_t place[1 << DIGIT_BITS] = { 0 }, sum = 0;
		uint64_t *sorted = window->spare;

		for (size_t i = 0; i < count; i++)
			place[window->order[i] >> (PLACE_BITS + shift) & DIGIT]++;
		for (size_t i = 0; i <= DIGIT; i++) {
			const uint32_t here = place[i];

			place[i] = sum;
			sum += here;
		}
		for (size_t i = 0; i < count; i++)
			sorted[place[window->order[i] >> (PLACE_BITS + shift) & DIGIT]++] = window->order[i];
		window->spare = window->order;
		window->order = sorted;
	}
	return count;
}

void lpl_step_window_end(struct lpl_step_window *window, struct lpl_step_patterns *patterns)
{
	size_t lasts, next = 0, count = 0;
	uint32_t first = 0;

	lpl_step_window_forget(window, patterns);
	lasts = window->count > 0 ? sort(window) : 0;
	while (first < window->count || next < lasts) {
		const struct lpl_step_entry *one = &window->entry[first];
		const struct lpl_step_entry *other = next < lasts ?
			&window->entry[window->order[next] & (MOST_PLACES - 1)] : NULL;

		if (other == NULL || (first < window->count && one->first < other->last)) {
			window->kept[count++] = (struct lpl_step_kept){ one->page, one->first_write };
			first++;
		} else {
			window->kept[count++] = (struct lpl_step_kept){ other->page, other->written };
			next++;
		}
	}
	window->kept_count = count;
	window->next = 0;
	window->count = 0;
	window->number++;
}
