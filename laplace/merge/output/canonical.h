/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a stream of canonical pages has beside its references, whoever makes it. */
#ifndef LAPLACE_MERGE_OUTPUT_CANONICAL_H
#define LAPLACE_MERGE_OUTPUT_CANONICAL_H

#include <stdbool.h>

#include <laplace/merge.h>

/* The event that says what a page is, and then when: just before the first reference to it. */
void lpl_canonical_page(struct lpl_event *event, const struct lpl_merge_page *page);
void lpl_canonical_page_at(struct lpl_event *event, const struct lpl_ref *ref, uint32_t tid,
			   uint32_t tgid);

/* Of what was reduced without fences, the reduction's end, and what it is exact for. */
#define CANONICAL_UNFENCED "+merged"
#define CANONICAL_UNFENCED_EXACT "nothing (reduced without fences)"

/* Does an event of the stream that it is made of mean anything in it? */
bool lpl_canonical_passes(const struct lpl_event *event);

#endif
