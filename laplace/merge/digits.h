/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as text, by hand: a trace has hundreds of millions of them. */
#ifndef LAPLACE_MERGE_DIGITS_H
#define LAPLACE_MERGE_DIGITS_H

#include <stdint.h>

#define HEX_DIGITS 16
#define DECIMAL_DIGITS 20

/* At most HEX_DIGITS bytes; returns what follows them. */
static inline char *put_hex(char *out, uint64_t value)
{
	int shift = value != 0 ? (63 - __builtin_clzll(value)) & ~3 : 0;

	for (; shift >= 0; shift -= 4)
		*out++ = "0123456789abcdef"[value >> shift & 15];
	return out;
}

/* At most DECIMAL_DIGITS bytes. */
static inline char *put_decimal(char *out, uint64_t value)
{
	char digits[DECIMAL_DIGITS];
	int count = 0;

	do
		digits[count++] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	while (count > 0)
		*out++ = digits[--count];
	return out;
}

#endif
