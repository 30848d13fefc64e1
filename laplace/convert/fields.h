/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fields of lines and of binary records, out and in, above base/digits.h.
 *
 * A line ends in a newline, which is no part of any field, so that nothing here looks for
 * the end of its memory.  What puts returns what follows the field; what scans does, too,
 * or NULL when there is no such field.
 */
#ifndef LAPLACE_CONVERT_FIELDS_H
#define LAPLACE_CONVERT_FIELDS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <laplace/record.h>

#include "base/digits.h"

/* ---- lines, out ---- */

static inline char *put_hex_field(char *out, uint64_t value)
{
	*out++ = ' ';
	return lpl_put_hex(out, value);
}

/* At least so many digits, with leading zeros. */
static inline char *put_hex_digits(char *out, uint64_t value, int least)
{
	for (int digits = value ? (67 - __builtin_clzll(value)) / 4 : 1; digits < least; digits++)
		*out++ = '0';
	return lpl_put_hex(out, value);
}

static inline char *put_decimal_field(char *out, uint64_t value)
{
	*out++ = ' ';
	return lpl_put_decimal(out, value);
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

static inline char *put_difference(char *out, uint64_t value, uint64_t before)
{
	*out++ = ' ';
	return lpl_put_difference(out, value, before);
}

/* ---- lines, in ---- */

static inline const char *scan_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* Does a field end before this byte? */
static inline bool scan_is_end(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The newline, when nothing but blanks stands before it; else NULL. */
static inline const char *scan_line_end(const char *at)
{
	at = scan_blanks(at);
	if (*at == '\r')
		at++;
	return *at == '\n' ? at : NULL;
}

/* Blanks, a number and the field's end.  Some write a 0x before it. */
static inline const char *scan_hex_field(const char *at, uint64_t *value)
{
	if (*at != ' ' && *at != '\t')
		return NULL;
	at = scan_blanks(at);
	if (*at == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	at = lpl_scan_hex(at, value);
	return at && scan_is_end(*at) ? at : NULL;
}

static inline const char *scan_decimal_field(const char *at, uint64_t *value)
{
	if (*at != ' ' && *at != '\t')
		return NULL;
	at = lpl_scan_decimal(scan_blanks(at), value);
	return at && scan_is_end(*at) ? at : NULL;
}

/* The space, or 0 for the one before; 00 is space 0 itself. */
static inline const char *scan_space_change(const char *at, uint64_t before, uint64_t *space)
{
	const char *start = scan_blanks(at);

	at = scan_hex_field(at, space);
	if (at && *space == 0 && at - start == 1)
		*space = before;
	return at;
}

/* `+ 3f` or `- 3f`, to be added to `before`; NULL, too, when the sum has no 64 bits. */
static inline const char *scan_difference(const char *at, uint64_t before, uint64_t *value)
{
	uint64_t magnitude = 0;
	char sign;

	if (*at != ' ' && *at != '\t')
		return NULL;
	at = scan_blanks(at);
	sign = *at++;
	if (sign != '+' && sign != '-')
		return NULL;
	at = scan_hex_field(at, &magnitude);
	*value = sign == '+' ? before + magnitude : before - magnitude;
	return at && (sign == '+' ? *value >= before : *value <= before) ? at : NULL;
}

/* enum lpl_type by its letter; LPL_TYPES: it is none's.  What the table leaves out is 0. */
static inline unsigned int scan_type(char letter)
{
	static const uint8_t type[256] = {
		['r'] = LPL_READ ^ LPL_TYPES, ['w'] = LPL_WRITE ^ LPL_TYPES,
		['i'] = LPL_FETCH ^ LPL_TYPES, ['p'] = LPL_WALK_READ ^ LPL_TYPES,
		['q'] = LPL_WALK_WRITE ^ LPL_TYPES,
	};

	return type[(uint8_t)letter] ^ LPL_TYPES;
}

/* ---- binary records, little-endian ---- */

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

/* Of so many bytes, 0 to 8; what is above them is not written. */
static inline char *put_le(char *out, uint64_t value, size_t bytes)
{
	value = htole64(value);
	memcpy(out, &value, bytes);
	return out + bytes;
}

static inline uint64_t scan_le(const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, at, bytes);
	return le64toh(value);
}

static inline uint16_t scan_le16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static inline uint32_t scan_le32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static inline uint64_t scan_le64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

#endif
