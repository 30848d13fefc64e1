/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The trace that the oracle's machine (oracle_schedule.h) writes has what docs/scheduling.md says: who gets
 * the processor, or that nobody does, and who ends whose wait.  Cases worked out by hand.
 */
#include "schedule_by_hand.h"

#define CLONE_VM 0x100

enum { MARKED = KTR_MARK, GOES = KTR_SCHEDULE, WAKES = KTR_WAKE, PAGE = LPL_EVENT_PAGE, REFERENCE = 0,
       BY_TASK = KTR_CONTEXT_TASK, BY_INTERRUPT = KTR_CONTEXT_INTERRUPT };

struct shown {
	uint64_t cycle, ref;
	uint32_t tid;
	uint32_t tag;			/* or REFERENCE */
	uint64_t arg[5];		/* or its page */
};

static void assert_equal(const struct item *item, const struct shown *expected)
{
	assert_int_equal(item->is_event ? item->event.tag : REFERENCE, expected->tag);
	assert_int_equal(item->is_event ? item->event.cycle : item->ref.cycle, expected->cycle);
	assert_int_equal(item->is_event ? item->event.ref : item->ref.ref, expected->ref);
	if (!item->is_event) {
		assert_int_equal(item->ref.address / 4096, expected->arg[0]);
		return;
	}
	assert_int_equal(item->event.tid, expected->tid);
	assert_int_equal(item->event.tgid != 0, expected->tid != 0);
	assert_int_equal(item->event.text_length, 0);
	assert_memory_equal(item->event.arg, expected->arg, sizeof(expected->arg));
}

static void assert_shows(const struct stream *in, const struct oracle_machine *machine,
			 const struct shown *expected, size_t count)
{
	struct oracle_result result;
	struct stream out = { 0 };

	run_by_hand(in, machine, &result, &out);
	for (size_t i = 0; i < count && i < out.count; i++)
		assert_equal(&out.item[i], &expected[i]);
	assert_int_equal(out.count, count);
	stream_free(&out);
}

#define ASSERT_SHOWS(in, machine, expected) \
	assert_shows(in, machine, expected, sizeof(expected) / sizeof((expected)[0]))

/*
 * Only the idle task was there, and from 3 on one that it woke; which died after a wait that it ended,
 * too.  To go on after that wait is no switch.
 */
static void test_idle(void **state)
{
	const struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_RR, .switch_cycles = 2 };
	static const struct shown shown[] = {
		{ 100, 10, 0, GOES, { 0, KTR_STATE_RUNNABLE, 0 } },
		{ 103, 10, 0, WAKES, { 1, 1, BY_INTERRUPT } },
		{ 103, 10, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 107, 10, 1, PAGE, { 1 } },
		{ 107, 11, 1, REFERENCE, { 1 } },
		{ 108, 11, 1, GOES, { 1, KTR_STATE_SLEEPING, 0 } },
		{ 112, 11, 0, WAKES, { 1, 1, BY_INTERRUPT } },
		{ 112, 11, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 113, 11, 1, KTR_EXIT, { 1, 1, 0, 1 } },
		{ 115, 11, 1, GOES, { 1, KTR_STATE_DEAD, 0 } },
	};
	struct stream in = { 0 };

	(void)state;
	AT(&in, 100, 0, KTR_MARK, 0);
	AT(&in, 103, 0, KTR_WAKE, 1, 1, KTR_CONTEXT_INTERRUPT);
	AT(&in, 104, 0, KTR_SCHEDULE, 0, KTR_STATE_RUNNABLE, 1, 1, 1);
	touch(&in, 106, 1);
	AT(&in, 107, 1, KTR_SCHEDULE, 1, KTR_STATE_SLEEPING, 0);
	AT(&in, 111, 0, KTR_WAKE, 1, 1, KTR_CONTEXT_TASK);
	AT(&in, 112, 0, KTR_SCHEDULE, 0, KTR_STATE_RUNNABLE, 1, 1, 1);
	AT(&in, 113, 1, KTR_EXIT, 1, 1, 0, 1);
	AT(&in, 115, 1, KTR_SCHEDULE, 1, KTR_STATE_DEAD, 0);
	ASSERT_SHOWS(&in, &machine, shown);
	stream_free(&in);
}

/* As in test_priorities_by_hand: the first is alone from 11 on, and stands still for two pages and a wait. */
static void test_paging(void **state)
{
	const struct oracle_machine machine = {
		.cpus = 1, .scheduler = ORACLE_PRIORITY, .quantum = 10, .pages = 1,
		.fault_cycles = 4, .priority = { [1] = 1 },
	};
	static const struct shown shown[] = {
		{ 100, 10, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 100, 10, 1, MARKED, { 0 } },
		{ 101, 10, 1, WAKES, { 2, 2, BY_TASK } },
		{ 101, 10, 1, GOES, { 1, KTR_STATE_RUNNABLE, 2, 2, 2 } },
		{ 104, 10, 2, PAGE, { 2 } },
		{ 104, 11, 2, REFERENCE, { 2 } },
		{ 104, 11, 2, GOES, { 2, KTR_STATE_WAITING, 1, 1, 1 } },
		{ 108, 11, 1, WAKES, { 2, 2, BY_INTERRUPT } },
		{ 108, 11, 1, GOES, { 1, KTR_STATE_RUNNABLE, 2, 2, 2 } },
		{ 111, 11, 2, GOES, { 2, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 111, 11, 1, PAGE, { 1 } },
		{ 111, 12, 1, REFERENCE, { 1 } },
		{ 111, 12, 1, GOES, { 1, KTR_STATE_WAITING, 0 } },
		{ 115, 12, 0, WAKES, { 1, 1, BY_INTERRUPT } },
		{ 115, 12, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 116, 12, 1, GOES, { 1, KTR_STATE_SLEEPING, 0 } },
		{ 121, 12, 0, WAKES, { 1, 1, BY_INTERRUPT } },
		{ 121, 12, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 123, 13, 1, REFERENCE, { 2 } },
		{ 123, 13, 1, GOES, { 1, KTR_STATE_WAITING, 0 } },
		{ 127, 13, 0, WAKES, { 1, 1, BY_INTERRUPT } },
		{ 127, 13, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 127, 13, 1, GOES, { 1, KTR_STATE_RUNNABLE, 0 } },
	};
	struct stream in = { 0 };

	(void)state;
	make_sleepers(&in);
	ASSERT_SHOWS(&in, &machine, shown);
	stream_free(&in);
}

/* As in test_recorded_by_hand: all that the trace says, and between it the idle task, while a page comes. */
static void test_recorded(void **state)
{
	const struct oracle_machine machine = {
		.cpus = 1, .scheduler = ORACLE_RECORDED, .pages = 1, .fault_cycles = 4,
	};
	static const struct shown shown[] = {
		{ 100, 10, 1, MARKED, { 0 } },
		{ 101, 10, 1, WAKES, { 2, 2, BY_TASK } },
		{ 105, 10, 1, PAGE, { 1 } },
		{ 105, 11, 1, REFERENCE, { 1 } },
		{ 105, 11, 1, GOES, { 1, KTR_STATE_WAITING, 0 } },
		{ 109, 11, 0, WAKES, { 1, 1, BY_INTERRUPT } },
		{ 109, 11, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 110, 11, 1, GOES, { 1, KTR_STATE_SLEEPING, 2, 2, 2 } },
		{ 113, 11, 2, PAGE, { 2 } },
		{ 113, 12, 2, REFERENCE, { 2 } },
		{ 113, 12, 2, GOES, { 2, KTR_STATE_WAITING, 0 } },
		{ 117, 12, 0, WAKES, { 2, 2, BY_INTERRUPT } },
		{ 117, 12, 0, GOES, { 0, KTR_STATE_RUNNABLE, 2, 2, 2 } },
		{ 119, 12, 2, WAKES, { 1, 1, BY_INTERRUPT } },
		{ 120, 12, 2, GOES, { 2, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 122, 13, 1, REFERENCE, { 2 } },
	};
	struct stream in = { 0 };

	(void)state;
	make_sleepers(&in);
	ASSERT_SHOWS(&in, &machine, shown);
	stream_free(&in);
}

/* Two wait for a page since 1, and since 2.  When it comes the first of them takes the processor. */
static void test_joined(void **state)
{
	const struct oracle_machine machine = {
		.cpus = 1, .scheduler = ORACLE_PRIORITY, .fault_cycles = 4,
		.priority = { [1] = 2, [2] = 1 },
	};
	static const struct shown shown[] = {
		{ 100, 10, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 100, 10, 1, GOES, { 1, KTR_STATE_RUNNABLE, 2, 2, 2 } },
		{ 100, 10, 2, GOES, { 2, KTR_STATE_RUNNABLE, 3, 3, 3 } },
		{ 101, 10, 3, PAGE, { 1 } },
		{ 101, 11, 3, REFERENCE, { 1 } },
		{ 101, 11, 3, GOES, { 3, KTR_STATE_WAITING, 2, 2, 2 } },
		{ 102, 12, 2, REFERENCE, { 1 } },
		{ 102, 12, 2, GOES, { 2, KTR_STATE_WAITING, 1, 1, 1 } },
		{ 102, 12, 1, MARKED, { 0 } },
		{ 105, 12, 1, WAKES, { 3, 3, BY_INTERRUPT } },
		{ 105, 12, 1, GOES, { 1, KTR_STATE_RUNNABLE, 3, 3, 3 } },
		{ 105, 12, 3, WAKES, { 2, 2, BY_INTERRUPT } },
		{ 107, 12, 3, MARKED, { 0 } },
		{ 107, 12, 3, GOES, { 3, KTR_STATE_RUNNABLE, 2, 2, 2 } },
		{ 108, 12, 2, GOES, { 2, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 115, 12, 1, MARKED, { 0 } },
		{ 115, 12, 1, GOES, { 1, KTR_STATE_RUNNABLE, 0 } },
	};
	struct stream in = { 0 };

	(void)state;
	AT(&in, 100, 1, KTR_MARK, 0);
	AT(&in, 100, 1, KTR_WAKE, 9, 9, KTR_CONTEXT_TASK);
	AT(&in, 110, 1, KTR_MARK, 0);
	AT(&in, 110, 1, KTR_SCHEDULE, 1, KTR_STATE_RUNNABLE, 2, 2, 2);
	touch(&in, 111, 1);
	AT(&in, 112, 2, KTR_SCHEDULE, 2, KTR_STATE_RUNNABLE, 3, 3, 3);
	touch(&in, 113, 1);
	AT(&in, 115, 3, KTR_MARK, 0);
	ASSERT_SHOWS(&in, &machine, shown);
	stream_free(&in);
}

/* Two wait for what the first gives at 5; it ends both waits before it is preempted. */
static void test_given(void **state)
{
	const struct oracle_machine machine = {
		.cpus = 1, .scheduler = ORACLE_PRIORITY, .priority = { [1] = 1 },
	};
	static const struct shown shown[] = {
		{ 100, 10, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 100, 10, 1, GOES, { 1, KTR_STATE_RUNNABLE, 2, 2, 2 } },
		{ 101, 10, 2, GOES, { 2, KTR_STATE_SLEEPING, 3, 3, 3 } },
		{ 102, 10, 3, GOES, { 3, KTR_STATE_SLEEPING, 1, 1, 1 } },
		{ 102, 10, 1, MARKED, { 0 } },
		{ 105, 10, 1, KTR_PASS, { 0, 1, 0 } },
		{ 105, 10, 1, WAKES, { 2, 2, BY_TASK } },
		{ 105, 10, 1, WAKES, { 3, 3, BY_TASK } },
		{ 105, 10, 1, GOES, { 1, KTR_STATE_RUNNABLE, 2, 2, 2 } },
		{ 105, 10, 2, KTR_PASS, { 0, 1, 1 } },
		{ 106, 10, 2, GOES, { 2, KTR_STATE_RUNNABLE, 3, 3, 3 } },
		{ 106, 10, 3, KTR_PASS, { 0, 1, 1 } },
		{ 107, 10, 3, MARKED, { 0 } },
		{ 107, 10, 3, GOES, { 3, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 108, 10, 1, GOES, { 1, KTR_STATE_RUNNABLE, 0 } },
	};
	struct stream in = { 0 };

	(void)state;
	AT(&in, 100, 1, KTR_MARK, 0);
	AT(&in, 100, 1, KTR_WAKE, 9, 9, KTR_CONTEXT_TASK);
	AT(&in, 103, 1, KTR_PASS, 0, 1, 0);
	AT(&in, 104, 1, KTR_SCHEDULE, 1, KTR_STATE_RUNNABLE, 2, 2, 2);
	AT(&in, 105, 2, KTR_PASS, 0, 1, 1);
	AT(&in, 106, 2, KTR_SCHEDULE, 2, KTR_STATE_RUNNABLE, 3, 3, 3);
	AT(&in, 107, 3, KTR_PASS, 0, 1, 1);
	AT(&in, 108, 3, KTR_MARK, 0);
	ASSERT_SHOWS(&in, &machine, shown);
	stream_free(&in);
}

/*
 * The first makes the second, waits for it, and in the end for ever.  The second waits for a cycle, and
 * once for none.
 */
static void make_threads(struct stream *in)
{
	AT(in, 100, 1, KTR_MARK, 0);
	AT(in, 102, 1, KTR_TASK_CREATE, 2, 1, 1, CLONE_VM);
	AT(in, 103, 1, KTR_SCHEDULE, 1, KTR_STATE_SLEEPING, 2, 1, 1);
	AT(in, 104, 2, KTR_WAKE, 1, 1, KTR_CONTEXT_TASK);
	AT(in, 106, 2, KTR_SCHEDULE, 2, KTR_STATE_WAITING, 1, 1, 1);
	AT(in, 107, 1, KTR_WAKE, 2, 1, KTR_CONTEXT_INTERRUPT);
	AT(in, 109, 1, KTR_SCHEDULE, 1, KTR_STATE_STOPPED, 2, 1, 1);
	AT(in, 110, 2, KTR_SCHEDULE, 2, KTR_STATE_SLEEPING, 0);
	AT(in, 110, 0, KTR_WAKE, 2, 1, KTR_CONTEXT_INTERRUPT);
	AT(in, 110, 0, KTR_SCHEDULE, 0, KTR_STATE_RUNNABLE, 2, 1, 1);
	AT(in, 110, 2, KTR_MARK, 0);
}

static void test_waits(void **state)
{
	const struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_RR };
	static const struct shown shown[] = {
		{ 100, 10, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 100, 10, 1, MARKED, { 0 } },
		{ 102, 10, 1, KTR_TASK_CREATE, { 2, 1, 1, CLONE_VM } },
		{ 103, 10, 1, GOES, { 1, KTR_STATE_SLEEPING, 2, 1, 1 } },
		{ 104, 10, 2, WAKES, { 1, 1, BY_TASK } },
		{ 106, 10, 2, GOES, { 2, KTR_STATE_WAITING, 1, 1, 1 } },
		{ 107, 10, 1, WAKES, { 2, 1, BY_INTERRUPT } },
		{ 109, 10, 1, GOES, { 1, KTR_STATE_STOPPED, 2, 1, 1 } },
		{ 110, 10, 2, MARKED, { 0 } },
		{ 110, 10, 2, GOES, { 2, KTR_STATE_RUNNABLE, 0 } },
	};
	struct stream in = { 0 };

	(void)state;
	make_threads(&in);
	ASSERT_SHOWS(&in, &machine, shown);
	stream_free(&in);
}

/* Here the second comes first: the wake has been when the first would wait for it. */
static void test_wakes_before(void **state)
{
	const struct oracle_machine machine = {
		.cpus = 1, .scheduler = ORACLE_PRIORITY, .priority = { [1] = 1 },
	};
	static const struct shown shown[] = {
		{ 100, 10, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 100, 10, 1, MARKED, { 0 } },
		{ 102, 10, 1, KTR_TASK_CREATE, { 2, 1, 1, CLONE_VM } },
		{ 102, 10, 1, GOES, { 1, KTR_STATE_RUNNABLE, 2, 1, 1 } },
		{ 105, 10, 2, GOES, { 2, KTR_STATE_WAITING, 1, 1, 1 } },
		{ 106, 10, 1, WAKES, { 2, 1, BY_INTERRUPT } },
		{ 106, 10, 1, GOES, { 1, KTR_STATE_RUNNABLE, 2, 1, 1 } },
		{ 107, 10, 2, MARKED, { 0 } },
		{ 107, 10, 2, GOES, { 2, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 110, 10, 1, GOES, { 1, KTR_STATE_STOPPED, 0 } },
	};
	struct stream in = { 0 };

	(void)state;
	make_threads(&in);
	ASSERT_SHOWS(&in, &machine, shown);
	stream_free(&in);
}

/* As in test_load_by_hand: the first comes back at 7, when the second has left the processor. */
static void test_suspended(void **state)
{
	const struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_RR, .quantum = 2,
						.memory = ORACLE_WS, .window = 100, .pages = 2 };
	static const struct shown shown[] = {
		{ 100, 10, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 100, 10, 1, MARKED, { 0 } },
		{ 102, 10, 1, GOES, { 1, KTR_STATE_RUNNABLE, 2, 2, 2 } },
		{ 103, 10, 2, PAGE, { 3 } },
		{ 103, 11, 2, REFERENCE, { 3 } },
		{ 104, 11, 2, GOES, { 2, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 104, 11, 1, PAGE, { 1 } },
		{ 104, 12, 1, REFERENCE, { 1 } },
		{ 106, 12, 1, GOES, { 1, KTR_STATE_RUNNABLE, 2, 2, 2 } },
		{ 106, 12, 2, PAGE, { 4 } },
		{ 106, 13, 2, REFERENCE, { 4 } },
		{ 107, 14, 2, REFERENCE, { 3 } },
		{ 107, 14, 2, GOES, { 2, KTR_STATE_RUNNABLE, 0 } },
		{ 107, 14, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 107, 14, 1, PAGE, { 2 } },
		{ 107, 15, 1, REFERENCE, { 2 } },
		{ 107, 15, 1, GOES, { 1, KTR_STATE_RUNNABLE, 0 } },
	};
	struct stream in = { 0 };

	(void)state;
	make_crowd(&in);
	ASSERT_SHOWS(&in, &machine, shown);
	stream_free(&in);
}

/*
 * At 4 the second's other page deactivates the first, which waits.  That ends at 5, and at 6 the first
 * comes back, for nothing else is there.
 */
static void test_suspended_amid_wait(void **state)
{
	const struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_RR,
						.memory = ORACLE_WS, .window = 100, .pages = 2 };
	static const struct shown shown[] = {
		{ 100, 10, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 100, 10, 1, MARKED, { 0 } },
		{ 101, 10, 1, PAGE, { 1 } },
		{ 101, 11, 1, REFERENCE, { 1 } },
		{ 102, 11, 1, GOES, { 1, KTR_STATE_SLEEPING, 2, 2, 2 } },
		{ 103, 11, 2, PAGE, { 2 } },
		{ 103, 12, 2, REFERENCE, { 2 } },
		{ 104, 12, 2, PAGE, { 3 } },
		{ 104, 13, 2, REFERENCE, { 3 } },
		{ 105, 13, 2, WAKES, { 1, 1, BY_INTERRUPT } },
		{ 106, 13, 2, GOES, { 2, KTR_STATE_RUNNABLE, 0 } },
		{ 106, 13, 0, GOES, { 0, KTR_STATE_RUNNABLE, 1, 1, 1 } },
		{ 108, 13, 1, MARKED, { 0 } },
		{ 108, 13, 1, GOES, { 1, KTR_STATE_RUNNABLE, 0 } },
	};
	struct stream in = { 0 };

	(void)state;
	AT(&in, 100, 1, KTR_MARK, 0);
	AT(&in, 100, 1, KTR_WAKE, 9, 9, KTR_CONTEXT_TASK);
	touch(&in, 101, 1);
	AT(&in, 102, 1, KTR_SCHEDULE, 1, KTR_STATE_SLEEPING, 2, 2, 2);
	touch(&in, 103, 2);
	touch(&in, 104, 3);
	AT(&in, 105, 2, KTR_WAKE, 1, 1, KTR_CONTEXT_INTERRUPT);
	AT(&in, 106, 2, KTR_SCHEDULE, 2, KTR_STATE_RUNNABLE, 1, 1, 1);
	AT(&in, 108, 1, KTR_MARK, 0);
	ASSERT_SHOWS(&in, &machine, shown);
	stream_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_paging),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_given),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_wakes_before),
		cmocka_unit_test(test_suspended),
		cmocka_unit_test(test_suspended_amid_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
