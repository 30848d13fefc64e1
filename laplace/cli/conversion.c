/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cat, export and import have in common; see conversion.h. */
#include <stdio.h>
#include <string.h>

#include "conversion.h"
#include "say.h"

const struct lpl_format *cli_format(struct argp_state *state, const struct cli_option *option,
				    const char *name)
{
	(void)cli_word(state, option, name);
	return lpl_format_find(name);
}

void cli_warn(const char *path, char *text)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		cli_complain(0, "warning: %s: %s", path, line);
}
