/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The audit: books that balance, and each thing that keeps them from it. */
#include "merge_keeper.h"

static int audit_setup(void **state)
{
	static const struct lpl_merge_options options = { .audit = true, .problems = 2 };
	struct keeper *keeper = malloc(sizeof(*keeper));

	keeper_open(keeper, &options);
	*state = keeper;
	return 0;
}

/* Task 20 runs in space 7, where page 0x10 is anonymous and 0x20 is of a file. */
static void begin(struct keeper *k)
{
	SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	anonymous(k, 7, 0x10000, 1);
	map(k, 7, 0x20000, 4, KTR_MAP_FILE_PRIVATE, 8, 100, 0);
	SEND(k, KTR_CACHE_ADD, 8, 100, 0, 0x50, 4, KERNEL + 0x50000);
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 7);
}

static const struct lpl_merge_audit *books(struct keeper *k)
{
	if (!k->finished)
		finish(k);
	return lpl_merge_audit(k->merge);
}

/* The one kind of thing that is wrong, `times` over; `problems` of them are kept. */
static const struct lpl_merge_problem *expect(struct keeper *k, enum lpl_merge_anomaly kind,
					      uint64_t times, size_t problems)
{
	const struct lpl_merge_problem *problem;
	size_t count;

	assert_false(books(k)->balanced);
	assert_int_equal(stats(k)->anomalies[kind], times);
	assert_int_equal(anomalies(k), times);
	assert_int_equal(books(k)->anomalies, times);
	problem = lpl_merge_problems(k->merge, &count);
	assert_int_equal(count, problems);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(problem[i].anomaly, kind);
	return problem;
}

static void good_books_balance(void **state)
{
	struct keeper *k = *state;
	size_t count;

	assert_null(lpl_merge_audit(k->merge));
	begin(k);
	wr(k, 7, 0x10000);
	rd(k, 7, 0x21000);
	rd(k, 7, 0x21000);
	touch(k, LPL_READ, 0, 7, KERNEL + 0x51000);
	SEND_BY(k, 20, 20, KTR_CACHE_REMOVE, 8, 100, 2, 0x52, 2);
	SEND_BY(k, 20, 20, KTR_CACHE_ADD, 8, 100, 3, 0x52, 1, KTR_NONE);	/* moved */
	rd(k, 7, 0x23000);
	SEND_BY(k, 20, 20, KTR_CACHE_ADD, 8, 100, 3, 0x52, 1, KTR_NONE);	/* once more */
	SEND_BY(k, 20, 20, KTR_SPACE_END, 7);
	SEND_BY(k, 20, 20, KTR_SPACE_END, 99);	/* of an exec that failed */
	SEND_BY(k, 20, 20, KTR_EXIT, 20, 20, 0, 1);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 0x80, 0, 0, 0);
	touch(k, LPL_READ, 0, 7, KERNEL);
	lpl_merge_audit_expect(k->merge, 12, 6);
	assert_int_equal(books(k)->events, 12);
	assert_true(books(k)->balanced);
	assert_int_equal(books(k)->references, 6);
	assert_int_equal(books(k)->by_kind, 6);
	assert_int_equal(books(k)->by_task, 6);
	assert_int_equal(books(k)->processes, 1);
	assert_int_equal(books(k)->tasks, 1);
	assert_int_equal(books(k)->tasks_ended, 1);
	assert_int_equal(books(k)->tasks_live, 0);
	assert_int_equal(books(k)->spaces, 1);
	assert_int_equal(books(k)->spaces_ended, 1);
	assert_int_equal(books(k)->spaces_unused, 1);
	assert_int_equal(books(k)->cache_added, 5);
	assert_int_equal(books(k)->cache_removed, 2);
	assert_int_equal(books(k)->cache_displaced, 0);
	assert_int_equal(books(k)->cache_held, 3);
	assert_int_equal(books(k)->file_references, 3);
	assert_int_equal(books(k)->anomalies, 0);
	assert_null(lpl_merge_problems(k->merge, &count));
	assert_int_equal(count, 0);
}

static void records_that_are_missing(void **state)
{
	struct keeper *k = *state;

	begin(k);
	wr(k, 7, 0x10000);
	lpl_merge_audit_expect(k->merge, 6, 1);
	assert_false(books(k)->balanced);
	assert_int_equal(books(k)->anomalies, 0);
}

static void references_that_are_missing(void **state)
{
	struct keeper *k = *state;

	begin(k);
	wr(k, 7, 0x10000);
	lpl_merge_audit_expect(k->merge, 5, 2);
	assert_false(books(k)->balanced);
}

static void an_unresolved_reference(void **state)
{
	struct keeper *k = *state;
	const struct lpl_merge_problem *problem;

	begin(k);
	for (int i = 0; i < 5; i++)
		rd(k, 7, 0x90000);
	touch(k, LPL_READ, 0, 7, 0x90000);	/* the kernel may look where it likes */
	problem = expect(k, LPL_ANOMALY_UNRESOLVED, 5, 2);
	assert_false(problem[0].is_event);
	assert_int_equal(problem[0].ref.ref, 1);
	assert_int_equal(problem[1].ref.ref, 2);
	assert_int_equal(problem[1].ref.address, 0x90000);
	assert_int_equal(problem[1].tid, 20);
}

static void a_reference_in_the_wrong_space(void **state)
{
	struct keeper *k = *state;

	begin(k);
	SEND_BY(k, 20, 20, KTR_MAP, 8, 0x10000, 0x11000, 3, KTR_MAP_ANONYMOUS);
	rd(k, 7, 0x10000);
	rd(k, 8, 0x10000);
	touch(k, LPL_READ, 0, 8, 0x10000);	/* a kernel thread borrows one */
	assert_int_equal(expect(k, LPL_ANOMALY_ATTRIBUTION, 1, 1)->ref.space, 8);
}

static void no_task_ran_before_the_first_event(void **state)
{
	struct keeper *k = *state;

	touch(k, LPL_READ, 0, 0, KERNEL);	/* boot */
	touch(k, LPL_READ, LPL_USER, 0, KERNEL);
	expect(k, LPL_ANOMALY_ATTRIBUTION, 1, 1);
	assert_int_equal(books(k)->user_before_snapshot, 0);
}

/* What could not be reported is not held against the guest; what could be, is. */
static void a_first_snapshot_begins_the_books(void **state)
{
	struct keeper *k = *state;
	const struct lpl_merge_problem *problem;

	touch(k, LPL_READ, LPL_USER, 7, 0x90000);	/* stray and unresolved */
	touch(k, LPL_READ, LPL_USER, 0, KERNEL);	/* stray */
	SEND(k, KTR_SNAPSHOT, 1);
	begin(k);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 0);
	rd(k, 7, 0x10000);
	rd(k, 7, 0x90000);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 1);	/* a second one excuses nothing */
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 0);
	problem = expect(k, LPL_ANOMALY_UNRESOLVED, 1, 1);
	assert_int_equal(problem->ref.ref, 4);
	assert_int_equal(books(k)->user_before_snapshot, 2);
}

static void before_a_snapshot_the_books_balance(void **state)
{
	struct keeper *k = *state;

	touch(k, LPL_READ, LPL_USER, 7, 0x90000);
	SEND(k, KTR_SNAPSHOT, 1);
	begin(k);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 0);
	rd(k, 7, 0x10000);
	assert_true(books(k)->balanced);
	assert_int_equal(books(k)->user_before_snapshot, 1);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_UNRESOLVED], 0);
}

/*
 * A module loaded in mid-run sees tasks of which it has reported nothing yet.  Those that live
 * are in its snapshot; the others ended before it.
 */
static void tasks_that_ran_before_the_first_snapshot(void **state)
{
	struct keeper *k = *state;

	SEND_BY(k, 44, 44, KTR_SCHEDULE, 44, 1, 20, 20, 7);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 0, 45, 45, 9);
	SEND_BY(k, 45, 45, KTR_EXIT, 45, 45, 0, 1);
	SEND_BY(k, 45, 45, KTR_SCHEDULE, 45, 0x80, 20, 20, 7);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 1);
	SEND_BY(k, 20, 20, KTR_TASK_CREATE, 20, 20, 7, 0);
	SEND_BY(k, 20, 20, KTR_MAP, 7, 0x10000, 0x11000, 3, KTR_MAP_ANONYMOUS);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 0);
	rd(k, 7, 0x10000);
	assert_true(books(k)->balanced);
	assert_int_equal(books(k)->tasks, 3);
	assert_int_equal(anomalies(k), 0);
}

/* It lists all that live as it begins, and of what follows there are events. */
static void tasks_that_no_snapshot_excuses(void **state)
{
	struct keeper *k = *state;
	const struct lpl_merge_problem *problem;

	SEND(k, KTR_SNAPSHOT, 1);
	begin(k);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 0, 44, 44, 0);
	SEND_BY(k, 44, 44, KTR_EXIT, 44, 44, 0, 1);
	SEND_BY(k, 44, 44, KTR_SCHEDULE, 44, 0x80, 45, 45, 0);
	SEND_BY(k, 45, 45, KTR_SCHEDULE, 45, 0, 20, 20, 7);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 0);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 1);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 0);
	problem = expect(k, LPL_ANOMALY_SCHEDULE, 2, 2);
	assert_int_equal(problem[0].event.arg[2], 44);
	assert_int_equal(problem[1].event.arg[2], 45);
}

static void a_range_mapped_twice(void **state)
{
	struct keeper *k = *state;

	begin(k);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 1);
	/* in a snapshot it is the same one */
	SEND_BY(k, 20, 20, KTR_MAP, 7, 0x10000, 0x11000, 3, KTR_MAP_ANONYMOUS);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 0);
	SEND_BY(k, 20, 20, KTR_MAP, 7, 0x23000, 0x25000, 3, KTR_MAP_ANONYMOUS);
	SEND_BY(k, 20, 20, KTR_UNMAP, 7, 0x23000, 0x25000);
	SEND_BY(k, 20, 20, KTR_MAP, 7, 0x23000, 0x25000, 3, KTR_MAP_ANONYMOUS);
	assert_int_equal(expect(k, LPL_ANOMALY_MAPPED_TWICE, 1, 1)->event.arg[2], 0x25000);
}

static void a_write_that_parts_what_is_shared(void **state)
{
	struct keeper *k = *state;
	const struct lpl_merge_problem *problem;

	begin(k);
	wr(k, 7, 0x10000);
	SEND_BY(k, 20, 20, KTR_SPACE_DUPLICATE, 7, 8);
	rd(k, 7, 0x10000);
	wr(k, 7, 0x10000);			/* no event named it */
	wr(k, 7, 0x10000);
	SEND_BY(k, 20, 20, KTR_COW_BREAK, 7, 0x20000, 0x50, 0x90);
	wr(k, 7, 0x20000);
	wr(k, 7, 0x21000);			/* nor of this */
	problem = expect(k, LPL_ANOMALY_UNREPORTED_BREAK, 2, 2);
	assert_int_equal(problem[0].ref.ref, 3);
	assert_int_equal(problem[1].ref.address, 0x21000);
}

static void a_page_not_in_the_page_cache(void **state)
{
	struct keeper *k = *state;
	const struct lpl_merge_problem *problem;

	begin(k);
	SEND_BY(k, 20, 20, KTR_MAP, 7, 0x30000, 0x31000, 3, KTR_MAP_FILE_SHARED, 0, 0, 0);
	rd(k, 7, 0x30000);			/* of an unknown file nothing is reported */
	rd(k, 7, 0x20000);
	SEND_BY(k, 20, 20, KTR_CACHE_REMOVE, 8, 100, 0, 0x50, 1);
	rd(k, 7, 0x21000);
	rd(k, 7, 0x20000);			/* though its translation is known */
	SEND_BY(k, 20, 20, KTR_CACHE_ADD, 8, 100, 0, 0x70, 1, KTR_NONE);
	rd(k, 7, 0x20000);
	SEND_BY(k, 20, 20, KTR_MAP, 7, 0x40000, 0x42000, 3, KTR_MAP_FILE_SHARED, 8, 101, 0);
	rd(k, 7, 0x41000);			/* of a file never seen there */
	rd(k, 7, 0x41000);
	problem = expect(k, LPL_ANOMALY_NOT_CACHED, 3, 2);
	assert_int_equal(problem[0].ref.address, 0x20000);
	assert_int_equal(problem[1].ref.address, 0x41000);
}

static void a_page_in_two_frames(void **state)
{
	struct keeper *k = *state;

	begin(k);
	SEND_BY(k, 20, 20, KTR_CACHE_ADD, 8, 100, 1, 0x70, 2, KTR_NONE);
	/* it leaves the first, and is in the second still */
	SEND_BY(k, 20, 20, KTR_CACHE_REMOVE, 8, 100, 1, 0x51, 2);
	rd(k, 7, 0x21000);
	assert_true(expect(k, LPL_ANOMALY_CACHED_TWICE, 1, 1)->is_event);
	assert_int_equal(books(k)->cache_held, 4);
}

static void a_frame_with_two_pages(void **state)
{
	struct keeper *k = *state;

	begin(k);
	SEND_BY(k, 20, 20, KTR_CACHE_ADD, 8, 101, 0, 0x53, 2, KTR_NONE);
	expect(k, LPL_ANOMALY_CACHE_ADD, 1, 1);
	assert_int_equal(books(k)->cache_added, 6);
	assert_int_equal(books(k)->cache_displaced, 1);
	assert_int_equal(books(k)->cache_held, 5);
}

static void a_page_removed_twice(void **state)
{
	struct keeper *k = *state;

	begin(k);
	SEND_BY(k, 20, 20, KTR_CACHE_REMOVE, 8, 100, 0, 0x50, 1);
	SEND_BY(k, 20, 20, KTR_CACHE_REMOVE, 8, 100, 0, 0x50, 1);
	expect(k, LPL_ANOMALY_CACHE_REMOVE, 1, 1);
}

static void a_space_that_ends_twice(void **state)
{
	struct keeper *k = *state;

	begin(k);
	SEND_BY(k, 20, 20, KTR_SPACE_END, 7);
	SEND_BY(k, 20, 20, KTR_MAP, 7, 0x10000, 0x11000, 3, KTR_MAP_ANONYMOUS);
	SEND_BY(k, 20, 20, KTR_SPACE_END, 7);
	assert_int_equal(anomalies(k), 0);
	SEND_BY(k, 20, 20, KTR_SPACE_END, 7);
	expect(k, LPL_ANOMALY_SPACE_END, 1, 1);
	assert_int_equal(books(k)->spaces, 2);
	assert_int_equal(books(k)->spaces_ended, 2);
	assert_int_equal(books(k)->spaces_unused, 0);
}

static void an_exit_without_a_task(void **state)
{
	struct keeper *k = *state;

	begin(k);
	SEND_BY(k, 20, 20, KTR_EXIT, 31, 31, 0, 1);
	SEND_BY(k, 20, 20, KTR_EXIT, 32, 32, 0, 1);
	SEND_BY(k, 20, 20, KTR_EXIT, 33, 33, 0, 1);
	assert_int_equal(expect(k, LPL_ANOMALY_TASK_UNKNOWN, 3, 2)[1].event.arg[0], 32);
}

static void a_task_never_reported(void **state)
{
	struct keeper *k = *state;
	const struct lpl_merge_problem *problem;

	begin(k);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 1, 44, 44, 0);
	wr(k, 0, 0x10000);
	/* reported at the end, with the event that showed it */
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_SCHEDULE], 0);
	finish(k);
	problem = lpl_merge_problems(k->merge, &(size_t){ 0 });
	assert_int_equal(problem[0].anomaly, LPL_ANOMALY_SCHEDULE);
	assert_int_equal(problem[0].event.tag, KTR_SCHEDULE);
	assert_int_equal(problem[0].event.arg[2], 44);
	assert_int_equal(books(k)->tasks_live, 2);
}

static void clocks_that_run_backwards(void **state)
{
	struct keeper *k = *state;

	begin(k);
	wr(k, 7, 0x10000);
	wr(k, 7, 0x10000);
	k->clock = 0;				/* the next is the first again */
	wr(k, 7, 0x10000);
	wr(k, 7, 0x10000);
	assert_int_equal(expect(k, LPL_ANOMALY_ORDER, 1, 1)->ref.ref, 1);
}

static void unmaps_of_nothing(void **state)
{
	struct keeper *k = *state;

	begin(k);
	SEND_BY(k, 20, 20, KTR_UNMAP, 7, 0x70000, 0x71000);
	expect(k, LPL_ANOMALY_UNMAP, 1, 1);
}

static void books_as_text(void **state)
{
	struct keeper *k = *state;
	char text[4096] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");

	begin(k);
	rd(k, 7, 0x99000);
	SEND_TEXT(k, 20, 20, "\n\\", 4711, 1, 2);
	finish(k);
	lpl_merge_audit_print(k->merge, file);
	fclose(file);
	assert_non_null(strstr(text, "references: 1 = of all tasks: 1\n"));
	assert_non_null(strstr(text, "\nodd, unresolved: 1\n"));
	assert_non_null(strstr(text, "\n  unresolved: by task 20 of 20, cycle 1 reference 1: "
				     "r user space 7 address 99000\n"));
	assert_non_null(strstr(text, "\n  tag: by task 20 of 20, cycle 1 reference 1: tag-4711 "
				     "1,2,0,0,0,0,0,0,0,0,0,0 \\x0a\\x5c\n"));
	assert_non_null(strstr(text, "\nthe books DO NOT balance\n"));
}

/* Nonsense of every kind is never lost: what is counted adds up. */
static void books_of_garbage(void **state)
{
	struct keeper *k = *state;
	uint64_t x = 3;

	for (int i = 0; i < 40000; i++) {
		uint64_t arg[KTR_ARGS];

		for (int j = 0; j < KTR_ARGS; j++) {
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
			arg[j] = x >> 60 == 0 ? x : x >> 35 & 15;
		}
		if (x >> 40 & 1) {
			arg[1] <<= LPL_PAGE_SHIFT;
			arg[2] <<= LPL_PAGE_SHIFT;
		}
		send_by(k, x >> 50 & 3, x >> 52 & 3, x >> 54 & 31, arg, KTR_ARGS, NULL);
		touch(k, x >> 58 & 1, x >> 59 & 1, x >> 42 & 3, arg[1]);
	}
	assert_false(books(k)->balanced);
	assert_int_equal(books(k)->anomalies, anomalies(k));
	assert_int_equal(books(k)->references, 40000);
	assert_int_equal(books(k)->by_kind, 40000);
	assert_int_equal(books(k)->by_task, 40000);
	assert_int_equal(books(k)->tasks, books(k)->tasks_ended + books(k)->tasks_live);
	assert_int_equal(books(k)->spaces, books(k)->spaces_ended + books(k)->spaces_live);
	assert_true(books(k)->cache_added == books(k)->cache_removed +
		    books(k)->cache_displaced + books(k)->cache_held);
}

#define A(f) cmocka_unit_test_setup_teardown(f, audit_setup, teardown)

/* Where everything is forgotten for want of memory, what ends then has not ended before. */
static void a_space_that_was_forgotten(void **state)
{
	static const struct lpl_merge_options options = { .audit = true, .memory = 1 };
	struct keeper *k = malloc(sizeof(*k));

	(void)state;
	keeper_open(k, &options);
	anonymous(k, 7, 0x10000, 1);
	assert_true(stats(k)->forgotten > 0);
	SEND(k, KTR_SPACE_END, 7);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_SPACE_END], 0);
	finish(k);
	lpl_merge_close(k->merge);
	free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		A(good_books_balance),
		A(records_that_are_missing),
		A(references_that_are_missing),
		A(an_unresolved_reference),
		A(a_reference_in_the_wrong_space),
		A(no_task_ran_before_the_first_event),
		A(a_first_snapshot_begins_the_books),
		A(before_a_snapshot_the_books_balance),
		A(tasks_that_ran_before_the_first_snapshot),
		A(tasks_that_no_snapshot_excuses),
		A(a_range_mapped_twice),
		A(a_write_that_parts_what_is_shared),
		A(a_page_not_in_the_page_cache),
		A(a_page_in_two_frames),
		A(a_frame_with_two_pages),
		A(a_page_removed_twice),
		A(a_space_that_ends_twice),
		A(a_space_that_was_forgotten),
		A(an_exit_without_a_task),
		A(a_task_never_reported),
		A(clocks_that_run_backwards),
		A(unmaps_of_nothing),
		A(books_as_text),
		A(books_of_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
