/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The oracle's memory: docs/simulation.md's LRU and CLOCK, local replacement with shares, working
 * sets, and page fault frequency.
 */
#include "oracle_schedule_memory.h"

#include <string.h>

void oracle_memory_init(struct oracle_pages *memory, const struct oracle_machine *machine)
{
	*memory = (struct oracle_pages){ .kind = machine->memory, .limit = machine->pages,
					 .window = machine->window };
}

/* Has the page left its owner's working set? */
static bool expired(const struct oracle_pages *memory, const struct oracle_page *page)
{
	return memory->kind == ORACLE_WS &&
		memory->clock[page->owner] - page->stamp >= memory->window;
}

struct oracle_page *oracle_memory_find(struct oracle_pages *memory, uint32_t page)
{
	for (size_t i = 0; i < memory->count; i++)
		if (memory->page[i].page == page)
			return expired(memory, &memory->page[i]) ? NULL : &memory->page[i];
	return NULL;
}

static struct oracle_page take(struct oracle_pages *memory, size_t i)
{
	struct oracle_page page = memory->page[i];

	memory->count--;
	memmove(&memory->page[i], &memory->page[i + 1],
		(memory->count - i) * sizeof(memory->page[0]));
	return page;
}

static void put(struct oracle_pages *memory, size_t i, const struct oracle_page *page)
{
	memmove(&memory->page[i + 1], &memory->page[i],
		(memory->count - i) * sizeof(memory->page[0]));
	memory->page[i] = *page;
	memory->count++;
}

static void leave(struct oracle_pages *memory, size_t i)
{
	memory->evictions++;
	if (take(memory, i).dirty) {
		memory->dirty_evictions++;
		memory->unwritten++;
	}
}

void oracle_memory_hit(struct oracle_pages *memory, struct oracle_page *page, bool write)
{
	struct oracle_page copy;

	page->dirty |= write;
	page->primary = true;
	page->stamp = memory->clock[page->owner];
	if (memory->kind == ORACLE_CLOCK)
		return;
	copy = take(memory, (size_t)(page - memory->page));
	put(memory, 0, &copy);
}

/* ---- owners of pages ---- */

uint64_t oracle_memory_resident(const struct oracle_pages *memory, uint64_t process)
{
	uint64_t count = 0;

	for (size_t i = 0; i < memory->count; i++)
		count += memory->page[i].owner == process ? 1 : 0;
	return count;
}

static uint64_t brought(const struct oracle_pages *memory, uint64_t process)
{
	uint64_t count = 0;

	for (uint32_t page = 1; page <= ORACLE_PAGES; page++)
		count += memory->brought[process][page] ? 1 : 0;
	return count;
}

static uint64_t share(const struct oracle_pages *memory, uint64_t process, uint64_t faulting)
{
	uint64_t processes = 0, sum = 0;

	for (uint64_t i = 0; i < ORACLE_TASKS; i++)
		if (i == faulting || oracle_memory_resident(memory, i) > 0) {
			processes++;
			sum += brought(memory, i);
		}
	if (memory->kind == ORACLE_EQUAL)
		return memory->limit / processes;
	return memory->limit * brought(memory, process) / sum;
}

/* The process that loses a page. */
static uint64_t loser(const struct oracle_pages *memory, uint64_t faulting)
{
	uint64_t own = oracle_memory_resident(memory, faulting);
	uint64_t loser = faulting, most = 0;

	if (own == 0 || own < share(memory, faulting, faulting))
		for (uint64_t i = 0; i < ORACLE_TASKS; i++) {
			uint64_t has = oracle_memory_resident(memory, i);
			uint64_t may = has > 0 ? share(memory, i, faulting) : 0;

			if (has > may && has - may > most) {
				most = has - may;
				loser = i;
			}
		}
	if (oracle_memory_resident(memory, loser) > 0)
		return loser;
	for (uint64_t i = 0; i < ORACLE_TASKS; i++)
		if (oracle_memory_resident(memory, i) > oracle_memory_resident(memory, loser))
			loser = i;
	return loser;
}

/* ---- victims ---- */

static size_t clock_victim(struct oracle_pages *memory)
{
	for (;;) {
		struct oracle_page *page = &memory->page[memory->hand];

		if (!page->primary && !page->secondary)
			return memory->hand;
		page->secondary = page->primary;
		page->primary = false;
		memory->hand = (memory->hand + 1) % memory->count;
	}
}

static size_t victim(struct oracle_pages *memory, uint64_t process)
{
	size_t i = memory->count - 1;

	if (memory->kind == ORACLE_CLOCK)
		return clock_victim(memory);
	if (memory->kind == ORACLE_LRU)
		return i;
	process = loser(memory, process);
	while (memory->page[i].owner != process)
		i--;
	return i;
}

struct oracle_page *oracle_memory_fault(struct oracle_pages *memory, uint32_t page,
					uint64_t process, bool write, bool *again)
{
	struct oracle_page new = { .page = page, .owner = process, .dirty = write,
				   .primary = true, .stamp = memory->clock[process] };
	size_t place = memory->kind == ORACLE_CLOCK ? memory->count : 0;

	*again = memory->known[page];
	memory->known[page] = true;
	if (memory->limit != 0 && memory->count == memory->limit) {
		size_t goes = victim(memory, process);

		leave(memory, goes);
		if (memory->kind == ORACLE_CLOCK) {
			place = goes;
			memory->hand = (goes + 1) % memory->limit;
		}
	}
	memory->brought[process][page] = true;
	put(memory, place, &new);
	return &memory->page[place];
}

/* ---- working sets, and page fault frequency ---- */

bool oracle_memory_breathes(const struct oracle_pages *memory)
{
	return memory->kind == ORACLE_WS || memory->kind == ORACLE_PFF;
}

void oracle_memory_expire_of(struct oracle_pages *memory, uint64_t process)
{
	for (size_t i = memory->count; i-- > 0;)
		if (memory->page[i].owner == process && expired(memory, &memory->page[i]))
			leave(memory, i);
}

void oracle_memory_expire(struct oracle_pages *memory)
{
	for (uint64_t process = 0; process < ORACLE_TASKS; process++)
		oracle_memory_expire_of(memory, process);
}

void oracle_memory_shrink(struct oracle_pages *memory, uint64_t process)
{
	uint64_t now = memory->clock[process], last = memory->last_fault[process];

	oracle_memory_expire(memory);
	if (memory->kind != ORACLE_PFF)
		return;
	if (memory->faulted[process] && now - last >= memory->window)
		for (size_t i = memory->count; i-- > 0;)
			if (memory->page[i].owner == process && memory->page[i].stamp < last)
				leave(memory, i);
	memory->faulted[process] = true;
	memory->last_fault[process] = now;
}

void oracle_memory_drop_oldest(struct oracle_pages *memory, uint64_t process)
{
	size_t i = memory->count - 1;

	while (memory->page[i].owner != process)
		i--;
	leave(memory, i);
}

void oracle_memory_drop_all(struct oracle_pages *memory, uint64_t process)
{
	while (oracle_memory_resident(memory, process) > 0)
		oracle_memory_drop_oldest(memory, process);
}

void oracle_memory_give(struct oracle_pages *memory, uint64_t process)
{
	while (oracle_memory_resident(memory, process) > 0) {
		size_t i = memory->count - 1;
		struct oracle_page page;

		while (memory->page[i].owner != process)
			i--;
		page = take(memory, i);
		page.owner = 0;
		page.stamp = memory->clock[0];
		put(memory, 0, &page);
	}
}
