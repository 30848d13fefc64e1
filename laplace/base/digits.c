/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as text: the table of digits, and whole strings.  What is hot is in digits.h. */
#include "digits.h"

#define NONE10 16, 16, 16, 16, 16, 16, 16, 16, 16, 16
#define NONE16 NONE10, 16, 16, 16, 16, 16, 16
#define LETTERS16 16, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16

const uint8_t lpl_digit[256] = {
	NONE16, NONE16, NONE16,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 16, 16, 16, 16, 16,
	LETTERS16, NONE16,
	LETTERS16, NONE16,
	NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16,
};

bool lpl_parse_decimal(const char *text, uint64_t *value)
{
	const char *end = lpl_scan_decimal(text, value);

	return end != NULL && *end == '\0';
}

bool lpl_parse_hex(const char *text, uint64_t *value)
{
	const char *end;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	end = lpl_scan_hex(text, value);
	return end != NULL && *end == '\0';
}
