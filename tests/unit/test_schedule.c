/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads scheduled again: the recorded order gives what was recorded; the books balance on any
 * machine, and what is seen of it adds up.  Small guests are in test_schedule_guests.c.
 */
#include "schedule_guest.h"

/* ---- streams ---- */

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

/* The same of a trace with pages that are canonical already. */
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
	static const char *const policies[] = {"lru", "fifo", "clock", "segq", "fbr", "glru", "eelru",
		"seq", "2q", "arc", "car", "lirs", "clockpro", "sieve", "s3fifo", "lfu", "mru", "random"};
	struct lpl_machine machine = {
		.cpus = 1 + (unsigned int)(next_random(random) % 4),
		.scheduler = (enum lpl_scheduler)(1 + next_random(random) % 3),
		.quantum = next_random(random) % 200,
		.quantum_instructions = next_random(random) % 2 != 0,
		.switch_cycles = next_random(random) % 3 * 5,
		.memory = (enum lpl_memory_kind)(next_random(random) % 5),
		.pages = 6 + next_random(random) % 30,
		.fault_cycles = next_random(random) % 3 * 150,
		.write_cycles = next_random(random) % 2 * 70,
		.devices = (unsigned int)(next_random(random) % 3),
		.priority = some_priority
	};

	if (machine.memory == LPL_MEMORY_GLOBAL)
		machine.policy = policies[next_random(random) % 7];
	if (machine.memory == LPL_MEMORY_WS || machine.memory == LPL_MEMORY_PFF)
		machine.window = 1 + next_random(random) % 2000;
	return machine;
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

/* ---- observers ---- */

struct watcher {
	struct lpl_schedule_observer observer;
	uint64_t now, faults;
	enum lpl_schedule_state state[THREADS + 2];
	bool known[THREADS + 2];
	uint64_t since[THREADS + 2], time[THREADS + 2][LPL_SCHEDULE_ENDED + 1];
};

static void watch_state(struct lpl_schedule_observer *observer, const struct lpl_schedule_task *task,
			enum lpl_schedule_state to, uint64_t cycle)
{
	struct watcher *watcher = (struct watcher *)observer;
	const uint64_t i = task->serial;

	assert_true(cycle >= watcher->now && i < THREADS + 2);
	watcher->now = cycle;
	if (watcher->known[i])
		watcher->time[i][watcher->state[i]] += cycle - watcher->since[i];
	watcher->known[i] = true;
	watcher->state[i] = to;
	watcher->since[i] = cycle;
}

static void watch_fault(struct lpl_schedule_observer *observer, const struct lpl_schedule_task *task,
			uint64_t cycle)
{
	struct watcher *watcher = (struct watcher *)observer;

	assert_true(cycle >= watcher->now && task->faults != 0);
	assert_int_equal(watcher->state[task->serial], LPL_SCHEDULE_RUNNING);
	watcher->now = cycle;
	watcher->faults++;
}

/* What is seen adds up to the results, on any machine. */
static void what_is_seen(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct lpl_schedule *schedule = open_schedule();
		uint64_t random = seed;

		play_threads(lpl_schedule_sink(schedule), seed, 2000);
		for (int i = 0; i < 10; i++) {
			struct watcher watcher = {.observer = {watch_state, watch_fault}};
			struct lpl_machine machine = any_machine(&random);

			if (i == 0) {
				machine.scheduler = LPL_SCHEDULER_RECORDED;
				machine.cpus = 1;
				machine.memory = LPL_MEMORY_GLOBAL;
				machine.window = 0;
			}
			machine.observer = &watcher.observer;
			run_machine(schedule, &machine, NULL);
			assert_int_equal(watcher.faults, lpl_schedule_result(schedule)->faults);
			assert_int_equal(watcher.now, lpl_schedule_result(schedule)->end);
			for (size_t j = 0; j < lpl_schedule_tasks(schedule); j++) {
				const struct lpl_schedule_task *task = lpl_schedule_task(schedule, j);
				const uint64_t *time = watcher.time[task->serial];

				assert_int_equal(watcher.state[task->serial], LPL_SCHEDULE_ENDED);
				assert_int_equal(time[LPL_SCHEDULE_READY] + time[LPL_SCHEDULE_SUSPENDED], task->ready);
				assert_int_equal(time[LPL_SCHEDULE_SUSPENDED], task->suspended);
				assert_int_equal(time[LPL_SCHEDULE_RUNNING], task->running);
				assert_int_equal(time[LPL_SCHEDULE_PAGING], task->paging);
				assert_int_equal(time[LPL_SCHEDULE_WAITING], task->waiting);
			}
		}
		lpl_schedule_close(schedule);
	}
}

/* ---- machines that there are not ---- */

static void refusals(void **state)
{
	static const struct lpl_machine wrong[] = {
		{.cpus = 0}, {.cpus = LPL_MOST_CPUS + 1, .scheduler = LPL_SCHEDULER_RR},
		{.cpus = 2}, {.cpus = 1, .scheduler = (enum lpl_scheduler)9},
		{.cpus = 1, .memory = (enum lpl_memory_kind)9}, {.cpus = 1, .window = 4},
		{.cpus = 1, .policy = "opt", .pages = 4}, {.cpus = 1, .policy = "ws", .pages = 4},
		{.cpus = 1, .policy = "nonesuch"}, {.cpus = 1, .policy = "segq:fifo=9", .pages = 4},
		{.cpus = 1, .policy = "lru", .memory = LPL_MEMORY_LOCAL_EQUAL, .pages = 4},
		{.cpus = 1, .devices = 1000000},
		{.cpus = 1, .memory = LPL_MEMORY_WS, .window = 5},	/* recorded */
		{.cpus = 1, .memory = LPL_MEMORY_WS, .scheduler = LPL_SCHEDULER_RR},
		{.cpus = 1, .memory = LPL_MEMORY_PFF, .scheduler = LPL_SCHEDULER_RR},
		{.cpus = 1, .memory = LPL_MEMORY_LOCAL_EQUAL, .window = 5,
		 .scheduler = LPL_SCHEDULER_RR},
		{.cpus = 1, .memory = LPL_MEMORY_PFF, .window = LPL_LONGEST_SCHEDULE + 1,
		 .scheduler = LPL_SCHEDULER_RR},
		{.cpus = 1, .memory = LPL_MEMORY_WS, .window = 5, .policy = "lru",
		 .scheduler = LPL_SCHEDULER_RR}
	};
	struct lpl_machine machine = {.cpus = 2, .scheduler = LPL_SCHEDULER_RR};
	struct lpl_schedule *schedule = open_schedule();
	struct lpl_sink *sink = lpl_schedule_sink(schedule);
	struct stream stream;

	(void)state;
	machine.cpus = 1;
	assert_int_equal(lpl_schedule_run(schedule, &machine, NULL, NULL), LPL_ERR_USAGE);
	assert_int_equal(sink->finish(sink, NULL), LPL_OK);
	run_machine(schedule, &machine, NULL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(lpl_schedule_run(schedule, &wrong[i], NULL, NULL), LPL_ERR_USAGE);
	machine.cpus = 2;
	stream_init(&stream);
	assert_int_equal(lpl_schedule_run(schedule, &machine, &stream.sink, NULL), LPL_ERR_USAGE);
	stream_free(&stream);
	lpl_schedule_close(schedule);
	lpl_schedule_close(NULL);
	assert_int_equal(lpl_schedule_open(&schedule, "/nonexistent", NULL), LPL_ERR_IO);
	assert_null(lpl_scheduler_name((enum lpl_scheduler)9));
	assert_string_equal(lpl_memory_kind_name(LPL_MEMORY_LOCAL_EQUAL), "local-equal");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_is_what_was_recorded),
		cmocka_unit_test(recorded_of_a_canonical_trace),
		cmocka_unit_test(books_balance),
		cmocka_unit_test(remade_traces_are_traces),
		cmocka_unit_test(what_is_seen),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
