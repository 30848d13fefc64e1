/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passes over an array whose future is not known.
 *
 * Pass 1, 3, 5 ... are SAD2, pass 2, 4, 6 ... are SAD, each on what the one before
 * leaves.  What a pass drops may depend on references that have not come yet, and
 * then so may what the next pass drops.  So to each pass a reference is
 *
 *	KEPT	it is in the pass's input, whatever comes;
 *	OPEN	it may be there or not;
 *	DROPPED	it is not there.
 *
 * A pass judges a KEPT reference for all that the OPEN ones and the future may
 * turn out to be: it stays KEPT if it is kept in any case, is DROPPED if it is
 * dropped in any case, else OPEN; and what is OPEN stays so.  By induction on the
 * passes this is true of the passes over the whole stream.  Once a pass of each
 * kind has changed nothing, none will any more, and the references before the
 * first OPEN one are decided: for all passes, for ever.
 *
 * Stays.  SAD and SAD2 are exact for LRU with K pages: after each pass the same
 * pages are fetched and evicted in the same order.  So the stays are the same for
 * all passes and are those of the input; their fetches come in the same order; and
 * the last reference of a stay is never dropped, for SAD drops one between two of a
 * stay, SAD2 one with another of its stay behind it.  Let a stay's fetch be its
 * first reference that is there.
 *
 * SAD2 drops a reference exactly when its stay has another one behind it before the
 * fetch of the stay that was fetched next.  With the bounds for that fetch, the
 * first reference of the next stay that may be there and the first that is, the
 * verdict is clear (sad2_verdict).
 *
 * SAD drops `second` exactly when fewer than K other pages are referenced from the
 * reference kept before it to the next one.  If that is in another stay, they are K
 * or more.  Else with those that may be there taken as there, the two are as close
 * together as can be; and with the pages counted that are there for sure, if these
 * are K, `second` is kept in any case.  The other way round it is dropped.  The
 * K-th most recent other page is found as in sad.c, once among all references and
 * once among those that are KEPT.  Instead of pages we count stays: two stays of a
 * page are separated by K others, so where they differ both are at least K.
 *
 * What can be left out.  Most passes change little.  A verdict that was KEPT can
 * only be another one when one of the last two passes has changed something near:
 * with fewer than K+2 stays that have references in between which are KEPT.  For
 * SAD's goes by what lies between the references before and after it in its stay,
 * and where a change is that far from it, the two are K others apart, whatever the
 * change.  SAD2's goes by what its stay has behind it before the next fetch, and so
 * many stays do not fit in K pages without a fetch.  So a pass looks at windows
 * around the changes, so far to each side; and SAD's lists begin as far before a
 * window, and look for a third reference as far behind it.  A reference is changed
 * once at most, so all passes together cost no more than O(K) for each, however
 * many they are.
 */
#include "passes.h"

#include <laplace/error.h>

#include "base/array.h"

#include <stdlib.h>

enum state { KEPT, OPEN, DROPPED };

/* Two lists of recency: of all references that may be there, of those that are. */
enum order { POSSIBLE, CERTAIN };

/* A stay's place in such a list. */
struct place {
	uint32_t newer, older;	/* stays; the sentinel ends the list */
	uint32_t at;		/* its latest reference; LPL_NO_REF: not in the list */
};

/*
 * What is known of a reference; and of a stay, in the mark of its first reference
 * in the array, by whose number the stay goes.
 */
struct lpl_mark {
	enum state state;
	uint32_t stay;
	uint32_t prev, next;	/* in the stay, of those not dropped; what was dropped
				 * keeps its `next` */
	/* of a stay */
	uint32_t next_stay;	/* the one fetched next; LPL_NO_REF: none so far */
	uint32_t first_possible, first_certain;	/* reference, before this pass */
	uint32_t walk;		/* the last walk that has met it */
	struct place place[2];
};

void lpl_passes_init(struct lpl_passes *passes, uint32_t pages)
{
	*passes = (struct lpl_passes){.pages = pages};
}

void lpl_passes_free(struct lpl_passes *passes)
{
	for (unsigned int i = 0; i < 3; i++)
		free(passes->changes[i].ref);
	free(passes->due.ref);
	free(passes->known);
	free(passes->mark);
	lpl_passes_init(passes, passes->pages);
}

/* ---- lists of recency, of the K+1 latest stays ---- */

static void leave_order(struct lpl_mark *mark, enum order order, uint32_t stay)
{
	struct place *place = &mark[stay].place[order];

	mark[place->newer].place[order].older = place->older;
	mark[place->older].place[order].newer = place->newer;
	place->at = LPL_NO_REF;
}

static void clear_order(struct lpl_passes *passes, enum order order)
{
	for (; passes->in_order[order] != 0; passes->in_order[order]--)
		leave_order(passes->mark, order,
			    passes->mark[passes->count].place[order].newer);
}

/* Reference i was made: its stay is the newest. */
static void touch(struct lpl_passes *passes, enum order order, uint32_t i)
{
	struct lpl_mark *mark = passes->mark;
	uint32_t end = passes->count;
	uint32_t stay = mark[i].stay;
	struct place *place = &mark[stay].place[order];

	if (place->at != LPL_NO_REF)
		leave_order(mark, order, stay);
	else if (passes->in_order[order] <= passes->pages)
		passes->in_order[order]++;
	else
		leave_order(mark, order, mark[end].place[order].newer);
	place->at = i;
	place->newer = end;
	place->older = mark[end].place[order].older;
	mark[place->older].place[order].newer = stay;
	mark[end].place[order].older = stay;
}

/* Were K stays other than this one referenced after its reference i, not its latest there? */
static bool others_after(const struct lpl_passes *passes, enum order order, uint32_t stay,
			 uint32_t i)
{
	const struct lpl_mark *mark = passes->mark;
	uint32_t oldest = mark[passes->count].place[order].newer;
	bool there = mark[stay].place[order].at != LPL_NO_REF;
	uint32_t others = passes->in_order[order] - (there ? 1 : 0);

	if (others < passes->pages)
		return false;
	/* the oldest is the K-th other, or the (K+1)th; or this one, and then all K others
	 * were referenced after its latest, as the answer will be */
	if (others > passes->pages)
		oldest = mark[oldest].place[order].newer;
	return mark[oldest].place[order].at > i;
}

/* ---- windows ---- */

/* Does a walk meet the stay of reference i, which is KEPT, for the first time? */
static bool meets(struct lpl_passes *passes, uint32_t i)
{
	struct lpl_mark *mark = passes->mark;
	struct lpl_mark *stay = &mark[mark[i].stay];
	bool first = mark[i].state == KEPT && stay->walk != passes->walks;

	if (first)
		stay->walk = passes->walks;
	return first;
}

/* Back from reference i, left out, over so many stays; 0: there are no more. */
static uint32_t back(struct lpl_passes *passes, uint32_t i, uint32_t stays)
{
	passes->walks++;
	while (i > 0 && stays > 0)
		stays -= meets(passes, --i) ? 1 : 0;
	return i;
}

/* Likewise ahead; the last reference: there are no more. */
static uint32_t ahead(struct lpl_passes *passes, uint32_t i, uint32_t stays)
{
	passes->walks++;
	while (i + 1 < passes->count && stays > 0)
		stays -= meets(passes, ++i) ? 1 : 0;
	return i;
}

/* References that are to be judged, and as far behind them as that has to look. */
struct window {
	uint32_t from, to;
	uint32_t end;
};

/* Makes windows: of what two passes have changed, and of what is due. */
enum { SOURCES = 3 };
struct windows {
	const struct lpl_changes *changes[SOURCES];
	uint32_t used[SOURCES];	/* of each */
};

/* The next reference of all; LPL_NO_REF: none is left. */
static uint32_t next_change(const struct windows *windows)
{
	uint32_t next = LPL_NO_REF;

	for (unsigned int i = 0; i < SOURCES; i++) {
		const struct lpl_changes *changes = windows->changes[i];

		if (windows->used[i] < changes->count && changes->ref[windows->used[i]] < next)
			next = changes->ref[windows->used[i]];
	}
	return next;
}

static void skip_changes(struct windows *windows, uint32_t until)
{
	for (unsigned int i = 0; i < SOURCES; i++)
		while (windows->used[i] < windows->changes[i]->count &&
		       windows->changes[i]->ref[windows->used[i]] <= until)
			windows->used[i]++;
}

/* The next window, which is behind `end` and takes in all that would overlap. */
static bool next_window(struct lpl_passes *passes, struct windows *windows,
			struct window *window)
{
	uint32_t stays = passes->pages + 2;
	uint32_t change = next_change(windows);

	if (change == LPL_NO_REF)
		return false;
	window->from = back(passes, change, stays);
	do {
		uint32_t last;

		/* so few references cannot be of more stays */
		do {
			last = change;
			skip_changes(windows, last);
			change = next_change(windows);
		} while (change != LPL_NO_REF && change - last <= stays);
		window->to = ahead(passes, last, stays);
		window->end = ahead(passes, window->to, stays);
	} while (change != LPL_NO_REF &&
		 (change <= window->end || back(passes, change, stays) <= window->end));
	return true;
}

/* ---- one pass ---- */

/* What a pass has to know. */
struct pass {
	struct lpl_staying *array;
	uint32_t number;
	uint32_t decided;	/* what becomes of so many is known */
	bool ended;		/* nothing comes after the array */
	struct lpl_changes *changes;	/* that it makes */
};

static void judge(struct lpl_passes *passes, const struct pass *pass, uint32_t i,
		  enum state state)
{
	struct lpl_mark *mark = passes->mark;

	if (state == KEPT)
		return;
	mark[i].state = state;
	pass->changes->ref[pass->changes->count++] = i;
	if (state == OPEN)
		return;
	pass->array[i].dropped = pass->number;
	if (mark[i].prev != LPL_NO_REF)
		mark[mark[i].prev].next = mark[i].next;
	if (mark[i].next != LPL_NO_REF)
		mark[mark[i].next].prev = mark[i].prev;
}

static enum state sad2_verdict(const struct lpl_passes *passes, const struct pass *pass,
			       uint32_t i)
{
	const struct lpl_mark *mark = passes->mark;
	uint32_t stay = mark[i].stay;
	uint32_t next = mark[i].next;
	uint32_t earliest = LPL_NO_REF;	/* fetch of the next stay: after all there is */
	uint32_t latest = LPL_NO_REF;

	if (!pass->array[stay].fetches)
		return KEPT;		/* fetched long ago, and others since */
	if (mark[stay].next_stay != LPL_NO_REF) {
		earliest = mark[mark[stay].next_stay].first_possible;
		latest = mark[mark[stay].next_stay].first_certain;
	}
	if (next == LPL_NO_REF)
		return pass->ended || pass->array[i].leaves || latest != LPL_NO_REF ? KEPT : OPEN;
	if (next > latest)
		return KEPT;
	for (; next < earliest; next = mark[next].next)
		if (mark[next].state == KEPT)
			return DROPPED;
	return OPEN;
}

static void pass_sad2(struct lpl_passes *passes, const struct pass *pass,
		      const struct window *window)
{
	for (uint32_t i = window->from; i <= window->to; i++) {
		if (passes->mark[i].state != KEPT)
			continue;
		if (i >= pass->decided)
			judge(passes, pass, i, sad2_verdict(passes, pass, i));
		else if (pass->array[i].dropped == pass->number)
			judge(passes, pass, i, DROPPED);
	}
}

/* `third` is the next one in its stay that may be there; LPL_NO_REF: it is not here yet. */
static enum state sad_verdict(const struct lpl_passes *passes, uint32_t second, uint32_t third)
{
	const struct lpl_mark *mark = passes->mark;
	uint32_t first = mark[second].prev;
	uint32_t stay = mark[second].stay;

	if (first == LPL_NO_REF || others_after(passes, CERTAIN, stay, first))
		return KEPT;
	if (third == LPL_NO_REF || mark[third].state != KEPT || mark[first].state != KEPT ||
	    others_after(passes, POSSIBLE, stay, first))
		return OPEN;
	return DROPPED;
}

/* Third reference i comes by: judge the second if it is in the window. */
static void judge_second(struct lpl_passes *passes, const struct pass *pass,
			 const struct window *window, uint32_t i)
{
	uint32_t second = passes->mark[i].prev;

	if (second == LPL_NO_REF || second < window->from || second > window->to ||
	    passes->mark[second].state != KEPT)
		return;
	if (second >= pass->decided)
		judge(passes, pass, second, sad_verdict(passes, second, i));
	else if (pass->array[second].dropped == pass->number)
		judge(passes, pass, second, DROPPED);
}

/* Returns the reference before which the lists of recency stand; given where they did. */
static uint32_t pass_sad(struct lpl_passes *passes, const struct pass *pass,
			 const struct window *window, uint32_t now)
{
	const struct lpl_mark *mark = passes->mark;
	uint32_t start = back(passes, window->from, passes->pages + 2);

	if (start > now || now == LPL_NO_REF) {
		clear_order(passes, POSSIBLE);
		clear_order(passes, CERTAIN);
		now = start;
	}
	for (; now <= window->end; now++) {
		if (mark[now].state == DROPPED)
			continue;
		judge_second(passes, pass, window, now);
		touch(passes, POSSIBLE, now);
		if (mark[now].state == KEPT)
			touch(passes, CERTAIN, now);
	}
	if (now < passes->count || pass->ended)
		return now;
	for (uint32_t i = window->from; i <= window->to; i++)
		if (i >= pass->decided && mark[i].state == KEPT && mark[i].next == LPL_NO_REF &&
		    !pass->array[i].leaves)
			judge(passes, pass, i, sad_verdict(passes, i, LPL_NO_REF));
	return now;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The pass is over: stays whose first references it has changed have others. */
static void find_firsts(struct lpl_passes *passes, const struct lpl_changes *changes)
{
	struct lpl_mark *mark = passes->mark;

	for (uint32_t i = 0; i < changes->count; i++) {
		struct lpl_mark *stay = &mark[mark[changes->ref[i]].stay];

		while (stay->first_possible != LPL_NO_REF &&
		       mark[stay->first_possible].state == DROPPED)
			stay->first_possible = mark[stay->first_possible].next;
		while (stay->first_certain != LPL_NO_REF &&
		       mark[stay->first_certain].state != KEPT)
			stay->first_certain = mark[stay->first_certain].next;
	}
}

/* One pass, over all, or where the two before have changed something. */
static void pass_over(struct lpl_passes *passes, const struct pass *pass, bool all)
{
	struct windows windows = {{&passes->changes[(pass->number + 1) % 3],
				   &passes->changes[(pass->number + 2) % 3],
				   &passes->due}, {0, 0, 0}};
	struct window window = {0, passes->count - 1, passes->count - 1};
	uint32_t now = LPL_NO_REF;

	pass->changes->count = 0;
	while (all || next_window(passes, &windows, &window)) {
		if (pass->number % 2 == 1)
			pass_sad2(passes, pass, &window);
		else
			now = pass_sad(passes, pass, &window, now);
		if (all)
			break;
	}
	if (pass->changes->count != 0)
		qsort(pass->changes->ref, pass->changes->count, sizeof(*pass->changes->ref),
		      compare);
	find_firsts(passes, pass->changes);
}

/* ---- all passes ---- */

/* All is there; stays are put together and in order. */
static void prepare(struct lpl_passes *passes, struct lpl_staying *array, uint32_t decided)
{
	struct lpl_mark *mark = passes->mark;
	uint32_t fetched = LPL_NO_REF;
	uint32_t end = passes->count;

	for (uint32_t i = 0; i < passes->count; i++) {
		uint32_t before = array[i].before;

		mark[i] = (struct lpl_mark){
			.state = KEPT,
			.stay = before == LPL_NO_REF ? i : mark[before].stay,
			.prev = before,
			.next = LPL_NO_REF,
			.next_stay = LPL_NO_REF,
			.first_possible = i,
			.first_certain = i,
			.place = {{0, 0, LPL_NO_REF}, {0, 0, LPL_NO_REF}},
		};
		if (before != LPL_NO_REF)
			mark[before].next = i;
		if (i >= decided)
			array[i].dropped = 0;
		if (!array[i].fetches)
			continue;
		if (fetched != LPL_NO_REF)
			mark[fetched].next_stay = i;
		fetched = i;
	}
	mark[end] = (struct lpl_mark){.place = {{end, end, LPL_NO_REF}, {end, end, LPL_NO_REF}}};
	passes->in_order[POSSIBLE] = 0;
	passes->in_order[CERTAIN] = 0;
	passes->walks = 0;
}

static int compare_known(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void find_known(struct lpl_passes *passes, const struct lpl_staying *array,
		       uint32_t decided)
{
	passes->known_count = 0;
	passes->known_used = 0;
	for (uint32_t i = 0; i < decided; i++)
		if (array[i].dropped != 0)
			passes->known[passes->known_count++] = (uint64_t)array[i].dropped << 32 | i;
	if (passes->known_count != 0)
		qsort(passes->known, passes->known_count, sizeof(*passes->known), compare_known);
}

static void find_due(struct lpl_passes *passes, uint32_t number)
{
	passes->due.count = 0;
	while (passes->known_used < passes->known_count &&
	       passes->known[passes->known_used] >> 32 == number)
		passes->due.ref[passes->due.count++] =
			(uint32_t)passes->known[passes->known_used++];
}

static void run(struct lpl_passes *passes, struct lpl_staying *array, uint32_t decided, bool ended)
{
	struct pass pass = {.array = array, .decided = decided, .ended = ended};
	unsigned int quiet = 0;	/* passes that have changed nothing */

	find_known(passes, array, decided);
	while (quiet < 2 || passes->known_used < passes->known_count) {
		pass.number++;
		pass.changes = &passes->changes[pass.number % 3];
		find_due(passes, pass.number);
		pass_over(passes, &pass, pass.number <= 2);
		quiet = pass.changes->count != 0 ? 0 : quiet + 1;
	}
}

/* Room for so many references. */
static bool reach(struct lpl_passes *passes, uint32_t count)
{
	for (unsigned int i = 0; i < 3; i++)
		if (!lpl_reach(passes->changes[i].ref, passes->changes[i].capacity, count))
			return false;
	return lpl_reach(passes->mark, passes->capacity, count) &&
	       lpl_reach(passes->known, passes->known_capacity, count) &&
	       lpl_reach(passes->due.ref, passes->due.capacity, count);
}

enum lpl_error lpl_passes_run(struct lpl_passes *passes, struct lpl_staying *array,
			      uint32_t count, uint32_t *decided, bool ended,
			      struct lpl_report *report)
{
	uint32_t i = *decided;

	if (!reach(passes, count))
		return lpl_fail(report, LPL_ERR_MEMORY,
				"reduction sad2-fix:%u: no memory to hold more", passes->pages);
	passes->count = count;
	prepare(passes, array, *decided);
	if (count != 0)
		run(passes, array, *decided, ended);
	for (; i < count && passes->mark[i].state != OPEN; i++)
		if (array[i].dropped != 0 && lpl_is_write(&array[i].ref))
			lpl_make_write(&array[passes->mark[i].next].ref);
	*decided = i;
	return LPL_OK;
}

/*
 * What a verdict beyond `decided` goes by, in the same words.  SAD needs the K+1
 * latest stays of each pass: back to where K+1 stays have references that are kept
 * for good, for these are in all passes; an earlier `first` has K others behind it.
 * SAD2 needs to know where the stay after one's own is fetched, in each pass.  If
 * its own fetch is left out, that has happened for all of them: so many stays do
 * not fit in K pages without a fetch.  Only the cut must not go through a stay that
 * some pass fetches before it, some other behind it.
 */
uint32_t lpl_passes_context(struct lpl_passes *passes, const struct lpl_staying *array,
			    uint32_t decided)
{
	const struct lpl_mark *mark = passes->mark;
	uint32_t cut = back(passes, decided, passes->pages + 1);

	for (uint32_t i = cut; i-- > 0;)
		if (array[i].fetches && mark[i].first_certain >= cut)
			cut = i;
	return cut;
}
