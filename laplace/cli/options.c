/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options that several subcommands have; see options.h. */

#include "base/host.h"
#include "options.h"

const struct cli_option cli_json_options[] = {
	{ "json", CLI_FLAG, 'j', .size = sizeof(bool), .help = "Report in JSON" },
	{ 0 }
};
const struct cli_option cli_progress_options[] = {
	{ "progress", CLI_WORD, 'P', .size = sizeof(enum cli_when), .argument = "WHEN",
	  .words = "auto always never",
	  .help = "Show progress on stderr: auto (on a terminal), always, never" },
	{ 0 }
};
const struct cli_option cli_overwrite_options[] = {
	{ "overwrite", CLI_FLAG, 'O', .size = sizeof(bool),
	  .help = "Replace an existing output file" },
	{ 0 }
};
const struct cli_option cli_jobs_options[] = {
	{ "jobs", CLI_NUMBER, 'J', .size = sizeof(unsigned int), .argument = "N", .least = 1, .most = 1024,
	  .help = "Threads that work (one for each processor)" },
	{ 0 }
};

unsigned int cli_jobs(unsigned int asked)
{
	return asked ? asked : lpl_processors();
}
