/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace study: its options.  The rest is python/laplace/study. */
#include "addresses.h"
#include "commands.h"
#include "options.h"
#include "python.h"

struct options {
	struct python_words words;
	unsigned int jobs, factor, sizes;
	bool overwrite, json;
	enum cli_when progress;
	enum cli_addresses addresses;
};

static const struct cli_option option_table[] = {
	{ "output", CLI_DIRECTORY, 'o', .argument = "DIR",
	  .help = "Where to put the tables and figures, as CSV" },
	{ "jobs", CLI_NUMBER, 'J', CLI_INTO(struct options, jobs), .argument = "N", .least = 1, .most = 1024,
	  .help = "Threads (as many as there are processors)" },
	{ "factor", CLI_NUMBER, CLI_INTO(struct options, factor), .argument = "N", .least = 2, .most = 1000,
	  .standard = "100", .help = "How many times smaller the traces of figures 3 to 6 are, %l to %m (%d)" },
	{ "sizes", CLI_NUMBER, CLI_INTO(struct options, sizes), .argument = "N", .least = 2, .most = 1000,
	  .standard = "40", .help = "How many sizes of memory are simulated (%d)" },
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	CLI_WITH(addresses, struct options, addresses),
	{ .name = "trace", .type = CLI_ARGUMENT, .argument = "TRACE", .repeated = true,
	  .wrong = "which traces?" },
	{ .type = CLI_EACH, .take = python_take },
	{ 0 }
};
static const struct cli_usage usage = {
	"TRACE...",
	"Reduce each TRACE by SAD, OLR and stack deletion, over a range of K; simulate CLOCK "
	"and SEGQ on the results; and print how far and how well that works: the tables and "
	"figures of the paper that brought SAD and OLR."
	"\v"
	"A TRACE is read several times, and has to be unreduced, or reduced by `block'.  See "
	"laplace-study(1).",
	option_table, 0
};

int cmd_study(int argc, char **argv)
{
	struct options options = { .words.count = 0 };

	cli_parse(&usage, argc, argv, &options);
	return python_become("study", &options.words);
}
