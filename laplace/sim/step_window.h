/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of patterns: the reduction window:K (reduce/window.c) of a stream of steps.
 *
 * A pattern that has come in the window once without the window's ending in between is *known* there: all its pages
 * are the window's, so that when it comes again nothing changes but when its visits were last.
 * That is noted with the pattern, in one store, and goes to its pages when the window ends.
 */
#ifndef LAPLACE_SIM_STEP_WINDOW_H
#define LAPLACE_SIM_STEP_WINDOW_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LPL_STEP_VISITS_BITS	12	/* a pattern has fewer visits than 2^12 */

/* A pattern. */
struct lpl_step_state {
	uint64_t since;		/* the window that knows it; 0: none */
	uint64_t last;		/* when it came last in that */
	uint32_t visit, visits;	/* as in struct lpl_pattern */
};

/* Those that came since numbers began to mean what they mean. */
struct lpl_step_patterns {
	struct lpl_step_state *state;	/* by pattern; owned */
	uint32_t *page;			/* by visit: its page's number; owned */
	size_t state_room, page_room;
	uint32_t known;			/* so many came */
};

/* What is kept of a window's references. */
struct lpl_step_kept {
	uint32_t page;
	bool write;
};

struct lpl_step_entry {
	uint64_t first, last;		/* when: step << LPL_STEP_VISITS_BITS | visit */
	uint32_t page;
	bool first_write, written;	/* written: after the first */
};

struct lpl_step_window {
	uint32_t limit;			/* K */
	uint32_t count;			/* pages in it */
	uint64_t number;		/* of the window, from 1 on */
	uint64_t now;			/* steps since the start */
	struct lpl_step_entry *entry;	/* [limit], by first reference; owned, as are all arrays */
	uint32_t *place;		/* by page: its entry, if that is the page's and below `count` */
	size_t place_room;
	uint32_t *pattern;		/* that it knows */
	size_t patterns, pattern_room;
	uint64_t *order, *spare;	/* [limit]: entries by last reference */
	struct lpl_step_kept *kept;	/* [2 * limit]: of one that has ended */
	size_t kept_count, next;
};

bool lpl_step_window_init(struct lpl_step_window *window, uint32_t limit);	/* false: no memory */
void lpl_step_window_free(struct lpl_step_window *window);	/* zeros are fine */
/* There are so many pages.  false: no memory. */
bool lpl_step_window_reach(struct lpl_step_window *window, uint32_t pages);

/* The window knows the pattern that came now, and is the one in which it began.  false: no memory. */
bool lpl_step_window_know(struct lpl_step_window *window, struct lpl_step_patterns *patterns,
			  uint32_t pattern);
/* Patterns will mean others. */
void lpl_step_window_forget(struct lpl_step_window *window, struct lpl_step_patterns *patterns);

/* The window ends, and another one begins; what it keeps follows from next(), in order. */
void lpl_step_window_end(struct lpl_step_window *window, struct lpl_step_patterns *patterns);
static inline bool lpl_step_window_next(struct lpl_step_window *window, struct lpl_step_kept *kept)
{
	if (window->next == window->kept_count)
		return false;
	*kept = window->kept[window->next++];
	return true;
}

/* Visit number `i` of the pattern that comes now.  false: its page would be one too many. */
static inline bool lpl_step_window_visit(struct lpl_step_window *window, uint32_t page, bool write,
					 uint32_t i)
{
	const uint64_t at = window->now << LPL_STEP_VISITS_BITS | i;
	const uint32_t place = window->place[page];
	struct lpl_step_entry *entry = &window->entry[place];

	if (place < window->count && entry->page == page) {
		entry->last = at;
		entry->written |= write;
		return true;
	}
	if (window->count == window->limit)
		return false;
	window->place[page] = window->count;
	window->entry[window->count++] = (struct lpl_step_entry){ .first = at, .last = at, .page = page,
								  .first_write = write };
	return true;
}

#endif
