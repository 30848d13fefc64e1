/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests of traces in segments share: writing and reading them. */
#ifndef LAPLACE_TESTS_SEGMENTED_H
#define LAPLACE_TESTS_SEGMENTED_H

#include "trace_file.h"

#include "container/segments.h"

#define RECORDS 20000

/* ---- writing ---- */

static inline struct lpl_segments *open_segments(const char *name, bool runs,
					  struct lpl_state_keeper *keeper)
{
	const struct lpl_writer_options options = { .chunk_refs = 700, .blocks = runs };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = some_meta();
	struct lpl_segments *segments;

	if (lpl_segments_open(&segments, in_directory(name), meta, &options, keeper, true,
			      &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_meta_free(meta);
	return segments;
}

static inline void send(struct lpl_segments *segments, const struct stream *stream, size_t first,
		 size_t end)
{
	struct lpl_report report = { .error = LPL_OK };

	if (stream_send(stream, first, end - first, lpl_writer_sink(lpl_segments_writer(segments)), first,
			&report) != LPL_OK)
		fail_msg("%s", report.text);
}

static inline void rotate(struct lpl_segments *segments)
{
	struct lpl_report report = { .error = LPL_OK };

	if (lpl_segments_rotate(segments, &report) != LPL_OK)
		fail_msg("%s", report.text);
}

static inline void close_segments(struct lpl_segments *segments)
{
	struct lpl_report report = { .error = LPL_OK };

	if (lpl_segments_close(segments, &report) != LPL_OK)
		fail_msg("%s", report.text);
}

/* The stream in `count` segments; cut[i] is where segment i + 1 begins, cut[0] 0. */
static inline void write_cut(const char *name, const struct stream *stream, const size_t *cut,
		      size_t count, bool runs, struct lpl_state_keeper *keeper)
{
	struct lpl_segments *segments = open_segments(name, runs, keeper);

	lpl_writer_totals(lpl_segments_writer(segments), &some_totals);
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			rotate(segments);
		assert_int_equal(lpl_segments_number(segments), i + 1);
		send(segments, stream, cut[i], i + 1 < count ? cut[i + 1] : stream->count);
	}
	close_segments(segments);
}

/* Five segments of 4000 records. */
#define PARTS 5
static const size_t even[PARTS] = { 0, 4000, 8000, 12000, 16000 };

/* ---- reading ---- */

static inline void read_path(struct result *result, const char *name, unsigned int jobs)
{
	struct lpl_reader *reader;

	memset(result, 0, sizeof(*result));
	stream_init(&result->stream);
	result->opened = lpl_reader_open(&reader, in_directory(name), &result->report);
	if (result->opened != LPL_OK)
		return;
	lpl_reader_jobs(reader, jobs);
	lpl_reader_compare_hash(reader);
	result->read = lpl_reader_run(reader, &result->stream.sink, &result->report);
	result->complete = lpl_reader_complete(reader);
	lpl_reader_close(reader);
}

static inline void assert_reads(const char *name, const struct stream *expected, bool complete)
{
	struct result result;

	read_path(&result, name, 1);
	if (result.opened != LPL_OK || result.read != LPL_OK)
		fail_msg("%s", result.report.text);
	assert_int_equal(result.stream.count, expected->count);
	assert_int_equal(stream_difference(expected, &result.stream, expected->count),
			 expected->count);
	assert_true(result.complete == complete);
	stream_free(&result.stream);
}

static inline struct stream part_of(const struct stream *stream, size_t first, size_t end)
{
	return (struct stream){ .items = stream->items + first, .count = end - first };
}

static inline void rename_in_directory(const char *from, const char *to)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s", in_directory(from));
	assert_int_equal(rename(path, in_directory(to)), 0);
}

#endif
