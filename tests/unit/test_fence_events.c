/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fences: which pages each event concerns, which SPECs respect them, and what is
 * said of that in headers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <laplace/merge.h>
#include <laplace/reducer.h>
#include <laplace/trace.h>

#include "reduce/fence.h"

#include <string.h>

#define KERNEL UINT64_C(0xffff888000000)	/* the kernel's page of frame 0 */
#define ADDRESS(page) ((uint64_t)(page) << 12)

/* ---- events one by one ---- */

static unsigned int ranges_of(struct lpl_fence *fence, struct lpl_event event,
			      struct lpl_fence_range *range)
{
	memset(range, 0, LPL_FENCE_RANGES * sizeof(*range));
	return lpl_fence_ranges(fence, &event, range);
}

#define RANGES(fence, event_tag, ...) \
	ranges_of(fence, (struct lpl_event){.tag = (event_tag), .arg = {__VA_ARGS__}}, range)

static void expect_range(const struct lpl_fence_range *range, uint64_t space, uint64_t first,
			 uint64_t count)
{
	assert_false(range->any_space);
	assert_int_equal(range->space, space);
	assert_int_equal(range->first, first);
	assert_int_equal(range->count, count);
}

static void expect_everywhere(const struct lpl_fence_range *range, uint64_t first, uint64_t count)
{
	assert_true(range->any_space);
	assert_int_equal(range->first, first);
	assert_int_equal(range->count, count);
}

static bool has_range(const struct lpl_event_kind *kind)
{
	return kind->arg[KTR_RANGE_SPACE].name != NULL && kind->arg[KTR_RANGE_START].name != NULL &&
	       kind->arg[KTR_RANGE_END].name != NULL &&
	       strcmp(kind->arg[KTR_RANGE_SPACE].name, "space") == 0 &&
	       strcmp(kind->arg[KTR_RANGE_START].name, "start") == 0 &&
	       strcmp(kind->arg[KTR_RANGE_END].name, "end") == 0;
}

/* Each fence of a range concerns what it touches. */
static void test_ranges(void **state)
{
	const struct lpl_event_kind *kind = lpl_event_kinds();
	struct lpl_fence_range range[LPL_FENCE_RANGES];
	struct lpl_fence fence = {0};
	unsigned int tried = 0;

	(void)state;
	for (size_t i = 0; i < LPL_EVENT_KINDS; i++, kind++) {
		if (!kind->fence || !has_range(kind))
			continue;
		tried++;
		assert_int_equal(RANGES(&fence, kind->tag, 5, 0x3000, 0x6000), 1);
		expect_range(&range[0], 5, 3, 3);
		assert_int_equal(RANGES(&fence, kind->tag, 5, 0x3fff, 0x4001), 1);
		expect_range(&range[0], 5, 3, 2);
		(void)RANGES(&fence, kind->tag, 5, 0x3000, 0x3000);
		assert_int_equal(range[0].count, 0);
		(void)RANGES(&fence, kind->tag, 5, 0x6000, 0x3000);
		assert_int_equal(range[0].count, 0);
	}
	/* map, unmap, shm-attach, discard, present */
	assert_true(tried >= 5);
}

static void test_other_ranges(void **state)
{
	const uint64_t user = UINT64_C(1) << 51;
	struct lpl_fence_range range[LPL_FENCE_RANGES];
	struct lpl_fence fence = {0};

	(void)state;
	assert_int_equal(RANGES(&fence, KTR_REMAP, 5, 0x3000, 0x6000, 0x10000, 0x13000), 2);
	expect_range(&range[0], 5, 3, 3);
	expect_range(&range[1], 5, 16, 3);
	/* whole pages only: not the one that holds the heap's end */
	(void)RANGES(&fence, KTR_BRK, 5, 0x3001, 0x5001);
	expect_range(&range[0], 5, 4, 2);
	(void)RANGES(&fence, KTR_BRK, 5, 0x5000, 0x3000);
	expect_range(&range[0], 5, 3, 2);
	(void)RANGES(&fence, KTR_BRK, 5, 0x3001, 0x3fff);
	assert_int_equal(range[0].count, 0);
	(void)RANGES(&fence, KTR_BRK, 5, UINT64_MAX, 0);
	expect_range(&range[0], 5, 0, UINT64_C(1) << 52);
	(void)RANGES(&fence, KTR_SHM_DETACH, 5, 0x3000);
	expect_range(&range[0], 5, 3, (UINT64_C(1) << 52) - 3);
	assert_int_equal(RANGES(&fence, KTR_EXEC, 1, 2, 5), 1);
	expect_range(&range[0], 5, 0, user);
	assert_int_equal(RANGES(&fence, KTR_SPACE_END, 5), 1);
	expect_range(&range[0], 5, 0, user);
	assert_int_equal(RANGES(&fence, KTR_SPACE_DUPLICATE, 5, 6), 2);
	expect_range(&range[0], 5, 0, user);
	expect_range(&range[1], 6, 0, user);
	assert_int_equal(RANGES(&fence, KTR_COW_BREAK, 5, 0x3123, 1, 1), 1);
	expect_range(&range[0], 5, 3, 1);
	assert_int_equal(RANGES(&fence, KTR_PAGE_OWN, 5, 0x3123, 9, 512), 1);
	expect_range(&range[0], 5, 3, 512);
	assert_int_equal(RANGES(&fence, LPL_EVENT_SHARED, 5, 6, 0x3000, 0x5000), 2);
	expect_range(&range[0], 5, 3, 2);
	expect_range(&range[1], 6, 3, 2);
	assert_int_equal(RANGES(&fence, LPL_EVENT_STATE, 1), 1);
	expect_everywhere(&range[0], 0, UINT64_C(1) << 52);
	assert_int_equal(RANGES(&fence, LPL_EVENT_TRACING, 1), 1);
	expect_everywhere(&range[0], 0, UINT64_C(1) << 52);
}

static void test_cache_ranges(void **state)
{
	struct lpl_fence_range range[LPL_FENCE_RANGES];
	struct lpl_fence fence = {0};

	(void)state;
	/* no kernel page of any frame is known */
	assert_int_equal(RANGES(&fence, KTR_CACHE_REMOVE, 0, 1, 0, 9, 2), 0);
	assert_int_equal(RANGES(&fence, KTR_CACHE_ADD, 0, 1, 0, 9, 2, KTR_NONE), 0);
	assert_int_equal(RANGES(&fence, KTR_CACHE_ADD, 0, 1, 0, 9, 2, ADDRESS(KERNEL + 9)), 1);
	expect_everywhere(&range[0], KERNEL + 9, 2);
	assert_int_equal(RANGES(&fence, KTR_CACHE_REMOVE, 0, 1, 0, 30, 4), 1);
	expect_everywhere(&range[0], KERNEL + 30, 4);
	assert_int_equal(RANGES(&fence, KTR_CACHE_ADD, 0, 1, 0, 9, 2, KTR_NONE), 1);
	expect_everywhere(&range[0], KERNEL + 9, 2);
	assert_int_equal(RANGES(&fence, KTR_CACHE_ADD, 0, 1, 0, 7, 1, ADDRESS(KERNEL + 7)), 1);
	expect_everywhere(&range[0], KERNEL + 7, 1);
	/* elsewhere, all at once: the old place and the new one, then everything */
	assert_int_equal(RANGES(&fence, KTR_CACHE_ADD, 0, 1, 0, 7, 1, ADDRESS(KERNEL + 8)), 2);
	expect_everywhere(&range[0], KERNEL + 7, 1);
	expect_everywhere(&range[1], KERNEL + 8, 1);
	assert_int_equal(RANGES(&fence, KTR_CACHE_REMOVE, 0, 1, 0, 7, 1), 1);
	expect_everywhere(&range[0], 0, UINT64_C(1) << 52);
}

/* What ends windows and what ends generations: no event does only the latter. */
static void test_tags(void **state)
{
	(void)state;
	for (uint32_t tag = 0; tag < 0x10010; tag++) {
		struct lpl_fence_range range[LPL_FENCE_RANGES];
		struct lpl_fence fence = {.offsets = 1};
		unsigned int ranges = RANGES(&fence, tag, 1, 0x1000, 0x2000, 1, 1, 0x1000);

		if (ranges != 0)
			assert_true(lpl_event_is_fence(tag) || tag == LPL_EVENT_TRACING ||
				    tag == LPL_EVENT_GAP || tag == LPL_EVENT_STATE);
		else
			assert_false(lpl_event_is_fence(tag));
	}
}

/* ---- what a trace says of it ---- */

static void test_descriptions(void **state)
{
	static const struct {
		const char *reduction;
		bool fenced;
	} known[] = {
		{NULL, true}, {"none", true}, {"fence", true}, {"block", true},
		{"block:4096", true},
		{"block:8192", false}, {"window:64", true}, {"window:64+sad:64", true},
		{"fence+sad:64", true}, {"sad:64", false}, {"block+sad:64", false},
		{"sad:64+window:64", false}, {"sad:64+fence+sad:64", false},
		{"window:64+unfence+sad:64", false}, {"window:64+block+sad:64+window:64", true},
		{"window:64+merged", false}, {"later:64", false}, {"fence+later:64", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(lpl_reduction_fenced(known[i].reduction), known[i].fenced);
}

static void expect_description(const char *before, const char *spec, const char *reduction,
			       const char *exact)
{
	struct lpl_report report = {0};
	char got_reduction[LPL_SPEC_SIZE], got_exact[LPL_SPEC_SIZE];

	assert_int_equal(lpl_reducer_describe(before, spec, got_reduction, got_exact, &report),
			 LPL_OK);
	assert_string_equal(got_reduction, reduction);
	assert_string_equal(got_exact, exact);
}

static void test_chains(void **state)
{
	struct lpl_report report = {0};
	char reduction[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE];

	(void)state;
	expect_description("none", "fence", "fence", "all");
	expect_description("none", "none+fence+sad:8", "fence+sad:8", "lru,opt from 8 pages");
	/* what is done in one go and what in two are distinguished */
	expect_description("none", "window:8+sad:8", "window:8+sad:8", "lru,opt from 8 pages");
	expect_description("window:8", "sad:8", "window:8+unfence+sad:8", "lru,opt from 8 pages");
	expect_description("window:8", "fence+sad:8", "window:8+fence+sad:8",
			   "lru,opt from 8 pages");
	expect_description("window:8", "window:9+sad:9", "window:8+window:9+sad:9",
			   "lru,opt from 9 pages");
	expect_description("window:8", "block", "window:8+block", "lru,opt from 8 pages");
	expect_description("fence", "none", "fence", "all");
	expect_description("window:8+unfence", "sad:8", "window:8+unfence+sad:8",
			   "lru,opt from 8 pages");
	expect_description("sad:8+merged", "sad:9", "sad:8+merged+sad:9", "nothing");
	assert_int_equal(lpl_reducer_describe("none", "merged", reduction, exact, &report),
			 LPL_ERR_USAGE);
	assert_null(strstr(report.text, "merged,"));
}

/* What the canonical trace of one so reduced says of itself. */
static void expect_canonical(const char *before, const char *before_exact, const char *reduction,
			     const char *exact, uint64_t from)
{
	struct lpl_meta *source = lpl_meta_new(), *meta;
	struct lpl_exactness exactness;

	assert_non_null(source);
	assert_int_equal(lpl_meta_set(source, LPL_META_REDUCTION, before), LPL_OK);
	assert_int_equal(lpl_meta_set(source, LPL_META_EXACT, before_exact), LPL_OK);
	meta = lpl_merge_canonical_meta(source);
	assert_non_null(meta);
	assert_string_equal(lpl_meta_get(meta, LPL_META_ADDRESSES), "canonical");
	assert_string_equal(lpl_meta_get(meta, LPL_META_REDUCTION), reduction);
	assert_string_equal(lpl_meta_get(meta, LPL_META_EXACT), exact);
	(void)lpl_reduction_exactness(lpl_meta_get(meta, LPL_META_REDUCTION), &exactness);
	assert_int_equal(exactness.lru, from);
	assert_int_equal(exactness.opt, from);
	lpl_meta_free(meta);
	lpl_meta_free(source);
}

static void test_canonical(void **state)
{
	static const char inexact[] = "nothing (reduced without fences)";

	(void)state;
	expect_canonical("none", "all", "none", "all", 1);
	expect_canonical("window:8+sad:8", "lru,opt from 8 pages", "window:8+sad:8",
			 "lru,opt from 8 pages", 8);
	expect_canonical("fence+sad:8", "lru,opt from 8 pages", "fence+sad:8",
			 "lru,opt from 8 pages", 8);
	expect_canonical("sad:8", "lru,opt from 8 pages", "sad:8+merged", inexact, 0);
	expect_canonical("window:8+unfence+sad:8", "lru,opt from 8 pages",
			 "window:8+unfence+sad:8+merged", inexact, 0);
	expect_canonical("later:8", "unknown", "later:8+merged", inexact, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_other_ranges),
		cmocka_unit_test(test_cache_ranges),
		cmocka_unit_test(test_descriptions),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_canonical),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
