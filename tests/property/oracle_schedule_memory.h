/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle's memory: a row of pages, and which one is evicted when it is full. */
#ifndef LAPLACE_TESTS_ORACLE_SCHEDULE_MEMORY_H
#define LAPLACE_TESTS_ORACLE_SCHEDULE_MEMORY_H

#include "oracle_schedule.h"

struct oracle_page {
	uint32_t page;
	uint64_t owner;			/* the process that brought it in */
	bool dirty;
	bool primary, secondary;	/* CLOCK's bits */
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
};

void oracle_memory_init(struct oracle_pages *memory, const struct oracle_machine *machine);
struct oracle_page *oracle_memory_find(struct oracle_pages *memory, uint32_t page);	/* or NULL */
void oracle_memory_hit(struct oracle_pages *memory, struct oracle_page *page, bool write);
/* Brings it in.  *again: it was in before; how many pages went for it, and was one dirty? */
struct oracle_page *oracle_memory_fault(struct oracle_pages *memory, uint32_t page,
					uint64_t process, bool write, bool *again,
					unsigned int *evictions, bool *dirty);

#endif
