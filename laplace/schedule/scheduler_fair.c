/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fair shares: each task has a virtual time v, which passes while it runs, and the one with the
 * least v runs.  The quantum is the granularity: a task is preempted by one that becomes ready if
 * its v is larger by more than that, and the v of one that has waited is less than the others' by
 * at most that.
 */
#include "machine.h"

/* v up to t. */
static uint64_t v_of(const struct task *task, uint64_t t)
{
	return task->v + (task->state == TASK_RUNNING ? t - task->since : 0);
}

/* The floor is the largest that the least v has been. */
static void look_at_floor(struct machine *machine, uint64_t t)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < machine->how->cpus; i++) {
		const struct task *task = machine->processor[i].task;

		if (task != NULL && v_of(task, t) < least)
			least = v_of(task, t);
	}
	if (machine->ready.count != 0 && (uint64_t)lpl_heap_top(&machine->ready)->key < least)
		least = (uint64_t)lpl_heap_top(&machine->ready)->key;
	if (least != UINT64_MAX && least > machine->floor)
		machine->floor = least;
}

static int64_t fair_key(const struct task *task)
{
	return (int64_t)task->v;
}

static uint64_t fair_order(struct machine *machine, const struct task *task, bool preempted)
{
	(void)machine;
	(void)preempted;
	return task->result.serial;
}

static bool fair_yields(const struct machine *machine, const struct task *task, uint64_t t)
{
	return (uint64_t)lpl_heap_top(&machine->ready)->key < v_of(task, t);
}

static struct processor *fair_victim(struct machine *machine, const struct task *task, uint64_t t)
{
	struct processor *farthest = &machine->processor[0];

	for (unsigned int i = 1; i < machine->how->cpus; i++)
		if (v_of(machine->processor[i].task, t) >= v_of(farthest->task, t))
			farthest = &machine->processor[i];
	return v_of(farthest->task, t) > task->v &&
	       v_of(farthest->task, t) - task->v > machine->how->quantum ? farthest : NULL;
}

static void fair_becomes_ready(struct machine *machine, struct task *task,
			       const struct task *parent, uint64_t t)
{
	uint64_t least_v;

	look_at_floor(machine, t);
	least_v = machine->floor > machine->how->quantum ?
		machine->floor - machine->how->quantum : 0;
	if (parent != NULL)
		task->v = v_of(parent, t);
	if (task->v < least_v)
		task->v = least_v;
}

const struct scheduler lpl_scheduler_fair = {
	.key = fair_key, .order = fair_order, .yields = fair_yields, .victim = fair_victim,
	.becomes_ready = fair_becomes_ready, .dispatched = look_at_floor,
};
