/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests of trace files share: files, reading bytes. */
#ifndef LAPLACE_TESTS_TRACE_FILE_H
#define LAPLACE_TESTS_TRACE_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include <laplace/trace.h>

#include "container/reader_open.h"
#include "scratch.h"
#include "stream.h"

#define CHUNKS_MAX 4096

struct bytes {
	uint8_t *data;
	size_t size;
};

static inline struct bytes load(const char *name)
{
	FILE *file = fopen(in_directory(name), "rb");
	struct bytes bytes;
	struct stat status;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	bytes.size = (size_t)status.st_size;
	bytes.data = malloc(bytes.size + 1);
	assert_non_null(bytes.data);
	assert_int_equal(fread(bytes.data, 1, bytes.size, file), bytes.size);
	assert_int_equal(fclose(file), 0);
	return bytes;
}

static inline void write_bytes(const char *name, const uint8_t *data, size_t size)
{
	FILE *file = fopen(in_directory(name), "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Of a trace in segments. */
static inline const char *segment_name(const char *base, unsigned int number)
{
	static char name[64];

	(void)snprintf(name, sizeof(name), "%s.%06u.lpl", base, number);
	return name;
}

static inline struct lpl_meta *some_meta(void)
{
	struct lpl_meta *meta = lpl_meta_new();

	assert_non_null(meta);
	assert_int_equal(lpl_meta_set(meta, LPL_META_TITLE, "a test"), LPL_OK);
	assert_int_equal(lpl_meta_set(meta, LPL_META_REDUCTION, "none"), LPL_OK);
	assert_int_equal(lpl_meta_set(meta, "x.empty-value_1", ""), LPL_OK);
	assert_int_equal(lpl_meta_set(meta, LPL_META_MACHINE, "a=b\\nc = d\t\xff"), LPL_OK);
	return meta;
}

static inline struct lpl_writer *start(const char *path, size_t chunk_refs, bool overwrite)
{
	struct lpl_writer_options options = { .chunk_refs = chunk_refs };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = some_meta();
	struct lpl_writer *writer;

	if (lpl_writer_open(&writer, path, meta, &options, overwrite, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_meta_free(meta);
	return writer;
}

static const struct lpl_totals some_totals = {
	.refs = { 10, 20, 30, 40, 50 }, .user_refs = 60, .tracer_refs = 70, .events = 80,
	.wait_ns = 90,
	.recording = { .instructions = 100, .elapsed_ns = 110, .sent_bytes = 120, .sent_refs = 130 }
};

/* The whole stream as a file, replaced if there is one. */
static inline void write_file_of(const char *name, const struct stream *stream, size_t chunk_refs,
				 uint64_t batches, const struct lpl_totals *totals)
{
	struct lpl_writer *writer = start(in_directory(name), chunk_refs, true);
	struct lpl_report report = { .error = LPL_OK };

	lpl_writer_totals(writer, totals);
	if (stream_send(stream, 0, stream->count, lpl_writer_sink(writer), batches,
			&report) != LPL_OK ||
	    lpl_writer_close(writer, &report) != LPL_OK)
		fail_msg("%s", report.text);
}

static inline void write_file(const char *name, const struct stream *stream, size_t chunk_refs,
			      uint64_t batches)
{
	write_file_of(name, stream, chunk_refs, batches, &some_totals);
}

struct result {
	enum lpl_error opened, read;
	bool complete;
	struct lpl_report report;
	struct stream stream;	/* what was delivered */
};

/* Read bytes as a file. */
static inline void read_bytes(struct result *result, const uint8_t *data, size_t size)
{
	struct lpl_reader *reader;
	int fd = memfd_create("trace", MFD_CLOEXEC);

	memset(result, 0, sizeof(*result));
	stream_init(&result->stream);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	result->opened = lpl_reader_open_fd(&reader, fd, true, "memory", &result->report);
	if (result->opened != LPL_OK) {
		assert_null(reader);
		assert_int_equal(result->report.error, result->opened);
		return;
	}
	result->read = lpl_reader_run(reader, &result->stream.sink, &result->report);
	result->complete = lpl_reader_complete(reader);
	assert_true(result->stream.finished == (result->read == LPL_OK));
	assert_int_equal(result->report.error, result->read);
	lpl_reader_close(reader);
}

/* Where chunks begin (and the last ends), and how many records precede each. */
struct layout {
	size_t count;
	uint64_t offset[CHUNKS_MAX + 1];
	size_t records[CHUNKS_MAX + 1];
};

static inline uint64_t little_endian(const uint8_t *bytes, int count)
{
	uint64_t value = 0;

	for (int i = count - 1; i >= 0; i--)
		value = value << 8 | bytes[i];
	return value;
}

/* From the header fields as docs/format.md places them. */
static inline void lay_out(struct layout *layout, const struct bytes *file)
{
	uint64_t offset = 0;
	size_t records = 0, n = 0;

	memset(layout, 0, sizeof(*layout));
	while (offset < file->size) {
		const uint8_t *header = file->data + offset;

		assert_true(n < CHUNKS_MAX);
		layout->offset[n] = offset;
		layout->records[n++] = records;
		records += little_endian(header + 24, 4) + little_endian(header + 28, 4);
		offset += 144 + little_endian(header + 16, 4);
	}
	assert_true(offset == file->size);
	layout->count = n;
	layout->offset[n] = offset;
	layout->records[n] = records;
}

#endif
