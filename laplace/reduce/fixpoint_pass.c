/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One pass over an array, while the references after it are not known.
 *
 * Residencies.  SAD and SAD2 are exact for LRU with K pages: after each pass the same
 * pages are fetched and evicted in the same order.  So the residencies are the same for
 * all passes and are those of the input; their fetches are in the same order; and the
 * last reference of a residency is never dropped, for SAD drops one between two of a
 * residency, SAD2 one with another of its residency after it.  Let a residency's fetch
 * be its first reference that is there.
 *
 * SAD2 drops a reference exactly when its residency has another one after it before the
 * fetch of the residency that was fetched next.  With the bounds for that fetch, the
 * first reference of the next residency that may be there and the first that is, the
 * verdict is clear (sad2_verdict).
 *
 * SAD drops `second` exactly when fewer than K other pages are referenced from the
 * reference kept before it to the next one.  If that is in another residency, they are K
 * or more.  Else with those that may be there taken as there, the two are as close
 * together as can be; and with the pages counted that are there for sure, if these are
 * K, `second` is kept in any case.  The other way round it is dropped.  The K-th most
 * recent other page is found as in sad.c, once among all references and once among those
 * that are KEPT.  Instead of pages we count residencies: two residencies of a page are
 * separated by K others, so where they differ both are at least K.
 */
#include "fixpoint_pass.h"

#include <assert.h>
#include <stdlib.h>

/* ---- lists of recency, of the K+1 latest residencies ---- */

static void leave_order(struct lpl_fix_mark *mark, enum lpl_fix_order order, uint32_t residency)
{
	struct lpl_fix_recency *recency = &mark[residency].recency[order];

	assert(recency->at != LPL_NO_REF);
	assert(mark[recency->newer].recency[order].older == residency);
	assert(mark[recency->older].recency[order].newer == residency);
	mark[recency->newer].recency[order].older = recency->older;
	mark[recency->older].recency[order].newer = recency->newer;
	recency->at = LPL_NO_REF;
}

static void clear_order(struct lpl_fixpoint *fix, enum lpl_fix_order order)
{
	for (; fix->listed[order] != 0; fix->listed[order]--)
		leave_order(fix->mark, order,
			    fix->mark[fix->count].recency[order].newer);
}

/* Reference i was made: its residency is the newest. */
static void touch(struct lpl_fixpoint *fix, enum lpl_fix_order order, uint32_t i)
{
	struct lpl_fix_mark *mark = fix->mark;
	uint32_t end = fix->count;
	uint32_t residency = mark[i].residency;
	struct lpl_fix_recency *recency = &mark[residency].recency[order];

	if (recency->at != LPL_NO_REF)
		leave_order(mark, order, residency);
	else if (fix->listed[order] <= fix->pages)
		fix->listed[order]++;
	else
		leave_order(mark, order, mark[end].recency[order].newer);
	assert(fix->listed[order] <= (uint64_t)fix->pages + 1);
	recency->at = i;
	recency->newer = end;
	recency->older = mark[end].recency[order].older;
	mark[recency->older].recency[order].newer = residency;
	mark[end].recency[order].older = residency;
}

/* Were K other residencies referenced after this one's reference i, not its latest there? */
static bool others_after(const struct lpl_fixpoint *fix, enum lpl_fix_order order,
			 uint32_t residency, uint32_t i)
{
	const struct lpl_fix_mark *mark = fix->mark;
	uint32_t oldest = mark[fix->count].recency[order].newer;
	bool there = mark[residency].recency[order].at != LPL_NO_REF;
	uint32_t others = fix->listed[order] - (there ? 1 : 0);

	if (others < fix->pages)
		return false;
	/* the oldest is the K-th other, or the (K+1)th; or this one, and then all K others
	 * were referenced after its latest, as the answer will be */
	if (others > fix->pages)
		oldest = mark[oldest].recency[order].newer;
	return mark[oldest].recency[order].at > i;
}

/* ---- one pass ---- */

static void judge(struct lpl_fixpoint *fix, const struct lpl_fix_pass *pass, uint32_t i,
		  enum lpl_fix_state state)
{
	struct lpl_fix_mark *mark = fix->mark;

	assert(mark[i].state == FIX_KEPT);
	if (state == FIX_KEPT)
		return;
	assert(pass->changes->count < fix->count);
	mark[i].state = state;
	pass->changes->ref[pass->changes->count++] = i;
	if (state == FIX_OPEN)
		return;
	pass->array[i].dropped = pass->number;
	if (mark[i].prev != LPL_NO_REF)
		mark[mark[i].prev].next = mark[i].next;
	if (mark[i].next != LPL_NO_REF)
		mark[mark[i].next].prev = mark[i].prev;
}

static enum lpl_fix_state sad2_verdict(const struct lpl_fixpoint *fix,
				       const struct lpl_fix_pass *pass, uint32_t i)
{
	const struct lpl_fix_mark *mark = fix->mark;
	uint32_t residency = mark[i].residency;
	uint32_t next = mark[i].next;
	uint32_t earliest = LPL_NO_REF;	/* fetch of the next residency: after all there is */
	uint32_t latest = LPL_NO_REF;

	if (!pass->array[residency].fetches)
		return FIX_KEPT;	/* fetched long ago, and others since */
	if (mark[residency].next_residency != LPL_NO_REF) {
		earliest = mark[mark[residency].next_residency].first_possible;
		latest = mark[mark[residency].next_residency].first_certain;
	}
	if (next == LPL_NO_REF)
		return pass->ended || pass->array[i].leaves || latest != LPL_NO_REF ?
			FIX_KEPT : FIX_OPEN;
	if (next > latest)
		return FIX_KEPT;
	for (; next < earliest; next = mark[next].next)
		if (mark[next].state == FIX_KEPT)
			return FIX_DROPPED;
	return FIX_OPEN;
}

static void pass_sad2(struct lpl_fixpoint *fix, const struct lpl_fix_pass *pass,
		      const struct lpl_fix_range *range)
{
	for (uint32_t i = range->from; i <= range->to; i++) {
		if (fix->mark[i].state != FIX_KEPT)
			continue;
		if (i >= pass->decided)
			judge(fix, pass, i, sad2_verdict(fix, pass, i));
		else if (pass->array[i].dropped == pass->number)
			judge(fix, pass, i, FIX_DROPPED);
	}
}

/* `third` is the next one in its residency that may be there; LPL_NO_REF: it is not here yet. */
static enum lpl_fix_state sad_verdict(const struct lpl_fixpoint *fix, uint32_t second,
				      uint32_t third)
{
	const struct lpl_fix_mark *mark = fix->mark;
	uint32_t first = mark[second].prev;
	uint32_t residency = mark[second].residency;

	if (first == LPL_NO_REF || others_after(fix, FIX_CERTAIN, residency, first))
		return FIX_KEPT;
	if (third == LPL_NO_REF || mark[third].state != FIX_KEPT ||
	    mark[first].state != FIX_KEPT ||
	    others_after(fix, FIX_POSSIBLE, residency, first))
		return FIX_OPEN;
	return FIX_DROPPED;
}

/* Reference i is a third: judge the second before it if that is in the range. */
static void judge_second(struct lpl_fixpoint *fix, const struct lpl_fix_pass *pass,
			 const struct lpl_fix_range *range, uint32_t i)
{
	uint32_t second = fix->mark[i].prev;

	if (second == LPL_NO_REF || second < range->from || second > range->to ||
	    fix->mark[second].state != FIX_KEPT)
		return;
	if (second >= pass->decided)
		judge(fix, pass, second, sad_verdict(fix, second, i));
	else if (pass->array[second].dropped == pass->number)
		judge(fix, pass, second, FIX_DROPPED);
}

/* Returns the reference before which the lists of recency stand; given where they did. */
static uint32_t pass_sad(struct lpl_fixpoint *fix, const struct lpl_fix_pass *pass,
			 const struct lpl_fix_range *range, uint32_t now)
{
	const struct lpl_fix_mark *mark = fix->mark;
	uint32_t start = lpl_fix_back(fix, range->from, fix->pages + 2);

	assert(range->from <= range->to && range->to <= range->end && range->end < fix->count);
	if (start > now || now == LPL_NO_REF) {
		clear_order(fix, FIX_POSSIBLE);
		clear_order(fix, FIX_CERTAIN);
		now = start;
	}
	for (; now <= range->end; now++) {
		if (mark[now].state == FIX_DROPPED)
			continue;
		judge_second(fix, pass, range, now);
		touch(fix, FIX_POSSIBLE, now);
		if (mark[now].state == FIX_KEPT)
			touch(fix, FIX_CERTAIN, now);
	}
	if (now < fix->count || pass->ended)
		return now;
	for (uint32_t i = range->from; i <= range->to; i++)
		if (i >= pass->decided && mark[i].state == FIX_KEPT &&
		    mark[i].next == LPL_NO_REF && !pass->array[i].leaves)
			judge(fix, pass, i, sad_verdict(fix, i, LPL_NO_REF));
	return now;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The pass is over: where it has changed the first references of a residency, find the new ones. */
static void find_firsts(struct lpl_fixpoint *fix, const struct lpl_fix_changes *changes)
{
	struct lpl_fix_mark *mark = fix->mark;

	for (uint32_t i = 0; i < changes->count; i++) {
		struct lpl_fix_mark *residency = &mark[mark[changes->ref[i]].residency];

		while (residency->first_possible != LPL_NO_REF &&
		       mark[residency->first_possible].state == FIX_DROPPED)
			residency->first_possible = mark[residency->first_possible].next;
		while (residency->first_certain != LPL_NO_REF &&
		       mark[residency->first_certain].state != FIX_KEPT)
			residency->first_certain = mark[residency->first_certain].next;
	}
}

void lpl_fix_pass_over(struct lpl_fixpoint *fix, const struct lpl_fix_pass *pass, bool all)
{
	struct lpl_fix_ranges ranges = {
		{&fix->changes[(pass->number + 1) % 3], &fix->changes[(pass->number + 2) % 3],
		 &fix->due}, {0, 0, 0}
	};
	struct lpl_fix_range range = {0, fix->count - 1, fix->count - 1};
	uint32_t now = LPL_NO_REF;

	pass->changes->count = 0;
	while (all || lpl_fix_next_range(fix, &ranges, &range)) {
		if (pass->number % 2 == 1)
			pass_sad2(fix, pass, &range);
		else
			now = pass_sad(fix, pass, &range, now);
		if (all)
			break;
	}
	if (pass->changes->count != 0)
		qsort(pass->changes->ref, pass->changes->count, sizeof(*pass->changes->ref),
		      compare);
	find_firsts(fix, pass->changes);
}
