/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trace files on several threads: the same bytes are written and the same records and
 * errors delivered whatever the jobs; and after damage the reader goes on with what is
 * whole, and reports what is missing.  Built with ThreadSanitizer where the compiler has it.
 */
#include "trace_file.h"

static const unsigned int jobs_of[] = { 1, 2, 3, 8, 0 };
#define WAYS (sizeof(jobs_of) / sizeof(jobs_of[0]))

/* Bytes as a file, on so many threads; after damage once more, if `resume`. */
static void read_with(struct result *result, const struct bytes *file, unsigned int jobs,
		      bool resume)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct lpl_reader *reader;
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	size_t count;

	memset(result, 0, sizeof(*result));
	stream_init(&result->stream);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file->data, file->size), file->size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	result->opened = lpl_reader_open_fd(&reader, fd, true, "memory", &result->report);
	if (result->opened != LPL_OK)
		return;
	lpl_reader_jobs(reader, jobs);
	for (;;) {
		struct lpl_report report = { .error = LPL_OK };

		result->read = lpl_reader_next(reader, &refs, &count, &event, &report);
		if (result->read != LPL_OK && result->report.error == LPL_OK)
			result->report = report;
		if (result->read != LPL_OK && resume &&
		    lpl_reader_resume(reader, NULL) == LPL_OK)
			continue;
		if (result->read != LPL_OK || (count == 0 && !event))
			break;
		if (count > 0)
			(void)stream_take_refs(&result->stream.sink, refs, count, NULL);
		if (event)
			(void)stream_take_event(&result->stream.sink, event, NULL);
	}
	result->complete = lpl_reader_complete(reader);
	lpl_reader_close(reader);
}

static void assert_same_stream(const struct stream *one, const struct stream *other)
{
	assert_int_equal(one->count, other->count);
	assert_int_equal(stream_difference(one, other, one->count), one->count);
}

/* With any jobs what there is with one; that is the result. */
static void read_every_way(struct result *first, const struct bytes *file, bool resume)
{
	struct result result;

	read_with(first, file, 1, resume);
	for (size_t i = 1; i < WAYS; i++) {
		read_with(&result, file, jobs_of[i], resume);
		assert_int_equal(result.opened, first->opened);
		assert_int_equal(result.read, first->read);
		assert_int_equal(result.complete, first->complete);
		assert_string_equal(result.report.text, first->report.text);
		assert_same_stream(&result.stream, &first->stream);
		stream_free(&result.stream);
	}
}

static void write_with(const char *name, const struct stream *stream, unsigned int jobs,
		       uint64_t batches)
{
	const struct lpl_writer_options options = { .chunk_refs = 100, .jobs = jobs };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = some_meta();
	struct lpl_writer *writer;

	assert_int_equal(lpl_writer_open(&writer, in_directory(name), meta, &options, true,
					 &report), LPL_OK);
	lpl_meta_free(meta);
	lpl_writer_totals(writer, &some_totals);
	if (stream_send(stream, 0, stream->count, lpl_writer_sink(writer), batches,
			&report) != LPL_OK ||
	    lpl_writer_close(writer, &report) != LPL_OK)
		fail_msg("%s", report.text);
}

static void same_file_same_stream(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < 6; seed++) {
		struct bytes first = { NULL, 0 };
		struct stream stream;
		struct result result;

		stream_random(&stream, seed < 2 ? 80 * (seed + 1) : 4000,
			      (enum stream_style)(seed % STREAM_STYLES), seed);
		for (size_t i = 0; i < WAYS; i++) {
			struct bytes file;

			write_with("jobs.lpl", &stream, jobs_of[i], seed + i);
			file = load("jobs.lpl");
			if (!first.data) {
				first = file;
				continue;
			}
			assert_int_equal(file.size, first.size);
			assert_memory_equal(file.data, first.data, file.size);
			free(file.data);
		}
		read_every_way(&result, &first, false);
		assert_int_equal(result.read, LPL_OK);
		assert_true(result.complete);
		assert_same_stream(&result.stream, &stream);
		stream_free(&result.stream);
		stream_free(&stream);
		free(first.data);
	}
}

/* What is written before a record that cannot be, and the complaint. */
static void bad_record(void **unused)
{
	struct bytes first = { NULL, 0 };
	struct lpl_report first_report = { .error = LPL_OK };

	(void)unused;
	for (size_t i = 0; i < WAYS; i++) {
		const struct lpl_writer_options options = { .chunk_refs = 7, .jobs = jobs_of[i] };
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_meta *meta = some_meta();
		struct lpl_writer *writer;
		struct stream stream;
		struct bytes file;

		stream_random(&stream, 200, STREAM_RAW, 77);
		/* not at a chunk's end, so that the writer is in the middle of one */
		for (size_t at = 0, refs = 0; at < stream.count && refs < 102; at++) {
			refs += !stream.items[at].is_event;
			if (refs == 102)
				stream.items[at].ref.length = 0;
		}
		assert_int_equal(lpl_writer_open(&writer, in_directory("bad.lpl"), meta, &options,
						 true, &report), LPL_OK);
		lpl_meta_free(meta);
		assert_int_equal(stream_send(&stream, 0, stream.count, lpl_writer_sink(writer), 5,
					     &report), LPL_ERR_USAGE);
		lpl_writer_abandon(writer);
		stream_free(&stream);
		file = load("bad.lpl.part");
		if (i == 0) {
			first = file;
			first_report = report;
			continue;
		}
		assert_string_equal(report.text, first_report.text);
		assert_int_equal(file.size, first.size);
		assert_memory_equal(file.data, first.data, file.size);
		free(file.data);
	}
	/* 14 chunks of 7, and those that the two random batches before it completed */
	assert_true(first.size > 14 * 144);
	free(first.data);
}

/* Closed while chunks are on their way. */
static void closed_early(void **unused)
{
	struct stream stream;
	struct bytes file;

	(void)unused;
	stream_random(&stream, 3000, STREAM_RAW, 9);
	write_with("early.lpl", &stream, 1, 1);
	file = load("early.lpl");
	for (size_t blocks = 0; blocks < 40; blocks += 13) {
		struct lpl_reader *reader;
		const struct lpl_event *event;
		const struct lpl_ref *refs;
		size_t count;

		assert_int_equal(lpl_reader_open(&reader, in_directory("early.lpl"), NULL), LPL_OK);
		lpl_reader_jobs(reader, 4);
		for (size_t i = 0; i < blocks; i++)
			assert_int_equal(lpl_reader_next(reader, &refs, &count, &event, NULL),
					 LPL_OK);
		lpl_reader_close(reader);
	}
	free(file.data);
	stream_free(&stream);
}

/* ---- damage ---- */

/* A file of some 13 chunks with a header before and an index after them. */
static struct bytes some_file(struct stream *stream, struct layout *layout)
{
	struct bytes file;

	stream_random(stream, 12 * 25 - 3, STREAM_RAW, 21);
	write_file("damage.lpl", stream, 25, 3);
	file = load("damage.lpl");
	lay_out(layout, &file);
	assert_true(layout->count >= 13);
	return file;
}

/* What is left of the stream without chunks [from, to), with a gap in their place. */
static void without(struct stream *left, const struct stream *stream,
		    const struct layout *layout, size_t from, size_t to, bool known)
{
	struct lpl_event gap = { .tag = LPL_EVENT_GAP };
	uint64_t refs = 0, events = 0;

	stream_init(left);
	for (size_t i = 0; i < stream->count; i++) {
		const struct item *item = &stream->items[i];

		if (i >= layout->records[from] && i < layout->records[to]) {
			refs += !item->is_event;
			events += item->is_event;
			continue;
		}
		if (i == layout->records[to] && to > from) {
			gap.arg[LPL_EVENT_GAP_REFERENCES] = refs;
			gap.arg[LPL_EVENT_GAP_EVENTS] = events;
			(void)stream_take_event(&left->sink, &gap, NULL);
		}
		*stream_add(left) = *item;
		gap.ref = item->is_event ? item->event.ref : item->ref.ref;
		gap.instr = item->is_event ? item->event.instr : item->ref.instr;
		gap.cycle = item->is_event ? item->event.cycle : item->ref.cycle;
	}
	if (layout->records[to] == stream->count) {
		gap.arg[LPL_EVENT_GAP_REFERENCES] = known ? refs : KTR_NONE;
		gap.arg[LPL_EVENT_GAP_EVENTS] = known ? events : KTR_NONE;
		(void)stream_take_event(&left->sink, &gap, NULL);
	}
}

static void assert_gap(const struct bytes *file, const struct stream *stream,
		       const struct layout *layout, size_t from, size_t to, bool known)
{
	struct result result;
	struct stream left;

	read_every_way(&result, file, false);
	assert_int_equal(result.read, LPL_ERR_DAMAGED);
	assert_int_equal(result.stream.count, layout->records[from]);
	stream_free(&result.stream);
	read_every_way(&result, file, true);
	without(&left, stream, layout, from, to, known);
	assert_same_stream(&result.stream, &left);
	assert_int_equal(result.read, LPL_OK);
	stream_free(&result.stream);
	stream_free(&left);
}

/* One byte, in each part of each chunk; of the index nothing is missing but itself. */
static void one_chunk_damaged(void **unused)
{
	static const size_t part[] = { 3, 20, 130, 150 };
	struct layout layout;
	struct stream stream;
	struct bytes file = some_file(&stream, &layout);

	(void)unused;
	for (size_t chunk = 1; chunk + 1 < layout.count; chunk++) {
		for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
			size_t at = layout.offset[chunk] + part[i];

			file.data[at] ^= 0x10;
			assert_gap(&file, &stream, &layout, chunk, chunk + 1, true);
			file.data[at] ^= 0x10;
		}
	}
	free(file.data);
	stream_free(&stream);
}

/* All of several chunks in a row, their headers too. */
static void many_chunks_damaged(void **unused)
{
	struct layout layout;
	struct stream stream;
	struct bytes file = some_file(&stream, &layout);
	uint8_t *copy = malloc(file.size);

	(void)unused;
	assert_non_null(copy);
	memcpy(copy, file.data, file.size);
	for (size_t from = 1; from + 1 < layout.count; from++) {
		for (size_t to = from + 1; to < layout.count; to += 2) {
			memset(file.data + layout.offset[from], 0x89,
			       layout.offset[to] - layout.offset[from]);
			assert_gap(&file, &stream, &layout, from, to, true);
			memcpy(file.data, copy, file.size);
		}
	}
	/* to the very end: it is not known how much that was */
	memset(file.data + layout.offset[5], 0, file.size - layout.offset[5]);
	assert_gap(&file, &stream, &layout, 5, layout.count - 1, false);
	free(copy);
	free(file.data);
	stream_free(&stream);
}

/* Chunks that are whole, but missing, twice there, or in another's place. */
static void chunks_out_of_order(void **unused)
{
	struct layout layout;
	struct stream stream;
	struct bytes file = some_file(&stream, &layout), other;
	const uint64_t *offset = layout.offset;

	(void)unused;
	other.data = malloc(2 * file.size);
	assert_non_null(other.data);

	/* without chunks 4 and 5 */
	memcpy(other.data, file.data, offset[4]);
	memcpy(other.data + offset[4], file.data + offset[6], file.size - offset[6]);
	other.size = file.size - (offset[6] - offset[4]);
	assert_gap(&other, &stream, &layout, 4, 6, true);

	/* chunk 3 a second time before chunk 7: time would run backwards; nothing is missing */
	memcpy(other.data, file.data, offset[7]);
	memcpy(other.data + offset[7], file.data + offset[3], offset[4] - offset[3]);
	memcpy(other.data + offset[7] + offset[4] - offset[3], file.data + offset[7],
	       file.size - offset[7]);
	other.size = file.size + offset[4] - offset[3];
	{
		struct result result;

		read_every_way(&result, &other, true);
		assert_int_equal(result.read, LPL_OK);
		/* all of it, and one gap of nothing */
		assert_int_equal(result.stream.count, stream.count + 1);
		const struct item *gap = &result.stream.items[layout.records[7]];

		assert_true(gap->is_event);
		assert_int_equal(gap->event.tag, LPL_EVENT_GAP);
		assert_int_equal(gap->event.arg[LPL_EVENT_GAP_REFERENCES], 0);
		assert_int_equal(gap->event.arg[LPL_EVENT_GAP_EVENTS], 0);
		stream_free(&result.stream);
	}

	/* chunk 8 before chunk 7: 8 is further on, and then 7 is a thing of the past */
	memcpy(other.data, file.data, offset[7]);
	memcpy(other.data + offset[7], file.data + offset[8], offset[9] - offset[8]);
	memcpy(other.data + offset[7] + offset[9] - offset[8], file.data + offset[7],
	       offset[8] - offset[7]);
	memcpy(other.data + offset[9], file.data + offset[9], file.size - offset[9]);
	other.size = file.size;
	{
		struct result result;

		read_every_way(&result, &other, true);
		assert_int_equal(result.read, LPL_OK);
		assert_int_equal(result.stream.count, stream.count + 2 -
				 (layout.records[8] - layout.records[7]));
		for (size_t i = 1; i < result.stream.count; i++) {
			const struct item *x = &result.stream.items[i - 1];
			const struct item *y = &result.stream.items[i];

			assert_true((x->is_event ? x->event.cycle : x->ref.cycle) <=
				    (y->is_event ? y->event.cycle : y->ref.cycle));
		}
		stream_free(&result.stream);
	}
	free(other.data);
	free(file.data);
	stream_free(&stream);
}

/* What is no damage does not go on: a file that ends early. */
static void no_going_on(void **unused)
{
	struct layout layout;
	struct stream stream;
	struct bytes file = some_file(&stream, &layout);
	struct result result;

	(void)unused;
	file.size = layout.offset[6] + 200;
	read_every_way(&result, &file, true);
	assert_int_equal(result.read, LPL_ERR_TRUNCATED);
	assert_int_equal(result.stream.count, layout.records[6]);
	stream_free(&result.stream);
	free(file.data);
	stream_free(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_file_same_stream),
		cmocka_unit_test(bad_record),
		cmocka_unit_test(closed_early),
		cmocka_unit_test(one_chunk_damaged),
		cmocka_unit_test(many_chunks_damaged),
		cmocka_unit_test(chunks_out_of_order),
		cmocka_unit_test(no_going_on),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
