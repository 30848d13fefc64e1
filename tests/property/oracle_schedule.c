/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle's machine, watched at every cycle. */
#include "oracle_schedule_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

#define MOST_CYCLES UINT64_C(1000000)	/* a machine that is not done by then never is */

void oracle_say(const struct sim *sim, int task, const char *format, uint64_t number)
{
	if (sim->log == NULL)
		return;
	(void)fprintf(sim->log, "  %4" PRIu64 "  ", sim->now);
	if (task != NO_TASK)
		(void)fprintf(sim->log, "task %d ", task);
	(void)fprintf(sim->log, format, number);
	(void)fputc('\n', sim->log);
}

/* ---- tasks ---- */

static void end(struct sim *sim, int task)
{
	oracle_say(sim, task, "ends", 0);
	sim->task[task].state = ENDED;
	sim->result->task[task].end = sim->now;
	oracle_load_end(sim, oracle_process_of(sim, task));
}

/* ---- what is due ---- */

static void put_due(struct sim *sim, uint64_t time, int task, uint64_t arrival)
{
	if (sim->dues == MOST_DUE)
		abort();
	sim->due[sim->dues++] = (struct due){ time, sim->order++, task, arrival };
}

static bool next_due(struct sim *sim, struct due *next)
{
	int best = -1;

	for (int i = 0; i < sim->dues; i++)
		if (sim->due[i].time <= sim->now &&
		    (best < 0 || sim->due[i].time < sim->due[best].time ||
		     (sim->due[i].time == sim->due[best].time &&
		      sim->due[i].order < sim->due[best].order)))
			best = i;
	if (best < 0)
		return false;
	*next = sim->due[best];
	sim->due[best] = sim->due[--sim->dues];
	return true;
}

static void deliver(struct sim *sim)
{
	struct due due;

	while (next_due(sim, &due)) {
		int waiting = 0;

		if (due.task != NO_TASK) {
			oracle_show_interrupt(sim, due.task);
			oracle_become_ready(sim, due.task);
		}
		while (due.task == NO_TASK && waiting < sim->pagings) {
			int task = sim->paging[waiting];

			if (sim->task[task].arrival != due.arrival) {
				waiting++;
				continue;
			}
			sim->pagings--;
			memmove(&sim->paging[waiting], &sim->paging[waiting + 1],
				(size_t)(sim->pagings - waiting) * sizeof(sim->paging[0]));
			oracle_show_interrupt(sim, task);
			oracle_become_ready(sim, task);
		}
		oracle_load_settle(sim);
	}
}

/* ---- memory ---- */

/* When the page comes that a fault is about, and what it is known by meanwhile. */
static uint64_t fetch(struct sim *sim, uint64_t writes)
{
	const struct oracle_machine *machine = sim->machine;
	unsigned int device = 0;
	uint64_t time = machine->fault_cycles;

	if (machine->devices == 0)
		return sim->now + time;
	for (unsigned int i = 1; i < machine->devices; i++)
		if (sim->device_free[i] < sim->device_free[device])
			device = i;
	time += writes * machine->write_cycles;
	sim->result->device_busy += time;
	if (sim->device_free[device] < sim->now)
		sim->device_free[device] = sim->now;
	return sim->device_free[device] += time;
}

/* Does the task go on at once?  Else it waits for t->arrival. */
static bool reference(struct sim *sim, const struct oracle_record *record)
{
	struct oracle_task *counts = &sim->result->task[record->task];
	struct task *t = &sim->task[record->task];
	struct oracle_page *page;
	bool again = false;
	uint64_t writes;

	counts->references++;
	oracle_load_refer(sim, record->process);
	page = oracle_memory_find(&sim->memory, record->page);
	if (page != NULL) {
		oracle_memory_hit(&sim->memory, page, is_write(&record->item->ref));
		page = oracle_memory_find(&sim->memory, record->page);
		if (page->arrives <= sim->now)
			return true;
		counts->joined++;
		oracle_say(sim, record->task, "joins in waiting for page %" PRIu64, record->page);
		t->arrival = page->arrival;
		return false;
	}
	oracle_load_fault(sim, record->process);
	page = oracle_memory_fault(&sim->memory, record->page, record->process,
				   is_write(&record->item->ref), &again);
	oracle_say(sim, record->task, "faults on page %" PRIu64, record->page);
	counts->again += again ? 1 : 0;
	counts->cold += again ? 0 : 1;
	sim->result->faults++;
	writes = sim->memory.unwritten;
	sim->memory.unwritten = 0;
	if (sim->machine->fault_cycles == 0)
		return true;
	page->arrives = fetch(sim, writes);
	page->arrival = t->arrival = ++sim->arrivals;
	if (sim->machine->scheduler != ORACLE_RECORDED)
		put_due(sim, page->arrives, NO_TASK, page->arrival);
	return false;
}

/* ---- records ---- */

static void await(struct sim *sim, int task, uint64_t wake)
{
	sim->task[task].wake = wake;
	sim->task[task].wake_order = ++sim->wake_order;
}

/* The one of those that wait for it that does so for longest, if there is any. */
static int woken(struct sim *sim, uint64_t wake)
{
	int first = NO_TASK;

	for (int task = 1; wake != 0 && task < sim->split->tasks; task++)
		if (sim->task[task].wake == wake &&
		    (first == NO_TASK ||
		     sim->task[task].wake_order < sim->task[first].wake_order))
			first = task;
	if (first != NO_TASK)
		sim->task[first].wake = 0;
	return first;
}

/*
 * Which tasks become ready by it, in order; how many are they?  Those that it wakes are shown before any
 * of them is ready, which may preempt the one that wakes them.
 */
static int made_ready(struct sim *sim, const struct oracle_record *record, int ready[ORACLE_TASKS])
{
	int readies = 0;
	int task;

	if (record->child != 0 && sim->split->task[record->child].records > 0) {
		sim->result->task[record->child].begin = sim->now;
		sim->task[record->child].v = sim->task[record->task].v;
		ready[readies++] = record->child;
	}
	if (record->wake != 0)
		sim->passed[record->wake] = true;
	while ((task = woken(sim, record->wake)) != NO_TASK) {
		oracle_show_wake(sim, task, record->task);
		ready[readies++] = task;
	}
	return readies;
}

/* Does the task leave, to wait? */
static bool waits(struct sim *sim, const struct oracle_record *record)
{
	struct task *t = &sim->task[record->task];

	switch (record->wait) {
	case WAIT_WAKE:
		if (sim->passed[record->number])
			return false;
		await(sim, record->task, record->number);
		break;
	case WAIT_CYCLES:
		if (record->number == 0)
			return false;
		put_due(sim, sim->now + record->number, record->task, 0);
		break;
	case WAIT_NOT:
	case WAIT_EVER:
		return false;
	}
	oracle_say(sim, record->task, "waits, %" PRIu64, record->number);
	t->state = WAITING;
	t->left_as = record->item->event.arg[KTR_SCHEDULE_PREVIOUS_STATE];
	return true;
}

/* The next record of the task that runs there. */
static void happen(struct sim *sim, struct processor *processor)
{
	struct task *t = &sim->task[processor->task];
	const struct oracle_record *record = next_record(sim, t);
	bool leaves = false;
	int ready[ORACLE_TASKS];
	int readies = 0;

	oracle_say(sim, record->task, "record %" PRIu64, (uint64_t)(record - sim->split->record));
	oracle_show(sim, record);
	if (!record->item->is_event) {
		leaves = !reference(sim, record);
		if (leaves) {
			t->state = PAGING;
			t->left_as = KTR_STATE_WAITING;
			sim->paging[sim->pagings++] = record->task;
		}
	} else {
		readies = made_ready(sim, record, ready);
		leaves = waits(sim, record);
	}
	t->next++;
	t->begun = false;
	t->taken = 0;
	if (record->dies || record->wait == WAIT_EVER) {
		t->left_as = record->item->event.arg[KTR_SCHEDULE_PREVIOUS_STATE];
		end(sim, record->task);
		leaves = true;
	}
	if (leaves)
		oracle_take_off(sim, processor);
	for (int i = 0; i < readies; i++)
		oracle_become_ready(sim, ready[i]);
	oracle_fill(sim);
	if (!record->item->is_event)
		oracle_load_ready(sim, record->process);
}

/* The next of what a task takes, before the record that says so, which is due. */
static void take(struct sim *sim, struct processor *processor)
{
	int task = processor->task;
	struct task *t = &sim->task[task];
	uint64_t give = next_record(sim, t)->take[t->taken++];

	if (sim->passed[give])
		return;
	oracle_say(sim, task, "takes what is not there, %" PRIu64, give);
	await(sim, task, give);
	t->state = WAITING;
	t->left_as = KTR_STATE_SLEEPING;
	oracle_take_off(sim, processor);
	oracle_fill(sim);
}

/* ---- a record's time ---- */

/* Of `all` in `cycles`, those up to `passed` of these. */
static uint64_t part(uint64_t all, uint64_t passed, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)all * passed / cycles);
}

static void pass_instructions(struct sim *sim, struct task *t, uint64_t dinstr, uint64_t passed,
			      uint64_t cycles)
{
	uint64_t shown = dinstr * sim->scale;

	sim->instructions += part(shown, passed, cycles) - part(shown, passed - 1, cycles);
	if (sim->machine->instructions)
		t->used += part(dinstr, passed, cycles) - part(dinstr, passed - 1, cycles);
}

/* The next record's time begins to pass.  What takes no time passes at once. */
static void begin_record(struct sim *sim, struct task *t)
{
	const struct oracle_record *record = next_record(sim, t);

	t->begun = true;
	t->left = record->dcycle;
	if (record->dcycle == 0)
		pass_instructions(sim, t, record->dinstr, 1, 1);
}

/* ---- processors ---- */

/* Something of this moment on the processor, if it has it. */
static bool act_on(struct sim *sim, struct processor *processor)
{
	struct task *t;
	bool takes;

	if (processor->task == NO_TASK || processor->switching > 0)
		return false;
	t = &sim->task[processor->task];
	if (t->next == t->count) {
		t->left_as = KTR_STATE_RUNNABLE;	/* as far as the trace knows */
		end(sim, processor->task);
		oracle_take_off(sim, processor);
		oracle_fill(sim);
		return true;
	}
	if (!t->begun)
		begin_record(sim, t);
	takes = t->left == 0 && t->taken < next_record(sim, t)->takes;
	if (sim->machine->quantum > 0 && t->used >= sim->machine->quantum)
		oracle_end_quantum(sim, processor);
	else if (takes)
		take(sim, processor);
	else if (t->left == 0)
		happen(sim, processor);
	else
		return false;
	return true;
}

/* On the lowest processor that has something. */
static bool act(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->machine->cpus; i++)
		if (act_on(sim, &sim->processor[i])) {
			oracle_load_settle(sim);
			return true;
		}
	return false;
}

/* ---- time ---- */

static void run_cycle(struct sim *sim, struct task *t)
{
	const struct oracle_record *record = next_record(sim, t);

	t->left--;
	t->v++;
	if (!sim->machine->instructions)
		t->used++;
	pass_instructions(sim, t, record->dinstr, record->dcycle - t->left, record->dcycle);
}

static bool pages(const struct sim *sim)
{
	for (int task = 0; task < sim->split->tasks; task++)
		if (sim->task[task].state == PAGING)
			return true;
	return false;
}

static void pass_processor(struct sim *sim, struct processor *processor)
{
	struct oracle_result *result = sim->result;
	uint64_t process;

	if (processor->task == NO_TASK) {
		result->idle++;
		result->idle_paging += pages(sim) ? 1 : 0;
	} else if (processor->switching > 0) {
		processor->switching--;
		result->switching++;
		result->task[processor->task].switching++;
		result->task[processor->task].ready++;
	} else {
		result->busy++;
		result->task[processor->task].running++;
		process = oracle_process_of(sim, processor->task);
		sim->memory.clock[process] += process != 0 ? 1 : 0;
		run_cycle(sim, &sim->task[processor->task]);
	}
}

static void pass_cycle(struct sim *sim)
{
	for (int task = 0; task < sim->split->tasks; task++) {
		struct oracle_task *counts = &sim->result->task[task];

		counts->ready += sim->task[task].state == READY ||
			sim->task[task].state == SUSPENDED ? 1 : 0;
		counts->suspended += sim->task[task].state == SUSPENDED ? 1 : 0;
		counts->paging += sim->task[task].state == PAGING ? 1 : 0;
		counts->waiting += sim->task[task].state == WAITING ? 1 : 0;
	}
	for (unsigned int i = 0; i < sim->machine->cpus; i++)
		pass_processor(sim, &sim->processor[i]);
	sim->memory.clock[0]++;		/* the kernel's is the machine's */
	if (++sim->now > MOST_CYCLES) {
		(void)fprintf(stderr, "oracle: the machine does not end\n");
		abort();
	}
}

/* ---- schedulers ---- */

static bool all_ended(const struct sim *sim)
{
	for (int task = 1; task < sim->split->tasks; task++)
		if (sim->split->task[task].records > 0 && sim->task[task].state != ENDED)
			return false;
	return true;
}

/* A task that no other one creates. */
static void release(struct sim *sim, int task)
{
	const struct oracle_split_task *like = &sim->split->task[task];

	if (like->records == 0 || like->parent != 0)
		return;
	if (like->wait == WAIT_NOT || (like->wait == WAIT_CYCLES && like->number == 0)) {
		oracle_become_ready(sim, task);
		return;
	}
	sim->task[task].state = WAITING;
	if (like->wait == WAIT_WAKE)
		await(sim, task, like->number);
	else
		put_due(sim, like->number, task, 0);
}

static void leave_out_idle(struct sim *sim)
{
	for (size_t i = 0; i < sim->task[0].count; i++) {
		const struct oracle_record *record = &sim->split->record[sim->task[0].place[i]];

		sim->result->left_out_references += record->item->is_event ? 0 : 1;
		sim->result->left_out_cycles += record->dcycle;
	}
}

static void run_scheduled(struct sim *sim)
{
	leave_out_idle(sim);
	for (int task = 1; task < sim->split->tasks; task++)
		release(sim, task);
	oracle_fill(sim);
	for (;;) {
		deliver(sim);
		while (act(sim))
			;
		if (all_ended(sim))
			break;
		pass_cycle(sim);
	}
}

/* The end of a burst, or of the task, with the record that has just been. */
static void leave_recorded(struct sim *sim, const struct oracle_record *record, bool goes)
{
	struct task *t = &sim->task[record->task];

	if (record->leaves && !record->dies && record->wait == WAIT_NOT)
		sim->result->task[record->task].preemptions++;
	if (t->next == t->count)
		end(sim, record->task);
	else if (goes)
		t->state = record->wait != WAIT_NOT ? WAITING : READY;
}

/* All in the order that it was recorded in; a task that faults stalls the processor. */
static void run_recorded(struct sim *sim)
{
	const struct oracle_split *split = sim->split;
	struct processor *processor = &sim->processor[0];

	for (int task = 0; task < split->tasks; task++)
		if (split->task[task].records > 0 && split->task[task].parent == 0)
			sim->task[task].state = READY;
	processor->last = NO_TASK;
	for (size_t i = 0; i < split->count; i++) {
		const struct oracle_record *record = &split->record[i];
		struct task *t = &sim->task[record->task];
		bool goes = i + 1 == split->count || record[1].task != record->task;

		if (i == 0 || record[-1].task != record->task)
			oracle_dispatch(sim, processor, record->task);
		while (processor->switching > 0)
			pass_cycle(sim);
		begin_record(sim, t);
		while (t->left > 0)
			pass_cycle(sim);
		oracle_say(sim, record->task, "record %" PRIu64, i);
		oracle_show(sim, record);
		t->next++;
		if (record->item->is_event) {
			int child = record->child;

			if (child != 0 && split->task[child].records > 0) {
				sim->task[child].state = READY;
				sim->result->task[child].begin = sim->now;
			}
		} else if (!reference(sim, record)) {
			uint64_t until = oracle_memory_find(&sim->memory, record->page)->arrives;

			t->left_as = KTR_STATE_WAITING;
			oracle_show_stall(sim, record);
			processor->task = NO_TASK;
			t->state = PAGING;
			while (sim->now < until)
				pass_cycle(sim);
			oracle_show_stalled(sim, record);
			processor->task = record->task;
			t->state = ON_PROCESSOR;
		}
		leave_recorded(sim, record, goes);
		if (goes)
			processor->task = NO_TASK;
	}
}

/* ---- all of it ---- */

static void *room(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (memory == NULL) {
		(void)fprintf(stderr, "oracle: no memory\n");
		abort();
	}
	return memory;
}

void oracle_schedule(const struct oracle_split *split, const struct oracle_machine *machine,
		     struct oracle_result *result, struct stream *out, FILE *log)
{
	struct sim sim = { .split = split, .machine = machine, .result = result, .out = out,
			   .log = log, .scale = machine->scale != 0 ? machine->scale : 1 };

	*result = (struct oracle_result){ 0 };
	sim.passed = room(split->wakes + 1, sizeof(*sim.passed));
	oracle_memory_init(&sim.memory, machine);
	for (int task = 0; task < split->tasks; task++)
		sim.task[task].place = room(split->count, sizeof(size_t));
	for (size_t i = 0; i < split->count; i++) {
		struct task *t = &sim.task[split->record[i].task];

		t->place[t->count++] = i;
	}
	for (unsigned int i = 0; i < machine->cpus; i++)
		sim.processor[i].task = NO_TASK;
	oracle_show_head(&sim);
	if (machine->scheduler == ORACLE_RECORDED)
		run_recorded(&sim);
	else
		run_scheduled(&sim);
	result->end = sim.now;
	result->evictions = sim.memory.evictions;
	result->dirty_evictions = sim.memory.dirty_evictions;
	for (int task = 0; task < split->tasks; task++)
		free(sim.task[task].place);
	free(sim.passed);
}
