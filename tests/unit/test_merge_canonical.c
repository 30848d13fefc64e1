/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams whose pages are canonical already: only tasks are followed, and pages are what they say. */
#include "merge_keeper.h"

static void describe(struct keeper *k, uint64_t number, enum lpl_page_kind kind, uint64_t inode,
		     const char *name)
{
	SEND_TEXT(k, 0, 0, name, LPL_EVENT_PAGE, number, kind, 8, inode, 3, 0, 5, 6);
}

static void pages_are_what_they_say(void **state)
{
	struct keeper *k = *state;

	describe(k, 7, LPL_PAGE_FILE, 100, "libc");
	describe(k, 900, LPL_PAGE_ANONYMOUS, 0, NULL);
	/* numbered as they are referenced, and reported then */
	assert_int_equal(k->page.page, 0);
	assert_int_equal(rd(k, 0, 900 * PAGE), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	assert_int_equal(k->page.number, 900);
	assert_int_equal(k->page.space, 5);
	assert_int_equal(k->page.virtual_page, 6);
	assert_int_equal(rd(k, 0, 7 * PAGE), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_FILE);
	assert_int_equal(k->page.number, 7);
	assert_int_equal(k->page.device, 8);
	assert_int_equal(k->page.inode, 100);
	assert_int_equal(k->page.offset, 3);
	assert_string_equal(k->page_name, "libc");
	assert_int_equal(rd(k, 0, 900 * PAGE + 5), 1);
	/* what an event of another stream would do does nothing here */
	anonymous(k, 0, 7 * PAGE, 1);
	SEND(k, KTR_UNMAP, 0, 7 * PAGE, 8 * PAGE);
	describe(k, 7, LPL_PAGE_ANONYMOUS, 0, NULL);
	assert_int_equal(rd(k, 0, 7 * PAGE), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_FILE);
	assert_int_equal(k->page.page, 2);
	assert_int_equal(stats(k)->pages[LPL_PAGE_FILE], 1);
	assert_int_equal(stats(k)->pages[LPL_PAGE_ANONYMOUS], 1);
	assert_int_equal(anomalies(k), 0);
	assert_int_equal(k->events_seen, 2);	/* those about pages are not passed on */
}

static void a_damaged_one_has_pages_all_the_same(void **state)
{
	struct keeper *k = *state;

	describe(k, 1, LPL_PAGE_SHM, 1, "once");
	describe(k, 1, LPL_PAGE_FILE, 2, "twice");
	describe(k, 2, LPL_PAGE_KINDS + 40, 3, NULL);
	describe(k, 4, LPL_PAGE_CACHE, 3, NULL);	/* how a page is referenced, not what it is */
	describe(k, UINT64_MAX, LPL_PAGE_FILE, 4, "never referenced");
	assert_int_equal(rd(k, 0, 1 * PAGE), 1);
	assert_string_equal(k->page_name, "twice");
	assert_int_equal(rd(k, 0, 2 * PAGE), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	assert_int_equal(rd(k, 0, 4 * PAGE), 3);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	/* no event described these */
	assert_int_equal(rd(k, 3, UINT64_MAX - 1), 4);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	assert_int_equal(k->page.virtual_page, UINT64_MAX >> LPL_PAGE_SHIFT);
	assert_int_equal(touch(k, LPL_WALK_READ, 0, 0, 9 * PAGE), 5);
	assert_int_equal(k->last.kind, LPL_PAGE_PHYSICAL);
	assert_int_equal(k->page.offset, 9);
}

static void tasks_are_followed(void **state)
{
	struct keeper *k = *state;

	describe(k, 1, LPL_PAGE_FILE, 1, NULL);
	SEND_BY(k, 0, 0, KTR_SCHEDULE, 0, 0, 20, 20, 7);
	rd(k, 0, 1 * PAGE);
	assert_int_equal(k->last_task.tid, 20);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, KTR_STATE_SLEEPING, 0, 0, 0);
	rd(k, 0, 1 * PAGE);
	assert_int_equal(k->last_task.serial, 0);
}

/* Once there was a reference, a stream is none of these. */
static void not_in_the_middle(void **state)
{
	struct keeper *k = *state;

	assert_int_equal(rd(k, 7, 1 * PAGE), 1);
	describe(k, 2, LPL_PAGE_FILE, 1, NULL);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_TAG], 1);
	assert_int_equal(rd(k, 7, 2 * PAGE), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(pages_are_what_they_say),
		T(a_damaged_one_has_pages_all_the_same),
		T(tasks_are_followed),
		T(not_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
