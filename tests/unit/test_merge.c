/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The post-processor, rule by rule, on streams made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/merge.h>
#include <laplace/trace.h>

#define PAGE 0x1000u
#define KERNEL UINT64_C(0xffff888000000000)
#define KEPT 64

/* Keeps what the merge says of each reference; `seen` counts over the whole test. */
struct keeper {
	struct lpl_merge_output output;
	struct lpl_merge *merge;
	struct lpl_sink *sink;
	uint64_t clock;
	struct lpl_merged last;
	struct lpl_merge_task last_task;
	uint64_t seen;
	struct lpl_merge_task event_task;
	uint64_t events_seen;
	int finished;
	int fail_with;
};

static int keep_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
			  struct lpl_report *report)
{
	struct keeper *keeper = (struct keeper *)output;

	if (keeper->fail_with != 0)
		return lpl_fail(report, keeper->fail_with, "asked to fail");
	keeper->last = *merged;
	keeper->last_task = *merged->task;
	keeper->seen++;
	return LPL_OK;
}

static int keep_event(struct lpl_merge_output *output, const struct lpl_event *event,
		      const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct keeper *keeper = (struct keeper *)output;

	(void)event;
	(void)report;
	keeper->event_task = *task;
	keeper->events_seen++;
	return LPL_OK;
}

static int keep_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)report;
	((struct keeper *)output)->finished++;
	return LPL_OK;
}

static void keeper_open(struct keeper *keeper, const struct lpl_merge_options *options)
{
	*keeper = (struct keeper){ .output = { keep_reference, keep_event, keep_finish } };
	assert_int_equal(lpl_merge_open(&keeper->merge, &keeper->output, options, NULL), LPL_OK);
	keeper->sink = lpl_merge_sink(keeper->merge);
}

static int setup(void **state)
{
	struct keeper *keeper = malloc(sizeof(*keeper));

	keeper_open(keeper, NULL);
	*state = keeper;
	return 0;
}

static int teardown(void **state)
{
	struct keeper *keeper = *state;

	lpl_merge_close(keeper->merge);
	free(keeper);
	return 0;
}

/* The canonical page of one reference. */
static uint64_t touch(struct keeper *keeper, enum lpl_type type, uint8_t flags, uint64_t space,
		      uint64_t address)
{
	struct lpl_ref ref = {
		.ref = ++keeper->clock, .instr = keeper->clock, .cycle = keeper->clock,
		.address = address, .space = space, .type = type, .flags = flags, .length = 4
	};

	assert_int_equal(keeper->sink->refs(keeper->sink, &ref, 1, NULL), LPL_OK);
	assert_ptr_equal(keeper->last.ref, &ref);
	return keeper->last.page;
}

static uint64_t rd(struct keeper *keeper, uint64_t space, uint64_t address)
{
	return touch(keeper, LPL_READ, LPL_USER, space, address);
}

static uint64_t wr(struct keeper *keeper, uint64_t space, uint64_t address)
{
	return touch(keeper, LPL_WRITE, LPL_USER, space, address);
}

static void told_by(struct keeper *keeper, uint32_t tid, uint32_t tgid, uint32_t tag,
		    const uint64_t *arg, size_t args, const char *text)
{
	struct lpl_event event = {
		.ref = keeper->clock, .instr = keeper->clock, .cycle = keeper->clock,
		.tag = tag, .tid = tid, .tgid = tgid
	};

	memcpy(event.arg, arg, args * sizeof(*arg));
	if (text != NULL) {
		event.text_length = (uint32_t)strlen(text);
		memcpy(event.text, text, event.text_length);
	}
	assert_int_equal(keeper->sink->event(keeper->sink, &event, NULL), LPL_OK);
}

/* An event by tid 0, tgid 0. */
#define TELL(keeper, tag, ...) TELL_BY(keeper, 0, 0, tag, __VA_ARGS__)
#define TELL_BY(keeper, tid, tgid, tag, ...)                                        \
	told_by(keeper, tid, tgid, tag, (const uint64_t[]){ __VA_ARGS__ },          \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), NULL)

static void map(struct keeper *keeper, uint64_t space, uint64_t start, uint64_t pages,
		enum ktr_map_kind kind, uint64_t device, uint64_t inode, uint64_t offset)
{
	TELL(keeper, KTR_MAP, space, start, start + pages * PAGE, KTR_PROT_READ, kind, device,
	     inode, offset);
}

static void anonymous(struct keeper *keeper, uint64_t space, uint64_t start, uint64_t pages)
{
	map(keeper, space, start, pages, KTR_MAP_ANONYMOUS, 0, 0, 0);
}

static const struct lpl_merge_stats *stats(const struct keeper *keeper)
{
	return lpl_merge_stats(keeper->merge);
}

static uint64_t odds(const struct keeper *keeper)
{
	uint64_t sum = 0;

	for (int i = 0; i < LPL_ODDS; i++)
		sum += stats(keeper)->odd[i];
	return sum;
}

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
	TELL(k, KTR_UNMAP, 7, 0x10000, 0x14000);
	map(k, 7, 0x50000, 1, KTR_MAP_FILE_SHARED, 8, 100, 3);
	assert_int_equal(rd(k, 7, 0x50ff0), page);
	/* another process, privately, at the same time, elsewhere */
	map(k, 9, 0x7000, 8, KTR_MAP_FILE_PRIVATE, 8, 100, 0);
	assert_int_equal(touch(k, LPL_FETCH, LPL_USER, 9, 0xa000), page);
	/* written shared it stays the file's */
	assert_int_equal(wr(k, 7, 0x50000), page);
	/* the same inode number on another device, another inode */
	map(k, 9, 0x20000, 8, KTR_MAP_FILE_PRIVATE, 9, 100, 0);
	assert_int_equal(rd(k, 9, 0x23000), 3);
	map(k, 9, 0x30000, 8, KTR_MAP_FILE_PRIVATE, 8, 101, 0);
	assert_int_equal(rd(k, 9, 0x33000), 4);
	/* even when no space is left */
	TELL(k, KTR_SPACE_END, 7);
	TELL(k, KTR_SPACE_END, 9);
	map(k, 7, 0x90000, 1, KTR_MAP_FILE_SHARED, 8, 100, 3);
	assert_int_equal(rd(k, 7, 0x90000), page);
	assert_int_equal(stats(k)->pages[LPL_PAGE_FILE], 4);
	assert_int_equal(odds(k), 0);
}

static void unmapped_place_means_another_file(void **state)
{
	struct keeper *k = *state;

	map(k, 7, 0x10000, 2, KTR_MAP_FILE_SHARED, 8, 1, 0);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	TELL(k, KTR_UNMAP, 7, 0x10000, 0x12000);
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
	TELL(k, KTR_COW_BREAK, 7, 0x10010, 55, 56);
	assert_int_equal(wr(k, 7, 0x10000), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	assert_int_equal(rd(k, 7, 0x10000), 2);
	assert_int_equal(rd(k, 9, 0x10000), file);
	assert_int_equal(stats(k)->implied_breaks, 0);
	/* the event is missing: the write itself tells */
	assert_int_equal(rd(k, 7, 0x11000), 3);
	assert_int_equal(wr(k, 7, 0x11000), 4);
	assert_int_equal(rd(k, 9, 0x11000), 3);
	assert_int_equal(stats(k)->implied_breaks, 1);
	/* mapped again, it is the file's page once more */
	TELL(k, KTR_UNMAP, 7, 0x10000, 0x13000);
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
	TELL(k, KTR_SPACE_DUPLICATE, 7, 9);
	assert_int_equal(wr(k, 9, 0x30000), 3);	/* but fork shares it */
}

/* ---- fork ---- */

static void fork_shares_until_the_child_breaks(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 4);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(wr(k, 7, 0x11000), 2);
	TELL(k, KTR_SPACE_DUPLICATE, 7, 9);
	assert_int_equal(rd(k, 9, 0x10000), 1);
	assert_int_equal(rd(k, 9, 0x11000), 2);
	TELL(k, KTR_COW_BREAK, 9, 0x10000, 5, 6);
	assert_int_equal(wr(k, 9, 0x10000), 3);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	assert_int_equal(rd(k, 9, 0x11000), 2);
	/* the parent has its page alone now, and keeps it, told or not */
	assert_int_equal(wr(k, 7, 0x10000), 1);
	TELL(k, KTR_COW_BREAK, 7, 0x10000, 5, 5);
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
	TELL(k, KTR_SPACE_DUPLICATE, 7, 9);
	TELL(k, KTR_COW_BREAK, 7, 0x10000, 5, 6);
	assert_int_equal(wr(k, 7, 0x10000), 2);
	assert_int_equal(rd(k, 9, 0x10000), 1);
	assert_int_equal(wr(k, 9, 0x10000), 1);
}

static void a_write_to_a_shared_page_proves_a_break(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	TELL(k, KTR_SPACE_DUPLICATE, 7, 9);
	assert_int_equal(wr(k, 7, 0x10000), 2);	/* cached as writable before the fork */
	assert_int_equal(rd(k, 9, 0x10000), 1);
	assert_int_equal(stats(k)->implied_breaks, 1);
	/* the kernel's copy_to_user() is stopped by write protection as well */
	TELL(k, KTR_SPACE_DUPLICATE, 9, 11);
	assert_int_equal(touch(k, LPL_WRITE, 0, 11, 0x10000), 3);
	assert_int_equal(rd(k, 9, 0x10000), 1);
	assert_int_equal(stats(k)->implied_breaks, 2);
}

static void a_kept_page_stays_and_is_alone(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	TELL(k, KTR_SPACE_DUPLICATE, 7, 9);	/* whose end nobody tells */
	TELL(k, KTR_COW_BREAK, 7, 0x10000, 5, 5);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(stats(k)->implied_breaks, 0);
}

static void last_sharer_keeps_the_page(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 2);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(wr(k, 7, 0x11000), 2);
	TELL(k, KTR_SPACE_DUPLICATE, 7, 9);
	TELL(k, KTR_UNMAP, 9, 0x10000, 0x11000);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	TELL(k, KTR_SPACE_END, 9);
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
	TELL(k, KTR_SPACE_DUPLICATE, 7, 9);
	TELL(k, KTR_COW_BREAK, 9, 0x15000, 5, 6);
	TELL(k, KTR_UNMAP, 9, 0x18000, 0x19000);
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
	TELL(k, KTR_SPACE_DUPLICATE, 1, 2);
	TELL(k, KTR_SPACE_DUPLICATE, 2, 3);
	TELL(k, KTR_COW_BREAK, 2, 0x10000, 5, 6);
	assert_int_equal(wr(k, 2, 0x10000), 2);
	assert_int_equal(rd(k, 1, 0x10000), 1);
	assert_int_equal(rd(k, 3, 0x10000), 1);
	TELL(k, KTR_SPACE_END, 2);
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
	TELL(k, KTR_SPACE_DUPLICATE, 7, 9);
	assert_int_equal(wr(k, 9, 0x10000), 1);
	assert_int_equal(wr(k, 9, 0x20000), 2);
	TELL(k, KTR_COW_BREAK, 9, 0x20000, 1, 2);
	assert_int_equal(wr(k, 9, 0x20000), 2);
	assert_int_equal(stats(k)->odd[LPL_ODD_COW_BREAK], 1);
}

/* ---- anonymous memory ---- */

static void unmap_forgets(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 4);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(wr(k, 7, 0x13000), 2);
	TELL(k, KTR_UNMAP, 7, 0x10000, 0x12000);
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

	TELL(k, KTR_BRK, 7, 0x10000, 0x12800);
	assert_int_equal(wr(k, 7, 0x12fff), 1);	/* the last page is whole */
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	TELL(k, KTR_BRK, 7, 0x12800, 0x14000);
	assert_int_equal(wr(k, 7, 0x12000), 1);
	assert_int_equal(wr(k, 7, 0x13000), 2);
	TELL(k, KTR_BRK, 7, 0x14000, 0x12001);	/* in page 0x12, which stays */
	assert_int_equal(wr(k, 7, 0x12000), 1);
	TELL(k, KTR_BRK, 7, 0x12001, 0x14000);
	assert_int_equal(wr(k, 7, 0x13000), 3);
	/* a kernel that tells the same by maps and unmaps as well */
	map(k, 7, 0x14000, 2, KTR_MAP_HEAP, 0, KTR_NONE, 0);
	assert_int_equal(wr(k, 7, 0x14000), 4);
	TELL(k, KTR_BRK, 7, 0x14000, 0x17000);
	assert_int_equal(wr(k, 7, 0x14000), 4);
	assert_int_equal(wr(k, 7, 0x16000), 5);
	TELL(k, KTR_UNMAP, 7, 0x14000, 0x17000);
	TELL(k, KTR_BRK, 7, 0x17000, 0x14000);
	assert_int_equal(odds(k), 0);
	assert_int_equal(stats(k)->references[LPL_PAGE_UNRESOLVED], 0);
}

static void remap_moves_pages(void **state)
{
	struct keeper *k = *state;

	anonymous(k, 7, 0x10000, 4);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	assert_int_equal(wr(k, 7, 0x13000), 2);
	TELL(k, KTR_REMAP, 7, 0x10000, 0x14000, 0x80000, 0x88000);
	assert_int_equal(rd(k, 7, 0x80000), 1);
	assert_int_equal(rd(k, 7, 0x83000), 2);
	assert_int_equal(rd(k, 7, 0x87000), 3);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	assert_int_equal(rd(k, 7, 0x10000), 4);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	/* the kernel unmaps the old place after the move: nothing odd, but more is */
	TELL(k, KTR_UNMAP, 7, 0x10000, 0x14000);
	assert_int_equal(odds(k), 0);
	TELL(k, KTR_UNMAP, 7, 0xf000, 0x14000);
	assert_int_equal(stats(k)->odd[LPL_ODD_UNMAP], 1);
	/* shrinking, in place and elsewhere */
	TELL(k, KTR_REMAP, 7, 0x80000, 0x88000, 0x80000, 0x84000);
	assert_int_equal(rd(k, 7, 0x83000), 2);
	assert_int_equal(rd(k, 7, 0x87000), 5);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	TELL(k, KTR_REMAP, 7, 0x80000, 0x84000, 0x90000, 0x91000);
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
	TELL(k, KTR_REMAP, 7, 0x10000, 0x12000, 0x33000, 0x36000);
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
	TELL(k, KTR_SPACE_DUPLICATE, 7, 9);
	TELL(k, KTR_REMAP, 9, 0x10000, 0x12000, 0x50000, 0x52000);
	assert_int_equal(rd(k, 9, 0x50000), 1);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	TELL(k, KTR_COW_BREAK, 9, 0x50000, 1, 2);
	assert_int_equal(wr(k, 9, 0x50000), 2);
	assert_int_equal(wr(k, 7, 0x10000), 1);
}

/* ---- shared memory ---- */

static void segments(void **state)
{
	struct keeper *k = *state;

	TELL(k, KTR_SHM_ATTACH, 7, 0x10000, 0x14000, 3, 0);	/* inode 0 is one */
	TELL(k, KTR_SHM_ATTACH, 9, 0x70000, 0x74000, 3, 0);
	TELL(k, KTR_SHM_ATTACH, 9, 0x80000, 0x84000, 4, 1);
	assert_int_equal(wr(k, 7, 0x12000), 1);
	assert_int_equal(k->last.kind, LPL_PAGE_SHM);
	assert_int_equal(wr(k, 9, 0x72000), 1);
	assert_int_equal(wr(k, 9, 0x82000), 2);
	/* told as a mapping, of whatever device, it is the same segment */
	map(k, 11, 0x30000, 4, KTR_MAP_SHM, 5, 0, 0);
	assert_int_equal(wr(k, 11, 0x32000), 1);
	/* a file with the number of the segment is another thing */
	map(k, 11, 0x40000, 4, KTR_MAP_FILE_SHARED, 0, 1, 0);
	assert_int_equal(rd(k, 11, 0x42000), 3);
	/* a hole in it; detached, all pieces go, and nothing else */
	TELL(k, KTR_UNMAP, 9, 0x71000, 0x72000);
	TELL(k, KTR_SHM_DETACH, 9, 0x70000);
	assert_int_equal(rd(k, 9, 0x72000), 4);
	assert_int_equal(k->last.kind, LPL_PAGE_UNRESOLVED);
	assert_int_equal(rd(k, 9, 0x82000), 2);
	/* attached again, it is the same */
	TELL(k, KTR_SHM_ATTACH, 9, 0x90000, 0x94000, 3, 0);
	assert_int_equal(rd(k, 9, 0x92000), 1);
	/* a kernel that tells the unmapping of a part, then that a mapping is closed */
	TELL(k, KTR_UNMAP, 9, 0x90000, 0x91000);
	TELL(k, KTR_SHM_DETACH, 9, 0x90000);
	assert_int_equal(rd(k, 9, 0x92000), 1);
	assert_int_equal(odds(k), 0);
	TELL(k, KTR_SHM_DETACH, 9, 0x91000);
	TELL(k, KTR_SHM_DETACH, 77, 0x91000);
	assert_int_equal(stats(k)->odd[LPL_ODD_DETACH], 2);
}

/* A segment marked in its inode number is the same for the page cache. */
static void marked_segments_in_the_page_cache(void **state)
{
	const uint64_t inode = UINT64_C(1) << 63 | 5;
	struct keeper *k = *state;

	map(k, 7, 0x10000, 4, KTR_MAP_SHM, 1, inode, 0);
	TELL(k, KTR_SHM_ATTACH, 7, 0x10000, 0x14000, 5, inode);
	assert_int_equal(wr(k, 7, 0x12000), 1);
	TELL(k, KTR_CACHE_ADD, 1, inode, 2, 0x40, 1, KERNEL + 0x40000);
	assert_int_equal(touch(k, LPL_WRITE, 0, 7, KERNEL + 0x40000), 1);
	TELL(k, KTR_CACHE_REMOVE, 1, inode, 2, 0x40, 1);
	assert_int_equal(touch(k, LPL_WRITE, 0, 7, KERNEL + 0x40000), 2);
	assert_int_equal(odds(k), 0);
}

static void special_mappings(void **state)
{
	struct keeper *k = *state;
	const uint64_t a[] = { 7, 0x10000, 0x12000, 5, KTR_MAP_SPECIAL, 0, 0, 0 };
	const uint64_t b[] = { 9, 0x50000, 0x52000, 5, KTR_MAP_SPECIAL, 0, 0, 0 };
	const uint64_t c[] = { 9, 0x60000, 0x62000, 5, KTR_MAP_SPECIAL, 0, 0, 0 };

	told_by(k, 0, 0, KTR_MAP, a, 8, "[vdso]");
	told_by(k, 0, 0, KTR_MAP, b, 8, "[vdso]");
	told_by(k, 0, 0, KTR_MAP, c, 8, "[vvar]");
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
	assert_int_equal(touch(k, LPL_READ, 0, 7, KERNEL + 0x51000), 1);	/* not a cache yet */
	TELL(k, KTR_CACHE_ADD, 8, 1, 4, 0x50, 4, KERNEL + 0x50000);
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
	TELL(k, KTR_CACHE_REMOVE, 8, 1, 5, 0x51, 3);
	assert_int_equal(touch(k, LPL_READ, 0, 9, KERNEL + 0x51000), 1);
	assert_int_equal(touch(k, LPL_READ, 0, 9, KERNEL + 0x50000), 4);
	assert_int_equal(k->last.kind, LPL_PAGE_CACHE);
	/* the same file page in another frame */
	TELL(k, KTR_CACHE_ADD, 8, 1, 5, 0x90, 1, KERNEL + 0x90000);
	assert_int_equal(touch(k, LPL_READ, 0, 9, KERNEL + 0x90000), 2);
	assert_int_equal(odds(k), 0);
	/* told that it holds another page, without a remove */
	TELL(k, KTR_CACHE_ADD, 8, 2, 0, 0x90, 1, KERNEL + 0x90000);
	assert_int_equal(touch(k, LPL_READ, 0, 9, KERNEL + 0x90000), 5);
	assert_int_equal(stats(k)->odd[LPL_ODD_CACHE_ADD], 1);
	/* and now the remove, too late: not of this page */
	TELL(k, KTR_CACHE_REMOVE, 8, 1, 5, 0x90, 1);
	assert_int_equal(touch(k, LPL_READ, 0, 9, KERNEL + 0x90000), 5);
	assert_int_equal(stats(k)->odd[LPL_ODD_CACHE_REMOVE], 1);
	/* high memory has no address */
	TELL(k, KTR_CACHE_ADD, 8, 2, 7, 0x99, 1, KTR_NONE);
	TELL(k, KTR_CACHE_REMOVE, 8, 2, 7, 0x99, 1);
	assert_int_equal(odds(k), 2);
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
	TELL(k, KTR_SPACE_DUPLICATE, 7, 11);
	assert_int_equal(rd(k, 11, 0x10000), 3);
	assert_int_equal(rd(k, 7, 0x10000), 1);
	assert_int_equal(stats(k)->references[LPL_PAGE_UNRESOLVED], 6);
	assert_int_equal(stats(k)->user_unresolved, 5);
	assert_int_equal(stats(k)->pages[LPL_PAGE_UNRESOLVED], 3);
	/* once mapped it is resolved, and never again that page */
	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(rd(k, 7, 0x10000), 4);
	TELL(k, KTR_UNMAP, 7, 0x10000, 0x11000);
	assert_int_equal(rd(k, 7, 0x10000), 5);
}

/* ---- tasks ---- */

static void exec_gives_a_new_space(void **state)
{
	struct keeper *k = *state;

	TELL(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	anonymous(k, 8, 0x10000, 1);		/* the new stack comes before the exec */
	TELL(k, KTR_SPACE_ASSIGN, 20, 20, 8);
	TELL(k, KTR_EXEC, 20, 20, 8, 8, 1);
	TELL(k, KTR_SPACE_END, 7);
	assert_int_equal(wr(k, 8, 0x10000), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	/* the old table's frame is used again */
	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(wr(k, 7, 0x10000), 3);
	assert_int_equal(odds(k), 0);
	assert_int_equal(stats(k)->live_spaces, 2);
	assert_int_equal(stats(k)->spaces, 3);
}

static void references_belong_to_tasks(void **state)
{
	struct keeper *k = *state;

	touch(k, LPL_READ, 0, 7, KERNEL);
	assert_int_equal(k->last_task.tid, 0);
	assert_int_equal(k->last_task.serial, 0);
	TELL(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	TELL(k, KTR_TASK_CREATE, 21, 20, 7, 0);
	TELL(k, KTR_SCHEDULE, 0, 0, 21, 20, 7);
	assert_int_equal(k->event_task.tid, 0);	/* it belongs to the one that goes */
	touch(k, LPL_READ, 0, 7, KERNEL);
	assert_int_equal(k->last_task.tid, 21);
	assert_int_equal(k->last_task.tgid, 20);
	assert_int_equal(k->last_task.serial, 2);
	TELL_BY(k, 21, 20, KTR_SCHEDULE, 21, 0, 20, 20, 7);
	assert_int_equal(k->event_task.tid, 21);
	touch(k, LPL_READ, 0, 7, KERNEL);
	assert_int_equal(k->last_task.tid, 20);
	assert_int_equal(k->last_task.serial, 1);
	/* a switch told after it was made */
	TELL_BY(k, 21, 20, KTR_SCHEDULE, 20, 0, 21, 20, 7);
	assert_int_equal(k->event_task.tid, 20);
	assert_int_equal(odds(k), 0);
	/* a switch nobody told: the next event shows it */
	TELL_BY(k, 20, 20, KTR_MARK, 0);
	assert_int_equal(stats(k)->odd[LPL_ODD_MISSED_SCHEDULE], 1);
	assert_int_equal(k->event_task.tid, 20);
	touch(k, LPL_READ, 0, 7, KERNEL);
	assert_int_equal(k->last_task.tid, 20);
	/* the simulator's own events know no task */
	TELL(k, LPL_EVENT_MARK, 0);
	assert_int_equal(k->event_task.tid, 20);
	assert_int_equal(odds(k), 1);
	assert_int_equal(stats(k)->tasks, 2);
}

static void tasks_end_and_numbers_return(void **state)
{
	struct keeper *k = *state;

	TELL(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	TELL(k, KTR_SCHEDULE, 0, 0, 20, 20, 7);
	TELL_BY(k, 20, 20, KTR_EXIT, 20, 20, 0, 1);
	touch(k, LPL_READ, 0, 7, KERNEL);	/* it runs to its last switch */
	assert_int_equal(k->last_task.tid, 20);
	assert_int_equal(k->last_task.serial, 1);
	TELL_BY(k, 20, 20, KTR_SCHEDULE, 20, 64, 0, 0, 0);
	TELL(k, KTR_TASK_CREATE, 20, 20, 9, 0);
	TELL(k, KTR_SCHEDULE, 0, 0, 20, 20, 9);
	touch(k, LPL_READ, 0, 9, KERNEL);
	assert_int_equal(k->last_task.serial, 2);
	assert_int_equal(odds(k), 0);
	assert_int_equal(stats(k)->live_tasks, 1);
}

/* ---- nonsense ---- */

static void odd_events_are_counted(void **state)
{
	struct keeper *k = *state;

	TELL(k, KTR_UNMAP, 7, 0x1000, 0x2000);
	assert_int_equal(stats(k)->odd[LPL_ODD_UNMAP], 1);
	TELL(k, KTR_REMAP, 7, 0x1000, 0x2000, 0x3000, 0x4000);
	assert_int_equal(stats(k)->odd[LPL_ODD_REMAP], 1);
	TELL(k, KTR_EXIT, 5, 5, 0, 1);
	TELL(k, KTR_EXEC, 5, 5, 7, 1, 1);
	assert_int_equal(stats(k)->odd[LPL_ODD_TASK_UNKNOWN], 2);
	TELL(k, KTR_TASK_CREATE, 5, 5, 7, 0);
	TELL(k, KTR_TASK_CREATE, 5, 5, 7, 0);
	TELL(k, KTR_TASK_CREATE, 0, 0, 7, 0);
	assert_int_equal(stats(k)->odd[LPL_ODD_TASK_CREATE], 2);
	TELL(k, KTR_SPACE_END, 99);
	assert_int_equal(stats(k)->odd[LPL_ODD_SPACE_END], 1);
	TELL(k, KTR_COW_BREAK, 7, 0x1000, 1, 2);
	assert_int_equal(stats(k)->odd[LPL_ODD_COW_BREAK], 1);
	TELL(k, KTR_CACHE_REMOVE, 1, 2, 3, 4, 5);
	assert_int_equal(stats(k)->odd[LPL_ODD_CACHE_REMOVE], 1);
	TELL(k, KTR_SPACE_DUPLICATE, 98, 7);	/* unknown */
	anonymous(k, 7, 0x1000, 1);
	TELL(k, KTR_SPACE_DUPLICATE, 7, 7);	/* itself */
	TELL(k, KTR_SPACE_DUPLICATE, 98, 7);	/* unknown onto a live one */
	assert_int_equal(stats(k)->odd[LPL_ODD_DUPLICATE], 3);
	map(k, 7, 0x1000, 1, 99, 0, 0, 0);
	assert_int_equal(stats(k)->odd[LPL_ODD_MAP_KIND], 1);
	assert_int_equal(stats(k)->odd[LPL_ODD_RANGE], 0);
	anonymous(k, 7, 0x1000, 0);
	TELL(k, KTR_UNMAP, 7, 0x2000, 0x1000);
	TELL(k, KTR_UNMAP, 7, 0, UINT64_MAX);	/* only as far as the kernel's half */
	TELL(k, KTR_MAP, 7, KERNEL, KERNEL + PAGE, 1, KTR_MAP_ANONYMOUS);
	TELL(k, KTR_BRK, 7, KERNEL, 0x1000);
	TELL(k, KTR_CACHE_ADD, 1, 2, 0, 5, 0, KERNEL);
	TELL(k, KTR_CACHE_ADD, 1, 2, 0, KTR_NONE, 1, KERNEL);
	TELL(k, KTR_CACHE_ADD, 1, 2, 0, 1, UINT64_MAX, KERNEL);
	TELL(k, KTR_CACHE_ADD, 1, 2, 0, 1, 1, 0x1000);
	assert_int_equal(stats(k)->odd[LPL_ODD_RANGE], 9);
	TELL(k, 4711, 0);
	TELL(k, 0, 0);
	assert_int_equal(stats(k)->odd[LPL_ODD_TAG], 2);
	assert_int_equal(stats(k)->odd[LPL_ODD_MISSED_SCHEDULE], 0);
	TELL(k, KTR_SCHEDULE, 0, 0, 1234, 1234, 0);
	assert_int_equal(stats(k)->odd[LPL_ODD_SCHEDULE], 1);
}

/* Ranges as large as the address space cost no more than small ones. */
static void huge_ranges(void **state)
{
	const uint64_t top = UINT64_C(1) << 63;
	struct keeper *k = *state;

	for (int i = 0; i < 2000; i++) {
		TELL(k, KTR_MAP, 7, 0x1000, top, 3, KTR_MAP_ANONYMOUS);
		TELL(k, KTR_MAP, 7, 0, top - PAGE, 3, KTR_MAP_FILE_PRIVATE, 8, 1, UINT64_MAX);
		wr(k, 7, top / 2 + (uint64_t)i * PAGE);
		TELL(k, KTR_SPACE_DUPLICATE, 7, 9);
		TELL(k, KTR_REMAP, 9, 0, top / 2 + 0x400000, 0x3000, top - 0x5000);
		rd(k, 9, 0x123456789000);
		TELL(k, KTR_UNMAP, 9, 0x5000, top);
		TELL(k, KTR_SPACE_END, 9);
		TELL(k, KTR_CACHE_ADD, 8, 1, 0, 0, UINT64_C(1) << 40, KERNEL);
		TELL(k, KTR_CACHE_REMOVE, 8, 1, 1, 1, (UINT64_C(1) << 40) - 2);
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
		told_by(k, x >> 50 & 3, x >> 52 & 3, x >> 54 & 31, arg, KTR_ARGS,
			x >> 60 & 1 ? "x" : NULL);
		touch(k, x >> 58 & 1, x >> 59 & 1, x >> 42 & 3, arg[1]);
		assert_in_range(k->last.page, 1, k->seen);
	}
	assert_true(odds(k) > 0);
	anonymous(k, 99, 0x10000, 1);
	wr(k, 99, 0x10000);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
}

/* What is gone takes no memory: a long run of short lives ends within a small heap. */
static void many_short_lives(void **state)
{
	struct keeper *k = *state;
	size_t before;

	anonymous(k, 1, 0x10000, 0x100);
	for (uint64_t i = 0; i < 0x100; i++)
		wr(k, 1, 0x10000 + i * PAGE);

	before = mallinfo2().uordblks;
	for (uint64_t i = 2; i < 5000; i++) {
		TELL(k, KTR_TASK_CREATE, i, i, i, 0);
		TELL(k, KTR_SPACE_DUPLICATE, 1, i);
		assert_int_equal(rd(k, i, 0x10000), 1);
		wr(k, i, 0x10000 + i % 0x100 * PAGE);
		TELL(k, KTR_SPACE_END, i);
		TELL(k, KTR_EXIT, i, i, 0, 1);
	}
	assert_in_range(mallinfo2().uordblks, 0, before + 64 * 1024);
	assert_int_equal(stats(k)->live_spaces, 1);
	assert_int_equal(stats(k)->live_tasks, 0);
	assert_int_equal(odds(k), 0);
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

/* ---- formats ---- */

static void format_global(void **state)
{
	struct lpl_ref ref[300];
	struct lpl_merge_output *output;
	struct lpl_merge *merge;
	struct lpl_sink *sink;
	char line[32], expected[32];
	FILE *file = tmpfile();

	(void)state;
	memset(ref, 0, sizeof(ref));
	for (int i = 0; i < 300; i++)
		ref[i] = (struct lpl_ref){ .ref = i + 1, .address = KERNEL + i % 270 * PAGE };
	assert_non_null(file);
	assert_int_equal(lpl_merge_global_open(&output, file, NULL), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge, output, NULL, NULL), LPL_OK);
	sink = lpl_merge_sink(merge);
	for (int i = 0; i < 100; i++)
		assert_int_equal(sink->refs(sink, ref, 300, NULL), LPL_OK);
	assert_int_equal(sink->finish(sink, NULL), LPL_OK);
	lpl_merge_close(merge);
	lpl_merge_global_close(output);
	rewind(file);
	for (int i = 0; i < 30000; i++) {
		snprintf(expected, sizeof(expected), "%x\n", i % 300 % 270 + 1);
		assert_non_null(fgets(line, sizeof(line), file));
		assert_string_equal(line, expected);
	}
	assert_null(fgets(line, sizeof(line), file));
	fclose(file);
}

struct collector {
	struct lpl_sink sink;
	struct lpl_ref ref[KEPT];
	uint32_t tag[KEPT];
	uint64_t refs_before[KEPT];
	size_t refs, events, finished;
};

static int collect_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			struct lpl_report *report)
{
	struct collector *collector = (struct collector *)sink;

	(void)report;
	assert_true(collector->refs + count <= KEPT);
	memcpy(collector->ref + collector->refs, refs, count * sizeof(*refs));
	collector->refs += count;
	return LPL_OK;
}

static int collect_event(struct lpl_sink *sink, const struct lpl_event *event,
			 struct lpl_report *report)
{
	struct collector *collector = (struct collector *)sink;

	(void)report;
	collector->refs_before[collector->events] = collector->refs;
	collector->tag[collector->events++] = event->tag;
	return LPL_OK;
}

static int collect_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)report;
	((struct collector *)sink)->finished++;
	return LPL_OK;
}

static void format_canonical(void **state)
{
	struct collector c = { .sink = { collect_refs, collect_event, collect_finish } };
	struct lpl_ref ref[2] = {
		{ .ref = 5, .instr = 6, .cycle = 7, .address = 0x12345, .space = 9,
		  .type = LPL_WRITE, .flags = LPL_USER, .length = 8 },
		{ .ref = 9, .instr = 8, .cycle = 8, .address = KERNEL + 5, .space = 9,
		  .type = LPL_FETCH, .flags = LPL_SECOND, .length = 3 },
	};
	struct lpl_event event = { .ref = 5, .tag = KTR_UNMAP, .arg = { 9, 0x12000, 0x13000 } };
	struct lpl_merge_output *output;
	struct lpl_merge *merge;
	struct lpl_sink *sink;

	(void)state;
	assert_int_equal(lpl_merge_canonical_open(&output, &c.sink, NULL), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge, output, NULL, NULL), LPL_OK);
	sink = lpl_merge_sink(merge);
	assert_int_equal(sink->refs(sink, &ref[0], 1, NULL), LPL_OK);
	assert_int_equal(sink->event(sink, &event, NULL), LPL_OK);
	event.tag = KTR_MARK;
	assert_int_equal(sink->event(sink, &event, NULL), LPL_OK);
	assert_int_equal(sink->refs(sink, &ref[1], 1, NULL), LPL_OK);
	assert_int_equal(sink->finish(sink, NULL), LPL_OK);
	assert_int_equal(c.finished, 1);
	assert_int_equal(c.events, 1);
	assert_int_equal(c.tag[0], KTR_MARK);
	assert_int_equal(c.refs_before[0], 1);
	assert_int_equal(c.refs, 2);
	ref[0].address = 0x1000;
	ref[0].space = 0;
	ref[0].flags = LPL_USER | LPL_PAGED;
	ref[0].length = 0;
	ref[1].address = 0x2000;
	ref[1].space = 0;
	ref[1].flags = LPL_SECOND | LPL_PAGED;
	ref[1].length = 0;
	assert_memory_equal(c.ref, ref, sizeof(ref));
	lpl_merge_close(merge);
	lpl_merge_canonical_close(output);
}

static void canonical_meta(void **state)
{
	struct lpl_meta *source = lpl_meta_new(), *meta;

	(void)state;
	assert_int_equal(lpl_meta_set(source, LPL_META_TITLE, "run"), LPL_OK);
	assert_int_equal(lpl_meta_set(source, LPL_META_ADDRESSES, "virtual"), LPL_OK);
	meta = lpl_merge_canonical_meta(source);
	assert_string_equal(lpl_meta_get(meta, LPL_META_TITLE), "run");
	assert_string_equal(lpl_meta_get(meta, LPL_META_ADDRESSES), "canonical");
	assert_string_equal(lpl_meta_get(source, LPL_META_ADDRESSES), "virtual");
	lpl_meta_free(meta);
	lpl_meta_free(source);
}

static void statistics_as_text(void **state)
{
	struct keeper *k = *state;
	char text[4096] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");

	rd(k, 7, 0x1000);
	TELL(k, KTR_UNMAP, 7, 0x1000, 0x2000);
	lpl_merge_stats_print(stats(k), file);
	fclose(file);
	assert_non_null(strstr(text, "references, unresolved: 1\n"));
	assert_non_null(strstr(text, "user references unresolved: 1\n"));
	assert_non_null(strstr(text, "canonical pages, unresolved: 1\n"));
	assert_non_null(strstr(text, "odd events, unmap: 1\n"));
	assert_null(strstr(text, "remap"));
	for (int i = 0; i < LPL_ODDS; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(lpl_merge_odd_name(i), lpl_merge_odd_name(j));
	for (int i = 0; i < LPL_PAGE_KINDS; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(lpl_page_kind_name(i), lpl_page_kind_name(j));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
		T(a_kept_page_stays_and_is_alone),
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
		T(unresolved_is_said),
		T(exec_gives_a_new_space),
		T(references_belong_to_tasks),
		T(tasks_end_and_numbers_return),
		T(odd_events_are_counted),
		T(huge_ranges),
		T(garbage),
		T(many_short_lives),
		T(errors_are_passed_on),
		T(statistics_as_text),
		cmocka_unit_test(kernel_of_32_bits),
		cmocka_unit_test(format_global),
		cmocka_unit_test(format_canonical),
		cmocka_unit_test(canonical_meta),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
