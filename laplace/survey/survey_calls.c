/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's system calls; see survey_calls.h. */
#include "survey_calls.h"

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
