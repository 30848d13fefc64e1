/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conditions: what a specification may say, and what holds when, by when.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "select/when.h"

static struct lpl_conditions conditions_of(const char *spec, enum lpl_when_use use)
{
	struct lpl_report report = { 0 };
	struct lpl_conditions conditions;

	if (lpl_conditions_parse(&conditions, spec, use, &report))
		fail_msg("%s: %s", spec, report.text);
	return conditions;
}

static void expect_spec(const char *spec, enum lpl_when_use use, const char *canonical)
{
	assert_string_equal(conditions_of(spec, use).spec, canonical);
	assert_string_equal(conditions_of(canonical, use).spec, canonical);
}

static void test_specifications(void **state)
{
	(void)state;
	expect_spec("instructions:20G", LPL_TO_START, "instructions:20000000000");
	expect_spec("mark:here", LPL_TO_START, "mark:here");
	expect_spec("exec:gzip", LPL_TO_START, "exec:gzip");
	expect_spec("references:5", LPL_TO_STOP, "references:5");
	expect_spec("mark:a+b, c:d,instructions:1k", LPL_TO_STOP, "instructions:1000+mark:a+b, c:d");
	expect_spec("seconds:60+bytes:4G,references:1T+instructions:2+mark:x+exec:/bin/y", LPL_TO_END,
		    "instructions:2+references:1000000000000+bytes:4000000000+seconds:60+mark:x"
		    "+exec:/bin/y");
}

static void expect_refused(const char *spec, enum lpl_when_use use, const char *why)
{
	struct lpl_report report = { 0 };
	struct lpl_conditions conditions;

	assert_int_equal(lpl_conditions_parse(&conditions, spec, use, &report), LPL_ERR_USAGE);
	if (!strstr(report.text, why))
		fail_msg("'%s': '%s' does not contain '%s'", spec, report.text, why);
	assert_string_equal(conditions.spec, "");
	assert_false(lpl_condition_holds(&conditions, LPL_MOMENT_INSTRUCTION, UINT64_MAX));
}

static void test_refusals(void **state)
{
	char longest[2 * LPL_WHEN_SIZE] = "mark:";

	(void)state;
	expect_refused("", LPL_TO_END, "is none of instructions:N, references:N, bytes:N");
	expect_refused("5G", LPL_TO_END, "none of");
	expect_refused("instructions", LPL_TO_END, "none of");
	expect_refused("instructions:", LPL_TO_END, "nothing follows instructions:");
	expect_refused("instructions:0", LPL_TO_END, "no number from 1 on");
	expect_refused("instructions:-5", LPL_TO_END, "no number");
	expect_refused("instructions:5K", LPL_TO_END, "no number");
	expect_refused("seconds:1.5s", LPL_TO_END, "no number");
	expect_refused("seconds:0", LPL_TO_END, "no number from 1 on");
	expect_refused("seconds:60s", LPL_TO_END, "no number");
	expect_refused("references:99999999999999999999", LPL_TO_END, "no number");
	expect_refused("references:18446745T", LPL_TO_END, "no number");
	expect_refused("mark:", LPL_TO_END, "nothing follows mark:");
	expect_refused("bytes:5+bytes:6", LPL_TO_END, "twice");
	expect_refused("bytes:5+", LPL_TO_END, "no number");
	expect_refused("every:5", LPL_TO_END, "none of");
	expect_refused("references:5", LPL_TO_START, "references: is no condition for the start");
	expect_refused("mark:x+bytes:5", LPL_TO_STOP, "bytes: is no condition for the stop");
	expect_refused("seconds:5", LPL_TO_STOP, "seconds: is no condition for the stop");
	memset(longest + 5, 'x', sizeof(longest) - 6);
	expect_refused(longest, LPL_TO_END, "longer than");
}

static void test_numbers(void **state)
{
	struct lpl_conditions c = conditions_of("instructions:100+bytes:1k", LPL_TO_END);
	char said[LPL_WHEN_SIZE];

	(void)state;
	assert_false(lpl_condition_holds(&c, LPL_MOMENT_INSTRUCTION, 99));
	assert_true(lpl_condition_holds(&c, LPL_MOMENT_INSTRUCTION, 100));
	assert_true(lpl_condition_holds(&c, LPL_MOMENT_INSTRUCTION, UINT64_MAX));
	assert_false(lpl_condition_holds(&c, LPL_MOMENT_BYTES, 999));
	assert_true(lpl_condition_holds(&c, LPL_MOMENT_BYTES, 1001));
	assert_false(lpl_condition_holds(&c, LPL_MOMENT_REFERENCE, UINT64_MAX));
	assert_false(lpl_condition_holds(&c, LPL_MOMENT_MARK, UINT64_MAX));
	assert_false(lpl_conditions_need_kernel(&c));
	assert_string_equal(lpl_condition_say(&c, LPL_MOMENT_BYTES, said), "bytes:1000");
	lpl_conditions_clear(&c);
	assert_string_equal(c.spec, "");
	assert_false(lpl_condition_holds(&c, LPL_MOMENT_INSTRUCTION, UINT64_MAX));
}

/* What of `spec` holds with an event of this kind and text. */
static enum lpl_moment_kind taken(const char *spec, uint32_t tag, const char *text)
{
	struct lpl_conditions c = conditions_of(spec, LPL_TO_END);
	struct kernel_trace_record record = { .tag = tag };

	assert_true(lpl_conditions_need_kernel(&c));
	/* no 0 after it */
	memset(record.text, 'x', sizeof(record.text));
	record.text_length = (uint32_t)strlen(text);
	memcpy(record.text, text, record.text_length);
	return lpl_conditions_take(&c, &record);
}

static void test_kernel(void **state)
{
	struct lpl_conditions c = conditions_of("instructions:5+exec:a b", LPL_TO_END);
	char said[LPL_WHEN_SIZE];

	(void)state;
	assert_int_equal(taken("mark:go", KTR_MARK, "go"), LPL_MOMENT_MARK);
	assert_int_equal(taken("mark:go", KTR_MARK, "gox"), LPL_MOMENT_NONE);
	assert_int_equal(taken("mark:go", KTR_MARK, "g"), LPL_MOMENT_NONE);
	assert_int_equal(taken("mark:go", KTR_MARK, ""), LPL_MOMENT_NONE);
	assert_int_equal(taken("mark:go", KTR_EXEC, "go"), LPL_MOMENT_NONE);
	assert_int_equal(taken("exec:go", KTR_MARK, "go"), LPL_MOMENT_NONE);
	assert_int_equal(taken("exec:go", KTR_EXEC, "go"), LPL_MOMENT_EXEC);
	assert_int_equal(taken("exec:go", KTR_EXEC, "/usr/bin/go"), LPL_MOMENT_EXEC);
	assert_int_equal(taken("exec:go", KTR_EXEC, "/usr/bin/ergo"), LPL_MOMENT_NONE);
	assert_int_equal(taken("exec:go", KTR_EXEC, "/usr/go/bin"), LPL_MOMENT_NONE);
	assert_int_equal(taken("exec:go", KTR_EXEC, "/usr/go/"), LPL_MOMENT_NONE);
	assert_int_equal(taken("exec:go", KTR_EXEC, ""), LPL_MOMENT_NONE);
	assert_int_equal(taken("exec:/usr/bin/go", KTR_EXEC, "/usr/bin/go"), LPL_MOMENT_EXEC);
	assert_int_equal(taken("exec:/usr/bin/go", KTR_EXEC, "/bin/go"), LPL_MOMENT_NONE);
	assert_int_equal(taken("exec:bin/go", KTR_EXEC, "/bin/go"), LPL_MOMENT_NONE);
	/* longer than what Linux keeps of a task's name */
	assert_int_equal(taken("exec:a-very-long-program-1", KTR_EXEC, "/a-very-long-program-2"),
			 LPL_MOMENT_NONE);
	assert_int_equal(taken("mark:a+exec:b", KTR_MARK, "a"), LPL_MOMENT_MARK);
	assert_int_equal(taken("mark:a+exec:b", KTR_EXEC, "b"), LPL_MOMENT_EXEC);
	assert_string_equal(lpl_condition_say(&c, LPL_MOMENT_EXEC, said), "exec:a b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_specifications),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
