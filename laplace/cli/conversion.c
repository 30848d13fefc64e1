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

int cli_check_format(const struct lpl_format *format, const struct lpl_choice_options *choice,
		   bool converted, const char *path)
{
	const unsigned int traits = lpl_format_traits(format);

	if (converted && traits & LPL_FORMAT_CODE)
		return cli_complain(CLI_USAGE, "%s: %s has the addresses that were used: without --addresses", path,
				    lpl_format_name(format));
	if (!(traits & LPL_FORMAT_HITS))
		return CLI_DONE;
	if (lpl_choice_chooses(choice))
		return cli_complain(CLI_USAGE, "%s: hits and evictions are those of one memory that all "
				    "references go to: `laplace reduce -m none' with this choice, and then "
				    "`-m annotated:K', makes those of a part", path);
	if (converted)
		return cli_complain(CLI_USAGE, "%s: hits and evictions are of a memory of the trace's own "
				    "pages: --addresses virtual", path);
	return CLI_DONE;
}
