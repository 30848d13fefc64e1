/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers as text, out and in.  By hand where they are a trace's: it has hundreds of millions
 * of them.
 *
 * Reading does not look for the end of its memory: a byte that is no digit follows the digits,
 * a newline or the 0 of a string.  There are no signs, no leading blanks, no locale.
 */
#ifndef LAPLACE_BASE_DIGITS_H
#define LAPLACE_BASE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LPL_HEX_DIGITS 16	/* of the longest number */
#define LPL_DECIMAL_DIGITS 20

/* ---- out: each returns what follows the digits ---- */

static inline char *lpl_put_hex(char *out, uint64_t value)
{
	int shift = value != 0 ? (63 - __builtin_clzll(value)) & ~3 : 0;

	for (; shift >= 0; shift -= 4)
		*out++ = "0123456789abcdef"[value >> shift & 15];
	return out;
}

static inline char *lpl_put_decimal(char *out, uint64_t value)
{
	char digits[LPL_DECIMAL_DIGITS];
	int count = 0;

	do
		digits[count++] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	while (count > 0)
		*out++ = digits[--count];
	return out;
}

/* `+ 3f` or `- 3f`: from one number to the next */
static inline char *lpl_put_difference(char *out, uint64_t value, uint64_t before)
{
	const bool forward = value >= before;

	*out++ = forward ? '+' : '-';
	*out++ = ' ';
	return lpl_put_hex(out, forward ? value - before : before - value);
}

/* ---- in: each returns what follows the digits; NULL: none, or too many for 64 bits ---- */

extern const uint8_t lpl_digit[256];	/* of hexadecimal numbers; 16: none */

static inline const char *lpl_scan_hex(const char *at, uint64_t *value)
{
	const char *start = at;
	uint64_t number = 0;
	unsigned int digit;

	while ((digit = lpl_digit[(uint8_t)*at]) < 16) {
		if (number >> 60)
			return NULL;
		number = number << 4 | digit;
		at++;
	}
	*value = number;
	return at != start ? at : NULL;
}

static inline const char *lpl_scan_decimal(const char *at, uint64_t *value)
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

/* ---- a whole string: nothing but digits; "0x" may stand before hexadecimal ones ---- */

bool lpl_parse_decimal(const char *text, uint64_t *value);
bool lpl_parse_hex(const char *text, uint64_t *value);

#endif
