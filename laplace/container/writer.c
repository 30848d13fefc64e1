/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing a trace: a sink that cuts the stream into chunks. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <laplace/trace.h>

#include "chunk.h"
#include "data.h"
#include "index.h"
#include "meta.h"
#include "output.h"

#define DEFAULT_LEVEL		3
#define DEFAULT_CHUNK_REFS	65536
#define CHUNK_EVENTS		4096

struct lpl_writer {
	struct lpl_sink sink;		/* first: a sink is its writer */
	struct lpl_output output;
	struct lpl_data_encoder encoder;
	struct lpl_index index;
	struct lpl_totals totals;
	ZSTD_CCtx *zstd;
	uint8_t *plain, *stored;	/* the payload; header and frame */
	size_t stored_room;
	size_t chunk_refs;
	uint32_t sequence;		/* of the next chunk */
	uint64_t refs_so_far, events_so_far;
	/* the first error; nothing is written after it */
	struct lpl_report failure;
	/* what other threads may ask for */
	_Atomic uint64_t bytes_written, refs_written;
};

/* Remember the first error, and tell it (again). */
static enum lpl_error failed(const struct lpl_writer *writer, struct lpl_report *report)
{
	if (report && report->error == LPL_OK)
		*report = writer->failure;
	return writer->failure.error;
}

/*
 * Compress `size` bytes of payload and write them as a chunk.  The caller has
 * set kind, counts and clocks in `header`.
 */
static enum lpl_error write_chunk(struct lpl_writer *writer, struct lpl_chunk_header *header,
				  const uint8_t *payload, size_t size)
{
	struct lpl_report *failure = &writer->failure;
	uint8_t *frame = writer->stored + LPL_CHUNK_HEADER_BYTES;
	uint64_t offset = writer->output.written;
	size_t limit = header->kind == LPL_CHUNK_HEADER ? LPL_PLAIN_META_MAX : LPL_PLAIN_MAX;
	size_t frame_size;
	enum lpl_error error;

	if (size > limit || writer->sequence == UINT32_MAX)
		return lpl_fail(failure, LPL_ERR_UNSUPPORTED,
				"%s: chunk %u has %zu bytes; the format's limits are %zu bytes"
				" and %u chunks", writer->output.name,
				(unsigned int)writer->sequence, size, limit, UINT32_MAX);
	frame_size = ZSTD_compress2(writer->zstd, frame,
				    writer->stored_room - LPL_CHUNK_HEADER_BYTES, payload, size);
	if (ZSTD_isError(frame_size))
		return lpl_fail(failure, LPL_ERR_INTERNAL, "%s: zstd: %s", writer->output.name,
				ZSTD_getErrorName(frame_size));

	header->version = LPL_FORMAT_VERSION;
	header->sequence = writer->sequence;
	header->stored = (uint32_t)frame_size;
	header->plain = (uint32_t)size;
	header->payload_checksum = lpl_checksum(frame, frame_size);
	lpl_chunk_encode(header, writer->stored);
	error = lpl_output_write(&writer->output, writer->stored,
				 LPL_CHUNK_HEADER_BYTES + frame_size, failure);
	if (error != LPL_OK)
		return error;
	if (header->kind != LPL_CHUNK_INDEX && !lpl_index_add(&writer->index, header, offset))
		return lpl_fail(failure, LPL_ERR_MEMORY, "%s: no memory for the index",
				writer->output.name);
	writer->sequence++;
	atomic_store_explicit(&writer->bytes_written, writer->output.written,
			      memory_order_relaxed);
	atomic_store_explicit(&writer->refs_written, writer->refs_so_far,
			      memory_order_relaxed);
	return LPL_OK;
}

static enum lpl_error check_totals(struct lpl_writer *writer)
{
	if (lpl_totals_agree(&writer->totals, lpl_totals_before(&writer->totals)))
		return LPL_OK;
	return lpl_fail(&writer->failure, LPL_ERR_USAGE,
			"%s: the references before reduction are not the sum of their types",
			writer->output.name);
}

/* What was taken since the last chunk becomes one. */
static enum lpl_error write_data(struct lpl_writer *writer)
{
	struct lpl_data_encoder *encoder = &writer->encoder;
	struct lpl_chunk_header header = { .kind = LPL_CHUNK_DATA };
	size_t size;

	if (encoder->refs == 0 && encoder->event_count == 0)
		return LPL_OK;
	if (check_totals(writer) != LPL_OK)
		return writer->failure.error;
	size = lpl_data_encode_end(encoder, &writer->totals, writer->plain);
	header.refs = (uint32_t)encoder->refs;
	header.events = (uint32_t)encoder->event_count;
	header.base = encoder->base;
	header.first = encoder->first;
	header.last = encoder->last;
	writer->refs_so_far += encoder->refs;
	writer->events_so_far += encoder->event_count;
	header.refs_so_far = writer->refs_so_far;
	header.events_so_far = writer->events_so_far;
	header.refs_before = lpl_totals_before(&writer->totals);
	lpl_data_encoder_next(encoder);
	return write_chunk(writer, &header, writer->plain, size);
}

static enum lpl_error write_index(struct lpl_writer *writer)
{
	const struct lpl_clocks *last = &writer->encoder.last;
	struct lpl_chunk_header header = {
		.kind = LPL_CHUNK_INDEX, .base = *last, .first = *last, .last = *last,
		.refs_so_far = writer->refs_so_far, .events_so_far = writer->events_so_far,
		.refs_before = lpl_totals_before(&writer->totals),
	};
	size_t bound = lpl_index_bound(&writer->index);
	size_t room = LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(bound);
	uint8_t *payload = malloc(bound);
	enum lpl_error error;

	if (payload && room > writer->stored_room) {
		free(writer->stored);
		writer->stored = malloc(room);
		writer->stored_room = writer->stored ? room : 0;
	}
	if (!payload || !writer->stored)
		error = lpl_fail(&writer->failure, LPL_ERR_MEMORY, "%s: no memory for the index",
				 writer->output.name);
	else
		error = write_chunk(writer, &header, payload,
				    lpl_index_encode(&writer->index, &writer->totals, payload));
	free(payload);
	return error;
}

static enum lpl_error write_header(struct lpl_writer *writer, const struct lpl_meta *meta,
				   struct lpl_report *report)
{
	struct lpl_chunk_header header = { .kind = LPL_CHUNK_HEADER };
	size_t size = lpl_meta_size(meta);
	size_t room = LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(size);
	char *text;

	if (size > LPL_PLAIN_META_MAX)
		return lpl_fail(report, LPL_ERR_USAGE,
				"%s: the header's text has %zu bytes, at most %zu are possible",
				writer->output.name, size, LPL_PLAIN_META_MAX);
	if (room > writer->stored_room) {
		free(writer->stored);
		writer->stored = malloc(room);
		writer->stored_room = writer->stored ? room : 0;
	}
	text = malloc(size + 1);
	if (text && writer->stored) {
		lpl_meta_encode(meta, text);
		(void)write_chunk(writer, &header, (const uint8_t *)text, size);
	} else {
		(void)lpl_fail(&writer->failure, LPL_ERR_MEMORY, "%s: no memory",
			       writer->output.name);
	}
	free(text);
	return writer->failure.error == LPL_OK ? LPL_OK : failed(writer, report);
}

/* A record was not valid: say for which file. */
static void refuse(struct lpl_writer *writer, const struct lpl_report *cause)
{
	(void)lpl_fail(&writer->failure, cause->error, "%s: cannot be written: %s",
		       writer->output.name, cause->text);
}

static int take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		     struct lpl_report *report)
{
	struct lpl_writer *writer = (struct lpl_writer *)sink;
	struct lpl_data_encoder *encoder = &writer->encoder;
	struct lpl_report cause;	/* not cleared whole: this is the hot path */

	while (count > 0 && writer->failure.error == LPL_OK) {
		size_t room = writer->chunk_refs - encoder->refs;
		size_t part = count < room ? count : room;

		cause.error = LPL_OK;
		if (lpl_data_encode_refs(encoder, refs, part, &cause) != LPL_OK) {
			refuse(writer, &cause);
			break;
		}
		if (encoder->refs == writer->chunk_refs)
			(void)write_data(writer);
		refs += part;
		count -= part;
	}
	return writer->failure.error == LPL_OK ? LPL_OK : failed(writer, report);
}

static int take_event(struct lpl_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	struct lpl_writer *writer = (struct lpl_writer *)sink;
	struct lpl_data_encoder *encoder = &writer->encoder;
	struct lpl_report cause;

	if (writer->failure.error == LPL_OK) {
		cause.error = LPL_OK;
		if (lpl_data_encode_event(encoder, event, &cause) != LPL_OK)
			refuse(writer, &cause);
		else if (encoder->event_count == CHUNK_EVENTS)
			(void)write_data(writer);
	}
	return writer->failure.error == LPL_OK ? LPL_OK : failed(writer, report);
}

static int take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return lpl_writer_flush((struct lpl_writer *)sink, report);
}

static enum lpl_error check_options(const struct lpl_writer_options *options, int *level,
				    size_t *chunk_refs, struct lpl_report *report)
{
	*level = options && options->level ? options->level : DEFAULT_LEVEL;
	*chunk_refs = options && options->chunk_refs ? options->chunk_refs : DEFAULT_CHUNK_REFS;
	if (*level < ZSTD_minCLevel() || *level > ZSTD_maxCLevel())
		return lpl_fail(report, LPL_ERR_USAGE,
				"compression level %d: must be from %d to %d", *level,
				ZSTD_minCLevel(), ZSTD_maxCLevel());
	if (*chunk_refs > LPL_CHUNK_REFS_MAX)
		return lpl_fail(report, LPL_ERR_USAGE,
				"%zu references a chunk: must be from 1 to %zu", *chunk_refs,
				LPL_CHUNK_REFS_MAX);
	return LPL_OK;
}

static void destroy(struct lpl_writer *writer)
{
	lpl_output_discard(&writer->output);
	lpl_data_encoder_free(&writer->encoder);
	lpl_index_free(&writer->index);
	ZSTD_freeCCtx(writer->zstd);
	free(writer->plain);
	free(writer->stored);
	free(writer);
}

/* Everything that needs memory, before there is a file to leave behind. */
static struct lpl_writer *create(int level, size_t chunk_refs)
{
	struct lpl_writer *writer = calloc(1, sizeof(*writer));
	size_t bound;

	if (!writer)
		return NULL;
	writer->sink.refs = take_refs;
	writer->sink.event = take_event;
	writer->sink.finish = take_finish;
	writer->output.fd = -1;
	writer->chunk_refs = chunk_refs;
	writer->zstd = ZSTD_createCCtx();
	if (!lpl_data_encoder_init(&writer->encoder, chunk_refs, CHUNK_EVENTS) ||
	    !writer->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, level))) {
		destroy(writer);
		return NULL;
	}
	bound = lpl_data_bound(&writer->encoder);
	writer->stored_room = LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(bound);
	writer->plain = malloc(bound);
	writer->stored = malloc(writer->stored_room);
	if (!writer->plain || !writer->stored) {
		destroy(writer);
		return NULL;
	}
	return writer;
}

enum lpl_error lpl_writer_open(struct lpl_writer **result, const char *path,
			       const struct lpl_meta *meta,
			       const struct lpl_writer_options *options,
			       bool overwrite, struct lpl_report *report)
{
	struct lpl_writer *writer;
	size_t chunk_refs;
	enum lpl_error error;
	int level;

	*result = NULL;
	error = check_options(options, &level, &chunk_refs, report);
	if (error != LPL_OK)
		return error;
	writer = create(level, chunk_refs);
	if (!writer)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to write a trace");
	error = lpl_output_open(&writer->output, path, overwrite, report);
	if (error == LPL_OK)
		error = write_header(writer, meta, report);
	if (error != LPL_OK) {
		destroy(writer);
		return error;
	}
	*result = writer;
	return LPL_OK;
}

struct lpl_sink *lpl_writer_sink(struct lpl_writer *writer)
{
	return &writer->sink;
}

void lpl_writer_totals(struct lpl_writer *writer, const struct lpl_totals *totals)
{
	writer->totals = *totals;
}

enum lpl_error lpl_writer_flush(struct lpl_writer *writer, struct lpl_report *report)
{
	if (writer->failure.error == LPL_OK)
		(void)write_data(writer);
	return writer->failure.error == LPL_OK ? LPL_OK : failed(writer, report);
}

enum lpl_error lpl_writer_close(struct lpl_writer *writer, struct lpl_report *report)
{
	enum lpl_error error = lpl_writer_flush(writer, report);

	if (error == LPL_OK &&
	    (check_totals(writer) != LPL_OK || write_index(writer) != LPL_OK))
		error = failed(writer, report);
	if (error == LPL_OK)
		error = lpl_output_commit(&writer->output, report);
	destroy(writer);
	return error;
}

void lpl_writer_abandon(struct lpl_writer *writer)
{
	if (writer)
		destroy(writer);
}

uint64_t lpl_writer_bytes(const struct lpl_writer *writer)
{
	return atomic_load_explicit(&writer->bytes_written, memory_order_relaxed);
}

uint64_t lpl_writer_refs(const struct lpl_writer *writer)
{
	return atomic_load_explicit(&writer->refs_written, memory_order_relaxed);
}
