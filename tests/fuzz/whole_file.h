/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making files whole: no fuzzer guesses a checksum, or writes what a compressor would.  So traces
 * get right checksums, and their *plain form* is compressed: the same chunks, but payloads as they
 * are before that, each as long as it is to where the next chunk begins.
 */
#ifndef LAPLACE_TESTS_FUZZ_WHOLE_FILE_H
#define LAPLACE_TESTS_FUZZ_WHOLE_FILE_H

#include <zstd.h>

#include "container/chunk.h"
#include "container/index.h"

#include "fuzz.h"

/* Every chunk's magic, version and checksums are right. */
static inline void whole_sealed(uint8_t *file, size_t size)
{
	struct lpl_chunk_header header;
	size_t rest = size;

	while (rest >= LPL_CHUNK_HEADER_BYTES) {
		uint8_t *chunk = file + (size - rest);

		(void)lpl_chunk_decode(&header, chunk);
		rest -= LPL_CHUNK_HEADER_BYTES;
		if (header.stored > rest)
			header.stored = (uint32_t)rest;
		header.version = LPL_FORMAT_VERSION;
		header.payload_checksum = lpl_checksum(chunk + LPL_CHUNK_HEADER_BYTES,
						       header.stored);
		lpl_chunk_encode(&header, chunk);
		rest -= header.stored;
	}
}

struct maker {
	uint8_t *file;			/* owned */
	size_t size;
	bool continues;			/* chunks are put in their places */
	struct lpl_chunk_header before;	/* of the last chunk; at first, what the file follows */
	struct lpl_index index;
};

/* Let the chunk continue the one before it. */
static inline void put_in_place(struct maker *maker, struct lpl_chunk_header *header)
{
	struct lpl_chunk_header *before = &maker->before;
	bool has_records = lpl_chunk_has_records(header->kind);
	bool follows = before->refs_so_far > 0 || before->events_so_far > 0;
	bool begins = header->kind == LPL_CHUNK_HEADER;

	header->version = LPL_FORMAT_VERSION + (begins && follows ? LPL_SEGMENT_VERSION : 0);
	header->sequence = maker->size == 0 ? 0 : before->sequence + 1;
	if (!has_records)
		header->refs = header->events = 0;
	/* the clocks in the records stay as they are */
	header->base = before->last;
	if (!has_records)
		header->first = header->last = header->base;
	header->refs_so_far = before->refs_so_far + header->refs;
	header->events_so_far = before->events_so_far + lpl_chunk_counted_events(header);
	if (begins && !follows)
		header->refs_before = 0;
}

/* An index of the chunks that there are, with the totals that the input has given, if any. */
static inline size_t make_index(struct maker *maker, struct lpl_chunk_header *header, uint8_t **payload)
{
	struct lpl_totals totals = { .total = header->refs_before, .wait_ns = header->plain };
	size_t size;

	totals.refs[0] = header->refs_before;
	*payload = malloc(lpl_index_bound(&maker->index));
	require(*payload != NULL);
	size = lpl_index_encode(&maker->index, &totals, *payload);
	return size;
}

static inline void add_chunk(struct maker *maker, const uint8_t *chunk, size_t size)
{
	const uint8_t *plain = chunk + LPL_CHUNK_HEADER_BYTES;
	uint8_t *index = NULL, *out;
	struct lpl_chunk_header header;
	size_t room;

	(void)lpl_chunk_decode(&header, chunk);
	header.plain = (uint32_t)(size - LPL_CHUNK_HEADER_BYTES);
	if (maker->continues) {
		put_in_place(maker, &header);
		if (header.kind == LPL_CHUNK_INDEX) {
			header.plain = (uint32_t)make_index(maker, &header, &index);
			plain = index;
		}
	}
	room = ZSTD_compressBound(header.plain);
	maker->file = realloc(maker->file, maker->size + LPL_CHUNK_HEADER_BYTES + room);
	require(maker->file != NULL);
	out = maker->file + maker->size;
	header.stored = (uint32_t)ZSTD_compress(out + LPL_CHUNK_HEADER_BYTES, room, plain,
						header.plain, 1);
	require(!ZSTD_isError(header.stored));
	header.payload_checksum = lpl_checksum(out + LPL_CHUNK_HEADER_BYTES, header.stored);
	lpl_chunk_encode(&header, out);
	if (header.kind != LPL_CHUNK_INDEX)
		require(lpl_index_add(&maker->index, &header, maker->size));
	maker->size += LPL_CHUNK_HEADER_BYTES + header.stored;
	maker->before = header;
	free(index);
}

/* Where the next chunk begins, from `at` on; `end`: nowhere. */
static inline const uint8_t *next_chunk(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *found = memmem(at, (size_t)(end - at), lpl_chunk_magic,
				      LPL_CHUNK_MAGIC_BYTES);

	return found ? found : end;
}

/*
 * The file that has this plain form; *size is its size then.  Unless `before` is NULL, its chunks
 * get their places in the stream after that one: each continues the one before it, and an index
 * agrees with them.  *before is its last chunk then.
 */
static inline uint8_t *whole_compressed(const uint8_t *plain, size_t *size,
					struct lpl_chunk_header *before)
{
	struct maker maker = { .continues = before != NULL };
	const uint8_t *end = plain + *size, *chunk = next_chunk(plain, end);

	if (before)
		maker.before = *before;
	while (end - chunk >= LPL_CHUNK_HEADER_BYTES) {
		const uint8_t *next = next_chunk(chunk + LPL_CHUNK_HEADER_BYTES, end);

		add_chunk(&maker, chunk, (size_t)(next - chunk));
		chunk = next;
	}
	lpl_index_free(&maker.index);
	if (before)
		*before = maker.before;
	*size = maker.size;
	return maker.file ? maker.file : copy_of(plain, 0);
}

/* The plain form of a file that is whole, and its size. */
static inline uint8_t *whole_plain(const uint8_t *file, size_t size, size_t *plain_size)
{
	struct lpl_chunk_header header;
	uint8_t *plain = NULL;

	*plain_size = 0;
	for (size_t at = 0; at < size; at += LPL_CHUNK_HEADER_BYTES + header.stored) {
		uint8_t *payload;

		(void)lpl_chunk_decode(&header, file + at);
		plain = realloc(plain, *plain_size + LPL_CHUNK_HEADER_BYTES + header.plain);
		require(plain != NULL);
		memcpy(plain + *plain_size, file + at, LPL_CHUNK_HEADER_BYTES);
		payload = plain + *plain_size + LPL_CHUNK_HEADER_BYTES;
		require(ZSTD_decompress(payload, header.plain,
					file + at + LPL_CHUNK_HEADER_BYTES,
					header.stored) == header.plain);
		*plain_size += LPL_CHUNK_HEADER_BYTES + header.plain;
	}
	return plain;
}

#endif
