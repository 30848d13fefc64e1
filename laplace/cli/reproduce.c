/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace reproduce: make a trace again from its own header.  What is to be run is handed to a
 * script (guest-program/reproduce), which shows it, and runs it when it is told to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "commands.h"
#include "find.h"
#include "options.h"
#include "pass.h"
#include "recipe.h"
#include "replace.h"
#include "say.h"

struct options {
	const char *trace, *output, *kernel;
	bool run, anyway, overwrite;
};

enum { OPT_RUN = 256, OPT_ANYWAY, OPT_KERNEL };

static const struct argp_option option_table[] = {
	{ "run", OPT_RUN, NULL, 0, "Run it, and compare the traces; without this, only what would be run "
	  "is told, and what is not as it was", 0 },
	{ "anyway", OPT_ANYWAY, NULL, 0, "Run it even if something is not as it was", 0 },
	{ "kernel", OPT_KERNEL, "PACKAGE|DIR", 0, "The guest's kernel, as laplace run has it, instead of that in "
	  "the header, which is not taken where it is a directory", 0 },
	{ "output", 'o', "TRACE2", 0, "The trace to write (TRACE.again)", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->overwrite;
		return 0;
	case OPT_RUN:
		options->run = true;
		return 0;
	case OPT_ANYWAY:
		options->anyway = true;
		return 0;
	case OPT_KERNEL:
		options->kernel = arg;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (options->trace)
			argp_error(state, "one trace at a time");
		options->trace = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->trace)
			argp_error(state, "which trace?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &cli_overwrite_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	option_table, parse_option, "TRACE",
	"Make TRACE again, which `laplace run' left, from what its header tells, and compare."
	"\v"
	"The program is run in a guest, as before; but files of this machine that the header names are "
	"taken into it, and a trace may come from anybody: so look at what is told before you say --run.  "
	"Standard input is that of the run, if it had one.  "
	"Exit status: 0 the traces are the same (without --run: the files that it names are as they were), 1 they are not, 2 usage, "
	"3 it cannot be made again here.",
	children, NULL, NULL
};

/* A file of the recipe's lines that the script inherits, as a path; an exit status. */
static int hand_over(char path[64], const char *recipe)
{
	int fd = memfd_create("recipe", 0);
	size_t length = strlen(recipe);

	if (fd < 0 || write(fd, recipe, length) != (ssize_t)length)
		return cli_complain(CLI_FAILED, "the recipe: %s", strerror(errno));
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return CLI_DONE;
}

int cmd_reproduce(int argc, char **argv)
{
	struct options options = { 0 };
	struct lpl_reader *reader;
	char path[64], output[4096];
	char *bochs = find_bochs_quietly();
	char *recipe;
	bool derived;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	status = cli_reader_open(&reader, options.trace);
	if (status) {
		free(bochs);
		return status;
	}
	recipe = recipe_text(lpl_reader_meta(reader));
	derived = recipe_was_derived(lpl_reader_meta(reader));
	lpl_reader_close(reader);
	if (!options.output) {
		snprintf(output, sizeof(output), "%s.again", options.trace);
		options.output = output;
	}
	status = cli_refuse_input(options.output, options.trace);
	if (status)
		;	/* told */
	else if (!recipe)
		status = cli_complain(CLI_DAMAGED, "%s: does not tell what it was made of; only traces that "
				      "laplace run left do", options.trace);
	else
		status = hand_over(path, recipe);
	if (!status && bochs && setenv("LAPLACE_BOCHS", bochs, 1) < 0)
		status = cli_complain(CLI_FAILED, "no memory");
	if (!status) {
		char *arguments[] = {
			NULL, path, (char *)options.trace, (char *)options.output,
			options.run ? "run" : "", options.anyway ? "anyway" : "",
			options.overwrite ? "overwrite" : "", derived ? "derived" : "",
			(char *)(options.kernel ? options.kernel : ""), NULL
		};

		status = cli_become("guest-program/reproduce", arguments, CLI_FAILED);
	}
	free(recipe);
	free(bochs);
	return status;
}
