/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a recipe from a trace's header.
 */
#include "recipe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trace_kind.h"

/* The header has it with its newlines as \n. */
static const char *next_line(const char *line)
{
	const char *end = line;

	while (*end && !(end[0] == '\\' && end[1] == 'n'))
		end += end[0] == '\\' && end[1] ? 2 : 1;
	return end;
}

char *recipe_text(const struct lpl_meta *meta)
{
	const char *machine = lpl_meta_get(meta, LPL_META_MACHINE);
	char *text = machine ? malloc(strlen(machine) + 1) : NULL;
	size_t used = 0;

	for (const char *line = text ? machine : ""; *line;) {
		const char *end = next_line(line);
		size_t length = (size_t)(end - line);

		if (length > 3 && strncmp(line, "#: ", 3) == 0) {
			memcpy(text + used, line + 3, length - 3);
			used += length - 3;
			text[used++] = '\n';
		} else if (used && length > 4 && strncmp(line, "#:+ ", 4) == 0) {
			used--;		/* the newline */
			memcpy(text + used, line + 4, length - 4);
			used += length - 4;
			text[used++] = '\n';
		}
		line = *end ? end + 2 : end;
	}
	if (text)
		text[used] = '\0';
	if (used)
		return text;
	free(text);
	return NULL;
}

bool recipe_was_derived(const struct lpl_meta *meta)
{
	return lpl_meta_get(meta, LPL_META_SOURCE) || cli_trace_kind(meta).is_canonical;
}

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void recipe_decode(char *value)
{
	char *to = value;

	for (const char *from = value; *from; from++) {
		int high = *from == '%' ? digit(from[1]) : -1;
		int low = high >= 0 ? digit(from[2]) : -1;

		if (high >= 0 && low >= 0) {
			*to++ = (char)(high * 16 + low);
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}
