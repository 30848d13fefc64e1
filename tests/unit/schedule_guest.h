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

/* The times and counts of all tasks, of the machine and of the trace add up. */
static inline void assert_books(const struct lpl_schedule *schedule, const struct lpl_machine *machine)
{
	const struct lpl_schedule_result *result = lpl_schedule_result(schedule);
	const struct lpl_schedule_trace *trace = lpl_schedule_trace(schedule);
	uint64_t references = 0, faults = 0, running = 0, switching = 0, deactivations = 0;

	for (size_t i = 0; i < lpl_schedule_tasks(schedule); i++) {
		const struct lpl_schedule_task *task = lpl_schedule_task(schedule, i);

		assert_int_equal(task->running + task->ready + task->paging + task->waiting,
				 task->end - task->begin);
		assert_true(task->end <= result->end);
		assert_true(task->suspended + task->switching <= task->ready);
		assert_int_equal(task->deactivations, 0);
		assert_true(task->cold <= task->faults);
		references += task->references;
		faults += task->faults;
		running += task->running;
		switching += task->switching;
	}
	assert_int_equal(running, result->busy);
	assert_int_equal(switching, result->switching);
	assert_int_equal(result->busy + result->switching + result->idle,
			 machine->cpus * result->end);
	assert_true(result->idle_paging <= result->idle);
	assert_int_equal(references, trace->references - trace->left_out_references);
	assert_int_equal(running, trace->cycles - trace->left_out_cycles);
	assert_int_equal(faults, result->faults);
	for (size_t i = 0; i < lpl_schedule_processes(schedule); i++) {
		references -= lpl_schedule_process(schedule, i)->references;
		deactivations += lpl_schedule_process(schedule, i)->deactivations;
	}
	assert_int_equal(references, 0);
	assert_int_equal(deactivations, result->deactivations);
}

#endif
