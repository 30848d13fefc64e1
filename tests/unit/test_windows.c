/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of time: what a specification may say, and which instructions are within a window:
 * by the definition in windows.h, instruction by instruction, and by scripts of what a kernel
 * says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/windows.h"

static struct lpl_windows *windows_of(const char *spec)
{
	struct lpl_report report = { 0 };
	struct lpl_windows *windows;

	if (lpl_windows_open(&windows, spec, &report))
		fail_msg("%s: %s", spec, report.text);
	return windows;
}

static void expect_spec(const char *spec, const char *canonical)
{
	struct lpl_windows *windows = windows_of(spec);

	assert_string_equal(lpl_windows_spec(windows), canonical);
	lpl_windows_close(windows);
	if (strcmp(spec, canonical) != 0)	/* which means the same */
		expect_spec(canonical, canonical);
}

static void test_specifications(void **state)
{
	(void)state;
	expect_spec("every:1G,length:10M", "every:1000000000+length:10000000");
	expect_spec("length:1k+every:2k", "every:2000+length:1000");
	expect_spec("every:1T+length:1T+from:3+count:0004",
		    "every:1000000000000+length:1000000000000+from:3+count:4");
	expect_spec("mark:X+until:Y", "mark:X+until:Y");
	expect_spec("mark:a+b, c:d,length:1M", "mark:a+b, c:d+length:1000000");
	expect_spec("mark:to the end", "mark:to the end");
	expect_spec("mark:x+count:2", "mark:x+count:2");
	expect_spec("task:gzip", "task:gzip");
	expect_spec("syscall:read", "syscall:read");
}

static void expect_refused(const char *spec, const char *why)
{
	struct lpl_report report = { 0 };
	struct lpl_windows *windows;

	assert_int_equal(lpl_windows_open(&windows, spec, &report), LPL_ERR_USAGE);
	assert_null(windows);
	if (!strstr(report.text, why))
		fail_msg("'%s': '%s' does not contain '%s'", spec, report.text, why);
}

static void test_refusals(void **state)
{
	char longest[2 * LPL_WHEN_SIZE] = "mark:";

	(void)state;
	expect_refused("", "none of");
	expect_refused("1G", "none of");
	expect_refused("every", "none of");
	expect_refused("each:1", "none of");
	expect_refused("every:", "nothing follows");
	expect_refused("every:1G", "length:");
	expect_refused("length:1G", "when?");
	expect_refused("every:0+length:1", "every:0 is no number");
	expect_refused("every:1X+length:1", "is no number");
	expect_refused("every:1kk+length:1", "is no number");
	expect_refused("every:-1+length:1", "is no number");
	expect_refused("every:k+length:1", "is no number");
	expect_refused("every:18446744073709551616+length:1", "is no number");
	expect_refused("every:18446745T+length:1", "is no number");
	expect_refused("every:1+length:2", "more than");
	expect_refused("every:1+length:1+length:1", "twice");
	expect_refused("every:1+length:1+", "is no number");
	expect_refused("every:2+length:1+task:a", "go together");
	expect_refused("every:2+length:1+until:a", "every: and until: do not go together");
	expect_refused("mark:a+until:b+length:1", "go together");
	expect_refused("task:a+length:5", "task: and length: do not go together");
	expect_refused("syscall:a+count:5", "syscall: and count: do not go together");
	memset(longest + 5, 'x', sizeof(longest) - 6);
	expect_refused(longest, "longer than");
}

static uint64_t roll(uint64_t *seed, uint64_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*seed >> 33) % below;
}

/* Windows F to F + L, F + N to F + N + L ...: all of them looked through, for each count. */
static bool is_within(uint64_t instr, uint64_t every, uint64_t length, uint64_t from,
		      uint64_t count)
{
	for (uint64_t i = 0; from + i * every <= instr; i++) {
		if (count && i == count)
			return false;
		if (instr < from + i * every + length)
			return true;
	}
	return false;
}

static void test_instructions(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		uint64_t random = seed, every = 1 + roll(&random, 30);
		uint64_t length = 1 + roll(&random, every), from = roll(&random, 40);
		uint64_t count = roll(&random, 4), next, announced = 0;
		char spec[200];
		int used = snprintf(spec, sizeof(spec), "every:%" PRIu64 "+length:%" PRIu64, every,
				    length);
		struct lpl_windows *windows;
		bool before = false;

		if (from)
			used += snprintf(spec + used, sizeof(spec) - (size_t)used,
					 "+from:%" PRIu64, from);
		if (count)
			snprintf(spec + used, sizeof(spec) - (size_t)used, "+count:%" PRIu64, count);
		windows = windows_of(spec);
		assert_false(lpl_windows_need_kernel(windows));
		for (uint64_t instr = 0; instr < 200; instr++) {
			bool within = is_within(instr, every, length, from, count);

			if (instr && within != before && announced != instr)
				fail_msg("seed %" PRIu64 ", %s: a change at %" PRIu64 " not at %"
					 PRIu64, seed, spec, instr, announced);
			if (lpl_windows_at(windows, instr, &next) != within)
				fail_msg("seed %" PRIu64 ", %s: %" PRIu64 " is wrong", seed, spec, instr);
			assert_true(next > instr);
			announced = next;
			before = within;
		}
		lpl_windows_close(windows);
	}
}

static void test_far_instructions(void **state)
{
	struct lpl_windows *windows = windows_of("every:18446744073709551615+length:5");
	uint64_t next;

	(void)state;
	assert_true(lpl_windows_at(windows, 4, &next));
	assert_int_equal(next, 5);
	assert_false(lpl_windows_at(windows, 5, &next));
	assert_int_equal(next, UINT64_MAX);
	lpl_windows_close(windows);
	windows = windows_of("every:18446744073709551614+length:5+from:3");
	assert_false(lpl_windows_at(windows, 8, &next));
	assert_int_equal(next, LPL_WINDOWS_NEVER);
	lpl_windows_close(windows);
}

/* ---- what a kernel says ---- */

/* After this, at that count, is it within? */
static void take(struct lpl_windows *windows, uint64_t instr,
		 const struct kernel_trace_record *record, bool within)
{
	struct lpl_report report = { 0 };
	uint64_t next;

	assert_int_equal(lpl_windows_take(windows, record, instr, &report), LPL_OK);
	assert_int_equal(lpl_windows_at(windows, instr, &next), within);
}

static struct kernel_trace_record saying(uint32_t tag, uint32_t tid, const char *text)
{
	struct kernel_trace_record record = { .tag = tag, .tid = tid, .tgid = tid };

	record.text_length = (uint32_t)strlen(text);
	memcpy(record.text, text, strlen(text));
	return record;
}

static void mark(struct lpl_windows *windows, uint64_t instr, const char *text, bool within)
{
	struct kernel_trace_record record = saying(KTR_MARK, 7, text);

	take(windows, instr, &record, within);
}

static void schedule(struct lpl_windows *windows, uint32_t from, uint32_t to, const char *name,
		     bool within)
{
	struct kernel_trace_record record = saying(KTR_SCHEDULE, from, name);

	record.arg[KTR_SCHEDULE_PREVIOUS_TID] = from;
	record.arg[KTR_SCHEDULE_NEXT_TID] = to;
	take(windows, 0, &record, within);
}

static void exec(struct lpl_windows *windows, uint32_t tid, const char *path, bool within)
{
	struct kernel_trace_record record = saying(KTR_EXEC, tid, path);

	take(windows, 0, &record, within);
}

static void test_marks(void **state)
{
	struct lpl_windows *windows = windows_of("mark:X+until:Y+count:2");
	uint64_t next;

	(void)state;
	assert_true(lpl_windows_need_kernel(windows));
	assert_false(lpl_windows_at(windows, 0, &next));
	assert_int_equal(next, LPL_WINDOWS_NEVER);
	mark(windows, 1, "Y", false);
	mark(windows, 2, "XX", false);
	mark(windows, 3, "X", true);
	assert_true(lpl_windows_at(windows, 1000000, &next));
	mark(windows, 1000000, "X", true);
	mark(windows, 1000001, "Z", true);
	mark(windows, 1000002, "Y", false);
	mark(windows, 1000003, "X", true);
	mark(windows, 1000004, "Y", false);
	mark(windows, 1000005, "X", false);	/* there were two */
	lpl_windows_close(windows);

	windows = windows_of("mark:X+until:X");
	mark(windows, 1, "X", true);
	mark(windows, 2, "X", false);
	mark(windows, 3, "X", true);
	lpl_windows_close(windows);

	windows = windows_of("mark:X");
	mark(windows, 1, "X", true);
	mark(windows, 2, "Y", true);
	mark(windows, 3, "X", true);
	lpl_windows_close(windows);
}

static void test_marks_with_length(void **state)
{
	struct lpl_windows *windows = windows_of("mark:X+length:100");
	uint64_t next;

	(void)state;
	mark(windows, 50, "X", true);
	assert_true(lpl_windows_at(windows, 50, &next));
	assert_int_equal(next, 150);
	mark(windows, 90, "X", true);		/* no longer for that */
	assert_true(lpl_windows_at(windows, 149, &next));
	assert_int_equal(next, 150);
	assert_false(lpl_windows_at(windows, 150, &next));
	assert_int_equal(next, LPL_WINDOWS_NEVER);
	mark(windows, 200, "X", true);
	mark(windows, 300, "X", true);		/* its time was over: another one */
	assert_true(lpl_windows_at(windows, 399, &next));
	assert_false(lpl_windows_at(windows, 400, &next));
	lpl_windows_close(windows);
}

/* From a moment until another, of each pair of what they may be. */
static void test_between_moments(void **state)
{
	struct lpl_windows *windows = windows_of("from:instructions:10+until:instructions:20");
	uint64_t next;

	(void)state;
	assert_false(lpl_windows_need_kernel(windows));
	assert_false(lpl_windows_at(windows, 9, &next));
	assert_int_equal(next, 10);
	assert_true(lpl_windows_at(windows, 10, &next));
	assert_int_equal(next, 20);
	assert_false(lpl_windows_at(windows, 20, &next));
	assert_int_equal(next, LPL_WINDOWS_NEVER);
	lpl_windows_close(windows);

	windows = windows_of("from:instructions:10");
	assert_false(lpl_windows_at(windows, 9, &next));
	assert_true(lpl_windows_at(windows, UINT64_MAX - 1, &next));
	assert_int_equal(next, LPL_WINDOWS_NEVER);
	lpl_windows_close(windows);

	windows = windows_of("from:instructions:10+until:Y");
	assert_true(lpl_windows_need_kernel(windows));
	mark(windows, 9, "Y", false);
	assert_false(lpl_windows_at(windows, 9, &next));
	assert_int_equal(next, 10);
	assert_true(lpl_windows_at(windows, 10, &next));
	assert_int_equal(next, LPL_WINDOWS_NEVER);
	mark(windows, 30, "Y", false);
	assert_false(lpl_windows_at(windows, 30, &next));	/* there was one */
	assert_int_equal(next, LPL_WINDOWS_NEVER);
	lpl_windows_close(windows);

	windows = windows_of("until:exec:sh");
	assert_true(lpl_windows_at(windows, 0, &next));
	exec(windows, 7, "/bin/bash", true);
	exec(windows, 7, "/bin/sh", false);
	lpl_windows_close(windows);

	windows = windows_of("mark:X+until:instructions:20");
	assert_false(lpl_windows_at(windows, 5, &next));
	assert_int_equal(next, LPL_WINDOWS_NEVER);
	mark(windows, 5, "X", true);
	assert_true(lpl_windows_at(windows, 19, &next));
	assert_int_equal(next, 20);
	assert_false(lpl_windows_at(windows, 20, &next));
	mark(windows, 21, "X", false);
	lpl_windows_close(windows);

	windows = windows_of("from:exec:/bin/sh+until:mark:Y+count:1");
	exec(windows, 7, "/usr/bin/sh", false);
	exec(windows, 7, "/bin/sh", true);
	mark(windows, 5, "Y", false);
	exec(windows, 7, "/bin/sh", false);
	lpl_windows_close(windows);
}

static void test_tasks(void **state)
{
	struct lpl_windows *windows = windows_of("task:gzip");

	(void)state;
	schedule(windows, 1, 10, "sh", false);
	exec(windows, 10, "/bin/gzip", true);
	schedule(windows, 10, 2, "kthreadd", false);
	schedule(windows, 2, 10, "gzip", true);
	schedule(windows, 10, 11, "gzip", true);	/* another one of that name */
	exec(windows, 11, "cat", false);
	schedule(windows, 11, 12, "gzi", false);
	schedule(windows, 12, 13, "gzip2", false);
	lpl_windows_close(windows);

	/* of a long name Linux keeps the beginning */
	windows = windows_of("task:a-name-of-many-bytes");
	schedule(windows, 1, 2, "a-name-of-many-", true);
	exec(windows, 2, "/usr/bin/a-name-of-many-letters", true);
	schedule(windows, 2, 1, "a-name-of-many", false);
	lpl_windows_close(windows);

	windows = windows_of("task:42");
	schedule(windows, 1, 42, "x", true);
	exec(windows, 42, "/bin/true", true);
	schedule(windows, 42, 1, "42", false);
	lpl_windows_close(windows);
}

static void call(struct lpl_windows *windows, uint32_t tag, uint32_t tid, const char *name,
		 uint64_t number, bool within)
{
	struct kernel_trace_record record = saying(tag, tid, name);

	record.arg[KTR_SYSCALL_NUMBER] = number;
	take(windows, 0, &record, within);
}

static void test_calls(void **state)
{
	static const char *const specs[] = { "syscall:read", "syscall:3" };
	struct kernel_trace_record record;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct lpl_windows *windows = windows_of(specs[i]);

		call(windows, KTR_SYSCALL_EXIT, 1, "read", 3, false);
		call(windows, KTR_SYSCALL_ENTER, 1, "write", 4, false);
		call(windows, KTR_SYSCALL_EXIT, 1, "write", 4, false);
		call(windows, KTR_SYSCALL_ENTER, 1, "read", 3, true);
		schedule(windows, 1, 2, "other", false);	/* the first sleeps in it */
		call(windows, KTR_SYSCALL_ENTER, 2, "read", 3, true);
		call(windows, KTR_SYSCALL_EXIT, 2, "read", 3, false);
		schedule(windows, 2, 1, "first", true);
		call(windows, KTR_SYSCALL_EXIT, 1, "read", 3, false);
		schedule(windows, 1, 2, "other", false);
		schedule(windows, 2, 1, "first", false);
		/* a task that ends in the call is forgotten: another may get its number */
		call(windows, KTR_SYSCALL_ENTER, 1, "read", 3, true);
		schedule(windows, 1, 2, "other", false);
		record = saying(KTR_EXIT, 2, "");
		record.arg[KTR_EXIT_TID] = 1;
		take(windows, 0, &record, false);
		schedule(windows, 2, 1, "second", false);
		lpl_windows_close(windows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_specifications),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_far_instructions),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_marks_with_length),
		cmocka_unit_test(test_between_moments),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
