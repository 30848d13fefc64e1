/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads scheduled again: the recorded order gives what was recorded; the books balance on any
 * machine; and small guests, their times worked out by hand.
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
	static const char *const policies[] = {"lru", "clock", "segq", "fbr", "glru", "eelru", "seq",
		"2q", "arc", "car", "lirs", "clockpro", "sieve", "s3fifo", "lfu", "mru", "random"};
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

static void assert_books(const struct lpl_schedule *schedule, const struct lpl_machine *machine)
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

/* ---- small guests ---- */

/*
 * Tasks 1 and 2 of a process, of which the trace shows no creation.  1 runs for 100 cycles, with a
 * reference every 10, and then waits; 2 runs for 60, wakes 1, runs on for 40, and waits for an
 * interrupt, which comes after 50 cycles of the idle task.
 */
static void play_two(struct guest *guest)
{
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	for (uint64_t i = 0; i < 10; i++)
		guest_ref(guest, 10, 16 + i, LPL_WRITE);
	guest_schedule(guest, 0, KTR_STATE_SLEEPING, 2);
	for (uint64_t i = 0; i < 6; i++)
		guest_ref(guest, 10, 16 + i, LPL_READ);
	guest_wake(guest, 0, 1, KTR_CONTEXT_TASK);
	for (uint64_t i = 0; i < 4; i++)
		guest_ref(guest, 10, 16 + i, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_WAITING, 0);
	guest_ref(guest, 50, 99, LPL_READ);
	guest_wake(guest, 0, 2, KTR_CONTEXT_INTERRUPT);
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 2);
	guest_ref(guest, 10, 16, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 1);
	guest_ref(guest, 10, 16, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 0);
	guest_finish(guest);
}

static void what_is_in_a_trace(void **state)
{
	struct lpl_schedule *schedule = schedule_of(play_two);
	const struct lpl_schedule_trace *trace = lpl_schedule_trace(schedule);

	(void)state;
	assert_int_equal(trace->references, 23);
	assert_int_equal(trace->cycles, 270);
	assert_int_equal(trace->left_out_references, 1);
	assert_int_equal(trace->left_out_cycles, 50);
	assert_int_equal(trace->pages, 11);
	assert_int_equal(trace->waits, 2);
	assert_int_equal(trace->waits_guessed, 0);
	assert_int_equal(trace->left_waiting, 0);
	lpl_schedule_close(schedule);
}

/*
 * 2 was not woken before it ran, and no wake precedes that: it waited for 100 cycles.  On one
 * processor all is as it was, without the idle task's time.
 */
static void two_on_one_processor(void **state)
{
	static const struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR,
						   .quantum = 1000};
	struct lpl_schedule *schedule = schedule_of(play_two);

	(void)state;
	run_machine(schedule, &machine, NULL);
	/* 1 is woken at 160, and waits for the processor until 200, when 2 leaves it for 50 */
	assert_times(schedule, 0, (struct times){.end = 210, .running = 110, .ready = 40,
						 .waiting = 60, .dispatches = 2, .faults = 10});
	assert_times(schedule, 1, (struct times){.end = 260, .running = 110, .waiting = 150,
						 .dispatches = 2});
	assert_int_equal(lpl_schedule_result(schedule)->idle, 40);
	assert_int_equal(lpl_schedule_result(schedule)->switches, 4);
	lpl_schedule_close(schedule);
}

/* With two, 1 need not wait for 2 to leave. */
static void two_on_two_processors(void **state)
{
	static const struct lpl_machine machine = {.cpus = 2, .scheduler = LPL_SCHEDULER_FAIR,
						   .quantum = 1000, .switch_cycles = 3};
	struct lpl_schedule *schedule = schedule_of(play_two);

	(void)state;
	run_machine(schedule, &machine, NULL);
	/* 1 begins at 3 and waits at 103; 2 begins at 103 on the other and is at its wake at 163;
	 * 1 comes back to its processor, which ran no other task, but 2 comes to that, too */
	assert_times(schedule, 0, (struct times){.end = 173, .running = 110, .ready = 3,
						 .waiting = 60, .dispatches = 2, .faults = 10});
	assert_times(schedule, 1, (struct times){.end = 266, .running = 110, .ready = 6,
						 .waiting = 150, .dispatches = 2});
	assert_int_equal(lpl_schedule_result(schedule)->switches, 3);
	lpl_schedule_close(schedule);
}

static void guest_pass(struct guest *guest, uint64_t cycles, uint64_t pipe, bool taken)
{
	GUEST_EVENT(guest, cycles, "", KTR_PASS, 8, pipe, taken);
}

/*
 * 1 gives to a pipe after 40 cycles, and 2 after 20; 3 and 4 take, and never wait.  Another pipe is
 * nothing to them.
 */
static void play_pipe(struct guest *guest)
{
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	guest_wake(guest, 0, 2, KTR_CONTEXT_INTERRUPT);
	guest_ref(guest, 30, 16, LPL_WRITE);
	guest_pass(guest, 10, 5, false);
	guest_ref(guest, 100, 16, LPL_WRITE);
	guest_pass(guest, 0, 6, false);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 2);
	guest_ref(guest, 10, 17, LPL_WRITE);
	guest_pass(guest, 10, 5, false);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 3);
	for (uint32_t tid = 3; tid <= 4; tid++) {
		guest_pass(guest, 5, 5, true);
		guest_ref(guest, 10, 16, LPL_READ);
		guest_pass(guest, 0, 5, true);
		guest_ref(guest, 10, 17, LPL_READ);
		guest_schedule(guest, 0, KTR_STATE_DEAD, tid == 3 ? 4 : 0);
	}
	guest_finish(guest);
}

/* A task that takes comes after all that gave, each in its time. */
static void what_is_passed_on(void **state)
{
	static const struct lpl_machine machine = {.cpus = 4, .scheduler = LPL_SCHEDULER_RR,
						   .quantum = 1000};
	struct lpl_schedule *schedule = schedule_of(play_pipe);

	(void)state;
	run_machine(schedule, &machine, NULL);
	assert_times(schedule, 0, (struct times){.end = 140, .running = 140, .dispatches = 1,
						 .faults = 1});
	assert_times(schedule, 1, (struct times){.end = 20, .running = 20, .dispatches = 1,
						 .faults = 1});
	/* they take at 5, and wait until 20 for 2, and until 40 for 1 */
	for (size_t i = 2; i < 4; i++)
		assert_times(schedule, i, (struct times){.end = 60, .running = 25, .waiting = 35,
							 .dispatches = 3});
	assert_int_equal(lpl_schedule_trace(schedule)->waits, 0);
	lpl_schedule_close(schedule);
}

/* A page is written back before another comes; a device brings one at a time. */
static void faults_cost(void **state)
{
	static const struct lpl_machine machine = {
		.cpus = 1, .scheduler = LPL_SCHEDULER_RR, .policy = "lru", .pages = 1,
		.fault_cycles = 100, .write_cycles = 7, .devices = 1
	};
	struct lpl_schedule *schedule = schedule_of(play_two);
	const struct lpl_schedule_result *result = lpl_schedule_result(schedule);

	(void)state;
	run_machine(schedule, &machine, NULL);
	assert_int_equal(result->cold, 10);
	assert_int_equal(result->evictions, result->faults - 1);
	assert_int_equal(result->device_busy, 100 * result->faults + 7 * result->dirty_evictions);
	assert_true(result->dirty_evictions >= 9);
	assert_true(result->idle_paging > 0);
	assert_true(result->end >= result->device_busy);
	assert_books(schedule, &machine);
	lpl_schedule_close(schedule);
}

/* The order of the trace: no task runs while a page is on its way. */
static void recorded_stalls(void **state)
{
	static const struct lpl_machine machine = {.cpus = 1, .pages = 64, .fault_cycles = 1000};
	struct lpl_schedule *schedule = schedule_of(play_two);
	const struct lpl_schedule_result *result = lpl_schedule_result(schedule);

	(void)state;
	run_machine(schedule, &machine, NULL);
	assert_int_equal(result->faults, 11);
	assert_int_equal(result->idle, 11000);
	assert_int_equal(result->idle_paging, 11000);
	assert_int_equal(result->end, 11270);
	assert_int_equal(result->busy, 270);
	assert_int_equal(lpl_schedule_tasks(schedule), 3);
	/* 1 until 10100, 2 until 10200, idle until 11250, 2 until 11260, 1 */
	assert_times(schedule, 1, (struct times){.end = 11270, .running = 110, .paging = 10000,
						 .waiting = 1160, .dispatches = 2, .faults = 10});
	assert_times(schedule, 2, (struct times){.end = 11260, .running = 110, .ready = 10100,
						 .waiting = 1050, .dispatches = 2});
	lpl_schedule_close(schedule);
}

/* Two tasks that run for 100 cycles each, by turns of 10 here, and of 40 there. */
static void play_rivals(struct guest *guest)
{
	for (uint32_t turn = 0; turn < 10; turn++)
		for (uint32_t tid = 1; tid <= 2; tid++) {
			guest_schedule(guest, 0, KTR_STATE_RUNNABLE, tid);
			if (turn == 0 && tid == 1)
				guest_wake(guest, 0, 2, KTR_CONTEXT_INTERRUPT);
			guest_ref(guest, 10, 16 + tid, LPL_READ);
		}
	guest_schedule(guest, 0, KTR_STATE_DEAD, 1);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 0);
	guest_finish(guest);
}

static void quanta(void **state)
{
	struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR, .quantum = 40};
	struct lpl_schedule *schedule = schedule_of(play_rivals);

	(void)state;
	run_machine(schedule, &machine, NULL);
	/* 40 40 40 40 20 20; at the end of a quantum the other one runs, until it is alone */
	assert_times(schedule, 0, (struct times){.end = 180, .running = 100, .ready = 80,
						 .dispatches = 3, .preemptions = 2, .faults = 1});
	assert_times(schedule, 1, (struct times){.end = 200, .running = 100, .ready = 100,
						 .dispatches = 3, .preemptions = 2, .faults = 1});
	/* nor does one preempt another of its number */
	machine.scheduler = LPL_SCHEDULER_PRIORITY;
	run_machine(schedule, &machine, NULL);
	assert_times(schedule, 0, (struct times){.end = 180, .running = 100, .ready = 80,
						 .dispatches = 3, .preemptions = 2, .faults = 1});
	/* 40 80 60 20: whoever has run as long as the other goes on */
	machine.scheduler = LPL_SCHEDULER_FAIR;
	run_machine(schedule, &machine, NULL);
	assert_times(schedule, 0, (struct times){.end = 180, .running = 100, .ready = 80,
						 .dispatches = 2, .preemptions = 1, .faults = 1});
	assert_times(schedule, 1, (struct times){.end = 200, .running = 100, .ready = 100,
						 .dispatches = 2, .preemptions = 1, .faults = 1});
	machine.scheduler = LPL_SCHEDULER_RR;
	/* half as many instructions pass as cycles */
	machine.quantum = 20;
	machine.quantum_instructions = true;
	run_machine(schedule, &machine, NULL);
	assert_times(schedule, 0, (struct times){.end = 180, .running = 100, .ready = 80,
						 .dispatches = 3, .preemptions = 2, .faults = 1});
	/* within a record: 15 15 ... 10 10 */
	machine.quantum = 15;
	machine.quantum_instructions = false;
	run_machine(schedule, &machine, NULL);
	assert_times(schedule, 1, (struct times){.end = 200, .running = 100, .ready = 100,
						 .dispatches = 7, .preemptions = 6, .faults = 1});
	/* without one, each runs to its end */
	machine.quantum = 0;
	run_machine(schedule, &machine, NULL);
	assert_times(schedule, 0, (struct times){.end = 100, .running = 100, .dispatches = 1,
						 .faults = 1});
	lpl_schedule_close(schedule);
}

static int second_first(void *context, const struct lpl_schedule_task *task)
{
	(void)context;
	return task->tid == 2 ? -5 : 3;
}

/* 2 is woken at once, and preempts 1, whatever the quantum. */
static void priorities(void **state)
{
	const struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_PRIORITY,
					    .quantum = 30, .priority = second_first};
	struct lpl_schedule *schedule = schedule_of(play_rivals);

	(void)state;
	run_machine(schedule, &machine, NULL);
	assert_times(schedule, 0, (struct times){.end = 200, .running = 100, .ready = 100,
						 .dispatches = 2, .preemptions = 1, .faults = 1});
	assert_times(schedule, 1, (struct times){.end = 100, .running = 100, .dispatches = 1,
						 .faults = 1});
	lpl_schedule_close(schedule);
}

/* Process 1 touches ten pages by turns, process 5 one, again and again, in a memory of eight. */
static void play_shares(struct guest *guest)
{
	for (uint64_t i = 0; i < 200; i++) {
		guest_schedule(guest, 0, KTR_STATE_RUNNABLE, i % 4 != 3 ? 1 : 5);
		guest_ref(guest, 10, i % 4 != 3 ? 16 + i % 10 : 99, LPL_READ);
	}
	guest_finish(guest);
}

/* A process below its share keeps its pages. */
static void shares(void **state)
{
	struct lpl_machine machine = {.cpus = 1, .pages = 4};
	struct lpl_schedule *schedule = schedule_of(play_shares);

	(void)state;
	machine.memory = LPL_MEMORY_LOCAL_EQUAL;
	run_machine(schedule, &machine, NULL);
	assert_int_equal(lpl_schedule_tasks(schedule), 3);
	assert_int_equal(lpl_schedule_task(schedule, 1)->references, 150);
	assert_int_equal(lpl_schedule_task(schedule, 2)->references, 50);
	assert_int_equal(lpl_schedule_task(schedule, 2)->faults, 1);
	machine.memory = LPL_MEMORY_GLOBAL;
	machine.pages = 3;
	run_machine(schedule, &machine, NULL);
	assert_int_equal(lpl_schedule_task(schedule, 2)->faults, 50);
	lpl_schedule_close(schedule);
}

/* Process 1 fills the memory; process 5 comes with two pages, which are its share. */
static void play_latecomer(struct guest *guest)
{
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	for (uint64_t i = 0; i < 4; i++)
		guest_ref(guest, 10, 16 + i, LPL_WRITE);
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 5);
	for (uint64_t i = 0; i < 20; i++)
		guest_ref(guest, 10, 98 + i % 2, LPL_READ);
	guest_finish(guest);
}

static void below_its_share(void **state)
{
	static const struct lpl_machine machine = {
		.cpus = 1, .pages = 4, .memory = LPL_MEMORY_LOCAL_EQUAL
	};
	struct lpl_schedule *schedule = schedule_of(play_latecomer);

	(void)state;
	run_machine(schedule, &machine, NULL);
	assert_int_equal(lpl_schedule_task(schedule, 2)->faults, 2);
	assert_int_equal(lpl_schedule_result(schedule)->evictions, 2);
	assert_int_equal(lpl_schedule_result(schedule)->dirty_evictions, 2);
	lpl_schedule_close(schedule);
}

/* Without a limit, local memory is as large as any. */
static void no_limit(void **state)
{
	struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR};
	struct lpl_schedule *schedule = schedule_of(play_shares);

	(void)state;
	for (enum lpl_memory_kind kind = LPL_MEMORY_GLOBAL; kind <= LPL_MEMORY_PFF; kind++) {
		machine.memory = kind;
		machine.window = kind >= LPL_MEMORY_WS ? 1000000 : 0;
		run_machine(schedule, &machine, NULL);
		assert_int_equal(lpl_schedule_result(schedule)->faults, 11);
		assert_int_equal(lpl_schedule_result(schedule)->evictions, 0);
	}
	lpl_schedule_close(schedule);
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

/* ---- a process alone ---- */

/*
 * Process 1 runs for 50 cycles, makes 2, runs for 20 and waits for process 5, which needs 30; 2 waits
 * for 1 meanwhile, as the 10 cycles that 1 then runs are before its wake.
 */
static void play_helped(struct guest *guest)
{
	guest->tids = 1;
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	guest_ref(guest, 50, 16, LPL_WRITE);
	(void)guest_create(guest, 0);
	guest_ref(guest, 20, 17, LPL_WRITE);
	guest_schedule(guest, 0, KTR_STATE_SLEEPING, 2);
	guest_ref(guest, 5, 18, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_SLEEPING, 5);
	guest_ref(guest, 30, 16, LPL_READ);
	guest_wake(guest, 0, 1, KTR_CONTEXT_TASK);
	guest_ref(guest, 40, 17, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 1);
	guest_ref(guest, 10, 16, LPL_READ);
	guest_wake(guest, 0, 2, KTR_CONTEXT_TASK);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 2);
	guest_ref(guest, 10, 16, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 0);
	guest_finish(guest);
}

static void alone(void **state)
{
	struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR};
	struct lpl_schedule *schedule = schedule_of(play_helped);
	uint64_t cycles, end;

	(void)state;
	run_machine(schedule, &machine, NULL);
	end = lpl_schedule_result(schedule)->end;
	/* 70 until it waits, 35 that this took, 10, and those of 2 after it */
	assert_int_equal(lpl_schedule_run_alone(schedule, &machine, 1, &cycles, NULL), LPL_OK);
	assert_int_equal(cycles, 70 + 35 + 10 + 10);
	/* the other waited for 75 cycles before it ran at first, and no event says for what */
	assert_int_equal(lpl_schedule_run_alone(schedule, &machine, 2, &cycles, NULL), LPL_OK);
	assert_int_equal(cycles, 75 + 70);
	/* of its three pages two are waited for one after the other, the third meanwhile */
	machine.fault_cycles = 1000;
	assert_int_equal(lpl_schedule_run_alone(schedule, &machine, 1, &cycles, NULL), LPL_OK);
	assert_int_equal(cycles, 2000 + 70 + 35 + 10 + 10);
	assert_int_equal(lpl_schedule_result(schedule)->end, end);
	assert_int_equal(lpl_schedule_result(schedule)->references, 7);
	/* what is not run so */
	assert_int_equal(lpl_schedule_run_alone(schedule, &machine, 0, &cycles, NULL),
			 LPL_ERR_USAGE);
	assert_int_equal(lpl_schedule_run_alone(schedule, &machine, 3, &cycles, NULL),
			 LPL_ERR_USAGE);
	machine.scheduler = LPL_SCHEDULER_RECORDED;
	assert_int_equal(lpl_schedule_run_alone(schedule, &machine, 1, &cycles, NULL),
			 LPL_ERR_USAGE);
	lpl_schedule_close(schedule);
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
		cmocka_unit_test(what_is_in_a_trace),
		cmocka_unit_test(two_on_one_processor),
		cmocka_unit_test(two_on_two_processors),
		cmocka_unit_test(what_is_passed_on),
		cmocka_unit_test(faults_cost),
		cmocka_unit_test(recorded_stalls),
		cmocka_unit_test(quanta),
		cmocka_unit_test(priorities),
		cmocka_unit_test(shares),
		cmocka_unit_test(below_its_share),
		cmocka_unit_test(no_limit),
		cmocka_unit_test(what_is_seen),
		cmocka_unit_test(alone),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
