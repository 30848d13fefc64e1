/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long a second of the guest's is: what its machine says. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include <laplace/select.h>

#include "base/digits.h"

/*
 * A line of a bochsrc, as LPL_META_MACHINE has it (\n is a newline, \\ a backslash), without
 * blanks, quotes and the comment that # begins.  Returns what follows it.
 */
static const char *next_line(const char *text, char *line, size_t size)
{
	bool is_quoted = false, is_comment = false;
	size_t used = 0;

	for (; *text; text++) {
		if (text[0] == '\\' && text[1] == 'n') {
			text += 2;
			break;
		}
		if (text[0] == '\\' && text[1])
			text++;
		if (*text == '"')
			is_quoted = !is_quoted;
		else if (*text == '#' && !is_quoted)
			is_comment = true;
		else if (!is_comment && (is_quoted || !isspace((unsigned char)*text)) &&
			 used + 1 < size)
			line[used++] = *text;
	}
	line[used] = '\0';
	return text;
}

uint64_t lpl_cycles_a_second(const struct lpl_meta *meta)
{
	const char *machine = lpl_meta_get(meta, LPL_META_MACHINE);
	char line[512], *rest, *parameter;
	uint64_t cycles = 0;

	while (machine && *machine) {
		machine = next_line(machine, line, sizeof(line));
		if (strncmp(line, "cpu:", 4) != 0)
			continue;
		for (rest = line + 4; (parameter = strsep(&rest, ","));) {
			if (strncmp(parameter, "ips=", 4) == 0 &&
			    !lpl_scan_decimal(parameter + 4, &cycles))
				cycles = 0;
		}
	}
	return cycles;
}
