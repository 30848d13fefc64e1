/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merge format `canonical`: the same stream, on canonical pages. */
#include <laplace/merge.h>
#include <laplace/trace.h>

#include <stdlib.h>
#include <string.h>

#define BATCH 1024

struct canonical {
	struct lpl_merge_output output;
	struct lpl_sink *next;
	size_t count;
	struct lpl_ref batch[BATCH];
};

static int send(struct canonical *canonical, struct lpl_report *report)
{
	size_t count = canonical->count;

	canonical->count = 0;
	if (count == 0)
		return LPL_OK;
	return canonical->next->refs(canonical->next, canonical->batch, count, report);
}

static int canonical_reference(struct lpl_merge_output *output,
			       const struct lpl_merged *merged, struct lpl_report *report)
{
	struct canonical *canonical = (struct canonical *)output;
	struct lpl_ref *ref = &canonical->batch[canonical->count++];

	*ref = *merged->ref;
	ref->space = 0;
	ref->address = merged->page << LPL_PAGE_SHIFT;
	ref->flags |= LPL_PAGED;
	ref->length = 0;
	return canonical->count == BATCH ? send(canonical, report) : LPL_OK;
}

static int canonical_event(struct lpl_merge_output *output, const struct lpl_event *event,
			   const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct canonical *canonical = (struct canonical *)output;
	int error;

	(void)task;
	if (lpl_event_is_fence(event->tag))
		return LPL_OK;
	error = send(canonical, report);
	return error != LPL_OK ? error : canonical->next->event(canonical->next, event, report);
}

static int canonical_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	struct canonical *canonical = (struct canonical *)output;
	int error = send(canonical, report);

	return error != LPL_OK ? error : canonical->next->finish(canonical->next, report);
}

enum lpl_error lpl_merge_canonical_open(struct lpl_merge_output **output,
					struct lpl_sink *next, struct lpl_report *report)
{
	struct canonical *canonical = malloc(sizeof(*canonical));

	*output = NULL;
	if (canonical == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "merge: no memory for the output");
	canonical->output = (struct lpl_merge_output){
		canonical_reference, canonical_event, canonical_finish
	};
	canonical->next = next;
	canonical->count = 0;
	*output = &canonical->output;
	return LPL_OK;
}

void lpl_merge_canonical_close(struct lpl_merge_output *output)
{
	free(output);
}

struct lpl_meta *lpl_merge_canonical_meta(const struct lpl_meta *source)
{
	struct lpl_meta *meta = lpl_meta_copy(source);

	if (meta == NULL)
		return NULL;

	/*
	 * SAD knows pages by space and address: what was mapped at one address in
	 * turn was one page to it, and its exactness does not carry over.
	 */
	const char *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);
	bool sad = reduction != NULL && strstr(reduction, "sad") != NULL;
	if (lpl_meta_set(meta, LPL_META_ADDRESSES, "canonical") != LPL_OK ||
	    (sad && lpl_meta_set(meta, LPL_META_EXACT,
				 "lru,opt where no address is mapped anew within the reduction") != LPL_OK)) {
		lpl_meta_free(meta);
		return NULL;
	}
	return meta;
}
