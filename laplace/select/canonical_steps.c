/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of a stream on its canonical pages.
 *
 * What a page is in a space changes with events, and with a write that parts a page from those that share it though no
 * event has reported that.  In between a pattern that came is, when it comes again, what it was:
 * each reference finds what it found.  So a pattern is looked up visit by visit where it comes for the first time
 * since the last of these, and gets a number that holds until the next.
 *
 * A visit that begins with a read and writes is two references, as only the second may part the
 * page.  Others are one: what reads find between two events is the same for all, and after a
 * write for all that follow.
 *
 * A pattern that parts a page itself may find another one there the next time, also where it
 * came by that page before; so it is not known after that, and neither is any other.
 */
#include "canonical_steps.h"

#include <laplace/merge.h>

#include <stdlib.h>

#include "base/array.h"
#include "base/try.h"

enum { TOGETHER = 64 };	/* references that are looked up */

struct known {
	uint32_t epoch, number;
};

struct canonical_steps {
	struct known *known;		/* by pattern that comes: what it is, if that is of this epoch */
	uint32_t epoch;			/* begins with each change, from 1 on */
	uint64_t events, breaks;	/* that have taken effect; gaps among the events */
	/* what goes on; the arrays are owned, as the one above */
	uint32_t *step;
	struct lpl_pattern *pattern;
	struct lpl_visit *visit;
	size_t patterns, visits;
	size_t known_room, step_room, pattern_room, visit_room;
	struct lpl_ref ref[TOGETHER];
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
	free(steps);
}

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for canonical pages");
}

/* Nothing is known any more. */
static void change(struct canonical_steps *steps)
{
	if (++steps->epoch != 0)
		return;
	for (size_t i = 0; i < steps->known_room; i++)
		steps->known[i].epoch = 0;
	steps->epoch = 1;
}

static void put(struct canonical_steps *steps, size_t first, const struct lpl_ref *ref, uint64_t page)
{
	const bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
	const bool write = ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE;
	const uint64_t space = walk ? LPL_VISIT_WALK : 0;
	struct lpl_visit *last = steps->visits > first ? &steps->visit[steps->visits - 1] : NULL;

	if (last != NULL && last->page == page && last->space == space)
		last->write |= write;
	else
		steps->visit[steps->visits++] = (struct lpl_visit){
			.space = space, .page = page, .write = write, .reads = !write
		};
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
			put(steps, first, &steps->ref[done + i], pages->page[i]);
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

/* A pattern that is not known; its number is patterns - 1 then. */
static enum lpl_error learn(struct canonical_steps *steps, struct canonical_pages *pages,
			    const struct lpl_pattern *pattern, const struct lpl_visit *visit,
			    struct lpl_report *report)
{
	const size_t first = steps->visits;
	size_t count = 0;

	if (!lpl_reserve(steps->pattern, steps->pattern_room, steps->patterns) ||
	    !lpl_reserve(steps->visit, steps->visit_room, first + 2 * (size_t)pattern->visits))
		return no_memory(report);
	for (uint32_t i = 0; i < pattern->visits; i++) {
		const struct lpl_visit *at = &visit[pattern->visit + i];

		if (at->write && at->reads)
			set_ref(&steps->ref[count++], at, false);
		set_ref(&steps->ref[count++], at, at->write);
		if (count > TOGETHER - 2 || i + 1 == pattern->visits) {
			LPL_TRY(look_up(steps, pages, first, count, report));
			count = 0;
		}
	}
	steps->pattern[steps->patterns++] = (struct lpl_pattern){
		.visit = (uint32_t)first, .visits = (uint32_t)(steps->visits - first)
	};
	return LPL_OK;
}

enum lpl_error lpl_canonical_steps_take(struct canonical_steps *steps, struct canonical_pages *pages,
					const struct lpl_page_steps *in, struct lpl_page_steps *out,
					struct lpl_report *report)
{
	const struct lpl_merge_stats *stats = lpl_merge_stats(pages->merge);

	if (in->afresh)
		steps->patterns = steps->visits = 0;
	if (in->afresh || steps->events != stats->events + stats->gaps)
		change(steps);
	steps->events = stats->events + stats->gaps;
	if (in->count > 0 && !lpl_reserve(steps->step, steps->step_room, in->count - 1))
		return no_memory(report);
	for (size_t i = 0; i < in->count; i++) {
		const uint32_t number = in->step[i];
		struct known *known;

		if (number >= steps->known_room && !lpl_reach(steps->known, steps->known_room, number))
			return no_memory(report);
		known = &steps->known[number];
		if (known->epoch != steps->epoch) {
			LPL_TRY(learn(steps, pages, &in->pattern[number], in->visit, report));
			known->number = (uint32_t)steps->patterns - 1;
			known->epoch = steps->epoch;
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
