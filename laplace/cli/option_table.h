/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An option is written once: as a row of its subcommand's table.  From there follow how it is parsed
 * into a member of a struct and what is said of a wrong value, --help, the list of options in the
 * manual, what shells complete, and what campaigns take (`laplace SUBCOMMAND --list-options'; option_table.c
 * says what it prints).
 */
#ifndef LAPLACE_CLI_OPTION_TABLE_H
#define LAPLACE_CLI_OPTION_TABLE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_option_type {
	CLI_END,		/* of the table, which is a row of zeros */
	CLI_FLAG,		/* bool: true */
	CLI_TEXT,		/* const char *; whatever `words' there are is offered by shells */
	CLI_FILE,		/* the same, a path */
	CLI_DIRECTORY,
	CLI_LIST,		/* text: some of `words', joined by commas */
	CLI_CHAIN,		/* ... by plus signs */
	CLI_NUMBER,		/* an integer, from `least' to `most', of which 0 is no limit */
	CLI_ADDRESS,		/* uint64_t: hexadecimal, not 0 */
	CLI_WORD,		/* an enum: which of `words', from 0 on */
	CLI_ALIAS,		/* another name of the row above, which --help does not have */
	CLI_HEADING,		/* above its group in --help */
	CLI_TABLE,		/* the rows of another `table' */
	CLI_ARGUMENT,		/* const char *: no option; a row with `take', or `repeated', gets all others */
	CLI_REST,		/* char **: that and all that follows, up to NULL */
	CLI_PROGRAM,		/* the same, a program and its arguments */
	CLI_CHECK,		/* `check' is called when all are parsed */
	CLI_EACH		/* `take' gets every value, of any row, as it was given or is the default */
};

#define CLI_WORDS_SIZE 512

struct cli_option;

/*
 * Takes a value (NULL: of a flag) into the struct of the option's table, instead of the engine;
 * cli_usage_error() where it is wrong.
 */
typedef void cli_take(struct argp_state *state, const struct cli_option *option, const char *value,
		      void *config);

struct cli_option {
	const char *name;
	enum cli_option_type type;
	int letter;			/* 0: none */
	size_t offset, size;		/* CLI_INTO(): where it goes; 0: nowhere */
	const char *argument;		/* the name of the value */
	/*
	 * What --help says.  In this and in `wrong' %d stands for the default, %l and %m for the
	 * limits, %c, %o and %a for the words, separated by commas, with "or" or "and" before the last;
	 * in `wrong', %n for the option's name and %s for the value.  Of a CLI_ARGUMENT: what its words
	 * mean, "WORD\tTEXT\n" each.
	 */
	const char *help;
	const char *words;		/* separated by blanks or commas */
	const char *(*find_words)(char list[CLI_WORDS_SIZE]);	/* where the library has them */
	const char *standard;		/* the default, as it would be given; or NULL */
	uint64_t least, most;
	/* said of an unknown word or too large a number, or of an argument that is missing */
	const char *wrong;
	const char *again;		/* said of an argument that is one too many */
	int group;			/* in --help */
	bool optional;			/* its value may be left out */
	bool repeated;			/* it may be; an option's help says so */
	bool forwarded;			/* it is also a key of the bochsrc (record.c) */
	const struct cli_option *table;
	cli_take *take;
	void (*check)(struct argp_state *state, void *config);
};

#define CLI_INTO(config, member) \
	.offset = offsetof(config, member), .size = sizeof(((config *)NULL)->member)

/* The rows of cli_NAME_options, for a struct that is a member of this one. */
#define CLI_WITH(name, config, member, ...) \
	{ .type = CLI_TABLE, .table = cli_##name##_options, CLI_INTO(config, member), __VA_ARGS__ }

/* The argument of most subcommands. */
#define CLI_TRACE_ARGUMENT(config, member) { .type = CLI_ARGUMENT, .argument = "TRACE", \
	CLI_INTO(config, member), .wrong = "which trace?", .again = "one trace at a time" }

struct cli_usage {
	const char *arguments;		/* as argp has it: without options, a form a line */
	const char *about;		/* what --help says above the options, and after \v below them */
	const struct cli_option *options;
	unsigned int flags;		/* argp's */
};

/*
 * Into `config', which is left as it is where there is neither a value nor a default.  Ends the program
 * where usage is wrong.
 */
void cli_parse(const struct cli_usage *usage, int argc, char **argv, void *config);

/* For a `take' or a `check': argp_error() of what was given, which may hold anything, shown as by cli_say(). */
void cli_usage_error(struct argp_state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* ... in the words of `wrong'. */
void cli_wrong(struct argp_state *state, const struct cli_option *option, const char *value);
/* ... which of `words' it is. */
unsigned int cli_word(struct argp_state *state, const struct cli_option *option, const char *value);
/* ... a decimal number within the limits. */
uint64_t cli_limited(struct argp_state *state, const struct cli_option *option, const char *value);
/* ... the first of these options, written as "-s" or "--top", up to NULL, that was given; or NULL. */
const char *cli_given(const struct argp_state *state, const char *const options[]);

/* Was one given that is none of these? */
bool cli_given_other(const struct argp_state *state, const char *const options[]);

/* A decimal number from `least` on, or a usage error that ends the program. */
uint64_t cli_number(struct argp_state *state, const char *option,
		    const char *text, uint64_t least);

/* A hexadecimal address that is not 0, likewise. */
uint64_t cli_address(struct argp_state *state, const char *option, const char *text);

#endif
