/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Priorities: the task with the least number runs; of one number they take turns.  A task that is
 * preempted comes back before the others of its number, with what is left of its quantum.
 */
#include "machine.h"

/* Places before and after this: orders of those that are preempted fall, of the others rise. */
#define MIDDLE (UINT64_C(1) << 63)

static int64_t priority_key(const struct task *task)
{
	return task->number;
}

static uint64_t priority_order(struct machine *machine, const struct task *task, bool preempted)
{
	(void)task;
	machine->order++;
	return preempted ? MIDDLE - machine->order : MIDDLE + machine->order;
}

static bool priority_yields(const struct machine *machine, const struct task *task, uint64_t t)
{
	(void)t;
	return lpl_heap_top(&machine->ready)->key <= task->number;
}

static struct processor *priority_victim(struct machine *machine, const struct task *task,
					 uint64_t t)
{
	struct processor *worst = &machine->processor[0];

	(void)t;
	for (unsigned int i = 1; i < machine->how->cpus; i++)
		if (machine->processor[i].task->number >= worst->task->number)
			worst = &machine->processor[i];
	return worst->task->number > task->number ? worst : NULL;
}

const struct scheduler lpl_scheduler_priority = {
	.key = priority_key, .order = priority_order, .yields = priority_yields,
	.victim = priority_victim, .keeps_quantum = true,
};
