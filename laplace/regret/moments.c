/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moments; see moments.h.
 *
 * Compaction: times are known by boundaries alone.  Moments between two neighbours of the
 * boundaries that are still referred to will be treated alike from here on: whatever range covers one
 * covers them all.  So they become one moment, with the least that is free at any of them.  A moment
 * that will be asked for its pages has both its boundaries needed, and so remains by itself.  There
 * are at most as many moments as boundaries needed, and then room for as many more at least, and for some
 * part of the number of pages, so that compacting costs a few steps for each moment.
 */
#include "moments.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64
#define NO_LESS INT64_MAX	/* of what is no moment yet */

static bool allocate(struct moments *moments, uint32_t room)
{
	moments->room = room;
	moments->resident = calloc(room + 1, sizeof(*moments->resident));
	moments->used = calloc(room + 2, sizeof(*moments->used));
	moments->least = malloc(2 * (size_t)room * sizeof(*moments->least));
	moments->added = calloc(2 * (size_t)room, sizeof(*moments->added));
	if (!moments->resident || !moments->used || !moments->least || !moments->added)
		return false;
	for (size_t i = 0; i < 2 * (size_t)room; i++)
		moments->least[i] = NO_LESS;
	return true;
}

bool lpl_moments_init(struct moments *moments)
{
	*moments = (struct moments){ .count = 0 };
	return allocate(moments, FIRST_ROOM);
}

void lpl_moments_free(struct moments *moments)
{
	free(moments->resident);
	free(moments->used);
	free(moments->least);
	free(moments->added);
	free(moments->renumbered);
	*moments = (struct moments){ .count = 0 };
}

/* ---- the pages of a moment ---- */

static void add_from(struct moments *moments, uint32_t moment, uint64_t what)
{
	for (; moment <= moments->room; moment += moment & -moment)
		moments->used[moment] += what;
}

void lpl_moments_use(struct moments *moments, uint32_t first, uint32_t last)
{
	assert(first <= last && last <= moments->count);
	if (first == last)
		return;
	add_from(moments, first + 1, 1);
	add_from(moments, last + 1, -UINT64_C(1));
}

uint64_t lpl_moments_unused(const struct moments *moments, uint32_t moment)
{
	uint64_t used = 0;

	assert(moment >= 1 && moment <= moments->count);
	for (uint32_t i = moment; i > 0; i -= i & -i)
		used += moments->used[i];
	return moments->resident[moment] - used;
}

/* ---- what is free for OPT ---- */

/* Of moment m the leaf is room + m - 1.  What is added to a node is in its own `least` already. */
static void pull(struct moments *moments, size_t node)
{
	for (node /= 2; node >= 1; node /= 2) {
		const int64_t left = moments->least[2 * node], right = moments->least[2 * node + 1];
		const int64_t least = left < right ? left : right;

		moments->least[node] = least == NO_LESS ? NO_LESS : least + moments->added[node];
	}
}

/* What was added to all above a node. */
static int64_t added_above(const struct moments *moments, size_t node)
{
	int64_t added = 0;

	for (node /= 2; node >= 1; node /= 2)
		added += moments->added[node];
	return added;
}

static void set_free(struct moments *moments, uint32_t moment, int64_t free)
{
	const size_t leaf = (size_t)moments->room + moment - 1;

	moments->least[leaf] = free - added_above(moments, leaf);
	pull(moments, leaf);
}

static bool has_room(const struct moments *moments, size_t node)
{
	return moments->least[node] + added_above(moments, node) > 0;
}

static void take(struct moments *moments, size_t node)
{
	moments->least[node]--;
	moments->added[node]--;
}

/*
 * The nodes that make up (first, last] are at most two of each level, from the ends inwards.  What is
 * not a moment yet is below none of them.
 */
bool lpl_moments_keep(struct moments *moments, uint32_t first, uint32_t last)
{
	const size_t begin = (size_t)moments->room + first, end = (size_t)moments->room + last;

	assert(first < last && last <= moments->count);
	for (size_t l = begin, r = end; l < r; l /= 2, r /= 2) {
		if ((l & 1) && !has_room(moments, l++))
			return false;
		if ((r & 1) && !has_room(moments, --r))
			return false;
	}
	for (size_t l = begin, r = end; l < r; l /= 2, r /= 2) {
		if (l & 1)
			take(moments, l++);
		if (r & 1)
			take(moments, --r);
	}
	pull(moments, begin);
	pull(moments, end - 1);
	return true;
}

void lpl_moments_add(struct moments *moments, uint64_t resident)
{
	const uint32_t moment = ++moments->count;

	assert(moment <= moments->room);
	moments->resident[moment] = resident;	/* no range was added that reaches it */
	set_free(moments, moment, (int64_t)resident);
}

/* ---- compaction ---- */

bool lpl_moments_compact_begin(struct moments *moments)
{
	assert(!moments->renumbered);
	moments->renumbered = calloc((size_t)moments->count + 1, sizeof(*moments->renumbered));
	if (moments->renumbered)
		lpl_moments_need(moments, moments->count);
	return moments->renumbered != NULL;
}

static int64_t free_at(const struct moments *moments, uint32_t moment)
{
	const size_t leaf = (size_t)moments->room + moment - 1;

	return moments->least[leaf] + added_above(moments, leaf);
}

bool lpl_moments_compact(struct moments *moments, size_t least_room)
{
	struct moments old = *moments;
	uint32_t kept = 0, room = FIRST_ROOM;
	int64_t least = NO_LESS;

	for (uint32_t i = 1; i <= old.count; i++)
		kept += old.renumbered[i];
	while ((room / 2 < kept || room < least_room) && room <= UINT32_MAX / 8)
		room *= 2;
	*moments = (struct moments){ .renumbered = old.renumbered };
	if (room > UINT32_MAX / 8 || !allocate(moments, room)) {
		moments->renumbered = NULL;
		lpl_moments_free(&old);
		return false;
	}
	moments->renumbered[0] = 0;
	for (uint32_t i = 1; i <= old.count; i++) {
		const int64_t free = free_at(&old, i);

		least = free < least ? free : least;
		if (moments->renumbered[i]) {
			lpl_moments_add(moments, lpl_moments_unused(&old, i));
			set_free(moments, moments->count, least);
			least = NO_LESS;
			moments->renumbered[i] = moments->count;
		} else {
			moments->renumbered[i] = NO_BOUNDARY;
		}
	}
	old.renumbered = NULL;
	lpl_moments_free(&old);
	return true;
}

void lpl_moments_compacted(struct moments *moments)
{
	free(moments->renumbered);
	moments->renumbered = NULL;
}
