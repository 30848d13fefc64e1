/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An event's text, read back from how lpl_text_escape() writes it. */
#ifndef LAPLACE_RECORD_UNESCAPE_H
#define LAPLACE_RECORD_UNESCAPE_H

#include <stdbool.h>

#include <laplace/record.h>

#include "base/digits.h"

/* false: it is malformed, or longer than an event's text. */
static inline bool lpl_text_unescape(struct lpl_event *event, const char *at, const char *end)
{
	uint32_t used = 0;

	while (at < end) {
		unsigned int high, low;

		if (used == KTR_TEXT)
			return false;
		if (*at != '\\') {
			event->text[used++] = *at++;
			continue;
		}
		if (end - at < 4 || at[1] != 'x')
			return false;
		high = lpl_digit[(uint8_t)at[2]];
		low = lpl_digit[(uint8_t)at[3]];
		if (high > 15 || low > 15)
			return false;
		event->text[used++] = (char)(high << 4 | low);
		at += 4;
	}
	event->text_length = used;
	return true;
}

#endif
