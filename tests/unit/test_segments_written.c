/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces in segments while they are written: what a reader finds meanwhile, what a writer that was
 * killed leaves, how another one continues that, and what one that begins replaces.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "segmented.h"

#include "container/writer.h"

/* ---- read while it is written ---- */

/* A writer that goes on while somebody reads. */
struct growth {
	struct lpl_segments *segments;	/* NULL: `writer` writes one file */
	struct lpl_writer *writer;
	const struct stream *stream;
	size_t sent;
};

static void grow(struct growth *growth, size_t count)
{
	struct lpl_report report = { .error = LPL_OK };

	if (growth->segments && growth->sent > 0)
		rotate(growth->segments);
	if (stream_send(growth->stream, growth->sent, count, lpl_writer_sink(growth->writer), 0,
			&report) != LPL_OK ||
	    lpl_writer_flush(growth->writer, &report) != LPL_OK)
		fail_msg("%s", report.text);
	growth->sent += count;
}

/* How many records are read, when after each piece that is read more is written. */
static size_t read_growing(const char *name, unsigned int jobs, struct growth *growth)
{
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	size_t count, found = 0;

	if (lpl_reader_open(&reader, in_directory(name), &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_reader_jobs(reader, jobs);
	for (;;) {
		if (lpl_reader_next(reader, &refs, &count, &event, &report) != LPL_OK)
			fail_msg("%s", report.text);
		if (count == 0 && !event)
			break;
		found += count + (event != NULL);
		if (growth->sent + 100 <= growth->stream->count)
			grow(growth, 100);
	}
	assert_false(lpl_reader_complete(reader));
	lpl_reader_close(reader);
	return found;
}

/* Reading ends with what was there, however fast more comes. */
static void what_is_written_can_be_read(void **state)
{
	struct stream stream;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 18);
	for (unsigned int jobs = 1; jobs <= 2; jobs++) {
		struct growth file = { .writer = start(in_directory("one.lpl"), 700, true),
				       .stream = &stream };
		struct growth cut = { .segments = open_segments("run.lpl", false, NULL),
				      .stream = &stream };
		struct lpl_report report = { .error = LPL_OK };

		cut.writer = lpl_segments_writer(cut.segments);
		grow(&file, 1500);
		assert_int_equal(read_growing("one.lpl.part", jobs, &file), 1500);
		grow(&cut, 1500);
		grow(&cut, 500);
		assert_int_equal(read_growing("run.lpl.part", jobs, &cut), 2000);
		assert_int_equal(lpl_writer_close(file.writer, &report), LPL_OK);
		close_segments(cut.segments);
	}
	stream_free(&stream);
}

/* Of a small disk the segments have all there is: for the manifest no more is kept than for its lines. */
static void the_manifest_keeps_little_room(void **state)
{
	const struct lpl_writer_options options = { .ends_when_full = true };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_segments *segments;
	struct lpl_meta *meta = some_meta();
	struct stream stream;
	struct stat part;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 21);
	assert_int_equal(lpl_segments_open(&segments, in_directory("run.lpl"), meta, &options, NULL,
					   true, &report), LPL_OK);
	lpl_meta_free(meta);
	send(segments, &stream, 0, 1000);
	rotate(segments);
	assert_int_equal(stat(in_directory("run.lpl.part"), &part), 0);
	assert_true(part.st_blocks * 512 <= 65536);
	close_segments(segments);
	stream_free(&stream);
}

/* ---- left by a writer ---- */

/* Kill a writer somewhere; what it had flushed is there. */
static void a_killed_writer_leaves_a_whole(void **state)
{
	struct stream stream;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 14);
	for (size_t at = 0; at <= PARTS; at++) {
		const size_t end = at < PARTS ? even[at] + 1000 : stream.count;
		struct stream expected = part_of(&stream, 0, end);
		struct lpl_report report = { .error = LPL_OK };
		pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (child == 0) {
			struct lpl_segments *segments = open_segments("run.lpl", at % 2, NULL);

			for (size_t i = 0; i < PARTS && even[i] < end; i++) {
				size_t next = i + 1 < PARTS ? even[i + 1] : stream.count;

				if (i > 0)
					rotate(segments);
				send(segments, &stream, even[i], next < end ? next : end);
			}
			(void)lpl_writer_flush(lpl_segments_writer(segments), &report);
			_exit(report.error == LPL_OK ? 0 : 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_reads("run.lpl.part", &expected, false);
	}
	/* the segments of the one that was killed are replaced, as it named them or would have */
	write_cut("run.lpl", &stream, even, PARTS, false, NULL);
	assert_false(exists("run.lpl.part"));
	assert_reads("run.lpl", &stream, true);
	stream_free(&stream);
}

/* All that a rotation leaves when it is stopped between two of its steps. */
static void a_rotation_may_be_stopped(void **state)
{
	struct stream stream, two;
	struct bytes manifest, segment;
	size_t line[8] = { 0 }, lines = 0;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 15);
	write_cut("run.lpl", &stream, even, PARTS, false, NULL);
	two = part_of(&stream, 0, even[2]);
	manifest = load("run.lpl");
	for (size_t i = 0; i < manifest.size; i++) {
		if (manifest.data[i] == '\n')
			line[++lines] = i + 1;
	}
	assert_int_equal(lines, PARTS + 2);
	segment = load(segment_name("run", 3));
	for (unsigned int i = 3; i <= PARTS; i++)
		assert_int_equal(unlink(in_directory(segment_name("run", i))), 0);
	assert_int_equal(unlink(in_directory("run.lpl")), 0);

	/* the segment is complete, and has no name yet; it has, but no line; half a line; a line */
	write_bytes("run.lpl.part", manifest.data, line[2]);
	rename_in_directory("run.000002.lpl", "run.000002.lpl.part");
	assert_reads("run.lpl.part", &two, false);
	rename_in_directory("run.000002.lpl.part", "run.000002.lpl");
	assert_reads("run.lpl.part", &two, false);
	write_bytes("run.lpl.part", manifest.data, (line[2] + line[3]) / 2);
	assert_reads("run.lpl.part", &two, false);
	write_bytes("run.lpl.part", manifest.data, line[3]);
	assert_reads("run.lpl.part", &two, false);
	/* the next one is there, and empty; then any part of it, whole chunks first */
	write_bytes("run.000003.lpl.part", segment.data, 0);
	assert_reads("run.lpl.part", &two, false);
	for (size_t size = 1; size < segment.size; size += 97) {
		struct result result;

		write_bytes("run.000003.lpl.part", segment.data, size);
		read_path(&result, "run.lpl.part", 2);
		assert_true(result.read == LPL_OK || result.read == LPL_ERR_TRUNCATED);
		assert_false(result.complete);
		assert_true(result.stream.count >= two.count);
		assert_int_equal(stream_difference(&stream, &result.stream, result.stream.count),
				 result.stream.count);
		stream_free(&result.stream);
	}
	/* what stands there, and is not the next one, is not taken for it */
	write_bytes("run.000003.lpl.part", segment.data, segment.size);
	write_bytes("run.lpl.part", manifest.data, line[2]);
	assert_int_equal(unlink(in_directory("run.000002.lpl")), 0);
	rename_in_directory("run.000003.lpl.part", "run.000002.lpl.part");
	{
		struct result result;

		read_path(&result, "run.lpl.part", 1);
		assert_int_equal(result.read, LPL_ERR_DAMAGED);
		assert_int_equal(result.stream.count, even[1]);
		stream_free(&result.stream);
	}
	assert_int_equal(unlink(in_directory("run.000002.lpl.part")), 0);
	assert_int_equal(unlink(in_directory("run.000001.lpl")), 0);
	assert_int_equal(unlink(in_directory("run.lpl.part")), 0);
	free(manifest.data);
	free(segment.data);
	stream_free(&stream);
}

/* ---- continued ---- */

/* All files of a trace of PARTS segments: its manifest, and each of them. */
struct files {
	struct bytes file[PARTS + 1];
};

static struct files load_all(const char *manifest)
{
	struct files files = { .file = { load(manifest) } };

	for (unsigned int i = 1; i <= PARTS; i++)
		files.file[i] = load(segment_name("run", i));
	return files;
}

static void free_all(struct files *files)
{
	for (size_t i = 0; i <= PARTS; i++)
		free(files->file[i].data);
}

static void assert_same(struct files files, struct files others)
{
	for (size_t i = 0; i <= PARTS; i++) {
		assert_int_equal(files.file[i].size, others.file[i].size);
		assert_memory_equal(files.file[i].data, others.file[i].data, files.file[i].size);
	}
	free_all(&others);
}

static enum lpl_error go_on(struct lpl_segments **segments, bool runs, uint64_t number,
			    const struct lpl_writer_place *place)
{
	const struct lpl_writer_options options = { .chunk_refs = 700, .blocks = runs };
	struct lpl_report report = { .error = LPL_OK };

	return lpl_segments_continue(segments, in_directory("run.lpl"), &options, NULL, number,
				     place, true, &report);
}

/* From where the third segment began: whatever followed it, the files are the same. */
static void another_writer_goes_on(void **state)
{
	struct stream stream;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 19);
	for (int way = 0; way < 4; way++) {
		const bool runs = way % 2, closed = way / 2;
		struct lpl_segments *segments = open_segments("run.lpl", runs, NULL);
		struct lpl_writer_place place, elsewhere;
		struct files files, left;

		for (size_t i = 0; i < PARTS; i++) {
			if (i > 0)
				rotate(segments);
			if (i == 2)
				lpl_writer_where(lpl_segments_writer(segments), &place);
			send(segments, &stream, even[i], i + 1 < PARTS ? even[i + 1] :
								       stream.count);
		}
		close_segments(segments);
		files = load_all("run.lpl");
		if (!closed) {		/* its last line is missing */
			const struct bytes *manifest = &files.file[0];
			size_t end = manifest->size - 1;

			while (manifest->data[end - 1] != '\n')
				end--;
			write_bytes("run.lpl.part", manifest->data, end);
			assert_int_equal(unlink(in_directory("run.lpl")), 0);
		}
		left = load_all(closed ? "run.lpl" : "run.lpl.part");

		/* not from another place, nor after the end; then nothing is touched */
		elsewhere = place;
		elsewhere.refs_so_far++;
		assert_int_equal(go_on(&segments, runs, 3, &elsewhere), LPL_ERR_USAGE);
		assert_int_equal(go_on(&segments, runs, PARTS + 2, &place), LPL_ERR_USAGE);
		assert_null(segments);
		assert_same(left, load_all(closed ? "run.lpl" : "run.lpl.part"));
		free_all(&left);

		assert_int_equal(go_on(&segments, runs, 3, &place), LPL_OK);
		assert_int_equal(lpl_segments_number(segments), 3);
		assert_false(exists("run.lpl"));
		assert_false(exists(segment_name("run", 3)));
		assert_false(exists(segment_name("run", PARTS)));
		for (size_t i = 2; i < PARTS; i++) {
			if (i > 2)
				rotate(segments);
			send(segments, &stream, even[i], i + 1 < PARTS ? even[i + 1] :
								       stream.count);
		}
		close_segments(segments);
		assert_same(files, load_all("run.lpl"));
		free_all(&files);
	}
	stream_free(&stream);
}

/* What is no manifest is left where it is, whatever is asked for. */
static void only_a_manifest_is_continued(void **state)
{
	const struct lpl_writer_place place = { .refs_so_far = 0 };
	struct lpl_segments *segments;
	struct stream stream;

	(void)state;
	stream_random(&stream, 1000, STREAM_RAW, 20);
	write_file("plain.lpl", &stream, 700, 1);
	rename_in_directory("plain.lpl", "run.lpl");
	assert_int_equal(go_on(&segments, false, 1, &place), LPL_ERR_USAGE);
	assert_null(segments);
	assert_false(exists("run.lpl.part"));
	assert_reads("run.lpl", &stream, true);
	assert_int_equal(unlink(in_directory("run.lpl")), 0);
	assert_int_equal(go_on(&segments, false, 1, &place), LPL_ERR_USAGE);
	assert_false(exists("run.lpl.part"));
	stream_free(&stream);
}

/* ---- what is in the way ---- */

static enum lpl_error try_open(const char *path, bool overwrite, struct lpl_report *report)
{
	struct lpl_meta *meta = some_meta();
	struct lpl_segments *segments;
	enum lpl_error error;

	report->error = LPL_OK;
	error = lpl_segments_open(&segments, path, meta, NULL, NULL, overwrite, report);
	lpl_meta_free(meta);
	if (error == LPL_OK)
		close_segments(segments);
	else
		assert_null(segments);
	return error;
}

static void nothing_else_is_replaced(void **state)
{
	const uint8_t precious[] = "precious";
	struct lpl_report report;
	struct stream stream;
	struct bytes file;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 16);
	write_cut("old.lpl", &stream, even, PARTS, false, NULL);
	assert_int_equal(try_open(in_directory("old.lpl"), false, &report), LPL_ERR_USAGE);
	assert_reads("old.lpl", &stream, true);
	/* called like a segment, and none that the manifest names */
	write_bytes("old.000017.lpl", precious, sizeof(precious));
	assert_int_equal(try_open(in_directory("old.lpl"), true, &report), LPL_ERR_USAGE);
	assert_non_null(strstr(report.text, "old.000017.lpl"));
	assert_false(exists("old.lpl.part"));
	assert_reads("old.lpl", &stream, true);
	assert_int_equal(unlink(in_directory("old.000017.lpl")), 0);
	/* of others, more and less digits, another base */
	write_bytes("old.00001.lpl", precious, sizeof(precious));
	write_bytes("older.000001.lpl", precious, sizeof(precious));
	write_bytes("old.000001.lpl.bak", precious, sizeof(precious));
	write_cut("old.lpl", &stream, even, 2, false, NULL);
	assert_reads("old.lpl", &stream, true);
	for (unsigned int i = 3; i <= PARTS; i++)
		assert_false(exists(segment_name("old", i)));
	assert_int_equal(try_open(in_directory("old.lpl"), true, &report), LPL_OK);
	assert_false(exists(segment_name("old", 2)));
	file = load("old.00001.lpl");
	assert_memory_equal(file.data, precious, sizeof(precious));
	free(file.data);
	file = load("older.000001.lpl");
	assert_memory_equal(file.data, precious, sizeof(precious));
	free(file.data);
	assert_true(exists("old.000001.lpl.bak"));

	assert_int_equal(try_open("-", true, &report), LPL_ERR_USAGE);
	assert_int_equal(try_open("/dev/null", true, &report), LPL_ERR_USAGE);
	assert_int_equal(try_open(in_directory("none/x.lpl"), true, &report), LPL_ERR_IO);
	stream_free(&stream);
}

/* One that is being written by another is left alone, even to overwrite it. */
static void a_writer_is_left_alone(void **state)
{
	struct lpl_segments *segments = open_segments("busy.lpl", false, NULL);
	struct lpl_report report;
	struct stream stream;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 17);
	send(segments, &stream, 0, even[1]);
	rotate(segments);
	send(segments, &stream, even[1], stream.count);
	assert_int_equal(try_open(in_directory("busy.lpl"), true, &report), LPL_ERR_USAGE);
	close_segments(segments);
	assert_reads("busy.lpl", &stream, true);
	stream_free(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_manifest_keeps_little_room),
		cmocka_unit_test(what_is_written_can_be_read),
		cmocka_unit_test(a_killed_writer_leaves_a_whole),
		cmocka_unit_test(a_rotation_may_be_stopped),
		cmocka_unit_test(another_writer_goes_on),
		cmocka_unit_test(only_a_manifest_is_continued),
		cmocka_unit_test(nothing_else_is_replaced),
		cmocka_unit_test(a_writer_is_left_alone),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
