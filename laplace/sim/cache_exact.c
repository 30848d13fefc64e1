/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * On which traces a cache is exact.
 *
 * An unreduced trace has every line that was referenced.  On a reduced one, whose pages are no
 * larger than lines, the first level is exact, with its evictions and what is dirty then, if it is
 * for instructions and data, of LRU, writes back and allocates, and
 *
 *	it is fully associative: it is an LRU memory of as many pages as it has lines, and
 *		the reduction is exact for LRU from so many on, or
 *
 *	each set has at least K ways, and the reduction drops only references that SAD with K may drop
 *		(`block`, `window:K`, `sad:K`).  For a set is an LRU memory of its ways, for those
 *		references that are to its lines.  Of these, too, a dropped one is the middle of three, and
 *		fewer than K other lines of the set are between the first and the third, as fewer
 *		than K of all sets are.  That is what lpl_reduction_any_order() says of a reduction: each
 *		part of the pages is reduced for itself.
 *
 * Levels below see the misses and evictions of the first one, in their order, so they are exact, too,
 * unless they change it: an inclusive level takes lines from it.
 *
 * Of the misses only the sum is exact: a reference may have become a write for another one.
 */
#include "cache.h"

#include "reduce/reduction.h"

#include <inttypes.h>
#include <string.h>

/* Why the levels cannot be exact on a reduced trace, however it was reduced; NULL: they can. */
static const char *fault_of_levels(const struct lpl_cache *cache)
{
	const struct lpl_cache_store *first = &cache->store[LPL_CACHE_L1];

	if (first->level.ways == 0)
		return "instructions and data are apart";
	if (first->replacement != LPL_WAYS_LRU)
		return "its first level is not of LRU";
	if (first->through || first->around)
		return "its first level passes writes on";
	if (cache->relation == LPL_CACHE_INCLUSIVE)
		return "an inclusive level takes lines from the first";
	return NULL;
}

static bool is_enough(const struct lpl_cache_store *first, const struct lpl_reduction *reduction)
{
	return (reduction->any_order != 0 && first->level.ways >= reduction->any_order) ||
	       (first->sets == 1 && reduction->exact.lru != 0 &&
		first->level.ways >= reduction->exact.lru);
}

static enum lpl_error check_reduced(const struct lpl_cache *cache, const char *spec,
				    const struct lpl_reduction *reduction, const char *name,
				    struct lpl_report *report)
{
	const struct lpl_cache_store *first = &cache->store[LPL_CACHE_L1];
	const char *why = fault_of_levels(cache);

	if (reduction->behaviour != 0)
		why = "a behaviour sequence is of one memory";
	if (why != NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "cache '%.80s': is not exact on a trace reduced by "
				"%.80s: %s; record every reference (-r none)", spec, name, why);
	if (first->level.line < lpl_page_bytes(reduction))
		return lpl_fail(report, LPL_ERR_USAGE, "cache '%.80s': the trace was reduced by %.80s to pages "
				"of %" PRIu64 " bytes, and of lines of %" PRIu32 " nothing is known; record "
				"every reference (-r none), or reduce with block:%" PRIu32 " first", spec,
				name, lpl_page_bytes(reduction), first->level.line, first->level.line);
	if (is_enough(first, reduction))
		return LPL_OK;
	if (reduction->any_order != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "cache '%.80s': on a trace reduced by %.80s a first "
				"level of LRU is exact with %" PRIu64 " ways and more", spec, name,
				reduction->any_order);
	if (reduction->exact.lru != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "cache '%.80s': on a trace reduced by %.80s only a "
				"first level that is fully associative, of %" PRIu64 " lines and more, is "
				"exact", spec, name, reduction->exact.lru);
	return lpl_fail(report, LPL_ERR_USAGE, "cache '%.80s': no cache is exact on a trace reduced by %.80s",
			spec, name);
}

enum lpl_error lpl_cache_check(struct lpl_cache *cache, const char *spec,
			       const struct lpl_cache_options *options, struct lpl_report *report)
{
	const char *name = options != NULL && options->reduction != NULL ? options->reduction : "none";
	struct lpl_reduction reduction;
	const bool known = lpl_reduction_read(&reduction, name);
	const enum lpl_trace_part part = options != NULL ? options->part : LPL_PART_ALL;

	cache->by_type = known && reduction.page_size == 0;
	if (cache->by_type)
		return LPL_OK;
	if (!known)
		return lpl_fail(report, LPL_ERR_USAGE, "cache '%.80s': the trace was reduced by %.80s, and what "
				"that is exact for is not known", spec, name);
	if (part == LPL_PART_REFERENCES)
		return lpl_fail(report, LPL_ERR_USAGE, "cache '%.80s': is not exact on a part of a trace "
				"reduced by %.80s", spec, name);
	return check_reduced(cache, spec, &reduction, name, report);
}
