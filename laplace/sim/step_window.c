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

bool lpl_step_window_init(struct lpl_step_window *window, uint32_t limit)
{
	*window = (struct lpl_step_window){ .limit = limit, .number = 1 };
	window->entry = malloc((limit + 1) * sizeof(*window->entry));
	window->kept = malloc(2 * (size_t)limit * sizeof(*window->kept));
	return window->entry != NULL && window->kept != NULL;
}

void lpl_step_window_free(struct lpl_step_window *window)
{
	free(window->entry);
	free(window->place);
	free(window->pattern);
	free(window->kept);
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

static int by_time(const void *a, const void *b)
{
	const struct lpl_step_kept *one = a, *other = b;

	return one->at < other->at ? -1 : one->at > other->at;
}

void lpl_step_window_end(struct lpl_step_window *window, struct lpl_step_patterns *patterns)
{
	size_t count = 0;

	lpl_step_window_forget(window, patterns);
	for (uint32_t i = 0; i < window->count; i++) {
		const struct lpl_step_entry *entry = &window->entry[i];

		window->kept[count++] = (struct lpl_step_kept){ entry->first, entry->page, entry->first_write };
		if (entry->last != entry->first)
			window->kept[count++] = (struct lpl_step_kept){ entry->last, entry->page,
									entry->written };
	}
	qsort(window->kept, count, sizeof(*window->kept), by_time);
	window->kept_count = count;
	window->next = 0;
	window->count = 0;
	window->number++;
}
