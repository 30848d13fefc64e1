/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of memory as they are written on the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <laplace/simulator.h>

#include <string.h>

static void expect_of(const char *spec, uint64_t page_size, uint64_t pages, bool memory,
		      size_t count, const uint64_t *size)
{
	const struct lpl_sizes_base base = {page_size, pages};
	struct lpl_report report = {0};
	struct lpl_sizes sizes;

	assert_int_equal(lpl_sizes_parse_of(&sizes, spec, &base, &report), LPL_OK);
	assert_false(sizes.all);
	assert_int_equal(sizes.memory, memory);
	assert_int_equal(sizes.count, count);
	assert_memory_equal(sizes.size, size, count * sizeof(*size));
	lpl_sizes_free(&sizes);
	assert_null(sizes.size);
}

static void expect(const char *spec, size_t count, const uint64_t *size)
{
	struct lpl_report report = {0};
	struct lpl_sizes sizes;

	assert_int_equal(lpl_sizes_parse(&sizes, spec, &report), LPL_OK);
	lpl_sizes_free(&sizes);
	expect_of(spec, 0, 0, false, count, size);
}

#define SIZES(...) \
	sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__}
#define EXPECT(spec, ...) expect(spec, SIZES(__VA_ARGS__))
#define EXPECT_OF(spec, page_size, pages, ...) \
	expect_of(spec, page_size, pages, true, SIZES(__VA_ARGS__))

static void test_lists(void **state)
{
	(void)state;
	EXPECT("16", 16);
	EXPECT("16,64,256", 16, 64, 256);
	EXPECT("256,16,64,16", 16, 64, 256);
	EXPECT("0016", 16);
	EXPECT("18446744073709551615,1", 1, UINT64_MAX);
}

static void test_ranges(void **state)
{
	(void)state;
	EXPECT("16:128:*2", 16, 32, 64, 128);
	EXPECT("16:127:*2", 16, 32, 64);
	EXPECT("3:100:*3", 3, 9, 27, 81);
	EXPECT("16:64:16", 16, 32, 48, 64);
	EXPECT("16:63:16", 16, 32, 48);
	EXPECT("5:5:1", 5);
	EXPECT("5:5:*2", 5);
	EXPECT("1:4:1,2:8:*2,3", 1, 2, 3, 4, 8);
	/* no step past the largest number */
	EXPECT("9223372036854775807:18446744073709551615:*2",
	       UINT64_C(9223372036854775807), UINT64_C(18446744073709551614));
	EXPECT("18446744073709551614:18446744073709551615:2", UINT64_C(18446744073709551614));
	EXPECT("18446744073709551614:18446744073709551615:1",
	       UINT64_C(18446744073709551614), UINT64_MAX);
}

static void test_bytes(void **state)
{
	(void)state;
	EXPECT_OF("64M", 4096, 0, 16384);
	EXPECT_OF("64MiB,64KiB,1GiB,1TiB", 4096, 0, 16, 16384, 262144, 268435456);
	EXPECT_OF("4K,5K,8191,12K", 4096, 0, 1, 3, 8191);	/* down, and once */
	EXPECT_OF("64K:1M:*4", 4096, 0, 16, 64, 256);
	EXPECT_OF("6K:24K:6K", 4096, 0, 1, 3, 4, 6);		/* each is rounded, and not the step */
	EXPECT_OF("2M,3", 2097152, 0, 1, 3);
	EXPECT_OF("16777215T", 1, 0, UINT64_C(16777215) << 40);
}

static void test_percent(void **state)
{
	(void)state;
	EXPECT_OF("10%,25%,50%", 0, 1000, 100, 250, 500);
	EXPECT_OF("25%", 0, 7, 1);
	EXPECT_OF("100%", 0, 7, 7);
	EXPECT_OF("100.0000%", 0, 7, 7);
	EXPECT_OF("12.5%,0.1%", 0, 1000, 1, 125);
	EXPECT_OF("0.0001%", 0, 1999999, 1);
	EXPECT_OF("29%", 0, 100, 29);		/* 0.29 * 100 is less, in floating point */
	EXPECT_OF("10%:50%:10%", 0, 15, 1, 3, 4, 6, 7);
	EXPECT_OF("1%:100%:*10", 0, 1000, 10, 100, 1000);
	EXPECT_OF("50%,100%", 0, UINT64_MAX, UINT64_MAX / 2, UINT64_MAX);
	EXPECT_OF("50%,8K,9", 4096, 22, 2, 9, 11);
	assert_true(lpl_sizes_need_pages("9,25%"));
	assert_false(lpl_sizes_need_pages("9,25M"));
}

static void test_bad_units(void **state)
{
	static const struct {
		const char *spec;
		uint64_t page_size, pages;
		const char *why;
	} bad[] = {
		{"16k", 4096, 9, "not a list"}, {"16MB", 4096, 9, "not a list"},
		{"16Mi", 4096, 9, "not a list"}, {"16 M", 4096, 9, "not a list"},
		{"M", 4096, 9, "not a list"}, {"0M", 4096, 9, "not a list"},
		{"1.5M", 4096, 9, "not a list"}, {"16777216T", 1, 9, "not a list"},
		{"1K:64:1K", 4096, 9, "not a list"}, {"8K:64K:8", 4096, 9, "not a list"},
		{"8K:64K:*2K", 4096, 9, "not a list"}, {"8:64K:*2", 4096, 9, "not a list"},
		{"%", 4096, 9, "not a list"}, {"0%", 4096, 9, "not a list"},
		{"0.0000%", 4096, 9, "not a list"}, {"101%", 4096, 9, "not a list"},
		{"100.0001%", 4096, 9, "not a list"}, {"5.%", 4096, 9, "not a list"},
		{".5%", 4096, 9, "not a list"}, {"0.00001%", 4096, 9, "not a list"},
		{"18446744073709551615%", 4096, 9, "not a list"}, {"5.5", 4096, 9, "not a list"},
		{"10%:50%:10", 4096, 9, "not a list"}, {"10%%", 4096, 9, "not a list"},
		{"3K", 4096, 9, "3072 bytes are less than a page, which has 4096"},
		{"64K,3K", 4096, 9, "less than a page"}, {"1%", 4096, 99, "1% of 99 pages is less"},
		{"64M", 0, 9, "how large a page is"}, {"50%", 4096, 0, "of how many pages"},
		{"1K:18014398509481983K:1K", 1, 9, "more than"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct lpl_sizes_base base = {bad[i].page_size, bad[i].pages};
		struct lpl_report report = {0};
		struct lpl_sizes sizes = {.count = 9, .memory = true};

		assert_int_equal(lpl_sizes_parse_of(&sizes, bad[i].spec, &base, &report),
				 LPL_ERR_USAGE);
		if (strstr(report.text, bad[i].why) == NULL)
			fail_msg("%s: '%s' does not say '%s'", bad[i].spec, report.text, bad[i].why);
		assert_null(sizes.size);
		assert_int_equal(sizes.count, 0);
		assert_false(sizes.memory);
	}
}

static void test_all(void **state)
{
	struct lpl_report report = {0};
	struct lpl_sizes sizes;

	(void)state;
	assert_int_equal(lpl_sizes_parse(&sizes, "all", &report), LPL_OK);
	assert_true(sizes.all);
	assert_null(sizes.size);
	lpl_sizes_free(&sizes);
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"", ",", "16,", ",16", "16,,64", "0", "0:4:1", "-1", "+1", " 16", "16 ", "16k",
		"16:64", "16:64:", "16:64:0", "16:64:*", "16:64:*1", "16:64:*0", "16::2", ":64:2",
		"64:16:1", "16:64:1:2", "16:64:+2", "16:64:**2", "all,16", "16,all", "ALL", "alll",
		"18446744073709551616", "1:18446744073709551616:*2",
		"1:18446744073709551615:1",	/* more than anybody has memory for */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lpl_report report = {0};
		struct lpl_sizes sizes = {.count = 9};

		assert_int_equal(lpl_sizes_parse(&sizes, bad[i], &report), LPL_ERR_USAGE);
		assert_null(sizes.size);
		assert_int_equal(sizes.count, 0);
		assert_true(strlen(report.text) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_bad_units),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
