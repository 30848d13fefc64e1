/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle's schedulers: which of the tasks that are ready get the processors. */
#include "oracle_schedule_sim.h"

#include <string.h>

/* ---- the queue ---- */

static int number_of(const struct sim *sim, int task)
{
	return sim->machine->priority[task];
}

static void queue(struct sim *sim, int place, int task)
{
	memmove(&sim->ready[place + 1], &sim->ready[place],
		(size_t)(sim->readies - place) * sizeof(sim->ready[0]));
	sim->ready[place] = task;
	sim->readies++;
	sim->task[task].state = READY;
}

/* Is ready task `a` to run sooner than `b`, which is before it in the queue? */
static bool sooner(const struct sim *sim, int a, int b)
{
	if (sim->machine->scheduler == ORACLE_PRIORITY)
		return number_of(sim, a) < number_of(sim, b);
	if (sim->machine->scheduler == ORACLE_FAIR)
		return sim->task[a].v < sim->task[b].v ||
			(sim->task[a].v == sim->task[b].v && a < b);
	return false;
}

/* The first to be dispatched, of all or of a process's. */
static int take_first(struct sim *sim, bool of_all, uint64_t process)
{
	int best = -1;
	int task;

	for (int i = 0; i < sim->readies; i++)
		if ((of_all || oracle_process_of(sim, sim->ready[i]) == process) &&
		    (best < 0 || sooner(sim, sim->ready[i], sim->ready[best])))
			best = i;
	if (best < 0)
		return NO_TASK;
	task = sim->ready[best];
	sim->readies--;
	memmove(&sim->ready[best], &sim->ready[best + 1],
		(size_t)(sim->readies - best) * sizeof(sim->ready[0]));
	return task;
}

int oracle_take_ready_of(struct sim *sim, uint64_t process)
{
	return take_first(sim, false, process);
}

/* The largest value so far of the smallest v. */
static void look_at_floor(struct sim *sim)
{
	uint64_t least = UINT64_MAX;

	for (int task = 1; task < sim->split->tasks; task++)
		if ((sim->task[task].state == READY || sim->task[task].state == ON_PROCESSOR) &&
		    sim->task[task].v < least)
			least = sim->task[task].v;
	if (least != UINT64_MAX && least > sim->floor)
		sim->floor = least;
}

/* ---- processors ---- */

void oracle_dispatch(struct sim *sim, struct processor *processor, int task)
{
	struct task *t = &sim->task[task];

	if (sim->machine->scheduler != ORACLE_RECORDED)
		oracle_show_dispatch(sim, processor->idle ? IDLE : processor->last, task);
	oracle_say(sim, task, "runs on processor %" PRIu64, (uint64_t)(processor - sim->processor));
	t->state = ON_PROCESSOR;
	sim->result->task[task].dispatches++;
	processor->task = task;
	processor->idle = false;
	if (processor->last != task) {
		sim->result->switches++;
		processor->switching = sim->machine->switch_cycles;
	}
	processor->last = task;
	if (!t->keeps || t->used >= sim->machine->quantum)
		t->used = 0;
	t->keeps = false;
	look_at_floor(sim);
}

static struct processor *lowest_free(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->machine->cpus; i++)
		if (sim->processor[i].task == NO_TASK)
			return &sim->processor[i];
	return NULL;
}

/* The idle task is only in the output: the task that was last is the last still. */
static void run_idle(struct sim *sim, struct processor *processor)
{
	if (processor->task != NO_TASK || processor->idle)
		return;
	oracle_show_dispatch(sim, processor->last, IDLE);
	processor->idle = true;
}

void oracle_fill(struct sim *sim)
{
	struct processor *processor;

	while (sim->readies > 0 && (processor = lowest_free(sim)) != NULL)
		oracle_dispatch(sim, processor, take_first(sim, true, 0));
	for (unsigned int i = 0; i < sim->machine->cpus; i++)
		run_idle(sim, &sim->processor[i]);
}

void oracle_take_off(struct sim *sim, struct processor *processor)
{
	processor->task = NO_TASK;
	processor->switching = 0;
	sim->settles = true;
}

static void preempted(struct sim *sim, struct processor *processor, int place)
{
	int task = processor->task;

	oracle_say(sim, task, "is taken off processor %" PRIu64,
		   (uint64_t)(processor - sim->processor));
	sim->result->task[task].preemptions++;
	sim->task[task].left_as = KTR_STATE_RUNNABLE;
	oracle_take_off(sim, processor);
	queue(sim, place, task);
}

/* Whom a task that became ready would have to preempt. */
static struct processor *weakest(struct sim *sim)
{
	struct processor *weakest = NULL;

	for (unsigned int i = 0; i < sim->machine->cpus; i++) {
		struct processor *processor = &sim->processor[i];

		if (weakest == NULL ||
		    (sim->machine->scheduler == ORACLE_PRIORITY ?
		     number_of(sim, processor->task) >= number_of(sim, weakest->task) :
		     sim->task[processor->task].v >= sim->task[weakest->task].v))
			weakest = processor;
	}
	return weakest;
}

/* The last of the queue has just become ready, and no processor is free. */
static void preempt(struct sim *sim)
{
	int task = sim->ready[sim->readies - 1];
	struct processor *processor;
	bool yields;

	if (sim->machine->scheduler == ORACLE_RR)
		return;
	processor = weakest(sim);
	if (sim->machine->scheduler == ORACLE_PRIORITY)
		yields = number_of(sim, task) < number_of(sim, processor->task);
	else
		yields = sim->task[task].v + sim->machine->quantum <
			sim->task[processor->task].v;
	if (!yields)
		return;
	sim->readies--;
	if (sim->machine->scheduler == ORACLE_PRIORITY) {
		sim->task[processor->task].keeps = true;
		preempted(sim, processor, 0);
	} else {
		preempted(sim, processor, sim->readies);
	}
	oracle_dispatch(sim, processor, task);
}

void oracle_become_ready(struct sim *sim, int task)
{
	struct task *t = &sim->task[task];
	uint64_t least;

	if (oracle_load_suspends(sim, task)) {
		oracle_say(sim, task, "is suspended", 0);
		return;
	}
	look_at_floor(sim);
	least = sim->floor > sim->machine->quantum ? sim->floor - sim->machine->quantum : 0;
	if (t->v < least)
		t->v = least;
	oracle_say(sim, task, "is ready, v %" PRIu64, t->v);
	queue(sim, sim->readies, task);
	if (lowest_free(sim) != NULL)
		oracle_fill(sim);
	else
		preempt(sim);
}

/* ---- quanta ---- */

static bool another_is_ready(const struct sim *sim, int task)
{
	for (int i = 0; i < sim->readies; i++)
		if (sim->machine->scheduler == ORACLE_RR ||
		    (sim->machine->scheduler == ORACLE_PRIORITY ?
		     number_of(sim, sim->ready[i]) <= number_of(sim, task) :
		     sim->task[sim->ready[i]].v < sim->task[task].v))
			return true;
	return false;
}

void oracle_end_quantum(struct sim *sim, struct processor *processor)
{
	int task = processor->task;

	sim->task[task].used = 0;	/* if there is no other, another one begins */
	if (!another_is_ready(sim, task))
		return;
	preempted(sim, processor, sim->readies);
	oracle_fill(sim);
}
