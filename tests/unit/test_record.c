/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names, escapes, reports and exit statuses, as the public headers have them. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <laplace/error.h>
#include <laplace/record.h>

static void type_letters(void **unused)
{
	(void)unused;
	assert_int_equal(lpl_type_letter(LPL_READ), 'r');
	assert_int_equal(lpl_type_letter(LPL_WRITE), 'w');
	assert_int_equal(lpl_type_letter(LPL_FETCH), 'i');
	assert_int_equal(lpl_type_letter(LPL_WALK_READ), 'p');
	assert_int_equal(lpl_type_letter(LPL_WALK_WRITE), 'q');
	assert_int_equal(lpl_type_letter(LPL_TYPES), '?');
}

/* The names of arguments: what they end with, and each is there once. */
static void expect_arguments(const struct lpl_event_kind *kind)
{
	size_t count = 0;

	while (count < KTR_ARGS && kind->arg[count].name != NULL)
		count++;
	for (size_t i = 0; i < count; i++) {
		assert_int_not_equal(kind->arg[i].name[0], '\0');
		assert_in_range(kind->arg[i].how, KTR_HEX, KTR_SIGNED);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(kind->arg[i].name, kind->arg[k].name);
	}
	/* none is after one that is left out, nor beyond what a record has room for */
	for (size_t i = count; i <= KTR_ARGS; i++)
		assert_null(kind->arg[i].name);
}

static void event_table(void **unused)
{
	const struct lpl_event_kind *kinds = lpl_event_kinds();
	size_t kernels = 0;

	(void)unused;
	for (size_t i = 0; i < LPL_EVENT_KINDS; i++) {
		const struct lpl_event_kind *kind = &kinds[i];

		assert_true(i == 0 || kind->tag > kinds[i - 1].tag);
		assert_true(kind->tag < KTR_TAGS || kind->tag >= LPL_EVENT_TRACING);
		kernels += kind->tag < KTR_TAGS;
		assert_ptr_equal(lpl_event_kind(kind->tag), kind);
		assert_non_null(kind->name);
		assert_int_not_equal(kind->name[0], '\0');
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(kind->name, kinds[k].name);
		assert_non_null(kind->text);
		expect_arguments(kind);
	}
	/* KTR_TAGS is no larger than it must be */
	assert_int_equal(kinds[kernels - 1].tag, KTR_TAGS - 1);
	assert_null(lpl_event_kind(0));
	assert_null(lpl_event_kind(KTR_TAGS));
	assert_null(lpl_event_kind(LPL_EVENT_TRACING - 1));
	assert_null(lpl_event_kind(kinds[LPL_EVENT_KINDS - 1].tag + 1));
	assert_null(lpl_event_kind(UINT32_MAX));
}

/* Some rows by hand: laplace-trace(5) has them all, see tests/cli/format-tables. */
static void event_names(void **unused)
{
	(void)unused;
	assert_string_equal(lpl_event_name(KTR_MAP), "map");
	assert_string_equal(lpl_event_name(KTR_COW_BREAK), "cow-break");
	assert_string_equal(lpl_event_name(LPL_EVENT_GAP), "gap");
	assert_string_equal(lpl_event_name(LPL_EVENT_TASK_STATE), "task-state");
	assert_null(lpl_event_name(0));
	assert_null(lpl_event_name(KTR_TAGS));
	assert_null(lpl_event_name(LPL_EVENT_TRACING - 1));
	assert_string_equal(lpl_event_kind(KTR_MAP)->text, "name");
	assert_string_equal(lpl_event_kind(KTR_UNMAP)->text, "");
	assert_string_equal(lpl_event_kind(KTR_MAP)->arg[KTR_MAP_PAGE_BYTES].name, "page bytes");
	assert_int_equal(lpl_event_kind(KTR_MAP)->arg[KTR_MAP_PAGE_BYTES].how, KTR_DECIMAL);
	assert_int_equal(lpl_event_kind(KTR_SYSCALL_EXIT)->arg[KTR_SYSCALL_EXIT_RESULT].how,
			 KTR_SIGNED);
}

static void fences(void **unused)
{
	(void)unused;
	assert_true(lpl_event_is_fence(KTR_MAP));
	assert_true(lpl_event_is_fence(KTR_EXEC));
	assert_true(lpl_event_is_fence(KTR_CACHE_REMOVE));
	/* the end of a task is not that of its space */
	assert_false(lpl_event_is_fence(KTR_EXIT));
	assert_false(lpl_event_is_fence(KTR_MPROTECT));
	assert_false(lpl_event_is_fence(LPL_EVENT_MARK));
	assert_false(lpl_event_is_fence(LPL_EVENT_TRACING));
	/* not known */
	assert_false(lpl_event_is_fence(0));
	assert_false(lpl_event_is_fence(KTR_TAGS));
	assert_false(lpl_event_is_fence(UINT32_MAX));
}

static void escapes(void **unused)
{
	static const char text[] = { 'a', '\\', '\0', '\n', '\x7f', (char)0xff, ' ', '~' };
	static const char escaped[] = "a\\x5c\\x00\\x0a\\x7f\\xff ~";
	char out[64];

	(void)unused;
	assert_ptr_equal(lpl_text_escape(out, sizeof(out), text, sizeof(text)), out);
	assert_string_equal(out, escaped);
	assert_string_equal(lpl_text_escape(out, sizeof(out), text, 0), "");
	/* too small: a beginning of it, terminated, nothing beyond */
	for (size_t size = 1; size <= sizeof(escaped); size++) {
		memset(out, '!', sizeof(out));
		lpl_text_escape(out, size, text, sizeof(text));
		assert_true(strlen(out) < size);
		assert_memory_equal(out, escaped, strlen(out));
		assert_int_equal(out[size], '!');
	}
	assert_string_equal(out, escaped);
	out[0] = '!';
	assert_ptr_equal(lpl_text_escape(out, 0, text, sizeof(text)), out);
	assert_int_equal(out[0], '!');
}

static void reports(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };
	char *long_text = malloc(2 * LPL_REPORT_SIZE);

	(void)unused;
	errno = ENOENT;
	assert_int_equal(lpl_fail(&report, LPL_ERR_IO, "%s: %d", "file", 7), LPL_ERR_IO);
	assert_int_equal(report.error, LPL_ERR_IO);
	assert_int_equal(report.system_errno, ENOENT);
	assert_string_equal(report.text, "file: 7: No such file or directory");
	/* the first one is kept */
	assert_int_equal(lpl_fail(&report, LPL_ERR_USAGE, "other"), LPL_ERR_USAGE);
	assert_int_equal(report.error, LPL_ERR_IO);
	assert_string_equal(report.text, "file: 7: No such file or directory");
	assert_int_equal(lpl_fail(NULL, LPL_ERR_FULL, "not asked for"), LPL_ERR_FULL);

	memset(&report, 0, sizeof(report));
	errno = ENOENT;
	lpl_fail(&report, LPL_ERR_DAMAGED, "no system call");
	assert_int_equal(report.system_errno, 0);
	assert_string_equal(report.text, "no system call");

	assert_non_null(long_text);
	memset(long_text, 'x', 2 * LPL_REPORT_SIZE - 1);
	long_text[2 * LPL_REPORT_SIZE - 1] = '\0';
	memset(&report, 0, sizeof(report));
	errno = ENOSPC;
	lpl_fail(&report, LPL_ERR_FULL, "%s", long_text);
	assert_int_equal(strlen(report.text), LPL_REPORT_SIZE - 1);
	assert_int_equal(report.system_errno, ENOSPC);
	free(long_text);
}

static void statuses(void **unused)
{
	(void)unused;
	assert_int_equal(lpl_error_status(LPL_OK), 0);
	assert_int_equal(lpl_error_status(LPL_ERR_USAGE), 2);
	assert_int_equal(lpl_error_status(LPL_ERR_IO), 1);
	assert_int_equal(lpl_error_status(LPL_ERR_FULL), 1);
	assert_int_equal(lpl_error_status(LPL_ERR_MEMORY), 1);
	assert_int_equal(lpl_error_status(LPL_ERR_INTERNAL), 1);
	assert_int_equal(lpl_error_status(LPL_ERR_DAMAGED), 3);
	assert_int_equal(lpl_error_status(LPL_ERR_TRUNCATED), 3);
	assert_string_equal(lpl_error_name(LPL_ERR_DAMAGED), "damaged");
	assert_string_equal(lpl_error_name(LPL_OK), "ok");
	assert_non_null(lpl_error_name((enum lpl_error)12345));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(type_letters),
		cmocka_unit_test(event_table),
		cmocka_unit_test(event_names),
		cmocka_unit_test(fences),
		cmocka_unit_test(escapes),
		cmocka_unit_test(reports),
		cmocka_unit_test(statuses),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
