/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of memory as they are written on the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <laplace/simulator.h>

#include <string.h>

static void expect(const char *spec, size_t count, const uint64_t *size)
{
	struct lpl_report report = {0};
	struct lpl_sizes sizes;

	assert_int_equal(lpl_sizes_parse(&sizes, spec, &report), LPL_OK);
	assert_false(sizes.all);
	assert_int_equal(sizes.count, count);
	assert_memory_equal(sizes.size, size, count * sizeof(*size));
	lpl_sizes_free(&sizes);
	assert_null(sizes.size);
}

#define EXPECT(spec, ...) \
	expect(spec, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), \
	       (uint64_t[]){__VA_ARGS__})

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
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
