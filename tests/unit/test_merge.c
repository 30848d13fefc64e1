/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Canonical pages, rule by rule, on streams made by hand. */
#include "merge_keeper.h"

/* ---- files ---- */

/* The paper's example: x is unmapped, and the same file page is mapped at y. */
static void file_keeps_its_page(void **state)
{
	struct keeper *k = *state;
	uint64_t page;

	map(k, 7, 0x10000, 4, KTR_MAP_FILE_SHARED, 8, 100, 2);
	page = rd(k, 7, 0x11234);		/* file page 3 */
	assert_int_equal(page, 1);
	assert_int_equal(k->last.kind, LPL_PAGE_FILE);
	assert_int_equal(rd(k, 7, 0x10000), 2);
	SEND(k, KTR_UNMAP, 7, 0x10000, 0x14000);
	map(k, 7, 0x50000, 1, KTR_MAP_FILE_SHARED, 8, 100, 3);
	assert_int_equal(rd(k, 7, 0x50ff0), page);
	/* another process, privately, at the same time, elsewhere */
	map(k, 9, 0x7000, 8, KTR_MAP_FILE_PRIVATE, 8, 100, 0);
	assert_int_equal(touch(k, LPL_FETCH, LPL_USER, 9, 0xa000), page);
	/* written shared it remains the file's */
	assert_int_equal(wr(k, 7, 0x50000), page);
	/* the same inode number on another device, another inode */
	map(k, 9, 0x20000, 8, KTR_MAP_FILE_PRIVATE, 9, 100, 0);
	assert_int_equal(rd(k, 9, 0x23000), 3);
	map(k, 9, 0x30000, 8, KTR_MAP_FILE_PRIVATE, 8, 101, 0);
	assert_int_equal(rd(k, 9, 0x33000), 4);
	/* even when no space is left */
	SEND(k, KTR_SPACE_END, 7);
	SEND(k, KTR_SPACE_END, 9);
	map(k, 7, 0x90000, 1, KTR_MAP_FILE_SHARED, 8, 100, 3);
	assert_int_equal(rd(k, 7, 0x90000), page);
	assert_int_equal(stats(k)->pages[LPL_PAGE_FILE], 4);
	assert_int_equal(anomalies(k), 0);
}

static void unmapped_place_means_another_file(void **state)
{
	struct keeper *k = *state;

	map(k, 7, 0x10000, 2, KTR_MAP_FILE_SHARED, 8, 1, 0);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	SEND(k, KTR_UNMAP, 7, 0x10000, 0x12000);
	map(k, 7, 0x10000, 2, KTR_MAP_FILE_SHARED, 8, 2, 0);
	assert_int_equal(rd(k, 7, 0x10000), 2);
	/* mapped over, without an unmap */
	map(k, 7, 0x10000, 1, KTR_MAP_FILE_SHARED, 8, 3, 0);
	assert_int_equal(rd(k, 7, 0x10000), 3);
	assert_int_equal(rd(k, 7, 0x11000), 4);	/* page 1 of inode 2: first seen now */
}

static void private_file_page_becomes_anonymous(void **state)
{
	struct keeper *k = *state;
	uint64_t file;

	map(k, 7, 0x10000, 3, KTR_MAP_FILE_PRIVATE, 8, 1, 0);
	map(k, 9, 0x10000, 3, KTR_MAP_FILE_PRIVATE, 8, 1, 0);
	file = rd(k, 7, 0x10000);
	assert_int_equal(rd(k, 9, 0x10000), file);
	SEND(k, KTR_COW_BREAK, 7, 0x10010, 55, 56);
	assert_int_equal(wr(k, 7, 0x10000), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	assert_int_equal(rd(k, 7, 0x10000), 2);
	assert_int_equal(rd(k, 9, 0x10000), file);
	assert_int_equal(stats(k)->implied_breaks, 0);
	/* the event is missing: the write itself shows it */
	assert_int_equal(rd(k, 7, 0x11000), 3);
	assert_int_equal(wr(k, 7, 0x11000), 4);
	assert_int_equal(rd(k, 9, 0x11000), 3);
	assert_int_equal(stats(k)->implied_breaks, 1);
	/* mapped again, it is the file's page once more */
	SEND(k, KTR_UNMAP, 7, 0x10000, 0x13000);
	map(k, 7, 0x10000, 3, KTR_MAP_FILE_PRIVATE, 8, 1, 0);
	assert_int_equal(rd(k, 7, 0x10000), file);
}

static void unknown_files_are_not_one_file(void **state)
{
	struct keeper *k = *state;

	map(k, 7, 0x10000, 1, KTR_MAP_FILE_SHARED, 0, 0, 0);
	map(k, 7, 0x20000, 1, KTR_MAP_FILE_SHARED, 0, 0, 0);
	map(k, 7, 0x30000, 1, KTR_MAP_ANONYMOUS_SHARED, 0, KTR_NONE, 0);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	assert_int_equal(rd(k, 7, 0x20000), 2);
	assert_int_equal(wr(k, 7, 0x30000), 3);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 9);
	assert_int_equal(wr(k, 9, 0x30000), 3);	/* but fork shares it */
}

/* ---- fork ---- */

static void fork_shares_until_the_child_breaks(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 4);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(wr(k, 7, 0x11000), 2);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 9);
	assert_int_equal(rd(k, 9, 0x10000), 1);
	assert_int_equal(rd(k, 9, 0x11000), 2);
	SEND(k, KTR_COW_BREAK, 9, 0x10000, 5, 6);
	assert_int_equal(wr(k, 9, 0x10000), 3);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	assert_int_equal(rd(k, 9, 0x11000), 2);
	/* the parent has its page alone now, and keeps it, reported or not */
	assert_int_equal(wr(k, 7, 0x10000), 1);
	SEND(k, KTR_COW_BREAK, 7, 0x10000, 5, 5);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(stats(k)->cow_breaks, 2);
	assert_int_equal(stats(k)->cow_kept, 1);
	assert_int_equal(stats(k)->implied_breaks, 0);
}

static void fork_shares_until_the_parent_breaks(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 9);
	SEND(k, KTR_COW_BREAK, 7, 0x10000, 5, 6);
	assert_int_equal(wr(k, 7, 0x10000), 2);
	assert_int_equal(rd(k, 9, 0x10000), 1);
	assert_int_equal(wr(k, 9, 0x10000), 1);
}

static void a_write_to_a_shared_page_proves_a_break(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 9);
	assert_int_equal(wr(k, 7, 0x10000), 2);	/* cached as writable before the fork */
	assert_int_equal(rd(k, 9, 0x10000), 1);
	assert_int_equal(stats(k)->implied_breaks, 1);
	/* the kernel's copy_to_user() is stopped by write protection as well */
	SEND(k, KTR_SPACE_DUPLICATE, 9, 11);
	assert_int_equal(touch(k, LPL_WRITE, 0, 11, 0x10000), 3);
	assert_int_equal(rd(k, 9, 0x10000), 1);
	assert_int_equal(stats(k)->implied_breaks, 2);
}

static void a_kept_page_remains_and_is_alone(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 9);	/* its end is not reported */
	SEND(k, KTR_COW_BREAK, 7, 0x10000, 5, 5);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(stats(k)->implied_breaks, 0);
}

static void last_sharer_keeps_the_page(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 2);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(wr(k, 7, 0x11000), 2);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 9);
	SEND(k, KTR_UNMAP, 9, 0x10000, 0x11000);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	SEND(k, KTR_SPACE_END, 9);
	assert_int_equal(wr(k, 7, 0x11000), 2);
	assert_int_equal(stats(k)->implied_breaks, 0);
}

/*
 * Pages not seen before the fork are of one lineage as well, whoever sees them
 * first, and whatever happens to their neighbours.
 */
static void untouched_pages_are_shared_too(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 0x200);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 9);
	SEND(k, KTR_COW_BREAK, 9, 0x15000, 5, 6);
	SEND(k, KTR_UNMAP, 9, 0x18000, 0x19000);
	assert_int_equal(rd(k, 9, 0x16000), 1);
	assert_int_equal(rd(k, 7, 0x16000), 1);
	assert_int_equal(rd(k, 7, 0x17000), 2);
	assert_int_equal(rd(k, 9, 0x17000), 2);
	assert_int_equal(rd(k, 7, 0x150000), 3);
	assert_int_equal(rd(k, 9, 0x150000), 3);
	assert_int_equal(rd(k, 7, 0x15000), 4);
	assert_int_equal(rd(k, 9, 0x15000), 5);
	/* but first written is demand-zero in each: nothing was shared */
	assert_int_equal(wr(k, 9, 0x14000), 6);
	assert_int_equal(wr(k, 7, 0x14000), 7);
	assert_int_equal(stats(k)->implied_breaks, 0);
}

static void three_generations(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 1, 0x10000, 1);
	assert_int_equal(wr(k, 1, 0x10000), 1);
	SEND(k, KTR_SPACE_DUPLICATE, 1, 2);
	SEND(k, KTR_SPACE_DUPLICATE, 2, 3);
	SEND(k, KTR_COW_BREAK, 2, 0x10000, 5, 6);
	assert_int_equal(wr(k, 2, 0x10000), 2);
	assert_int_equal(rd(k, 1, 0x10000), 1);
	assert_int_equal(rd(k, 3, 0x10000), 1);
	SEND(k, KTR_SPACE_END, 2);
	assert_int_equal(wr(k, 3, 0x10000), 3);	/* 1 still shares */
	assert_int_equal(wr(k, 1, 0x10000), 1);
}

static void shared_mappings_survive_fork(void **state)
{
	struct keeper *k = *state;

	map(k, 7, 0x10000, 1, KTR_MAP_FILE_SHARED, 8, 1, 0);
	map(k, 7, 0x20000, 1, KTR_MAP_ANONYMOUS_SHARED, 1, 33, 0);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(wr(k, 7, 0x20000), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_SHM);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 9);
	assert_int_equal(wr(k, 9, 0x10000), 1);
	assert_int_equal(wr(k, 9, 0x20000), 2);
	SEND(k, KTR_COW_BREAK, 9, 0x20000, 1, 2);
	assert_int_equal(wr(k, 9, 0x20000), 2);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_COW_BREAK], 1);
}

/* ---- anonymous memory ---- */

static void unmap_forgets(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 4);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(wr(k, 7, 0x13000), 2);
	SEND(k, KTR_UNMAP, 7, 0x10000, 0x12000);
	anonymous(k, 7, 0x10000, 2);
	assert_int_equal(wr(k, 7, 0x10000), 3);
	assert_int_equal(wr(k, 7, 0x13000), 2);
	/* the same addresses in another space have nothing to do with it */
	anonymous(k, 9, 0x10000, 4);
	assert_int_equal(rd(k, 9, 0x13000), 4);
}

static void brk_grows_and_shrinks(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_BRK, 7, 0x10000, 0x12800);
	assert_int_equal(wr(k, 7, 0x12fff), 1);	/* the last page is whole */
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	SEND(k, KTR_BRK, 7, 0x12800, 0x14000);
	assert_int_equal(wr(k, 7, 0x12000), 1);
	assert_int_equal(wr(k, 7, 0x13000), 2);
	SEND(k, KTR_BRK, 7, 0x14000, 0x12001);	/* in page 0x12, which is kept */
	assert_int_equal(wr(k, 7, 0x12000), 1);
	SEND(k, KTR_BRK, 7, 0x12001, 0x14000);
	assert_int_equal(wr(k, 7, 0x13000), 3);
	/* a kernel that reports the same by maps and unmaps as well */
	map(k, 7, 0x14000, 2, KTR_MAP_HEAP, 0, KTR_NONE, 0);
	assert_int_equal(wr(k, 7, 0x14000), 4);
	SEND(k, KTR_BRK, 7, 0x14000, 0x17000);
	assert_int_equal(wr(k, 7, 0x14000), 4);
	assert_int_equal(wr(k, 7, 0x16000), 5);
	SEND(k, KTR_UNMAP, 7, 0x14000, 0x17000);
	SEND(k, KTR_BRK, 7, 0x17000, 0x14000);
	assert_int_equal(anomalies(k), 0);
	assert_int_equal(stats(k)->references[LPL_PAGE_UNRESOLVED], 0);
}

static void remap_moves_pages(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 4);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(wr(k, 7, 0x13000), 2);
	SEND(k, KTR_REMAP, 7, 0x10000, 0x14000, 0x80000, 0x88000);
	assert_int_equal(rd(k, 7, 0x80000), 1);
	assert_int_equal(rd(k, 7, 0x83000), 2);
	assert_int_equal(rd(k, 7, 0x87000), 3);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	assert_int_equal(rd(k, 7, 0x10000), 4);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	/* the kernel unmaps the old place after the move: nothing odd, but more is */
	SEND(k, KTR_UNMAP, 7, 0x10000, 0x14000);
	assert_int_equal(anomalies(k), 0);
	SEND(k, KTR_UNMAP, 7, 0xf000, 0x14000);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_UNMAP], 1);
	/* shrinking, in place and elsewhere */
	SEND(k, KTR_REMAP, 7, 0x80000, 0x88000, 0x80000, 0x84000);
	assert_int_equal(rd(k, 7, 0x83000), 2);
	assert_int_equal(rd(k, 7, 0x87000), 5);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	SEND(k, KTR_REMAP, 7, 0x80000, 0x84000, 0x90000, 0x91000);
	assert_int_equal(rd(k, 7, 0x90000), 1);
	assert_int_equal(rd(k, 7, 0x83000), 6);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
}

static void remap_keeps_the_file_under_it(void **state)
{
	struct keeper *k = *state;

	map(k, 7, 0x10000, 2, KTR_MAP_FILE_PRIVATE, 8, 1, 4);
	assert_int_equal(wr(k, 7, 0x10000), 1);	/* file page 4, broken */
	assert_int_equal(wr(k, 7, 0x11000), 2);	/* 5, broken */
	SEND(k, KTR_REMAP, 7, 0x10000, 0x12000, 0x33000, 0x36000);
	assert_int_equal(rd(k, 7, 0x33000), 1);
	assert_int_equal(rd(k, 7, 0x34000), 2);
	assert_int_equal(rd(k, 7, 0x35000), 3);
	assert_int_equal(k->last.kind, LPL_PAGE_FILE);
	/* 3 is page 6 of the file */
	map(k, 9, 0, 16, KTR_MAP_FILE_SHARED, 8, 1, 0);
	assert_int_equal(rd(k, 9, 0x6000), 3);
}

static void remap_of_a_shared_page(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 2);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	SEND(k, KTR_SPACE_DUPLICATE, 7, 9);
	SEND(k, KTR_REMAP, 9, 0x10000, 0x12000, 0x50000, 0x52000);
	assert_int_equal(rd(k, 9, 0x50000), 1);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	SEND(k, KTR_COW_BREAK, 9, 0x50000, 1, 2);
	assert_int_equal(wr(k, 9, 0x50000), 2);
	assert_int_equal(wr(k, 7, 0x10000), 1);
}

/* ---- shared memory ---- */

static void segments(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_SHM_ATTACH, 7, 0x10000, 0x14000, 3, 0);	/* inode 0 is one */
	SEND(k, KTR_SHM_ATTACH, 9, 0x70000, 0x74000, 3, 0);
	SEND(k, KTR_SHM_ATTACH, 9, 0x80000, 0x84000, 4, 1);
	assert_int_equal(wr(k, 7, 0x12000), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_SHM);
	assert_int_equal(wr(k, 9, 0x72000), 1);
	assert_int_equal(wr(k, 9, 0x82000), 2);
	/* reported as a mapping, of whatever device, it is the same segment */
	map(k, 11, 0x30000, 4, KTR_MAP_SHM, 5, 0, 0);
	assert_int_equal(wr(k, 11, 0x32000), 1);
	/* a file with the number of the segment is another thing */
	map(k, 11, 0x40000, 4, KTR_MAP_FILE_SHARED, 0, 1, 0);
	assert_int_equal(rd(k, 11, 0x42000), 3);
	/* a hole in it; detached, all pieces go, and nothing else */
	SEND(k, KTR_UNMAP, 9, 0x71000, 0x72000);
	SEND(k, KTR_SHM_DETACH, 9, 0x70000);
	assert_int_equal(rd(k, 9, 0x72000), 4);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	assert_int_equal(rd(k, 9, 0x82000), 2);
	/* attached again, it is the same */
	SEND(k, KTR_SHM_ATTACH, 9, 0x90000, 0x94000, 3, 0);
	assert_int_equal(rd(k, 9, 0x92000), 1);
	/* a kernel that reports the unmapping of a part, then that a mapping is closed */
	SEND(k, KTR_UNMAP, 9, 0x90000, 0x91000);
	SEND(k, KTR_SHM_DETACH, 9, 0x90000);
	assert_int_equal(rd(k, 9, 0x92000), 1);
	assert_int_equal(anomalies(k), 0);
	SEND(k, KTR_SHM_DETACH, 9, 0x91000);
	SEND(k, KTR_SHM_DETACH, 77, 0x91000);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_DETACH], 2);
}

/* A frame leaves, when another one was reported at its kernel address since: that one is kept. */
static void kernel_addresses_of_another_frame(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_CACHE_ADD, 8, 1, 0, 0x50, 2, KERNEL + 0x50000);
	SEND(k, KTR_CACHE_ADD, 8, 2, 0, 0x60, 1, KERNEL + 0x50000);
	assert_int_equal(touch(k, LPL_READ, 0, 7, KERNEL + 0x50000), 1);
	assert_int_equal(touch(k, LPL_READ, 0, 7, KERNEL + 0x51000), 2);
	SEND(k, KTR_CACHE_REMOVE, 8, 1, 0, 0x50, 2);
	assert_int_equal(touch(k, LPL_READ, 0, 7, KERNEL + 0x50000), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_CACHE);
	assert_int_equal(touch(k, LPL_READ, 0, 7, KERNEL + 0x51000), 3);
	assert_int_equal(k->last.kind, LPL_PAGE_KERNEL);
	SEND(k, KTR_CACHE_REMOVE, 8, 2, 0, 0x60, 1);
	assert_int_equal(touch(k, LPL_READ, 0, 7, KERNEL + 0x50000), 4);
	assert_int_equal(k->last.kind, LPL_PAGE_KERNEL);
	assert_int_equal(anomalies(k), 0);
}

/* A segment marked in its inode number is the same for the page cache. */
static void marked_segments_in_the_page_cache(void **state)
{
	const uint64_t inode = UINT64_C(1) << 63 | 5;
	struct keeper *k = *state;

	map(k, 7, 0x10000, 4, KTR_MAP_SHM, 1, inode, 0);
	SEND(k, KTR_SHM_ATTACH, 7, 0x10000, 0x14000, 5, inode);
	assert_int_equal(wr(k, 7, 0x12000), 1);
	SEND(k, KTR_CACHE_ADD, 1, inode, 2, 0x40, 1, KERNEL + 0x40000);
	assert_int_equal(touch(k, LPL_WRITE, 0, 7, KERNEL + 0x40000), 1);
	SEND(k, KTR_CACHE_REMOVE, 1, inode, 2, 0x40, 1);
	assert_int_equal(touch(k, LPL_WRITE, 0, 7, KERNEL + 0x40000), 2);
	assert_int_equal(anomalies(k), 0);
}

static void special_mappings(void **state)
{
	struct keeper *k = *state;
	const uint64_t a[] = { 7, 0x10000, 0x12000, 5, KTR_MAP_SPECIAL, 0, 0, 0 };
	const uint64_t b[] = { 9, 0x50000, 0x52000, 5, KTR_MAP_SPECIAL, 0, 0, 0 };
	const uint64_t c[] = { 9, 0x60000, 0x62000, 5, KTR_MAP_SPECIAL, 0, 0, 0 };

	send_by(k, 0, 0, KTR_MAP, a, 8, "[vdso]");
	send_by(k, 0, 0, KTR_MAP, b, 8, "[vdso]");
	send_by(k, 0, 0, KTR_MAP, c, 8, "[vvar]");
	assert_int_equal(rd(k, 7, 0x11000), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_SPECIAL);
	assert_int_equal(rd(k, 9, 0x51000), 1);
	assert_int_equal(rd(k, 9, 0x61000), 2);
	/* nameless: of its space */
	map(k, 7, 0x90000, 1, KTR_MAP_SPECIAL, 0, 0, 0);
	map(k, 9, 0x90000, 1, KTR_MAP_SPECIAL, 0, 0, 0);
	assert_int_equal(rd(k, 7, 0x90000), 3);
	assert_int_equal(rd(k, 9, 0x90000), 4);
}

/* ---- the kernel ---- */

static void kernel_pages_are_one_space(void **state)
{
	struct keeper *k = *state;

	assert_int_equal(touch(k, LPL_READ, 0, 7, KERNEL + 0x5123), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_KERNEL);
	assert_int_equal(touch(k, LPL_WRITE, 0, 9, KERNEL + 0x5fff), 1);
	assert_int_equal(touch(k, LPL_FETCH, 0, 9, KERNEL + 0x6000), 2);
	assert_int_equal(touch(k, LPL_READ, LPL_USER, 7, UINT64_MAX), 3);	/* vsyscall */
	/* walks are physical */
	assert_int_equal(touch(k, LPL_WALK_READ, 0, 7, 0x5000), 4);
	assert_int_equal(k->last.kind, LPL_PAGE_PHYSICAL);
	assert_int_equal(touch(k, LPL_WALK_WRITE, 0, 9, 0x5ff8), 4);
	assert_int_equal(touch(k, LPL_WALK_READ, 0, 9, KERNEL + 0x5000), 5);
	assert_int_equal(stats(k)->spaces, 0);
}

static void kernel_sees_the_page_cache(void **state)
{
	struct keeper *k = *state;

	map(k, 7, 0x10000, 8, KTR_MAP_FILE_PRIVATE, 8, 1, 0);
	assert_int_equal(touch(k, LPL_READ, 0, 7, KERNEL + 0x51000), 1);	/* not yet */
	SEND(k, KTR_CACHE_ADD, 8, 1, 4, 0x50, 4, KERNEL + 0x50000);
	assert_int_equal(rd(k, 7, 0x15000), 2);
	assert_int_equal(touch(k, LPL_WRITE, 0, 9, KERNEL + 0x51000), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_CACHE);
	/* first through the kernel, then mapped */
	assert_int_equal(touch(k, LPL_WRITE, 0, 9, KERNEL + 0x52000), 3);
	assert_int_equal(rd(k, 7, 0x16000), 3);
	assert_int_equal(k->last.kind, LPL_PAGE_FILE);
	assert_int_equal(stats(k)->pages[LPL_PAGE_FILE], 2);
	assert_int_equal(stats(k)->pages[LPL_PAGE_CACHE], 0);
	/* frames 0x51 and up leave; the kernel's page is its own again */
	SEND(k, KTR_CACHE_REMOVE, 8, 1, 5, 0x51, 3);
	assert_int_equal(touch(k, LPL_READ, 0, 9, KERNEL + 0x51000), 1);
	assert_int_equal(touch(k, LPL_READ, 0, 9, KERNEL + 0x50000), 4);
	assert_int_equal(k->last.kind, LPL_PAGE_CACHE);
	/* the same file page in another frame */
	SEND(k, KTR_CACHE_ADD, 8, 1, 5, 0x90, 1, KERNEL + 0x90000);
	assert_int_equal(touch(k, LPL_READ, 0, 9, KERNEL + 0x90000), 2);
	assert_int_equal(anomalies(k), 0);
	/* reported to hold another page, without a remove */
	SEND(k, KTR_CACHE_ADD, 8, 2, 0, 0x90, 1, KERNEL + 0x90000);
	assert_int_equal(touch(k, LPL_READ, 0, 9, KERNEL + 0x90000), 5);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_CACHE_ADD], 1);
	/* and now the remove, too late: not of this page */
	SEND(k, KTR_CACHE_REMOVE, 8, 1, 5, 0x90, 1);
	assert_int_equal(touch(k, LPL_READ, 0, 9, KERNEL + 0x90000), 5);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_CACHE_REMOVE], 1);
	/* high memory has no address */
	SEND(k, KTR_CACHE_ADD, 8, 2, 7, 0x99, 1, KTR_NONE);
	SEND(k, KTR_CACHE_REMOVE, 8, 2, 7, 0x99, 1);
	assert_int_equal(anomalies(k), 2);
}

static void kernel_of_32_bits(void **state)
{
	const struct lpl_merge_options options = { .kernel_base = 0xc0000000 };
	struct keeper k;

	(void)state;
	keeper_open(&k, &options);
	assert_int_equal(touch(&k, LPL_READ, 0, 7, 0xc0005000), 1);
	assert_int_equal(k.last.kind, LPL_PAGE_KERNEL);
	assert_int_equal(touch(&k, LPL_READ, 0, 9, 0xc0005000), 1);
	assert_int_equal(touch(&k, LPL_READ, 0, 7, 0xbffff000), 2);
	assert_int_equal(k.last.kind, LPL_PAGE_UNRESOLVED);
	lpl_merge_close(k.merge);
}

/* The same, reported by the guest before anything else; what the caller says counts more. */
static void kernel_reports_its_half(void **state)
{
	const struct lpl_merge_options options = { .kernel_base = 0xc0000000 };
	static const uint64_t nonsense[] = { 0, 1, 0x1000, 0x3ffff000, 0xc0000001, UINT64_MAX };
	struct keeper k;

	(void)state;
	keeper_open(&k, NULL);
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
		SEND(&k, KTR_SNAPSHOT, 1, nonsense[i]);
	assert_int_equal(touch(&k, LPL_READ, 0, 7, 0xc0004000), 1);
	assert_int_equal(k.last.kind, LPL_PAGE_UNRESOLVED);
	SEND(&k, KTR_SNAPSHOT, 1, 0xc0000000);
	SEND(&k, KTR_SNAPSHOT, 0, 0x80000000);		/* too late */
	assert_int_equal(touch(&k, LPL_READ, 0, 7, 0xc0004000), 2);
	assert_int_equal(k.last.kind, LPL_PAGE_KERNEL);
	assert_int_equal(touch(&k, LPL_READ, 0, 9, 0xc0004000), 2);
	assert_int_equal(touch(&k, LPL_READ, 0, 9, 0xbffff000), 3);
	assert_int_equal(k.last.kind, LPL_PAGE_UNRESOLVED);
	lpl_merge_close(k.merge);

	keeper_open(&k, &options);
	SEND(&k, KTR_SNAPSHOT, 1, 0x80000000);
	assert_int_equal(touch(&k, LPL_READ, 0, 7, 0xbffff000), 1);
	assert_int_equal(k.last.kind, LPL_PAGE_UNRESOLVED);
	lpl_merge_close(k.merge);
}

/* ---- what is not known ---- */

static void unresolved_is_said(void **state)
{
	struct keeper *k = *state;

	assert_int_equal(rd(k, 7, 0x10000), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	assert_int_equal(wr(k, 7, 0x10008), 1);
	assert_int_equal(rd(k, 9, 0x10000), 2);
	assert_int_equal(touch(k, LPL_READ, 0, 9, 0x10000), 2);	/* the kernel, at a user's */
	/* a fork does not know them either */
	SEND(k, KTR_SPACE_DUPLICATE, 7, 11);
	assert_int_equal(rd(k, 11, 0x10000), 3);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	assert_int_equal(stats(k)->references[LPL_PAGE_UNRESOLVED], 6);
	assert_int_equal(stats(k)->user_unresolved, 5);
	assert_int_equal(stats(k)->pages[LPL_PAGE_UNRESOLVED], 3);
	/* once mapped it is resolved, and never again that page */
	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(rd(k, 7, 0x10000), 4);
	SEND(k, KTR_UNMAP, 7, 0x10000, 0x11000);
	assert_int_equal(rd(k, 7, 0x10000), 5);
}

/* ---- what an output gets of a page ---- */

static void pages_are_reported(void **state)
{
	struct keeper *k = *state;
	const uint64_t arg[] = { 7, 0x10000, 0x14000, 5, KTR_MAP_FILE_PRIVATE, 8, 100, 2 };

	send_by(k, 0, 0, KTR_MAP, arg, 8, "libc.so");
	rd(k, 7, 0x11234);
	assert_int_equal(k->page.page, 1);
	assert_int_equal(k->page.kind, LPL_PAGE_FILE);
	assert_int_equal(k->page.device, 8);
	assert_int_equal(k->page.inode, 100);
	assert_int_equal(k->page.offset, 3);
	assert_string_equal(k->page_name, "libc.so");
	wr(k, 7, 0x11234);
	assert_int_equal(k->page.kind, LPL_PAGE_ANONYMOUS);
	assert_int_equal(k->page.space, 7);
	assert_int_equal(k->page.virtual_page, 0x11);
	assert_int_equal(k->page.inode, 0);
	assert_string_equal(k->page_name, "");
	/* the kernel's view of the file */
	SEND(k, KTR_CACHE_ADD, 8, 100, 5, 0x50, 1, KERNEL + 0x50000);
	touch(k, LPL_READ, 0, 7, KERNEL + 0x50000);
	assert_int_equal(k->page.kind, LPL_PAGE_FILE);
	assert_int_equal(k->page.offset, 5);
	assert_string_equal(k->page_name, "libc.so");
	SEND(k, KTR_SHM_ATTACH, 9, 0x70000, 0x74000, 3, 17);
	wr(k, 9, 0x72000);
	assert_int_equal(k->page.kind, LPL_PAGE_SHM);
	assert_int_equal(k->page.inode, 17);
	assert_int_equal(k->page.offset, 2);
	map(k, 9, 0x90000, 1, KTR_MAP_FILE_SHARED, 0, 0, 0);
	rd(k, 9, 0x90000);
	assert_true(k->page.inode == KTR_NONE);
	touch(k, LPL_READ, 0, 9, KERNEL + 0x7000);
	assert_int_equal(k->page.kind, LPL_PAGE_KERNEL);
	assert_int_equal(k->page.virtual_page, (KERNEL + 0x7000) / PAGE);
	touch(k, LPL_WALK_READ, 0, 9, 0x7000);
	assert_int_equal(k->page.kind, LPL_PAGE_PHYSICAL);
	assert_int_equal(k->page.offset, 7);
	rd(k, 11, 0x3000);
	assert_int_equal(k->page.kind, LPL_PAGE_UNRESOLVED);
	assert_int_equal(k->page.space, 11);
	assert_int_equal(k->page.virtual_page, 3);
	assert_int_equal(k->page.page, 8);
}

/* The kernel forgets that a file was a segment before its pages leave. */
static void a_segment_may_lose_its_mark(void **state)
{
	const uint64_t inode = UINT64_C(1) << 63;
	struct keeper *k = *state;

	SEND(k, KTR_CACHE_ADD, 1, inode, 2, 0x40, 1, KERNEL + 0x40000);
	assert_int_equal(touch(k, LPL_WRITE, 0, 7, KERNEL + 0x40000), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_CACHE);
	SEND(k, KTR_CACHE_REMOVE, 1, 0, 3, 0x40, 1);	/* another page */
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_CACHE_REMOVE], 1);
	SEND(k, KTR_CACHE_REMOVE, 1, 0, 2, 0x40, 1);
	assert_int_equal(touch(k, LPL_WRITE, 0, 7, KERNEL + 0x40000), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_KERNEL);
	assert_int_equal(anomalies(k), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(file_keeps_its_page),
		T(unmapped_place_means_another_file),
		T(private_file_page_becomes_anonymous),
		T(unknown_files_are_not_one_file),
		T(fork_shares_until_the_child_breaks),
		T(fork_shares_until_the_parent_breaks),
		T(a_write_to_a_shared_page_proves_a_break),
		T(a_kept_page_remains_and_is_alone),
		T(last_sharer_keeps_the_page),
		T(untouched_pages_are_shared_too),
		T(three_generations),
		T(shared_mappings_survive_fork),
		T(unmap_forgets),
		T(brk_grows_and_shrinks),
		T(remap_moves_pages),
		T(remap_keeps_the_file_under_it),
		T(remap_of_a_shared_page),
		T(segments),
		T(marked_segments_in_the_page_cache),
		T(special_mappings),
		T(kernel_pages_are_one_space),
		T(kernel_sees_the_page_cache),
		T(kernel_addresses_of_another_frame),
		cmocka_unit_test(kernel_of_32_bits),
		cmocka_unit_test(kernel_reports_its_half),
		T(unresolved_is_said),
		T(pages_are_reported),
		T(a_segment_may_lose_its_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
