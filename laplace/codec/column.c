/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Columns of numbers, written and read in batches: see column.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "base/varint.h"

enum form { CONSTANT = 0, VARYING = 1 };

bool lpl_column_init(struct lpl_column *column, size_t count_max)
{
	column->bytes = malloc(count_max * LPL_VARINT_MAX);
	lpl_column_clear(column);
	return column->bytes != NULL;
}

void lpl_column_free(struct lpl_column *column)
{
	free(column->bytes);
	column->bytes = NULL;
}

void lpl_column_clear(struct lpl_column *column)
{
	column->end = column->bytes;
	column->constant = 0;
	column->count = 0;
	column->varies = false;
}

/* Most numbers take a byte, and most of those are among others: eight are looked at together. */
static uint8_t *put_eight(uint8_t *restrict out, const uint64_t *restrict v)
{
	if ((v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7]) >= 0x80) {
		for (int i = 0; i < 8; i++)
			out = lpl_varint_put(out, v[i]);
		return out;
	}
	out[0] = (uint8_t)v[0];
	out[1] = (uint8_t)v[1];
	out[2] = (uint8_t)v[2];
	out[3] = (uint8_t)v[3];
	out[4] = (uint8_t)v[4];
	out[5] = (uint8_t)v[5];
	out[6] = (uint8_t)v[6];
	out[7] = (uint8_t)v[7];
	return out + 8;
}

static uint8_t *put_all(uint8_t *restrict out, const uint64_t *restrict values, size_t count)
{
	for (; count >= 8; count -= 8, values += 8)
		out = put_eight(out, values);
	while (count-- > 0)
		out = lpl_varint_put(out, *values++);
	return out;
}

void lpl_column_append(struct lpl_column *column, const uint64_t *values, size_t count)
{
	uint64_t differs = 0;

	if (count == 0)
		return;
	if (!column->varies) {
		if (column->count == 0)
			column->constant = values[0];
		for (size_t i = 0; i < count; i++)
			differs |= values[i] ^ column->constant;
		if (differs == 0) {
			column->count += count;
			return;
		}
		/* not constant after all: write what was only counted */
		column->varies = true;
		for (size_t i = 0; i < column->count; i++)
			column->end = lpl_varint_put(column->end, column->constant);
	}
	column->end = put_all(column->end, values, count);
	column->count += count;
}

size_t lpl_column_bound(size_t count)
{
	return 1 + LPL_VARINT_MAX + count * LPL_VARINT_MAX;
}

uint8_t *lpl_column_store(const struct lpl_column *column, uint8_t *out)
{
	size_t size = (size_t)(column->end - column->bytes);

	assert(size <= column->count * LPL_VARINT_MAX);
	if (!column->varies) {
		*out++ = CONSTANT;
		return lpl_varint_put(out, column->constant);
	}
	*out++ = VARYING;
	out = lpl_varint_put(out, size);
	memcpy(out, column->bytes, size);
	return out + size;
}

const uint8_t *lpl_column_open(struct lpl_column_cursor *cursor, const uint8_t *in,
			       const uint8_t *end)
{
	uint64_t value;

	if (in >= end || *in > VARYING)
		return NULL;
	cursor->varies = *in++ == VARYING;
	in = lpl_varint_get(in, end, &value);
	if (!in)
		return NULL;
	cursor->constant = value;
	cursor->at = cursor->end = in;
	if (!cursor->varies)
		return in;
	if (value > (uint64_t)(end - in))
		return NULL;
	cursor->end = in + value;
	return cursor->end;
}

/* Are these eight bytes eight numbers? */
static bool all_short(const uint8_t *at)
{
	uint64_t bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return (bytes & UINT64_C(0x8080808080808080)) == 0;
}

bool lpl_column_read(struct lpl_column_cursor *cursor, uint64_t *values, size_t count)
{
	const uint8_t *at = cursor->at;

	if (!cursor->varies) {
		for (size_t i = 0; i < count; i++)
			values[i] = cursor->constant;
		return true;
	}
	for (size_t i = 0; i < count;) {
		/* most numbers take a byte: eight of them at a time */
		if (count - i >= 8 && cursor->end - at >= 8 && all_short(at)) {
			for (int j = 0; j < 8; j++)
				values[i + j] = at[j];
			at += 8;
			i += 8;
			continue;
		}
		at = lpl_varint_get(at, cursor->end, &values[i++]);
		if (!at)
			return false;
	}
	cursor->at = at;
	return true;
}

bool lpl_column_steady(const struct lpl_column_cursor *cursor, size_t count, uint64_t numbers[2])
{
	const uint8_t *second, *third;
	size_t size;

	numbers[0] = numbers[1] = cursor->constant;
	if (!cursor->varies)
		return true;
	second = lpl_varint_get(cursor->at, cursor->end, &numbers[0]);
	third = second && count > 1 ? lpl_varint_get(second, cursor->end, &numbers[1]) : NULL;
	if (!third)
		return false;
	size = (size_t)(third - second);
	return (size_t)(cursor->end - second) == (count - 1) * size &&
	       memcmp(second, third, (count - 2) * size) == 0;
}

bool lpl_column_done(const struct lpl_column_cursor *cursor)
{
	return cursor->at == cursor->end;
}
