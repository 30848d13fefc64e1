/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packed blocks (docs/format.md, sections 9 and 10): a guest's blocks and any other stream come back
 * as the references they stand for, to the library's reader and to one written from the
 * document; the hash is the document's; and what is no block is refused.
 */
#include "run_chunks.h"

#include <laplace/repair.h>

#include "container/block_writer.h"
#include "block_guest.h"
#include "blocks_by_the_book.h"

/* The references of a stream alone; the caller's. */
static struct lpl_ref *refs_of(const struct stream *stream, size_t *count)
{
	struct lpl_ref *refs = malloc((stream->count + 1) * sizeof(*refs));

	assert_non_null(refs);
	*count = 0;
	for (size_t i = 0; i < stream->count; i++)
		if (!stream->items[i].is_event)
			refs[(*count)++] = stream->items[i].ref;
	return refs;
}

/* Its totals are of just these references. */
static void assert_counted(const struct stream *stream, const struct lpl_totals *totals)
{
	uint64_t of_type[LPL_TYPES] = { 0 }, users = 0;

	for (size_t i = 0; i < stream->count; i++) {
		const struct lpl_ref *r = &stream->items[i].ref;

		if (stream->items[i].is_event)
			continue;
		of_type[r->type]++;
		users += (r->flags & LPL_USER) != 0;
	}
	assert_memory_equal(of_type, totals->refs, sizeof(of_type));
	assert_int_equal(users, totals->user_refs);
}

/* A repair hashes blocks, not references, and finds nothing wrong either. */
static void assert_whole(const char *name, uint64_t seed)
{
	const struct lpl_repair_options options = { .output = NULL };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_repaired repaired;

	assert_int_equal(lpl_repair(in_directory(name), &options, &repaired, &report), LPL_OK);
	if (repaired.losses > 0)
		fail_msg("seed %" PRIu64 ": not all of it could be repaired", seed);
}

/* The file holds the stream, and its reader finds its hashes right. */
static void assert_holds(const char *name, const struct stream *stream, bool counted,
			 uint64_t seed)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;
	struct stream found;
	size_t difference;

	stream_init(&found);
	assert_int_equal(lpl_reader_open(&reader, in_directory(name), &report), LPL_OK);
	lpl_reader_compare_hash(reader);
	lpl_reader_jobs(reader, 1 + seed % 3);
	if (lpl_reader_run(reader, &found.sink, &report) != LPL_OK)
		fail_msg("seed %" PRIu64 ": %s", seed, report.text);
	assert_true(lpl_reader_complete(reader));
	if (counted)
		assert_counted(stream, lpl_reader_totals(reader));
	lpl_reader_close(reader);
	difference = stream_difference(stream, &found, stream->count);
	if (found.count != stream->count || difference != stream->count)
		fail_msg("seed %" PRIu64 ": record %zu of %zu is another one (%zu found)", seed,
			 difference, stream->count, found.count);
	stream_free(&found);
	assert_whole(name, seed);
}

/* A reader written from the document finds the same references, and hashes, in each chunk. */
static void assert_by_the_book(const char *name, const struct stream *stream, uint64_t seed)
{
	struct bytes file = load(name);
	struct layout layout;
	struct lpl_ref *expected, *found;
	size_t count, needless, done = 0;

	expected = refs_of(stream, &count);
	found = malloc((count + 2048) * sizeof(*found));
	assert_non_null(found);
	lay_out(&layout, &file);
	for (size_t i = 0; i < layout.count; i++) {
		const uint8_t *chunk = file.data + layout.offset[i];
		size_t n = little_endian(chunk + 24, 4), size;
		uint8_t *plain;

		if (little_endian(chunk + 10, 2) != 4)
			continue;
		decompress(chunk, &plain, &size);
		(void)book_read(plain, little_endian(chunk + 32, 8), little_endian(chunk + 40, 8),
				little_endian(chunk + 48, 8), n, found, &needless);
		assert_int_equal(needless, 0);
		for (size_t j = 0; j < n; j++)
			if (memcmp(&found[j], &expected[done + j], sizeof(*found)) != 0)
				fail_msg("seed %" PRIu64 ": by the book reference %zu is another one",
					 seed, done + j);
		done += n;
		/* of every chunk it would take long */
		if (done == count || next_random(&seed) % 16 == 0)
			assert_int_equal(little_endian(plain + size - 8, 8),
					 book_hash(expected, done));
		free(plain);
	}
	assert_int_equal(done, count);
	free(found);
	free(expected);
	free(file.data);
}

/* ---- what is sent comes back ---- */

static const size_t chunk_sizes[] = { 1, 7, 100, 1500, 20000, 0 };
#define CHUNK_SIZES (sizeof(chunk_sizes) / sizeof(chunk_sizes[0]))

static void guests_round_trip(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 18; seed++) {
		size_t chunk_refs = chunk_sizes[seed % CHUNK_SIZES];
		/* each chunk begins with a new model: no more than some dozens of them */
		size_t steps = chunk_refs == 0 ? 6000 : 10 + chunk_refs, count;
		struct lpl_writer *writer = start_runs("guest.lpl", chunk_refs);
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_ref *refs;
		struct block_guest guest;
		uint64_t hash;

		guest_play(&guest, lpl_writer_blocks(writer), steps, seed);
		if (chunk_refs == 0)
			assert_in_range(guest.fast, guest.slow / 8, SIZE_MAX);
		hash = lpl_writer_hash(writer);
		finish(writer);
		assert_holds("guest.lpl", &guest.stream, true, seed);
		if (chunk_refs != 1)	/* of which each takes as long as any */
			assert_by_the_book("guest.lpl", &guest.stream, seed);

		/* the same as references, in which blocks have to be found: other bytes, one hash */
		refs = refs_of(&guest.stream, &count);
		assert_true(count > steps);
		assert_int_equal(hash, book_hash(refs, count));
		writer = start_runs("found.lpl", chunk_refs);
		assert_int_equal(stream_send(&guest.stream, 0, guest.stream.count,
					     lpl_writer_sink(writer), seed, &report), LPL_OK);
		assert_int_equal(lpl_writer_flush(writer, &report), LPL_OK);
		assert_int_equal(hash, lpl_writer_hash(writer));
		finish(writer);
		assert_holds("found.lpl", &guest.stream, false, seed);
		free(refs);
		stream_free(&guest.stream);
	}
}

/* Whatever is allowed in a trace may be packed as blocks. */
static void any_stream_round_trips(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 18; seed++) {
		size_t chunk_refs = chunk_sizes[seed % CHUNK_SIZES];
		struct lpl_writer *writer = start_runs("any.lpl", chunk_refs);
		uint64_t parts = seed;
		struct lpl_report report = { .error = LPL_OK };
		struct stream stream;

		stream_random(&stream, chunk_refs == 0 ? 5000 : 20 + 10 * (chunk_refs % 1000),
			      (enum stream_style)(seed / 6 % STREAM_STYLES), seed);
		for (size_t at = 0; at < stream.count;) {
			size_t left = stream.count - at, part = 1 + next_random(&parts) % 2000;

			part = part < left ? part : left;
			if (stream_send(&stream, at, part, lpl_writer_sink(writer), seed,
					&report) != LPL_OK ||
			    lpl_writer_flush(writer, &report) != LPL_OK)
				fail_msg("%s", report.text);
			at += part;
		}
		finish(writer);
		assert_holds("any.lpl", &stream, false, seed);
		if (chunk_refs != 1)
			assert_by_the_book("any.lpl", &stream, seed);
		stream_free(&stream);
	}
}

/*
 * A walk of one byte, for a read, has the code by which a block says that references repeat: it comes back wherever it is,
 * first or not, at the instruction of the one before or at a later one, found in blocks or sent loose.
 */
static void a_code_that_is_taken(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 8; i++) {
		struct lpl_writer *writer = start_runs("taken.lpl", 0);
		struct lpl_block_sink *out = i & 1 ? lpl_writer_blocks(writer) : NULL;
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_ref refs[60];
		struct stream stream;

		stream_init(&stream);
		for (unsigned int j = 0; j < 60; j++) {
			struct lpl_ref *r = &stream_add(&stream)->ref;

			*r = (struct lpl_ref){ .ref = j + 1, .instr = 5 + (i & 2 ? j : 0), .address = 0x1000 + 8 * j,
					       .type = LPL_WALK_READ, .length = 1, .flags = LPL_FOR_READ };
			if (i & 4 && j % 4 == 1)
				r->length = 8;
			if (!out && j % 6 == 0)
				*r = (struct lpl_ref){ .ref = j + 1, .instr = r->instr, .address = 0x4000,
						       .type = LPL_FETCH, .length = 4 };
			r->cycle = r->instr;
			refs[j] = *r;
		}
		if (out ? out->loose(out, refs, 60, &report) != LPL_OK :
			  stream_send(&stream, 0, stream.count, lpl_writer_sink(writer), i, &report) != LPL_OK)
			fail_msg("%s", report.text);
		finish(writer);
		assert_holds("taken.lpl", &stream, false, i);
		assert_by_the_book("taken.lpl", &stream, i);
		stream_free(&stream);
	}
}

/* A block of 30 instructions at `instr`, as words with what follows: the 21st refers to data. */
static void put_thirty(uint64_t word[3], uint64_t instr, bool write)
{
	word[0] = UINT64_C(0x80) << 56 | (instr & 255) << 48 | 1;
	word[1] = UINT64_C(0x46) << 56 | ((instr + 20) & 255) << 48 | 0x5000 |
		  (write ? UINT64_C(1) << 56 : 0);
	word[2] = UINT64_C(0x80) << 56 | ((instr + 30) & 255) << 48 | 1;
}

/*
 * What is expected is a read.  A write where the low byte of the count has a carry looks like it,
 * if a count without one is subtracted from it: bit 56 is the write.
 */
static void carry_is_no_write(void **unused)
{
	struct lpl_writer *writer = start_runs("carry.lpl", 0);
	struct lpl_block_sink *out = lpl_writer_blocks(writer);
	struct lpl_instruction_trace trace = { .address = 0x1000, .count = 30 };
	struct lpl_report report = { .error = LPL_OK };
	uint64_t word[3], instructions, refs;
	struct result result;
	struct bytes file;
	size_t fast = 0, writes = 0;

	(void)unused;
	memset(trace.length, 4, trace.count);
	assert_int_equal(out->define(out, 0, &trace, &report), LPL_OK);
	for (uint64_t instr = 0; instr < 3000; instr += 30) {
		const bool carry = (instr & 255) + 20 > 255;
		const struct lpl_block block = { .fetched = 30, .words = 1, .word = word + 1 };

		put_thirty(word, instr, carry);
		if (out->words(out, word, word + 3, &instructions, &refs) > 0)
			fast++;
		else
			assert_int_equal(out->block(out, &block, &report), LPL_OK);
	}
	finish(writer);
	assert_in_range(fast, 50, 99);
	file = load("carry.lpl");
	read_bytes(&result, file.data, file.size);
	assert_int_equal(result.stream.count, 3100);
	for (size_t i = 0; i < result.stream.count; i++) {
		const struct lpl_ref *r = &result.stream.items[i].ref;

		if (r->type == LPL_FETCH)
			continue;
		assert_int_equal(r->type, ((r->instr - 20) & 255) + 20 > 255 ? LPL_WRITE : LPL_READ);
		writes += r->type == LPL_WRITE;
	}
	assert_in_range(writes, 1, 99);
	stream_free(&result.stream);
	free(file.data);
}

/* Words that begin no trace, or one that has no number, are left to what can say what is wrong. */
static void no_words_are_made_up(void **unused)
{
	struct lpl_writer *writer = start_runs("words.lpl", 0);
	struct lpl_block_sink *out = lpl_writer_blocks(writer);
	struct lpl_instruction_trace trace = { .address = 0x1000, .count = 30 };
	struct lpl_report report = { .error = LPL_OK };
	uint64_t word[3], instructions, refs;

	(void)unused;
	memset(trace.length, 4, trace.count);
	assert_int_equal(out->define(out, 0, &trace, &report), LPL_OK);
	for (uint64_t instr = 0; instr < 270; instr += 30) {
		const struct lpl_block block = { .fetched = 30, .words = 1, .word = word + 1 };

		put_thirty(word, instr, false);
		assert_int_equal(out->block(out, &block, &report), LPL_OK);
	}
	put_thirty(word, 270, false);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t other[3] = { word[0], word[1], word[2] };

		other[0] ^= i == 0 ? UINT64_C(0xc1) << 56 : i == 1 ? 1 : UINT64_C(1) << 48;
		assert_int_equal(out->words(out, other, other + 3, &instructions, &refs), 0);
	}
	assert_int_equal(out->words(out, word, word + 3, &instructions, &refs), 2);

	/* of a token that is forgotten there is no word, not even one of all ones */
	trace.address = 0x2000;
	assert_int_equal(out->define(out, 0, &trace, &report), LPL_OK);
	trace.address = 0x1000;
	put_thirty(word, 300, false);
	word[0] |= UINT32_MAX;
	assert_int_equal(out->words(out, word, word + 3, &instructions, &refs), 0);
	assert_int_equal(out->define(out, 0, &trace, &report), LPL_OK);

	/* the rest of the trace alone has no fast way, whatever the number */
	for (uint64_t instr = 300; instr < 532; instr += 29) {
		const struct lpl_block block = { .first = 1, .fetched = 29 };

		assert_int_equal(out->block(out, &block, &report), LPL_OK);
	}
	word[0] = UINT64_C(0x80) << 56 | UINT64_C(20) << 48;	/* of 532 */
	word[1] = UINT64_C(0x80) << 56 | UINT64_C(49) << 48;
	assert_int_equal(out->words(out, word, word + 2, &instructions, &refs), 0);
	lpl_writer_abandon(writer);
}

/* More distinct code than a chunk may have: there are more chunks. */
static void much_code(void **unused)
{
	const struct lpl_block block = { .fetched = 1 };
	struct lpl_writer *writer = start_runs("code.lpl", 0);
	struct lpl_block_sink *out = lpl_writer_blocks(writer);
	struct lpl_instruction_trace trace = { .count = 1, .length = { 4 } };
	struct lpl_report report = { .error = LPL_OK };
	const size_t count = 600000;
	struct lpl_reader *reader;
	struct stream found;

	(void)unused;
	for (size_t i = 0; i < count; i++) {
		trace.address = 0x100000 + 64 * i;
		if (out->define(out, 0, &trace, &report) != LPL_OK ||
		    out->block(out, &block, &report) != LPL_OK)
			fail_msg("%s", report.text);
	}
	finish(writer);
	stream_init(&found);
	assert_int_equal(lpl_reader_open(&reader, in_directory("code.lpl"), &report), LPL_OK);
	lpl_reader_compare_hash(reader);
	assert_int_equal(lpl_reader_run(reader, &found.sink, &report), LPL_OK);
	lpl_reader_close(reader);
	assert_int_equal(found.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(found.items[i].ref.address, 0x100000 + 64 * i);
	stream_free(&found);
}

/* ---- what is not valid is refused ---- */

static void refused(void **unused)
{
	static const struct lpl_instruction_trace two = { .address = 0x1000, .count = 2,
							  .length = { 3, 4 } };
	static const struct lpl_instruction_trace over = { .address = 0x1ffa, .count = 2,
							   .length = { 3, 4 } };
	const uint64_t fine = UINT64_C(1) << 62, late = fine | UINT64_C(1) << 48;
	const uint64_t words[][2] = {
		{ late, fine },				/* counts run backwards */
		{ fine | UINT64_C(7) << 57, 0 },	/* no length */
		{ fine | UINT64_C(7) << 57, 4097 },
		{ fine | UINT64_C(1) << 61, fine },	/* as supervisor in supervisor mode */
		{ UINT64_C(1) << 63, fine },
		{ UINT64_C(0x10) << 56, 0 },		/* what repetitions have as their code */
	};
	const struct lpl_block blocks[] = {
		{ .trace = 1, .fetched = 1 }, { .first = 2, .fetched = 1 },
		{ .first = 1, .fetched = 2 }, { .fetched = 0 },
		{ .fetched = 2, .words = 2, .word = words[0] },
		{ .fetched = 2, .words = 2, .word = words[1] },
		{ .fetched = 2, .words = 2, .word = words[2] },
		{ .fetched = 2, .words = 2, .word = words[3] },
		{ .fetched = 2, .words = 2, .word = words[4] },
		{ .fetched = 2, .words = 1, .word = words[2] },
		{ .fetched = 2, .words = 1, .word = words[5] },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		struct lpl_writer *writer = start_runs("refused.lpl", 0);
		struct lpl_block_sink *out = lpl_writer_blocks(writer);
		struct lpl_report report = { .error = LPL_OK };

		assert_int_equal(out->define(out, 0, &two, &report), LPL_OK);
		assert_int_equal(out->block(out, &blocks[i], &report), LPL_ERR_USAGE);
		assert_int_equal(out->block(out, &(struct lpl_block){ .fetched = 1 }, &report),
				 LPL_ERR_USAGE);
		lpl_writer_abandon(writer);
	}
	for (int i = 0; i < 3; i++) {
		struct lpl_writer *writer = start_runs("refused.lpl", 0);
		struct lpl_block_sink *out = lpl_writer_blocks(writer);
		struct lpl_report report = { .error = LPL_OK };

		assert_int_equal(out->define(out, 0, &two, &report), LPL_OK);
		if (i == 0)
			assert_int_equal(out->define(out, 1, &over, &report), LPL_ERR_USAGE);
		if (i == 1)
			assert_int_equal(out->define(out, 2, &two, &report), LPL_ERR_USAGE);
		if (i == 2) {
			assert_int_equal(out->at(out, 10, &report), LPL_OK);
			assert_int_equal(out->block(out, &(struct lpl_block){ .fetched = 2 }, &report),
					 LPL_OK);
			assert_int_equal(out->at(out, 10, &report), LPL_OK);
			assert_int_equal(out->block(out, &(struct lpl_block){ .fetched = 2 }, &report),
					 LPL_ERR_ORDER);
		}
		lpl_writer_abandon(writer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guests_round_trip),
		cmocka_unit_test(any_stream_round_trips),
		cmocka_unit_test(a_code_that_is_taken),
		cmocka_unit_test(carry_is_no_write),
		cmocka_unit_test(no_words_are_made_up),
		cmocka_unit_test(much_code),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests_name("blocks", tests, make_directory, remove_directory);
}
