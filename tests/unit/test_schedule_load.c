/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory by working sets and by page-fault frequency, and load control: which process is left out, and
 * when it comes back, worked out by hand.
 */
#include "schedule_guest.h"

/* A process alone. */
static void play_working_set(struct guest *guest)
{
	static const struct {
		uint64_t cycles, page;
	} refs[] = {{10, 16}, {10, 17}, {10, 18}, {10, 16}, {20, 17}, {4, 16}, {25, 16}};

	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++)
		guest_ref(guest, refs[i].cycles, refs[i].page,
			  i < 2 || i == 5 ? LPL_WRITE : LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 0);
	guest_finish(guest);
}

/* The time that a page takes is none of the process's. */
static void working_set(void **state)
{
	struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR,
				      .memory = LPL_MEMORY_WS, .window = 25, .write_cycles = 7,
				      .devices = 1};
	struct lpl_schedule *schedule = schedule_of(play_working_set);
	const struct lpl_schedule_result *result = lpl_schedule_result(schedule);

	(void)state;
	for (int i = 0; i < 2; i++) {
		machine.fault_cycles = i == 0 ? 0 : 100;
		run_machine(schedule, &machine, NULL);
		/* 16 at 40 and 89 is 30 and 25 after its last reference, 17 at 60 is 40; at 64
		 * 16 is there.  The faults see 16; 17, 18; 17, 16 leave. */
		assert_int_equal(result->faults, 6);
		assert_int_equal(result->cold, 3);
		assert_int_equal(result->evictions, 5);
		assert_int_equal(result->dirty_evictions, 3);
		assert_int_equal(result->deactivations, 0);
	}
	/* the device writes what left before the page comes */
	assert_int_equal(result->device_busy, 6 * 100 + 3 * 7);
	machine.window = 1000;
	run_machine(schedule, &machine, NULL);
	assert_int_equal(result->faults, 3);
	assert_int_equal(result->evictions, 0);
	/* of two pages, without another process: the oldest leaves */
	machine.pages = 2;
	run_machine(schedule, &machine, NULL);
	assert_int_equal(result->faults, 5);
	assert_int_equal(result->evictions, 3);
	assert_int_equal(result->deactivations, 0);
	lpl_schedule_close(schedule);
}

static void play_frequency(struct guest *guest)
{
	static const struct {
		uint64_t cycles, page;
	} refs[] = {{10, 16}, {10, 17}, {40, 18}, {10, 16}, {30, 19}, {10, 17}, {10, 16}};

	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++)
		guest_ref(guest, refs[i].cycles, refs[i].page, LPL_READ);
	guest_finish(guest);
}

static void fault_frequency(void **state)
{
	static const struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR,
						   .memory = LPL_MEMORY_PFF, .window = 30};
	struct lpl_schedule *schedule = schedule_of(play_frequency);
	const struct lpl_schedule_result *result = lpl_schedule_result(schedule);

	(void)state;
	run_machine(schedule, &machine, NULL);
	/* at 60, 40 after the fault before, 16 leaves, and 17, referenced at that one, remains;
	 * at 100, exactly 30 after, 17 and 18 leave */
	assert_int_equal(result->faults, 6);
	assert_int_equal(result->cold, 4);
	assert_int_equal(result->evictions, 3);
	lpl_schedule_close(schedule);
}

/* Pages of the kernel's, which all processes have. */
#define SHARED UINT64_C(0xffff888000000)

/* While 1 waits its clock stands still.  Then 5 comes. */
static void play_heir(struct guest *guest)
{
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	guest_ref(guest, 40, SHARED + 16, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_SLEEPING, 0);
	guest_wake(guest, 300, 1, KTR_CONTEXT_INTERRUPT);
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	guest_ref(guest, 49, SHARED + 16, LPL_READ);
	guest_ref(guest, 1, SHARED + 17, LPL_READ);
	guest_ref(guest, 20, SHARED + 18, LPL_READ);
	guest_wake(guest, 40, 5, KTR_CONTEXT_INTERRUPT);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 5);
	guest_ref(guest, 10, SHARED + 17, LPL_READ);
	guest_ref(guest, 39, SHARED + 18, LPL_READ);
	guest_ref(guest, 50, SHARED + 18, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 0);
	guest_finish(guest);
}

/* What a process leaves when it ends is the kernel's, and the kernel's clock always goes on. */
static void heirs(void **state)
{
	static const struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR,
						   .memory = LPL_MEMORY_WS, .window = 50};
	struct lpl_schedule *schedule = schedule_of(play_heir);

	(void)state;
	run_machine(schedule, &machine, NULL);
	/* 16 is there at 389, 49 of its own after 40.  1 ends at 450, 60 after 17, which leaves, and
	 * 40 after 18, which is the kernel's then: it is there at 499, and no longer 50 after that. */
	assert_int_equal(lpl_schedule_task(schedule, 0)->faults, 3);
	assert_int_equal(lpl_schedule_task(schedule, 1)->faults, 2);
	lpl_schedule_close(schedule);
}

/* 1 and 5 have three pages each, and are there from the beginning. */
static void play_load(struct guest *guest)
{
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	guest_wake(guest, 0, 5, KTR_CONTEXT_INTERRUPT);
	guest_ref(guest, 10, 16, LPL_WRITE);
	guest_ref(guest, 15, 17, LPL_WRITE);
	guest_ref(guest, 15, 18, LPL_WRITE);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 5);
	guest_ref(guest, 10, 26, LPL_WRITE);
	guest_ref(guest, 40, 27, LPL_WRITE);
	guest_ref(guest, 10, 28, LPL_WRITE);
	guest_ref(guest, 10, 27, LPL_WRITE);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 0);
	guest_finish(guest);
}

/* A ready task is left out until the other one has ended. */
static void ready_one_is_left_out(void **state)
{
	static const struct lpl_machine machine = {
		.cpus = 1, .scheduler = LPL_SCHEDULER_RR, .memory = LPL_MEMORY_WS, .window = 1000,
		.pages = 2, .fault_cycles = 105, .write_cycles = 5, .devices = 2
	};
	struct lpl_schedule *schedule = schedule_of(play_load);
	const struct lpl_schedule_result *result = lpl_schedule_result(schedule);

	(void)state;
	run_machine(schedule, &machine, NULL);
	/*
	 * 10: 1 faults on 16.  20: 5 faults on 26.  115: 16 is there.  125: 26 is, and 5 is ready.
	 * 130: 1 faults on 17, and 26, which is dirty, leaves, and 5 is suspended.  240: 17 is there.
	 * 255: 1 faults on 18; no process can be left out, and 16 leaves.  365: 1 ends; 17 and 18
	 * are the kernel's, and 5 comes back as no other task is left.  405: 5 faults on 27, and
	 * 17 leaves.  525: it faults on 28, and 18 leaves.  645: 27 is there.
	 */
	assert_times(schedule, 0, (struct times){.end = 365, .running = 40, .paging = 325,
						 .dispatches = 4, .faults = 3});
	assert_times(schedule, 1, (struct times){.end = 645, .running = 70, .ready = 250,
						 .paging = 325, .dispatches = 4, .faults = 3});
	assert_int_equal(lpl_schedule_task(schedule, 1)->suspended, 235);
	assert_int_equal(lpl_schedule_process(schedule, 0)->deactivations, 0);
	assert_int_equal(lpl_schedule_process(schedule, 1)->deactivations, 1);
	assert_int_equal(lpl_schedule_process(schedule, 1)->suspended, 235);
	assert_int_equal(result->deactivations, 1);
	assert_int_equal(result->evictions, 4);
	assert_int_equal(result->dirty_evictions, 4);
	assert_int_equal(result->device_busy, 6 * 105 + 4 * 5);
	lpl_schedule_close(schedule);
}

/* One that runs on another processor is taken off in the midst of a record. */
static void running_one_is_left_out(void **state)
{
	static const struct lpl_machine machine = {
		.cpus = 2, .scheduler = LPL_SCHEDULER_FAIR, .memory = LPL_MEMORY_PFF,
		.window = 1000, .pages = 2
	};
	struct lpl_schedule *schedule = schedule_of(play_load);

	(void)state;
	run_machine(schedule, &machine, NULL);
	/* at 25 1 wants 17, and 5 is taken off until 40 */
	assert_times(schedule, 0, (struct times){.end = 40, .running = 40, .dispatches = 1,
						 .faults = 3});
	assert_times(schedule, 1, (struct times){.end = 85, .running = 70, .ready = 15,
						 .dispatches = 2, .faults = 3});
	assert_int_equal(lpl_schedule_task(schedule, 1)->suspended, 15);
	assert_int_equal(lpl_schedule_result(schedule)->evictions, 4);
	lpl_schedule_close(schedule);
}

/* 9 is there, too, and soon references a page. */
static void play_relay(struct guest *guest)
{
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	guest_wake(guest, 0, 5, KTR_CONTEXT_INTERRUPT);
	guest_wake(guest, 0, 9, KTR_CONTEXT_INTERRUPT);
	guest_ref(guest, 10, 16, LPL_WRITE);
	guest_ref(guest, 15, 17, LPL_WRITE);
	guest_ref(guest, 15, 18, LPL_WRITE);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 5);
	guest_ref(guest, 10, 26, LPL_WRITE);
	guest_ref(guest, 40, 27, LPL_WRITE);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 9);
	guest_ref(guest, 5, 36, LPL_WRITE);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 0);
	guest_finish(guest);
}

/* Whoever takes the processor of one that is left out may come before what was next till then. */
static void one_after_the_other_is_left_out(void **state)
{
	static const struct lpl_machine machine = {
		.cpus = 2, .scheduler = LPL_SCHEDULER_RR, .memory = LPL_MEMORY_WS, .window = 1000,
		.pages = 2
	};
	struct lpl_schedule *schedule = schedule_of(play_relay);

	(void)state;
	run_machine(schedule, &machine, NULL);
	/*
	 * 25: 1 wants 17; 5 is taken off, and 9 takes its processor.  30: 9 wants 36, and 1 is taken off;
	 * then 9 ends, and there is room for 5.  55: 5 has 27, and ends; 1 comes back.  65: 1 wants 18,
	 * and 36 leaves.
	 */
	assert_times(schedule, 0, (struct times){.end = 65, .running = 40, .ready = 25,
						 .dispatches = 2, .faults = 3});
	assert_times(schedule, 1, (struct times){.end = 55, .running = 50, .ready = 5,
						 .dispatches = 2, .faults = 2});
	assert_times(schedule, 2, (struct times){.end = 30, .running = 5, .ready = 25,
						 .dispatches = 1, .faults = 1});
	assert_int_equal(lpl_schedule_result(schedule)->deactivations, 2);
	assert_int_equal(lpl_schedule_result(schedule)->evictions, 4);
	lpl_schedule_close(schedule);
}

/* 1 and 2 are of one process; 1 waits where its working set has become smaller. */
static void play_room(struct guest *guest)
{
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	guest_wake(guest, 0, 5, KTR_CONTEXT_INTERRUPT);
	guest_wake(guest, 0, 2, KTR_CONTEXT_INTERRUPT);
	guest_ref(guest, 10, 16, LPL_READ);
	guest_ref(guest, 10, 17, LPL_READ);
	guest_schedule(guest, 10, KTR_STATE_SLEEPING, 5);
	guest_ref(guest, 10, 26, LPL_READ);
	guest_ref(guest, 10, 26, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 2);
	guest_ref(guest, 1000, 17, LPL_READ);
	guest_wake(guest, 0, 1, KTR_CONTEXT_INTERRUPT);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 1);
	guest_ref(guest, 10, 17, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 0);
	guest_finish(guest);
}

static int in_the_order_1_5_2(void *context, const struct lpl_schedule_task *task)
{
	(void)context;
	return task->tid == 1 ? 0 : task->tid == 5 ? 1 : 2;
}

static void comes_back_when_there_is_room(void **state)
{
	struct lpl_machine machine = {
		.cpus = 1, .scheduler = LPL_SCHEDULER_PRIORITY, .priority = in_the_order_1_5_2,
		.memory = LPL_MEMORY_WS, .pages = 2, .fault_cycles = 100
	};
	struct lpl_schedule *schedule = schedule_of(play_room);

	(void)state;
	/*
	 * 10: 1 faults on 16.  20: 5 faults on 26, and 2 runs.  110: 1 preempts 2.  120: 5 is ready;
	 * 1 faults on 17, and 5 is suspended.  220: 1 preempts 2 again.  230: 1 waits; its process has
	 * run for 220 cycles, and 16 was referenced at 10, 17 at 110.
	 */
	machine.window = 210;
	run_machine(schedule, &machine, NULL);
	assert_int_equal(lpl_schedule_task(schedule, 1)->suspended, 110);
	assert_int_equal(lpl_schedule_task(schedule, 1)->faults, 2);
	/* it preempts 2, which has begun just then */
	assert_int_equal(lpl_schedule_task(schedule, 1)->ready, 10 + 110);
	machine.window = 211;
	run_machine(schedule, &machine, NULL);
	assert_true(lpl_schedule_task(schedule, 1)->suspended > 110);
	lpl_schedule_close(schedule);
}

/* Three processes; 1 wants more and more. */
static void play_three(struct guest *guest)
{
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	guest_wake(guest, 0, 5, KTR_CONTEXT_INTERRUPT);
	guest_wake(guest, 0, 9, KTR_CONTEXT_INTERRUPT);
	for (uint64_t i = 0; i < 3; i++)
		guest_ref(guest, 10, 16 + i, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 5);
	guest_ref(guest, 10, 26, LPL_READ);
	guest_ref(guest, 500, 27, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 9);
	guest_ref(guest, 10, 36, LPL_READ);
	guest_ref(guest, 10, 37, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 0);
	guest_finish(guest);
}

static int by_tid(void *context, const struct lpl_schedule_task *task)
{
	(void)context;
	return (int)task->tid;
}

static void last_in_first_out(void **state)
{
	static const struct lpl_machine machine = {
		.cpus = 1, .scheduler = LPL_SCHEDULER_PRIORITY, .priority = by_tid,
		.memory = LPL_MEMORY_PFF, .window = 1000, .pages = 3, .fault_cycles = 100
	};
	struct lpl_schedule *schedule = schedule_of(play_three);

	(void)state;
	run_machine(schedule, &machine, NULL);
	/*
	 * 10, 20, 30: 1, 5 and 9 fault, and are activated so.  110: 1 goes on; 120: it faults, and 9 is
	 * deactivated, which is paging until 130.  220: 1 goes on; 230: it faults, and 5 is deactivated.
	 * 330: 1 ends, and 9 comes back; 340: it faults.  440: it ends, and 5 comes back.
	 */
	assert_int_equal(lpl_schedule_task(schedule, 0)->end, 330);
	assert_times(schedule, 1, (struct times){.end = 940, .running = 510, .ready = 230,
						 .paging = 200, .dispatches = 4, .preemptions = 1,
						 .faults = 2});
	assert_int_equal(lpl_schedule_task(schedule, 1)->suspended, 210);
	assert_times(schedule, 2, (struct times){.end = 440, .running = 20, .ready = 220,
						 .paging = 200, .dispatches = 3, .faults = 2});
	assert_int_equal(lpl_schedule_task(schedule, 2)->suspended, 200);
	assert_int_equal(lpl_schedule_result(schedule)->deactivations, 2);
	lpl_schedule_close(schedule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(working_set),
		cmocka_unit_test(fault_frequency),
		cmocka_unit_test(heirs),
		cmocka_unit_test(ready_one_is_left_out),
		cmocka_unit_test(running_one_is_left_out),
		cmocka_unit_test(one_after_the_other_is_left_out),
		cmocka_unit_test(comes_back_when_there_is_room),
		cmocka_unit_test(last_in_first_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
