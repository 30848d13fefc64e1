/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events that make no sense, and too much of everything. */
#include "merge_keeper.h"

#include <malloc.h>

static void anomalies_are_counted(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_UNMAP, 7, 0x1000, 0x2000);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_UNMAP], 1);
	SEND(k, KTR_REMAP, 7, 0x1000, 0x2000, 0x3000, 0x4000);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_REMAP], 1);
	SEND(k, KTR_EXIT, 5, 5, 0, 1);
	SEND(k, KTR_EXEC, 5, 5, 7, 1, 1);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_TASK_UNKNOWN], 2);
	SEND(k, KTR_TASK_CREATE, 5, 5, 7, 0);
	SEND(k, KTR_TASK_CREATE, 5, 5, 7, 0);
	SEND(k, KTR_TASK_CREATE, 0, 0, 7, 0);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_TASK_CREATE], 2);
	SEND(k, KTR_COW_BREAK, 7, 0x1000, 1, 2);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_COW_BREAK], 1);
	SEND(k, KTR_CACHE_REMOVE, 1, 2, 3, 4, 5);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_CACHE_REMOVE], 1);
	SEND(k, KTR_SPACE_DUPLICATE, 98, 7);	/* unknown */
	anonymous(k, 7, 0x1000, 1);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 7);	/* itself */
	SEND(k, KTR_SPACE_DUPLICATE, 98, 7);	/* unknown onto a live one */
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_DUPLICATE], 3);
	map(k, 7, 0x1000, 1, 99, 0, 0, 0);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_MAP_KIND], 1);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_RANGE], 0);
	anonymous(k, 7, 0x1000, 0);
	SEND(k, KTR_UNMAP, 7, 0x2000, 0x1000);
	SEND(k, KTR_UNMAP, 7, 0, UINT64_MAX);	/* only as far as the kernel's half */
	SEND(k, KTR_MAP, 7, KERNEL, KERNEL + PAGE, 1, KTR_MAP_ANONYMOUS);
	SEND(k, KTR_BRK, 7, KERNEL, 0x1000);
	SEND(k, KTR_CACHE_ADD, 1, 2, 0, 5, 0, KERNEL);
	SEND(k, KTR_CACHE_ADD, 1, 2, 0, KTR_NONE, 1, KERNEL);
	SEND(k, KTR_CACHE_ADD, 1, 2, 0, 1, UINT64_MAX, KERNEL);
	SEND(k, KTR_CACHE_ADD, 1, 2, 0, 1, 1, 0x1000);
	/* a state's numbers (LPL_STATE_PAGES) */
	anonymous(k, 7, 0x1000, 2);
	SEND(k, KTR_PRESENT, 7, 0x1000, 0x3000, LPL_STATE_PAGES - 1, KTR_NONE);
	SEND(k, KTR_PRESENT, 7, 0x1000, 0x3000, KTR_NONE, LPL_STATE_PAGES);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_RANGE], 11);
	SEND(k, 4711, 0);
	SEND(k, 0, 0);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_TAG], 2);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_MISSED_SCHEDULE], 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 1234, 1234, 0);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_SCHEDULE], 0);
	finish(k);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_SCHEDULE], 1);
}

/* Ranges as large as the address space cost no more than small ones. */
static void huge_ranges(void **state)
{
	const uint64_t top = UINT64_C(1) << 63;
	struct keeper *k = *state;

	for (int i = 0; i < 2000; i++) {
		SEND(k, KTR_MAP, 7, 0x1000, top, 3, KTR_MAP_ANONYMOUS);
		SEND(k, KTR_MAP, 7, 0, top - PAGE, 3, KTR_MAP_FILE_PRIVATE, 8, 1, UINT64_MAX);
		wr(k, 7, top / 2 + (uint64_t)i * PAGE);
		SEND(k, KTR_SPACE_DUPLICATE, 7, 9);
		SEND(k, KTR_REMAP, 9, 0, top / 2 + 0x400000, 0x3000, top - 0x5000);
		rd(k, 9, 0x123456789000);
		SEND(k, KTR_UNMAP, 9, 0x5000, top);
		SEND(k, KTR_SPACE_END, 9);
		SEND(k, KTR_CACHE_ADD, 8, 1, 0, 0, UINT64_C(1) << 40, KERNEL);
		SEND(k, KTR_CACHE_REMOVE, 8, 1, 1, 1, (UINT64_C(1) << 40) - 2);
	}
	assert_int_equal(stats(k)->live_spaces, 1);
}

/* Anything a guest may write into its record: nothing breaks, and what comes then works. */
static void garbage(void **state)
{
	static const uint64_t nasty[] = {
		0, 1, 2, 3, 7, 0xfff, 0x1000, 0x1001, 0x10000, 0x14000, 0x20000, 0x7ffffffff000,
		0x7fffffffffffffff, UINT64_C(1) << 63, KERNEL, KERNEL + 0x10000,
		UINT64_MAX - 0xfff, UINT64_MAX, 0xfffffffffffff, UINT64_C(1) << 52,
	};
	const size_t count = sizeof(nasty) / sizeof(*nasty);
	struct keeper *k = *state;
	uint64_t x = 1;

	for (int i = 0; i < 30000; i++) {
		uint64_t arg[KTR_ARGS];

		for (int j = 0; j < KTR_ARGS; j++) {
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
			arg[j] = nasty[(x >> 33) % count];
		}
		/* the space is mostly one of a few */
		if (x >> 40 & 3)
			arg[0] = x >> 42 & 3;
		send_by(k, x >> 50 & 3, x >> 52 & 3, x >> 54 & 31, arg, KTR_ARGS,
			x >> 60 & 1 ? "x" : NULL);
		touch(k, x >> 58 & 1, x >> 59 & 1, x >> 42 & 3, arg[1]);
		assert_in_range(k->last.page, 1, k->seen);
	}
	assert_true(anomalies(k) > 0);
	anonymous(k, 99, 0x10000, 1);
	wr(k, 99, 0x10000);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
}

/* What has ended takes no memory: a long run of short lives ends within a small heap. */
static void many_short_lives(void **state)
{
	struct keeper *k = *state;
	size_t before;

	anonymous(k, 1, 0x10000, 0x100);
	for (uint64_t i = 0; i < 0x100; i++)
		wr(k, 1, 0x10000 + i * PAGE);

	before = mallinfo2().uordblks;
	for (uint64_t i = 2; i < 5000; i++) {
		SEND(k, KTR_TASK_CREATE, i, i, i, 0);
		SEND(k, KTR_SPACE_DUPLICATE, 1, i);
		assert_int_equal(rd(k, i, 0x10000), 1);
		wr(k, i, 0x10000 + i % 0x100 * PAGE);
		SEND(k, KTR_SPACE_END, i);
		SEND(k, KTR_EXIT, i, i, 0, 1);
	}
	assert_in_range(mallinfo2().uordblks, 0, before + 64 * 1024);
	assert_int_equal(stats(k)->live_spaces, 1);
	assert_int_equal(stats(k)->live_tasks, 0);
	assert_int_equal(anomalies(k), 0);
}

static void errors_are_passed_on(void **state)
{
	struct keeper *k = *state;
	struct lpl_report report = { 0 };
	struct lpl_ref ref = { .ref = 1, .address = 0x1000 };

	k->fail_with = LPL_ERR_FULL;
	assert_int_equal(k->sink->refs(k->sink, &ref, 1, &report), LPL_ERR_FULL);
	assert_int_equal(report.error, LPL_ERR_FULL);
	assert_int_equal(k->sink->finish(k->sink, NULL), LPL_OK);
	assert_int_equal(k->finished, 1);
}


/* Streams of events of any kind in any order: each task is reported to its end. */
static void tasks_at_random(void **state)
{
	static const uint32_t tags[] = {
		KTR_TASK_CREATE, KTR_SCHEDULE, KTR_SCHEDULE, KTR_SCHEDULE, KTR_SPACE_ASSIGN,
		KTR_EXEC, KTR_EXIT, KTR_EXIT, KTR_MARK, LPL_EVENT_TRACING, 99
	};
	struct keeper *k = *state;
	uint64_t x = 7, references = 0;

	for (int i = 0; i < 60000; i++) {
		uint64_t arg[4], tid;

		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		tid = x >> 33 & 7;
		arg[0] = x >> 36 & 3 ? tid : x >> 38 & 7;
		arg[1] = x >> 41 & 1 ? 0x80 : x >> 42 & 3;
		arg[2] = x >> 44 & 7;
		arg[3] = x >> 47 & 3;
		send_by(k, (uint32_t)tid, x >> 49 & 3, tags[(x >> 51) % 11], arg, 4,
			x >> 55 & 1 ? "a" : "b");
		touch(k, LPL_READ, 0, 1, KERNEL);
		references++;
		if (i % 1000 == 0)
			assert_in_range(stats(k)->live_tasks, 0, 8);
	}
	finish(k);
	for (uint64_t serial = 0; serial <= stats(k)->tasks; serial++)
		assert_int_not_equal(k->final[serial], LPL_TASK_LIVES);
	assert_int_equal(stats(k)->references[LPL_PAGE_KERNEL], references);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(anomalies_are_counted),
		T(huge_ranges),
		T(garbage),
		T(many_short_lives),
		T(errors_are_passed_on),
		T(tasks_at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
