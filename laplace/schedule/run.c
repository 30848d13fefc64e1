/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of happenings: what is due, and then what processors do, each at its time; at one time
 * what is due comes first, then the processors by their numbers, and of one processor the end of
 * its task's quantum before the task's record.
 */
#include "machine.h"

struct happening {
	uint64_t t;
	enum { SWITCHED, QUANTUM_ENDS, RECORD } what;
};

/* ---- what a processor does next ---- */

/* Cycles until the task's item has had so many instructions, which are no more than it has. */
static uint64_t until_done(const struct task *task, uint64_t instructions)
{
	const struct lpl_item *item = &task->item;
	const unsigned __int128 needed = instructions;

	return item->cycles == 0 ? 0 :
		(uint64_t)((needed * item->cycles + item->instructions - 1) / item->instructions) -
		task->passed;
}

static struct happening next_of(const struct machine *machine, const struct processor *processor)
{
	const uint64_t quantum = machine->how->quantum;
	const struct task *task = processor->task;
	const uint64_t rest = task->item.cycles - task->passed;
	struct happening next = {processor->time + rest, RECORD};

	if (processor->switching != 0)
		return (struct happening){processor->time + processor->switching, SWITCHED};
	if (quantum == 0)
		return next;
	if (machine->how->quantum_instructions) {
		if (task->item.instructions - task->done >= quantum - task->used)
			next = (struct happening){
				processor->time + until_done(task, task->done + (quantum - task->used)),
				QUANTUM_ENDS
			};
	} else if (quantum - task->used <= rest) {
		next = (struct happening){processor->time + (quantum - task->used), QUANTUM_ENDS};
	}
	return next;
}

/* ---- items ---- */

/* Instructions of an item that has had its cycles. */
static void complete(struct machine *machine, struct task *task)
{
	const uint64_t done = task->item.instructions - task->done;

	task->done += done;
	machine->instructions += done;
	if (machine->how->quantum_instructions)
		task->used += done;
}

static enum lpl_error put_out(struct machine *machine, const struct task *task, uint64_t t,
			      struct lpl_report *report)
{
	struct remade *remade = machine->remade;

	if (remade == NULL)
		return LPL_OK;
	return lpl_remade_event(remade, &task->item, lpl_item_body(&task->cursor, &task->item),
			    machine->instructions, t, report);
}

/* What the reference that a task has just made does to it, or to others. */
enum outcome { GOES_ON, LEAVES, DISTURBS };

/* The item after it is next. */
static inline enum lpl_error refer(struct machine *machine, struct task *task, uint64_t t,
				   enum outcome *outcome, struct lpl_report *report)
{
	struct reference reference;
	bool leaves;

	LPL_TRY(lpl_machine_reference(machine, task, t, &reference, report));
	leaves = machine->how->fault_cycles != 0 &&
		(reference.fault || (machine->page[task->item.value] & PAGE_ARRIVING) != 0);
	*outcome = leaves ? LEAVES : reference.disturbs ? DISTURBS : GOES_ON;
	if (leaves) {
		task->result.joined += !reference.fault;
		LPL_TRY(lpl_machine_await_page(machine, task, &reference, t, report));
	}
	return lpl_machine_next_item(machine, task, report);
}

static enum lpl_error on_reference(struct machine *machine, struct task *task, uint64_t t,
				   struct lpl_report *report)
{
	enum outcome outcome;

	LPL_TRY(refer(machine, task, t, &outcome, report));
	return outcome == LEAVES ? lpl_machine_leave(machine, task, TASK_PAGING, KTR_STATE_WAITING, t, report) :
		LPL_OK;
}

static enum lpl_error on_wait(struct machine *machine, struct task *task, uint64_t left,
			      uint64_t t, struct lpl_report *report)
{
	bool waits;

	LPL_TRY(lpl_machine_wait(machine, task, t, &waits, report));
	return waits ? lpl_machine_leave(machine, task, TASK_WAITING, left, t, report) : LPL_OK;
}

/* The trace's switches are no more: only why the task left. */
static enum lpl_error on_leave(struct machine *machine, struct task *task, uint64_t t,
			       struct lpl_report *report)
{
	const uint64_t left = task->item.value;

	if (machine->remade != NULL)
		machine->remade->ref += task->item.references;
	LPL_TRY(lpl_machine_next_item(machine, task, report));
	switch (task->item.kind) {
	case LPL_ITEM_WAIT_WAKE:
	case LPL_ITEM_WAIT_CYCLES:
		return on_wait(machine, task, left, t, report);
	case LPL_ITEM_LEFT:
		return lpl_machine_leave(machine, task, TASK_ENDED, left, t, report);
	case LPL_ITEM_END:
		if (left == KTR_STATE_DEAD)
			return lpl_machine_leave(machine, task, TASK_ENDED, left, t, report);
		return LPL_OK;
	default:
		return LPL_OK;
	}
}

static enum lpl_error release(struct machine *machine, struct task *task,
			      const struct task *parent, uint64_t t, struct lpl_report *report)
{
	LPL_TRY(lpl_machine_begin(machine, task, t, report));
	if (task->item.kind == LPL_ITEM_WAIT_WAKE || task->item.kind == LPL_ITEM_WAIT_CYCLES) {
		bool waits;

		lpl_machine_set_state(machine, task, TASK_WAITING, t);
		LPL_TRY(lpl_cursor_resume(machine->parts->spool, &task->cursor, report));
		LPL_TRY(lpl_machine_wait(machine, task, t, &waits, report));
		lpl_cursor_pause(&task->cursor);
		if (waits)
			return LPL_OK;
	}
	return lpl_machine_make_ready(machine, task, parent, t, report);
}

static enum lpl_error happen(struct machine *machine, struct task *task, uint64_t t,
			     struct lpl_report *report)
{
	const uint64_t value = task->item.value;
	const enum lpl_item_kind kind = task->item.kind;

	complete(machine, task);
	switch (kind) {
	case LPL_ITEM_REFERENCE:
		return on_reference(machine, task, t, report);
	case LPL_ITEM_LEAVE:
		return on_leave(machine, task, t, report);
	case LPL_ITEM_HIDDEN:
	case LPL_ITEM_EVENT:
	case LPL_ITEM_WAKE:
	case LPL_ITEM_CREATE:
		LPL_TRY(put_out(machine, task, t, report));
		LPL_TRY(lpl_machine_next_item(machine, task, report));
		if (kind == LPL_ITEM_WAKE)
			return lpl_machine_wake(machine, task, value, t, report);
		if (kind == LPL_ITEM_CREATE && lpl_machine_has(machine, value))
			return release(machine, &machine->task[value], task, t, report);
		return LPL_OK;
	case LPL_ITEM_WAIT_WAKE:
	case LPL_ITEM_WAIT_CYCLES:
	case LPL_ITEM_TAKE:
		return on_wait(machine, task, KTR_STATE_SLEEPING, t, report);
	default:	/* it runs, and the trace ends */
		return lpl_machine_leave(machine, task, TASK_ENDED, KTR_STATE_RUNNABLE, t, report);
	}
}

static enum lpl_error act(struct machine *machine, struct processor *processor,
			  struct happening next, struct lpl_report *report)
{
	struct task *task = processor->task;

	lpl_machine_pass(machine, processor, next.t);
	switch (next.what) {
	case SWITCHED:
		lpl_machine_set_state(machine, task, TASK_RUNNING, next.t);
		return LPL_OK;
	case QUANTUM_ENDS:
		if (machine->how->quantum_instructions && task->passed == task->item.cycles)
			complete(machine, task);
		if (machine->ready.count != 0 &&
		    machine->scheduler->yields(machine, task, next.t))
			return lpl_machine_preempt(machine, processor, NULL, next.t, report);
		task->used = 0;
		return LPL_OK;
	default:
		return happen(machine, task, next.t, report);
	}
}

/*
 * The quick way: the task's references up to the first that does not happen before `limit`, ends
 * a quantum, keeps it waiting, or changes what others do.
 */
static enum lpl_error run_references(struct machine *machine, struct processor *processor,
				     uint64_t limit, struct lpl_report *report)
{
	const uint64_t quantum = machine->how->quantum;
	const bool by_instructions = machine->how->quantum_instructions && quantum != 0;
	struct task *task = processor->task;

	if (quantum != 0 && !by_instructions && limit - processor->time > quantum - task->used)
		limit = processor->time + (quantum - task->used);
	while (task->item.kind == LPL_ITEM_REFERENCE) {
		const uint64_t cycles = task->item.cycles - task->passed;
		const uint64_t done = task->item.instructions - task->done;
		enum outcome outcome;

		if (cycles >= limit - processor->time ||
		    (by_instructions && done >= quantum - task->used))
			break;
		processor->time += cycles;
		machine->result.busy += cycles;
		machine->instructions += done;
		task->used += machine->how->quantum_instructions ? done : cycles;
		LPL_TRY(refer(machine, task, processor->time, &outcome, report));
		if (outcome == LEAVES)
			return lpl_machine_leave(machine, task, TASK_PAGING, KTR_STATE_WAITING,
					     processor->time, report);
		if (outcome == DISTURBS)
			break;
	}
	return LPL_OK;
}

/* ---- the loop ---- */

static enum lpl_error deliver(struct machine *machine, struct lpl_report *report)
{
	const struct lpl_heap_entry due = lpl_heap_pop(&machine->due);
	const uint64_t t = (uint64_t)due.key;

	if ((due.value & 1) != 0)
		return lpl_machine_page_arrives(machine, (uint32_t)(due.value >> 1), t, report);
	return lpl_machine_end_wait(machine, &machine->task[due.value >> 1], t, report);
}

/*
 * Where no other task is ready, quanta that end one after the other before anything else happens
 * end as one: there may be very many of them.
 */
static void skip_quanta(const struct machine *machine, const struct task *task,
			struct happening *next, uint64_t limit)
{
	const uint64_t quantum = machine->how->quantum, now = task->on->time;
	const uint64_t record = now + (task->item.cycles - task->passed);
	const uint64_t end = record < limit ? record : limit - 1;

	if (next->what != QUANTUM_ENDS || machine->ready.count != 0 || next->t >= end)
		return;
	if (!machine->how->quantum_instructions) {
		next->t += (end - next->t) / quantum * quantum;
	} else if (task->item.instructions <= task->item.cycles) {
		/* one at a time, so that each of these quanta has just its number of instructions */
		const uint64_t first = task->done + (quantum - task->used);
		const uint64_t done = lpl_machine_done(&task->item, task->passed + (end - now));

		next->t = now + until_done(task, first + (done - first) / quantum * quantum);
	}
}

/* The next of all. */
static enum lpl_error step(struct machine *machine, struct lpl_report *report)
{
	const uint64_t due = machine->due.count != 0 ?
		(uint64_t)lpl_heap_top(&machine->due)->key : UINT64_MAX;
	struct happening first = {UINT64_MAX, RECORD};
	struct processor *acts = NULL;
	uint64_t limit = due;		/* when something happens elsewhere */

	for (unsigned int i = 0; i < machine->how->cpus; i++) {
		struct happening next;

		if (machine->processor[i].task == NULL)
			continue;
		next = next_of(machine, &machine->processor[i]);
		if (acts != NULL && next.t >= first.t) {
			limit = next.t < limit ? next.t : limit;
			continue;
		}
		if (acts != NULL && first.t < limit)
			limit = first.t;
		first = next;
		acts = &machine->processor[i];
	}
	if (machine->due.count != 0 && (acts == NULL || due <= first.t))
		return deliver(machine, report);
	if (acts == NULL)
		return lpl_fail(report, LPL_ERR_INTERNAL,
				"schedule: %zu tasks wait for each other", machine->live);
	skip_quanta(machine, acts->task, &first, limit);
	if (first.t > LPL_LONGEST_SCHEDULE)
		return lpl_machine_too_long(report);
	if (first.what == RECORD && first.t < limit &&
	    acts->task->item.kind == LPL_ITEM_REFERENCE)
		return run_references(machine, acts, limit, report);
	return act(machine, acts, first, report);
}

static bool is_created(const struct machine *machine, uint64_t serial)
{
	const struct lpl_part *part = &machine->parts->part[serial];

	return part->created && lpl_machine_has(machine, part->parent);
}

enum lpl_error lpl_machine_run(struct machine *machine, struct lpl_report *report)
{
	/* all of them live before the first one can end */
	for (size_t i = 1; i < machine->tasks; i++)
		machine->live += lpl_machine_has(machine, i);
	for (size_t i = 1; i < machine->tasks; i++)
		if (lpl_machine_has(machine, i) && !is_created(machine, i))
			LPL_TRY(release(machine, &machine->task[i], NULL, 0, report));
	if (machine->processor[0].task == NULL)
		LPL_TRY(lpl_machine_take_next(machine, &machine->processor[0], 0, report));
	while (machine->live != 0) {
		LPL_TRY(step(machine, report));
		if (machine->load != NULL)
			LPL_TRY(lpl_load_settle(machine->load, report));
	}
	lpl_machine_pass_idle(machine, machine->result.end);
	return LPL_OK;
}
