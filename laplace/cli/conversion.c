/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cat, export and import have in common; see conversion.h. */
#include <stdio.h>
#include <string.h>

#include "conversion.h"
#include "say.h"

const struct lpl_format *cli_format(struct argp_state *state, const char *name,
				    unsigned int without)
{
	const struct lpl_format *format = lpl_format_find(name);
	char list[LPL_FORMAT_LIST_SIZE];

	if (!format || (lpl_format_traits(format) & without))
		argp_error(state, "no format '%s': there are %s", name,
			   lpl_format_list(list, without, ", "));
	return format;
}

char *cli_format_help(const char *text, unsigned int without)
{
	char list[LPL_FORMAT_LIST_SIZE], *help;

	lpl_format_list(list, without, " or ");
	return asprintf(&help, "%s%s", list, text) < 0 ? NULL : help;
}

void cli_warn(const char *path, char *text)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		cli_complain(0, "warning: %s: %s", path, line);
}
