/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers and columns: every boundary, random values, malformed input.  The
 * oracle is LEB128 as the DWARF standard's loop writes it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "codec/column.h"
#include "base/varint.h"

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* A number of random magnitude. */
static uint64_t some_number(uint64_t *state)
{
	return next_random(state) >> (next_random(state) % 64);
}

static size_t naive_put(uint8_t *out, uint64_t value)
{
	size_t size = 0;

	do {
		out[size] = value % 128;
		value /= 128;
		if (value != 0)
			out[size] += 128;
		size++;
	} while (value != 0);
	return size;
}

static void check_number(uint64_t value)
{
	uint8_t expected[LPL_VARINT_MAX], bytes[2 * LPL_VARINT_MAX];
	size_t size = naive_put(expected, value);
	uint64_t found;

	memset(bytes, 0xaa, sizeof(bytes));
	assert_ptr_equal(lpl_varint_put(bytes, value), bytes + size);
	assert_memory_equal(bytes, expected, size);
	/* with bytes to spare, and with none */
	found = ~value;
	assert_ptr_equal(lpl_varint_get(bytes, bytes + sizeof(bytes), &found), bytes + size);
	assert_true(found == value);
	found = ~value;
	assert_ptr_equal(lpl_varint_get(bytes, bytes + size, &found), bytes + size);
	assert_true(found == value);
	/* cut off anywhere; in exact memory, so that a tool sees a read beyond it */
	for (size_t cut = 0; cut < size; cut++) {
		uint8_t *exact = malloc(cut ? cut : 1);

		assert_non_null(exact);
		memcpy(exact, bytes, cut);
		assert_null(lpl_varint_get(exact, exact + cut, &found));
		free(exact);
	}
}

static void number_round_trips(void **unused)
{
	uint64_t state = 20040101;

	(void)unused;
	for (unsigned int bit = 0; bit < 64; bit++)
		for (int d = -2; d <= 2; d++)
			check_number((UINT64_C(1) << bit) + (uint64_t)d);
	check_number(0);
	check_number(UINT64_MAX);
	for (int i = 0; i < 20000; i++)
		check_number(some_number(&state));
}

static void numbers_are_leb128(void **unused)
{
	static const uint8_t dwarf[] = { 0xe5, 0x8e, 0x26 };	/* 624485 */
	uint8_t bytes[LPL_VARINT_MAX];

	(void)unused;
	assert_ptr_equal(lpl_varint_put(bytes, 624485), bytes + 3);
	assert_memory_equal(bytes, dwarf, 3);
}

static void malformed_numbers(void **unused)
{
	static const struct {
		uint8_t bytes[16];
	} cases[] = {
		{ { 0x80, 0x00 } },				/* 0, too long */
		{ { 0xff, 0x00 } },
		{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00 } },
		{ { 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00 } },
		/* 2^64, and a number that never ends */
		{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02 } },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x01 } },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	};
	uint64_t value;

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t size = 0; size <= sizeof(cases[i].bytes); size++)
			assert_null(lpl_varint_get(cases[i].bytes, cases[i].bytes + size, &value));
}

static void zigzag(void **unused)
{
	static const int64_t values[] = { 0, -1, 1, -2, 2, -3 };
	uint64_t state = 7;

	(void)unused;
	for (uint64_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		assert_true(lpl_zigzag((uint64_t)values[i]) == i);
	assert_true(lpl_zigzag((uint64_t)INT64_MAX) == UINT64_MAX - 1);
	assert_true(lpl_zigzag((uint64_t)INT64_MIN) == UINT64_MAX);
	for (int i = 0; i < 10000; i++) {
		uint64_t value = next_random(&state);

		assert_true(lpl_unzigzag(lpl_zigzag(value)) == value);
		assert_true(lpl_zigzag(lpl_unzigzag(value)) == value);
	}
}

/* Write in blocks of random sizes, read back in others. */
static void check_column(const uint64_t *values, size_t count, uint64_t *state)
{
	struct lpl_column column;
	struct lpl_column_cursor cursor;
	uint8_t *bytes = malloc(lpl_column_bound(count)), *exact, *end;
	uint64_t *found = malloc((count + 1) * sizeof(*found));
	size_t size;

	assert_non_null(bytes);
	assert_non_null(found);
	assert_true(lpl_column_init(&column, count));
	for (size_t i = 0, block; i < count; i += block) {
		block = next_random(state) % 300;
		block = block < count - i ? block : count - i;
		lpl_column_append(&column, values + i, block);
	}
	end = lpl_column_store(&column, bytes);
	size = (size_t)(end - bytes);
	assert_true(size <= lpl_column_bound(count));
	exact = malloc(size);
	assert_non_null(exact);
	memcpy(exact, bytes, size);

	assert_ptr_equal(lpl_column_open(&cursor, exact, exact + size), exact + size);
	assert_true(lpl_column_done(&cursor) != cursor.varies);
	for (size_t i = 0, block; i < count; i += block) {
		block = next_random(state) % 300;
		block = block < count - i ? block : count - i;
		assert_true(lpl_column_read(&cursor, found + i, block));
	}
	assert_memory_equal(found, values, count * sizeof(*values));
	assert_true(lpl_column_done(&cursor));
	if (cursor.varies)
		assert_false(lpl_column_read(&cursor, found + count, 1));
	for (size_t cut = 0; cut < size && cut < 50; cut++)
		assert_null(lpl_column_open(&cursor, exact, exact + cut));
	lpl_column_free(&column);
	free(exact);
	free(found);
	free(bytes);
}

static void columns_round_trip(void **unused)
{
	enum { MOST = 2000 };
	static const size_t counts[] = { 1, 2, 255, 256, 257, 1000, MOST };
	uint64_t values[MOST], state = 99;

	(void)unused;
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		for (int shape = 0; shape < 5; shape++) {
			uint64_t one = some_number(&state);

			for (size_t i = 0; i < counts[c]; i++) {
				switch (shape) {
				case 0:	/* constant */
					values[i] = one;
					break;
				case 1:	/* until the last */
					values[i] = one + (i == counts[c] - 1);
					break;
				case 2:	/* small */
					values[i] = next_random(&state) % 128;
					break;
				case 3:	/* any magnitude */
					values[i] = some_number(&state);
					break;
				default: /* the longest */
					values[i] = UINT64_MAX - (i & 1);
					break;
				}
			}
			check_column(values, counts[c], &state);
		}
	}
}

static void column_forms(void **unused)
{
	static const uint64_t equal[] = { 300, 300, 300 }, differing[] = { 300, 0, 1 };
	static const uint8_t equal_bytes[] = { 0, 0xac, 0x02 };
	static const uint8_t differing_bytes[] = { 1, 4, 0xac, 0x02, 0, 1 };
	static const uint8_t unknown[] = { 2, 0 }, too_long[] = { 1, 2, 0 };
	struct lpl_column_cursor cursor;
	struct lpl_column column;
	uint8_t bytes[128];

	(void)unused;
	assert_true(lpl_column_init(&column, 3));
	lpl_column_append(&column, equal, 3);
	assert_ptr_equal(lpl_column_store(&column, bytes), bytes + sizeof(equal_bytes));
	assert_memory_equal(bytes, equal_bytes, sizeof(equal_bytes));
	lpl_column_clear(&column);
	lpl_column_append(&column, differing, 3);
	assert_ptr_equal(lpl_column_store(&column, bytes), bytes + sizeof(differing_bytes));
	assert_memory_equal(bytes, differing_bytes, sizeof(differing_bytes));
	lpl_column_free(&column);
	assert_null(lpl_column_open(&cursor, unknown, unknown + sizeof(unknown)));
	assert_null(lpl_column_open(&cursor, too_long, too_long + sizeof(too_long)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(number_round_trips),
		cmocka_unit_test(numbers_are_leb128),
		cmocka_unit_test(malformed_numbers),
		cmocka_unit_test(zigzag),
		cmocka_unit_test(columns_round_trip),
		cmocka_unit_test(column_forms),
	};

	return cmocka_run_group_tests_name("codec", tests, NULL, NULL);
}
