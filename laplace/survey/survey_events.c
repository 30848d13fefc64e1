/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's events and system calls; see survey_events.h. */
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

/* ---- system calls ---- */

/* Different calls are few; where a guest reports more, they are counted as one. */
static struct lpl_survey_call *find(struct lpl_survey_calls *calls, const struct lpl_event *event)
{
	uint64_t number = event->arg[KTR_SYSCALL_NUMBER], abi = event->arg[KTR_SYSCALL_ABI];
	struct lpl_survey_call *call;

	for (size_t i = 0; i < calls->count; i++) {
		call = &calls->call[i];
		if (call->number == number && call->abi == abi)
			return call;
	}
	if (calls->count == LPL_SURVEY_CALLS)
		return &calls->others;
	call = &calls->call[calls->count++];
	*call = (struct lpl_survey_call){ .number = number, .abi = abi };
	lpl_text_escape(call->name, sizeof(call->name), event->text, event->text_length);
	return call;
}

void lpl_survey_calls_count(struct lpl_survey_calls *calls, const struct lpl_event *event,
			    struct lpl_survey_task *task)
{
	struct lpl_survey_call *call = find(calls, event);
	int64_t result;

	if (event->tag == KTR_SYSCALL_ENTER) {
		call->count++;
		task->calls++;
		return;
	}
	call->returned++;
	result = (int64_t)event->arg[KTR_SYSCALL_EXIT_RESULT];
	/* from -512 down the call is begun again */
	if (result < 0 && result > -512) {
		call->errors++;
		task->call_errors++;
	}
}
