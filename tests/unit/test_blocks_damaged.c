/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packed blocks (docs/format.md, sections 5, 9 and 10): no bytes, however made, do harm, or are taken for others. */
#include "run_chunks.h"

#include "container/chunk.h"
#include "container/block_writer.h"
#include "block_guest.h"
#include "blocks_by_the_book.h"

/* What was read has to be in order, wherever in the file it was. */
static void assert_in_order(const struct stream *stream)
{
	uint64_t ref = 0, instr = 0, cycle = 0;

	for (size_t i = 0; i < stream->count; i++) {
		const struct item *item = &stream->items[i];
		uint64_t r = item->is_event ? item->event.ref : item->ref.ref;
		uint64_t n = item->is_event ? item->event.instr : item->ref.instr;
		uint64_t c = item->is_event ? item->event.cycle : item->ref.cycle;

		assert_true(r >= ref && n >= instr && c >= cycle);
		ref = r;
		instr = n;
		cycle = c;
		if (item->is_event)
			continue;
		assert_true(item->ref.type < LPL_TYPES && item->ref.length <= 4096);
	}
}

/* A file with this payload in the place of a chunk's, every checksum right. */
static struct bytes with_payload(const struct bytes *file, const struct layout *layout, size_t at,
				 const uint8_t *plain, size_t size)
{
	struct bytes other = { malloc(file->size + ZSTD_compressBound(size)), 0 };
	struct lpl_chunk_header header;
	uint8_t *chunk = other.data + layout->offset[at];

	assert_non_null(other.data);
	memcpy(other.data, file->data, layout->offset[at + 1]);
	(void)lpl_chunk_decode(&header, chunk);
	header.stored = (uint32_t)ZSTD_compress(chunk + 144, ZSTD_compressBound(size), plain, size, 1);
	header.plain = (uint32_t)size;
	header.payload_checksum = lpl_checksum(chunk + 144, header.stored);
	lpl_chunk_encode(&header, chunk);
	other.size = layout->offset[at] + 144 + header.stored;
	return other;
}

static void hostile_payloads(void **unused)
{
	uint64_t state = 77;
	size_t refused_ones = 0;

	(void)unused;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct lpl_writer *writer = start_runs("hostile.lpl", 0);
		struct block_guest guest;
		struct layout layout;
		struct bytes file;
		uint8_t *plain;
		size_t size;

		guest_play(&guest, lpl_writer_blocks(writer), 150, seed);
		stream_free(&guest.stream);
		finish(writer);
		file = load("hostile.lpl");
		lay_out(&layout, &file);
		assert_int_equal(layout.count, 3);
		decompress(file.data + layout.offset[1], &plain, &size);
		for (int i = 0; i < 150; i++) {
			size_t at = next_random(&state) % size, cut = size;
			uint8_t *bytes = malloc(size);
			struct result result;
			struct bytes other;

			assert_non_null(bytes);
			memcpy(bytes, plain, size);
			for (uint64_t n = next_random(&state) % 4; n > 0; n--) {
				bytes[at] ^= (uint8_t)(1 << next_random(&state) % 8);
				at = next_random(&state) % (i % 2 ? size : 40);
			}
			if (i % 5 == 0)
				cut = 1 + next_random(&state) % size;
			if (i % 7 == 0)
				for (size_t j = at; j < size && j < at + 50; j++)
					bytes[j] = (uint8_t)next_random(&state);
			other = with_payload(&file, &layout, 1, bytes, cut);
			read_bytes(&result, other.data, other.size);
			assert_int_equal(result.opened, LPL_OK);
			assert_true(result.read == LPL_OK || result.read == LPL_ERR_DAMAGED);
			if (result.read == LPL_ERR_DAMAGED) {
				refused_ones++;
				assert_int_equal(result.stream.count, 0);
			}
			assert_in_order(&result.stream);
			stream_free(&result.stream);
			free(other.data);
			free(bytes);
		}
		free(plain);
		free(file.data);
	}
	assert_true(refused_ones > 450);
}

/* Bits flipped anywhere in a file, and files cut anywhere. */
static void damaged_files(void **unused)
{
	struct lpl_writer *writer = start_runs("damaged.lpl", 100);
	struct block_guest guest;
	struct layout layout;
	struct result result;
	struct bytes file;
	size_t chunk = 0;

	(void)unused;
	guest_play(&guest, lpl_writer_blocks(writer), 60, 5);
	finish(writer);
	file = load("damaged.lpl");
	lay_out(&layout, &file);
	assert_true(layout.count >= 5);
	for (size_t at = layout.offset[1]; at < file.size; at += 3) {
		while (layout.offset[chunk + 1] <= at)
			chunk++;
		file.data[at] ^= (uint8_t)(1 << at % 8);
		read_bytes(&result, file.data, file.size);
		file.data[at] ^= (uint8_t)(1 << at % 8);
		assert_int_equal(result.read, LPL_ERR_DAMAGED);
		assert_int_equal(result.stream.count, layout.records[chunk]);
		stream_free(&result.stream);
		read_bytes(&result, file.data, at);
		assert_int_equal(result.read, at == layout.offset[chunk] ? LPL_OK : LPL_ERR_TRUNCATED);
		assert_int_equal(result.stream.count, layout.records[chunk]);
		assert_int_equal(stream_difference(&guest.stream, &result.stream,
						   result.stream.count), result.stream.count);
		stream_free(&result.stream);
	}
	free(file.data);
	stream_free(&guest.stream);
}

/* References that are not those that were written, in a chunk that is whole: the hash differs. */
static void other_references(void **unused)
{
	struct lpl_writer *writer = start_runs("other.lpl", 0);
	struct lpl_report report = { .error = LPL_OK };
	struct block_guest guest;
	struct lpl_reader *reader;
	struct layout layout;
	struct stream found;
	struct bytes file, other;
	uint8_t *plain;
	size_t size;
	int fd = memfd_create("trace", MFD_CLOEXEC);

	(void)unused;
	guest_play(&guest, lpl_writer_blocks(writer), 100, 9);
	finish(writer);
	file = load("other.lpl");
	lay_out(&layout, &file);
	decompress(file.data + layout.offset[1], &plain, &size);
	plain[size - 1] ^= 1;	/* of the hash itself: all else is as it was */
	other = with_payload(&file, &layout, 1, plain, size);
	assert_int_equal(write(fd, other.data, other.size), other.size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(lpl_reader_open_fd(&reader, fd, true, "memory", &report), LPL_OK);
	lpl_reader_compare_hash(reader);
	stream_init(&found);
	assert_int_equal(lpl_reader_run(reader, &found.sink, &report), LPL_ERR_DAMAGED);
	assert_non_null(strstr(report.text, "other references than were written"));
	assert_int_equal(found.count, 0);	/* nothing of the chunk */
	lpl_reader_close(reader);
	stream_free(&found);
	stream_free(&guest.stream);
	free(other.data);
	free(plain);
	free(file.data);
}

/* What comes of this file, and is the result complete? */
static bool is_taken(const struct bytes *file, const struct stream *stream)
{
	struct result result;
	bool taken;

	read_bytes(&result, file->data, file->size);
	assert_int_equal(stream_difference(stream, &result.stream, stream->count), stream->count);
	taken = result.read == LPL_OK && result.complete;
	assert_true(taken || result.read == LPL_ERR_DAMAGED);
	stream_free(&result.stream);
	return taken;
}

/* By the book (section 5) the table has all chunks; one that has no RUNS chunks was written before. */
static void the_index_has_them(void **unused)
{
	struct lpl_writer *writer = start_runs("index.lpl", 100);
	struct block_guest guest;
	struct layout layout;
	struct bytes file, other;
	uint64_t entry[6] = { 0 };
	const uint8_t *at;
	uint8_t *plain;
	size_t size, last;

	(void)unused;
	guest_play(&guest, lpl_writer_blocks(writer), 100, 9);
	finish(writer);
	file = load("index.lpl");
	lay_out(&layout, &file);
	last = layout.count - 1;
	assert_true(last > 2 && last < 64);
	decompress(file.data + layout.offset[last], &plain, &size);
	at = plain;
	assert_int_equal(book_leb(&at), 1);
	assert_int_equal(book_leb(&at), last - 1);
	for (size_t i = 1; i < last; i++) {
		const uint8_t *header = file.data + layout.offset[i];

		for (size_t k = 0; k < 6; k++)
			entry[k] += book_leb(&at);
		assert_int_equal(entry[0], layout.offset[i]);
		assert_int_equal(entry[1], little_endian(header + 104, 8) -
					   little_endian(header + 24, 4));
		assert_int_equal(entry[2], little_endian(header + 112, 8) -
					   little_endian(header + 28, 4));
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(entry[3 + k], little_endian(header + 32 + 8 * k, 8));
	}
	assert_true(is_taken(&file, &guest.stream));

	/* no chunks, no entries, and the same end */
	memmove(plain + 2, at, (size_t)(plain + size - at));
	size -= (size_t)(at - (plain + 2));
	plain[1] = 0;
	other = with_payload(&file, &layout, last, plain, size);
	assert_true(is_taken(&other, &guest.stream));
	free(other.data);
	/* one, where there is neither one nor several */
	plain[1] = 1;
	other = with_payload(&file, &layout, last, plain, size);
	assert_false(is_taken(&other, &guest.stream));
	free(other.data);
	free(plain);
	free(file.data);
	stream_free(&guest.stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_payloads),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(other_references),
		cmocka_unit_test(the_index_has_them),
	};

	return cmocka_run_group_tests_name("damaged blocks", tests, make_directory, remove_directory);
}
