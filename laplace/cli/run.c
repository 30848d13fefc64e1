/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace run: a program of this machine, traced in a guest; laplace doctor: is all here that this
 * needs?  Bringing a program and a guest together is the work of scripts (guest-program), one of
 * which becomes this process.
 */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "find.h"
#include "option_table.h"
#include "say.h"

/* As of env(1), nohup(1) ...: what the program itself says may be any other. */
#define CANNOT 125

/* The script takes the values; here it is seen to --help, and to options that there are not. */
static const struct cli_option option_table[] = {
	{ "clear-env", CLI_FLAG,
	  .help = "Hand on nothing of this environment but what --env sets, so that "
	  "it is the same everywhere" },
	{ "control", CLI_FILE, .argument = "SOCKET",
	  .help = "Let `laplace ctl SOCKET' steer the run" },
	{ "cpu", CLI_TEXT, .argument = "NAME", .words = "x86-64 x86-64-v2 x86-64-v3",
	  .help = "The guest's processor: %o, which has AVX2 (x86-64)" },
	{ "disk", CLI_TEXT, .argument = "MIB",
	  .help = "Room on the guest's disk for what the program writes (256)" },
	{ "env", CLI_TEXT, .argument = "NAME=VALUE",
	  .help = "Set a variable of the program's environment", .repeated = true },
	{ "here", CLI_FLAG, .help = "Take the current directory along, with all in it but traces" },
	{ "init", CLI_FLAG,
	  .help = "Boot the --root's own systemd, and run the program when it has reached "
	  "its default target" },
	{ "keep", CLI_FILE, .argument = "PATH",
	  .help = "Bring a file back that the program wrote", .repeated = true },
	{ "kernel", CLI_DIRECTORY, .argument = "PACKAGE|DIR",
	  .help = "The guest's kernel: a package of Debian's, as linux-image-amd64, or where "
	  "linux-module/fetch-kernel brought one (linux-image-cloud-amd64, brought once)" },
	{ "level", CLI_TEXT, 'l', .argument = "N",
	  .help = "Compression level of zstd, 1 to 19 (3)" },
	{ "linger", CLI_TEXT, .argument = "SECONDS",
	  .help = "Let what the program leaves running go on for so long, in the guest's time (0: "
	  "it ends at once)"},
	{ "memory", CLI_TEXT, 'm', .argument = "MIB",
	  .help = "The guest's memory (512); its kernel takes some 60 MiB of it, and 3 % of what "
	  "is more than 80"},
	{ "observe", CLI_FILE, .argument = "LIST", .optional = true,
	  .help = "Run the program here first, under strace, and take along what it looked at; a "
	  "list of that is left in LIST (TRACE.observed)"},
	{ "only", CLI_CHAIN, .argument = "CHOICE", .words = "children user kernel",
	  .help = "Record only some of the references, chosen before they are reduced: "
	  "process:NAME, children, user ... joined by + signs, as laplace record takes it"},
	{ "output", CLI_FILE, 'o', .argument = "TRACE",
	  .help = "The trace to write (PROGRAM.lpl)" },
	{ "overwrite", CLI_FLAG, 'O',
	  .help = "Replace an existing trace, and files that are kept" },
	{ "print-limit", CLI_TEXT, .argument = "MIB",
	  .help = "What the program may print, at most (4096)" },
	{ "progress", CLI_TEXT, 'P', .argument = "WHEN", .words = "auto always never",
	  .help = "Show progress on stderr: auto (on a terminal), always, never" },
	{ "quiet", CLI_FLAG, 'q', .help = "Print nothing but what the program prints" },
	{ "reduce", CLI_CHAIN, 'r', .argument = "SPEC", .words = "none sad:64 window:64",
	  .help = "What to keep: none (everything), sad:K, window:K ... (sad:64)" },
	{ "root", CLI_FILE, .argument = "DIR|TAR|IMAGE",
	  .help = "Run a program of this root file system, as its root, and not of this "
	  "machine's; an image is one of a disk, or of an ext2, 3 or 4 file system"},
	{ "seed", CLI_TEXT, .argument = "N",
	  .help = "What the guest has instead of entropy: other random numbers, the same in each "
	  "run (0)"},
	{ "status-file", CLI_FILE, .argument = "PATH",
	  .help = "Append the status to this file now and then, a JSON object a line" },
	{ "swap", CLI_TEXT, .argument = "MIB",
	  .help = "Room on a second disk for pages that do not fit into the guest's memory (0)" },
	{ "take", CLI_FILE, .argument = "PATH",
	  .help = "Take this path along, but of a directory nothing that is in "
	  "it", .repeated = true },
	{ "timeout", CLI_TEXT, .argument = "SECONDS",
	  .help = "End a program that runs longer than this, in the guest's time, with status 124"},
	{ "usable-memory", CLI_TEXT, .argument = "MIB",
	  .help = "Give the guest so much memory that this is available to the program when it "
	  "begins, and no more"},
	{ "walks", CLI_FLAG, .help = "Record page-table walks, too" },
	{ "whole", CLI_FLAG, 'w',
	  .help = "Trace from power-on, and not just from the program's exec, to its end" },
	{ "with", CLI_FILE, .argument = "PATH",
	  .help = "Take this file, directory or program along as well", .repeated = true },
	{ .type = CLI_PROGRAM, .argument = "PROGRAM" },
	{ 0 }
};
static const struct cli_usage usage = {
	"[--] PROGRAM [ARGUMENT...]",
	"Run a program of this machine in a guest, and collect a trace of it."
	"\v"
	"The program runs as this user, in this directory, with standard input (unless it is a terminal), its "
	"output and its exit status handed on.  Of this machine it finds what it is linked to, what its "
	"package needs, what it imports (Python), the files that are among its arguments, and what --with, "
	"--here and --observe bring; what it writes stays in the guest but for what --keep names.\n"
	"Exit status: the program's; 125 if it was not run, or not traced to its end.",
	option_table, ARGP_IN_ORDER
};

int cmd_run(int argc, char **argv)
{
	char help[] = "--help";
	char *bochs;

	argp_err_exit_status = CANNOT;
	if (argc == 2 && strcmp(argv[1], "-h") == 0)
		argv[1] = help;
	cli_parse(&usage, argc, argv, NULL);
	bochs = find_bochs_quietly();
	/* the trace has its hash */
	if (bochs && setenv("LAPLACE_BOCHS", bochs, 1) < 0)
		return cli_complain(CANNOT, "no memory");
	free(bochs);
	return cli_become("guest-program/run", argv, CANNOT);
}

int cmd_doctor(int argc, char **argv)
{
	char *bochs = find_bochs_quietly();

	(void)argc;
	if (setenv("LAPLACE_BOCHS", bochs ? bochs : "", 1) < 0)
		return cli_complain(CLI_FAILED, "no memory");
	free(bochs);
	return cli_become("guest-program/doctor", argv, CLI_FAILED);
}
