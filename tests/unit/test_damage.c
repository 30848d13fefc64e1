/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What can happen to a trace file, or on the way to it: cut, damaged, shuffled, no
 * room, its name in use.  Whatever was whole can still be read, nothing else is read.
 */
#include <signal.h>
#include <sys/resource.h>

#include "trace_file.h"

static void cut_anywhere(void **unused)
{
	struct stream stream;
	struct result result;
	struct bytes file;
	struct layout layout;
	size_t whole = 0;	/* chunks that end at or before the cut */

	(void)unused;
	stream_random(&stream, 60, STREAM_PAGED, 11);
	write_file("cut.lpl", &stream, 13, 1);
	file = load("cut.lpl");
	lay_out(&layout, &file);
	assert_true(layout.count >= 5);
	for (size_t cut = 0; cut < file.size; cut++) {
		bool boundary;

		while (layout.offset[whole + 1] <= cut)
			whole++;
		boundary = cut == layout.offset[whole];
		read_bytes(&result, file.data, cut);
		if (whole == 0) {
			assert_int_equal(result.opened, LPL_ERR_TRUNCATED);
			continue;
		}
		assert_int_equal(result.opened, LPL_OK);
		assert_int_equal(result.read, boundary ? LPL_OK : LPL_ERR_TRUNCATED);
		assert_false(result.complete);
		assert_int_equal(result.stream.count, layout.records[whole]);
		assert_int_equal(stream_difference(&stream, &result.stream, result.stream.count),
				 result.stream.count);
		stream_free(&result.stream);
	}
	free(file.data);
	stream_free(&stream);
}

static void flipped_bits(void **unused)
{
	struct stream stream;
	struct result result;
	struct bytes file;
	struct layout layout;
	size_t chunk = 0;

	(void)unused;
	stream_random(&stream, 60, STREAM_RAW, 12);
	write_file("flip.lpl", &stream, 13, 1);
	file = load("flip.lpl");
	lay_out(&layout, &file);
	assert_true(layout.count >= 5);
	for (size_t at = 0; at < file.size; at++) {
		while (layout.offset[chunk + 1] <= at)
			chunk++;
		for (int bit = 0; bit < 8; bit++) {
			char place[64];

			file.data[at] ^= (uint8_t)(1 << bit);
			read_bytes(&result, file.data, file.size);
			file.data[at] ^= (uint8_t)(1 << bit);
			if (chunk == 0) {
				assert_int_equal(result.opened,
						 at < 8 ? LPL_ERR_FORMAT : LPL_ERR_DAMAGED);
				continue;
			}
			assert_int_equal(result.opened, LPL_OK);
			assert_int_equal(result.read, LPL_ERR_DAMAGED);
			/* what precedes it was delivered, and the place is named */
			assert_int_equal(result.stream.count, layout.records[chunk]);
			assert_int_equal(stream_difference(&stream, &result.stream,
							   result.stream.count),
					 result.stream.count);
			(void)snprintf(place, sizeof(place), "chunk %zu at offset %" PRIu64 " ",
				       chunk, layout.offset[chunk]);
			assert_non_null(strstr(result.report.text, place));
			if (at >= layout.offset[chunk] + 8)
				assert_non_null(strstr(result.report.text, "checksum: expected "));
			stream_free(&result.stream);
		}
	}
	free(file.data);
	stream_free(&stream);
}

/* Chunks that are each whole, but not where they were written. */
static void shuffled_chunks(void **unused)
{
	struct stream stream;
	struct result result;
	struct bytes file;
	struct layout layout;
	uint8_t *other;

	(void)unused;
	stream_random(&stream, 100, STREAM_RAW, 13);
	write_file("shuffle.lpl", &stream, 20, 1);
	file = load("shuffle.lpl");
	lay_out(&layout, &file);
	other = malloc(2 * file.size);
	assert_non_null(other);
	for (size_t chunk = 0; chunk < layout.count; chunk++) {
		size_t start = layout.offset[chunk], end = layout.offset[chunk + 1];
		size_t size = end - start, rest = file.size - end;

		/* left out (the last: merely incomplete) */
		memcpy(other, file.data, start);
		memcpy(other + start, file.data + end, rest);
		read_bytes(&result, other, file.size - size);
		if (chunk == layout.count - 1)
			assert_true(result.read == LPL_OK && !result.complete);
		else
			assert_int_equal(result.opened ? result.opened : result.read,
					 LPL_ERR_DAMAGED);
		stream_free(&result.stream);
		/* there twice */
		memcpy(other, file.data, end);
		memcpy(other + end, file.data + start, size + rest);
		read_bytes(&result, other, file.size + size);
		assert_int_equal(result.read, LPL_ERR_DAMAGED);
		assert_false(result.complete);
		stream_free(&result.stream);
	}
	/* anything after the index */
	memcpy(other, file.data, file.size);
	other[file.size] = 0;
	read_bytes(&result, other, file.size + 1);
	assert_int_equal(result.read, LPL_ERR_DAMAGED);
	stream_free(&result.stream);
	free(other);
	free(file.data);
	stream_free(&stream);
}

static void not_a_trace(void **unused)
{
	static const char text[] = "#!/bin/sh\nexit 0\n";
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;
	struct result result;

	(void)unused;
	for (size_t size = 1; size < sizeof(text); size++) {
		read_bytes(&result, (const uint8_t *)text, size);
		assert_int_equal(result.opened, LPL_ERR_FORMAT);
	}
	assert_non_null(strstr(result.report.text, "not a Laplace trace"));
	read_bytes(&result, (const uint8_t *)text, 0);
	assert_int_equal(result.opened, LPL_ERR_TRUNCATED);
	assert_int_equal(lpl_reader_open(&reader, in_directory("missing"), &report), LPL_ERR_IO);
	assert_null(reader);
	assert_int_equal(report.system_errno, ENOENT);
	memset(&report, 0, sizeof(report));
	assert_int_equal(lpl_reader_open(&reader, directory, &report), LPL_ERR_IO);
	assert_int_equal(report.system_errno, EISDIR);
}

static void full_device(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = some_meta();
	struct lpl_writer *writer;

	(void)unused;
	assert_int_equal(lpl_writer_open(&writer, "/dev/full", meta, NULL, true, &report),
			 LPL_ERR_FULL);
	assert_null(writer);
	assert_int_equal(report.system_errno, ENOSPC);
	assert_non_null(strstr(report.text, "/dev/full"));
	assert_int_equal(access("/dev/full.part", F_OK), -1);
	lpl_meta_free(meta);
}

/* The file may not grow beyond a limit, wherever that lies. */
static void no_room(void **unused)
{
	struct rlimit before, limit;
	struct stream stream;
	struct result result;
	struct bytes file, part;
	struct layout layout;
	size_t whole = 0;

	(void)unused;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	stream_random(&stream, 60, STREAM_PAGED, 14);
	write_file("whole.lpl", &stream, 13, 1);
	file = load("whole.lpl");
	lay_out(&layout, &file);
	for (size_t room = 0; room < file.size; room += 1 + room % 7) {
		struct lpl_report report = { .error = LPL_OK }, again = { .error = LPL_OK };
		struct lpl_writer_options options = { .chunk_refs = 13 };
		struct lpl_meta *meta = some_meta();
		struct lpl_writer *writer;
		enum lpl_error error;
		char offset[48];

		while (layout.offset[whole + 1] <= room)
			whole++;
		limit = before;
		limit.rlim_cur = room;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		error = lpl_writer_open(&writer, in_directory("room.lpl"), meta, &options, true,
					&report);
		if (error == LPL_OK) {
			lpl_writer_totals(writer, &some_totals);
			error = stream_send(&stream, 0, stream.count, lpl_writer_sink(writer), 1,
					    &report);
			if (error == LPL_OK)
				error = lpl_writer_flush(writer, &report);
			assert_int_equal(lpl_writer_close(writer, &again), LPL_ERR_FULL);
			if (error == LPL_OK)	/* it was the index that did not fit */
				report = again;
			else
				assert_string_equal(report.text, again.text);
		}
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		lpl_meta_free(meta);
		assert_int_equal(report.error, LPL_ERR_FULL);
		assert_int_equal(report.system_errno, EFBIG);
		assert_non_null(strstr(report.text, "room.lpl"));
		(void)snprintf(offset, sizeof(offset), "offset %" PRIu64 ";",
			       layout.offset[whole]);
		assert_non_null(strstr(report.text, offset));
		assert_false(exists("room.lpl"));
		if (whole == 0) {
			assert_false(exists("room.lpl.part"));
			continue;
		}
		part = load("room.lpl.part");
		assert_true(part.size == layout.offset[whole]);
		read_bytes(&result, part.data, part.size);
		assert_int_equal(result.opened, LPL_OK);
		assert_int_equal(result.read, LPL_OK);
		assert_false(result.complete);
		assert_int_equal(result.stream.count, layout.records[whole]);
		assert_int_equal(stream_difference(&stream, &result.stream, result.stream.count),
				 result.stream.count);
		stream_free(&result.stream);
		free(part.data);
	}
	assert_int_equal(unlink(in_directory("room.lpl.part")), 0);
	free(file.data);
	stream_free(&stream);
}

static void names_in_use(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = some_meta();
	struct lpl_writer *writer, *second;
	struct bytes before, after;
	struct stream stream;

	(void)unused;
	/* a file of that name */
	stream_random(&stream, 10, STREAM_RAW, 15);
	write_file("name.lpl", &stream, 0, 1);
	before = load("name.lpl");
	assert_int_equal(lpl_writer_open(&second, in_directory("name.lpl"), meta, NULL, false,
					 &report), LPL_ERR_USAGE);
	assert_null(second);
	assert_non_null(strstr(report.text, "name.lpl"));
	assert_false(exists("name.lpl.part"));

	/* replaced only when the new one is whole */
	writer = start(in_directory("name.lpl"), 0, true);
	after = load("name.lpl");
	assert_true(after.size == before.size && memcmp(after.data, before.data, after.size) == 0);
	free(after.data);

	/* a ".part" of that name */
	memset(&report, 0, sizeof(report));
	assert_int_equal(unlink(in_directory("name.lpl")), 0);
	assert_int_equal(lpl_writer_open(&second, in_directory("name.lpl"), meta, NULL, false,
					 &report), LPL_ERR_USAGE);
	assert_null(second);
	assert_non_null(strstr(report.text, "name.lpl.part"));
	lpl_writer_abandon(writer);
	assert_true(exists("name.lpl.part"));
	writer = start(in_directory("name.lpl"), 0, true);
	assert_int_equal(lpl_writer_close(writer, NULL), LPL_OK);
	assert_true(exists("name.lpl"));
	assert_false(exists("name.lpl.part"));

	/* a name that is taken while we write */
	writer = start(in_directory("race.lpl"), 0, false);
	write_file("other.lpl", &stream, 0, 1);
	assert_int_equal(rename(in_directory("other.lpl"), in_directory("race.lpl")), 0);
	memset(&report, 0, sizeof(report));
	assert_int_equal(lpl_writer_close(writer, &report), LPL_ERR_USAGE);
	after = load("race.lpl");
	assert_true(after.size == before.size && memcmp(after.data, before.data, after.size) == 0);
	free(after.data);
	assert_true(exists("race.lpl.part"));

	/* no such directory; a device remains a device */
	memset(&report, 0, sizeof(report));
	assert_int_equal(lpl_writer_open(&second, in_directory("no/such.lpl"), meta, NULL, false,
					 &report), LPL_ERR_IO);
	writer = start("/dev/null", 0, false);
	assert_int_equal(lpl_writer_close(writer, NULL), LPL_OK);
	assert_int_equal(access("/dev/null.part", F_OK), -1);
	lpl_writer_abandon(NULL);
	lpl_reader_close(NULL);
	lpl_meta_free(NULL);
	lpl_meta_free(meta);
	free(before.data);
	stream_free(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(flipped_bits),
		cmocka_unit_test(shuffled_chunks),
		cmocka_unit_test(not_a_trace),
		cmocka_unit_test(full_device),
		cmocka_unit_test(no_room),
		cmocka_unit_test(names_in_use),
	};

	return cmocka_run_group_tests_name("damage", tests, make_directory, remove_directory);
}
