/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's events; see survey_events.h. */
#include "survey_events.h"

#define MARK_LENGTH 48	/* bytes of a mark's text that are kept */

static void keep_mark(struct lpl_survey_events *events, const struct lpl_event *event,
		      uint64_t time)
{
	uint32_t length = event->text_length < MARK_LENGTH ? event->text_length : MARK_LENGTH;
	struct lpl_survey_mark *mark;

	events->marks++;
	if (events->marks_kept == LPL_SURVEY_MARKS)
		return;
	mark = &events->mark[events->marks_kept++];
	mark->time = time;
	lpl_text_escape(mark->text, sizeof(mark->text), event->text, length);
}

void lpl_survey_events_count(struct lpl_survey_events *events, const struct lpl_event *event,
			     uint64_t time)
{
	lpl_event_counts_add(&events->counts, event);
	switch (event->tag) {
	case KTR_MARK:
	case LPL_EVENT_MARK:
		keep_mark(events, event, time);
		break;
	case KTR_CACHE_ADD:
		events->cache_added += event->arg[KTR_CACHE_PAGES];
		break;
	case KTR_CACHE_REMOVE:
		events->cache_removed += event->arg[KTR_CACHE_PAGES];
		break;
	case KTR_SWAP_OUT:
		events->swapped_out += event->arg[KTR_SWAP_PAGES];
		break;
	case KTR_SWAP_IN:
		events->swapped_in += event->arg[KTR_SWAP_PAGES];
		break;
	default:
		break;
	}
}
