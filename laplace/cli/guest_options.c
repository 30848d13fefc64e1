/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What programs and guests are given, by whichever subcommand runs them; see guest_options.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "guest_options.h"

static void check_variable(struct argp_state *state, const struct cli_option *option, const char *value,
			   void *config)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	const size_t length = strspn(value, letters);

	(void)config;
	if (!length || (*value >= '0' && *value <= '9') || value[length] != '=')
		cli_wrong(state, option, value);
}

const struct cli_option cli_guest_options[] = {
	{ "cpu", CLI_TEXT, .argument = "NAME", .words = "x86-64 x86-64-v2 x86-64-v3",
	  .help = "The guest's processor: %o, which has AVX2 (%d)", .standard = "x86-64" },
	CLI_GUEST_LIMITED("disk", 1, 1000000, .argument = "MIB",
	  .help = "Room on the guest's disk for what the program writes (%d)", .standard = "256"),
	{ "env", CLI_TEXT, .argument = "NAME=VALUE",
	  .help = "Set a variable of the program's environment", .repeated = true,
	  .take = check_variable, .wrong = "%n: '%s' does not begin with a name and =" },
	{ "here", CLI_FLAG, .help = "Take the current directory along, with all in it but traces" },
	{ "kernel", CLI_DIRECTORY, .argument = "PACKAGE|DIR",
	  .help = "The guest's kernel: a package of Debian's, as linux-image-amd64, a tree in which one "
	  "was built, or where linux-module/fetch-kernel brought one (linux-image-cloud-amd64, "
	  "brought once)" },
	{ "root", CLI_FILE, .argument = "DIR|TAR|IMAGE",
	  .help = "Run a program of this root file system, as its root, and not of this "
	  "machine's; an image is one of a disk, or of an ext2, 3 or 4 file system" },
	CLI_GUEST_LIMITED("seed", 0, 999999999, .argument = "N",
	  .help = "What the guest has instead of entropy: other random numbers, the same in each "
	  "run (%d)", .standard = "0"),
	CLI_GUEST_LIMITED("swap", 0, 65536, .argument = "MIB",
	  .help = "Room on a second disk for pages that do not fit into the guest's memory (%d)", .standard = "0"),
	{ "take", CLI_FILE, .argument = "PATH",
	  .help = "Take this path along, but of a directory nothing that is in "
	  "it", .repeated = true },
	CLI_GUEST_LIMITED("timeout", 1, 1000000, .argument = "SECONDS",
	  .help = "End a program that runs longer than this, in the guest's time, with status 124"),
	{ "with", CLI_FILE, .argument = "PATH",
	  .help = "Take this file, directory or program along as well", .repeated = true },
	{ 0 }
};

const char *cli_guest_value(struct argp_state *state, const struct cli_option *option, const char *value,
			    char number[CLI_GUEST_NUMBER])
{
	uint64_t parsed;

	if (value && !*value)
		argp_error(state, "--%s: nothing is named", option->name);
	if (option->type == CLI_WORD)
		(void)cli_word(state, option, value);
	if (option->type != CLI_NUMBER)
		return value;
	if (!lpl_parse_decimal(value, &parsed) || parsed < option->least || parsed > option->most)
		cli_wrong(state, option, value);
	snprintf(number, CLI_GUEST_NUMBER, "%" PRIu64, parsed);
	return number;
}
