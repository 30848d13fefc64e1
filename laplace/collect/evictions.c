/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The evictions of an LRU memory after windows; see evictions.h. */
#include "evictions.h"

#include <stdlib.h>

#include <laplace/kernel_trace_record.h>

#include "reduce/pages.h"

struct lpl_evictions {
	struct lpl_pages pages;		/* in memory, those of this window in front; payload: the frame */
	uint32_t limit;			/* K */
};

struct lpl_evictions *lpl_evictions_open(uint64_t pages)
{
	struct lpl_evictions *evictions = malloc(sizeof(*evictions));

	if (evictions == NULL || pages >= UINT32_MAX ||
	    !lpl_pages_init_with(&evictions->pages, sizeof(uint64_t))) {
		free(evictions);
		return NULL;
	}
	evictions->limit = (uint32_t)pages;
	return evictions;
}

void lpl_evictions_close(struct lpl_evictions *evictions)
{
	if (evictions == NULL)
		return;
	lpl_pages_free(&evictions->pages);
	free(evictions);
}

uint32_t lpl_evictions_enter(struct lpl_evictions *evictions, uint64_t space, uint64_t page,
			     struct lpl_evicted *victim, bool *evicts)
{
	struct lpl_pages *pages = &evictions->pages;
	const struct lpl_page entered = { .space = space, .number = page };
	uint32_t place = lpl_pages_hit(pages, entered), from = 0;

	*evicts = false;
	if (place != 0)
		return place;
	if (pages->count == evictions->limit) {
		from = lpl_pages_oldest(pages);
		*victim = (struct lpl_evicted){
			.space = pages->node[from].page.space, .page = pages->node[from].page.number,
			.frame = *LPL_PAYLOAD(pages, uint64_t, from)
		};
		*evicts = true;
	}
	place = lpl_pages_enter(pages, entered, from);
	if (place != 0)
		lpl_evictions_set_frame(evictions, place, KTR_NONE);
	return place;
}

void lpl_evictions_set_frame(struct lpl_evictions *evictions, uint32_t place, uint64_t frame)
{
	*LPL_PAYLOAD(&evictions->pages, uint64_t, place) = frame;
}

static int by_last(const void *a, const void *b)
{
	const uint64_t one = ((const struct lpl_window_use *)a)->last;
	const uint64_t other = ((const struct lpl_window_use *)b)->last;

	return (one > other) - (one < other);
}

void lpl_evictions_window_ends(struct lpl_evictions *evictions, struct lpl_window_use *use,
			       size_t count)
{
	qsort(use, count, sizeof(*use), by_last);
	for (size_t i = 0; i < count; i++)
		lpl_pages_touch(&evictions->pages, use[i].place);
}
