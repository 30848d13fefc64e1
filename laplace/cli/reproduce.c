/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace reproduce: make a trace again from its own header.  What would be run is shown here, and
 * what is not as it was (rerun.c); to run it, and to compare, is the work of a script
 * (guest-program/reproduce).
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
#include "rerun.h"
#include "say.h"

struct options {
	const char *trace, *output, *kernel;
	bool run, anyway, overwrite;
};

static const struct cli_option option_table[] = {
	{ "run", CLI_FLAG, CLI_INTO(struct options, run),
	  .help = "Run it, and compare the traces; without this, only what would be run is shown, "
	  "and what is not as it was"},
	{ "anyway", CLI_FLAG, CLI_INTO(struct options, anyway),
	  .help = "Run it even if something is not as it was" },
	{ "kernel", CLI_DIRECTORY, CLI_INTO(struct options, kernel), .argument = "PACKAGE|DIR",
	  .help = "The guest's kernel, as laplace run has it, instead of that in the header, "
	  "which is not taken where it is a directory"},
	{ "output", CLI_FILE, 'o', CLI_INTO(struct options, output), .argument = "TRACE2",
	  .help = "The trace to write (TRACE.again)" },
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_TRACE_ARGUMENT(struct options, trace),
	{ 0 }
};
static const struct cli_usage usage = {
	"TRACE",
	"Make TRACE again, which `laplace run' left, from what its header says, and compare."
	"\v"
	"The program is run in a guest, as before; but files of this machine that the header names are "
	"taken into it, and a trace may come from anybody: so look at what is shown before you say --run.  "
	"Standard input is that of the run, if it had one.  "
	"Exit status: 0 the traces are the same (without --run: the files that it names are as they were), 1 they are not, 2 usage, "
	"3 it cannot be made again here.",
	option_table, 0
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

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int become_script(const struct options *options, const struct rerun *rerun, const char *recipe,
			 size_t differences)
{
	const char *fixed[] = {
		NULL, recipe, options->trace, options->output, options->anyway ? "anyway" : "",
		options->overwrite ? "overwrite" : "", differences ? "differs" : "",
		or_empty(rerun->directory), or_empty(rerun->input_bytes), or_empty(rerun->input_hash)
	};
	size_t used = sizeof(fixed) / sizeof(fixed[0]);
	/* and "--", the arguments' end, and what is before them */
	size_t all = used + rerun->options.count + rerun->arguments.count + 2;
	char **words = calloc(all, sizeof(*words));

	if (!words)
		return cli_complain(CLI_FAILED, "no memory");
	memcpy(words, fixed, sizeof(fixed));
	for (size_t i = 0; i < rerun->options.count; i++)
		words[used++] = rerun->options.word[i];
	words[used++] = "--";
	for (size_t i = 0; i < rerun->arguments.count; i++)
		words[used++] = rerun->arguments.word[i];
	used = (size_t)cli_become("guest-program/reproduce", words, CLI_FAILED);
	free(words);
	return (int)used;
}

static int carry_out(const struct options *options, struct rerun *rerun, const char *recipe,
		     const char *bochs, bool derived)
{
	int status = rerun_choose_kernel(rerun, options->kernel);
	size_t differences;
	bool untrusted;

	if (status)
		return status;
	rerun_show(rerun);
	differences = rerun_check(rerun, bochs, &untrusted);
	if (derived)
		return cli_complain(CLI_DAMAGED, "%s was derived (laplace reduce, laplace merge) "
				    "from the trace that this makes", options->trace);
	if (!options->run && !differences)
		puts("the files that the trace names are present and unchanged; --run makes the "
		     "guest, checks that it is unchanged, too, and runs it");
	if (!options->run || untrusted)
		return differences ? CLI_DAMAGED : CLI_DONE;
	fflush(stdout);
	return become_script(options, rerun, recipe, differences);
}

int cmd_reproduce(int argc, char **argv)
{
	struct options options = { 0 };
	struct rerun rerun = { 0 };
	struct lpl_reader *reader;
	char path[64], output[4096];
	char *bochs = find_bochs_quietly();
	char *recipe;
	bool derived;
	int status;

	cli_parse(&usage, argc, argv, &options);
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
		;	/* reported */
	else if (!recipe)
		status = cli_complain(CLI_DAMAGED, "%s: does not say what it was made of; only traces "
				      "that laplace run left do", options.trace);
	else
		status = hand_over(path, recipe);
	if (!status && bochs && setenv("LAPLACE_BOCHS", bochs, 1) < 0)
		status = cli_complain(CLI_FAILED, "no memory");
	if (!status)
		status = rerun_read(&rerun, recipe, options.trace);
	if (!status)
		status = carry_out(&options, &rerun, path, bochs, derived);
	rerun_free(&rerun);
	free(recipe);
	free(bochs);
	return status;
}
