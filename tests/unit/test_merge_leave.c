/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which pages leave memory, and in which order: of files that of the file, and always the same
 * for the same stream, so that what is made of a trace repeats.
 */
#include "merge_keeper.h"

#define DEVICE 0x801
#define INODE 77
#define FRAME 0x1000
#define SPACE 5
#define ADDRESS 0x400000
#define LEAVING 64

struct leaving {
	struct keeper keeper;
	uint64_t page[LEAVING];		/* canonical, in the order in which they left */
	size_t count;
};

static enum lpl_error note(struct lpl_merge_output *output, uint64_t page, bool for_ever,
			   struct lpl_report *report)
{
	struct leaving *leaving = (struct leaving *)output;

	(void)report;
	(void)for_ever;
	assert_true(leaving->count < LEAVING);
	leaving->page[leaving->count++] = page;
	return LPL_OK;
}

static struct leaving *leaving_open(void)
{
	struct leaving *leaving = calloc(1, sizeof(*leaving));
	struct keeper *keeper = &leaving->keeper;

	keeper->output = (struct lpl_merge_output){ .reference = keep_reference,
						    .finish = keep_finish, .page = keep_page,
						    .leave = note };
	assert_int_equal(lpl_merge_open(&keeper->merge, &keeper->output, NULL, NULL), LPL_OK);
	keeper->sink = lpl_merge_sink(keeper->merge);
	map(keeper, SPACE, ADDRESS, 1000, KTR_MAP_FILE_SHARED, DEVICE, INODE, 0);
	return leaving;
}

static void leaving_close(struct leaving *leaving)
{
	finish(&leaving->keeper);
	lpl_merge_close(leaving->keeper.merge);
	free(leaving);
}

/*
 * Pages of the file are referenced in no order of the file's, among them pages of another, and
 * then a run of `pages` frames, of which the first holds page `first`, leaves.
 */
static void leave_in_order(uint64_t first, uint64_t pages)
{
	static const uint64_t referenced[] = { 17, 4, 903, 88, 5, 0, 512, 99, 31, 6, 250, 3 };
	static const uint64_t sorted[] = { 0, 3, 4, 5, 6, 17, 31, 88, 99, 250, 512, 903 };
	const size_t count = sizeof(sorted) / sizeof(sorted[0]);
	struct leaving *leaving = leaving_open();
	struct keeper *keeper = &leaving->keeper;
	uint64_t canonical[1000] = { 0 };
	size_t left = 0;

	map(keeper, SPACE, ADDRESS + 0x1000000, 1000, KTR_MAP_FILE_SHARED, DEVICE, INODE + 1, 0);
	for (size_t i = 0; i < count; i++) {
		canonical[referenced[i]] = rd(keeper, SPACE, ADDRESS + referenced[i] * PAGE);
		rd(keeper, SPACE, ADDRESS + 0x1000000 + referenced[i] * PAGE);
	}
	SEND(keeper, KTR_CACHE_ADD, DEVICE, INODE, first, FRAME, pages, KTR_NONE);
	assert_int_equal(leaving->count, 0);
	SEND(keeper, KTR_CACHE_REMOVE, DEVICE, INODE, first, FRAME, pages);
	for (size_t i = 0; i < count; i++)
		if (sorted[i] >= first && sorted[i] - first < pages)
			assert_int_equal(leaving->page[left++], canonical[sorted[i]]);
	assert_int_equal(leaving->count, left);
	/* in memory no more, but the same pages when they come back */
	assert_int_equal(rd(keeper, SPACE, ADDRESS + 17 * PAGE), canonical[17]);
	leaving_close(leaving);
}

static void short_runs(void **state)
{
	(void)state;
	leave_in_order(0, 7);
	leave_in_order(4, 1);
	leave_in_order(4, 60);
}

/* More pages than were ever referenced: a guest may say any number. */
static void long_runs(void **state)
{
	(void)state;
	leave_in_order(0, 1000);
	leave_in_order(4, 600);
	leave_in_order(0, UINT64_C(1) << 40);
	leave_in_order(5, UINT64_C(1) << 51);
}

/* The file that has an inode's number now is meant, not one before it. */
static void another_generation(void **state)
{
	struct leaving *leaving = leaving_open();
	struct keeper *keeper = &leaving->keeper;
	uint64_t page, again;

	(void)state;
	SEND(keeper, KTR_FILE, DEVICE, INODE, KTR_FILE_REGULAR, 1);
	page = rd(keeper, SPACE, ADDRESS);
	SEND(keeper, KTR_FILE, DEVICE, INODE, KTR_FILE_REGULAR, 2);
	again = rd(keeper, SPACE, ADDRESS + PAGE);
	assert_int_not_equal(page, again);
	for (uint64_t pages = 2; pages < 2000; pages += 1000) {
		leaving->count = 0;
		SEND(keeper, KTR_CACHE_ADD, DEVICE, INODE, 0, FRAME, pages, KTR_NONE);
		SEND(keeper, KTR_CACHE_REMOVE, DEVICE, INODE, 0, FRAME, pages);
		assert_int_equal(leaving->count, 1);
		assert_int_equal(leaving->page[0], again);
	}
	leaving_close(leaving);
}

/* Anonymous pages of several spaces; a snapshot finds some; then events are missing. */
static struct leaving *everything_leaves(void)
{
	const struct lpl_event gap = { .tag = LPL_EVENT_GAP, .arg = { KTR_NONE, KTR_NONE } };
	struct leaving *leaving = leaving_open();
	struct keeper *keeper = &leaving->keeper;

	for (uint64_t space = 10; space < 22; space++)
		anonymous(keeper, space, 0x10000, 4);
	SEND(keeper, KTR_SNAPSHOT, 1);
	for (uint64_t space = 10; space < 22; space++) {
		SEND(keeper, KTR_PRESENT, space, 0x10000, 0x12000, space * 2, KTR_NONE);
		for (uint64_t page = 0; page < 4; page++)
			rd(keeper, space, 0x10000 + page * PAGE);
		SEND(keeper, KTR_UNMAP, space, 0x11000, 0x12000);
	}
	assert_int_equal(leaving->count, 0);	/* the snapshot may report them again */
	SEND(keeper, KTR_SNAPSHOT, 0);
	assert_int_equal(leaving->count, 12);
	keeper->sink->event(keeper->sink, &gap, NULL);
	rd(keeper, 50, 0x10000);
	assert_int_equal(leaving->count, 12 * 4);
	return leaving;
}

/* The same stream, the same order. */
static void repeats(void **state)
{
	struct leaving *one = everything_leaves(), *other = everything_leaves();

	(void)state;
	assert_memory_equal(one->page, other->page, sizeof(one->page));
	leaving_close(one);
	leaving_close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_runs),
		cmocka_unit_test(long_runs),
		cmocka_unit_test(another_generation),
		cmocka_unit_test(repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
