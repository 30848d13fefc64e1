/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the reader (libFuzzer, or anything that calls its entry point).
 *
 * The first byte chooses what the rest is: a file; a file whose checksums are
 * put right first, since no fuzzer guesses them; or the bare payload of a chunk of
 * columns or of runs, behind a chunk header.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "container/chunk.h"
#include "container/data.h"
#include "container/reader.h"
#include "container/run_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AS_FILE, AS_SEALED_FILE, AS_PAYLOAD, AS_RUNS, WAYS };

/* Make every chunk's magic, version and checksums right. */
static void seal_chunks(uint8_t *file, size_t size)
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

static void read_file(const uint8_t *file, size_t size)
{
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	uint64_t last = 0;
	size_t count;
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0 || write(fd, file, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	if (lpl_reader_open_fd(&reader, fd, true, "memory", &report) != LPL_OK)
		return;
	/* damage is passed over; order holds all the same */
	for (;;) {
		report.error = LPL_OK;
		if (lpl_reader_next(reader, &refs, &count, &event, &report) != LPL_OK) {
			if (lpl_reader_resume(reader, NULL) != LPL_OK)
				break;
			continue;
		}
		if (count == 0 && !event)
			break;
		for (size_t i = 0; i < count; i++) {
			bool repeats = refs[i].ref == last && (refs[i].flags & LPL_SYNTHETIC);

			if ((refs[i].ref <= last && !repeats) || refs[i].type >= LPL_TYPES)
				abort();
			last = refs[i].ref;
		}
		if (event && (event->ref < last || event->text_length > KTR_TEXT))
			abort();
		if (event)
			last = event->ref;
	}
	lpl_reader_close(reader);
}

static void expand(const struct lpl_unpacked_runs *runs, size_t refs)
{
	static struct lpl_ref out[2 * LPL_RUN_REFS_MAX];
	struct lpl_run_cursor cursor;
	size_t done = 0;

	lpl_run_cursor_begin(&cursor, &runs->decoder);
	while (done < refs)
		done += lpl_run_cursor_next(&cursor, &runs->decoder, refs, out,
					    2 * LPL_RUN_REFS_MAX);
	if (done != refs)
		abort();
}

static void read_runs(const uint8_t *bytes, size_t size)
{
	struct lpl_chunk_header header;
	struct lpl_unpacked_runs runs;
	struct lpl_report cause = { .error = LPL_OK };
	struct lpl_data data;

	if (size < LPL_CHUNK_HEADER_BYTES)
		return;
	memset(&data, 0, sizeof(data));
	memset(&runs, 0, sizeof(runs));
	(void)lpl_chunk_decode(&header, bytes);
	if (lpl_run_data_decode(&runs, &data, &header, bytes + LPL_CHUNK_HEADER_BYTES,
				size - LPL_CHUNK_HEADER_BYTES, &cause) == LPL_OK)
		expand(&runs, header.refs);
	lpl_run_data_free(&runs);
	lpl_data_free(&data);
}

static void read_payload(const uint8_t *bytes, size_t size)
{
	struct lpl_chunk_header header;
	struct lpl_data data;

	if (size < LPL_CHUNK_HEADER_BYTES)
		return;
	memset(&data, 0, sizeof(data));
	(void)lpl_chunk_decode(&header, bytes);
	(void)lpl_data_decode(&data, &header, bytes + LPL_CHUNK_HEADER_BYTES,
			      size - LPL_CHUNK_HEADER_BYTES, NULL);
	lpl_data_free(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (size == 0)
		return 0;
	/* in memory of exactly its size, so that reading beyond it is seen */
	copy = malloc(size - 1 ? size - 1 : 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	switch (data[0] % WAYS) {
	case AS_FILE:
		read_file(copy, size - 1);
		break;
	case AS_SEALED_FILE:
		seal_chunks(copy, size - 1);
		read_file(copy, size - 1);
		break;
	case AS_RUNS:
		read_runs(copy, size - 1);
		break;
	default:
		read_payload(copy, size - 1);
		break;
	}
	free(copy);
	return 0;
}
