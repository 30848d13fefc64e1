/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much of each region of 2 MB is touched; see laplace/huge.h. */
#include <laplace/huge.h>

#include <stdlib.h>

#include <laplace/translation.h>

#include "base/array.h"
#include "base/map.h"
#include "base/try.h"
#include "reduce/pages.h"
#include "reduce/reduction.h"

#define EVERYWHERE KTR_NONE	/* the space of regions of global pages */

enum { WORDS = LPL_HUGE_PAGES / 64 };

struct region {
	uint64_t touched[WORDS];	/* a bit for each page */
	uint32_t count;			/* of them */
	bool huge;
};

struct lpl_huge {
	struct lpl_sink sink;		/* first */
	struct lpl_translations *translations;	/* NULL: the trace has none */
	struct lpl_map by_place;	/* space, number -> index + 1 */
	struct region *region;
	size_t count, room;
	uint64_t last_page, last_space;	/* touched as it is mapped now; of 4096 bytes */
	bool has_last;
};

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for regions of huge pages");
}

/* ---- the stream ---- */

static struct region *reach(struct lpl_huge *huge, uint64_t space, uint64_t number)
{
	uint64_t *index;

	if (!lpl_reach(huge->region, huge->room, huge->count))
		return NULL;
	index = lpl_map_reach(&huge->by_place, LPL_KEY(space, number));
	if (index == NULL)
		return NULL;
	if (*index == 0)
		*index = ++huge->count;
	return &huge->region[*index - 1];
}

static void touch_page(struct region *region, uint64_t address)
{
	const unsigned int page = address >> LPL_PAGE_SHIFT & (LPL_HUGE_PAGES - 1);
	const uint64_t bit = UINT64_C(1) << page % 64;

	region->count += (region->touched[page / 64] & bit) == 0;
	region->touched[page / 64] |= bit;
}

static enum lpl_error touch(struct lpl_huge *huge, uint64_t space, uint64_t address,
			    struct lpl_report *report)
{
	struct lpl_translation is = { .shift = LPL_PAGE_SHIFT };
	struct region *region;

	if (huge->has_last && huge->last_page == address >> LPL_PAGE_SHIFT && huge->last_space == space)
		return LPL_OK;
	if (huge->translations != NULL)
		(void)lpl_translate(huge->translations, space, address, &is);
	if (is.shift == LPL_NO_PAGING)
		return LPL_OK;
	region = reach(huge, is.global ? EVERYWHERE : space, address >> LPL_HUGE_SHIFT);
	if (region == NULL)
		return no_memory(report);
	touch_page(region, address);
	region->huge |= is.shift >= LPL_HUGE_SHIFT;
	huge->last_page = address >> LPL_PAGE_SHIFT;
	huge->last_space = space;
	huge->has_last = true;
	return LPL_OK;
}

static enum lpl_error huge_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_huge *huge = (struct lpl_huge *)sink;

	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];

		if (lpl_is_walk(ref))
			continue;
		LPL_TRY(touch(huge, ref->space, ref->address, report));
		for (unsigned int more = lpl_pages_after(ref, LPL_PAGE_SHIFT), n = 1; n <= more; n++)
			LPL_TRY(touch(huge, ref->space,
				      ((ref->address >> LPL_PAGE_SHIFT) + n) << LPL_PAGE_SHIFT, report));
	}
	return LPL_OK;
}

static enum lpl_error huge_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_huge *huge = (struct lpl_huge *)sink;

	if (huge->translations == NULL)
		return LPL_OK;
	huge->has_last = false;
	return lpl_translations_follow(huge->translations, event, report);
}

static enum lpl_error huge_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

/* ---- results ---- */

struct lpl_huge_regions lpl_huge_touched(const struct lpl_huge *huge, unsigned int touched)
{
	struct lpl_huge_regions regions = { 0 };

	for (size_t i = 0; i < huge->count; i++) {
		if (huge->region[i].count != touched)
			continue;
		if (huge->region[i].huge)
			regions.huge++;
		else
			regions.small++;
	}
	return regions;
}

void lpl_huge_promotion(const struct lpl_huge *huge, unsigned int least, struct lpl_huge_promotion *promotion)
{
	*promotion = (struct lpl_huge_promotion){ 0 };
	for (size_t i = 0; i < huge->count; i++) {
		if (huge->region[i].huge || huge->region[i].count < least)
			continue;
		promotion->regions++;
		promotion->touched += huge->region[i].count;
	}
	promotion->wasted = ((promotion->regions << LPL_HUGE_SHIFT) - (promotion->touched << LPL_PAGE_SHIFT));
}

unsigned int lpl_huge_small(const struct lpl_huge *huge, uint64_t space, bool global, uint64_t address)
{
	const uint64_t index = lpl_map_get(&huge->by_place, LPL_KEY(global ? EVERYWHERE : space,
								    address >> LPL_HUGE_SHIFT));

	return index == 0 || huge->region[index - 1].huge ? 0 : huge->region[index - 1].count;
}

/* ---- opening and closing ---- */

enum lpl_error lpl_huge_open(struct lpl_huge **huge, const char *reduction, bool translations,
			     struct lpl_report *report)
{
	struct lpl_huge *opened;
	struct lpl_reduction known;
	enum lpl_error error = LPL_OK;

	*huge = NULL;
	if (!lpl_reduction_read(&known, reduction) || known.page_size != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "which pages of a region are touched is not known of a "
				"trace reduced by %.80s; record every reference (-r none)", reduction);
	opened = calloc(1, sizeof(*opened));
	if (opened == NULL)
		return no_memory(report);
	opened->sink = (struct lpl_sink){ huge_refs, huge_event, huge_finish };
	lpl_map_init(&opened->by_place, 2);
	if (translations)
		error = lpl_translations_open(&opened->translations, report);
	if (error != LPL_OK)
		lpl_huge_close(opened);
	else
		*huge = opened;
	return error;
}

struct lpl_sink *lpl_huge_sink(struct lpl_huge *huge)
{
	return &huge->sink;
}

void lpl_huge_close(struct lpl_huge *huge)
{
	if (huge == NULL)
		return;
	lpl_map_free(&huge->by_place);
	free(huge->region);
	lpl_translations_close(huge->translations);
	free(huge);
}
