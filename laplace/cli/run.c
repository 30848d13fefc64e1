/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace run: a program of this machine, traced in a guest; laplace doctor: is all here that this
 * needs?  Bringing a program and a guest together is the work of scripts (guest-program), one of
 * which becomes this process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "commands.h"
#include "find.h"
#include "guest_options.h"
#include "option_table.h"
#include "say.h"

/* As of env(1), nohup(1) ...: what the program itself says may be any other. */
#define CANNOT 125

/*
 * The command line as the script takes it: every option as --NAME or --NAME=VALUE, defaults first, then -- and
 * the program with its arguments.
 */
struct command_line {
	char **words;			/* the first is the script's own name */
	size_t count, room;
	char **program;
};

static _Noreturn void no_memory(void)
{
	exit(cli_complain(CANNOT, "no memory"));
}

static void add(struct command_line *line, char *word)
{
	if (!word || !lpl_reach(line->words, line->room, line->count + 1))
		no_memory();
	line->words[line->count++] = word;
}

static void hand_on(struct argp_state *state, const struct cli_option *option, const char *value,
		    void *config)
{
	char number[CLI_GUEST_NUMBER], *word;

	value = cli_guest_value(state, option, value, number);
	add(config, asprintf(&word, "--%s%s%s", option->name, value ? "=" : "", value ? value : "") < 0 ?
	    NULL : word);
}

static void check(struct argp_state *state, void *config)
{
	const struct command_line *line = config;
	const char *const all[] = { "--memory", NULL }, *const usable[] = { "--usable-memory", NULL };

	if (!line->program || !*line->program)
		argp_error(state, "no program is named");
	if (cli_given(state, all) && cli_given(state, usable))
		argp_error(state, "--memory is all of the guest's, --usable-memory the program's: one of them");
}

static const struct cli_option option_table[] = {
	{ "clear-env", CLI_FLAG,
	  .help = "Hand on nothing of this environment but what --env sets, so that "
	  "it is the same everywhere" },
	{ "cold", CLI_FLAG,
	  .help = "Boot the guest and make its disk, and begin with nothing that earlier runs left" },
	{ "control", CLI_FILE, .argument = "SOCKET",
	  .help = "Let `laplace ctl SOCKET' steer the run" },
	{ "events", CLI_WORD, .argument = "SET", .words = "reclaim lists",
	  .help = "Report events that are not reported always: reclaim, what the guest's kernel "
	  "reclaims for want of memory, and what comes back; lists, each page's way through the "
	  "kernel's lists, too", .wrong = "%n: '%s' is none of %a" },
	{ "init", CLI_FLAG,
	  .help = "Boot the --root's own systemd, and run the program when it has reached "
	  "its default target" },
	CLI_GUEST_LIMITED("jobs", 1, 1024, .letter = 'J', .argument = "N",
	  .help = "Trace in N processes at a time: one runs the machine and counts, and the others write segments, from "
	  "where it forks them; needs -r none"),
	{ "keep", CLI_FILE, .argument = "PATH",
	  .help = "Bring a file back that the program wrote", .repeated = true },
	CLI_GUEST_LIMITED("level", 1, 19, .letter = 'l', .argument = "N",
	  .help = "Compression level of zstd, %l to %m (3)"),
	CLI_GUEST_LIMITED("linger", 0, 1000000, .argument = "SECONDS",
	  .help = "Let what the program leaves running go on for so long, in the guest's time (%d: "
	  "it ends at once)", .standard = "0"),
	CLI_GUEST_LIMITED("memory", 80, 65536, .letter = 'm', .argument = "MIB",
	  .help = "The guest's memory (%d); its kernel takes some 60 MiB of it, and 3 % of what "
	  "is more than 80", .standard = "512"),
	{ "observe", CLI_FILE, .argument = "LIST", .optional = true,
	  .help = "Run the program here first, under strace, and take along what it looked at; a "
	  "list of that is left in LIST (TRACE.observed)" },
	{ "only", CLI_CHAIN, .argument = "CHOICE", .words = "children user kernel",
	  .help = "Record only some of the references, chosen before they are reduced: "
	  "process:NAME, children, user ... joined by + signs, as laplace record takes it" },
	{ "output", CLI_FILE, 'o', .argument = "TRACE",
	  .help = "The trace to write (PROGRAM.lpl); -: to standard output, as it is made, and what the "
	  "program prints to standard error" },
	{ "overwrite", CLI_FLAG, 'O',
	  .help = "Replace an existing trace, and files that are kept" },
	CLI_GUEST_LIMITED("print-limit", 1, 1000000, .argument = "MIB",
	  .help = "What the program may print, at most (%d)", .standard = "4096"),
	{ "progress", CLI_WORD, 'P', .argument = "WHEN", .words = "auto always never",
	  .help = "Show progress on stderr: auto (on a terminal), always, never",
	  .wrong = "%n: '%s' is none of %a" },
	{ "quiet", CLI_FLAG, 'q', .help = "Print nothing but what the program prints" },
	{ "reduce", CLI_CHAIN, 'r', .argument = "SPEC", .words = "none sad:64 window:64",
	  .help = "What to keep: none (everything), sad:K, window:K ... (%d)", .standard = "sad:64" },
	{ "status-file", CLI_FILE, .argument = "PATH",
	  .help = "Append the status to this file now and then, a JSON object a line" },
	CLI_GUEST_LIMITED("usable-memory", 32, 60000, .argument = "MIB",
	  .help = "Give the guest so much memory that this is available to the program when it "
	  "begins, and no more"),
	{ "physical", CLI_FLAG, .help = "Record where in physical memory references go, too" },
	{ "code", CLI_FLAG, .help = "Record the bytes of the instructions that are executed, too, and what "
	       "--physical does" },
	{ "walks", CLI_FLAG, .help = "Record page-table walks, too" },
	{ "whole", CLI_FLAG, 'w',
	  .help = "Trace from power-on, and not just from the program's exec, to its end" },
	{ .type = CLI_TABLE, .table = cli_guest_options },
	{ .type = CLI_EACH, .take = hand_on },
	{ .type = CLI_PROGRAM, .argument = "PROGRAM", CLI_INTO(struct command_line, program) },
	{ .type = CLI_CHECK, .check = check },
	{ 0 }
};
static const struct cli_usage usage = {
	"[--] PROGRAM [ARGUMENT...]",
	"Run a program of this machine in a guest, and collect a trace of it."
	"\v"
	"The program runs as this user, in this directory, with standard input (unless it is a terminal), its "
	"output and its exit status handed on.  Of this machine it finds what it is linked to, what its "
	"package needs, what it imports (Python), the files that are among its arguments, and what --with, "
	"--here and --observe bring; what it writes is lost but for what --keep names.\n"
	"Exit status: the program's; 125 if it was not run, or not traced to its end.",
	option_table, ARGP_IN_ORDER
};

/* -h, as of laplace itself, and --help. */
static void parse(const struct cli_usage *how, int argc, char **argv, void *config)
{
	char help[] = "--help";

	if (argc == 2 && strcmp(argv[1], "-h") == 0)
		argv[1] = help;
	cli_parse(how, argc, argv, config);
}

static void check_stdout(void)
{
	cli_end_stdout(CANNOT);
}

int cmd_run(int argc, char **argv)
{
	struct command_line line = { .count = 1 };
	char end[] = "--";
	char *bochs;

	argp_err_exit_status = CANNOT;
	atexit(check_stdout);
	parse(&usage, argc, argv, &line);
	bochs = find_bochs_quietly();
	/* the trace has its hash */
	if (bochs && setenv("LAPLACE_BOCHS", bochs, 1) < 0)
		no_memory();
	free(bochs);
	add(&line, end);
	for (char **word = line.program; *word; word++)
		add(&line, *word);
	return cli_become("guest-program/run", line.words, CANNOT);
}

struct doctor_options {
	bool clear;
};

static const struct cli_option doctor_options[] = {
	{ "clear", CLI_FLAG, CLI_INTO(struct doctor_options, clear),
	  .help = "Remove what earlier runs left for later ones, guests that have booted, disks and runs, unless it is in use" },
	{ 0 }
};
static const struct cli_usage doctor_usage = {
	NULL,
	"Say whether all is here that `laplace run' and `laplace record' need, and how what is missing is brought."
	"\v"
	"Exit status: 0 nothing is missing, 1 something is.",
	doctor_options, 0
};

int cmd_doctor(int argc, char **argv)
{
	static char clear[] = "--clear";
	struct doctor_options options = { 0 };
	char *words[] = { argv[0], NULL, NULL };
	char *bochs;

	parse(&doctor_usage, argc, argv, &options);
	if (options.clear)
		words[1] = clear;
	bochs = find_bochs_quietly();
	if (setenv("LAPLACE_BOCHS", bochs ? bochs : "", 1) < 0)
		return cli_complain(CLI_FAILED, "no memory");
	free(bochs);
	return cli_become("guest-program/doctor", words, CLI_FAILED);
}
