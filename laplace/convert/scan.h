/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the fields of a line.  By hand: a trace has hundreds of millions of
 * lines.  Every line ends in a newline, which is no part of any field, so that
 * nothing here looks for the end of its memory.
 */
#ifndef LAPLACE_CONVERT_SCAN_H
#define LAPLACE_CONVERT_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

extern const uint8_t scan_digit[256];	/* of hexadecimal numbers; 16: none */

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

/* The digits that stand here, all of them; NULL: none, or too many for 64 bits. */
static inline const char *scan_hex(const char *at, uint64_t *value)
{
	const char *start = at;
	uint64_t number = 0;
	unsigned int digit;

	while ((digit = scan_digit[(uint8_t)*at]) < 16) {
		if (number >> 60)
			return NULL;
		number = number << 4 | digit;
		at++;
	}
	*value = number;
	return at != start ? at : NULL;
}

static inline const char *scan_decimal(const char *at, uint64_t *value)
{
	const char *start = at;
	uint64_t number = 0;
	unsigned int digit;

	while ((digit = (unsigned int)(uint8_t)*at - '0') < 10) {
		if (number >= UINT64_MAX / 10 && (number > UINT64_MAX / 10 || digit > 5))
			return NULL;
		number = number * 10 + digit;
		at++;
	}
	*value = number;
	return at != start ? at : NULL;
}

/* A field: blanks, a number and the field's end.  Some write a 0x before it. */
static inline const char *scan_hex_field(const char *at, uint64_t *value)
{
	if (*at != ' ' && *at != '\t')
		return NULL;
	at = scan_blanks(at);
	if (*at == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	at = scan_hex(at, value);
	return at && scan_is_end(*at) ? at : NULL;
}

static inline const char *scan_decimal_field(const char *at, uint64_t *value)
{
	if (*at != ' ' && *at != '\t')
		return NULL;
	at = scan_decimal(scan_blanks(at), value);
	return at && scan_is_end(*at) ? at : NULL;
}

/* r, w, i, p or q; LPL_TYPES: none of them */
extern const uint8_t scan_letter_type[256];

static inline unsigned int scan_type(char letter)
{
	return scan_letter_type[(uint8_t)letter];
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

/* ---- binary ---- */

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
