/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is done to a chunk between its reading and its delivery, on any thread. */
#include <inttypes.h>
#include <stdlib.h>

#include "loaded_chunk.h"

bool lpl_loaded_chunk_init(struct lpl_loaded_chunk *chunk)
{
	chunk->zstd = ZSTD_createDCtx();
	return chunk->zstd != NULL;
}

void lpl_loaded_chunk_free(struct lpl_loaded_chunk *chunk)
{
	ZSTD_freeDCtx(chunk->zstd);
	lpl_data_free(&chunk->data);
	lpl_block_data_free(&chunk->blocks);
	free(chunk->stored);
	free(chunk->plain);
}

/* Room for `size` bytes; never NULL when true. */
static bool reserve(uint8_t **buffer, size_t *room, size_t size)
{
	if (*buffer && size <= *room)
		return true;
	if (size == 0)
		size = 1;
	free(*buffer);
	*buffer = malloc(size);
	*room = *buffer ? size : 0;
	return *buffer != NULL;
}

bool lpl_loaded_chunk_reserve(struct lpl_loaded_chunk *chunk)
{
	return reserve(&chunk->stored, &chunk->stored_room, chunk->header.stored) &&
	       reserve(&chunk->plain, &chunk->plain_room, chunk->header.plain);
}

enum lpl_error lpl_chunk_damaged(struct lpl_loaded_chunk *chunk, uint32_t sequence,
				 const char *cause)
{
	return lpl_fail(&chunk->failure, LPL_ERR_DAMAGED,
			"%s: chunk %u at offset %" PRIu64 " is damaged: %s; what precedes it is"
			" whole", chunk->name, (unsigned int)sequence, chunk->offset, cause);
}

enum lpl_error lpl_chunk_mismatch(struct lpl_loaded_chunk *chunk, uint32_t sequence,
				  const char *what, uint64_t expected, uint64_t found)
{
	return lpl_fail(&chunk->failure, LPL_ERR_DAMAGED,
			"%s: chunk %u at offset %" PRIu64 " is damaged: %s checksum: expected"
			" %016" PRIx64 ", found %016" PRIx64 "; what precedes it is whole",
			chunk->name, (unsigned int)sequence, chunk->offset, what, expected,
			found);
}

struct lpl_chunk lpl_loaded_chunk_facts(const struct lpl_loaded_chunk *chunk)
{
	const struct lpl_chunk_header *header = &chunk->header;

	return (struct lpl_chunk){
		.offset = chunk->offset, .bytes = LPL_CHUNK_HEADER_BYTES + (uint64_t)header->stored,
		.plain = header->plain,
		.segment = (uint32_t)chunk->segment,
		.sequence = header->sequence, .kind = header->kind,
		.refs = header->refs, .events = header->events,
		.first_ref = header->first.ref, .first_instr = header->first.instr,
		.first_cycle = header->first.cycle, .last_ref = header->last.ref,
		.last_instr = header->last.instr, .last_cycle = header->last.cycle,
	};
}

static enum lpl_error decompress(struct lpl_loaded_chunk *chunk)
{
	const struct lpl_chunk_header *header = &chunk->header;
	uint64_t found = lpl_checksum(chunk->stored, header->stored);
	size_t count;

	if (found != header->payload_checksum)
		return lpl_chunk_mismatch(chunk, header->sequence, "payload",
					  header->payload_checksum, found);
	if (ZSTD_findFrameCompressedSize(chunk->stored, header->stored) != header->stored ||
	    ZSTD_getFrameContentSize(chunk->stored, header->stored) != header->plain)
		return lpl_chunk_damaged(chunk, header->sequence,
					 "its payload is not one zstd frame of its size");
	count = ZSTD_decompressDCtx(chunk->zstd, chunk->plain, header->plain,
				    chunk->stored, header->stored);
	if (ZSTD_isError(count) || count != header->plain)
		return lpl_chunk_damaged(chunk, header->sequence,
					 "its payload cannot be decompressed");
	return LPL_OK;
}

void lpl_loaded_chunk_decode(struct lpl_loaded_chunk *chunk)
{
	const struct lpl_chunk_header *header = &chunk->header;
	struct lpl_report cause = { .error = LPL_OK };
	enum lpl_error error;

	if (chunk->failure.error != LPL_OK || chunk->need == LPL_NEED_NOTHING ||
	    decompress(chunk) != LPL_OK || !lpl_chunk_has_records(header->kind))
		return;
	chunk->blocks.stepping = chunk->may_step && chunk->need != LPL_NEED_REFS;
	error = header->kind == LPL_CHUNK_RUNS ?
		lpl_block_data_decode(&chunk->blocks, &chunk->data, header, chunk->plain,
				      header->plain, &cause) :
		lpl_data_decode(&chunk->data, header, chunk->plain, header->plain, &cause);
	if (error == LPL_ERR_DAMAGED)
		(void)lpl_chunk_damaged(chunk, header->sequence, cause.text);
	else if (error != LPL_OK)
		(void)lpl_fail(&chunk->failure, error, "%s: chunk %u: %s", chunk->name,
			       (unsigned int)header->sequence, cause.text);
}

void lpl_hash_steady(const struct lpl_steady *steady, uint64_t count, struct lpl_ref *expanded,
		     struct lpl_stream_hash *hash)
{
	size_t batch;

	for (uint64_t done = 0; done < count; done += batch) {
		batch = count - done < LPL_EXPANDED_REFS ? count - done : LPL_EXPANDED_REFS;
		lpl_steady_expand(steady, done, batch, expanded);
		lpl_stream_hash_refs(hash, expanded, batch);
	}
}

void lpl_loaded_chunk_hash(struct lpl_loaded_chunk *chunk, struct lpl_ref *expanded,
			   struct lpl_stream_hash *hash)
{
	struct lpl_block_decoder *decoder = &chunk->blocks.decoder;
	const uint64_t refs = chunk->header.refs;
	struct lpl_block_cursor cursor;
	size_t count;

	if (chunk->header.kind != LPL_CHUNK_RUNS) {
		if (chunk->data.is_steady)
			lpl_hash_steady(&chunk->data.steady, refs, expanded, hash);
		else
			lpl_stream_hash_refs(hash, chunk->data.refs, chunk->data.ref_count);
		return;
	}
	lpl_block_cursor_begin(&cursor, decoder);
	for (uint64_t done = 0; done < refs; done += count) {
		count = lpl_block_cursor_next(&cursor, decoder, refs, expanded, LPL_EXPANDED_REFS);
		lpl_stream_hash_refs(hash, expanded, count);
	}
}
