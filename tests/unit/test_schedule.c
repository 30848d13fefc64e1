/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads scheduled again: the recorded order gives what was recorded; the books balance on any
 * machine; and small guests, whose times are worked out by hand.
 */
#include "threads.h"

#include <laplace/schedule.h>

/* ---- streams ---- */

static struct lpl_schedule *open_schedule(void)
{
	struct lpl_schedule *schedule;
	struct lpl_report report = {0};

	assert_int_equal(lpl_schedule_open(&schedule, NULL, &report), LPL_OK);
	return schedule;
}

static void run_machine(struct lpl_schedule *schedule, const struct lpl_machine *machine,
			struct lpl_sink *next)
{
	struct lpl_report report = {0};
	const enum lpl_error error = lpl_schedule_run(schedule, machine, next, &report);

	if (error != LPL_OK)
		print_error("%s\n", report.text);
	assert_int_equal(error, LPL_OK);
}

static void canonical_of(struct stream *stream, uint64_t seed, size_t records)
{
	struct lpl_merge_output *output;
	struct lpl_merge *merge;

	stream_init(stream);
	assert_int_equal(lpl_merge_canonical_open(&output, &stream->sink, NULL), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge, output, NULL, NULL), LPL_OK);
	play_threads(lpl_merge_sink(merge), seed, records);
	lpl_merge_close(merge);
	lpl_merge_canonical_close(output);
}

static void assert_same_stream(const struct stream *one, const struct stream *other)
{
	const size_t count = one->count < other->count ? one->count : other->count;

	assert_int_equal(stream_difference(one, other, count), count);
	assert_int_equal(one->count, other->count);
	assert_true(one->finished && other->finished);
}

/* ---- the recorded order ---- */

static void recorded_is_what_was_recorded(void **state)
{
	static const struct lpl_machine machine = {.cpus = 1};

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct lpl_schedule *schedule = open_schedule();
		const size_t records = seed % 20 == 0 ? 100000 : 40 * seed;
		struct stream expected, made;

		canonical_of(&expected, seed, records);
		play_threads(lpl_schedule_sink(schedule), seed, records);
		for (int again = 0; again < 2; again++) {
			stream_init(&made);
			run_machine(schedule, &machine, &made.sink);
			assert_same_stream(&expected, &made);
			stream_free(&made);
		}
		lpl_schedule_close(schedule);
		stream_free(&expected);
	}
}

/* The same of a trace whose pages are canonical already. */
static void recorded_of_a_canonical_trace(void **state)
{
	static const struct lpl_machine machine = {.cpus = 1};
	struct stream canonical, made;

	(void)state;
	canonical_of(&canonical, 7, 5000);
	for (int again = 0; again < 2; again++) {
		struct lpl_schedule *schedule = open_schedule();
		struct lpl_sink *sink = lpl_schedule_sink(schedule);

		stream_init(&made);
		stream_send(&canonical, 0, canonical.count, sink, 5, NULL);
		assert_int_equal(sink->finish(sink, NULL), LPL_OK);
		run_machine(schedule, &machine, &made.sink);
		assert_same_stream(&canonical, &made);
		stream_free(&made);
		lpl_schedule_close(schedule);
	}
	stream_free(&canonical);
}

/* ---- any machine ---- */

static int some_priority(void *context, const struct lpl_schedule_task *task)
{
	(void)context;
	return (int)(task->tid % 3);
}

static struct lpl_machine any_machine(uint64_t *random)
{
	static const char *const policies[] = {"lru", "clock", "segq", "fbr", "glru", "eelru", "seq"};
	struct lpl_machine machine = {
		.cpus = 1 + (unsigned int)(next_random(random) % 4),
		.scheduler = (enum lpl_scheduler)(1 + next_random(random) % 3),
		.quantum = next_random(random) % 200,
		.quantum_instructions = next_random(random) % 2 != 0,
		.switch_cycles = next_random(random) % 3 * 5,
		.memory = (enum lpl_memory_kind)(next_random(random) % 3),
		.pages = 6 + next_random(random) % 30,
		.fault_cycles = next_random(random) % 3 * 150,
		.write_cycles = next_random(random) % 2 * 70,
		.devices = (unsigned int)(next_random(random) % 3),
		.priority = some_priority
	};

	if (machine.memory == LPL_MEMORY_GLOBAL)
		machine.policy = policies[next_random(random) % 7];
	return machine;
}

static void assert_books(const struct lpl_schedule *schedule, const struct lpl_machine *machine)
{
	const struct lpl_schedule_result *result = lpl_schedule_result(schedule);
	const struct lpl_schedule_trace *trace = lpl_schedule_trace(schedule);
	uint64_t references = 0, faults = 0, running = 0, switching = 0;

	for (size_t i = 0; i < lpl_schedule_tasks(schedule); i++) {
		const struct lpl_schedule_task *task = lpl_schedule_task(schedule, i);

		assert_int_equal(task->running + task->ready + task->paging + task->waiting,
				 task->end - task->begin);
		assert_true(task->end <= result->end);
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
	for (size_t i = 0; i < lpl_schedule_processes(schedule); i++)
		references -= lpl_schedule_process(schedule, i)->references;
	assert_int_equal(references, 0);
}

static void books_balance(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct lpl_schedule *schedule = open_schedule();
		uint64_t random = seed;

		play_threads(lpl_schedule_sink(schedule), seed, 3000);
		for (int i = 0; i < 20; i++) {
			const struct lpl_machine machine = any_machine(&random);

			run_machine(schedule, &machine, NULL);
			assert_books(schedule, &machine);
		}
		lpl_schedule_close(schedule);
	}
}

/* The trace that a machine makes is one: numbers rise, and every task's records are all there. */
static void remade_traces_are_traces(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct lpl_schedule *schedule = open_schedule();
		uint64_t random = seed, references = 0, ref = 0, cycle = 0, instr = 0;
		struct stream made;
		struct lpl_machine machine;
		uint32_t runs = 0;

		play_threads(lpl_schedule_sink(schedule), seed, 3000);
		machine = any_machine(&random);
		machine.cpus = 1;
		stream_init(&made);
		run_machine(schedule, &machine, &made.sink);
		for (size_t i = 0; i < made.count; i++) {
			const struct item *item = &made.items[i];

			if (!item->is_event) {
				assert_true(item->ref.ref > ref);
				references++;
			}
			assert_true(item->is_event ? item->event.ref >= ref ||
				    item->event.tag == LPL_EVENT_PAGE : true);
			ref = item->is_event ? item->event.ref : item->ref.ref;
			assert_true((item->is_event ? item->event.cycle : item->ref.cycle) >= cycle);
			cycle = item->is_event ? item->event.cycle : item->ref.cycle;
			assert_true((item->is_event ? item->event.instr : item->ref.instr) >= instr);
			instr = item->is_event ? item->event.instr : item->ref.instr;
			if (!item->is_event)
				continue;
			if (item->event.tag == KTR_SCHEDULE) {
				assert_int_equal(item->event.arg[KTR_SCHEDULE_PREVIOUS_TID], runs);
				runs = (uint32_t)item->event.arg[KTR_SCHEDULE_NEXT_TID];
			} else {
				assert_int_equal(item->event.tid, runs);
			}
		}
		assert_int_equal(references, lpl_schedule_result(schedule)->references);
		stream_free(&made);
		lpl_schedule_close(schedule);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_is_what_was_recorded),
		cmocka_unit_test(recorded_of_a_canonical_trace),
		cmocka_unit_test(books_balance),
		cmocka_unit_test(remade_traces_are_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
