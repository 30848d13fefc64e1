/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages that are a space's own or no longer, what a snapshot finds, files that are reborn. */
#include "merge_keeper.h"

static void discarded_pages_come_anew(void **state)
{
	struct keeper *k = *state;

	map(k, 9, 0, 16, KTR_MAP_FILE_SHARED, 8, 1, 0);
	assert_int_equal(rd(k, 9, 0x4000), 1);
	anonymous(k, 7, 0x10000, 2);
	map(k, 7, 0x20000, 2, KTR_MAP_FILE_PRIVATE, 8, 1, 4);
	assert_int_equal(wr(k, 7, 0x10000), 2);
	assert_int_equal(wr(k, 7, 0x20000), 3);
	SEND(k, KTR_DISCARD, 7, 0x10000, 0x11000);
	assert_int_equal(rd(k, 7, 0x10000), 4);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	/* the file is there again, where it was and where it was moved to */
	SEND(k, KTR_DISCARD, 7, 0x20000, 0x22000);
	assert_int_equal(rd(k, 7, 0x20000), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_FILE);
	assert_int_equal(wr(k, 7, 0x20000), 5);
	SEND(k, KTR_REMAP, 7, 0x20000, 0x22000, 0x33000, 0x35000);
	assert_int_equal(rd(k, 7, 0x33000), 5);
	SEND(k, KTR_DISCARD, 7, 0x33000, 0x34000);
	assert_int_equal(rd(k, 7, 0x33000), 1);
	/* in one of two that share */
	assert_int_equal(wr(k, 7, 0x11000), 6);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 11);
	SEND(k, KTR_DISCARD, 11, 0x11000, 0x12000);
	assert_int_equal(rd(k, 11, 0x11000), 7);
	assert_int_equal(wr(k, 7, 0x11000), 6);
	assert_int_equal(anomalies(k), 0);
	/* a shared mapping has nothing of its space's own */
	SEND(k, KTR_DISCARD, 9, 0, 0x2000);
	SEND(k, KTR_DISCARD, 9, 0x700000, 0x702000);
	SEND(k, KTR_DISCARD, 99, 0x700000, 0x702000);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_OWN_PAGES], 3);
	assert_int_equal(rd(k, 9, 0x4000), 1);
	SEND(k, KTR_DISCARD, 7, 0x2000, 0x1000);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_RANGE], 1);
}

/* The first touch of anonymous memory that a relative has not touched either. */
static void pages_of_ones_own(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 600);
	map(k, 7, 0x800000, 600, KTR_MAP_FILE_PRIVATE, 8, 1, 0);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 9);
	SEND(k, KTR_PAGE_OWN, 9, 0x11000, 77, 1);
	assert_int_equal(rd(k, 9, 0x11000), 2);
	assert_int_equal(rd(k, 7, 0x11000), 3);
	/* a page copied at once by fork */
	SEND(k, KTR_PAGE_OWN, 9, 0x10000, 78, 1);
	assert_int_equal(rd(k, 9, 0x10000), 4);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	/* one that is not shared is kept */
	SEND(k, KTR_PAGE_OWN, 9, 0x10000, 78, 1);
	assert_int_equal(rd(k, 9, 0x10000), 4);
	/* a huge one */
	SEND(k, KTR_PAGE_OWN, 7, 0x20000, 0x200, 512);
	assert_int_equal(rd(k, 7, 0x25000), 5);
	assert_int_equal(rd(k, 9, 0x25000), 6);
	/* pages of a file that are the space's own without a reference; a fork shares them */
	assert_int_equal(rd(k, 7, 0x801000), 7);
	SEND(k, KTR_PAGE_OWN, 7, 0x800000, 0x400, 512);
	assert_int_equal(rd(k, 7, 0x801000), 8);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	assert_int_equal(rd(k, 9, 0x801000), 7);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 11);
	assert_int_equal(rd(k, 11, 0x802000), 9);
	assert_int_equal(rd(k, 7, 0x802000), 9);
	assert_int_equal(wr(k, 11, 0x802000), 10);
	SEND(k, KTR_DISCARD, 7, 0x801000, 0x802000);
	assert_int_equal(rd(k, 7, 0x801000), 7);
	assert_int_equal(anomalies(k), 0);
	SEND(k, KTR_PAGE_OWN, 7, 0x7000000, 1, 1);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_OWN_PAGES], 1);
	SEND(k, KTR_PAGE_OWN, 7, 0x10000, 1, 0);
	SEND(k, KTR_PAGE_OWN, 7, KERNEL, 1, 1);
	SEND(k, KTR_PAGE_OWN, 7, 0x10000, 1, UINT64_MAX);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_RANGE], 3);
}

/* Pages shared by a fork that was over when the trace began. */
static void a_snapshot_finds_sharers(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_SNAPSHOT, 1);
	anonymous(k, 7, 0x10000, 16);
	map(k, 7, 0x80000, 4, KTR_MAP_FILE_PRIVATE, 8, 1, 0);
	SEND(k, KTR_PRESENT, 7, 0x10000, 0x14000, 0x500, KTR_NONE);
	SEND(k, KTR_PRESENT, 7, 0x14000, 0x15000, KTR_NONE, 0x99);
	SEND(k, KTR_PRESENT, 7, 0x81000, 0x82000, 0x700, 0xaa);
	anonymous(k, 9, 0x30000, 16);
	SEND(k, KTR_PRESENT, 9, 0x32000, 0x34000, 0x502, KTR_NONE);
	SEND(k, KTR_PRESENT, 9, 0x34000, 0x35000, KTR_NONE, 0x99);
	map(k, 9, 0x80000, 4, KTR_MAP_FILE_PRIVATE, 8, 1, 0);
	/* swapped out in one, in the swap cache in the other */
	SEND(k, KTR_PRESENT, 9, 0x81000, 0x82000, KTR_NONE, 0xaa);
	/* during the snapshot a page that has one sharer is written, and is kept */
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	SEND(k, KTR_SNAPSHOT, 0);
	assert_int_equal(rd(k, 7, 0x12000), 2);
	assert_int_equal(rd(k, 9, 0x32000), 2);
	assert_int_equal(rd(k, 9, 0x33000), 3);
	assert_int_equal(rd(k, 7, 0x13000), 3);
	assert_int_equal(rd(k, 7, 0x14000), 4);
	assert_int_equal(rd(k, 9, 0x34000), 4);
	assert_int_equal(rd(k, 7, 0x81000), 5);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	assert_int_equal(rd(k, 9, 0x81000), 5);
	assert_int_equal(rd(k, 9, 0x82000), 6);
	assert_int_equal(k->last.kind, LPL_PAGE_FILE);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	SEND(k, KTR_COW_BREAK, 9, 0x32000, 0x502, 0x900);
	assert_int_equal(wr(k, 9, 0x32000), 7);
	assert_int_equal(wr(k, 7, 0x12000), 2);
	assert_int_equal(anomalies(k), 0);
	assert_int_equal(stats(k)->implied_breaks, 0);
	/* the frames mean nothing any more */
	SEND(k, KTR_SNAPSHOT, 1);
	anonymous(k, 11, 0x10000, 1);
	SEND(k, KTR_PRESENT, 11, 0x10000, 0x11000, 0x502, KTR_NONE);
	SEND(k, KTR_SNAPSHOT, 0);
	assert_int_equal(rd(k, 11, 0x10000), 8);
	SEND(k, KTR_PRESENT, 11, 0x70000, 0x71000, 0x502, KTR_NONE);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_OWN_PAGES], 1);
	SEND(k, KTR_PRESENT, 11, 0x10000, 0x11000, KTR_NONE, KTR_NONE);
	SEND(k, KTR_PRESENT, 11, 0, UINT64_C(1) << 47, 5, KTR_NONE);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_RANGE], 2);
}

static void a_snapshot_reports_no_births(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 7);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 1);
	SEND_BY(k, 20, 20, KTR_TASK_CREATE, 21, 20, 7, 0x100);
	assert_int_equal(k->task.parent, 0);
	SEND_BY(k, 20, 20, KTR_SNAPSHOT, 0);
	SEND_BY(k, 20, 20, KTR_TASK_CREATE, 22, 20, 7, 0x100);
	assert_int_equal(k->task.parent, 1);
	assert_int_equal(anomalies(k), 0);
}

/* An inode's number is used again for another file. */
static void generations_of_files(void **state)
{
	const uint64_t old[] = { 8, 100, KTR_FILE_REGULAR, 5 };
	const uint64_t new[] = { 8, 100, KTR_FILE_REGULAR, 6 };
	struct keeper *k = *state;

	send_by(k, 0, 0, KTR_FILE, old, 4, "/tmp/old");
	map(k, 7, 0x10000, 2, KTR_MAP_FILE_SHARED, 8, 100, 0);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	assert_int_equal(k->page.generation, 5);
	assert_string_equal(k->page_name, "/tmp/old");
	/* it leaves the page cache and comes again */
	send_by(k, 0, 0, KTR_FILE, old, 4, "/tmp/old");
	assert_int_equal(rd(k, 7, 0x10000), 1);
	SEND(k, KTR_UNMAP, 7, 0x10000, 0x12000);
	/* mapped before its first page is cached */
	map(k, 7, 0x20000, 2, KTR_MAP_FILE_SHARED, 8, 100, 0);
	send_by(k, 0, 0, KTR_FILE, new, 4, "/tmp/new");
	assert_int_equal(rd(k, 7, 0x20000), 2);
	assert_int_equal(k->page.generation, 6);
	assert_int_equal(k->page.inode, 100);
	assert_string_equal(k->page_name, "/tmp/new");
	SEND(k, KTR_CACHE_ADD, 8, 100, 0, 0x50, 1, KERNEL + 0x50000);
	assert_int_equal(touch(k, LPL_READ, 0, 7, KERNEL + 0x50000), 2);
	assert_int_equal(rd(k, 7, 0x21000), 3);
	/* a file that cannot be named belongs to none */
	send_by(k, 0, 0, KTR_FILE, (const uint64_t[]){ 8, KTR_NONE, 0, 1 }, 4, "x");
	assert_int_equal(anomalies(k), 0);
}

/* A disk's own pages: what the kernel reads of it besides files. */
static void the_buffer_cache(void **state)
{
	const uint64_t disk[] = { 5, 3, KTR_FILE_BLOCK, 0, 0x800000 };
	struct keeper *k = *state;

	send_by(k, 0, 0, KTR_FILE, disk, 5, "sda");
	SEND(k, KTR_CACHE_ADD, 5, 3, 9, 0x50, 1, KERNEL + 0x50000);
	assert_int_equal(touch(k, LPL_READ, 0, 7, KERNEL + 0x50000), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_CACHE);
	assert_int_equal(k->page.kind, LPL_PAGE_FILE);
	assert_int_equal(k->page.offset, 9);
	assert_string_equal(k->page_name, "sda");
}

/* What changes neither a page nor a task: no page gets another number. */
static void swap_and_protection_keep_pages(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 600);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	SEND(k, KTR_SWAP_OUT, 7, 0x10000, 0x99, 0x50, 1, 0, KTR_NONE);
	SEND(k, KTR_SWAP_IN, 7, 0x10000, 0x99, 0x60, 1, 0, KTR_NONE);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	SEND(k, KTR_MPROTECT, 7, 0x10000, 0x12000, KTR_PROT_READ);
	SEND(k, KTR_HUGE_MAP, 7, 0x10000, 0x200, 512);
	SEND(k, KTR_HUGE_SPLIT, 7, 0x10000, 0x200, 512);
	SEND(k, KTR_SYSCALL_ENTER, 1, 0, 2, 3);
	SEND(k, KTR_SYSCALL_EXIT, 1, 0, 2);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(anomalies(k), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(discarded_pages_come_anew),
		T(pages_of_ones_own),
		T(a_snapshot_finds_sharers),
		T(a_snapshot_reports_no_births),
		T(generations_of_files),
		T(the_buffer_cache),
		T(swap_and_protection_keep_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
