/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace compare-reclaim: its options.  The rest is python/laplace/compare_reclaim. */
#include <stdlib.h>

#include "commands.h"
#include "find.h"
#include "guest_options.h"
#include "options.h"
#include "python.h"

struct options {
	struct python_words words;
	char **program;
	unsigned int jobs, repeat;
	bool json;
	enum cli_when progress;
};

static void hand_on(struct argp_state *state, const struct cli_option *option, const char *value,
		    void *config)
{
	char number[CLI_GUEST_NUMBER];

	python_take(state, option, cli_guest_value(state, option, value, number), config);
}

static void check(struct argp_state *state, void *config)
{
	struct options *options = config;

	if (!options->program || !*options->program)
		argp_error(state, "no program is named");
	for (char **word = options->program; *word; word++)
		python_add(&options->words, "program", *word, state);
}

static const struct cli_option option_table[] = {
	{ "usable-memory", CLI_TEXT, .argument = "LIST", .standard = "32,40,48,64,96",
	  .help = "Give the program so many MiB that are available to it when it begins, and no more, each in turn (%d)" },
	{ "swappiness", CLI_TEXT, .argument = "LIST", .standard = "60",
	  .help = "The kernel's swappiness, each in turn (%d)" },
	{ "lru", CLI_LIST, .argument = "LIST", .words = "lists generations", .standard = "lists,generations",
	  .help = "Which LRU the kernel has, each in turn: lists, an active and an inactive one, generations "
	  "(lru_gen) (%d)" },
	{ "repeat", CLI_NUMBER, CLI_INTO(struct options, repeat), .argument = "N", .least = 1, .most = 100,
	  .wrong = "%n: '%s' is not a number from %l to %m", .standard = "1",
	  .help = "Guests for each setting, which differ in their --seed, and a little in what it decides before the "
	  "program begins (%d)" },
	{ "output", CLI_DIRECTORY, 'o', .argument = "DIR",
	  .help = "The directory of results (PROGRAM.reclaim)" },
	{ "jobs", CLI_NUMBER, 'J', CLI_INTO(struct options, jobs), .argument = "N", .least = 1, .most = 1024,
	  .wrong = "%n: '%s' is not a number from %l to %m", .standard = "1",
	  .help = "Guests, or traces that are judged, at once (%d)" },
	{ "keep-traces", CLI_FLAG,
	  .help = "Keep the traces of every reference, which are large, when they have been judged" },
	{ "dry-run", CLI_FLAG, .help = "Only list the runs, and which of them are done" },
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	{ .type = CLI_TABLE, .table = cli_guest_options },
	{ .type = CLI_EACH, .take = hand_on },
	{ .type = CLI_PROGRAM, .argument = "PROGRAM", CLI_INTO(struct options, program) },
	{ .type = CLI_CHECK, .check = check },
	{ 0 }
};
static const struct cli_usage usage = {
	"[--] PROGRAM [ARGUMENT...]",
	"Run a program of this machine in guests with little memory, under both kinds of LRU that Linux has, and compare "
	"what they evict with what would have been best."
	"\v"
	"The settings are root's in the guest: root has to run this, or the program be one of a --root.  "
	"What is done is never made again: run it again after a failure, or an interruption, for the rest.  "
	"Exit status: 0 all is done, 1 something is not, 2 wrong usage, 3 a result is damaged.",
	option_table, ARGP_IN_ORDER
};

int cmd_compare_reclaim(int argc, char **argv)
{
	struct options options = { .words.count = 0 };

	cli_parse(&usage, argc, argv, &options);
	python_add_bochs(&options.words);
	return python_become("compare_reclaim", &options.words);
}
