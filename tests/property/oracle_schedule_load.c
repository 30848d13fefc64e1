/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle's load control: which processes a memory of working sets has room for. */
#include "oracle_schedule_sim.h"

#include <string.h>

enum { KERNEL = 0, NO_PROCESS = -1 };

uint64_t oracle_process_of(const struct sim *sim, int task)
{
	const struct task *t = &sim->task[task];

	return t->next < t->count ? next_record(sim, t)->process_before :
		sim->split->record[t->place[t->count - 1]].process;
}

/* ---- tasks that are not to run ---- */

bool oracle_load_suspends(struct sim *sim, int task)
{
	if (sim->load[oracle_process_of(sim, task)].deactivated == 0)
		return false;
	sim->task[task].state = SUSPENDED;
	sim->suspended[sim->suspendeds++] = task;
	sim->settles = true;
	return true;
}

static void become_ready(struct sim *sim, int process)
{
	int i = 0;

	while (i < sim->suspendeds) {
		int task = sim->suspended[i];

		if (oracle_process_of(sim, task) != (uint64_t)process) {
			i++;
			continue;
		}
		sim->suspendeds--;
		memmove(&sim->suspended[i], &sim->suspended[i + 1],
			(size_t)(sim->suspendeds - i) * sizeof(sim->suspended[0]));
		oracle_become_ready(sim, task);
	}
}

/* ---- processes ---- */

static void activate(struct sim *sim, int process)
{
	oracle_say(sim, -1, "process %" PRIu64 " is activated", (uint64_t)process);
	sim->load[process].deactivated = 0;
	sim->load[process].activated = ++sim->activations;
}

static void deactivate(struct sim *sim, int process)
{
	struct load *load = &sim->load[process];
	bool settles = sim->settles;
	int task;

	oracle_say(sim, -1, "process %" PRIu64 " is deactivated", (uint64_t)process);
	sim->result->deactivations[process]++;
	load->deactivated = ++sim->deactivations;
	load->wanted = oracle_memory_resident(&sim->memory, (uint64_t)process);
	oracle_memory_drop_all(&sim->memory, (uint64_t)process);
	for (unsigned int i = 0; i < sim->machine->cpus; i++) {
		struct processor *processor = &sim->processor[i];

		task = processor->task;
		if (task == NO_TASK || oracle_process_of(sim, task) != (uint64_t)process)
			continue;
		sim->task[task].left_as = KTR_STATE_RUNNABLE;
		oracle_take_off(sim, processor);
		(void)oracle_load_suspends(sim, task);
	}
	while ((task = oracle_take_ready_of(sim, (uint64_t)process)) != NO_TASK) {
		sim->task[task].keeps = false;
		(void)oracle_load_suspends(sim, task);
	}
	sim->settles = settles;		/* not for this alone */
	oracle_fill(sim);
}

static int activated_last(const struct sim *sim, uint64_t but)
{
	int last = NO_PROCESS;

	for (int process = 0; process < ORACLE_TASKS; process++)
		if (process != KERNEL && (uint64_t)process != but &&
		    sim->load[process].activated != 0 && sim->load[process].deactivated == 0 &&
		    oracle_memory_resident(&sim->memory, (uint64_t)process) > 0 &&
		    (last == NO_PROCESS ||
		     sim->load[process].activated > sim->load[last].activated))
			last = process;
	return last;
}

static int deactivated_first(const struct sim *sim)
{
	int first = NO_PROCESS;

	for (int process = 0; process < ORACLE_TASKS; process++)
		if (sim->load[process].deactivated != 0 &&
		    (first == NO_PROCESS ||
		     sim->load[process].deactivated < sim->load[first].deactivated))
			first = process;
	return first;
}

/* ---- memory ---- */

void oracle_load_refer(struct sim *sim, uint64_t process)
{
	struct load *load = &sim->load[process];

	if (!oracle_memory_breathes(&sim->memory))
		return;
	if (load->activated == 0 || load->deactivated != 0)
		activate(sim, (int)process);
}

void oracle_load_ready(struct sim *sim, uint64_t process)
{
	if (sim->load[process].deactivated == 0)
		become_ready(sim, (int)process);
}

/* No process can be deactivated for it: the kernel has to give a page, or the process itself. */
static void drop_one(struct sim *sim, uint64_t process)
{
	struct oracle_pages *memory = &sim->memory;

	if (oracle_memory_resident(memory, KERNEL) > 0)
		process = KERNEL;
	else if (oracle_memory_resident(memory, process) == 0)
		process = 1;
	while (oracle_memory_resident(memory, process) == 0)
		process++;
	oracle_memory_drop_oldest(memory, process);
}

void oracle_load_fault(struct sim *sim, uint64_t process)
{
	struct oracle_pages *memory = &sim->memory;

	if (!oracle_memory_breathes(memory))
		return;
	oracle_memory_shrink(memory, process);
	while (memory->limit != 0 && memory->count + 1 > memory->limit) {
		int goes = activated_last(sim, process);

		if (goes != NO_PROCESS)
			deactivate(sim, goes);
		else
			drop_one(sim, process);
	}
}

void oracle_load_end(struct sim *sim, uint64_t process)
{
	if (!oracle_memory_breathes(&sim->memory) || process == KERNEL)
		return;
	for (int task = 1; task < sim->split->tasks; task++) {
		enum state state = sim->task[task].state;

		if (state != NOT_BEGUN && state != ENDED && oracle_process_of(sim, task) == process)
			return;
	}
	oracle_memory_expire_of(&sim->memory, process);
	oracle_memory_give(&sim->memory, process);
	sim->load[process].deactivated = 0;
}

/* ---- the end of a happening ---- */

static bool stands_still(const struct sim *sim)
{
	for (int task = 1; task < sim->split->tasks; task++) {
		enum state state = sim->task[task].state;

		if (state == ON_PROCESSOR || state == READY || state == PAGING)
			return false;
	}
	return true;
}

void oracle_load_settle(struct sim *sim)
{
	struct oracle_pages *memory = &sim->memory;
	int process;

	if (!sim->settles)
		return;
	while ((process = deactivated_first(sim)) != NO_PROCESS) {
		oracle_memory_expire(memory);
		if (memory->count + sim->load[process].wanted > memory->limit)
			break;
		activate(sim, process);
		become_ready(sim, process);
	}
	while ((process = deactivated_first(sim)) != NO_PROCESS && stands_still(sim)) {
		activate(sim, process);
		become_ready(sim, process);
	}
	sim->settles = false;
}
