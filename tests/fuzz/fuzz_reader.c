/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the reader of trace files.
 *
 * The first byte chooses what the rest is.  No fuzzer guesses a checksum, or writes what a
 * compressor would; so besides a file as it is there are two forms that are made whole first:
 *
 *	file	as it is
 *	sealed	a file whose chunks get the right checksums
 *	plain	a file whose payloads are not compressed, each as long as it is to where the next
 *		chunk begins.  They are compressed, the chunks get the right sizes and checksums,
 *		and unless bit 0 of the file's second byte is set also a place in the stream: each
 *		continues the one before it, and an index agrees with them.
 *
 * Damage is passed over, as by `laplace verify`.  One thread or several, and whether hashes are
 * compared, must make no difference to what is delivered before the first damage.
 */
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "container/chunk.h"
#include "container/index.h"
#include "container/reader.h"

#include "fuzz.h"

enum { AS_FILE, AS_SEALED, AS_PLAIN, WAYS };
enum { AS_TOLD = 1, SEVERAL_JOBS = 2, COMPARE_HASH = 4 };	/* the second byte */

#define RECORDS_MOST (1U << 20)	/* more take long, and show nothing new */

/* ---- making files whole ---- */

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

struct maker {
	uint8_t *file;			/* owned */
	size_t size;
	bool continues;			/* chunks are put in their places */
	struct lpl_chunk_header before;	/* of the last chunk */
	struct lpl_index index;
};

/* Let the chunk continue the one before it. */
static void put_in_place(struct maker *maker, struct lpl_chunk_header *header)
{
	struct lpl_chunk_header *before = &maker->before;
	bool has_records = lpl_chunk_has_records(header->kind);

	header->version = LPL_FORMAT_VERSION;
	header->sequence = maker->size == 0 ? 0 : before->sequence + 1;
	if (!has_records)
		header->refs = header->events = 0;
	/* what the records tell of clocks is theirs to say */
	header->base = before->last;
	if (!has_records)
		header->first = header->last = header->base;
	header->refs_so_far = before->refs_so_far + header->refs;
	header->events_so_far = before->events_so_far + header->events;
	if (header->kind == LPL_CHUNK_HEADER)
		header->refs_before = 0;
}

/* An index of the chunks that there are, with the totals that the input has told, if any. */
static size_t make_index(struct maker *maker, struct lpl_chunk_header *header, uint8_t **payload)
{
	struct lpl_totals totals = { .total = header->refs_before, .wait_ns = header->plain };
	size_t size;

	totals.refs[0] = header->refs_before;
	*payload = malloc(lpl_index_bound(&maker->index));
	require(*payload != NULL);
	size = lpl_index_encode(&maker->index, &totals, *payload);
	return size;
}

static void add_chunk(struct maker *maker, const uint8_t *chunk, size_t size)
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
static const uint8_t *next_chunk(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *found = memmem(at, (size_t)(end - at), lpl_chunk_magic,
				      LPL_CHUNK_MAGIC_BYTES);

	return found ? found : end;
}

static uint8_t *compress_chunks(const uint8_t *plain, size_t *size, bool continues)
{
	struct maker maker = { .continues = continues };
	const uint8_t *end = plain + *size, *chunk = next_chunk(plain, end);

	while (end - chunk >= LPL_CHUNK_HEADER_BYTES) {
		const uint8_t *next = next_chunk(chunk + LPL_CHUNK_HEADER_BYTES, end);

		add_chunk(&maker, chunk, (size_t)(next - chunk));
		chunk = next;
	}
	lpl_index_free(&maker.index);
	*size = maker.size;
	return maker.file ? maker.file : copy_of(plain, 0);
}

/* ---- reading them ---- */

struct delivered {
	uint64_t records, sum;
	uint64_t before_damage;		/* the sum as it was at the first damage, or the end */
};

static void add_to_sum(struct delivered *delivered, uint64_t number)
{
	delivered->sum = (delivered->sum ^ number) * UINT64_C(0x9e3779b97f4a7c15);
}

static void check_refs(struct delivered *delivered, const struct lpl_ref *refs, size_t count,
		       uint64_t *last)
{
	for (size_t i = 0; i < count; i++) {
		bool repeats = refs[i].ref == *last && (refs[i].flags & LPL_SYNTHETIC);

		require((refs[i].ref > *last || repeats) && refs[i].type < LPL_TYPES);
		*last = refs[i].ref;
		add_to_sum(delivered, refs[i].ref ^ refs[i].address);
	}
	delivered->records += count;
}

static void read_file(const uint8_t *file, size_t size, unsigned int jobs, bool compare,
		      struct delivered *delivered)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_packing packing;
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	bool damaged = false;
	uint64_t last = 0;
	size_t count;
	int fd = memfd_create("trace", MFD_CLOEXEC);

	*delivered = (struct delivered){ .records = 0 };
	require(fd >= 0 && write(fd, file, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	if (lpl_reader_open_fd(&reader, fd, true, "memory", &report) != LPL_OK) {
		require_told(&report);
		return;
	}
	lpl_reader_jobs(reader, jobs);
	if (compare)
		lpl_reader_compare_hash(reader);
	/* damage is passed over; order holds all the same */
	while (delivered->records < RECORDS_MOST) {
		report.error = LPL_OK;
		if (lpl_reader_next(reader, &refs, &count, &event, &report) != LPL_OK) {
			require_told(&report);
			if (!damaged)
				delivered->before_damage = delivered->sum;
			damaged = true;
			if (lpl_reader_resume(reader, NULL) != LPL_OK)
				break;
			continue;
		}
		if (count == 0 && !event)
			break;
		check_refs(delivered, refs, count, &last);
		if (event) {
			require(event->ref >= last && event->text_length <= KTR_TEXT);
			last = event->ref;
			delivered->records++;
			add_to_sum(delivered, event->ref ^ event->tag);
		}
	}
	if (!damaged)
		delivered->before_damage = delivered->sum;
	require(lpl_reader_bytes(reader) <= size);
	if (lpl_reader_packing(reader, &packing))
		require(packing.stored <= size);
	lpl_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct delivered delivered, again;
	unsigned int how;
	uint8_t *file;

	if (size < 2)
		return 0;
	how = data[1];
	file = copy_of(data + 2, size -= 2);
	if (data[0] % WAYS == AS_SEALED)
		seal_chunks(file, size);
	if (data[0] % WAYS == AS_PLAIN) {
		uint8_t *plain = file;

		file = compress_chunks(plain, &size, !(how & AS_TOLD));
		free(plain);
	}
	read_file(file, size, 1, how & COMPARE_HASH, &delivered);
	if (how & SEVERAL_JOBS) {
		read_file(file, size, 3, how & COMPARE_HASH, &again);
		require(again.before_damage == delivered.before_damage &&
			again.sum == delivered.sum && again.records == delivered.records);
	}
	free(file);
	return 0;
}
