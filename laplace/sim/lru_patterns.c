/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LRU of every size, pattern by pattern.
 *
 * Of the visits of a pattern only the first one to each of its pages has a depth that depends on what was before.
 * A later one is as deep as there are pages of the pattern that were visited since the page was, itself included,
 * whenever the pattern comes: a constant, which is counted once for all times that it came.
 *
 * The depth of a first visit goes by which pages were referenced since its page was, not in which order.  So first visits
 * alone may be sent to the stack, one after the other: the pages of the pattern that came before in it are above, as they
 * are if later visits are sent, too.  After the last one the pattern's pages are the first of the stack, and are put
 * in the order in which they were visited last.
 *
 * Dirty evictions (curve.h).  Later visits of a page count M as it is then: each of depth d > M is an interval [M, d) of
 * sizes, and M becomes d, until a write makes it 1.  After a write, and after a first visit that is one, M is known,
 * and so are these intervals, which are counted as the depths are.  Before it they adjoin: together they are [M, reach),
 * where M is what the first visit left and `reach` the deepest of these visits, that of the write included.
 * That is one comparison whenever the pattern comes, and an interval if M is less.
 *
 * Where two visits come again and again (laplace/trace.h), the depths are 2, or 1 if pages are larger and both are to one.  After
 * the first of these times M is 1, by a write that comes each time, or no less than that; so each further time is as the second.
 *
 * So a step costs what its pages cost, a third of its visits.  A pattern of more pages than
 * the front of the stack has is not taken.
 */
#include "lru_patterns.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/try.h"

_Static_assert(LPL_LRU_FRONT <= UINT8_MAX, "a place is a byte");

void lpl_lru_patterns_free(struct lpl_lru_patterns *patterns)
{
	free(patterns->pattern);
	free(patterns->page);
	free(patterns->visit);
	*patterns = (struct lpl_lru_patterns){ .patterns = 0 };
}

/* The stack of a pattern's pages alone, while its visits are gone through: their places in it, the newest first. */
struct recent {
	uint8_t place[LPL_LRU_FRONT];
	uint32_t count;
};

/* The depth of a visit; 0: a first one. */
static uint32_t visit(struct recent *recent, uint8_t place)
{
	uint32_t at = 0;

	while (at < recent->count && recent->place[at] != place)
		at++;
	memmove(&recent->place[1], &recent->place[0], at);
	recent->place[0] = place;
	if (at < recent->count)
		return at + 1;
	recent->count++;
	return 0;
}

/* ---- what a pattern is ---- */

/* Which of the pages it is; `count`: none. */
static uint32_t place_of(const struct lpl_lru_page *pages, uint32_t count, uint32_t page)
{
	uint32_t place = 0;

	while (place < count && pages[place].page != page)
		place++;
	return place;
}

static uint8_t deeper(uint8_t one, uint32_t other)
{
	return one > other ? one : (uint8_t)other;
}

static void learn_visit(struct lpl_lru_page *page, struct recent *recent, const struct lpl_lru_visit *now)
{
	const uint32_t depth = visit(recent, now->place);

	if (depth == 0)
		page->write = now->write;
	else if (page->clean_below == 0)
		page->reach = deeper(page->reach, depth);
	else
		page->clean_below = deeper(page->clean_below, depth);
	if (now->write)
		page->clean_below = 1;
}

bool lpl_lru_patterns_learn(struct lpl_lru_patterns *patterns, const uint32_t *page, const struct lpl_visit *from,
			    uint32_t visits)
{
	struct recent recent = { .count = 0 };
	struct lpl_lru_pattern *pattern;
	struct lpl_lru_visit *now;
	struct lpl_lru_page *pages;
	uint32_t count = 0;

	if (!lpl_reserve(patterns->pattern, patterns->pattern_room, patterns->patterns) ||
	    !lpl_reserve(patterns->page, patterns->page_room, patterns->pages + LPL_LRU_FRONT) ||
	    !lpl_reserve(patterns->visit, patterns->visit_room, patterns->visits + visits))
		return false;
	pattern = &patterns->pattern[patterns->patterns++];
	*pattern = (struct lpl_lru_pattern){ .page = patterns->pages, .visit = patterns->visits, .visits = visits };
	pages = &patterns->page[pattern->page];
	now = &patterns->visit[pattern->visit];
	for (uint32_t i = 0; i < visits; i++) {
		const uint32_t place = place_of(pages, count, page[i]);

		if (place == count) {
			if (count == LPL_LRU_FRONT)
				return true;
			pages[count++] = (struct lpl_lru_page){ .page = page[i] };
		}
		now[i] = (struct lpl_lru_visit){ .place = (uint8_t)place, .write = from[i].write, .again = from[i].again };
		learn_visit(&pages[place], &recent, &now[i]);
		if (now[i].again == 0)
			continue;
		learn_visit(&pages[now[i - 1].place], &recent, &now[i - 1]);
		learn_visit(&pages[place], &recent, &now[i]);
	}
	for (uint32_t i = 0; i < count; i++)
		pages[i].recent = pages[recent.place[i]].page;
	pattern->pages = count;
	patterns->pages += count;
	patterns->visits += visits;
	return true;
}

/* ---- that it comes ---- */

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "lru: no memory");
}

enum lpl_error lpl_lru_patterns_step(struct lpl_lru_patterns *patterns, uint32_t number, struct lru *lru,
				     struct lpl_report *report)
{
	struct lpl_lru_pattern *pattern = &patterns->pattern[number];
	const struct lpl_lru_page *page = &patterns->page[pattern->page];
	struct lpl_curve *curve = &lru->curve;

	for (uint32_t i = 0; i < pattern->pages; i++) {
		LPL_TRY(lpl_lru_reference(lru, page[i].page, page[i].write, report));
		if (curve->clean_below[page[i].page] < page[i].reach) {
			if (!lpl_curve_evicted(curve, page[i].page, page[i].reach))
				return no_memory(report);
			curve->clean_below[page[i].page] = page[i].reach;
		}
		if (page[i].clean_below != 0)
			curve->clean_below[page[i].page] = page[i].clean_below;
	}
	for (uint32_t i = 0; i < pattern->pages; i++)
		lru->front[i] = page[i].recent;
	pattern->times++;
	patterns->came = true;
	return LPL_OK;
}

/* ---- what is the same whenever it comes ---- */

/* A pattern while it is counted. */
struct counting {
	struct recent recent;
	uint8_t clean_below[LPL_LRU_FRONT];	/* by place; 0: it goes by what was before */
};

static void count_visit(struct counting *counting, const struct lpl_lru_visit *now, uint64_t times,
			struct lpl_curve *curve)
{
	const uint32_t depth = visit(&counting->recent, now->place);
	uint8_t *clean_below = &counting->clean_below[now->place];

	if (depth != 0) {
		curve->at_depth[depth] += times;
		if (depth > curve->deepest)
			curve->deepest = depth;
	}
	if (*clean_below != 0 && *clean_below < depth) {
		curve->dirty_change[*clean_below] += times;
		curve->dirty_change[depth] -= times;
		*clean_below = (uint8_t)depth;
	}
	if (now->write)
		*clean_below = 1;
}

/* Two visits that come so often, in turn. */
static void count_pair(struct counting *counting, const struct lpl_lru_visit *pair, uint64_t times, struct lpl_curve *curve)
{
	for (int i = 0; i < 2; i++)
		count_visit(counting, &pair[i], times, curve);
}

static void count_pattern(const struct lpl_lru_patterns *patterns, const struct lpl_lru_pattern *pattern,
			  struct lpl_curve *curve)
{
	const struct lpl_lru_visit *now = &patterns->visit[pattern->visit], *const end = now + pattern->visits;
	struct counting counting = { .recent.count = 0 };

	for (; now < end; now++) {
		count_visit(&counting, now, pattern->times, curve);
		if (now->again == 0)
			continue;
		count_pair(&counting, now - 1, pattern->times, curve);
		if (now->again > 1)
			count_pair(&counting, now - 1, pattern->times * (now->again - 1), curve);
	}
}

bool lpl_lru_patterns_count(struct lpl_lru_patterns *patterns, struct lpl_curve *curve)
{
	if (!patterns->came)
		return true;
	if (!lpl_reach(curve->at_depth, curve->at_depth_room, LPL_LRU_FRONT) ||
	    !lpl_reach(curve->dirty_change, curve->dirty_change_room, LPL_LRU_FRONT))
		return false;
	for (size_t i = 0; i < patterns->patterns; i++) {
		if (patterns->pattern[i].times != 0)
			count_pattern(patterns, &patterns->pattern[i], curve);
		patterns->pattern[i].times = 0;
	}
	patterns->came = false;
	return true;
}

bool lpl_lru_patterns_forget(struct lpl_lru_patterns *patterns, struct lpl_curve *curve)
{
	if (!lpl_lru_patterns_count(patterns, curve))
		return false;
	patterns->patterns = patterns->pages = patterns->visits = 0;
	return true;
}
