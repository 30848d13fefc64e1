/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Working sets and page-fault frequency.  A page's stamp is its owner's clock at its last reference,
 * so a queue is in the order of stamps.
 *
 * A working set's pages leave as time passes; that is looked at when it can be seen, at a fault, and
 * when load control asks for memory.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/try.h"
#include "machine.h"

static bool is_of_past(const struct load_control *load, uint32_t page, uint64_t clock)
{
	return !load->by_faults && clock - load->stamp[page] >= load->window;
}

/* The process's pages that were not referenced in its last `window` leave. */
static void expire(struct load_control *load, uint64_t process, uint64_t t)
{
	const struct queue *queue = &load->queues.queue[process];
	const uint64_t clock = lpl_load_clock(load, process, t);

	while (queue->resident != 0 && is_of_past(load, queue->oldest, clock))
		lpl_queues_drop_oldest(&load->queues, process, &load->memory);
}

void lpl_load_expire_all(struct load_control *load, uint64_t t)
{
	if (load->by_faults)
		return;
	for (size_t i = 0; i < load->queues.queues; i++)
		expire(load, i, t);
}

/* If the last fault is long ago, the pages not referenced since leave. */
static void look_at_frequency(struct load_control *load, const struct reference *reference)
{
	struct process *process = &load->process[reference->process];
	const struct queue *queue = &load->queues.queue[reference->process];
	const uint64_t clock = lpl_load_clock(load, reference->process, reference->t);

	if (process->faulted && clock - process->fault >= load->window)
		while (queue->resident != 0 && load->stamp[queue->oldest] < process->fault)
			lpl_queues_drop_oldest(&load->queues, reference->process, &load->memory);
	process->faulted = true;
	process->fault = clock;
}

static bool is_there(const struct load_control *load, const struct reference *reference)
{
	const uint32_t owner = load->queues.page[reference->page].owner;

	return owner != 0 && !is_of_past(load, reference->page,
					 lpl_load_clock(load, owner - 1, reference->t));
}

static enum lpl_error bring(struct load_control *load, struct reference *reference,
			    struct lpl_report *report)
{
	if (load->by_faults)
		look_at_frequency(load, reference);
	else
		lpl_load_expire_all(load, reference->t);
	LPL_TRY(lpl_load_make_room(load, reference, report));
	lpl_queues_bring(&load->queues, reference->page, reference->process, reference->write);
	return LPL_OK;
}

static enum lpl_error ws_reference(struct page_memory *memory, struct reference *reference,
				   struct lpl_report *report)
{
	struct load_control *load = (struct load_control *)memory;
	const uint32_t page = reference->page;

	LPL_TRY(lpl_queues_reach(&load->queues, page, reference->process, report));
	if (!lpl_reach(load->stamp, load->stamp_room, page))
		return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory for working sets");
	if (load->process[reference->process].state != PROCESS_ACTIVE)
		lpl_load_activate(load, reference);
	reference->fault = !is_there(load, reference);
	if (reference->fault) {
		LPL_TRY(bring(load, reference, report));
	} else {
		load->queues.page[page].dirty |= reference->write;
		lpl_queues_touch(&load->queues, page);
	}
	load->stamp[page] = lpl_load_clock(load, load->queues.page[page].owner - 1, reference->t);
	return LPL_OK;
}

/* Of a process that has ended, what is in memory is the kernel's. */
static void give_to_kernel(struct load_control *load, uint64_t process, uint64_t t)
{
	if (process >= load->queues.queues)
		return;
	expire(load, process, t);
	while (load->queues.queue[process].resident != 0)
		load->stamp[lpl_queues_give_oldest(&load->queues, process, 0)] = t;
}

void lpl_load_ends(struct load_control *load, uint64_t process, uint64_t t)
{
	struct process *p = &load->process[process];

	if (--p->live != 0 || process == 0)
		return;
	give_to_kernel(load, process, t);
	if (p->state == PROCESS_DEACTIVATED) {
		p->state = PROCESS_ACTIVE;
		load->deactivated--;
	}
}

static void ws_close(struct page_memory *memory)
{
	struct load_control *load = (struct load_control *)memory;

	lpl_queues_free(&load->queues);
	free(load->stamp);
	free(load->process);
	free(load);
}

enum lpl_error lpl_load_open(struct load_control **load, struct machine *machine,
			     struct lpl_report *report)
{
	struct load_control *opened = calloc(1, sizeof(*opened));

	*load = opened;
	if (opened == NULL || !lpl_reach(opened->process, opened->process_room, 0)) {
		free(opened);
		*load = NULL;
		return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory for working sets");
	}
	opened->memory.reference = ws_reference;
	opened->memory.close = ws_close;
	opened->machine = machine;
	opened->by_faults = machine->how->memory == LPL_MEMORY_PFF;
	opened->pages = machine->how->pages;
	opened->window = machine->how->window;
	return LPL_OK;
}
