/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A small guest's threads scheduled again, and what has become of each, worked out by hand. */
#ifndef LAPLACE_TESTS_SCHEDULE_GUEST_H
#define LAPLACE_TESTS_SCHEDULE_GUEST_H

#include "threads.h"

#include <laplace/schedule.h>

static inline struct lpl_schedule *open_schedule(void)
{
	struct lpl_schedule *schedule;
	struct lpl_report report = {0};

	assert_int_equal(lpl_schedule_open(&schedule, NULL, &report), LPL_OK);
	return schedule;
}

static inline void run_machine(struct lpl_schedule *schedule, const struct lpl_machine *machine,
			struct lpl_sink *next)
{
	struct lpl_report report = {0};
	const enum lpl_error error = lpl_schedule_run(schedule, machine, next, &report);

	if (error != LPL_OK)
		print_error("%s\n", report.text);
	assert_int_equal(error, LPL_OK);
}

static inline struct lpl_schedule *schedule_of(void (*play)(struct guest *guest))
{
	struct lpl_schedule *schedule = open_schedule();
	struct guest guest;

	guest_begin(&guest, lpl_schedule_sink(schedule), 1);
	play(&guest);
	return schedule;
}

struct times {
	uint64_t end, running, ready, paging, waiting, dispatches, preemptions, faults;
};

static inline void assert_times(const struct lpl_schedule *schedule, size_t i, struct times times)
{
	const struct lpl_schedule_task *task = lpl_schedule_task(schedule, i);

	assert_int_equal(task->running, times.running);
	assert_int_equal(task->ready, times.ready);
	assert_int_equal(task->paging, times.paging);
	assert_int_equal(task->waiting, times.waiting);
	assert_int_equal(task->end, times.end);
	assert_int_equal(task->dispatches, times.dispatches);
	assert_int_equal(task->preemptions, times.preemptions);
	assert_int_equal(task->faults, times.faults);
}

#endif
