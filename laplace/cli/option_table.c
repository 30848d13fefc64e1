/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of a table: parsed by argp, and listed for whoever writes of them; see option_table.h. */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "option_table.h"
#include "say.h"

#define MOST_ROWS 80
#define FIRST_KEY 0x100		/* of those without a letter, which is the key of the others */

/* A table, with those in it in their places. */
struct rows {
	struct row {
		const struct cli_option *option;
		size_t offset;		/* of the struct that its table describes */
		int group;
		bool given;
	} row[MOST_ROWS];
	size_t count;
	void *config;
};

static void flatten(struct rows *rows, const struct cli_option *table, size_t offset, int group)
{
	for (; table->type != CLI_END; table++) {
		const int in = table->group ? table->group : group;

		assert(rows->count < MOST_ROWS);
		if (table->type == CLI_TABLE)
			flatten(rows, table->table, offset + table->offset, in);
		else
			rows->row[rows->count++] = (struct row){ table, offset, in, false };
	}
}

static bool is_option(const struct cli_option *option)
{
	return option->type >= CLI_FLAG && option->type <= CLI_WORD;
}

static int key_of(const struct rows *rows, const struct row *row)
{
	return row->option->letter ? row->option->letter : FIRST_KEY + (int)(row - rows->row);
}

static struct row *find_key(struct rows *rows, int key)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (is_option(rows->row[i].option) && key_of(rows, &rows->row[i]) == key)
			return &rows->row[i];
	}
	return NULL;
}

/* ---- texts ---- */

/* The next word, which begins at *at; false: there is none. */
static bool next_word(const char **at, int *length)
{
	*at += strspn(*at, ", ");
	*length = (int)strcspn(*at, ", ");
	return *length > 0;
}

static const char *words_of(const struct cli_option *option, char list[CLI_WORDS_SIZE])
{
	return option->find_words ? option->find_words(list) : option->words ? option->words : "";
}

static void print_words(FILE *out, const struct cli_option *option, const char *between,
			const char *last)
{
	char list[CLI_WORDS_SIZE];
	const char *word = words_of(option, list), *before = NULL;
	int length, length_before = 0;

	/* one is printed when it is known whether another follows */
	for (const char *separator = ""; next_word(&word, &length); word += length) {
		if (before) {
			fprintf(out, "%s%.*s", separator, length_before, before);
			separator = between;
		}
		before = word;
		length_before = length;
	}
	if (before)
		fprintf(out, "%s%.*s", before == words_of(option, list) ? "" : last, length_before,
			before);
}

/* `text' with what stands for something replaced by it; to be freed. */
static char *expand(const struct cli_option *option, const char *text, const char *value)
{
	char *expanded = NULL;
	size_t size;
	FILE *out = open_memstream(&expanded, &size);

	for (; out && *text; text++) {
		const char what = *text == '%' && text[1] && strchr("acdlmnos", text[1]) ? *++text : '\0';

		switch (what) {
		case 'a':
		case 'c':
		case 'o':
			print_words(out, option, ", ", what == 'a' ? " and " : what == 'o' ? " or " : ", ");
			break;
		case 'd':
			fputs(option->standard, out);
			break;
		case 'l':
		case 'm':
			fprintf(out, "%" PRIu64, what == 'l' ? option->least : option->most);
			break;
		case 'n':
			fprintf(out, "--%s", option->name);
			break;
		case 's':
			fputs(value, out);
			break;
		default:
			fputc(*text, out);
		}
	}
	if (out)
		fclose(out);
	return expanded;
}

static char *help_of(const struct cli_option *option)
{
	char *text = expand(option, option->help, NULL), *with;

	if (!text || !option->repeated)
		return text;
	if (asprintf(&with, "%s; may be repeated", text) < 0)
		with = NULL;
	free(text);
	return with;
}

/* ---- values ---- */

void cli_usage_error(struct argp_state *state, const char *format, ...)
{
	char *text = NULL, *shown = NULL;
	size_t size;
	FILE *out = open_memstream(&shown, &size);
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (out) {
		cli_put_shown(out, text ? text : "no memory");
		fclose(out);
	}
	argp_error(state, "%s", shown ? shown : "no memory");
	free(shown);
	free(text);
}

uint64_t cli_number(struct argp_state *state, const char *option,
		    const char *text, uint64_t least)
{
	uint64_t number;

	if (!lpl_parse_decimal(text, &number) || number < least)
		cli_usage_error(state, "%s takes a number from %" PRIu64 " on, not '%s'", option, least, text);
	return number;
}

uint64_t cli_address(struct argp_state *state, const char *option, const char *text)
{
	uint64_t address;

	if (!lpl_parse_hex(text, &address) || !address)
		cli_usage_error(state, "%s takes a hexadecimal address, not '%s'", option, text);
	return address;
}

void cli_wrong(struct argp_state *state, const struct cli_option *option, const char *value)
{
	char *text = expand(option, option->wrong ? option->wrong : option->type == CLI_NUMBER ?
			    "%n is at most %m" : "%n is %o, not '%s'", value);

	cli_usage_error(state, "%s", text ? text : "no memory");
	free(text);
}

unsigned int cli_word(struct argp_state *state, const struct cli_option *option, const char *value)
{
	char list[CLI_WORDS_SIZE];
	const char *word = words_of(option, list);
	int length;

	for (unsigned int i = 0; next_word(&word, &length); i++, word += length) {
		if (strlen(value) == (size_t)length && memcmp(word, value, (size_t)length) == 0)
			return i;
	}
	cli_wrong(state, option, value);
	return 0;
}

uint64_t cli_limited(struct argp_state *state, const struct cli_option *option, const char *value)
{
	char name[64];
	uint64_t number;

	snprintf(name, sizeof(name), "--%s", option->name);
	number = cli_number(state, name, value, option->least);
	if (option->most && number > option->most)
		cli_wrong(state, option, value);
	return number;
}

static void store(void *member, size_t size, uint64_t number)
{
	if (size == sizeof(bool))
		*(bool *)member = number != 0;
	else if (size == sizeof(uint32_t))
		*(uint32_t *)member = (uint32_t)number;
	else
		*(uint64_t *)member = number;
}

static void take_value(struct argp_state *state, const struct cli_option *option, char *value,
		       void *config)
{
	void *member = (char *)config + option->offset;
	char name[64];

	if (option->take)
		option->take(state, option, value, config);
	if (option->take || !option->size)
		return;
	switch (option->type) {
	case CLI_FLAG:
		store(member, option->size, 1);
		break;
	case CLI_WORD:
		store(member, option->size, cli_word(state, option, value));
		break;
	case CLI_NUMBER:
		store(member, option->size, cli_limited(state, option, value));
		break;
	case CLI_ADDRESS:
		snprintf(name, sizeof(name), "--%s", option->name);
		store(member, option->size, cli_address(state, name, value));
		break;
	default:
		*(const char **)member = value;
	}
}

/* ---- argp ---- */

static void *config_of(const struct rows *rows, const struct row *row)
{
	return (char *)rows->config + row->offset;
}

static void take(struct rows *rows, const struct row *row, char *value, struct argp_state *state)
{
	take_value(state, row->option, value, config_of(rows, row));
	for (const struct row *each = rows->row; each < rows->row + rows->count; each++) {
		if (each->option->type == CLI_EACH)
			each->option->take(state, row->option, value, config_of(rows, each));
	}
}

static error_t take_argument(struct rows *rows, char *value, struct argp_state *state)
{
	for (struct row *row = rows->row; row < rows->row + rows->count; row++) {
		if (row->option->type != CLI_ARGUMENT)
			continue;
		if (row->given && !row->option->take && !row->option->repeated) {
			if (row->option->again)
				argp_error(state, "%s", row->option->again);
			continue;
		}
		row->given = true;
		take(rows, row, value, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t take_rest(struct rows *rows, struct argp_state *state)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->row[i];
		char **rest = &state->argv[state->next];

		if (row->option->type != CLI_REST && row->option->type != CLI_PROGRAM)
			continue;
		memcpy((char *)config_of(rows, row) + row->option->offset, &rest, sizeof(rest));
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void check(struct rows *rows, struct argp_state *state)
{
	for (const struct row *row = rows->row; row < rows->row + rows->count; row++) {
		const struct cli_option *option = row->option;

		if (option->type == CLI_ARGUMENT && option->wrong && !row->given)
			argp_error(state, "%s", option->wrong);
		if (option->type == CLI_CHECK)
			option->check(state, config_of(rows, row));
	}
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct rows *rows = state->input;
	struct row *row;

	switch (key) {
	case ARGP_KEY_INIT:
		for (row = rows->row; row < rows->row + rows->count; row++) {
			if (row->option->standard)
				take(rows, row, (char *)row->option->standard, state);
		}
		return 0;
	case ARGP_KEY_ARG:
		return take_argument(rows, value, state);
	case ARGP_KEY_ARGS:
		return take_rest(rows, state);
	case ARGP_KEY_END:
		check(rows, state);
		return 0;
	default:
		row = find_key(rows, key);
		if (!row)
			return ARGP_ERR_UNKNOWN;
		row->given = true;
		take(rows, row, value, state);
		return 0;
	}
}

static bool is_called(const struct cli_option *option, const char *name)
{
	return is_option(option) && (name[1] == '-' ? strcmp(option->name, name + 2) == 0 :
						      option->letter == name[1]);
}

const char *cli_given(const struct argp_state *state, const char *const options[])
{
	const struct rows *rows = state->input;

	for (; *options; options++) {
		for (size_t i = 0; i < rows->count; i++) {
			if (rows->row[i].given && is_called(rows->row[i].option, *options))
				return *options;
		}
	}
	return NULL;
}

bool cli_given_other(const struct argp_state *state, const char *const options[])
{
	const struct rows *rows = state->input;

	for (size_t i = 0; i < rows->count; i++) {
		const char *const *name = options;

		while (*name && !is_called(rows->row[i].option, *name))
			name++;
		if (!*name && rows->row[i].given && is_option(rows->row[i].option))
			return true;
	}
	return false;
}

static struct argp_option argp_option_of(const struct rows *rows, const struct row *row)
{
	const struct cli_option *option = row->option;
	const bool has_key = is_option(option);

	return (struct argp_option){
		.name = option->name, .key = has_key ? key_of(rows, row) : 0,
		.arg = option->type == CLI_FLAG ? NULL : option->argument,
		.flags = option->type == CLI_ALIAS ? OPTION_ALIAS | OPTION_HIDDEN :
			 option->optional ? OPTION_ARG_OPTIONAL : 0,
		.doc = option->help, .group = row->group
	};
}

static char *help(int key, const char *text, void *input)
{
	struct rows *rows = input;
	const struct row *row = rows ? find_key(rows, key) : NULL;

	return row ? help_of(row->option) : (char *)text;
}

/* ---- a list, for the manual and for completion ---- */

/* Up to a colon or a semicolon, but not within parentheses, and not too little of it. */
static size_t first_clause(const char *text)
{
	size_t length = 0;

	for (int open = 0; text[length]; length++) {
		open += (text[length] == '(') - (text[length] == ')');
		if (length >= 16 && !open && strchr(":;", text[length]) && text[length + 1] == ' ')
			break;
	}
	return length;
}

static const char *how_to_complete(const struct cli_option *option)
{
	static const char *const how[] = {
		[CLI_FLAG] = "-", [CLI_TEXT] = "text", [CLI_FILE] = "file", [CLI_DIRECTORY] = "directory",
		[CLI_LIST] = "list", [CLI_CHAIN] = "chain", [CLI_NUMBER] = "text",
		[CLI_ADDRESS] = "text", [CLI_WORD] = "word", [CLI_ARGUMENT] = "file", [CLI_REST] = "file",
		[CLI_PROGRAM] = "command"
	};
	const bool words = option->words || option->find_words;

	return words && (option->type == CLI_TEXT || option->type == CLI_ARGUMENT) ? "word" :
	       option->optional ? "-" : how[option->type];
}

static void list_option(const char *command, const struct cli_option *option)
{
	char list[CLI_WORDS_SIZE], *text = help_of(option);
	const char *word = words_of(option, list);
	int length;
	const bool only_words = text && next_word(&word, &length) &&
				strncmp(text, word, (size_t)length) == 0;

	printf("option\t%s\t%c\t%s\t", command, option->letter ? option->letter : '-', option->name);
	printf(option->optional ? "[%s]\t" : "%s\t", option->argument ? option->argument : "-");
	printf("%s\t", how_to_complete(option));
	print_words(stdout, option, " ", " ");
	putchar('\t');
	/* of a help that begins with the words, the name of the value */
	for (const char *at = option->argument; only_words && *at && *at != '['; at++)
		putchar(tolower((unsigned char)*at));
	printf("%.*s\t%s\t%s\t", only_words || !text ? 0 : (int)first_clause(text), text ? text : "",
	       text ? text : "", option->repeated ? "*" : "");
	free(text);
	if (option->type == CLI_NUMBER)
		printf("%" PRIu64 ":", option->least);
	if (option->type == CLI_NUMBER && option->most)
		printf("%" PRIu64, option->most);
	putchar('\n');
}

static void list_argument(const char *command, const struct cli_option *option, int number)
{
	const char *line = option->help ? option->help : "", *how = how_to_complete(option);

	for (size_t length; *line; line += length) {
		length = strcspn(line, "\n") + 1;
		printf("word\t%s\t%.*s", command, (int)length, line);
	}
	if (strcmp(how, "file") == 0)
		return;
	printf("argument\t%s\t%d\t%s\t", command, number, how);
	print_words(stdout, option, " ", " ");
	putchar('\n');
}

/*
 * Lines of fields, separated by tabs:
 *	option SUBCOMMAND LETTER NAME VALUE HOW WORDS SHORT HELP MANY LIMITS
 *		LETTER, VALUE: - where there is none; [VALUE] that may be left out.  HOW a shell completes
 *		a value: `word' is one of WORDS, `list' some joined by commas, `chain' by plus signs;
 *		`file', or one of the words; `directory'; `text', of which nothing is known.  SHORT: HELP
 *		up to where details come.  MANY: * where it may be repeated.  LIMITS: LEAST:MOST of a
 *		number, or LEAST: where there is no most.
 *	argument SUBCOMMAND N HOW WORDS		of one that is no file; HOW: `command', too
 *	word SUBCOMMAND WORD TEXT		what a word of an argument means
 */
static void list_options(const struct rows *rows, const char *title)
{
	const char *command = title + strcspn(title, " ");
	int arguments = 0;

	command += *command == ' ';
	for (const struct row *row = rows->row; row < rows->row + rows->count; row++) {
		if (is_option(row->option))
			list_option(command, row->option);
		else if (row->option->type >= CLI_ARGUMENT && row->option->type <= CLI_PROGRAM)
			list_argument(command, row->option, ++arguments);
	}
}

void cli_parse(const struct cli_usage *usage, int argc, char **argv, void *config)
{
	struct rows rows = { .config = config };
	struct argp_option options[MOST_ROWS + 1] = { 0 };
	const struct argp argp = { options, parse_option, usage->arguments, usage->about, NULL, help, NULL };
	size_t used = 0;

	flatten(&rows, usage->options, 0, 0);
	if (argc == 2 && strcmp(argv[1], "--list-options") == 0) {
		list_options(&rows, argv[0]);
		exit(0);
	}
	/* what has no group would belong to that of the one before */
	for (size_t i = 0; i < 2 * rows.count; i++) {
		const struct row *row = &rows.row[i % rows.count];

		if (row->option->type <= CLI_HEADING && (row->group != 0) == (i >= rows.count))
			options[used++] = argp_option_of(&rows, row);
	}
	argp_parse(&argp, argc, argv, usage->flags, NULL, &rows);
}
