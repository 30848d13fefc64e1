/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace run: a program of this machine, traced in a guest; laplace doctor: is all here that this
 * needs?  Bringing a program and a guest together is the work of scripts (guest-program), one of
 * which becomes this process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digits.h"
#include "commands.h"
#include "find.h"
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
	struct command_line *line = config;
	char canonical[24];		/* without zeros before it */
	char *word;
	uint64_t number;

	if (value && !*value)
		argp_error(state, "--%s: nothing is named", option->name);
	if (option->type == CLI_WORD)
		(void)cli_word(state, option, value);
	if (option->type == CLI_NUMBER &&
	    (!lpl_parse_decimal(value, &number) || number < option->least || number > option->most))
		cli_wrong(state, option, value);
	if (option->type == CLI_NUMBER) {
		snprintf(canonical, sizeof(canonical), "%" PRIu64, number);
		value = canonical;
	}
	add(line, asprintf(&word, "--%s%s%s", option->name, value ? "=" : "", value ? value : "") < 0 ?
	    NULL : word);
}

static void hand_on_variable(struct argp_state *state, const struct cli_option *option, const char *value,
			     void *config)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	const size_t length = strspn(value, letters);

	if (!length || (*value >= '0' && *value <= '9') || value[length] != '=')
		cli_wrong(state, option, value);
	hand_on(state, option, value, config);
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

#define OPTION(name, type, ...) { name, type, __VA_ARGS__, .take = hand_on }
#define NUMBER(name, from, to, ...) \
	OPTION(name, CLI_NUMBER, __VA_ARGS__, .least = from, .most = to, \
	       .wrong = "%n: '%s' is not a number from %l to %m")
static const struct cli_option option_table[] = {
	OPTION("clear-env", CLI_FLAG,
	  .help = "Hand on nothing of this environment but what --env sets, so that "
	  "it is the same everywhere"),
	OPTION("cold", CLI_FLAG,
	  .help = "Boot the guest and make its disk, and begin with nothing that earlier runs left"),
	OPTION("control", CLI_FILE, .argument = "SOCKET",
	  .help = "Let `laplace ctl SOCKET' steer the run"),
	OPTION("cpu", CLI_TEXT, .argument = "NAME", .words = "x86-64 x86-64-v2 x86-64-v3",
	  .help = "The guest's processor: %o, which has AVX2 (%d)", .standard = "x86-64"),
	NUMBER("disk", 1, 1000000, .argument = "MIB",
	  .help = "Room on the guest's disk for what the program writes (%d)", .standard = "256"),
	{ "env", CLI_TEXT, .argument = "NAME=VALUE",
	  .help = "Set a variable of the program's environment", .repeated = true,
	  .take = hand_on_variable, .wrong = "%n: '%s' does not begin with a name and =" },
	OPTION("events", CLI_WORD, .argument = "SET", .words = "reclaim",
	  .help = "Report events that are not reported always: reclaim, what the guest's kernel "
	  "reclaims for want of memory, and what comes back", .wrong = "%n: '%s' is none of %a"),
	OPTION("here", CLI_FLAG, .help = "Take the current directory along, with all in it but traces"),
	OPTION("init", CLI_FLAG,
	  .help = "Boot the --root's own systemd, and run the program when it has reached "
	  "its default target"),
	OPTION("keep", CLI_FILE, .argument = "PATH",
	  .help = "Bring a file back that the program wrote", .repeated = true),
	OPTION("kernel", CLI_DIRECTORY, .argument = "PACKAGE|DIR",
	  .help = "The guest's kernel: a package of Debian's, as linux-image-amd64, a tree in which one "
	  "was built, or where linux-module/fetch-kernel brought one (linux-image-cloud-amd64, "
	  "brought once)"),
	NUMBER("level", 1, 19, .letter = 'l', .argument = "N",
	  .help = "Compression level of zstd, %l to %m (3)"),
	NUMBER("linger", 0, 1000000, .argument = "SECONDS",
	  .help = "Let what the program leaves running go on for so long, in the guest's time (%d: "
	  "it ends at once)", .standard = "0"),
	NUMBER("memory", 80, 65536, .letter = 'm', .argument = "MIB",
	  .help = "The guest's memory (%d); its kernel takes some 60 MiB of it, and 3 % of what "
	  "is more than 80", .standard = "512"),
	OPTION("observe", CLI_FILE, .argument = "LIST", .optional = true,
	  .help = "Run the program here first, under strace, and take along what it looked at; a "
	  "list of that is left in LIST (TRACE.observed)"),
	OPTION("only", CLI_CHAIN, .argument = "CHOICE", .words = "children user kernel",
	  .help = "Record only some of the references, chosen before they are reduced: "
	  "process:NAME, children, user ... joined by + signs, as laplace record takes it"),
	OPTION("output", CLI_FILE, 'o', .argument = "TRACE",
	  .help = "The trace to write (PROGRAM.lpl); -: to standard output, as it is made, and what the "
	  "program prints to standard error"),
	OPTION("overwrite", CLI_FLAG, 'O',
	  .help = "Replace an existing trace, and files that are kept"),
	NUMBER("print-limit", 1, 1000000, .argument = "MIB",
	  .help = "What the program may print, at most (%d)", .standard = "4096"),
	OPTION("progress", CLI_WORD, 'P', .argument = "WHEN", .words = "auto always never",
	  .help = "Show progress on stderr: auto (on a terminal), always, never",
	  .wrong = "%n: '%s' is none of %a"),
	OPTION("quiet", CLI_FLAG, 'q', .help = "Print nothing but what the program prints"),
	OPTION("reduce", CLI_CHAIN, 'r', .argument = "SPEC", .words = "none sad:64 window:64",
	  .help = "What to keep: none (everything), sad:K, window:K ... (%d)", .standard = "sad:64"),
	OPTION("root", CLI_FILE, .argument = "DIR|TAR|IMAGE",
	  .help = "Run a program of this root file system, as its root, and not of this "
	  "machine's; an image is one of a disk, or of an ext2, 3 or 4 file system"),
	NUMBER("seed", 0, 999999999, .argument = "N",
	  .help = "What the guest has instead of entropy: other random numbers, the same in each "
	  "run (%d)", .standard = "0"),
	OPTION("status-file", CLI_FILE, .argument = "PATH",
	  .help = "Append the status to this file now and then, a JSON object a line"),
	NUMBER("swap", 0, 65536, .argument = "MIB",
	  .help = "Room on a second disk for pages that do not fit into the guest's memory (%d)", .standard = "0"),
	OPTION("take", CLI_FILE, .argument = "PATH",
	  .help = "Take this path along, but of a directory nothing that is in "
	  "it", .repeated = true),
	NUMBER("timeout", 1, 1000000, .argument = "SECONDS",
	  .help = "End a program that runs longer than this, in the guest's time, with status 124"),
	NUMBER("usable-memory", 32, 60000, .argument = "MIB",
	  .help = "Give the guest so much memory that this is available to the program when it "
	  "begins, and no more"),
	OPTION("physical", CLI_FLAG, .help = "Record where in physical memory references go, too"),
	OPTION("code", CLI_FLAG, .help = "Record the bytes of the instructions that are executed, too, and what "
	       "--physical does"),
	OPTION("walks", CLI_FLAG, .help = "Record page-table walks, too"),
	OPTION("whole", CLI_FLAG, 'w',
	  .help = "Trace from power-on, and not just from the program's exec, to its end"),
	OPTION("with", CLI_FILE, .argument = "PATH",
	  .help = "Take this file, directory or program along as well", .repeated = true),
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
	  .help = "Remove what earlier runs left for later ones, guests that have booted and disks, unless it is in use" },
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
