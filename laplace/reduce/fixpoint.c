/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All passes over an array, while the references after it are not known.
 *
 * Pass 1, 3, 5 ... are SAD2, pass 2, 4, 6 ... are SAD, each on what the one before
 * leaves.  What a pass drops may depend on references that are not here yet, and
 * then so may what the next pass drops.  So to each pass a reference is
 *
 *	KEPT	it is in the pass's input, whatever follows the array;
 *	OPEN	it may be there or not;
 *	DROPPED	it is not there.
 *
 * A pass judges a KEPT reference for all that the OPEN ones and the future may
 * turn out to be: it remains KEPT if it is kept in any case, becomes DROPPED if it
 * is dropped in any case, else OPEN; and what is OPEN remains OPEN.  By induction on
 * the passes this is true of the passes over the whole stream.  Once a pass of each
 * kind has changed nothing, none will any more, and the references before the
 * first OPEN one are decided: for all passes, for ever.
 */
#include "fixpoint.h"

#include "base/array.h"
#include "fixpoint_pass.h"

#include <assert.h>
#include <stdlib.h>

void lpl_fixpoint_init(struct lpl_fixpoint *fix, uint32_t pages)
{
	*fix = (struct lpl_fixpoint){.pages = pages};
}

void lpl_fixpoint_free(struct lpl_fixpoint *fix)
{
	for (unsigned int i = 0; i < 3; i++)
		free(fix->changes[i].ref);
	free(fix->due.ref);
	free(fix->known);
	free(fix->mark);
	lpl_fixpoint_init(fix, fix->pages);
}

/* All references are there; put residencies together, and in order. */
static void prepare(struct lpl_fixpoint *fix, struct lpl_fix_ref *array, uint32_t decided)
{
	struct lpl_fix_mark *mark = fix->mark;
	uint32_t fetched = LPL_NO_REF;
	uint32_t end = fix->count;

	for (uint32_t i = 0; i < fix->count; i++) {
		uint32_t before = array[i].before;

		assert(before == LPL_NO_REF || before < i);
		mark[i] = (struct lpl_fix_mark){
			.state = FIX_KEPT,
			.residency = before == LPL_NO_REF ? i : mark[before].residency,
			.prev = before,
			.next = LPL_NO_REF,
			.next_residency = LPL_NO_REF,
			.first_possible = i,
			.first_certain = i,
			.recency = {{0, 0, LPL_NO_REF}, {0, 0, LPL_NO_REF}},
		};
		if (before != LPL_NO_REF)
			mark[before].next = i;
		if (i >= decided)
			array[i].dropped = 0;
		if (!array[i].fetches)
			continue;
		if (fetched != LPL_NO_REF)
			mark[fetched].next_residency = i;
		fetched = i;
	}
	mark[end] = (struct lpl_fix_mark){
		.recency = {{end, end, LPL_NO_REF}, {end, end, LPL_NO_REF}}
	};
	fix->listed[FIX_POSSIBLE] = 0;
	fix->listed[FIX_CERTAIN] = 0;
	fix->scans = 0;
}

static int compare_known(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* What earlier runs have found each pass to drop. */
static void find_known(struct lpl_fixpoint *fix, const struct lpl_fix_ref *array,
		       uint32_t decided)
{
	fix->known_count = 0;
	fix->known_used = 0;
	for (uint32_t i = 0; i < decided; i++)
		if (array[i].dropped != 0)
			fix->known[fix->known_count++] = (uint64_t)array[i].dropped << 32 | i;
	if (fix->known_count != 0)
		qsort(fix->known, fix->known_count, sizeof(*fix->known), compare_known);
}

/* Of that, what this pass drops. */
static void find_due(struct lpl_fixpoint *fix, uint32_t number)
{
	fix->due.count = 0;
	while (fix->known_used < fix->known_count &&
	       fix->known[fix->known_used] >> 32 == number)
		fix->due.ref[fix->due.count++] =
			(uint32_t)fix->known[fix->known_used++];
	/* passes are made in order, so none is left out */
	assert(fix->known_used == fix->known_count ||
	       fix->known[fix->known_used] >> 32 > number);
}

static void run(struct lpl_fixpoint *fix, struct lpl_fix_ref *array, uint32_t decided, bool ended)
{
	struct lpl_fix_pass pass = {.array = array, .decided = decided, .ended = ended};
	unsigned int quiet = 0;	/* passes that have changed nothing */

	find_known(fix, array, decided);
	while (quiet < 2 || fix->known_used < fix->known_count) {
		pass.number++;
		pass.changes = &fix->changes[pass.number % 3];
		find_due(fix, pass.number);
		lpl_fix_pass_over(fix, &pass, pass.number <= 2);
		quiet = pass.changes->count != 0 ? 0 : quiet + 1;
	}
}

/* Room for so many references. */
static bool reach(struct lpl_fixpoint *fix, uint32_t count)
{
	for (unsigned int i = 0; i < 3; i++)
		if (!lpl_reach(fix->changes[i].ref, fix->changes[i].capacity, count))
			return false;
	return lpl_reach(fix->mark, fix->capacity, count) &&
	       lpl_reach(fix->known, fix->known_capacity, count) &&
	       lpl_reach(fix->due.ref, fix->due.capacity, count);
}

enum lpl_error lpl_fixpoint_run(struct lpl_fixpoint *fix, struct lpl_fix_ref *array,
				uint32_t count, uint32_t *decided, bool ended,
				struct lpl_report *report)
{
	uint32_t i = *decided;

	assert(*decided <= count);
	if (!reach(fix, count))
		return lpl_fail(report, LPL_ERR_MEMORY,
				"reduction sad2-fix:%u: no memory to hold more", fix->pages);
	fix->count = count;
	prepare(fix, array, *decided);
	if (count != 0)
		run(fix, array, *decided, ended);
	for (; i < count && fix->mark[i].state != FIX_OPEN; i++) {
		if (array[i].dropped == 0 || !lpl_is_write(&array[i].ref))
			continue;
		/* what is dropped is never the last of its residency */
		assert(fix->mark[i].next > i && fix->mark[i].next < count);
		lpl_make_write(&array[fix->mark[i].next].ref);
	}
	*decided = i;
	return LPL_OK;
}

/*
 * What a verdict beyond `decided` depends on (fixpoint_pass.c).  SAD needs the K+1 latest
 * residencies of each pass: back to where K+1 of them have references that are kept for
 * good, for these are in all passes; an earlier `first` has K others after it.  SAD2
 * needs to know where the residency after one's own is fetched, in each pass.  If its own
 * fetch is left out, that has happened for all of them: so many residencies do not fit in
 * K pages without a fetch.  Only the cut must not part a residency that some passes
 * fetch before the cut, and others after it.
 */
uint32_t lpl_fixpoint_context(struct lpl_fixpoint *fix, const struct lpl_fix_ref *array,
			      uint32_t decided)
{
	const struct lpl_fix_mark *mark = fix->mark;
	uint32_t cut = lpl_fix_back(fix, decided, fix->pages + 1);

	for (uint32_t i = cut; i-- > 0;)
		if (array[i].fetches && mark[i].first_certain >= cut)
			cut = i;
	return cut;
}
