/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happens to tasks, and to the pages that they reference. */
#include "machine.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory for the machine");
}

/* ---- time ---- */

enum lpl_error lpl_machine_too_long(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_UNSUPPORTED, "schedule: more than %" PRIu64 " cycles pass",
			LPL_LONGEST_SCHEDULE);
}

void lpl_machine_pass_idle(struct machine *machine, uint64_t t)
{
	for (unsigned int i = 0; i < machine->how->cpus; i++)
		if (machine->processor[i].task == NULL)
			lpl_machine_pass(machine, &machine->processor[i], t);
}

uint64_t lpl_machine_done(const struct lpl_item *item, uint64_t passed)
{
	return passed == item->cycles ? item->instructions :
		(uint64_t)((unsigned __int128)item->instructions * passed / item->cycles);
}

void lpl_machine_pass(struct machine *machine, struct processor *processor, uint64_t t)
{
	const uint64_t cycles = t - processor->time;
	struct task *task = processor->task;
	uint64_t done;

	processor->time = t;
	if (cycles == 0)
		return;
	if (task == NULL) {
		machine->result.idle += cycles;
		if (machine->paging != 0)
			machine->result.idle_paging += cycles;
		return;
	}
	if (task->state != TASK_RUNNING) {
		processor->switching -= cycles;
		machine->result.switching += cycles;
		task->result.switching += cycles;
		return;
	}
	machine->result.busy += cycles;
	task->passed += cycles;
	done = lpl_machine_done(&task->item, task->passed) - task->done;
	task->done += done;
	machine->instructions += done;
	task->used += machine->how->quantum_instructions ? done : cycles;
}

/* A process's clock goes on while its tasks run. */
static void look_at_load(struct load_control *load, const struct task *task, enum task_state state,
			 uint64_t t)
{
	const uint64_t process = task->identity.process;

	if ((task->state == TASK_RUNNING) != (state == TASK_RUNNING))
		lpl_load_runs(load, process, state == TASK_RUNNING, t);
	if (task->state == TASK_ABSENT)
		lpl_load_begins(load, process);
	if (state == TASK_ENDED)
		lpl_load_ends(load, process, t);
}

void lpl_machine_set_state(struct machine *machine, struct task *task, enum task_state state,
			   uint64_t t)
{
	const uint64_t cycles = t - task->since;

	if (machine->load != NULL)
		look_at_load(machine->load, task, state, t);
	switch (task->state) {
	case TASK_SUSPENDED:
		task->result.suspended += cycles;
		task->result.ready += cycles;
		break;
	case TASK_READY:
		task->result.ready += cycles;
		break;
	case TASK_RUNNING:
		task->result.running += cycles;
		task->v += cycles;
		break;
	case TASK_PAGING:
		task->result.paging += cycles;
		break;
	case TASK_WAITING:
		task->result.waiting += cycles;
		break;
	case TASK_ABSENT:
		task->result.begin = t;
		break;
	case TASK_ENDED:
		break;
	}
	task->state = state;
	task->since = t;
	if (state == TASK_ENDED)
		task->result.end = t;
	if (task->observer != NULL)
		task->observer->state(task->observer, &task->result,
				      (enum lpl_schedule_state)(state - 1), t);
}

/* ---- items ---- */

static enum lpl_error take_identity(struct machine *machine, struct task *task,
				    struct lpl_report *report)
{
	const uint64_t process = task->identity.process;

	memcpy(&task->identity, lpl_item_body(&task->cursor, &task->item), sizeof(task->identity));
	return machine->load != NULL && task->identity.process != process ?
		lpl_load_moves(machine->load, task, process, report) : LPL_OK;
}

enum lpl_error lpl_machine_next_item(struct machine *machine, struct task *task,
				     struct lpl_report *report)
{
	task->passed = 0;
	task->done = 0;
	do {
		LPL_TRY(lpl_read_item(machine->parts->spool, &task->cursor, &task->item, report));
		if (task->item.kind == LPL_ITEM_IDENTITY)
			LPL_TRY(take_identity(machine, task, report));
	} while (task->item.kind == LPL_ITEM_IDENTITY);
	return LPL_OK;
}

enum lpl_error lpl_machine_begin(struct machine *machine, struct task *task, uint64_t t,
				 struct lpl_report *report)
{
	task->cursor = lpl_cursor_at(&machine->parts->part[task->result.serial].chain);
	LPL_TRY(lpl_cursor_resume(machine->parts->spool, &task->cursor, report));
	lpl_machine_set_state(machine, task, TASK_READY, t);
	LPL_TRY(lpl_machine_next_item(machine, task, report));
	lpl_cursor_pause(&task->cursor);
	return LPL_OK;
}

/* ---- processors ---- */

/* The output's processor goes to the task; NULL: to the idle one. */
static enum lpl_error show_switch(struct machine *machine, struct processor *processor,
				  const struct task *task, uint64_t t, struct lpl_report *report)
{
	const struct task *from = processor->shown;

	processor->shown = task;
	return machine->remade == NULL ? LPL_OK :
		lpl_remade_schedule(machine->remade, from != NULL ? &from->identity : NULL,
				    from != NULL ? from->left : KTR_STATE_RUNNABLE,
				    task != NULL ? &task->identity : NULL, machine->instructions, t,
				    report);
}

static enum lpl_error dispatch(struct machine *machine, struct processor *processor,
			       struct task *task, uint64_t t, struct lpl_report *report)
{
	lpl_machine_pass(machine, processor, t);
	LPL_TRY(lpl_cursor_resume(machine->parts->spool, &task->cursor, report));
	LPL_TRY(show_switch(machine, processor, task, t, report));
	task->result.dispatches++;
	task->on = processor;
	if (!task->keeps_quantum)
		task->used = 0;
	task->keeps_quantum = false;
	processor->task = task;
	processor->switching = 0;
	if (processor->last != task) {
		machine->result.switches++;
		processor->switching = machine->how->switch_cycles;
		processor->last = task;
	}
	if (processor->switching == 0)
		lpl_machine_set_state(machine, task, TASK_RUNNING, t);
	if (machine->scheduler->dispatched != NULL)
		machine->scheduler->dispatched(machine, t);
	return LPL_OK;
}

enum lpl_error lpl_machine_take_next(struct machine *machine, struct processor *processor, uint64_t t,
				     struct lpl_report *report)
{
	if (machine->ready.count == 0)
		return show_switch(machine, processor, NULL, t, report);
	return dispatch(machine, processor,
			&machine->task[lpl_heap_pop(&machine->ready).value], t, report);
}

static enum lpl_error put_ready(struct machine *machine, const struct task *task, bool preempted,
				struct lpl_report *report)
{
	const struct lpl_heap_entry entry = {
		machine->scheduler->key(task),
		machine->scheduler->order(machine, task, preempted), task->result.serial
	};

	return lpl_heap_push(&machine->ready, entry) ? LPL_OK : no_memory(report);
}

/* It is on no processor from t on. */
void lpl_machine_take_off(struct machine *machine, struct task *task, enum task_state state,
			  uint64_t left, uint64_t t)
{
	lpl_machine_pass(machine, task->on, t);
	task->on->task = NULL;
	task->on->switching = 0;
	task->on = NULL;
	task->left = left;
	if (state == TASK_PAGING) {
		lpl_machine_pass_idle(machine, t);
		machine->paging++;
	}
	lpl_machine_set_state(machine, task, state, t);
	lpl_cursor_pause(&task->cursor);
}

enum lpl_error lpl_machine_leave(struct machine *machine, struct task *task, enum task_state state,
				 uint64_t left, uint64_t t, struct lpl_report *report)
{
	struct processor *processor = task->on;

	lpl_machine_take_off(machine, task, state, left, t);
	if (machine->load != NULL)
		lpl_load_left(machine->load, t);
	if (state == TASK_ENDED && --machine->live == 0)
		machine->result.end = t;
	return lpl_machine_take_next(machine, processor, t, report);
}

enum lpl_error lpl_machine_preempt(struct machine *machine, struct processor *processor,
				   struct task *other, uint64_t t, struct lpl_report *report)
{
	struct task *task = processor->task;

	lpl_machine_take_off(machine, task, TASK_READY, KTR_STATE_RUNNABLE, t);
	if (machine->load != NULL)
		lpl_load_left(machine->load, t);
	task->result.preemptions++;
	task->keeps_quantum = other != NULL && machine->scheduler->keeps_quantum &&
		task->used < machine->how->quantum;
	LPL_TRY(put_ready(machine, task, other != NULL, report));
	return other != NULL ? dispatch(machine, processor, other, t, report) :
		lpl_machine_take_next(machine, processor, t, report);
}

enum lpl_error lpl_machine_make_ready(struct machine *machine, struct task *task,
				      const struct task *parent, uint64_t t,
				      struct lpl_report *report)
{
	struct processor *victim;

	if (machine->load != NULL && lpl_load_suspends(machine->load, task, t))
		return LPL_OK;
	lpl_machine_set_state(machine, task, TASK_READY, t);
	if (machine->scheduler->becomes_ready != NULL)
		machine->scheduler->becomes_ready(machine, task, parent, t);
	for (unsigned int i = 0; i < machine->how->cpus; i++)
		if (machine->processor[i].task == NULL)
			return dispatch(machine, &machine->processor[i], task, t, report);
	victim = machine->scheduler->victim(machine, task, t);
	if (victim != NULL)
		return lpl_machine_preempt(machine, victim, task, t, report);
	return put_ready(machine, task, false, report);
}

/* ---- waits ---- */

enum lpl_error lpl_machine_put_due(struct machine *machine, uint64_t t, uint64_t value,
				   struct lpl_report *report)
{
	const struct lpl_heap_entry entry = {(int64_t)t, machine->order++, value};

	if (t > LPL_LONGEST_SCHEDULE)
		return lpl_machine_too_long(report);
	return lpl_heap_push(&machine->due, entry) ? LPL_OK : no_memory(report);
}

/* After those that wait for it already. */
static enum lpl_error await_wake(struct machine *machine, struct task *task, uint64_t number,
				 struct lpl_report *report)
{
	const uint64_t last = lpl_map_get(&machine->waiting, LPL_KEY(number));

	task->next = task->result.serial;
	if (last != 0) {
		task->next = machine->task[last].next;
		machine->task[last].next = task->result.serial;
	}
	return lpl_map_put(&machine->waiting, LPL_KEY(number), task->result.serial) ? LPL_OK :
		no_memory(report);
}

enum lpl_error lpl_machine_wait(struct machine *machine, struct task *task, uint64_t t, bool *waits,
				struct lpl_report *report)
{
	uint64_t value = task->item.value;
	bool for_wake = task->item.kind != LPL_ITEM_WAIT_CYCLES;

	if (for_wake) {
		struct lpl_waker waker;

		memcpy(&waker, lpl_item_body(&task->cursor, &task->item), sizeof(waker));
		for_wake = lpl_machine_has(machine, waker.serial);
		value = for_wake ? value : waker.cycles;
	}
	if (for_wake) {
		*waits = (machine->passed[value / 64] >> value % 64 & 1) == 0;
		if (*waits)
			LPL_TRY(await_wake(machine, task, value, report));
	} else {
		*waits = value != 0;
		if (value > LPL_LONGEST_SCHEDULE)
			return lpl_machine_too_long(report);
		if (*waits)
			LPL_TRY(lpl_machine_put_due(machine, t + value, task->result.serial << 1,
						report));
	}
	return lpl_machine_next_item(machine, task, report);
}

/* The machine's instructions at t, with those of the item that a task is in the middle of. */
static uint64_t instructions_at(const struct machine *machine, uint64_t t)
{
	const struct processor *processor = &machine->processor[0];
	const struct task *task = processor->task;

	if (task == NULL || task->state != TASK_RUNNING || t == processor->time)
		return machine->instructions;
	return machine->instructions - task->done +
	       lpl_machine_done(&task->item, task->passed + (t - processor->time));
}

static enum lpl_error show_wake(struct machine *machine, const struct task *task,
				const struct task *by, uint64_t t, struct lpl_report *report)
{
	const struct task *runs = by != NULL ? by : machine->processor[0].task;

	return machine->remade == NULL ? LPL_OK :
		lpl_remade_wake(machine->remade, runs != NULL ? &runs->identity : NULL,
				by != NULL ? KTR_CONTEXT_TASK : KTR_CONTEXT_INTERRUPT,
				&task->identity, instructions_at(machine, t), t, report);
}

enum lpl_error lpl_machine_end_wait(struct machine *machine, struct task *task, uint64_t t,
				    struct lpl_report *report)
{
	LPL_TRY(show_wake(machine, task, NULL, t, report));
	return lpl_machine_make_ready(machine, task, NULL, t, report);
}

enum lpl_error lpl_machine_wake(struct machine *machine, const struct task *by, uint64_t number,
				uint64_t t, struct lpl_report *report)
{
	const uint64_t last = lpl_map_get(&machine->waiting, LPL_KEY(number));
	uint64_t serial, next;

	machine->passed[number / 64] |= UINT64_C(1) << number % 64;
	if (last == 0)
		return LPL_OK;
	(void)lpl_map_remove(&machine->waiting, LPL_KEY(number));
	/* all of them, before one can take the waker's place */
	next = machine->task[last].next;
	do {
		serial = next;
		next = machine->task[serial].next;
		LPL_TRY(show_wake(machine, &machine->task[serial], by, t, report));
	} while (serial != last);
	do {
		serial = next;
		next = machine->task[serial].next;
		LPL_TRY(lpl_machine_make_ready(machine, &machine->task[serial], NULL, t, report));
	} while (serial != last);
	return LPL_OK;
}

/* ---- pages ---- */

static enum lpl_error new_page(struct machine *machine, uint64_t index, struct lpl_report *report)
{
	const struct lpl_part_page *page = &machine->parts->page[index];
	const struct lpl_page name = {page->physical ? LPL_WALK_SPACE : 0, page->number};

	machine->page[index] = ++machine->pages;
	if (machine->memory != NULL && machine->memory->named &&
	    !lpl_page_names_add(&machine->memory->names, machine->pages, name))
		return no_memory(report);
	return LPL_OK;
}

static uint32_t number_of(const struct machine *machine, uint64_t index)
{
	const uint32_t page = machine->page[index];

	return (page & PAGE_ARRIVING) == 0 ? page : machine->arrival[page & ~PAGE_ARRIVING].number;
}

enum lpl_error lpl_machine_reference(struct machine *machine, struct task *task, uint64_t t,
				     struct reference *reference, struct lpl_report *report)
{
	const struct lpl_item *item = &task->item;

	reference->cold = machine->page[item->value] == 0;
	if (machine->remade != NULL)
		LPL_TRY(lpl_remade_reference(machine->remade, item, reference->cold, &task->identity,
					 machine->instructions, t, report));
	if (reference->cold)
		LPL_TRY(new_page(machine, item->value, report));
	reference->page = number_of(machine, item->value);
	reference->fault = reference->cold;
	reference->disturbs = false;
	reference->dirty = 0;
	if (machine->memory != NULL) {
		reference->write = item->type == LPL_WRITE || item->type == LPL_WALK_WRITE;
		reference->process = task->identity.process;
		reference->t = t;
		LPL_TRY(machine->memory->reference(machine->memory, reference, report));
	}
	task->result.references++;
	if (!reference->fault)
		return LPL_OK;
	task->result.faults++;
	task->result.cold += reference->cold;
	if (task->observer != NULL)
		task->observer->fault(task->observer, &task->result, t);
	if (machine->memory != NULL) {
		reference->dirty = machine->memory->dirty_evictions - machine->written;
		machine->written = machine->memory->dirty_evictions;
	}
	return LPL_OK;
}

/* The device that is free first, which is the first of a heap, has work until then. */
static uint64_t occupy(uint64_t *device, size_t devices, uint64_t until)
{
	size_t i = 0;

	for (size_t child = 1; child < devices; child = 2 * i + 1) {
		child += child + 1 < devices && device[child + 1] < device[child];
		if (until <= device[child])
			break;
		device[i] = device[child];
		i = child;
	}
	return device[i] = until;
}

uint64_t lpl_machine_fetch(struct machine *machine, uint64_t t, uint64_t dirty)
{
	const struct lpl_machine *how = machine->how;
	const unsigned __int128 all = (unsigned __int128)dirty * how->write_cycles + how->fault_cycles;
	/* what is beyond the longest schedule is so by however much */
	const uint64_t takes = all <= LPL_LONGEST_SCHEDULE ? (uint64_t)all : LPL_LONGEST_SCHEDULE + 1;
	const uint64_t *first = machine->device;

	if (how->devices == 0)
		return t + how->fault_cycles;
	machine->result.device_busy += takes;
	return occupy(machine->device, how->devices, (*first > t ? *first : t) + takes);
}

static enum lpl_error new_arrival(struct machine *machine, uint32_t *i, struct lpl_report *report)
{
	*i = machine->free_arrival;
	if (*i != 0) {
		machine->free_arrival = machine->arrival[*i].next_free;
		return LPL_OK;
	}
	*i = ++machine->arrivals;
	return lpl_reach(machine->arrival, machine->arrival_room, *i) ? LPL_OK :
		no_memory(report);
}

enum lpl_error lpl_machine_await_page(struct machine *machine, struct task *task,
				      const struct reference *reference, uint64_t t,
				      struct lpl_report *report)
{
	struct arrival *arrival;
	uint32_t i;

	task->next = 0;
	if (!reference->fault) {
		arrival = &machine->arrival[machine->page[task->item.value] & ~PAGE_ARRIVING];
		machine->task[arrival->last].next = task->result.serial;
		arrival->last = task->result.serial;
		return LPL_OK;
	}
	LPL_TRY(new_arrival(machine, &i, report));
	machine->arrival[i] = (struct arrival){.page = task->item.value & UINT32_MAX,
					       .number = reference->page,
					       .first = task->result.serial,
					       .last = task->result.serial};
	machine->page[task->item.value] = PAGE_ARRIVING | i;
	return lpl_machine_put_due(machine, lpl_machine_fetch(machine, t, reference->dirty),
			       (uint64_t)i << 1 | 1, report);
}

enum lpl_error lpl_machine_page_arrives(struct machine *machine, uint32_t i, uint64_t t,
					struct lpl_report *report)
{
	const struct arrival arrival = machine->arrival[i];
	uint64_t serial = arrival.first;

	if (machine->page[arrival.page] == (PAGE_ARRIVING | i))
		machine->page[arrival.page] = arrival.number;
	machine->arrival[i].next_free = machine->free_arrival;
	machine->free_arrival = i;
	while (serial != 0) {
		struct task *task = &machine->task[serial];

		serial = task->next;
		lpl_machine_pass_idle(machine, t);
		machine->paging--;
		LPL_TRY(lpl_machine_end_wait(machine, task, t, report));
	}
	return LPL_OK;
}

/* ---- opening and closing ---- */

/* Where all pages stay, a policy that there is not is refused all the same. */
static enum lpl_error try_policy(const struct lpl_machine *how, struct lpl_report *report)
{
	struct lpl_machine tried = *how;
	struct page_memory *memory;

	tried.pages = UINT32_MAX;
	LPL_TRY(lpl_memory_open_global(&memory, &tried, report));
	memory->close(memory);
	return LPL_OK;
}

static enum lpl_error open_memory(struct machine *machine, struct lpl_report *report)
{
	if (machine->how->memory == LPL_MEMORY_WS || machine->how->memory == LPL_MEMORY_PFF) {
		LPL_TRY(lpl_load_open(&machine->load, machine, report));
		machine->memory = &machine->load->memory;
		return LPL_OK;
	}
	if (machine->how->pages == 0)
		return machine->how->policy != NULL ? try_policy(machine->how, report) : LPL_OK;
	return machine->how->memory == LPL_MEMORY_GLOBAL ?
		lpl_memory_open_global(&machine->memory, machine->how, report) :
		lpl_memory_open_local(&machine->memory, machine->how, report);
}

/* What a task is, is in its results from the beginning. */
static void open_tasks(struct machine *machine)
{
	const struct lpl_parts *parts = machine->parts;

	for (size_t i = 0; i < machine->tasks; i++) {
		const struct lpl_part *part = &parts->part[i];
		struct task *task = &machine->task[i];

		task->result = (struct lpl_schedule_task){
			.serial = i, .process = part->process, .parent = part->parent,
			.tid = part->tid, .tgid = part->tgid, .name = part->name
		};
		if (machine->process == ALL_PROCESSES)
			task->observer = machine->how->observer;
		if (machine->how->priority != NULL && lpl_machine_has(machine, i))
			task->number = machine->how->priority(machine->how->context, &task->result);
	}
}

enum lpl_error lpl_machine_open(struct machine *machine, struct lpl_parts *parts,
				const struct lpl_machine *how, uint64_t process,
				struct lpl_sink *next, struct lpl_report *report)
{
	static const struct scheduler *const scheduler[] = {
		[LPL_SCHEDULER_RECORDED] = NULL, [LPL_SCHEDULER_RR] = &lpl_scheduler_rr,
		[LPL_SCHEDULER_PRIORITY] = &lpl_scheduler_priority,
		[LPL_SCHEDULER_FAIR] = &lpl_scheduler_fair
	};

	*machine = (struct machine){
		.how = how, .parts = parts, .process = process, .tasks = parts->parts,
		.scheduler = scheduler[how->scheduler],
		.task = calloc(parts->parts + 1, sizeof(struct task)),
		.page = calloc(parts->pages + 1U, sizeof(uint32_t)),
		.passed = calloc(parts->wakes / 64 + 1, sizeof(uint64_t)),
		.device = calloc(how->devices + 1U, sizeof(uint64_t))
	};
	lpl_map_init(&machine->waiting, 1);
	if (machine->task == NULL || machine->page == NULL || machine->passed == NULL ||
	    machine->device == NULL)
		return no_memory(report);
	open_tasks(machine);
	LPL_TRY(open_memory(machine, report));
	return next != NULL ? lpl_remade_open(&machine->remade, parts,
					       machine->scheduler == NULL, next, report) : LPL_OK;
}

void lpl_machine_close(struct machine *machine)
{
	for (size_t i = 0; i < machine->tasks && machine->task != NULL; i++)
		lpl_cursor_pause(&machine->task[i].cursor);
	if (machine->memory != NULL)
		machine->memory->close(machine->memory);
	lpl_remade_close(machine->remade);
	lpl_map_free(&machine->waiting);
	lpl_heap_free(&machine->ready);
	lpl_heap_free(&machine->due);
	free(machine->arrival);
	free(machine->task);
	free(machine->page);
	free(machine->passed);
	free(machine->device);
}
