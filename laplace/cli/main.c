/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace: the command.  Finds the subcommand and hands over to it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *title;	/* argv[0] of the subcommand */
	const char *summary;
} commands[] = {
	{ "record", cmd_record, "laplace record", "run a machine and collect a trace of it" },
	{ "info", cmd_info, "laplace info", "tell what is in a trace" },
	{ "cat", cmd_cat, "laplace cat", "print a trace's records as text" },
	{ "import", cmd_import, "laplace import", "make a trace of another program's" },
	{ "export", cmd_export, "laplace export", "write a trace in another format" },
	{ "reduce", cmd_reduce, "laplace reduce", "drop references that simulations do not need" },
	{ "merge", cmd_merge, "laplace merge", "give references their canonical pages" },
	{ "sim", cmd_sim, "laplace sim", "count the faults of replacement policies" },
	{ "report", cmd_report, "laplace report", "tell on one page what ran and what memory it used" },
	{ "study", cmd_study, "laplace study", "measure what reductions save and what they cost" },
	{ "plot", cmd_plot, "laplace plot", "draw the results of sim, and what report tells" },
	{ "verify", cmd_verify, "laplace verify", "check that a trace is whole" },
};

static void print_usage(FILE *file)
{
	fputs("Usage: laplace SUBCOMMAND [OPTION...] [FILE...]\n"
	      "       laplace help SUBCOMMAND\n"
	      "       laplace --version\n\n"
	      "Collect and study whole-system memory traces.\n\n", file);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fputs("\n`laplace SUBCOMMAND --help' tells the options.  `-' is standard input or output.\n"
	      "Exit status: 0 done, 1 failed, 2 usage, 3 the input is damaged.\n", file);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

/* A pipe whose reader went away. */
static bool reader_is_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/*
 * What was printed must have arrived: a full disk is told, also when it was
 * argp that printed and ended the program.
 */
static void check_stdout(void)
{
	/* errno of an earlier write may be gone */
	bool failed = ferror(stdout);

	errno = 0;
	failed |= fflush(stdout) != 0;
	if (failed && !reader_is_gone()) {
		cli_complain(CLI_FAILED, "standard output: %s",
			     errno ? strerror(errno) : "could not be written");
		_Exit(CLI_FAILED);
	}
}

static int run_command(const struct command *command, int argc, char **argv)
{
	static char name[32];

	/* argp and error messages say who speaks */
	snprintf(name, sizeof(name), "%s", command->title);
	argv[0] = name;
	program_invocation_name = name;
	return command->run(argc, argv);
}

static int run_help(int argc, char **argv)
{
	char help[] = "--help";
	char *help_argv[] = { NULL, help, NULL };
	const struct command *command;

	if (argc < 3) {
		print_usage(stdout);
		return CLI_DONE;
	}
	command = find_command(argv[2]);
	if (!command)
		return cli_complain(CLI_USAGE, "no subcommand '%s'; try `laplace --help'",
				    argv[2]);
	return run_command(command, 2, help_argv);
}

int main(int argc, char **argv)
{
	static char name[] = "laplace";
	const struct command *command;

	/* a reader of our output that goes away is met as EPIPE, quietly */
	signal(SIGPIPE, SIG_IGN);
	/* a file that may grow no further (ulimit -f) is met as EFBIG, and told */
	signal(SIGXFSZ, SIG_IGN);
	argp_err_exit_status = CLI_USAGE;
	argp_program_version = "laplace " PACKAGE_VERSION;
	program_invocation_name = name;
	atexit(check_stdout);

	if (argc < 2) {
		print_usage(stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0 ||
	    strcmp(argv[1], "-h") == 0) {
		print_usage(stdout);
		return CLI_DONE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts(argp_program_version);
		return CLI_DONE;
	}
	if (strcmp(argv[1], "help") == 0)
		return run_help(argc, argv);
	command = find_command(argv[1]);
	if (!command)
		return cli_complain(CLI_USAGE, "no subcommand '%s'; try `laplace --help'",
				    argv[1]);
	return run_command(command, argc - 1, argv + 1);
}
