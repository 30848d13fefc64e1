/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads scheduled again: small guests, all together and each process alone, their times worked out by hand. */
#include "schedule_guest.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		cmocka_unit_test(alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
