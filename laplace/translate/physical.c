/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * References by physical addresses; see translation.h.
 *
 * Pages of which the frame is not known get numbers above any frame that a processor has, one for each page of
 * each space, so far from each other that no larger page has two of them.
 */
#include <laplace/reducer.h>
#include <laplace/trace.h>
#include <laplace/translation.h>

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/try.h"

enum { BATCH = 1024, APART = 1 << 18 };	/* frames: 1 GB */

struct lpl_physical {
	struct lpl_sink sink, *next;
	struct lpl_translations *map;
	struct lpl_map unknown;		/* space, page -> number */
	uint64_t unknown_refs;
	struct lpl_ref batch[BATCH];
};

bool lpl_has_translations(const struct lpl_meta *meta)
{
	const char *kept = lpl_meta_get(meta, LPL_META_TRANSLATIONS);
	const char *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);
	const uint64_t page_size = lpl_page_size(lpl_meta_get(meta, LPL_META_PAGE_SIZE), reduction);

	return kept && strcmp(kept, "kept") == 0 && lpl_reduction_behaviour(reduction) == 0 &&
	       !lpl_reduction_records(reduction) && page_size != 0 &&
	       page_size <= UINT64_C(1) << LPL_PAGE_SHIFT;
}

/* The frame that has the address; 0 is one, too.  false: no memory. */
static bool find_frame(struct lpl_physical *physical, const struct lpl_ref *ref, uint64_t *frame)
{
	const uint64_t page = ref->address >> LPL_PAGE_SHIFT;
	struct lpl_translation found;
	uint64_t *number;

	if (lpl_translate(physical->map, ref->space, ref->address, &found)) {
		*frame = found.frame;
		return true;
	}
	number = lpl_map_reach(&physical->unknown, LPL_KEY(ref->space, page));
	if (number == NULL)
		return false;
	if (*number == 0)
		*number = LPL_FRAMES + physical->unknown.count * APART;
	*frame = *number;
	physical->unknown_refs++;
	return true;
}

static bool is_walk(const struct lpl_ref *ref)
{
	return ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
}

static enum lpl_error take_batch(struct lpl_physical *physical, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	const uint64_t in_page = (UINT64_C(1) << LPL_PAGE_SHIFT) - 1;

	for (size_t i = 0; i < count; i++) {
		struct lpl_ref *ref = &physical->batch[i];
		uint64_t frame;

		*ref = refs[i];
		if (is_walk(ref))
			continue;
		if (!find_frame(physical, ref, &frame))
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for pages without a frame");
		ref->address = frame << LPL_PAGE_SHIFT | (ref->address & in_page);
		ref->space = 0;
	}
	return physical->next->refs(physical->next, physical->batch, count, report);
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_physical *physical = (struct lpl_physical *)sink;

	while (count > 0) {
		const size_t now = count < BATCH ? count : BATCH;

		LPL_TRY(take_batch(physical, refs, now, report));
		refs += now;
		count -= now;
	}
	return LPL_OK;
}

/* What is said of virtual pages means nothing to those who have physical ones; an exec says what runs, too. */
static bool passes(const struct lpl_event *event)
{
	switch (event->tag) {
	case KTR_EXEC:
		return true;
	case LPL_EVENT_TRANSLATION:
	case LPL_EVENT_SPACE_STATE:
	case LPL_EVENT_EVICTED:
	case LPL_EVENT_IMAGE:
	case LPL_EVENT_IMAGE_PART:
		return false;
	default:
		return !lpl_event_is_fence(event->tag);
	}
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_physical *physical = (struct lpl_physical *)sink;

	LPL_TRY(lpl_translations_follow(physical->map, event, report));
	return passes(event) ? physical->next->event(physical->next, event, report) : LPL_OK;
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_physical *physical = (struct lpl_physical *)sink;

	return physical->next->finish(physical->next, report);
}

enum lpl_error lpl_physical_open(struct lpl_physical **physical, struct lpl_sink *next,
				 struct lpl_report *report)
{
	struct lpl_physical *made = calloc(1, sizeof(*made));
	enum lpl_error error;

	*physical = NULL;
	if (made == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for physical addresses");
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->next = next;
	lpl_map_init(&made->unknown, 2);
	error = lpl_translations_open(&made->map, report);
	if (error != LPL_OK)
		free(made);
	else
		*physical = made;
	return error;
}

struct lpl_sink *lpl_physical_sink(struct lpl_physical *physical)
{
	return &physical->sink;
}

uint64_t lpl_physical_unknown(const struct lpl_physical *physical)
{
	return physical->unknown_refs;
}

void lpl_physical_close(struct lpl_physical *physical)
{
	if (physical == NULL)
		return;
	lpl_translations_close(physical->map);
	lpl_map_free(&physical->unknown);
	free(physical);
}
