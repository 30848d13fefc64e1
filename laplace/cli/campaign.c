/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace campaign: its options.  The rest is python/laplace/campaign. */
#include <stdlib.h>

#include "commands.h"
#include "find.h"
#include "options.h"
#include "python.h"
#include "say.h"

#define MOST_JOBS 1024		/* at once */

struct options {
	struct python_words words;
	bool file, dry_run, gather, job, slurm, submit, json;
	enum cli_when progress;
};

enum { KEY_DRY_RUN = 256, KEY_GATHER, KEY_JOB, KEY_SLURM, KEY_SUBMIT };

static const struct argp_option option_table[] = {
	{ "output", 'o', "DIR", 0,
	  "The directory of results (that of FILE, named after it: .results)", 0 },
	{ "jobs", 'J', "N", 0, "Jobs at once (one for each processor)", 0 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "Only list the jobs, and which of them are done", 0 },
	{ "gather", KEY_GATHER, NULL, 0,
	  "Only gather what is done into the table and the report", 0 },
	{ "job", KEY_JOB, "JOB", 0, "Only make this one, by its number or identity", 0 },
	{ "slurm", KEY_SLURM, "OPTIONS", OPTION_ARG_OPTIONAL,
	  "Write scripts for Slurm instead, with these options of sbatch", 0 },
	{ "submit", KEY_SUBMIT, NULL, 0, "With --slurm: submit them as well", 0 },
	{ 0 }
};

static void check_options(struct options *options, struct argp_state *state)
{
	int ways = options->dry_run + options->gather + options->job + options->slurm;

	if (!options->file)
		argp_error(state, "which campaign?");
	if (ways > 1)
		argp_error(state, "--dry-run, --gather, --job and --slurm exclude each other");
	if (options->submit && !options->slurm)
		argp_error(state, "--submit is for --slurm");
	if (options->json)
		python_add(&options->words, "json", "yes", state);
	python_add_progress(&options->words, options->progress, state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->json;
		state->child_inputs[1] = &options->progress;
		return 0;
	case 'o':
		python_add(&options->words, "output", arg, state);
		return 0;
	case 'J':
		if (cli_number(state, "--jobs", arg, 1) > MOST_JOBS)
			argp_error(state, "--jobs is at most %d", MOST_JOBS);
		python_add(&options->words, "jobs", arg, state);
		return 0;
	case KEY_DRY_RUN:
		options->dry_run = true;
		python_add(&options->words, "dry-run", "yes", state);
		return 0;
	case KEY_GATHER:
		options->gather = true;
		python_add(&options->words, "gather", "yes", state);
		return 0;
	case KEY_JOB:
		options->job = true;
		python_add(&options->words, "job", arg, state);
		return 0;
	case KEY_SLURM:
		options->slurm = true;
		python_add(&options->words, "slurm", arg ? arg : "", state);
		return 0;
	case KEY_SUBMIT:
		options->submit = true;
		python_add(&options->words, "submit", "yes", state);
		return 0;
	case ARGP_KEY_ARG:
		if (options->file)
			argp_error(state, "one campaign at a time");
		options->file = true;
		python_add(&options->words, "file", arg, state);
		return 0;
	case ARGP_KEY_END:
		check_options(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &cli_json_argp, 0, NULL, 0 }, { &cli_progress_argp, 0, NULL, 0 }, { 0 }
};
static const struct argp argp = {
	option_table, parse_option, "FILE",
	"Make the runs, reductions and simulations that FILE asks for, and gather what comes of them."
	"\v"
	"What is done is never made again: run it again after a failure, or an interruption, for "
	"the rest.  "
	"A job is done when its result is there, and is another one when anything that goes into "
	"it changes.  "
	"A job that fails does not stop the others.  "
	"Exit status: 0 all is done, 1 something is not, 2 wrong usage, or FILE is wrong, "
	"3 a result is damaged.",
	children, NULL, NULL
};

int cmd_campaign(int argc, char **argv)
{
	struct options options = { .progress = CLI_AUTO };
	char *bochs = find_bochs_quietly();

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	/* whose hash goes into jobs that run it */
	if (bochs)
		python_add(&options.words, "bochs", bochs, NULL);
	free(bochs);
	return python_become("campaign", &options.words);
}
