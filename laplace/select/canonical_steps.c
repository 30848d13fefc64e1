/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of a stream on its canonical pages.
 *
 * What a page is in a space changes with events, and with a write that parts a page from those that share it though no
 * event has reported that.  In between a pattern that came is, when it comes again, what it was:
 * each reference finds what it found.  So a pattern is looked up visit by visit where it comes for the first time
 * since the last of these, and gets a number that holds until the next.
 *
 * Most events change nothing of that, or little: another task runs, a page comes into the page cache.  The merge voids
 * translations of its own where it has to, one by one or all, and notes which are of pages that known patterns
 * have (lpl_merge_watch()).  Those patterns are not known then, which are listed by the places of their pages.
 * (What walks refer to, by physical addresses, is what it is.)
 *
 * A pattern that is looked up again mostly is what it was, and keeps its number, so that
 * whoever is given the steps need not look at it again, either.
 *
 * A visit that begins with a read and writes is two references, as only the second may part the
 * page.  Others are one: what reads find between two events is the same for all, and after a
 * write for all that follow.
 *
 * Visits that come again and again, two in turn, are looked up twice: the first time has parted what they may part.
 *
 * A pattern that parts a page itself may find another one there the next time, also where it
 * came by that page before; so it is not known after that, and neither is any other.
 */
#include "canonical_steps.h"

#include <laplace/merge.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/try.h"
#include "merge/pages.h"
#include "record/visits.h"

enum { TOGETHER = 64 };	/* references that are looked up */
enum { MOST_USES = 1 << 20 };

struct known {
	uint32_t epoch;		/* 0: none, and there is no number */
	uint32_t number : 31;
	bool sure : 1;		/* no page of it has changed in the epoch */
};

/* A known pattern has a page at a place; place by place a list. */
struct use {
	uint32_t pattern, next;	/* index of the next one, plus 1; 0: none */
};

struct canonical_steps {
	struct known *known;		/* by pattern that comes: what it is, if that is of this epoch */
	uint32_t epoch;			/* begins with each change, from 1 on */
	uint64_t gaps, breaks;		/* that have taken effect */
	/* what goes on; the arrays are owned, as the one above */
	uint32_t *step;
	struct lpl_pattern *pattern;
	struct lpl_visit *visit;
	size_t patterns, visits;
	size_t known_room, step_room, pattern_room, visit_room;
	struct lpl_ref ref[TOGETHER];
	struct lpl_merge_watch watch;	/* what known patterns visit */
	uint32_t first_use[LPL_WATCH_PLACES];	/* by place: plus 1; 0: none */
	struct use *use;		/* owned */
	size_t uses, use_room;
};

struct canonical_steps *lpl_canonical_steps_new(void)
{
	struct canonical_steps *steps = calloc(1, sizeof(*steps));

	if (steps != NULL)
		steps->epoch = 1;
	return steps;
}

void lpl_canonical_steps_free(struct canonical_steps *steps)
{
	if (steps == NULL)
		return;
	free(steps->known);
	free(steps->step);
	free(steps->pattern);
	free(steps->visit);
	free(steps->use);
	free(steps);
}

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for canonical pages");
}

/* No number holds. */
static void forget(struct canonical_steps *steps)
{
	if (steps->known_room > 0)
		memset(steps->known, 0, steps->known_room * sizeof(*steps->known));
}

/* Nothing is known any more. */
static void change(struct canonical_steps *steps)
{
	memset(&steps->watch, 0, sizeof(steps->watch));
	memset(steps->first_use, 0, sizeof(steps->first_use));
	steps->uses = 0;
	if (++steps->epoch != 0)
		return;
	forget(steps);
	steps->epoch = 1;
}

/* Patterns with pages at these places are not known any more; their numbers stay, to be compared with. */
static void change_some(struct canonical_steps *steps)
{
	for (uint32_t i = 0; i < steps->watch.places; i++) {
		uint32_t *first = &steps->first_use[steps->watch.place[i]];

		for (uint32_t at = *first; at != 0; at = steps->use[at - 1].next)
			steps->known[steps->use[at - 1].pattern].sure = false;
		*first = 0;
	}
	steps->watch.places = 0;
}

/* The pattern has the page.  false: no memory. */
static bool note_use(struct canonical_steps *steps, uint32_t pattern, uint64_t page)
{
	const uint32_t place = lpl_watch_place(page);

	if (steps->first_use[place] != 0 && steps->use[steps->first_use[place] - 1].pattern == pattern)
		return true;
	if (!lpl_reserve(steps->use, steps->use_room, steps->uses))
		return false;
	steps->use[steps->uses++] = (struct use){ .pattern = pattern, .next = steps->first_use[place] };
	steps->first_use[place] = (uint32_t)steps->uses;
	steps->watch.noted[place / 64] |= UINT64_C(1) << place % 64;
	return true;
}

/* One more reference of the pattern that begins there.  false: no memory. */
static bool put(struct canonical_steps *steps, size_t first, const struct lpl_ref *ref, uint64_t page)
{
	const bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
	const bool write = ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE;
	const uint64_t space = walk ? LPL_VISIT_WALK : 0;
	struct lpl_visit *last;

	if (!lpl_reserve(steps->visit, steps->visit_room, steps->visits))
		return false;
	last = steps->visits > first ? &steps->visit[steps->visits - 1] : NULL;
	if (last != NULL && last->page == page && last->space == space && last->again == 0)
		last->write |= write;
	else
		steps->visit[steps->visits++] = (struct lpl_visit){
			.space = space, .page = page, .write = write, .reads = !write
		};
	return true;
}

/* The references that wait, of which there is at least one, are of the pattern that begins there. */
static enum lpl_error look_up(struct canonical_steps *steps, struct canonical_pages *pages, size_t first,
			      size_t count, struct lpl_report *report)
{
	for (size_t done = 0; done < count;) {
		const size_t found = lpl_canonical_pages_find(pages, &steps->ref[done], count - done, report);

		if (found == 0)
			return report != NULL ? report->error : LPL_ERR_MEMORY;
		for (size_t i = 0; i < found; i++)
			if (!put(steps, first, &steps->ref[done + i], pages->page[i]))
				return no_memory(report);
		done += found;
	}
	return LPL_OK;
}

static void set_ref(struct lpl_ref *ref, const struct lpl_visit *visit, bool write)
{
	const bool walk = visit->space == LPL_VISIT_WALK;

	*ref = (struct lpl_ref){
		.address = (uint64_t)visit->page << LPL_PAGE_SHIFT, .space = walk ? 0 : visit->space, .length = 1,
		.type = walk ? (write ? LPL_WALK_WRITE : LPL_WALK_READ) : write ? LPL_WRITE : LPL_READ
	};
}

/* The references of a visit, one or two.  Returns how many. */
static size_t set_refs(struct lpl_ref *ref, const struct lpl_visit *visit)
{
	const bool both = visit->write && visit->reads;

	if (both)
		set_ref(ref, visit, false);
	set_ref(&ref[both], visit, visit->write);
	return 1U + both;
}

/* The last visit of the pattern that begins there was this one, which comes again with the one before it. */
static enum lpl_error look_up_again(struct canonical_steps *steps, struct canonical_pages *pages, size_t first,
				    const struct lpl_visit *visit, struct lpl_report *report)
{
	for (unsigned int left = visit->again; left > 0; left--) {
		const size_t before = steps->visits;
		size_t count = set_refs(steps->ref, visit - 1);

		count += set_refs(&steps->ref[count], visit);
		LPL_TRY(look_up(steps, pages, first, count, report));
		if (steps->visits != before + 2)
			continue;	/* to one page, mostly */
		steps->visits = first + lpl_visits_fold(&steps->visit[first], steps->visits - first);
		steps->visit[steps->visits - 1].again += left - 1;
		break;
	}
	return LPL_OK;
}

/* Does a pattern that is there have these visits? */
static bool is_as_before(const struct canonical_steps *steps, uint32_t number, size_t first, size_t count)
{
	const struct lpl_pattern *before = &steps->pattern[number];

	return before->visits == count &&
	       memcmp(&steps->visit[before->visit], &steps->visit[first], count * sizeof(*steps->visit)) == 0;
}

/* A pattern that is not known, though it may have been. */
static enum lpl_error learn(struct canonical_steps *steps, struct canonical_pages *pages, uint32_t number,
			    const struct lpl_pattern *pattern, const struct lpl_visit *visit,
			    struct lpl_report *report)
{
	struct known *known = &steps->known[number];
	const size_t first = steps->visits;
	size_t count = 0;

	if (!lpl_reserve(steps->pattern, steps->pattern_room, steps->patterns))
		return no_memory(report);
	for (uint32_t i = 0; i < pattern->visits; i++) {
		const struct lpl_visit *at = &visit[pattern->visit + i];

		count += set_refs(&steps->ref[count], at);
		if (at->space != LPL_VISIT_WALK && !note_use(steps, number, at->page))
			return no_memory(report);
		if (count <= TOGETHER - 2 && i + 1 < pattern->visits && at->again == 0)
			continue;
		LPL_TRY(look_up(steps, pages, first, count, report));
		LPL_TRY(look_up_again(steps, pages, first, at, report));
		count = 0;
	}
	if (known->epoch != 0 && is_as_before(steps, known->number, first, steps->visits - first)) {
		steps->visits = first;
	} else {
		known->number = (uint32_t)steps->patterns & INT32_MAX;
		steps->pattern[steps->patterns++] = (struct lpl_pattern){
			.visit = (uint32_t)first, .visits = (uint32_t)(steps->visits - first)
		};
	}
	known->epoch = steps->epoch;
	known->sure = true;
	return LPL_OK;
}

enum lpl_error lpl_canonical_steps_take(struct canonical_steps *steps, struct canonical_pages *pages,
					const struct lpl_page_steps *in, struct lpl_page_steps *out,
					struct lpl_report *report)
{
	const struct lpl_merge_stats *stats = lpl_merge_stats(pages->merge);

	lpl_merge_watch(pages->merge, &steps->watch);
	if (in->afresh) {
		steps->patterns = steps->visits = 0;
		forget(steps);
	}
	if (in->afresh || steps->gaps != stats->gaps || steps->breaks != stats->implied_breaks ||
	    lpl_merge_all_changed(pages->merge) || steps->uses > MOST_USES)
		change(steps);
	change_some(steps);
	steps->gaps = stats->gaps;
	steps->breaks = stats->implied_breaks;
	if (in->count > 0 && !lpl_reserve(steps->step, steps->step_room, in->count - 1))
		return no_memory(report);
	for (size_t i = 0; i < in->count; i++) {
		const uint32_t number = in->step[i];
		struct known *known;

		if (number >= steps->known_room && !lpl_reach(steps->known, steps->known_room, number))
			return no_memory(report);
		known = &steps->known[number];
		if (known->epoch != steps->epoch || !known->sure) {
			LPL_TRY(learn(steps, pages, number, &in->pattern[number], in->visit, report));
			if (steps->breaks != stats->implied_breaks)
				change(steps);
			steps->breaks = stats->implied_breaks;
		}
		steps->step[i] = known->number;
	}
	*out = (struct lpl_page_steps){
		.step = steps->step, .count = in->count, .pattern = steps->pattern, .visit = steps->visit,
		.refs = in->refs, .afresh = in->afresh
	};
	return LPL_OK;
}
