/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of a trace with windows of time scheduled again, worked out by hand. */
#include "schedule_guest.h"

/* ---- what is of one order ---- */

/* A state says that 3 runs; then a window in which 1 and 2 do. */
static void play_window(struct guest *guest)
{
	GUEST_EVENT(guest, 0, "", LPL_EVENT_STATE, 1, 0, 0, 0, 0);
	GUEST_EVENT(guest, 0, "t3", LPL_EVENT_TASK_STATE, 3, 1, 101, 0, 1, 0, 0, 0, 0, 1, 1, 0);
	GUEST_EVENT(guest, 0, "", LPL_EVENT_STATE, 0, 0, 0, 3, 0);
	GUEST_EVENT(guest, 0, "", LPL_EVENT_TRACING, 1);
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	guest_ref(guest, 10, 16, LPL_READ);
	GUEST_EVENT(guest, 0, "", LPL_EVENT_TRACING, 0);
	GUEST_EVENT(guest, 400, "between", KTR_MARK, 0);
	GUEST_EVENT(guest, 600, "", LPL_EVENT_TRACING, 1);
	guest_ref(guest, 10, 17, LPL_READ);
	guest_schedule(guest, 0, KTR_STATE_DEAD, 2);
	guest_ref(guest, 10, 16, LPL_READ);
	guest_finish(guest);
}

static void what_is_of_one_order(void **state)
{
	struct lpl_machine machine = {.cpus = 1};
	struct lpl_schedule *schedule = schedule_of(play_window);

	(void)state;
	assert_int_equal(lpl_schedule_trace(schedule)->cycles, 30);
	for (int again = 0; again < 2; again++) {
		uint64_t windows = 0, runs = 0, references = 0;
		struct stream made;

		stream_init(&made);
		machine.scheduler = again ? LPL_SCHEDULER_RR : LPL_SCHEDULER_RECORDED;
		run_machine(schedule, &machine, &made.sink);
		for (size_t i = 0; i < made.count; i++) {
			const struct lpl_event *event = &made.items[i].event;

			references += !made.items[i].is_event;
			if (!made.items[i].is_event)
				continue;
			windows += event->tag == LPL_EVENT_TRACING;
			if (event->tag == LPL_EVENT_STATE)
				runs = event->arg[LPL_EVENT_STATE_RUNS];
		}
		assert_int_equal(references, 3);
		assert_int_equal(windows, again ? 0 : 3);
		assert_int_equal(runs, again ? KTR_NONE : 3);
		stream_free(&made);
	}
	lpl_schedule_close(schedule);
}

/* ---- time that does not pass ---- */

/*
 * Before the first window 1 begins to wait for 2, which wakes it.  2 waits for 10 cycles of windows, between
 * which it is woken.
 */
static void play_waits(struct guest *guest)
{
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	GUEST_EVENT(guest, 40, "before", KTR_MARK, 0);
	guest_schedule(guest, 50, KTR_STATE_SLEEPING, 2);
	GUEST_EVENT(guest, 5, "before", KTR_MARK, 0);
	guest_wake(guest, 5, 1, KTR_CONTEXT_TASK);
	GUEST_EVENT(guest, 20, "", LPL_EVENT_TRACING, 1);
	guest_ref(guest, 10, 16, LPL_READ);
	guest_schedule(guest, 10, KTR_STATE_SLEEPING, 1);
	guest_ref(guest, 10, 17, LPL_READ);
	GUEST_EVENT(guest, 0, "", LPL_EVENT_TRACING, 0);
	guest_wake(guest, 500, 2, KTR_CONTEXT_INTERRUPT);
	GUEST_EVENT(guest, 100, "", LPL_EVENT_TRACING, 1);
	guest_schedule(guest, 20, KTR_STATE_RUNNABLE, 2);
	guest_ref(guest, 10, 16, LPL_READ);
	guest_finish(guest);
}

static void waits(void **state)
{
	const struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR};
	struct lpl_schedule *schedule = schedule_of(play_waits);

	(void)state;
	assert_int_equal(lpl_schedule_trace(schedule)->cycles, 60);
	assert_int_equal(lpl_schedule_trace(schedule)->instructions, 30);
	assert_int_equal(lpl_schedule_trace(schedule)->left_out_cycles, 0);
	run_machine(schedule, &machine, NULL);
	assert_times(schedule, 0, (struct times){.end = 50, .running = 30, .ready = 20,
						 .dispatches = 2, .faults = 1});
	assert_times(schedule, 1, (struct times){.end = 60, .running = 30, .ready = 20, .waiting = 10,
						 .dispatches = 2, .faults = 1});
	lpl_schedule_close(schedule);
}

/* What was before fills some blocks of the temporary file, and many tasks have their part in it. */
static void play_long_before(struct guest *guest)
{
	char text[100];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	for (uint32_t i = 0; i < 4000; i++) {
		GUEST_EVENT(guest, 1 + (UINT64_C(1) << i % 40), text, KTR_MARK, 0);
		guest_schedule(guest, i % 300, KTR_STATE_RUNNABLE, 1 + (guest->runs + i % 5) % 9);
	}
	GUEST_EVENT(guest, 20, "", LPL_EVENT_TRACING, 1);
	for (uint32_t i = 0; i < 9; i++) {
		guest_ref(guest, 10, 16, LPL_READ);
		guest_schedule(guest, 0, KTR_STATE_RUNNABLE, guest->runs % 9 + 1);
	}
	guest_finish(guest);
}

static void long_before(void **state)
{
	const struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR};
	struct lpl_schedule *schedule = schedule_of(play_long_before);

	(void)state;
	assert_int_equal(lpl_schedule_trace(schedule)->cycles, 90);
	run_machine(schedule, &machine, NULL);
	assert_int_equal(lpl_schedule_result(schedule)->end, 90);
	assert_int_equal(lpl_schedule_result(schedule)->busy, 90);
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(lpl_schedule_task(schedule, i)->running, 10);
	lpl_schedule_close(schedule);
}

/* A state says that tracing is off; a reference before anything else says that it is on. */
static void play_state(struct guest *guest)
{
	GUEST_EVENT(guest, 0, "", LPL_EVENT_STATE, 1, 0, 0, 0, 0);
	GUEST_EVENT(guest, 0, "", LPL_EVENT_TRACING, 0);
	GUEST_EVENT(guest, 0, "", LPL_EVENT_STATE, 0, 0, 0, KTR_NONE, 0);
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	GUEST_EVENT(guest, 300, "between", KTR_MARK, 0);
	GUEST_EVENT(guest, 400, "", LPL_EVENT_TRACING, 1);
	guest_ref(guest, 10, 16, LPL_READ);
	guest_finish(guest);
}

static void play_no_window(struct guest *guest)
{
	guest_schedule(guest, 0, KTR_STATE_RUNNABLE, 1);
	GUEST_EVENT(guest, 300, "", KTR_MARK, 0);
	guest_ref(guest, 10, 16, LPL_READ);
	GUEST_EVENT(guest, 400, "", LPL_EVENT_TRACING, 1);
	guest_finish(guest);
}

static void beginnings(void **state)
{
	const struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RR};
	struct lpl_schedule *schedule = schedule_of(play_state);
	struct stream made;

	(void)state;
	assert_int_equal(lpl_schedule_trace(schedule)->cycles, 10);
	/* in another order there are no windows, in what was there before neither */
	stream_init(&made);
	run_machine(schedule, &machine, &made.sink);
	for (size_t i = 0; i < made.count; i++)
		assert_false(made.items[i].is_event && made.items[i].event.tag == LPL_EVENT_TRACING);
	stream_free(&made);
	lpl_schedule_close(schedule);

	schedule = schedule_of(play_no_window);
	assert_int_equal(lpl_schedule_trace(schedule)->cycles, 710);
	lpl_schedule_close(schedule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_of_one_order),
		cmocka_unit_test(waits),
		cmocka_unit_test(long_before),
		cmocka_unit_test(beginnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
