/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traces with RUNS chunks (docs/format.md, section 9): how tests begin and end one, and look into a chunk. */
#ifndef LAPLACE_TESTS_RUN_CHUNKS_H
#define LAPLACE_TESTS_RUN_CHUNKS_H

#include "trace_file.h"

#include <zstd.h>

static struct lpl_writer *start_runs(const char *name, size_t chunk_refs)
{
	struct lpl_writer_options options = { .chunk_refs = chunk_refs, .blocks = true };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = some_meta();
	struct lpl_writer *writer;

	if (lpl_writer_open(&writer, in_directory(name), meta, &options, true, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_meta_free(meta);
	return writer;
}

static void finish(struct lpl_writer *writer)
{
	struct lpl_report report = { .error = LPL_OK };

	if (lpl_writer_close(writer, &report) != LPL_OK)
		fail_msg("%s", report.text);
}

static void decompress(const uint8_t *chunk, uint8_t **plain, size_t *size)
{
	size_t stored = little_endian(chunk + 16, 4);

	*size = little_endian(chunk + 20, 4);
	*plain = malloc(*size + 1);
	assert_non_null(*plain);
	assert_int_equal(ZSTD_decompress(*plain, *size, chunk + 144, stored), *size);
}

#endif
