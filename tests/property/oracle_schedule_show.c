/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle's re-interleaved trace. */
#include "oracle_schedule_sim.h"

#include <string.h>

static struct lpl_event *show_event(struct sim *sim, const struct lpl_event *like)
{
	struct lpl_event *event;

	stream_add_event(sim->out, like);
	event = &sim->out->item[sim->out->count - 1].event;
	event->cycle = sim->split->first_cycle + sim->now * sim->scale;
	event->instr = sim->split->first_instr + sim->instructions;
	event->ref = sim->split->first_ref + sim->references;
	return event;
}

/* Only the number, for the rest is the merge's. */
static void show_page(struct sim *sim, const struct oracle_record *record)
{
	const struct oracle_split_task *task = &sim->split->task[record->task];

	if (sim->shown[record->page])
		return;
	sim->shown[record->page] = true;
	show_event(sim, &(struct lpl_event){
		.tag = LPL_EVENT_PAGE, .arg = { [LPL_EVENT_PAGE_NUMBER] = record->page },
		.tid = task->tid, .tgid = task->tgid,
	})->ref += record->dref - ((record->item->ref.flags & LPL_SYNTHETIC) == 0);
}

/*
 * What only says what virtual pages mean is not shown.  Where the order is another, neither is what
 * got the processor then, nor what is said of the time to the next record, or of what runs there.
 */
static bool is_shown(const struct lpl_event *event, bool recorded)
{
	if (!recorded && (event->tag == KTR_SCHEDULE || event->tag == LPL_EVENT_TRACING ||
			  event->tag == LPL_EVENT_GAP))
		return false;
	return (!lpl_event_is_fence(event->tag) || event->tag == KTR_EXEC) &&
		event->tag != LPL_EVENT_SPACE_STATE;
}

void oracle_show(struct sim *sim, const struct oracle_record *record)
{
	const struct item *item = record->item;
	struct lpl_ref ref = item->ref;

	if (sim->out == NULL)
		return;
	if (!item->is_event)
		show_page(sim, record);
	sim->references += record->dref;
	if (!item->is_event) {
		ref.space = 0;
		ref.address = (uint64_t)record->page * 4096;
		ref.flags |= LPL_PAGED;
		ref.length = 0;
		ref.cycle = sim->split->first_cycle + sim->now * sim->scale;
		ref.instr = sim->split->first_instr + sim->instructions;
		ref.ref = sim->split->first_ref + sim->references;
		stream_add_ref(sim->out, &ref);
	} else if (is_shown(&item->event, sim->machine->scheduler == ORACLE_RECORDED)) {
		(void)show_event(sim, &item->event);
	}
}

/* The state that the trace begins with is no task's doing, and keeps its clocks. */
void oracle_show_head(struct sim *sim)
{
	const struct oracle_split *split = sim->split;
	bool recorded = sim->machine->scheduler == ORACLE_RECORDED;

	if (sim->out == NULL)
		return;
	for (size_t i = 0; i < split->head; i++) {
		struct lpl_event event = split->in->item[i].event;

		if (!is_shown(&event, recorded))
			continue;
		/* no task runs yet */
		if (!recorded && event.tag == LPL_EVENT_STATE &&
		    event.arg[LPL_EVENT_STATE_BEGINS] == 0)
			event.arg[LPL_EVENT_STATE_RUNS] = KTR_NONE;
		stream_add_event(sim->out, &event);
	}
}

void oracle_show_dispatch(struct sim *sim, int goes, int comes)
{
	const struct oracle_split_task *previous, *next;
	const struct task *t = &sim->task[comes];
	struct oracle_name name;
	struct lpl_event event;
	uint64_t space;

	if (sim->out == NULL || sim->machine->scheduler == ORACLE_RECORDED)
		return;
	previous = &sim->split->task[goes];
	next = &sim->split->task[comes];
	/* as it is known where it goes on */
	space = t->next < t->count ? next_record(sim, t)->space : next->last_space;
	name = t->next < t->count ? next_record(sim, t)->name : next->last_name;
	event = (struct lpl_event){
		.tag = KTR_SCHEDULE, .tid = previous->tid, .tgid = previous->tgid,
		.arg = { previous->tid, sim->task[goes].left_as, next->tid, next->tgid, space },
		.text_length = name.length,
	};
	if (name.length > 0)
		memcpy(event.text, name.text, name.length);
	(void)show_event(sim, &event);
}
