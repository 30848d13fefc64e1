/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle's trace of one process: all other tasks are left out of it, and what waited for them. */
#include "oracle_schedule.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_of(const struct oracle_split *all, int task, uint64_t process)
{
	return task != 0 && all->task[task].process == process;
}

/* A wait for another process's task takes the time that it took in the trace, where it began before record `from`. */
static void wait_alone(const struct oracle_split *all, uint64_t process, size_t from,
		       enum oracle_wait *wait, uint64_t *number)
{
	const struct oracle_record *wake = all->record;
	uint64_t cycles = 0;

	if (*wait != WAIT_WAKE)
		return;
	while (wake->wake != *number)
		wake++;
	if (is_of(all, wake->task, process))
		return;
	for (const struct oracle_record *record = &all->record[from]; record <= wake; record++)
		cycles += record->dcycle;
	*wait = WAIT_CYCLES;
	*number = cycles;
}

/* Nor does it take anything from one. */
static void take_alone(const struct oracle_split *all, uint64_t process,
		       struct oracle_record *record)
{
	int takes = 0;

	for (int i = 0; i < record->takes; i++)
		if (is_of(all, record->giver[i], process))
			record->take[takes++] = record->take[i];
	record->takes = takes;
}

void oracle_split_alone(const struct oracle_split *all, uint64_t process,
			struct oracle_split *alone)
{
	*alone = *all;
	alone->count = 0;
	alone->record = calloc(all->count + 1, sizeof(*alone->record));
	if (alone->record == NULL) {
		(void)fprintf(stderr, "oracle: no memory\n");
		abort();
	}
	for (size_t i = 0; i < all->count; i++) {
		struct oracle_record record = all->record[i];

		if (!is_of(all, record.task, process))
			continue;
		if (record.leaves)
			wait_alone(all, process, i + 1, &record.wait, &record.number);
		take_alone(all, process, &record);
		alone->record[alone->count++] = record;
	}
	for (int task = 0; task < all->tasks; task++) {
		struct oracle_split_task *t = &alone->task[task];

		if (!is_of(all, task, process))
			t->records = 0;
		if (!is_of(all, t->parent, process))
			t->parent = 0;
		wait_alone(all, process, 0, &t->wait, &t->number);
	}
}
