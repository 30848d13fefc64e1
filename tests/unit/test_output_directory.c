/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory until it is whole: what base/output.h promises of a file holds for it, too.  It
 * is on the disk before it has its name, two that write one do not meet, nothing that was made
 * meanwhile is replaced, and what is replaced has its name until the new one has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge/output/output_directory.h"

#define INDEX "index"
#define HEADING "ours\n"

static char root[] = "/tmp/laplace-directory-XXXXXX";

/* ---- what the module asks of the system, in its order ---- */

static char calls[64];
static int sync_fails;			/* errno */
static bool cannot_exchange;

static void note(char call)
{
	size_t length = strlen(calls);

	if (length + 1 < sizeof(calls))
		calls[length] = call;
}

int __real_renameat2(int, const char *, int, const char *, unsigned int);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to,
		     unsigned int flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to,
		     unsigned int flags)
{
	if (flags == RENAME_EXCHANGE && cannot_exchange) {
		errno = EINVAL;
		return -1;
	}
	note(flags == RENAME_EXCHANGE ? 'x' : flags == RENAME_NOREPLACE ? 'n' : '?');
	return __real_renameat2(from_fd, from, to_fd, to, flags);
}

int __real_syncfs(int);
int __wrap_syncfs(int fd);
int __wrap_syncfs(int fd)
{
	note('s');
	errno = sync_fails;
	return sync_fails != 0 ? -1 : __real_syncfs(fd);
}

int __real_fsync(int);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	struct stat status;

	note(fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) ? 'd' : '?');
	return __real_fsync(fd);
}

/* ---- files ---- */

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static bool holds(const char *path, const char *text)
{
	char found[64] = "";
	FILE *file = fopen(path, "r");
	size_t size;

	if (file == NULL)
		return false;
	size = fread(found, 1, sizeof(found) - 1, file);
	assert_int_equal(fclose(file), 0);
	return size == strlen(text) && strcmp(found, text) == 0;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* One that has an index and a file, 0/1, with this text. */
static enum lpl_error begin(struct lpl_output_directory *directory, const char *name,
			    const char *text, bool overwrite, struct lpl_report *report)
{
	char path[64];
	enum lpl_error error = lpl_output_directory_open(directory, name, INDEX, HEADING,
							 overwrite, report);

	if (error != LPL_OK)
		return error;
	snprintf(path, sizeof(path), "%s.part/" INDEX, name);
	put(path, HEADING);
	snprintf(path, sizeof(path), "%s.part/0", name);
	assert_int_equal(mkdir(path, 0777), 0);
	snprintf(path, sizeof(path), "%s.part/0/1", name);
	put(path, text);
	memset(calls, 0, sizeof(calls));
	return LPL_OK;
}

static void make(const char *name, const char *text, bool overwrite)
{
	struct lpl_output_directory directory;

	assert_int_equal(begin(&directory, name, text, overwrite, NULL), LPL_OK);
	assert_int_equal(lpl_output_directory_commit(&directory, NULL), LPL_OK);
	lpl_output_directory_discard(&directory);
}

/* ---- the tests ---- */

static void is_synced_before_it_has_its_name(void **state)
{
	struct lpl_output_directory directory;

	(void)state;
	make("synced", "one", false);
	assert_string_equal(calls, "snd");
	assert_true(holds("synced/0/1", "one"));
	assert_false(exists("synced.part"));
	/* what cannot be synced has no name, and is there */
	assert_int_equal(begin(&directory, "unsynced", "one", false, NULL), LPL_OK);
	sync_fails = EIO;
	assert_int_equal(lpl_output_directory_commit(&directory, NULL), LPL_ERR_IO);
	sync_fails = ENOSPC;
	lpl_output_directory_discard(&directory);
	assert_false(exists("unsynced"));
	assert_true(holds("unsynced.part/0/1", "one"));
	assert_int_equal(begin(&directory, "unsynced", "two", true, NULL), LPL_OK);
	assert_int_equal(lpl_output_directory_commit(&directory, NULL), LPL_ERR_FULL);
	sync_fails = 0;
	lpl_output_directory_discard(&directory);
	assert_true(holds("unsynced.part/0/1", "two"));
}

static void two_do_not_write_one(void **state)
{
	struct lpl_output_directory one, other;
	struct lpl_report report = { 0 };

	(void)state;
	assert_int_equal(begin(&one, "shared", "one", false, NULL), LPL_OK);
	assert_int_equal(begin(&other, "shared", "other", true, &report), LPL_ERR_USAGE);
	assert_non_null(strstr(report.text, "is being written by somebody else"));
	assert_true(holds("shared.part/0/1", "one"));
	assert_int_equal(lpl_output_directory_commit(&one, NULL), LPL_OK);
	lpl_output_directory_discard(&one);
	assert_true(holds("shared/0/1", "one"));
	/* a process that is killed leaves no lock */
	assert_int_equal(begin(&one, "killed", "one", false, NULL), LPL_OK);
	close(one.fd);
	assert_int_equal(begin(&other, "killed", "other", true, NULL), LPL_OK);
	lpl_output_directory_discard(&other);
	one.fd = -1;
	lpl_output_directory_discard(&one);
	assert_false(exists("killed.part"));
}

static void what_was_made_meanwhile_is_kept(void **state)
{
	struct lpl_output_directory directory;
	struct lpl_report report = { 0 };

	(void)state;
	/* even an empty directory, which rename() would replace */
	assert_int_equal(begin(&directory, "late", "one", false, NULL), LPL_OK);
	assert_int_equal(mkdir("late", 0777), 0);
	assert_int_equal(lpl_output_directory_commit(&directory, &report), LPL_ERR_USAGE);
	assert_non_null(strstr(report.text, "late: was created by somebody else meanwhile; all "
			       "of it is in late.part"));
	lpl_output_directory_discard(&directory);
	assert_int_equal(rmdir("late"), 0);
	assert_true(holds("late.part/0/1", "one"));
	/* what is not ours, though ours would be overwritten */
	assert_int_equal(begin(&directory, "late", "two", true, NULL), LPL_OK);
	put("late", "precious");
	assert_int_equal(lpl_output_directory_commit(&directory, NULL), LPL_ERR_USAGE);
	lpl_output_directory_discard(&directory);
	assert_true(holds("late", "precious"));
	assert_true(holds("late.part/0/1", "two"));
}

static void the_old_one_is_kept_until_the_new_has_its_name(void **state)
{
	(void)state;
	make("again", "one", false);
	make("again", "two", true);
	assert_string_equal(calls, "sxd");
	assert_true(holds("again/0/1", "two"));
	assert_false(exists("again.part"));
	/* a file system that cannot exchange names: then one after the other */
	cannot_exchange = true;
	make("again", "three", true);
	cannot_exchange = false;
	assert_string_equal(calls, "snd");
	assert_true(holds("again/0/1", "three"));
	assert_false(exists("again.part"));
}

static int enter(void **state)
{
	(void)state;
	return mkdtemp(root) == NULL || chdir(root) != 0;
}

static int leave(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return chdir("/") != 0 || system(command) != 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_synced_before_it_has_its_name),
		cmocka_unit_test(two_do_not_write_one),
		cmocka_unit_test(what_was_made_meanwhile_is_kept),
		cmocka_unit_test(the_old_one_is_kept_until_the_new_has_its_name),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
