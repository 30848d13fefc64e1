/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records are missing: what was known before is not used any more where events are among
 * them, it is said, and what is reported anew is believed.
 */
#include "merge_keeper.h"

enum { SPACE = 7, OTHER = 8, TASK = 14, THREAD = 15, FIRST = 0x10000 };

/* A task in a space of its own with an anonymous page, one of a file, and one cached. */
static void begin(struct keeper *k)
{
	SEND(k, KTR_TASK_CREATE, TASK, TASK, SPACE, 0);
	SEND(k, KTR_TASK_CREATE, THREAD, THREAD, OTHER, 0);
	anonymous(k, SPACE, FIRST, 1);
	map(k, SPACE, FIRST + PAGE, 1, KTR_MAP_FILE_SHARED, 1, 2, 0);
	SEND(k, KTR_CACHE_ADD, 1, 2, 0, 5, 1, KERNEL);
	SEND(k, KTR_SCHEDULE, 0, 0, TASK, TASK, SPACE);
}

static void gap(struct keeper *k, uint64_t references, uint64_t events)
{
	k->clock += references == KTR_NONE ? 0 : references;
	SEND(k, LPL_EVENT_GAP, references, events);
}

static uint64_t by_kernel(struct keeper *k, uint64_t address)
{
	return touch(k, LPL_READ, 0, SPACE, address);
}

static void no_event_is_missing(void **state)
{
	struct keeper *k = *state;
	uint64_t own, file;

	begin(k);
	own = wr(k, SPACE, FIRST);
	file = rd(k, SPACE, FIRST + PAGE);
	gap(k, 100, 0);
	assert_int_equal(rd(k, SPACE, FIRST), own);
	assert_int_equal(k->last_task.tid, TASK);
	assert_int_equal(by_kernel(k, KERNEL), file);
	finish(k);
	assert_int_equal(k->final[1], LPL_TASK_LEFT);
	assert_int_equal(stats(k)->gaps, 1);
	assert_int_equal(stats(k)->gap_references, 100);
	assert_int_equal(stats(k)->gap_unknown, 0);
	assert_int_equal(stats(k)->user_unresolved, 0);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_GAP], 1);
	assert_int_equal(anomalies(k), 1);
	/* of the kernel's events it is none */
	assert_int_equal(stats(k)->events, 6);
	assert_int_equal(k->events_seen, 7);
}

/* Whether it is known how many, or not. */
static void events_are_missing(void **state)
{
	static const uint64_t missing[] = { 1, KTR_NONE };
	struct keeper *k = *state;

	for (size_t i = 0; i < 2; i++) {
		uint64_t own, file;

		lpl_merge_close(k->merge);
		keeper_open(k, NULL);
		begin(k);
		own = wr(k, SPACE, FIRST);
		file = rd(k, SPACE, FIRST + PAGE);
		gap(k, i == 0 ? 5 : KTR_NONE, missing[i]);
		assert_int_not_equal(rd(k, SPACE, FIRST), own);
		assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
		/* what runs is not known */
		assert_int_equal(k->last_task.serial, 0);
		assert_int_not_equal(rd(k, SPACE, FIRST + PAGE), file);
		assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
		assert_int_not_equal(by_kernel(k, KERNEL), file);
		assert_int_equal(k->last.kind, LPL_PAGE_KERNEL);
		assert_int_equal(stats(k)->user_unresolved, 2);
		assert_int_equal(stats(k)->gap_unknown, 3);
		/* any event says what runs */
		SEND_BY(k, TASK, TASK, KTR_MARK, 0);
		rd(k, SPACE, FIRST);
		assert_int_equal(k->last_task.serial, 1);
		assert_int_equal(stats(k)->gap_unknown, 3);
		finish(k);
		assert_int_equal(k->final[1], LPL_TASK_LEFT);
		assert_int_equal(k->final[2], LPL_TASK_LOST);
		assert_int_equal(stats(k)->live_tasks, 1);
		assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_MISSED_SCHEDULE], 0);
	}
}

/* A snapshot after it: what the kernel names is what it was, the rest is new. */
static void reported_anew(void **state)
{
	struct keeper *k = *state;
	uint64_t own, file;

	begin(k);
	own = wr(k, SPACE, FIRST);
	file = rd(k, SPACE, FIRST + PAGE);
	gap(k, 1, 3);
	SEND_BY(k, TASK, TASK, KTR_SNAPSHOT, 1);
	SEND_BY(k, TASK, TASK, KTR_MAP, SPACE, FIRST, FIRST + PAGE, 3, KTR_MAP_ANONYMOUS);
	SEND_BY(k, TASK, TASK, KTR_MAP, SPACE, FIRST + PAGE, FIRST + 2 * PAGE, 3,
		KTR_MAP_FILE_SHARED, 1, 2, 0);
	SEND_BY(k, TASK, TASK, KTR_CACHE_ADD, 1, 2, 0, 6, 1, KERNEL + PAGE);
	SEND_BY(k, TASK, TASK, KTR_SNAPSHOT, 0);
	assert_int_not_equal(rd(k, SPACE, FIRST), own);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	assert_int_equal(k->last_task.serial, 1);
	assert_int_equal(rd(k, SPACE, FIRST + PAGE), file);
	assert_int_equal(by_kernel(k, KERNEL + PAGE), file);
	/* the frame where it was belongs to none */
	assert_int_not_equal(by_kernel(k, KERNEL), file);
	finish(k);
	assert_int_equal(anomalies(k), 1);
}

/* A fork before, a write after: nothing is parted that is not known to be shared. */
static void sharers_are_forgotten(void **state)
{
	struct keeper *k = *state;

	begin(k);
	wr(k, SPACE, FIRST);
	SEND(k, KTR_SPACE_DUPLICATE, SPACE, OTHER);
	gap(k, 0, 1);
	wr(k, OTHER, FIRST);
	wr(k, SPACE, FIRST);
	assert_int_equal(stats(k)->implied_breaks, 0);
	assert_int_equal(stats(k)->user_unresolved, 2);
	SEND_BY(k, TASK, TASK, KTR_SPACE_END, OTHER);
	SEND_BY(k, TASK, TASK, KTR_SPACE_END, SPACE);
	assert_int_equal(stats(k)->live_spaces, 0);
}

/* At the end of the trace nothing follows that could be wrong. */
static void at_the_end(void **state)
{
	struct keeper *k = *state;

	begin(k);
	gap(k, KTR_NONE, KTR_NONE);
	finish(k);
	assert_int_equal(k->final[1], LPL_TASK_LEFT);
	assert_int_equal(k->final[2], LPL_TASK_LEFT);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_GAP], 1);
}

/* The books say what was lost, and do not balance for it. */
static void audited(void **state)
{
	const struct lpl_merge_options options = { .audit = true, .problems = 1 };
	const struct lpl_merge_problem *problem;
	const struct lpl_merge_audit *books;
	struct keeper *k = *state;
	size_t count;

	lpl_merge_close(k->merge);
	keeper_open(k, &options);
	begin(k);
	rd(k, SPACE, FIRST + PAGE);
	gap(k, 9, 1);
	SEND_BY(k, TASK, TASK, KTR_MAP, SPACE, FIRST + PAGE, FIRST + 2 * PAGE, 3,
		KTR_MAP_FILE_SHARED, 1, 2, 0);
	/* it may have left the page cache */
	rd(k, SPACE, FIRST + PAGE);
	SEND_BY(k, TASK, TASK, KTR_CACHE_ADD, 1, 2, 0, 5, 1, KERNEL);
	rd(k, SPACE, FIRST + PAGE);
	finish(k);
	books = lpl_merge_audit(k->merge);
	assert_int_equal(books->cache_added, 2);
	assert_int_equal(books->cache_lost, 1);
	assert_int_equal(books->cache_held, 1);
	assert_int_equal(books->anomalies, 2);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_NOT_CACHED], 1);
	assert_false(books->balanced);
	problem = lpl_merge_problems(k->merge, &count);
	assert_int_equal(count, 2);
	assert_int_equal(problem[0].anomaly, LPL_ANOMALY_GAP);
	assert_int_equal(problem[0].event.ref, 10);
	assert_int_equal(problem[0].tid, TASK);
}

/* A state that has no end was cut off: what it does not have is missing. */
static void state_without_end(void **state)
{
	struct keeper *k = *state;

	SEND(k, LPL_EVENT_STATE, 1);
	anonymous(k, SPACE, FIRST, 1);
	SEND(k, LPL_EVENT_TASK_STATE, 16, 16, SPACE);
	assert_int_equal(rd(k, SPACE, FIRST), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	/* nor does it end in the middle of what a kernel reports */
	SEND(k, LPL_EVENT_STATE, 1);
	SEND(k, LPL_EVENT_TASK_STATE, 16, 16, SPACE);
	SEND(k, KTR_SCHEDULE, 0, 0, 16, 16, SPACE);
	SEND(k, LPL_EVENT_TASK_STATE, 16, 17, SPACE);	/* no more: it means nothing */
	rd(k, SPACE, FIRST);
	assert_int_equal(k->last_task.tid, 16);
	assert_int_equal(k->last_task.tgid, 16);
	/* and a part of it may be missing within */
	SEND(k, LPL_EVENT_STATE, 1);
	anonymous(k, SPACE, FIRST, 1);
	gap(k, 0, 0);
	rd(k, SPACE, FIRST);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	finish(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(no_event_is_missing), T(events_are_missing), T(reported_anew),
		T(sharers_are_forgotten), T(at_the_end), T(audited),
		T(state_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
