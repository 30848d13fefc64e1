/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reduction `sd:K`: Smith's stack deletion.
 *
 * Exactly the references that fetch their page into an LRU memory of K pages are
 * kept.
 *
 * It is exact for nothing: the last reference to a page before it is evicted is
 * what places it in LRU's order, and is dropped unless it fetched the page (paper,
 * section 2.2).  The error is small for memories several times as large as K.
 *
 * Dirtiness.  The paper's reducers let a dropped write move to the next reference
 * kept of the page, which is in memory all the time until then.  Here the next one
 * kept is the page's next fetch: a write that was dropped makes *that* a write, and
 * one dropped after the last fetch is lost.  To mark the fetch before it would mean
 * to hold it back until the page is evicted, which may be never.  So what is
 * written back is counted one eviction too late.
 *
 * Nothing is held back, and events pass at once.  Memory is O(K) and what it takes
 * to remember the pages that were evicted after a write was dropped.
 */
#include "base/try.h"
#include "dropped_writes.h"
#include "method.h"

#include <assert.h>
#include <stdlib.h>

struct sd {
	struct lpl_reducer_stage stage;
	struct lpl_outlet outlet;
	uint32_t limit;		/* K */
	unsigned int shift;	/* log2 of a page's size */
	struct lpl_pages pages;	/* in memory; with a bool: was a write to it dropped? */
	struct lpl_dropped_writes dropped;	/* to pages not in memory */
};

static bool *written(const struct sd *sd, uint32_t i)
{
	return LPL_PAYLOAD(&sd->pages, bool, i);
}

/* Fetch a page.  false: no memory. */
static bool fetch(struct sd *sd, struct lpl_page page)
{
	struct lpl_pages *pages = &sd->pages;
	uint32_t victim = pages->count < sd->limit ? 0 : lpl_pages_oldest(pages);

	assert(pages->count <= sd->limit);
	if (victim != 0 && *written(sd, victim) &&
	    !lpl_dropped_writes_add(&sd->dropped, pages->node[victim].page))
		return false;
	return lpl_pages_enter(pages, page, victim) != 0;
}

static enum lpl_error keep(struct sd *sd, struct lpl_page page, struct lpl_ref ref,
			   struct lpl_report *report)
{
	if (!fetch(sd, page))
		return lpl_fail(report, LPL_ERR_MEMORY,
				"reduction sd:%u: no memory for another page", sd->limit);
	lpl_make_paged(&ref, sd->shift);
	if (lpl_dropped_writes_take(&sd->dropped, page))
		lpl_make_write(&ref);
	return lpl_outlet_ref(&sd->outlet, &ref, report);
}

static enum lpl_error sd_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			      struct lpl_report *report)
{
	struct sd *sd = (struct sd *)sink;

	for (size_t j = 0; j < count; j++) {
		struct lpl_page page = lpl_page_of(&refs[j], sd->shift);
		uint32_t i = lpl_pages_hit(&sd->pages, page);

		if (i != 0)
			*written(sd, i) |= lpl_is_write(&refs[j]);
		else
			LPL_TRY(keep(sd, page, refs[j], report));
	}
	return LPL_OK;
}

static enum lpl_error sd_event(struct lpl_sink *sink, const struct lpl_event *event,
			       struct lpl_report *report)
{
	return lpl_outlet_event(&((struct sd *)sink)->outlet, event, report);
}

static enum lpl_error sd_flush(struct lpl_reducer_stage *stage, struct lpl_report *report)
{
	return lpl_outlet_flush(&((struct sd *)stage)->outlet, report);
}

static enum lpl_error sd_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return lpl_outlet_finish(&((struct sd *)sink)->outlet, report);
}

static void sd_close(struct lpl_reducer_stage *stage)
{
	struct sd *sd = (struct sd *)stage;

	lpl_pages_free(&sd->pages);
	lpl_dropped_writes_free(&sd->dropped);
	free(sd);
}

static struct lpl_reducer_stage *sd_new(uint64_t number, unsigned int shift,
					struct lpl_sink *next)
{
	struct sd *sd = calloc(1, sizeof(*sd));

	if (sd == NULL)
		return NULL;
	sd->stage.sink = (struct lpl_sink){sd_refs, sd_event, sd_finish};
	sd->stage.flush = sd_flush;
	sd->stage.close = sd_close;
	sd->outlet.next = next;
	sd->limit = (uint32_t)number;
	sd->shift = shift;
	if (!lpl_dropped_writes_init(&sd->dropped) ||
	    !lpl_pages_init_with(&sd->pages, sizeof(bool))) {
		sd_close(&sd->stage);
		return NULL;
	}
	return &sd->stage;
}

const struct lpl_method lpl_method_sd = {
	.name = "sd",
	.letter = "K",
	.unit = LPL_UNIT_PAGES,
	.drops = LPL_DROPS_ANYWHERE,
	.open = sd_new,
};
