/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What happens to a page: it enters memory, is used, leaves, is evicted, ends.
 *
 * A page counts among those that were not used since a moment until it is used.  So nothing is
 * counted while it is only there: its times in memory since its last use are kept with it (`since`, and a
 * stay for each one that is over), and when it is used they are added to the moments in them.
 *
 * Whether a page that leaves the page cache is reclaimed, or has ended, is known by what comes next: a
 * KTR_RECLAIM, or anything else of it.
 */
#include "state.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/try.h"

/* What is known of its last use does not hold any more. */
static void touch_again(struct lpl_regret *regret, const struct page *page)
{
	if (page->canonical)
		regret->latest[page->canonical].boundary = NO_BOUNDARY;
}

static void set_resident(struct lpl_regret *regret, struct page *page, bool resident)
{
	struct lpl_regret_results *results = &regret->results;

	if (page->resident == resident)
		return;
	page->resident = resident;
	if (!page->counted)
		return;
	results->resident += resident ? 1 : -UINT64_C(1);
	if (results->resident > results->most_resident)
		results->most_resident = results->resident;
}

/* A time in memory is over; NULL: no memory. */
static struct stay *add_stay(struct page *page, uint32_t first, uint32_t last)
{
	struct stay *stay = calloc(1, sizeof(*stay));

	if (!stay)
		return NULL;
	*stay = (struct stay){ .next = page->stay, .first = first, .last = last };
	page->stay = stay;
	return stay;
}

/* It is used, or ends: where it was in memory, and unused, until now. */
static void for_each_stay(struct lpl_regret *regret, const struct page *page,
			  void (*visit)(struct lpl_regret *, const struct page *, uint32_t, uint32_t))
{
	if (!page->counted)
		return;
	for (const struct stay *stay = page->stay; stay; stay = stay->next)
		visit(regret, page, stay->first, stay->last);
	if (page->resident)
		visit(regret, page, page->since, regret->moments.count);
	else if (page->removed)
		visit(regret, page, page->since, page->until);
}

static void used_since(struct lpl_regret *regret, const struct page *page, uint32_t first,
		       uint32_t last)
{
	lpl_moments_use(&regret->moments, first, last);
	lpl_regret_worst_used(regret, page, first, last);
}

/* All its evictions have this outcome. */
static enum lpl_error close_stays(struct lpl_regret *regret, struct page *page,
				  enum lpl_regret_outcome outcome, struct lpl_report *report)
{
	enum lpl_error error = LPL_OK;

	while (page->stay) {
		struct stay *stay = page->stay;

		if (stay->moment && !error)
			error = lpl_regret_report(regret, page, stay, outcome,
				outcome == LPL_REGRET_USED ?
				lpl_moments_unused(&regret->moments, stay->moment) : 0, report);
		page->stay = stay->next;
		free(stay);
	}
	return error;
}

enum lpl_error lpl_regret_end(struct lpl_regret *regret, uint32_t number, struct lpl_report *report)
{
	struct page *page = &regret->page[number];

	for_each_stay(regret, page, lpl_regret_worst_ended);
	set_resident(regret, page, false);
	page->removed = page->fresh = false;
	page->begun = NO_BOUNDARY;
	LPL_TRY(close_stays(regret, page, LPL_REGRET_ENDED, report));
	if (page->canonical) {
		touch_again(regret, page);
		regret->latest[page->canonical].ref = 0;
	}
	return LPL_OK;
}

/* It has a frame again, so its last eviction was undone. */
static void come_back(struct lpl_regret *regret, const struct page *page)
{
	struct stay *stay = page->stay;

	while (stay && !stay->moment)
		stay = stay->next;
	if (!stay || stay->eviction.is_back)
		return;
	stay->eviction.is_back = true;
	stay->eviction.returned = regret->now;
}

enum lpl_error lpl_regret_enter(struct lpl_regret *regret, uint32_t number,
				struct lpl_report *report)
{
	struct page *page = &regret->page[number];

	if (page->removed)
		LPL_TRY(lpl_regret_end(regret, number, report));
	if (page->resident)
		return LPL_OK;
	come_back(regret, page);
	set_resident(regret, page, true);
	page->since = regret->moments.count;
	if (page->begun == NO_BOUNDARY)
		page->begun = page->since;
	touch_again(regret, page);
	return LPL_OK;
}

enum lpl_error lpl_regret_bring(struct lpl_regret *regret, uint32_t number,
				struct lpl_report *report)
{
	struct page *page = &regret->page[number];
	const bool comes = !page->resident;

	LPL_TRY(lpl_regret_enter(regret, number, report));
	if (!comes || !page->counted)
		return LPL_OK;
	page->fresh = true;
	lpl_regret_count_brought(regret, page);
	return LPL_OK;
}

/*
 * OPT keeps it since its last use, or since it came into memory first, if it has room for it at every
 * moment; else it reads it now.
 */
static void replace_optimally(struct lpl_regret *regret, const struct page *page)
{
	const uint32_t now = regret->moments.count;

	if (page->counted && page->begun < now && !lpl_moments_keep(&regret->moments, page->begun, now))
		lpl_regret_count_optimal(regret, page);
}

enum lpl_error lpl_regret_use(struct lpl_regret *regret, uint32_t number, struct lpl_report *report)
{
	struct page *page = &regret->page[number];
	const uint32_t now = regret->moments.count;
	struct stay *gone;

	LPL_TRY(lpl_regret_enter(regret, number, report));
	page->fresh = false;
	gone = page->stay;
	replace_optimally(regret, page);
	for_each_stay(regret, page, used_since);
	page->begun = page->since = now;
	return gone ? close_stays(regret, page, LPL_REGRET_USED, report) : LPL_OK;
}

void lpl_regret_remove(struct lpl_regret *regret, uint32_t number)
{
	struct page *page = &regret->page[number];

	if (!page->resident)
		return;
	set_resident(regret, page, false);
	page->removed = true;
	page->until = regret->moments.count;
	touch_again(regret, page);
}

enum lpl_error lpl_regret_keep_frame(struct lpl_regret *regret, uint32_t number,
				     struct lpl_report *report)
{
	struct page *page = &regret->page[number];

	if (!page->removed)
		return lpl_regret_enter(regret, number, report);
	if (page->since < page->until && !add_stay(page, page->since, page->until))
		return lpl_regret_no_memory(report);
	page->removed = false;
	set_resident(regret, page, true);
	page->since = regret->moments.count;
	touch_again(regret, page);
	return LPL_OK;
}

/* ---- evictions ---- */

/* One that was not known to be there was, until now. */
enum lpl_error lpl_regret_take(struct lpl_regret *regret, uint32_t number,
			       struct lpl_report *report)
{
	struct page *page = &regret->page[number];
	const uint32_t until = page->removed ? page->until : regret->moments.count;
	struct stay *stay;

	if (!page->removed)
		LPL_TRY(lpl_regret_enter(regret, number, report));
	stay = add_stay(page, page->since, until);
	if (!stay || !lpl_reach(regret->taken, regret->taken_room, regret->takens))
		return lpl_regret_no_memory(report);
	stay->eviction.unused = page->fresh && !regret->off;
	page->removed = page->fresh = false;
	set_resident(regret, page, false);
	touch_again(regret, page);
	regret->taken[regret->takens++] = stay;
	return LPL_OK;
}

/* What is referred to, when moments get new numbers. */
static void need_boundaries(struct lpl_regret *regret)
{
	struct moments *moments = &regret->moments;

	for (size_t i = 1; i < regret->pages; i++) {
		const struct page *page = &regret->page[i];

		if (page->kind == LPL_PAGE_KINDS)
			continue;
		if (page->resident || page->removed)
			lpl_moments_need(moments, page->since);
		if (page->removed)
			lpl_moments_need(moments, page->until);
		if (page->begun != NO_BOUNDARY)
			lpl_moments_need(moments, page->begun);
		for (const struct stay *stay = page->stay; stay; stay = stay->next) {
			lpl_moments_need(moments, stay->first);
			lpl_moments_need(moments, stay->last);
			if (stay->moment)
				lpl_moments_need_pages(moments, stay->moment);
		}
	}
	for (size_t i = 0; i < regret->results.worsts; i++)
		if (regret->worst[i].open)
			lpl_moments_need_pages(moments, regret->worst[i].moment);
}

static void renumber_boundaries(struct lpl_regret *regret)
{
	const struct moments *moments = &regret->moments;

	for (size_t i = 1; i < regret->pages; i++) {
		struct page *page = &regret->page[i];

		if (page->kind == LPL_PAGE_KINDS)
			continue;
		if (page->resident || page->removed)
			page->since = lpl_moments_renumbered(moments, page->since);
		if (page->removed)
			page->until = lpl_moments_renumbered(moments, page->until);
		if (page->begun != NO_BOUNDARY)
			page->begun = lpl_moments_renumbered(moments, page->begun);
		for (struct stay *stay = page->stay; stay; stay = stay->next) {
			stay->first = lpl_moments_renumbered(moments, stay->first);
			stay->last = lpl_moments_renumbered(moments, stay->last);
			if (stay->moment)
				stay->moment = lpl_moments_renumbered(moments, stay->moment);
		}
		touch_again(regret, page);
	}
	for (size_t i = 0; i < regret->results.worsts; i++)
		if (regret->worst[i].open)
			regret->worst[i].moment =
				lpl_moments_renumbered(moments, regret->worst[i].moment);
}

static bool compact(struct lpl_regret *regret)
{
	if (!lpl_moments_compact_begin(&regret->moments))
		return false;
	need_boundaries(regret);
	if (!lpl_moments_compact(&regret->moments, regret->pages / 4))
		return false;
	renumber_boundaries(regret);
	lpl_moments_compacted(&regret->moments);
	/* a number may mean another boundary now, for pages that do not count as well */
	for (size_t i = 0; i < regret->latest_room; i++)
		regret->latest[i].boundary = NO_BOUNDARY;
	return true;
}

enum lpl_error lpl_regret_taken(struct lpl_regret *regret, const struct lpl_event *event,
				uint32_t task, struct lpl_report *report)
{
	const uint64_t resident = regret->results.resident;

	if (lpl_moments_are_full(&regret->moments) && !compact(regret))
		return lpl_regret_no_memory(report);
	lpl_moments_add(&regret->moments, resident);
	regret->results.moments++;
	for (size_t i = 0; i < regret->takens; i++) {
		struct stay *stay = regret->taken[i];

		stay->moment = regret->moments.count;
		stay->eviction = (struct eviction){
			.number = ++regret->results.evictions, .moment = regret->results.moments,
			.when = regret->now, .resident = resident, .task = task,
			.reclaimer = event->arg[KTR_RECLAIM_RECLAIMER],
			.dirty = event->arg[KTR_RECLAIM_DIRTY], .unused = stay->eviction.unused,
			.blind = regret->off
		};
	}
	regret->takens = 0;
	return LPL_OK;
}

void lpl_regret_join(struct lpl_regret *regret, uint64_t device)
{
	for (size_t i = 1; i < regret->pages; i++) {
		struct page *page = &regret->page[i];

		if (page->counted || page->kind == LPL_PAGE_KINDS || page->kind == LPL_PAGE_ANONYMOUS ||
		    regret->file[page->owner].device != device)
			continue;
		page->counted = true;
		if (page->resident) {
			page->resident = false;
			set_resident(regret, page, true);
		}
		page->since = regret->moments.count;
		page->until = page->since;
		page->begun = page->resident || page->removed ? page->since : NO_BOUNDARY;
		touch_again(regret, page);
	}
}

/* ---- all of them ---- */

struct closed {
	struct page *page;
	struct stay *stay;
};

static int by_number(const void *one, const void *other)
{
	const uint64_t a = ((const struct closed *)one)->stay->eviction.number;
	const uint64_t b = ((const struct closed *)other)->stay->eviction.number;

	return (a > b) - (a < b);
}

/* In the order in which they were evicted. */
static enum lpl_error close_pending(struct lpl_regret *regret, enum lpl_regret_outcome outcome,
				    struct lpl_report *report)
{
	struct closed *closed = NULL;
	size_t count = 0, room = 0;
	enum lpl_error error = LPL_OK;

	for (size_t i = 1; i < regret->pages && !error; i++) {
		struct page *page = &regret->page[i];

		for (struct stay *stay = page->stay; stay && !error; stay = stay->next) {
			if (!stay->moment)
				continue;
			if (!lpl_reach(closed, room, count))
				error = lpl_regret_no_memory(report);
			else
				closed[count++] = (struct closed){ page, stay };
		}
	}
	if (count)
		qsort(closed, count, sizeof(*closed), by_number);
	for (size_t i = 0; i < count && !error; i++)
		error = lpl_regret_report(regret, closed[i].page, closed[i].stay,
					  closed[i].stay->eviction.blind ? LPL_REGRET_CUT : outcome, 0, report);
	free(closed);
	return error;
}

enum lpl_error lpl_regret_close_all(struct lpl_regret *regret, enum lpl_regret_outcome outcome,
				    bool forget, struct lpl_report *report)
{
	for (size_t i = 1; i < regret->pages; i++)
		if (regret->page[i].removed)
			LPL_TRY(lpl_regret_end(regret, (uint32_t)i, report));
	LPL_TRY(close_pending(regret, outcome, report));
	lpl_regret_worst_close(regret, outcome == LPL_REGRET_NEVER);
	for (size_t i = 1; i < regret->pages; i++) {
		struct page *page = &regret->page[i];
		struct stay *next;

		for (struct stay *stay = page->stay; stay; stay = next) {
			next = stay->next;
			free(stay);
		}
		page->stay = NULL;
		if (page->kind == LPL_PAGE_KINDS)
			continue;
		if (forget)
			set_resident(regret, page, false);
		page->fresh = false;
		page->since = regret->moments.count;
		page->begun = page->resident ? page->since : NO_BOUNDARY;
		touch_again(regret, page);
		if (page->canonical)
			regret->latest[page->canonical].ref = 0;
	}
	return LPL_OK;
}
