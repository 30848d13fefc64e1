/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recorded order: burst by burst on one processor, which stands still while a page comes.  Waits
 * are what they were, as the idle task's bursts take their time.
 */
#include "machine.h"

/* A task that runs between others: it is waiting or ready, whichever way it left. */
static bool is_wait(const struct lpl_item *item)
{
	return item->kind == LPL_ITEM_LEAVE && item->value != KTR_STATE_RUNNABLE &&
	       item->value != KTR_STATE_DEAD;
}

/* From the item on to a record; what stands before it means nothing here but the time that it has. */
static enum lpl_error find_record(struct machine *machine, struct task *task,
				  struct lpl_report *report)
{
	uint64_t cycles = 0, instructions = 0;

	while (task->item.kind != LPL_ITEM_END && !lpl_item_is_record(task->item.kind)) {
		cycles += task->item.cycles;
		instructions += task->item.instructions;
		LPL_TRY(lpl_machine_next_item(machine, task, report));
	}
	task->item.cycles += cycles;
	task->item.instructions += instructions;
	return LPL_OK;
}

static enum lpl_error release(struct machine *machine, struct task *task, uint64_t t,
			      struct lpl_report *report)
{
	LPL_TRY(lpl_machine_begin(machine, task, t, report));
	if (lpl_item_is_record(task->item.kind))
		return LPL_OK;
	LPL_TRY(lpl_cursor_resume(machine->parts->spool, &task->cursor, report));
	LPL_TRY(find_record(machine, task, report));
	lpl_cursor_pause(&task->cursor);
	return LPL_OK;
}

/* In the output the idle task has the time of a stall.  If it is the idle task that stalls, it has it anyway. */
static enum lpl_error show_stall(const struct machine *machine, const struct task *task,
				 struct lpl_report *report)
{
	if (machine->remade == NULL || task->result.serial == 0)
		return LPL_OK;
	return lpl_remade_schedule(machine->remade, &task->identity, KTR_STATE_WAITING, NULL,
				   machine->instructions, machine->processor[0].time, report);
}

static enum lpl_error show_arrival(const struct machine *machine, const struct task *task,
				   struct lpl_report *report)
{
	const uint64_t t = machine->processor[0].time;

	if (machine->remade == NULL || task->result.serial == 0)
		return LPL_OK;
	LPL_TRY(lpl_remade_wake(machine->remade, NULL, KTR_CONTEXT_INTERRUPT, &task->identity,
				machine->instructions, t, report));
	return lpl_remade_schedule(machine->remade, NULL, KTR_STATE_RUNNABLE, &task->identity,
				   machine->instructions, t, report);
}

/* Until the page is there. */
static enum lpl_error stall(struct machine *machine, struct task *task, uint64_t dirty,
			    struct lpl_report *report)
{
	struct processor *processor = &machine->processor[0];
	const uint64_t t = lpl_machine_fetch(machine, processor->time, dirty);

	LPL_TRY(show_stall(machine, task, report));
	lpl_machine_set_state(machine, task, TASK_PAGING, processor->time);
	processor->task = NULL;
	machine->paging++;
	lpl_machine_pass(machine, processor, t);
	machine->paging--;
	processor->task = task;
	lpl_machine_set_state(machine, task, TASK_RUNNING, t);
	return show_arrival(machine, task, report);
}

static enum lpl_error happen(struct machine *machine, struct task *task, struct lpl_report *report)
{
	const uint64_t t = machine->processor[0].time;
	const struct lpl_item *item = &task->item;
	struct reference reference;

	if (item->kind == LPL_ITEM_REFERENCE) {
		LPL_TRY(lpl_machine_reference(machine, task, t, &reference, report));
		return reference.fault && machine->how->fault_cycles != 0 ?
			stall(machine, task, reference.dirty, report) : LPL_OK;
	}
	if (item->kind == LPL_ITEM_CREATE && machine->parts->part[item->value].exists)
		LPL_TRY(release(machine, &machine->task[item->value], t, report));
	if (item->kind == LPL_ITEM_LEAVE && item->value == KTR_STATE_RUNNABLE)
		task->result.preemptions++;
	return machine->remade == NULL ? LPL_OK :
		lpl_remade_event(machine->remade, item, lpl_item_body(&task->cursor, item),
			     machine->instructions, t, report);
}

static enum lpl_error begin_burst(struct machine *machine, struct task *task,
				  struct lpl_report *report)
{
	struct processor *processor = &machine->processor[0];

	task->result.dispatches++;
	processor->task = task;
	if (processor->last != task) {
		processor->last = task;
		machine->result.switches++;
		lpl_machine_set_state(machine, task, TASK_READY, processor->time);
		processor->switching = machine->how->switch_cycles;
		lpl_machine_pass(machine, processor, processor->time + processor->switching);
	}
	lpl_machine_set_state(machine, task, TASK_RUNNING, processor->time);
	return lpl_cursor_resume(machine->parts->spool, &task->cursor, report);
}

static enum lpl_error run_burst(struct machine *machine, struct task *task, uint64_t records,
				struct lpl_report *report)
{
	struct processor *processor = &machine->processor[0];
	bool waits = false;

	LPL_TRY(begin_burst(machine, task, report));
	for (; records != 0; records--) {
		const uint64_t cycles = task->item.cycles;

		processor->time += cycles;
		if (processor->time > LPL_LONGEST_SCHEDULE)
			return lpl_machine_too_long(report);
		machine->result.busy += cycles;
		machine->instructions += task->item.instructions;
		waits = is_wait(&task->item);
		LPL_TRY(happen(machine, task, report));
		LPL_TRY(lpl_machine_next_item(machine, task, report));
		LPL_TRY(find_record(machine, task, report));
	}
	processor->task = NULL;
	lpl_cursor_pause(&task->cursor);
	if (task->item.kind == LPL_ITEM_END)
		lpl_machine_set_state(machine, task, TASK_ENDED, processor->time);
	else
		lpl_machine_set_state(machine, task, waits && task->result.serial != 0 ? TASK_WAITING :
				  TASK_READY, processor->time);
	return LPL_OK;
}

static enum lpl_error run_bursts(struct machine *machine, struct lpl_cursor *cursor,
				 struct lpl_report *report)
{
	struct lpl_spool *spool = machine->parts->spool;

	LPL_TRY(lpl_cursor_resume(spool, cursor, report));
	for (;;) {
		struct lpl_item burst;

		LPL_TRY(lpl_read_item(spool, cursor, &burst, report));
		if (burst.kind == LPL_ITEM_END)
			return LPL_OK;
		LPL_TRY(run_burst(machine, &machine->task[burst.value], burst.references, report));
	}
}

enum lpl_error lpl_machine_run_recorded(struct machine *machine, struct lpl_report *report)
{
	struct lpl_cursor cursor = lpl_cursor_at(&machine->parts->bursts);
	enum lpl_error error = LPL_OK;

	for (size_t i = 0; i < machine->tasks && error == LPL_OK; i++)
		if (machine->parts->part[i].exists && !machine->parts->part[i].created)
			error = release(machine, &machine->task[i], 0, report);
	if (error == LPL_OK)
		error = run_bursts(machine, &cursor, report);
	lpl_cursor_pause(&cursor);
	machine->result.end = machine->processor[0].time;
	return error;
}
