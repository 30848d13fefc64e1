/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load control: the clocks of processes, and which of them are active. */
#include "load.h"

#include "base/array.h"
#include "base/try.h"
#include "machine.h"

/* ---- clocks and tasks ---- */

void lpl_load_runs(struct load_control *load, uint64_t process, bool runs, uint64_t t)
{
	struct process *p = &load->process[process];

	p->v += p->running * (t - p->since);
	p->since = t;
	if (runs)
		p->running++;
	else
		p->running--;
}

void lpl_load_begins(struct load_control *load, uint64_t process)
{
	load->process[process].live++;
}

enum lpl_error lpl_load_moves(struct load_control *load, const struct task *task, uint64_t from,
			      struct lpl_report *report)
{
	const uint64_t to = task->identity.process;

	if (to >= UINT32_MAX || !lpl_reach(load->process, load->process_room, to))
		return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory for processes");
	load->process[from].live--;
	load->process[to].live++;
	if (task->state == TASK_RUNNING) {
		lpl_load_runs(load, from, false, task->on->time);
		lpl_load_runs(load, to, true, task->on->time);
	}
	return LPL_OK;
}

/* ---- suspension ---- */

static void put_suspended(struct load_control *load, struct task *task)
{
	struct process *process = &load->process[task->identity.process];

	task->keeps_quantum = false;
	task->next = 0;
	if (process->first == 0)
		process->first = task->result.serial;
	else
		load->machine->task[process->last].next = task->result.serial;
	process->last = task->result.serial;
}

bool lpl_load_suspends(struct load_control *load, struct task *task, uint64_t t)
{
	if (load->process[task->identity.process].state != PROCESS_DEACTIVATED)
		return false;
	lpl_machine_set_state(load->machine, task, TASK_SUSPENDED, t);
	put_suspended(load, task);
	lpl_load_left(load, t);
	return true;
}

/* Those on processors; returns a bit for each of these. */
static uint64_t suspend_running(struct load_control *load, uint64_t process, uint64_t t)
{
	struct machine *machine = load->machine;
	uint64_t freed = 0;

	for (unsigned int i = 0; i < machine->how->cpus; i++) {
		struct task *task = machine->processor[i].task;

		if (task == NULL || task->identity.process != process)
			continue;
		lpl_machine_take_off(machine, task, TASK_SUSPENDED, KTR_STATE_RUNNABLE, t);
		put_suspended(load, task);
		freed |= UINT64_C(1) << i;
	}
	return freed;
}

static void suspend_ready(struct load_control *load, uint64_t process, uint64_t t)
{
	struct machine *machine = load->machine;
	struct lpl_heap *ready = &machine->ready;
	size_t kept = 0;

	lpl_heap_sort(ready);
	for (size_t i = 0; i < ready->count; i++) {
		struct task *task = &machine->task[ready->entry[i].value];

		if (task->identity.process != process) {
			ready->entry[kept++] = ready->entry[i];
			continue;
		}
		lpl_machine_set_state(machine, task, TASK_SUSPENDED, t);
		put_suspended(load, task);
	}
	ready->count = kept;
}

/* ---- activation ---- */

static void set_active(struct load_control *load, uint64_t process)
{
	struct process *p = &load->process[process];

	load->deactivated -= p->state == PROCESS_DEACTIVATED;
	p->state = PROCESS_ACTIVE;
	p->activated = ++load->order;
}

void lpl_load_activate(struct load_control *load, struct reference *reference)
{
	set_active(load, reference->process);
	if (load->process[reference->process].first == 0)
		return;
	load->rejoins = reference->process;
	load->t = reference->t;
	reference->disturbs = true;
}

/* What was suspended becomes ready. */
static enum lpl_error rejoin(struct load_control *load, uint64_t process, struct lpl_report *report)
{
	uint64_t serial = load->process[process].first;

	load->process[process].first = 0;
	while (serial != 0) {
		struct task *task = &load->machine->task[serial];

		serial = task->next;
		LPL_TRY(lpl_machine_make_ready(load->machine, task, NULL, load->t, report));
	}
	return LPL_OK;
}

/* ---- deactivation ---- */

/* The one that was activated last; 0: there is none that could be deactivated. */
static uint64_t find_youngest(const struct load_control *load, uint64_t faulting)
{
	uint64_t youngest = 0;

	for (size_t i = 1; i < load->queues.queues; i++)
		if (i != faulting && load->process[i].state == PROCESS_ACTIVE &&
		    load->queues.queue[i].resident != 0 &&
		    (youngest == 0 || load->process[i].activated > load->process[youngest].activated))
			youngest = i;
	return youngest;
}

static enum lpl_error deactivate(struct load_control *load, uint64_t process, uint64_t t,
				 struct lpl_report *report)
{
	struct process *p = &load->process[process];
	uint64_t freed;

	p->wanted = load->queues.queue[process].resident;
	p->state = PROCESS_DEACTIVATED;
	p->deactivated = ++load->order;
	p->deactivations++;
	load->machine->result.deactivations++;
	load->deactivated++;
	while (load->queues.queue[process].resident != 0)
		lpl_queues_drop_oldest(&load->queues, process, &load->memory);
	freed = suspend_running(load, process, t);
	suspend_ready(load, process, t);
	for (unsigned int i = 0; i < load->machine->how->cpus; i++)
		if ((freed >> i & 1) != 0)
			LPL_TRY(lpl_machine_take_next(load->machine, &load->machine->processor[i], t,
						      report));
	return LPL_OK;
}

/* Where no process can be left out: a page of the kernel's, or its own, or of whoever has any. */
static void drop_one(struct load_control *load, uint64_t faulting)
{
	const struct queue *queue = load->queues.queue;
	uint64_t process = 0;

	if (queue[0].resident == 0 && queue[faulting].resident != 0)
		process = faulting;
	while (queue[process].resident == 0)
		process++;
	lpl_queues_drop_oldest(&load->queues, process, &load->memory);
}

enum lpl_error lpl_load_make_room(struct load_control *load, struct reference *reference,
				  struct lpl_report *report)
{
	while (load->pages != 0 && load->queues.used >= load->pages) {
		const uint64_t process = find_youngest(load, reference->process);

		if (process == 0) {
			drop_one(load, reference->process);
			continue;
		}
		reference->disturbs = true;
		LPL_TRY(deactivate(load, process, reference->t, report));
	}
	return LPL_OK;
}

/* ---- settling ---- */

/* The one that was deactivated first; there is one. */
static uint64_t find_first(const struct load_control *load)
{
	uint64_t first = 0;

	for (size_t i = 1; i < load->queues.queues; i++)
		if (load->process[i].state == PROCESS_DEACTIVATED &&
		    (first == 0 || load->process[i].deactivated < load->process[first].deactivated))
			first = i;
	return first;
}

/* No task runs, is ready or is paging. */
static bool all_wait(const struct machine *machine)
{
	for (unsigned int i = 0; i < machine->how->cpus; i++)
		if (machine->processor[i].task != NULL)
			return false;
	return machine->ready.count == 0 && machine->paging == 0;
}

/* Those that memory has room for, in the order of their deactivation; or one, if no other is left. */
static enum lpl_error bring_back(struct load_control *load, struct lpl_report *report)
{
	bool room = true;

	if (load->deactivated != 0)
		lpl_load_expire_all(load, load->t);
	while (load->deactivated != 0) {
		const uint64_t first = find_first(load);

		room = room && load->queues.used + load->process[first].wanted <= load->pages;
		if (!room && !all_wait(load->machine))
			break;
		set_active(load, first);
		LPL_TRY(rejoin(load, first, report));
	}
	return LPL_OK;
}

enum lpl_error lpl_load_settle(struct load_control *load, struct lpl_report *report)
{
	const uint64_t rejoins = load->rejoins;

	load->rejoins = 0;
	if (rejoins != 0)
		LPL_TRY(rejoin(load, rejoins, report));
	if (load->unsettled)
		LPL_TRY(bring_back(load, report));
	load->unsettled = false;
	return LPL_OK;
}
