/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine's trace. */
#include "remade.h"

#include <stdlib.h>

#include "merge/output/canonical.h"

enum lpl_error lpl_remade_send(struct remade *remade, struct lpl_report *report)
{
	const size_t count = remade->count;

	remade->count = 0;
	return count == 0 ? LPL_OK :
		remade->next->refs(remade->next, remade->batch, count, report);
}

static enum lpl_error send_event(struct remade *remade, const struct lpl_event *event,
				 struct lpl_report *report)
{
	LPL_TRY(lpl_remade_send(remade, report));
	return remade->next->event(remade->next, event, report);
}

/* What was there before all records. */
static enum lpl_error send_state(struct remade *remade, struct lpl_report *report)
{
	struct lpl_cursor cursor = lpl_cursor_at(&remade->parts->state);
	struct lpl_spool *spool = remade->parts->spool;
	enum lpl_error error = lpl_cursor_resume(spool, &cursor, report);
	struct lpl_item item;

	while (error == LPL_OK) {
		struct lpl_event event;

		error = lpl_read_item(spool, &cursor, &item, report);
		if (error != LPL_OK || item.kind == LPL_ITEM_END)
			break;
		lpl_read_event(lpl_item_body(&cursor, &item), &event);
		if (event.tag == LPL_EVENT_TRACING && !remade->recorded)
			continue;
		event.ref = item.references;
		event.instr = item.instructions;
		event.cycle = item.cycles;
		if (event.tag == LPL_EVENT_STATE && event.arg[LPL_EVENT_STATE_BEGINS] == 0 &&
		    !remade->recorded)
			event.arg[LPL_EVENT_STATE_RUNS] = KTR_NONE;
		error = send_event(remade, &event, report);
	}
	lpl_cursor_pause(&cursor);
	return error;
}

enum lpl_error lpl_remade_page(struct remade *remade, uint64_t index, const struct lpl_ref *ref,
			       const struct lpl_identity *task, struct lpl_report *report)
{
	const uint64_t fact = remade->parts->page[index].fact;
	const struct lpl_ref after = *ref;
	struct lpl_cursor cursor = {.block = fact >> 16, .offset = fact & UINT16_MAX};
	struct lpl_spool *spool = remade->parts->spool;
	struct lpl_event event;
	struct lpl_item item;

	LPL_TRY(lpl_cursor_resume(spool, &cursor, report));
	lpl_get_item(&cursor, &item);
	lpl_read_event(lpl_item_body(&cursor, &item), &event);
	lpl_cursor_pause(&cursor);
	lpl_canonical_page_at(&event, ref, task->tid, task->tgid);
	LPL_TRY(send_event(remade, &event, report));
	remade->batch[0] = after;
	return LPL_OK;
}

/* At the machine's clocks. */
static enum lpl_error send_now(struct remade *remade, struct lpl_event *event, uint64_t instructions,
			       uint64_t t, struct lpl_report *report)
{
	event->ref = remade->ref;
	event->instr = remade->parts->first_instr + instructions;
	event->cycle = remade->parts->first_cycle + t;
	return send_event(remade, event, report);
}

enum lpl_error lpl_remade_event(struct remade *remade, const struct lpl_item *item,
				const uint8_t *body, uint64_t instructions, uint64_t t,
				struct lpl_report *report)
{
	struct lpl_event event;

	remade->ref += item->references;
	if (item->kind == LPL_ITEM_HIDDEN)
		return LPL_OK;
	lpl_read_event(body, &event);
	if (!remade->recorded && (event.tag == KTR_WAKE || event.tag == LPL_EVENT_TRACING ||
				  event.tag == LPL_EVENT_GAP))
		return LPL_OK;
	return send_now(remade, &event, instructions, t, report);
}

static struct lpl_event event_of(const struct lpl_identity *task, uint32_t tag)
{
	return (struct lpl_event){.tag = tag, .tid = task->tid, .tgid = task->tgid,
				  .space = task->space};
}

static const struct lpl_identity idle;

enum lpl_error lpl_remade_schedule(struct remade *remade, const struct lpl_identity *last,
				   uint64_t left, const struct lpl_identity *next,
				   uint64_t instructions, uint64_t t, struct lpl_report *report)
{
	struct lpl_event event = event_of(last != NULL ? last : &idle, KTR_SCHEDULE);

	if (next == NULL)
		next = &idle;
	event.arg[KTR_SCHEDULE_PREVIOUS_TID] = event.tid;
	event.arg[KTR_SCHEDULE_PREVIOUS_STATE] = left;
	event.arg[KTR_SCHEDULE_NEXT_TID] = next->tid;
	event.arg[KTR_SCHEDULE_NEXT_TGID] = next->tgid;
	event.arg[KTR_SCHEDULE_NEXT_SPACE] = next->space;
	event.text_length = next->name_length;
	memcpy(event.text, next->name, next->name_length);
	return send_now(remade, &event, instructions, t, report);
}

enum lpl_error lpl_remade_wake(struct remade *remade, const struct lpl_identity *by,
			       enum ktr_context context, const struct lpl_identity *task,
			       uint64_t instructions, uint64_t t, struct lpl_report *report)
{
	struct lpl_event event = event_of(by != NULL ? by : &idle, KTR_WAKE);

	event.arg[KTR_WAKE_TID] = task->tid;
	event.arg[KTR_WAKE_TGID] = task->tgid;
	event.arg[KTR_WAKE_CONTEXT] = context;
	return send_now(remade, &event, instructions, t, report);
}

enum lpl_error lpl_remade_finish(struct remade *remade, struct lpl_report *report)
{
	LPL_TRY(lpl_remade_send(remade, report));
	return remade->next->finish(remade->next, report);
}

enum lpl_error lpl_remade_open(struct remade **remade, struct lpl_parts *parts, bool recorded,
			       struct lpl_sink *next, struct lpl_report *report)
{
	struct remade *opened = malloc(sizeof(*opened));

	*remade = opened;
	if (opened == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory for the output");
	opened->next = next;
	opened->parts = parts;
	opened->recorded = recorded;
	opened->ref = parts->first_ref;
	opened->count = 0;
	return send_state(opened, report);
}

void lpl_remade_close(struct remade *remade)
{
	free(remade);
}
