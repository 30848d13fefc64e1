/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle's memory: a row of pages, and which of them leave. */
#ifndef LAPLACE_TESTS_ORACLE_SCHEDULE_MEMORY_H
#define LAPLACE_TESTS_ORACLE_SCHEDULE_MEMORY_H

#include "oracle_schedule.h"

struct oracle_page {
	uint32_t page;
	uint64_t owner;			/* the process that brought it in */
	bool dirty;
	bool primary, secondary;	/* CLOCK's bits */
	uint64_t stamp;			/* its owner's clock, when it was referenced last */
	uint64_t arrives, arrival;	/* when, and which arrival that is */
};

struct oracle_pages {
	enum oracle_memory kind;
	uint64_t limit;			/* 0: none */
	/* the most recently used first; of CLOCK as they are in the circle */
	struct oracle_page page[ORACLE_PAGES];
	size_t count, hand;
	bool known[ORACLE_PAGES + 1];	/* was referenced before */
	bool brought[ORACLE_TASKS][ORACLE_PAGES + 1];	/* by a process */
	uint64_t evictions, dirty_evictions;
	uint64_t unwritten;		/* of the dirty ones, since the last fault */
	/* of ORACLE_WS and ORACLE_PFF */
	uint64_t window;
	uint64_t clock[ORACLE_TASKS];	/* cycles that a process's tasks ran; the kernel's: all */
	bool faulted[ORACLE_TASKS];	/* a process has, and ... */
	uint64_t last_fault[ORACLE_TASKS];	/* ... when, on its clock */
};

void oracle_memory_init(struct oracle_pages *memory, const struct oracle_machine *machine);
struct oracle_page *oracle_memory_find(struct oracle_pages *memory, uint32_t page);	/* or NULL */
void oracle_memory_hit(struct oracle_pages *memory, struct oracle_page *page, bool write);
/* Brings it in, in place of another one if memory is full.  *again: it was in before. */
struct oracle_page *oracle_memory_fault(struct oracle_pages *memory, uint32_t page,
					uint64_t process, bool write, bool *again);

/* ---- memories whose pages leave by themselves (docs/scheduling.md) ---- */

/* ORACLE_WS and ORACLE_PFF: load control sees to their size. */
bool oracle_memory_breathes(const struct oracle_pages *memory);
uint64_t oracle_memory_resident(const struct oracle_pages *memory, uint64_t process);
/* ORACLE_WS: what was not referenced in the window of its owner leaves; of one process, or of all. */
void oracle_memory_expire(struct oracle_pages *memory);
void oracle_memory_expire_of(struct oracle_pages *memory, uint64_t process);
/* A fault of the process is to come: what leaves for it, whatever the size of memory. */
void oracle_memory_shrink(struct oracle_pages *memory, uint64_t process);
void oracle_memory_drop_oldest(struct oracle_pages *memory, uint64_t process);	/* that has one */
void oracle_memory_drop_all(struct oracle_pages *memory, uint64_t process);
/* They become the kernel's, the oldest first. */
void oracle_memory_give(struct oracle_pages *memory, uint64_t process);

#endif
