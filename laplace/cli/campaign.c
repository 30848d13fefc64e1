/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace campaign: its options.  The rest is python/laplace/campaign. */
#include <stdlib.h>

#include "commands.h"
#include "find.h"
#include "options.h"
#include "python.h"

struct options {
	struct python_words words;
	unsigned int jobs;
	bool submit, json;
	enum cli_when progress;
};

static void check_ways(struct argp_state *state, void *config)
{
	static const char *const ways[] = { "--dry-run", "--gather", "--job", "--slurm" };
	const struct options *options = config;
	bool slurm = false;
	int given = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		slurm = cli_given(state, (const char *const[]){ ways[i], NULL });
		given += slurm;
	}
	if (given > 1)
		argp_error(state, "--dry-run, --gather, --job and --slurm exclude each other");
	if (options->submit && !slurm)
		argp_error(state, "--submit is for --slurm");
}

static const struct cli_option option_table[] = {
	{ "output", CLI_DIRECTORY, 'o', .argument = "DIR",
	  .help = "The directory of results (that of FILE, named after it: .results)" },
	{ "jobs", CLI_NUMBER, 'J', CLI_INTO(struct options, jobs), .argument = "N", .least = 1, .most = 1024,
	  .help = "Jobs at once (one for each processor)" },
	{ "dry-run", CLI_FLAG, .help = "Only list the jobs, and which of them are done" },
	{ "gather", CLI_FLAG, .help = "Only gather what is done into the tables and the report" },
	{ "job", CLI_TEXT, .argument = "JOB",
	  .help = "Only make this one, by its number or identity" },
	{ "slurm", CLI_TEXT, .argument = "OPTIONS", .optional = true,
	  .help = "Write scripts for Slurm instead, with these options of sbatch" },
	{ "submit", CLI_FLAG, CLI_INTO(struct options, submit), .help = "With --slurm: submit them as well" },
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	{ .name = "file", .type = CLI_ARGUMENT, .argument = "FILE", .wrong = "which campaign?",
	  .again = "one campaign at a time" },
	{ .type = CLI_CHECK, .check = check_ways },
	{ .type = CLI_EACH, .take = python_take },
	{ 0 }
};
static const struct cli_usage usage = {
	"FILE",
	"Make the runs, reductions and simulations that FILE asks for, and gather what comes of them."
	"\v"
	"What is done is never made again: run it again after a failure, or an interruption, for "
	"the rest.  "
	"A job is done when its result is there, and is another one when anything that goes into "
	"it changes.  "
	"A job that fails does not stop the others.  "
	"Exit status: 0 all is done, 1 something is not, 2 wrong usage, or FILE is wrong, "
	"3 a result is damaged.",
	option_table, 0
};

int cmd_campaign(int argc, char **argv)
{
	struct options options = { .words.count = 0 };

	cli_parse(&usage, argc, argv, &options);
	python_add_bochs(&options.words);
	return python_become("campaign", &options.words);
}
