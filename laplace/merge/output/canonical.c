/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merge format `canonical`: the same stream, on canonical pages. */
#include <laplace/merge.h>
#include <laplace/reducer.h>
#include <laplace/trace.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "canonical.h"
#include "reduce/reduction.h"

#define BATCH 1024

struct canonical {
	struct lpl_merge_output output;
	struct lpl_sink *next;
	bool page_pending;		/* before the next reference this is due: */
	struct lpl_event page;		/* what the page is that it goes to */
	size_t count;
	struct lpl_ref batch[BATCH];
};

/* ---- what a stream of canonical pages has ---- */

void lpl_canonical_page(struct lpl_event *event, const struct lpl_merge_page *page)
{
	*event = (struct lpl_event){
		.tag = LPL_EVENT_PAGE,
		.arg = {
			[LPL_EVENT_PAGE_NUMBER] = page->number,
			[LPL_EVENT_PAGE_KIND] = page->kind,
			[LPL_EVENT_PAGE_DEVICE] = page->device,
			[LPL_EVENT_PAGE_INODE] = page->inode,
			[LPL_EVENT_PAGE_OFFSET] = page->offset,
			[LPL_EVENT_PAGE_GENERATION] = page->generation,
			[LPL_EVENT_PAGE_SPACE] = page->space,
			[LPL_EVENT_PAGE_VIRTUAL_PAGE] = page->virtual_page
		},
		.text_length = page->name_length
	};
	if (page->name_length > 0)
		memcpy(event->text, page->name, page->name_length);
}

void lpl_canonical_page_at(struct lpl_event *event, const struct lpl_ref *ref, uint32_t tid,
			   uint32_t tgid)
{
	event->ref = ref->ref - ((ref->flags & LPL_SYNTHETIC) == 0);
	event->instr = ref->instr;
	event->cycle = ref->cycle;
	event->tid = tid;
	event->tgid = tgid;
}

/*
 * Evictions, and images, are of a memory of virtual pages.  One of canonical pages evicts others, at other
 * times: it has a page once that the other has for each space that shows it.
 */
static bool is_of_memory(uint32_t tag)
{
	return tag == LPL_EVENT_EVICTED || tag == LPL_EVENT_IMAGE || tag == LPL_EVENT_IMAGE_PART;
}

bool lpl_canonical_passes(const struct lpl_event *event)
{
	/* an exec says what a task is from now on; here there is one space only */
	return (!lpl_event_is_fence(event->tag) || event->tag == KTR_EXEC) &&
	       event->tag != LPL_EVENT_SPACE_STATE && event->tag != LPL_EVENT_TRANSLATION &&
	       !is_of_memory(event->tag);
}

/* ---- the output ---- */

static enum lpl_error send(struct canonical *canonical, struct lpl_report *report)
{
	size_t count = canonical->count;

	canonical->count = 0;
	if (count == 0)
		return LPL_OK;
	return canonical->next->refs(canonical->next, canonical->batch, count, report);
}

static enum lpl_error canonical_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
				     struct lpl_report *report)
{
	struct canonical *canonical = (struct canonical *)output;

	(void)report;
	canonical->page_pending = true;
	lpl_canonical_page(&canonical->page, page);
	return LPL_OK;
}

static enum lpl_error send_page(struct canonical *canonical, const struct lpl_merged *merged,
				struct lpl_report *report)
{
	LPL_TRY(send(canonical, report));
	canonical->page_pending = false;
	lpl_canonical_page_at(&canonical->page, merged->ref, merged->task->tid, merged->task->tgid);
	return canonical->next->event(canonical->next, &canonical->page, report);
}

static enum lpl_error canonical_reference(struct lpl_merge_output *output,
					  const struct lpl_merged *merged, struct lpl_report *report)
{
	struct canonical *canonical = (struct canonical *)output;
	struct lpl_ref *ref;

	if (canonical->page_pending)
		LPL_TRY(send_page(canonical, merged, report));
	assert(canonical->count < BATCH);
	ref = &canonical->batch[canonical->count++];
	*ref = *merged->ref;
	ref->space = 0;
	ref->address = merged->page << LPL_PAGE_SHIFT;
	ref->flags = (uint8_t)((ref->flags & ~LPL_WALK_FLAGS) | LPL_PAGED);
	ref->length = 0;
	return canonical->count == BATCH ? send(canonical, report) : LPL_OK;
}

static enum lpl_error canonical_event(struct lpl_merge_output *output, const struct lpl_event *event,
				      const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct canonical *canonical = (struct canonical *)output;

	(void)task;
	if (!lpl_canonical_passes(event))
		return LPL_OK;
	LPL_TRY(send(canonical, report));
	return canonical->next->event(canonical->next, event, report);
}

static enum lpl_error canonical_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	struct canonical *canonical = (struct canonical *)output;

	LPL_TRY(send(canonical, report));
	return canonical->next->finish(canonical->next, report);
}

enum lpl_error lpl_merge_canonical_open(struct lpl_merge_output **output,
					struct lpl_sink *next, struct lpl_report *report)
{
	struct canonical *canonical = malloc(sizeof(*canonical));

	*output = NULL;
	if (canonical == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "merge: no memory for the output");
	canonical->output = (struct lpl_merge_output){
		.reference = canonical_reference, .event = canonical_event,
		.finish = canonical_finish, .page = canonical_page
	};
	canonical->next = next;
	canonical->page_pending = false;
	canonical->count = 0;
	*output = &canonical->output;
	return LPL_OK;
}

void lpl_merge_canonical_close(struct lpl_merge_output *output)
{
	free(output);
}

/* The evictions are left out; what they annotated is all there. */
static bool remove_annotations(struct lpl_meta *meta)
{
	const char *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);
	char without[LPL_SPEC_SIZE];

	if (reduction == NULL || strlen(reduction) >= sizeof(without))
		return true;
	lpl_reduction_unannotated(reduction, without);
	return lpl_meta_set(meta, LPL_META_REDUCTION, without) == LPL_OK;
}

/*
 * A reduction that knows pages by space and address takes what was mapped at one
 * address in turn for one page: it may have dropped the only reference to a
 * canonical page, and it is not known how many it dropped.
 */
static bool disclaim(struct lpl_meta *meta)
{
	char *reduction;
	bool done;

	if (asprintf(&reduction, "%s" CANONICAL_UNFENCED, lpl_meta_get(meta, LPL_META_REDUCTION)) < 0)
		return false;
	done = lpl_meta_set(meta, LPL_META_REDUCTION, reduction) == LPL_OK &&
	       lpl_meta_set(meta, LPL_META_EXACT, CANONICAL_UNFENCED_EXACT) == LPL_OK;
	free(reduction);
	return done;
}

struct lpl_meta *lpl_merge_canonical_meta(const struct lpl_meta *source)
{
	struct lpl_meta *meta = lpl_meta_copy(source);

	if (meta == NULL)
		return NULL;
	lpl_meta_remove(meta, LPL_META_SEGMENT);	/* what is made of one is none */
	lpl_meta_remove(meta, LPL_META_IMAGES);
	lpl_meta_remove(meta, LPL_META_TRANSLATIONS);
	lpl_meta_remove(meta, LPL_META_WALKS);
	lpl_meta_remove(meta, LPL_META_CODE);
	if (lpl_meta_set(meta, LPL_META_ADDRESSES, "canonical") != LPL_OK || !remove_annotations(meta) ||
	    (!lpl_reduction_fenced(lpl_meta_get(meta, LPL_META_REDUCTION)) && !disclaim(meta))) {
		lpl_meta_free(meta);
		return NULL;
	}
	return meta;
}
