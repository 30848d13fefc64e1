/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing the fields of a line, by hand: printf would take most of the time.
 * Each returns what follows the field.
 */
#ifndef LAPLACE_CONVERT_PUT_H
#define LAPLACE_CONVERT_PUT_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline char *put_hex(char *out, uint64_t value)
{
	static const char digit[] = "0123456789abcdef";
	int shift = value ? (63 - __builtin_clzll(value)) & ~3 : 0;

	for (; shift >= 0; shift -= 4)
		*out++ = digit[value >> shift & 15];
	return out;
}

static inline char *put_decimal(char *out, uint64_t value)
{
	char digits[20];
	int n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n)
		*out++ = digits[--n];
	return out;
}

static inline char *put_hex_field(char *out, uint64_t value)
{
	*out++ = ' ';
	return put_hex(out, value);
}

static inline char *put_decimal_field(char *out, uint64_t value)
{
	*out++ = ' ';
	return put_decimal(out, value);
}

static inline char *put_newline(char *out)
{
	*out++ = '\n';
	return out;
}

/* The new space, or 0 for the one before; space 0 itself is 00 after another one. */
static inline char *put_space_change(char *out, uint64_t space, uint64_t before)
{
	out = put_hex_field(out, space == before ? 0 : space);
	if (space == 0 && before != 0)
		*out++ = '0';
	return out;
}

/* ` + 3f` or ` - 3f` */
static inline char *put_difference(char *out, uint64_t value, uint64_t before)
{
	bool forward = value >= before;

	*out++ = ' ';
	*out++ = forward ? '+' : '-';
	return put_hex_field(out, forward ? value - before : before - value);
}

/* ---- binary ---- */

static inline char *put_le32(char *out, uint32_t value)
{
	value = htole32(value);
	memcpy(out, &value, sizeof(value));
	return out + sizeof(value);
}

static inline char *put_le64(char *out, uint64_t value)
{
	value = htole64(value);
	memcpy(out, &value, sizeof(value));
	return out + sizeof(value);
}

#endif
