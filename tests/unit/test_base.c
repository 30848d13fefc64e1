/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bottom room: arrays, the map against a list, digits against printf, files until whole. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/digits.h"
#include "base/host.h"
#include "base/map.h"
#include "base/output.h"
#include "scratch.h"

/* ---- arrays ---- */

static void arrays_grow_and_are_zeroed(void **unused)
{
	struct pair { uint64_t a, b; } *array = NULL;
	size_t room = 0;

	(void)unused;
	for (size_t i = 0; i < 1000; i++) {
		assert_true(lpl_reach(array, room, i));
		assert_true(room > i && room <= 2 * i + 16);
		assert_true(array[i].a == 0 && array[i].b == 0);
		array[i] = (struct pair){ i, ~i };
	}
	for (size_t i = 0; i < 1000; i++)
		assert_true(array[i].a == i && array[i].b == ~i);
	for (size_t i = 1000; i < room; i++)
		assert_true(array[i].a == 0 && array[i].b == 0);
	free(array);
}

static void arrays_too_large_are_refused(void **unused)
{
	uint64_t *array = NULL;
	size_t room = 0;

	(void)unused;
	assert_true(lpl_reach(array, room, 3));
	array[3] = 7;
	assert_false(lpl_reach(array, room, SIZE_MAX));
	assert_false(lpl_reach(array, room, SIZE_MAX / 16));
	assert_true(room >= 4 && array[3] == 7);
	free(array);
}

/* ---- the map, against a list that is searched from its beginning ---- */

#define KEYS 600

struct listed {
	struct lpl_key key;
	uint64_t value;
};

static void compare(const struct lpl_map *map, const struct listed *list)
{
	size_t count = 0;

	for (size_t i = 0; i < KEYS; i++) {
		assert_int_equal(lpl_map_get(map, list[i].key), list[i].value);
		assert_true((lpl_map_find(map, list[i].key) != NULL) == (list[i].value != 0));
		count += list[i].value != 0;
	}
	assert_int_equal(map->count, count);
}

static void map_is_a_map(void **unused)
{
	(void)unused;
	for (unsigned int words = 1; words <= LPL_KEY_WORDS; words++) {
		struct listed list[KEYS];
		struct lpl_map map;

		srand48(words);
		lpl_map_init(&map, words);
		for (size_t i = 0; i < KEYS; i++) {
			/* keys that differ in one word each, 0 and the largest too */
			list[i] = (struct listed){ .key = LPL_KEY(5, 6, 7) };
			list[i].key.word[i % words] = i < words ? UINT64_MAX : i * 4096;
		}
		compare(&map, list);
		assert_false(lpl_map_remove(&map, list[0].key));
		for (unsigned int step = 0; step < 20000; step++) {
			struct listed *one = &list[(size_t)lrand48() % KEYS];
			long what = lrand48() % 100;

			if (what < 55 - (step / 4000) * 5) {
				uint64_t value = (uint64_t)lrand48() + 1;

				assert_true(lpl_map_put(&map, one->key, value));
				one->value = value;
			} else if (what < 60) {
				uint64_t *value = lpl_map_reach(&map, one->key);

				assert_non_null(value);
				assert_int_equal(*value, one->value);
				*value = one->value = step + 1;
			} else {
				assert_true(lpl_map_remove(&map, one->key) == (one->value != 0));
				one->value = 0;
			}
			if (step % 500 == 0)
				compare(&map, list);
		}
		lpl_map_free(&map);
		assert_int_equal(lpl_map_get(&map, list[0].key), 0);
	}
}

static void map_is_copied(void **unused)
{
	struct lpl_map map, copy;

	(void)unused;
	lpl_map_init(&map, 2);
	assert_true(lpl_map_copy(&copy, &map));
	assert_int_equal(copy.count, 0);
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(lpl_map_put(&map, LPL_KEY(i, i % 3), i + 1));
	assert_true(lpl_map_copy(&copy, &map));
	/* what happens to the one does not happen to the other */
	for (uint64_t i = 0; i < 500; i++)
		assert_true(lpl_map_remove(&map, LPL_KEY(i, i % 3)));
	assert_int_equal(copy.count, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(lpl_map_get(&copy, LPL_KEY(i, i % 3)), i + 1);
	lpl_map_free(&copy);
	assert_int_equal(map.count, 500);
	assert_int_equal(lpl_map_get(&map, LPL_KEY(999, 0)), 1000);
	lpl_map_free(&map);
}

static void map_looks_at_its_words_alone(void **unused)
{
	struct lpl_map map;

	(void)unused;
	lpl_map_init(&map, 1);
	assert_true(lpl_map_put(&map, LPL_KEY(1, 2, 3), 4));
	assert_int_equal(lpl_map_get(&map, LPL_KEY(1)), 4);
	assert_int_equal(lpl_map_get(&map, LPL_KEY(2)), 0);
	lpl_map_free(&map);
}

/* ---- digits ---- */

static void digits_out_and_in(void **unused)
{
	static const uint64_t number[] = { 0, 1, 9, 10, 15, 16, 255, 256, 99999, UINT32_MAX,
		UINT64_C(1) << 60, UINT64_C(1844674407370955161), UINT64_MAX - 1, UINT64_MAX };

	(void)unused;
	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		char expected[32], found[32];
		uint64_t value = 1;

		snprintf(expected, sizeof(expected), "%" PRIu64, number[i]);
		*lpl_put_decimal(found, number[i]) = '\0';
		assert_string_equal(found, expected);
		assert_true(lpl_parse_decimal(found, &value) && value == number[i]);
		snprintf(expected, sizeof(expected), "%" PRIx64, number[i]);
		*lpl_put_hex(found, number[i]) = '\0';
		assert_string_equal(found, expected);
		assert_true(lpl_parse_hex(found, &value) && value == number[i]);
	}
}

static void what_is_no_number_is_refused(void **unused)
{
	static const char *const decimal[] = { "", "-1", "+1", " 1", "1 ", "0x1", "1a",
		"18446744073709551616", "99999999999999999999", "1\n" };
	static const char *const hex[] = { "", "-1", "+1", " 1", "0x", "1g", "0x1 ",
		"10000000000000000", "x1" };
	uint64_t value;

	(void)unused;
	for (size_t i = 0; i < sizeof(decimal) / sizeof(decimal[0]); i++)
		assert_false(lpl_parse_decimal(decimal[i], &value));
	for (size_t i = 0; i < sizeof(hex) / sizeof(hex[0]); i++)
		assert_false(lpl_parse_hex(hex[i], &value));
	assert_true(lpl_parse_hex("0XaF", &value));
	assert_int_equal(value, 0xaf);
	assert_true(lpl_parse_decimal("007", &value));
	assert_int_equal(value, 7);
}

/* ---- the host ---- */

static void clock_and_processors(void **unused)
{
	uint64_t before = lpl_now_ns();

	(void)unused;
	assert_true(lpl_now_ns() >= before);
	assert_true(lpl_processors() >= 1);
}

/* ---- a file until it is whole ---- */

static void expect_content(const char *name, const char *content)
{
	char found[64] = "";
	FILE *file = fopen(in_directory(name), "r");

	assert_non_null(file);
	assert_int_equal(fread(found, 1, sizeof(found) - 1, file), strlen(content));
	assert_string_equal(found, content);
	fclose(file);
}

static void write_text(struct lpl_output *output, const char *text)
{
	FILE *stream = lpl_output_stream(output);

	assert_non_null(stream);
	assert_true(fputs(text, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
}

static void a_file_has_its_name_when_it_is_whole(void **unused)
{
	struct lpl_report report = { 0 };
	struct lpl_output output, other;

	(void)unused;
	assert_int_equal(lpl_output_open(&output, in_directory("whole"), false, &report), LPL_OK);
	assert_false(exists("whole"));
	/* the process that writes it is not disturbed, not even where it may be replaced */
	assert_int_equal(lpl_output_open(&other, in_directory("whole"), true, &report),
			 LPL_ERR_USAGE);
	write_text(&output, "one\n");
	assert_true(exists("whole.part"));
	assert_int_equal(lpl_output_commit(&output, &report), LPL_OK);
	assert_false(exists("whole.part"));
	expect_content("whole", "one\n");
	assert_int_equal(lpl_output_open(&output, in_directory("whole"), false, &report),
			 LPL_ERR_USAGE);
	assert_int_equal(lpl_output_open(&output, in_directory("whole"), true, &report), LPL_OK);
	assert_int_equal(lpl_output_write(&output, "two\n", 4, &report), LPL_OK);
	assert_int_equal(lpl_output_commit(&output, &report), LPL_OK);
	expect_content("whole", "two\n");
}

static void what_was_made_meanwhile_is_kept(void **unused)
{
	struct lpl_report report = { 0 };
	struct lpl_output output;
	FILE *file;

	(void)unused;
	assert_int_equal(lpl_output_open(&output, in_directory("meanwhile"), false, &report), LPL_OK);
	write_text(&output, "ours\n");
	file = fopen(in_directory("meanwhile"), "w");
	assert_non_null(file);
	fputs("theirs\n", file);
	fclose(file);
	assert_int_equal(lpl_output_commit(&output, &report), LPL_ERR_USAGE);
	assert_non_null(strstr(report.text, "meanwhile"));
	expect_content("meanwhile", "theirs\n");
	expect_content("meanwhile.part", "ours\n");
}

/* ---- what a disk does (the linker's --wrap brings the call here) ---- */

static int syncs, sync_error;

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	syncs++;
	errno = sync_error;
	return sync_error ? -1 : __real_fsync(fd);
}

static void a_file_is_on_the_disk_before_it_has_its_name(void **unused)
{
	struct lpl_report report = { 0 };
	struct lpl_output output;

	(void)unused;
	assert_int_equal(lpl_output_open(&output, in_directory("disk"), false, &report), LPL_OK);
	write_text(&output, "lost?\n");
	sync_error = EIO;
	assert_int_equal(lpl_output_commit(&output, &report), LPL_ERR_IO);
	sync_error = 0;
	assert_false(exists("disk"));
	expect_content("disk.part", "lost?\n");
	assert_int_equal(lpl_output_open(&output, in_directory("disk"), true, &report), LPL_OK);
	write_text(&output, "safe\n");
	syncs = 0;
	assert_int_equal(lpl_output_commit(&output, &report), LPL_OK);
	assert_int_equal(syncs, 2);	/* the file, and the directory that names it */
	expect_content("disk", "safe\n");
}

/* What there is room for only in part is taken back, and a smaller piece stands in its place. */
static void a_piece_is_there_or_not(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };
	struct rlimit limit, small;
	struct lpl_output output;

	(void)unused;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	small = (struct rlimit){ .rlim_cur = 10, .rlim_max = limit.rlim_max };
	assert_int_equal(lpl_output_open(&output, in_directory("taken-back"), true, &report), LPL_OK);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(lpl_output_write(&output, "whole\n", 6, &report), LPL_OK);
	assert_int_equal(lpl_output_write(&output, "half a piece\n", 13, &report), LPL_ERR_FULL);
	assert_int_equal(output.written, 6);
	report.error = LPL_OK;
	assert_int_equal(lpl_output_write(&output, "end\n", 4, &report), LPL_OK);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(lpl_output_commit(&output, &report), LPL_OK);
	expect_content("taken-back", "whole\nend\n");
}

static void a_file_needs_a_name(void **unused)
{
	struct lpl_report report = { 0 };
	struct lpl_output output;

	(void)unused;
	assert_int_equal(lpl_output_open(&output, "", false, &report), LPL_ERR_IO);
	assert_int_equal(access(".part", F_OK), -1);
}

static void text_that_is_given_up_leaves_nothing(void **unused)
{
	struct lpl_report report = { 0 };
	struct lpl_output output;

	(void)unused;
	assert_int_equal(lpl_output_open(&output, in_directory("text"), false, &report), LPL_OK);
	write_text(&output, "half\n");
	lpl_output_discard(&output);
	assert_false(exists("text") || exists("text.part"));
	/* pieces are whole, and stay */
	assert_int_equal(lpl_output_open(&output, in_directory("pieces"), false, &report), LPL_OK);
	assert_int_equal(lpl_output_write(&output, "piece\n", 6, &report), LPL_OK);
	lpl_output_discard(&output);
	assert_false(exists("pieces"));
	expect_content("pieces.part", "piece\n");
}

/* ---- what is no file of ours ---- */

static void a_descriptor_is_written_as_it_is(void **unused)
{
	struct lpl_report report = { 0 };
	struct lpl_output output;
	char path[32];
	int fd = open(in_directory("opened"), O_WRONLY | O_CREAT | O_EXCL, 0600), named = -1;

	(void)unused;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "before\n", 7), 7);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	assert_true(lpl_names_descriptor(path, &named));
	assert_int_equal(named, fd);
	/* opened anew it would be a file that exists, and be written from its start */
	assert_int_equal(lpl_output_open(&output, path, false, &report), LPL_OK);
	assert_int_equal(lpl_output_write(&output, "stream\n", 7, &report), LPL_OK);
	assert_int_equal(lpl_output_commit(&output, &report), LPL_OK);
	/* it is still open, for it is not ours */
	assert_int_equal(write(fd, "after\n", 6), 6);
	assert_int_equal(close(fd), 0);
	expect_content("opened", "before\nstream\nafter\n");
	assert_int_equal(lpl_output_open(&output, path, false, &report), LPL_ERR_IO);
	assert_non_null(strstr(report.text, path));
}

static void what_names_no_descriptor(void **unused)
{
	static const char *const paths[] = {
		"/dev/fd/", "/dev/fd/x", "/dev/fd/1x", "/dev/fd/-1", "/dev/fd/99999999999", "/dev/fd", "dev/fd/1",
		"/dev/fd/1/trace.lpl", "/dev/fd/1.lpl", "1", "-"
	};
	int fd = -1;

	(void)unused;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_false(lpl_names_descriptor(paths[i], &fd));
	assert_int_equal(fd, -1);
}

static void a_pipe_that_is_not_read_is_no_failure_of_a_disk(void **unused)
{
	struct lpl_report report = { 0 };
	struct lpl_output output;
	char path[32];
	int fd[2];

	(void)unused;
	assert_true(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	assert_int_equal(pipe(fd), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[1]);
	assert_int_equal(lpl_output_open(&output, path, false, &report), LPL_OK);
	assert_int_equal(lpl_output_write(&output, "read\n", 5, &report), LPL_OK);
	close(fd[0]);
	assert_int_equal(lpl_output_write(&output, "unread\n", 7, &report), LPL_ERR_IO);
	assert_non_null(strstr(report.text, "is not read beyond offset 5"));
	lpl_output_discard(&output);
	close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_grow_and_are_zeroed),
		cmocka_unit_test(arrays_too_large_are_refused),
		cmocka_unit_test(map_is_a_map),
		cmocka_unit_test(map_is_copied),
		cmocka_unit_test(map_looks_at_its_words_alone),
		cmocka_unit_test(digits_out_and_in),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(clock_and_processors),
		cmocka_unit_test(a_file_has_its_name_when_it_is_whole),
		cmocka_unit_test(what_was_made_meanwhile_is_kept),
		cmocka_unit_test(a_file_is_on_the_disk_before_it_has_its_name),
		cmocka_unit_test(a_piece_is_there_or_not),
		cmocka_unit_test(a_file_needs_a_name),
		cmocka_unit_test(text_that_is_given_up_leaves_nothing),
		cmocka_unit_test(a_descriptor_is_written_as_it_is),
		cmocka_unit_test(what_names_no_descriptor),
		cmocka_unit_test(a_pipe_that_is_not_read_is_no_failure_of_a_disk),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
