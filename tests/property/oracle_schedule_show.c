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
 * got the processor then, or ended a wait, nor what is said of the time to the next record, or of what
 * runs there.
 */
static bool is_shown(const struct lpl_event *event, bool recorded)
{
	if (!recorded && (event->tag == KTR_SCHEDULE || event->tag == KTR_WAKE ||
			  event->tag == LPL_EVENT_TRACING || event->tag == LPL_EVENT_GAP))
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

/* Whose number an event has that is the machine's own. */
static struct lpl_event event_by(const struct sim *sim, uint32_t tag, int task)
{
	struct lpl_event event = { .tag = tag };

	if (task != IDLE) {
		event.tid = sim->split->task[task].tid;
		event.tgid = sim->split->task[task].tgid;
	}
	return event;
}

/* What the task that comes is called then; of the idle one nothing. */
static void show_switch(struct sim *sim, int goes, int comes, uint64_t space, struct oracle_name name)
{
	const struct oracle_split_task *next = &sim->split->task[comes];
	struct lpl_event event = event_by(sim, KTR_SCHEDULE, goes);

	event.arg[KTR_SCHEDULE_PREVIOUS_TID] = event.tid;
	event.arg[KTR_SCHEDULE_PREVIOUS_STATE] =
		goes != IDLE ? sim->task[goes].left_as : KTR_STATE_RUNNABLE;
	if (comes != IDLE) {
		event.arg[KTR_SCHEDULE_NEXT_TID] = next->tid;
		event.arg[KTR_SCHEDULE_NEXT_TGID] = next->tgid;
		event.arg[KTR_SCHEDULE_NEXT_SPACE] = space;
		event.text_length = name.length;
		if (name.length > 0)
			memcpy(event.text, name.text, name.length);
	}
	(void)show_event(sim, &event);
}

void oracle_show_dispatch(struct sim *sim, int goes, int comes)
{
	const struct oracle_split_task *next = &sim->split->task[comes];
	const struct task *t = &sim->task[comes];

	if (sim->out == NULL)
		return;
	if (t->next < t->count)
		show_switch(sim, goes, comes, next_record(sim, t)->space, next_record(sim, t)->name);
	else	/* as it was last */
		show_switch(sim, goes, comes, next->last_space, next->last_name);
}

void oracle_show_stall(struct sim *sim, const struct oracle_record *record)
{
	if (sim->out != NULL && record->task != IDLE)
		show_switch(sim, record->task, IDLE, 0, record->name);
}

void oracle_show_stalled(struct sim *sim, const struct oracle_record *record)
{
	if (sim->out == NULL || record->task == IDLE)
		return;
	oracle_show_interrupt(sim, record->task);
	show_switch(sim, IDLE, record->task, record->space, record->name);
}

static void show_wake(struct sim *sim, int task, int waker, uint64_t context)
{
	const struct oracle_split_task *wakes = &sim->split->task[task];
	struct lpl_event event;

	if (sim->out == NULL)
		return;
	event = event_by(sim, KTR_WAKE, waker);
	event.arg[KTR_WAKE_TID] = wakes->tid;
	event.arg[KTR_WAKE_TGID] = wakes->tgid;
	event.arg[KTR_WAKE_CONTEXT] = context;
	(void)show_event(sim, &event);
}

void oracle_show_wake(struct sim *sim, int task, int waker)
{
	show_wake(sim, task, waker, KTR_CONTEXT_TASK);
}

/* It is said by what runs: there is one processor where there is an output to be read. */
void oracle_show_interrupt(struct sim *sim, int task)
{
	int runs = sim->processor[0].task;

	show_wake(sim, task, runs != NO_TASK ? runs : IDLE, KTR_CONTEXT_INTERRUPT);
}
