/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns of one number, after another in the first place (docs/format.md, section 4.1): a file of a few
 * hundred bytes with a million references in each chunk.  They are what the format says; and a
 * reader that asks for them folded gets a chunk in one step, in which nothing was expanded.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <laplace/counts.h>

#include "base/varint.h"
#include "container/data.h"
#include "container/reader_parts.h"
#include "trace_file.h"

/* ---- by the book ---- */

#define REFS_MAX 1500

struct payload {
	uint8_t bytes[LPL_COLUMNS * (REFS_MAX + 1) * LPL_VARINT_MAX + 1000];
	size_t size;
};

/* Numbers of the columns: of the first reference, and of each of the others. */
struct numbers {
	uint64_t first[LPL_COLUMNS], rest[LPL_COLUMNS];
};

static uint8_t *put(uint8_t *at, uint64_t number)
{
	return lpl_varint_put(at, number);
}

/* n references from these numbers, an event before that numbered `position`, totals of 0. */
static void make(struct payload *payload, const struct numbers *numbers, uint64_t space, size_t n,
		 size_t position, bool in_full)
{
	uint8_t one[LPL_VARINT_MAX], *at = put(payload->bytes, space);

	for (int i = 0; i < LPL_COLUMNS; i++) {
		const uint64_t first = numbers->first[i], rest = numbers->rest[i];
		const bool in_form_1 = in_full || (first != rest && n > 1);

		*at++ = in_form_1;
		if (in_form_1)
			at = put(at, (size_t)(put(one, first) - one) + (n - 1) * (size_t)(put(one, rest) - one));
		at = put(at, first);
		for (size_t k = 1; k < n && in_form_1; k++)
			at = put(at, rest);
	}
	at = put(at, position);
	for (int i = 0; i < 9; i++)	/* at the clocks of what is before it; tag 17, no text */
		at = put(at, i == 3 ? 17 : 0);
	for (int i = 0; i < LPL_TOTALS_NUMBERS; i++)
		at = put(at, 0);
	payload->size = (size_t)(at - payload->bytes);
}

static uint64_t unzigzag(uint64_t number)
{
	return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

/* What sections 4.1 and 4.4 say of such columns, reference by reference.  false: damaged. */
static bool by_the_book(struct lpl_ref *refs, const struct numbers *numbers, struct lpl_clocks now,
			uint64_t space, size_t n)
{
	uint64_t predicted[8] = { 0 }, page;

	for (size_t i = 0; i < n; i++) {
		const uint64_t *number = i == 0 ? numbers->first : numbers->rest;
		const struct lpl_clocks before = now;
		struct lpl_ref *r = &refs[i];

		memset(r, 0, sizeof(*r));
		now.ref += number[2];
		now.instr += number[3];
		now.cycle += number[3] + unzigzag(number[4]);
		space += unzigzag(number[5]);
		r->type = number[0] % 8;
		r->flags = (uint8_t)(number[0] / 8);
		r->address = predicted[r->type] + unzigzag(number[6]);
		if (r->flags & LPL_PAGED) {
			page = (predicted[r->type] >> 12) + unzigzag(number[6]);
			if (page >= UINT64_C(1) << 52)
				return false;
			r->address = 4096 * page;
		}
		if (number[0] % 8 > 4 || number[0] / 8 > 15 || number[1] > 4096 ||
		    (number[1] == 0) != ((r->flags & LPL_PAGED) != 0) || now.ref < before.ref ||
		    (now.ref == before.ref && !(r->flags & LPL_SYNTHETIC)) ||
		    now.instr < before.instr || now.cycle < before.cycle)
			return false;
		r->length = (uint16_t)number[1];
		r->ref = now.ref;
		r->instr = now.instr;
		r->cycle = now.cycle;
		r->space = space;
		predicted[r->type] = r->address + r->length;
	}
	return true;
}

static void move(struct lpl_clocks *clocks, const uint64_t number[LPL_COLUMNS], uint64_t times)
{
	clocks->ref += times * number[2];
	clocks->instr += times * number[3];
	clocks->cycle += times * (number[3] + unzigzag(number[4]));
}

/* Numbers at which one of a chunk's references may break an invariant, or none. */
static uint64_t edge(uint64_t *state, uint64_t top, size_t n)
{
	const uint64_t small = next_random(state) % 4, kind = next_random(state) % 16;

	return kind < 12 ? small : kind == 12 ? top - small :
	       kind < 15 ? top / n + small - 2 : next_random(state) >> next_random(state) % 64;
}

static void random_numbers(struct numbers *numbers, uint64_t *state, size_t n)
{
	const bool paged = next_random(state) % 2;
	const uint64_t flags = (paged ? LPL_PAGED : 0) + (next_random(state) % 2) * LPL_SYNTHETIC;

	*numbers = (struct numbers){ .rest = {
		next_random(state) % 50 ? next_random(state) % 5 + 8 * flags : edge(state, 255, n),
		paged == (next_random(state) % 50 != 0) ? 0 : 1 + next_random(state) % 4096,
		edge(state, UINT64_MAX, n), edge(state, UINT64_MAX, n), edge(state, UINT64_MAX, n),
		next_random(state) % 8 ? 0 : edge(state, UINT64_MAX, n),
		edge(state, paged ? UINT64_C(1) << 53 : UINT64_MAX, n),
	} };
	memcpy(numbers->first, numbers->rest, sizeof(numbers->first));
	for (int i = 0; i < LPL_COLUMNS; i++) {
		if (next_random(state) % 4 == 0 && (i > 1 || next_random(state) % 8 == 0))
			numbers->first[i] = edge(state, i < 2 ? 64 : UINT64_MAX, n);
	}
}

static void they_are_what_the_format_says(void **unused)
{
	static struct payload payload;
	static struct lpl_ref expected[REFS_MAX];
	uint64_t state = 5, steady = 0, bad = 0;
	struct lpl_data data;

	(void)unused;
	memset(&data, 0, sizeof(data));
	for (int round = 0; round < 40000; round++) {
		const size_t n = 1 + next_random(&state) % (round % 8 ? 20 : REFS_MAX);
		struct numbers numbers;

		random_numbers(&numbers, &state, n);
		const size_t position = next_random(&state) % (n + 1);
		struct lpl_chunk_header header = {
			.refs = (uint32_t)n, .events = 1,
			.base = { edge(&state, UINT64_MAX, n), edge(&state, UINT64_MAX, n),
				  edge(&state, UINT64_MAX, n) },
		};
		const bool good = by_the_book(expected, &numbers, header.base, 7, n);

		/* right, whatever is wrong with the references */
		header.last = header.base;
		move(&header.last, numbers.first, 1);
		header.first = position == 0 ? header.base : header.last;
		move(&header.last, numbers.rest, n - 1);
		make(&payload, &numbers, 7, n, position, round % 3 == 0);
		const enum lpl_error error = lpl_data_decode(&data, &header, payload.bytes, payload.size,
							     NULL);

		assert_int_equal(error, good ? LPL_OK : LPL_ERR_DAMAGED);
		bad += !good;
		if (!good)
			continue;
		/* all that can be is said by the first one */
		if (n > 1 && numbers.rest[5] == 0 && numbers.first[0] == numbers.rest[0] &&
		    numbers.first[1] == numbers.rest[1])
			assert_true(data.is_steady);
		steady += data.is_steady;
		for (size_t i = 0; i < n; i++) {
			const struct lpl_ref found = lpl_data_ref(&data, i);

			assert_memory_equal(&found, &expected[i], sizeof(found));
		}
	}
	assert_true(steady > 1000 && bad > 1000);
	lpl_data_free(&data);
}

/* ---- a file of them ---- */

#define CHUNKS 3
#define CHUNK_REFS (1 << 20)

static struct lpl_ref numbered(uint64_t i, uint64_t address)
{
	return (struct lpl_ref){ .ref = i, .instr = 2 * i, .cycle = 2 * i, .address = address + 8 * i,
				 .space = 9, .length = 8, .type = LPL_READ, .flags = LPL_USER };
}

static void write_steady(const char *name, uint64_t address, bool runs, size_t chunk_refs, uint64_t refs)
{
	const struct lpl_writer_options options = { .chunk_refs = chunk_refs, .blocks = runs };
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_totals none = { .total = 0 };
	struct lpl_meta *meta = some_meta();
	struct lpl_writer *writer;

	assert_int_equal(lpl_writer_open(&writer, in_directory(name), meta, &options, true, &report),
			 LPL_OK);
	lpl_meta_free(meta);
	lpl_writer_totals(writer, &none);
	for (uint64_t i = 1; i <= refs; i++) {
		const struct lpl_ref ref = numbered(i, address);

		assert_int_equal(lpl_writer_sink(writer)->refs(lpl_writer_sink(writer), &ref, 1, &report),
				 LPL_OK);
	}
	assert_int_equal(lpl_writer_close(writer, &report), LPL_OK);
}

static struct lpl_reader *open_reader(const char *name)
{
	struct lpl_reader *reader;

	assert_int_equal(lpl_reader_open(&reader, in_directory(name), NULL), LPL_OK);
	return reader;
}

/* As `laplace verify' does, and in as many steps as there are chunks. */
static void a_chunk_is_one_step(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_counts folded, counted;
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	size_t count, steps = 0;

	(void)unused;
	write_steady("steady.lpl", 4096, false, CHUNK_REFS, (uint64_t)CHUNKS * CHUNK_REFS);
	struct lpl_reader *reader = open_reader("steady.lpl");

	assert_true(lpl_reader_size(reader) < 2000);
	lpl_counts_init(&folded);
	lpl_reader_compare_hash(reader);
	lpl_reader_fold(reader);
	for (;; steps++) {
		assert_int_equal(lpl_reader_next(reader, &refs, &count, &event, &report), LPL_OK);
		if (count == 0)
			break;
		assert_int_equal(count, 3);
		assert_int_equal(lpl_reader_folded(reader), CHUNK_REFS);
		for (int i = 0; i < 3; i++) {
			const struct lpl_ref expected =
				numbered(steps * CHUNK_REFS + (uint64_t[]){ 1, 2, CHUNK_REFS }[i], 4096);

			assert_memory_equal(&refs[i], &expected, sizeof(expected));
		}
		assert_int_equal(lpl_counts_fold(&folded, refs, CHUNK_REFS, &report), LPL_OK);
	}
	assert_int_equal(steps, CHUNKS);
	assert_null(reader->expanded);	/* which is where they would have been made */
	for (unsigned int i = 0; i < lpl_work_queue_slots(reader->jobs); i++)
		assert_null(reader->slot[i].data.refs);
	lpl_reader_close(reader);

	/* and one by one they are the same */
	reader = open_reader("steady.lpl");
	lpl_counts_init(&counted);
	assert_int_equal(lpl_reader_run(reader, &counted.sink, &report), LPL_OK);
	lpl_reader_close(reader);
	assert_int_equal(counted.all_refs, (uint64_t)CHUNKS * CHUNK_REFS);
	assert_int_equal(folded.all_refs, counted.all_refs);
	assert_memory_equal(folded.refs, counted.refs, sizeof(folded.refs));
	assert_int_equal(folded.user_refs, counted.user_refs);
	assert_int_equal(folded.spaces, counted.spaces);
	assert_memory_equal(&folded.first, &counted.first, sizeof(folded.first));
	assert_memory_equal(&folded.last, &counted.last, sizeof(folded.last));
	lpl_counts_free(&folded);
	lpl_counts_free(&counted);
}

/* ---- the hash ---- */

/* Bytes of the chunk at an offset. */
static size_t chunk_size(const struct bytes *file, size_t at)
{
	uint32_t stored;

	memcpy(&stored, file->data + at + 16, sizeof(stored));
	return LPL_CHUNK_HEADER_BYTES + stored;
}

/*
 * A file with columns in its first chunk and packed blocks in its second, with the hash of both:
 * the second one is that of a file of packed blocks which has the same references.
 */
static enum lpl_error read_mixed(uint64_t address, struct lpl_report *report)
{
	enum { REFS = 10000 };
	struct lpl_counts counts;

	write_steady("columns.lpl", address, false, REFS, 2 * REFS);
	write_steady("runs.lpl", 4096, true, REFS, 2 * REFS);
	struct bytes columns = load("columns.lpl"), runs = load("runs.lpl");
	const size_t first = chunk_size(&columns, 0), second = chunk_size(&columns, first);
	const size_t runs_at = chunk_size(&runs, 0) + chunk_size(&runs, chunk_size(&runs, 0));
	const size_t size = first + second + chunk_size(&runs, runs_at);
	uint8_t *mixed = malloc(size);

	assert_non_null(mixed);
	memcpy(mixed, columns.data, first + second);
	memcpy(mixed + first + second, runs.data + runs_at, size - first - second);
	write_bytes("mixed.lpl", mixed, size);
	struct lpl_reader *reader = open_reader("mixed.lpl");

	lpl_counts_init(&counts);
	lpl_reader_compare_hash(reader);
	const enum lpl_error error = lpl_reader_run(reader, &counts.sink, report);

	if (error == LPL_OK)
		assert_int_equal(counts.all_refs, 2 * REFS);
	lpl_counts_free(&counts);
	lpl_reader_close(reader);
	free(mixed);
	free(columns.data);
	free(runs.data);
	return error;
}

static void the_hash_is_of_all(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };

	(void)unused;
	assert_int_equal(read_mixed(4096, &report), LPL_OK);
	assert_int_equal(read_mixed(8192, &report), LPL_ERR_DAMAGED);
	assert_non_null(strstr(report.text, "chunk 2"));
	assert_non_null(strstr(report.text, "holds other references than were written"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_what_the_format_says),
		cmocka_unit_test(a_chunk_is_one_step),
		cmocka_unit_test(the_hash_is_of_all),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
