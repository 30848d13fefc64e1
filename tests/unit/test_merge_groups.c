/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merge format per-process, of so many processes that their directories are put into others.
 * The output is called as a merge would call it, of a few processes with large numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/merge.h>

static char directory[] = "/tmp/laplace-test-XXXXXX";

/* What docs/merging.md says of these. */
static const struct {
	uint64_t process, task;
	const char *file;
} cases[] = {
	{ 0, 12345, "0/12345" },
	{ 1, 1, "1/1" },
	{ 9999, 20000, "9999/20000" },
	{ 10000, 5, "10000-19999/10000/5" },
	{ 10001, 6, "10000-19999/10001/6" },
	{ 19999, 7, "10000-19999/19999/7" },
	{ 20000, 8, "20000-29999/20000/8" },
	{ 1500000, 1500001, "1500000-1509999/1500000/1500001" },
	{ UINT64_C(4294967296), 9, "4294960000-4294969999/4294967296/9" },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

static struct lpl_merge_output *open_output(const char *path, enum lpl_error expected)
{
	struct lpl_merge_output *output;
	struct lpl_report report = { 0 };

	assert_int_equal(lpl_merge_per_process_open(&output, path, true, &report), expected);
	return output;
}

/* A task of each process makes one reference, and ends. */
static void write_tasks(const char *path, size_t count)
{
	struct lpl_merge_output *output = open_output(path, LPL_OK);

	for (size_t i = 0; i < count; i++) {
		struct lpl_merge_task task = {
			.tid = 7, .tgid = 7, .serial = cases[i].task, .process = cases[i].process,
		};
		const struct lpl_ref ref = { .ref = i + 1, .instr = 2 * i, .cycle = i,
					     .address = 0x1000, .length = 4 };
		const struct lpl_merged merged = { .ref = &ref, .task = &task, .page = i + 1 };

		assert_int_equal(output->task(output, &task, NULL), LPL_OK);
		assert_int_equal(output->reference(output, &merged, NULL), LPL_OK);
		task.state = LPL_TASK_LEFT;
		assert_int_equal(output->task(output, &task, NULL), LPL_OK);
	}
	assert_int_equal(output->finish(output, NULL), LPL_OK);
	lpl_merge_per_process_close(output);
}

static void read_text(const char *path, const char *file, char *text, size_t size)
{
	char name[256];
	FILE *in;

	snprintf(name, sizeof(name), "%s/%s", path, file);
	in = fopen(name, "r");
	if (in == NULL)
		fail_msg("%s is not there", name);
	text[fread(text, 1, size - 1, in)] = '\0';
	fclose(in);
}

static void far_processes(void **unused)
{
	char path[64], text[4096], expected[160];
	const char *line;

	(void)unused;
	snprintf(path, sizeof(path), "%s/far", directory);
	write_tasks(path, CASES);
	for (size_t i = 0; i < CASES; i++) {
		read_text(path, cases[i].file, text, sizeof(text));
		snprintf(expected, sizeof(expected), "r %zx 4 1 %zx %zx %zx\n", i, i + 1, 2 * i,
			 i + 1);
		assert_string_equal(text, expected);
	}
	/* directory,file: together the path */
	read_text(path, "tasks.csv", text, sizeof(text));
	line = strchr(text, '\n') + 1;
	for (size_t i = 0; i < CASES; i++) {
		char *comma = strchr(line, ',');

		*comma = '/';
		assert_int_equal(strncmp(line, cases[i].file, strlen(cases[i].file)), 0);
		assert_int_equal(line[strlen(cases[i].file)], ',');
		line = strchr(line, '\n') + 1;
	}
}

static bool exists(const char *path, const char *below)
{
	char name[256];
	struct stat status;

	snprintf(name, sizeof(name), "%s/%s", path, below);
	return lstat(name, &status) == 0;
}

/* A group is replaced as a whole, and only when nothing else is in it. */
static void replaced(void **unused)
{
	static const char *const strange[] = {
		"10000-19999/notes", "10000-19999/7", "10000-19999/10000/notes", "1-2-3", "1-",
		"-1", "10000-19999/10000-19999", "notes",
	};
	char path[64], name[256];

	(void)unused;
	snprintf(path, sizeof(path), "%s/replaced", directory);
	write_tasks(path, CASES);
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		int fd;

		snprintf(name, sizeof(name), "%s/%s", path, strange[i]);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0666);
		assert_true(fd >= 0);
		close(fd);
		assert_null(open_output(path, LPL_ERR_USAGE));
		assert_int_equal(unlink(name), 0);
		assert_true(exists(path, cases[3].file));
	}
	assert_int_equal(mkdir(strcat(strcpy(name, path), "/1-2"), 0777), 0);
	assert_int_equal(symlink("/tmp", strcat(name, "/1")), 0);
	assert_null(open_output(path, LPL_ERR_USAGE));
	assert_int_equal(unlink(name), 0);
	*strrchr(name, '/') = '\0';
	assert_int_equal(rmdir(name), 0);

	write_tasks(path, 2);
	assert_true(exists(path, cases[1].file));
	assert_false(exists(path, "10000-19999"));
	/* what was begun and not finished goes, too */
	write_tasks(path, CASES);
	lpl_merge_per_process_close(open_output(path, LPL_OK));
	assert_false(exists(directory, "replaced.part"));
	assert_true(exists(path, cases[3].file));
}

static int set_up(void **unused)
{
	(void)unused;
	return mkdtemp(directory) == NULL;
}

static int tear_down(void **unused)
{
	char command[64];

	(void)unused;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(far_processes),
		cmocka_unit_test(replaced),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
