/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace: the command.  Finds the subcommand and hands over to it.
 */
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "say.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *title;	/* argv[0] of the subcommand */
	const char *summary;
} commands[] = {
#define COMMAND(name, summary) { #name, cmd_##name, "laplace " #name, summary },
	CLI_COMMANDS(COMMAND)
#undef COMMAND
};

/* What is a word of the command line is a name in C: there a dash is a line below. */
static void spell(char *text, size_t size, const char *name)
{
	snprintf(text, size, "%s", name);
	for (; *text; text++) {
		if (*text == '_')
			*text = '-';
	}
}

static void print_usage(FILE *file)
{
	char name[32];

	fputs("Usage: laplace SUBCOMMAND [OPTION...] [FILE...]\n"
	      "       laplace help SUBCOMMAND\n"
	      "       laplace --version\n\n"
	      "Collect and study whole-system memory traces.\n\n", file);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		spell(name, sizeof(name), commands[i].name);
		fprintf(file, "  %-15s %s\n", name, commands[i].summary);
	}
	fputs("\n`laplace SUBCOMMAND --help' lists the options.  `-' is standard input or output.\n"
	      "Exit status: 0 done, 1 failed, 2 usage, 3 the input is damaged.\n", file);
}

static const struct command *find_command(const char *name)
{
	char spelled[32];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		spell(spelled, sizeof(spelled), commands[i].name);
		if (strcmp(spelled, name) == 0)
			return &commands[i];
	}
	return NULL;
}

/* Also when it was argp that printed and ended the program. */
static void check_stdout(void)
{
	cli_end_stdout(CLI_FAILED);
}

static int run_command(const struct command *command, int argc, char **argv)
{
	static char name[32];

	/* argp's and our error messages begin with it */
	spell(name, sizeof(name), command->title);
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
	/* a file that may grow no further (ulimit -f) is met as EFBIG, and reported */
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
