/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace taken apart, of which all but one process is left out, for the oracle. */
#include "oracle_schedule.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_there(const struct oracle_split *split, int task, uint64_t process)
{
	return task != 0 && split->task[task].process == process;
}

/* The wait was for somebody: if for one who is not there, it takes as long as it did. */
static void change_wait(const struct oracle_split *split, uint64_t process, uint64_t since,
			enum oracle_wait *wait, uint64_t *number)
{
	for (size_t i = 0; i < split->count && *wait == WAIT_WAKE; i++) {
		const struct oracle_record *record = &split->record[i];

		if (record->wake != *number)
			continue;
		if (!is_there(split, record->task, process)) {
			*wait = WAIT_CYCLES;
			*number = record->item->event.cycle - since;
		}
		return;
	}
}

void oracle_alone(const struct oracle_split *split, uint64_t process, struct oracle_split *alone)
{
	*alone = *split;
	alone->count = 0;
	alone->record = calloc(split->count + 1, sizeof(*alone->record));
	if (alone->record == NULL) {
		(void)fprintf(stderr, "oracle: no memory\n");
		abort();
	}
	for (size_t i = 0; i < split->count; i++) {
		struct oracle_record *record = &alone->record[alone->count];

		if (!is_there(split, split->record[i].task, process))
			continue;
		*record = split->record[i];
		if (record->item->is_event)
			change_wait(split, process, record->item->event.cycle, &record->wait,
				    &record->number);
		if (!is_there(split, record->child, process))
			record->child = 0;
		alone->count++;
	}
	for (int task = 0; task < split->tasks; task++) {
		struct oracle_split_task *t = &alone->task[task];

		if (!is_there(split, task, process))
			t->records = 0;
		if (!is_there(split, t->parent, process))
			t->parent = 0;
		change_wait(split, process, split->first_cycle, &t->wait, &t->number);
	}
}
