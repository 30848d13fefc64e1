/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The canonical pages of a stream; see canonical_pages.h. */
#include "canonical_pages.h"

#include <stdlib.h>

#include "merge/output/canonical.h"
#include "merge/pages.h"

static enum lpl_error note_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
				struct lpl_report *report)
{
	struct canonical_pages *pages = (struct canonical_pages *)output;

	(void)report;
	pages->is_new = true;
	lpl_canonical_page(&pages->event, page);
	return LPL_OK;
}

enum lpl_error lpl_canonical_pages_open(struct canonical_pages **pages, struct lpl_report *report)
{
	struct canonical_pages *made = calloc(1, sizeof(*made));
	enum lpl_error error;

	*pages = NULL;
	if (made == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for canonical pages");
	made->output = (struct lpl_merge_output){ .page = note_page };
	error = lpl_merge_open(&made->merge, &made->output, NULL, report);
	if (error != LPL_OK) {
		free(made);
		return error;
	}
	*pages = made;
	return LPL_OK;
}

void lpl_canonical_pages_close(struct canonical_pages *pages)
{
	if (pages == NULL)
		return;
	lpl_merge_close(pages->merge);
	free(pages);
}

size_t lpl_canonical_pages_find(struct canonical_pages *pages, const struct lpl_ref *refs,
				size_t count, struct lpl_report *report)
{
	pages->is_new = false;
	return lpl_merge_pages(pages->merge, refs,
			       count < CANONICAL_BATCH ? count : CANONICAL_BATCH, pages->page,
			       report);
}

enum lpl_error lpl_canonical_pages_follow(struct canonical_pages *pages,
					  const struct lpl_event *event, struct lpl_report *report)
{
	struct lpl_sink *sink = lpl_merge_sink(pages->merge);

	return sink->event(sink, event, report);
}
