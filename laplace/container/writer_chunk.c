/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A chunk's way into the file: compressed and sealed by one of several threads
 * (base/work_queue.h), and written in its turn.  Only then does the writer know of it: what fails
 * before leaves the file, its index and its counts as the chunk before left them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "writer.h"

/*
 * Compress `size` bytes of payload after a header.  The caller has set kind, sequence,
 * counts and clocks in it, and the version if it is not the usual one.
 */
static enum lpl_error seal(const struct lpl_writer *writer, ZSTD_CCtx *zstd,
			   struct lpl_chunk_header *header, const uint8_t *payload, size_t size,
			   uint8_t *stored, size_t room, struct lpl_report *report)
{
	uint8_t *frame = stored + LPL_CHUNK_HEADER_BYTES;
	size_t limit = header->kind == LPL_CHUNK_HEADER ? LPL_PLAIN_META_MAX : LPL_PLAIN_MAX;
	size_t frame_size;

	if (size > limit || header->sequence == UINT32_MAX)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED,
				"%s: chunk %u has %zu bytes; the format's limits are %zu bytes"
				" and %u chunks", writer->output.name,
				(unsigned int)header->sequence, size, limit, UINT32_MAX);
	frame_size = ZSTD_compress2(zstd, frame, room - LPL_CHUNK_HEADER_BYTES, payload, size);
	if (ZSTD_isError(frame_size))
		return lpl_fail(report, LPL_ERR_INTERNAL, "%s: zstd: %s", writer->output.name,
				ZSTD_getErrorName(frame_size));
	if (header->version == 0)
		header->version = LPL_FORMAT_VERSION;
	header->stored = (uint32_t)frame_size;
	header->plain = (uint32_t)size;
	header->payload_checksum = lpl_checksum(frame, frame_size);
	lpl_chunk_encode(header, stored);
	return LPL_OK;
}

void lpl_writer_pack(void *context, unsigned int slot)
{
	const struct lpl_writer *writer = context;
	struct lpl_packed_chunk *chunk = &writer->slot[slot];
	struct lpl_chunk_payload *payload = &chunk->payload;
	size_t stored;

	writer->chunks->how->pack(payload);
	stored = LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(payload->size);
	if (!lpl_reserve(chunk->stored, chunk->stored_room, stored))
		(void)lpl_fail(&chunk->failure, LPL_ERR_MEMORY, "%s: no memory for a chunk",
			       writer->output.name);
	else
		(void)seal(writer, chunk->zstd, &chunk->header, payload->plain, payload->size,
			   chunk->stored, chunk->stored_room, &chunk->failure);
}

/* A chunk that was sealed, into the file. */
static enum lpl_error write_chunk(struct lpl_writer *writer,
				  const struct lpl_chunk_header *header, const uint8_t *stored)
{
	struct lpl_report *failure = &writer->failure;
	uint64_t offset = writer->output.written;
	size_t size = LPL_CHUNK_HEADER_BYTES + header->stored;

	assert(header->sequence == (writer->output.written > 0 ? writer->written.sequence + 1 : 0));
	assert(lpl_clocks_ordered(&writer->written.last, &header->base));
	if (writer->ends_when_full && !writer->ending)
		LPL_TRY(lpl_output_reserve(&writer->output, size + lpl_writer_end_room(writer),
					   LPL_WRITER_AHEAD, failure));
	LPL_TRY(lpl_output_write(&writer->output, stored, size, failure));
	if (lpl_chunk_has_records(header->kind)) {
		writer->written = *header;
		if (header->kind != LPL_CHUNK_STATE && !writer->has_first) {
			writer->file.first = header->first;
			writer->has_first = true;
		}
	}
	writer->written.sequence = header->sequence;
	if (header->kind != LPL_CHUNK_INDEX && !lpl_index_add(&writer->index, header, offset))
		return lpl_fail(failure, LPL_ERR_MEMORY, "%s: no memory for the index",
				writer->output.name);
	atomic_store_explicit(&writer->bytes_written,
			      writer->bytes_before + writer->output.written, memory_order_relaxed);
	atomic_store_explicit(&writer->refs_written, header->refs_so_far, memory_order_relaxed);
	return LPL_OK;
}

void lpl_writer_deliver(struct lpl_writer *writer)
{
	struct lpl_packed_chunk *chunk = &writer->slot[lpl_work_queue_oldest(writer->queue)];

	if (writer->failure.error == LPL_OK && chunk->failure.error != LPL_OK)
		writer->failure = chunk->failure;
	if (writer->failure.error == LPL_OK &&
	    write_chunk(writer, &chunk->header, chunk->stored) == LPL_OK)
		writer->written_totals = chunk->payload.totals;
	lpl_work_queue_take(writer->queue);
}

void lpl_writer_deliver_all(struct lpl_writer *writer)
{
	while (!lpl_work_queue_empty(writer->queue))
		lpl_writer_deliver(writer);
}

enum lpl_error lpl_writer_put_other(struct lpl_writer *writer, struct lpl_chunk_header *header,
				  const uint8_t *payload, size_t size)
{
	size_t room = LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(size);
	uint8_t *stored = malloc(room);

	assert(lpl_work_queue_empty(writer->queue));
	header->sequence = writer->sequence++;
	if (!stored)
		(void)lpl_fail(&writer->failure, LPL_ERR_MEMORY, "%s: no memory",
			       writer->output.name);
	else if (seal(writer, writer->slot[0].zstd, header, payload, size, stored, room,
		      &writer->failure) == LPL_OK)
		(void)write_chunk(writer, header, stored);
	free(stored);
	return writer->failure.error;
}

enum lpl_error lpl_writer_copy_chunk(struct lpl_writer *writer,
				     const struct lpl_chunk_header *read,
				     const uint8_t *payload, struct lpl_report *report)
{
	struct lpl_data_encoder end = *writer->encoder;
	struct lpl_chunk_header header = *read;
	uint8_t *stored = malloc(LPL_CHUNK_HEADER_BYTES + header.stored);

	if (!stored)
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory", writer->output.name);
	assert(lpl_work_queue_empty(writer->queue));
	header.sequence = writer->sequence++;
	header.refs_so_far = writer->refs_so_far += header.refs;
	header.events_so_far = writer->events_so_far += lpl_chunk_counted_events(&header);
	lpl_chunk_encode(&header, stored);
	memcpy(stored + LPL_CHUNK_HEADER_BYTES, payload, header.stored);
	if (writer->failure.error == LPL_OK)
		(void)write_chunk(writer, &header, stored);
	free(stored);
	end.last = header.last;
	lpl_data_encoder_follow(writer->encoder, &end);
	return lpl_writer_failed(writer, report);
}
