/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a pass can leave out.
 *
 * Most passes change little.  A verdict that was KEPT can only be another one when one of
 * the last two passes has changed something near: with fewer than K+2 residencies that
 * have references in between which are KEPT.  For SAD's verdict depends on what lies
 * between the references before and after it in its residency, and where a change is that
 * far from it, the two are K others apart, whatever the change.  SAD2's depends on what its
 * residency has after it before the next fetch, and so many residencies do not fit in K
 * pages without a fetch.
 *
 * So a pass looks at ranges around the changes, so far to each side; and SAD's lists begin
 * as far before a range, and look for a third reference as far after it.  A reference is
 * changed once at most, so all passes together cost no more than O(K) for each, however
 * many they are.
 */
#include "fixpoint_pass.h"

#include <assert.h>

/* Does a scan meet the residency of reference i, which is KEPT, for the first time? */
static bool meets(struct lpl_fixpoint *fix, uint32_t i)
{
	struct lpl_fix_mark *mark = fix->mark;
	struct lpl_fix_mark *residency = &mark[mark[i].residency];
	bool first = mark[i].state == FIX_KEPT && residency->scan != fix->scans;

	if (first)
		residency->scan = fix->scans;
	return first;
}

uint32_t lpl_fix_back(struct lpl_fixpoint *fix, uint32_t i, uint32_t residencies)
{
	fix->scans++;
	while (i > 0 && residencies > 0)
		residencies -= meets(fix, --i) ? 1 : 0;
	return i;
}

/* Likewise ahead; the last reference: there are no more. */
static uint32_t ahead(struct lpl_fixpoint *fix, uint32_t i, uint32_t residencies)
{
	fix->scans++;
	while (i + 1 < fix->count && residencies > 0)
		residencies -= meets(fix, ++i) ? 1 : 0;
	return i;
}

/* The next reference of all; LPL_NO_REF: none is left. */
static uint32_t next_change(const struct lpl_fix_ranges *ranges)
{
	uint32_t next = LPL_NO_REF;

	for (unsigned int i = 0; i < FIX_SOURCES; i++) {
		const struct lpl_fix_changes *changes = ranges->changes[i];

		if (ranges->used[i] < changes->count && changes->ref[ranges->used[i]] < next)
			next = changes->ref[ranges->used[i]];
	}
	return next;
}

static void skip_changes(struct lpl_fix_ranges *ranges, uint32_t until)
{
	for (unsigned int i = 0; i < FIX_SOURCES; i++)
		while (ranges->used[i] < ranges->changes[i]->count &&
		       ranges->changes[i]->ref[ranges->used[i]] <= until)
			ranges->used[i]++;
}

bool lpl_fix_next_range(struct lpl_fixpoint *fix, struct lpl_fix_ranges *ranges,
			struct lpl_fix_range *range)
{
	uint32_t residencies = fix->pages + 2;
	uint32_t change = next_change(ranges);

	if (change == LPL_NO_REF)
		return false;
	assert(change < fix->count);
	range->from = lpl_fix_back(fix, change, residencies);
	do {
		uint32_t last;

		/* so few references cannot be of more residencies */
		do {
			last = change;
			skip_changes(ranges, last);
			change = next_change(ranges);
		} while (change != LPL_NO_REF && change - last <= residencies);
		range->to = ahead(fix, last, residencies);
		range->end = ahead(fix, range->to, residencies);
	} while (change != LPL_NO_REF &&
		 (change <= range->end || lpl_fix_back(fix, change, residencies) <= range->end));
	return true;
}
