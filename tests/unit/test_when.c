/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The grammar of moments and intervals: each spelling, what it means, how it is said again; and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "select/when.h"

enum { USES = (1 << LPL_WHEN_USES) - 1 };
#define USE(name) (1U << LPL_TO_##name)

static void expect_moment(const struct lpl_moment *moment, enum lpl_moment_kind kind, uint64_t number,
			  const char *text)
{
	assert_int_equal(moment->kind, kind);
	if (kind == LPL_MOMENT_MARK || kind == LPL_MOMENT_EXEC)
		assert_string_equal(moment->text, text);
	else
		assert_int_equal(moment->number, number);
}

static const struct {
	const char *spec, *said;
	enum lpl_moment_kind kind;
	uint64_t number;
	const char *text;
	unsigned int uses;
} kinds[] = {
	{ "instructions:20M", "instructions:20000000", LPL_MOMENT_INSTRUCTION, 20000000, "20M",
	  USES & ~USE(SAVE) },
	{ "references:007", "references:7", LPL_MOMENT_REFERENCE, 7, "007",
	  USE(STOP) | USE(END) | USE(CHOOSE) },
	{ "cycles:1T", "cycles:1000000000000", LPL_MOMENT_CYCLE, UINT64_C(1000000000000), "1T",
	  USE(CHOOSE) },
	{ "bytes:4G", "bytes:4000000000", LPL_MOMENT_BYTES, UINT64_C(4000000000), "4G",
	  USE(END) | USE(CUT) },
	{ "seconds:1k", "seconds:1000", LPL_MOMENT_TIME, 1000000000, "1k", USE(END) | USE(CHOOSE) },
	{ "seconds:1.250000900", "seconds:1.25", LPL_MOMENT_TIME, 1250000, "1.250000900",
	  USE(END) | USE(CHOOSE) },
	{ "uptime:0.000001", "uptime:0.000001", LPL_MOMENT_UPTIME, 1, "0.000001", USE(CHOOSE) },
	{ "uptime:0", "uptime:0", LPL_MOMENT_UPTIME, 0, "0", USE(CHOOSE) },
	{ "uptime:3.", "uptime:3", LPL_MOMENT_UPTIME, 3000000, "3.", USE(CHOOSE) },
	{ "mark:a+b, c:d", "mark:a+b, c:d", LPL_MOMENT_MARK, 0, "a+b, c:d",
	  USES & ~(USE(CUT) | USE(SAVE)) },
	{ "mark:mark:x", "mark:mark:x", LPL_MOMENT_MARK, 0, "mark:x", USES & ~(USE(CUT) | USE(SAVE)) },
	{ "exec:/bin/x y", "exec:/bin/x y", LPL_MOMENT_EXEC, 0, "/bin/x y",
	  USES & ~(USE(CUT) | USE(SAVE)) },
};
enum { SPELLINGS = sizeof(kinds) / sizeof(kinds[0]) };

/* Each where it is allowed; elsewhere it is said what is. */
static void test_moments(void **state)
{
	char said[LPL_WHEN_SIZE];
	struct lpl_report report;
	struct lpl_moment moment;
	struct lpl_conditions list;

	(void)state;
	for (int i = 0; i < SPELLINGS; i++) {
		for (int use = 0; use < LPL_WHEN_USES; use++) {
			const bool allowed = kinds[i].uses >> use & 1;

			report = (struct lpl_report){ 0 };
			assert_int_equal(lpl_moment_parse(&moment, kinds[i].spec,
							  (enum lpl_when_use)use, &report),
					 allowed ? LPL_OK : LPL_ERR_USAGE);
			if (!allowed) {
				assert_non_null(strstr(report.text, ": is no condition for "));
				continue;
			}
			expect_moment(&moment, kinds[i].kind, kinds[i].number, kinds[i].text);
			assert_string_equal(moment.text, kinds[i].text);
			assert_int_equal(lpl_moment_say(said, &moment, NULL), LPL_OK);
			assert_string_equal(said, kinds[i].said);
			assert_int_equal(lpl_moment_parse(&moment, said, (enum lpl_when_use)use, NULL),
					 LPL_OK);
			expect_moment(&moment, kinds[i].kind, kinds[i].number, kinds[i].text);
			/* a list of one */
			assert_int_equal(lpl_conditions_parse(&list, kinds[i].spec,
							      (enum lpl_when_use)use, NULL), LPL_OK);
			assert_string_equal(list.spec, kinds[i].said);
		}
	}
}

static void test_lists(void **state)
{
	struct lpl_conditions list;

	(void)state;
	assert_int_equal(lpl_conditions_parse(&list, "exec:x+y,mark:z,bytes:5k+seconds:.5", LPL_TO_END,
					      NULL), LPL_ERR_USAGE);
	assert_int_equal(list.number[LPL_MOMENT_BYTES], LPL_NEVER);
	assert_int_equal(lpl_conditions_parse(&list, "exec:x+y,mark:z,bytes:5k+seconds:0.5", LPL_TO_END,
					      NULL), LPL_OK);
	assert_string_equal(list.spec, "bytes:5000+seconds:0.5+mark:z+exec:x+y");
	assert_string_equal(list.text[LPL_MOMENT_EXEC], "x+y");
	assert_string_equal(list.text[LPL_MOMENT_MARK], "z");
	assert_int_equal(list.number[LPL_MOMENT_BYTES], 5000);
	assert_int_equal(list.number[LPL_MOMENT_TIME], 500000);
	assert_int_equal(list.number[LPL_MOMENT_INSTRUCTION], LPL_NEVER);
}

static void expect_no_moment(const char *spec, enum lpl_when_use use, const char *why)
{
	struct lpl_report report = { 0 };
	struct lpl_moment moment;

	if (lpl_moment_parse(&moment, spec, use, &report) != LPL_ERR_USAGE || !strstr(report.text, why))
		fail_msg("'%s': '%s' does not contain '%s'", spec, report.text, why);
}

static void test_refused_moments(void **state)
{
	static const char *const numbers[] = { "0", "-1", "+1", "5K", "5kk", "k", "1.5", " 5", "5 ", "0x5",
		"18446744073709551616", "18446745T" };
	static const char *const seconds[] = { "-1", "1s", "1.2.3", "1.5k", ".5", "x", "18446744073710",
		"99999999999T" };
	struct lpl_conditions conditions;
	struct lpl_moment moment;
	char spec[LPL_WHEN_SIZE + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		snprintf(spec, sizeof(spec), "instructions:%s", numbers[i]);
		expect_no_moment(spec, LPL_TO_CHOOSE, "is no number from 1 on");
	}
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		snprintf(spec, sizeof(spec), "uptime:%s", seconds[i]);
		expect_no_moment(spec, LPL_TO_CHOOSE, "is no number of seconds");
	}
	expect_no_moment("", LPL_TO_START, "'' is none of instructions:N, mark:TEXT, exec:NAME");
	expect_no_moment("5M", LPL_TO_CUT, "'5M' is none of instructions:N, bytes:N");
	expect_no_moment("mark", LPL_TO_STOP, "'mark' is none of instructions:N, references:N, mark:TEXT");
	expect_no_moment("exec:", LPL_TO_STOP, "nothing follows exec:");
	expect_no_moment("mark:a+mark:b", LPL_TO_STOP, "mark: is given twice");
	expect_no_moment("mark:a,exec:b", LPL_TO_STOP, "'mark:a,exec:b' are two moments");
	expect_no_moment("bytes:5", LPL_TO_CHOOSE, "bytes: is no condition for choices; there are "
			 "instructions:N, references:N, cycles:N, seconds:S, uptime:S, mark:TEXT, exec:NAME");
	/* it begins then */
	expect_no_moment("seconds:0", LPL_TO_END, "seconds:0 is no number from 1 on");
	/* LPL_NEVER */
	expect_no_moment("bytes:18446744073709551615", LPL_TO_CUT, "is no number from 1 on");
	assert_int_equal(lpl_moment_parse(&moment, "references:18446744073709551615", LPL_TO_CHOOSE, NULL), LPL_OK);
	memset(spec, 'x', sizeof(spec));
	memcpy(spec, "mark:", 5);
	spec[LPL_WHEN_SIZE] = '\0';
	assert_int_equal(lpl_conditions_parse(&conditions, spec, LPL_TO_START, NULL), LPL_ERR_USAGE);
	/* which is kept, where a moment is not */
	assert_int_equal(lpl_moment_parse(&moment, spec, LPL_TO_CHOOSE, NULL), LPL_OK);
	assert_ptr_equal(moment.text, spec + 5);
}

static void test_events(void **state)
{
	const struct lpl_moment mark = { LPL_MOMENT_MARK, 0, "go" }, exec = { LPL_MOMENT_EXEC, 0, "go" };
	const struct lpl_moment path = { LPL_MOMENT_EXEC, 0, "/bin/go" };
	const struct lpl_moment none = { LPL_MOMENT_NONE, 0, NULL };

	(void)state;
	assert_true(lpl_moment_is_event(mark.kind) && lpl_moment_is_event(exec.kind));
	assert_false(lpl_moment_is_event(none.kind));
	assert_true(lpl_moment_comes(&mark, KTR_MARK, "good", 2));
	assert_true(lpl_moment_comes(&mark, LPL_EVENT_MARK, "go", 2));
	assert_false(lpl_moment_comes(&mark, KTR_MARK, "good", 4));
	assert_false(lpl_moment_comes(&mark, KTR_EXEC, "go", 2));
	assert_true(lpl_moment_comes(&exec, KTR_EXEC, "/bin/go", 7));
	assert_false(lpl_moment_comes(&exec, KTR_MARK, "go", 2));
	assert_false(lpl_moment_comes(&path, KTR_EXEC, "/usr/bin/go", 11));
	assert_true(lpl_moment_comes(&path, KTR_EXEC, "/bin/go", 7));
	assert_false(lpl_moment_comes(&none, KTR_MARK, "go", 2));
}

/* What is said again means the same. */
static void expect_interval(const char *spec, const char *said, const struct lpl_interval *expected)
{
	struct lpl_report report = { 0 };
	struct lpl_interval interval;

	if (lpl_interval_parse(&interval, spec, LPL_TO_RECORD, &report))
		fail_msg("%s: %s", spec, report.text);
	expect_moment(&interval.from, expected->from.kind, expected->from.number, expected->from.text);
	expect_moment(&interval.until, expected->until.kind, expected->until.number,
		      expected->until.text);
	assert_int_equal(interval.length, expected->length);
	assert_int_equal(interval.every, expected->every);
	assert_int_equal(interval.count, expected->count);
	assert_string_equal(interval.task ? interval.task : "", expected->task ? expected->task : "");
	assert_string_equal(interval.syscall ? interval.syscall : "",
			    expected->syscall ? expected->syscall : "");
	assert_string_equal(interval.spec, said);
	if (strcmp(spec, said) != 0)
		expect_interval(said, said, expected);
}

static void test_intervals(void **state)
{
	const struct lpl_moment x = { LPL_MOMENT_MARK, 0, "x" }, y = { LPL_MOMENT_MARK, 0, "y" };
	const struct lpl_moment five = { LPL_MOMENT_INSTRUCTION, 5000, NULL };
	const struct lpl_moment nine = { LPL_MOMENT_INSTRUCTION, 9000, NULL };
	const struct lpl_moment sh = { LPL_MOMENT_EXEC, 0, "/bin/sh" };

	(void)state;
	expect_interval("length:2k,every:3k", "every:3000+length:2000",
			&(struct lpl_interval){ .every = 3000, .length = 2000 });
	expect_interval("every:3k+length:3k+from:5k+count:2", "every:3000+length:3000+from:5000+count:2",
			&(struct lpl_interval){ .from = five, .every = 3000, .length = 3000, .count = 2 });
	expect_interval("every:3k+length:1+from:instructions:5k",
			"every:3000+length:1+from:instructions:5000",
			&(struct lpl_interval){ .from = five, .every = 3000, .length = 1 });
	expect_interval("from:5k+length:1", "length:1+from:5000",
			&(struct lpl_interval){ .from = five, .length = 1 });
	expect_interval("until:instructions:9k,from:instructions:5k",
			"from:instructions:5000+until:instructions:9000",
			&(struct lpl_interval){ .from = five, .until = nine });
	expect_interval("from:instructions:5k", "from:instructions:5000",
			&(struct lpl_interval){ .from = five });
	expect_interval("to:instructions:9k", "to:instructions:9000",
			&(struct lpl_interval){ .until = nine });
	/* the same in old words and new ones */
	expect_interval("mark:x,until:y", "mark:x+until:y", &(struct lpl_interval){ .from = x, .until = y });
	expect_interval("until:mark:y+from:mark:x", "from:mark:x+until:mark:y",
			&(struct lpl_interval){ .from = x, .until = y });
	expect_interval("mark:x+to:y+count:3", "mark:x+count:3+to:y",
			&(struct lpl_interval){ .from = x, .until = y, .count = 3 });
	expect_interval("mark:x+length:7", "mark:x+length:7",
			&(struct lpl_interval){ .from = x, .length = 7 });
	expect_interval("mark:x", "mark:x", &(struct lpl_interval){ .from = x });
	expect_interval("until:x", "until:x", &(struct lpl_interval){ .until = x });
	expect_interval("from:instructions:5k+until:mark:y", "from:instructions:5000+until:mark:y",
			&(struct lpl_interval){ .from = five, .until = y });
	expect_interval("from:exec:/bin/sh,until:exec:/bin/sh", "from:exec:/bin/sh+until:exec:/bin/sh",
			&(struct lpl_interval){ .from = sh, .until = sh });
	expect_interval("task:a+b", "task:a+b", &(struct lpl_interval){ .task = "a+b" });
	expect_interval("syscall:read", "syscall:read", &(struct lpl_interval){ .syscall = "read" });
}

static void expect_no_interval(const char *spec, enum lpl_when_use use, const char *why)
{
	struct lpl_report report = { 0 };
	struct lpl_interval interval;

	if (lpl_interval_parse(&interval, spec, use, &report) != LPL_ERR_USAGE ||
	    !strstr(report.text, why))
		fail_msg("'%s': '%s' does not contain '%s'", spec, report.text, why);
}

static void test_refused_intervals(void **state)
{
	static const struct {
		const char *spec, *why;
	} wrong[] = {
		{ "", "'' is none of every:N, mark:TEXT, task:NAME, syscall:NAME, length:N, from:MOMENT" },
		{ "from:", "nothing follows from:" },
		{ "from:x", "'x' is none of instructions:N, mark:TEXT, exec:NAME" },
		{ "from:0", "instructions:0 is no number from 1 on" },
		{ "from:5x", "instructions:5x is no number" },
		{ "from:references:5", "references: is no condition for windows; there are instructions:N, " },
		{ "until:seconds:5", "seconds: is no condition for windows; there are instructions:N, " },
		{ "until:mark:", "nothing follows mark:" },
		{ "length:5", "when?  Say from:, every:, task: or syscall:" },
		{ "count:5", "when?" },
		{ "every:5", "how long?" },
		{ "every:5+length:6", "a length of 6 is more than every 5" },
		{ "every:5+length:5+mark:x", "every: and mark: do not go together" },
		{ "every:5+length:5+until:x", "every: and until: do not go together" },
		{ "every:5+length:5+to:x", "every: and to: do not go together" },
		{ "every:5+length:5+from:exec:x", "every: counts from:instructions:N on" },
		{ "mark:x+from:mark:x", "mark: and from: do not go together" },
		{ "mark:x+until:y+length:5", "length: and until: do not go together" },
		{ "until:x+to:y", "until: and to: do not go together" },
		{ "task:x+syscall:y", "task: and syscall: do not go together" },
		{ "task:x+count:2", "task: and count: do not go together" },
		{ "syscall:x+until:y", "syscall: and until: do not go together" },
		{ "from:instructions:5+count:2", "count: of what?" },
		{ "until:x+count:2", "count: of what?" },
		{ "from:5+until:instructions:5", "it ends before it begins" },
		{ "from:mark:x+from:mark:y", "from: is given twice" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect_no_interval(wrong[i].spec, LPL_TO_RECORD, wrong[i].why);
	expect_no_interval("20G", LPL_TO_SAVE, "'20G' is none of every:N");
	expect_no_interval("every:20G+length:5", LPL_TO_SAVE,
			   "length: is no condition for checkpoints; there are every:N");
}

static void test_checkpoints(void **state)
{
	struct lpl_interval interval;

	(void)state;
	assert_int_equal(lpl_interval_parse(&interval, "every:20G", LPL_TO_SAVE, NULL), LPL_OK);
	assert_int_equal(interval.every, UINT64_C(20000000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_refused_moments),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_refused_intervals),
		cmocka_unit_test(test_checkpoints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
