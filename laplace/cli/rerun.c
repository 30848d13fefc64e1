/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recipe, as a command that can be run again; see rerun.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "recipe.h"
#include "rerun.h"
#include "say.h"
#include "sha256.h"

#define SMALL "abcdefghijklmnopqrstuvwxyz0123456789"
#define LETTERS SMALL "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
/* A word of these stands in a shell's line as it is. */
static const char bare[] = LETTERS "._/=+@:,%-";
/* What a recipe's line is made of. */
static const char known[] = LETTERS "._/=+@% -";

static const char *const with_value[] = {
	"cpu", "memory", "usable-memory", "swap", "disk", "reduce", "only", "level", "timeout", "linger",
	"seed", "events", "print-limit", "root", "env", "keep", "with", "take", "kernel", NULL
};
static const char *const without_value[] = { "clear-env", "code", "here", "init", "physical", "walks", "whole", NULL };
static const char *const hashed[] = { "simulator", "firmware", "program", "root", "file", NULL };

static bool is_one_of(const char *const names[], const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* A word that is ours to free. */
static int take(struct rerun_words *words, char *word)
{
	/* full, with its NULL, when that makes a power of two */
	if ((words->count & (words->count + 1)) == 0) {
		char **more = realloc(words->word, (2 * words->count + 2) * sizeof(*more));

		if (!more) {
			free(word);
			return cli_complain(CLI_FAILED, "no memory");
		}
		words->word = more;
	}
	if (!word)
		return cli_complain(CLI_FAILED, "no memory");
	words->word[words->count++] = word;
	words->word[words->count] = NULL;
	return CLI_DONE;
}

static int take_copy(struct rerun_words *words, const char *text)
{
	return take(words, strdup(text));
}

static int take_option(struct rerun *rerun, const char *name, const char *value)
{
	char *word;

	if (is_one_of(without_value, name))
		value = NULL;
	else if (!is_one_of(with_value, name))
		return cli_complain(CLI_DAMAGED, "%s: its recipe has an option that is none of "
				    "laplace run's: %s", rerun->trace, name);
	if (strcmp(name, "kernel") == 0) {
		rerun->kernel = value;
		return CLI_DONE;
	}
	if (value && strcmp(name, "swap") == 0 && strcmp(value, "0") == 0)
		return CLI_DONE;
	if (asprintf(&word, "--%s%s%s", name, value ? "=" : "", value ? value : "") < 0)
		word = NULL;
	return take(&rerun->options, word);
}

static int take_file(struct rerun *rerun, const char *key, const char *hash, const char *path)
{
	int status;

	if (rerun->files.count >= 3 * RERUN_FILES_MAX)
		return cli_complain(CLI_DAMAGED, "%s: its recipe names more files than laplace "
				    "run writes (%d)", rerun->trace, RERUN_FILES_MAX);
	status = take_copy(&rerun->files, key);
	status = status ? status : take_copy(&rerun->files, hash);
	return status ? status : take_copy(&rerun->files, path);
}

static int read_line(struct rerun *rerun, char *line)
{
	char *first = line + strcspn(line, " "), *second;

	if (*first)
		*first++ = '\0';
	second = first + strcspn(first, " ");
	if (*second)
		*second++ = '\0';
	recipe_decode(first);
	recipe_decode(second);
	if (is_one_of(hashed, line))
		return take_file(rerun, line, first, second);
	if (strcmp(line, "option") == 0)
		return take_option(rerun, first, second);
	if (strcmp(line, "argument") == 0)
		return take_copy(&rerun->arguments, first);
	if (strcmp(line, "too-long") == 0)
		return cli_complain(CLI_DAMAGED, "%s: its recipe was too long for a header",
				    rerun->trace);
	if (strcmp(line, "directory") == 0 && first[0] != '/')
		return cli_complain(CLI_DAMAGED, "%s: its recipe has a directory that is no whole "
				    "path: %s", rerun->trace, first);
	if (strcmp(line, "directory") == 0)
		rerun->directory = first;
	else if (strcmp(line, "version") == 0)
		rerun->version = first;
	else if (strcmp(line, "input") == 0 && strcmp(first, "0") != 0) {
		rerun->input_bytes = first;
		rerun->input_hash = second;
	}
	return CLI_DONE;
}

int rerun_read(struct rerun *rerun, char *recipe, const char *trace)
{
	size_t length = strlen(recipe);
	int status;
	char *line;

	*rerun = (struct rerun){ .trace = trace };
	if (length > RERUN_BYTES_MAX)
		return cli_complain(CLI_DAMAGED, "%s: its recipe has %zu bytes, more than laplace "
				    "run writes (%d)", trace, length, RERUN_BYTES_MAX);
	status = take_copy(&rerun->options, "run");
	while (!status && (line = strsep(&recipe, "\n"))) {
		if (line[strspn(line, known)] != '\0')
			return cli_complain(CLI_DAMAGED, "%s: its recipe is damaged", trace);
		status = read_line(rerun, line);
	}
	if (!status && !rerun->arguments.count)
		status = cli_complain(CLI_DAMAGED, "%s: its recipe names no program", trace);
	return status;
}

static void free_words(struct rerun_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	free(words->word);
}

void rerun_free(struct rerun *rerun)
{
	free_words(&rerun->options);
	free_words(&rerun->arguments);
	free_words(&rerun->files);
}

int rerun_choose_kernel(struct rerun *rerun, const char *kernel)
{
	char *word;

	if (!kernel && !rerun->kernel)
		return CLI_DONE;
	if (asprintf(&word, "--kernel=%s", kernel ? kernel : rerun->kernel) < 0)
		word = NULL;
	if (kernel)
		rerun->kernel = NULL;
	return take(&rerun->options, word);
}

/* As a shell takes it, in printable ASCII. */
static void show_word(const char *word)
{
	bool printable = true;

	putchar(' ');
	if (*word && word[strspn(word, bare)] == '\0') {
		fputs(word, stdout);
		return;
	}
	for (const char *at = word; *at; at++)
		printable = printable && *at >= ' ' && *at <= '~';
	fputs(printable ? "'" : "$'", stdout);
	for (; *word; word++) {
		if (*word == '\'')
			fputs(printable ? "'\\''" : "\\'", stdout);
		else if (printable || (*word >= ' ' && *word <= '~' && *word != '\\'))
			putchar(*word);
		else
			printf("\\%03o", (unsigned char)*word);
	}
	putchar('\'');
}

void rerun_show(const struct rerun *rerun)
{
	if (rerun->directory)
		cli_say(stdout, "what would be run, in %s:", rerun->directory);
	else
		puts("what would be run:");
	fputs("  laplace", stdout);
	for (size_t i = 0; i < rerun->options.count; i++)
		show_word(rerun->options.word[i]);
	fputs(" --", stdout);
	for (size_t i = 0; i < rerun->arguments.count; i++)
		show_word(rerun->arguments.word[i]);
	putchar('\n');
	if (rerun->input_bytes)
		cli_say(stdout, "  with standard input of %s bytes, SHA-256 %s", rerun->input_bytes,
			rerun->input_hash);
}

/* ---- what is not as it was ---- */

/* A program that is found in $PATH is compared when it is run. */
static size_t check_file(const char *hash, const char *path)
{
	char now[SHA256_SIZE];
	const char *wrong = sha256_regular(now, path);

	if (wrong)
		cli_say(stdout, "  not as it was: %s %s", path, wrong);
	else if (strcmp(now, hash) != 0)
		cli_say(stdout, "  not as it was: %s has changed (%s, not %s)", path, now, hash);
	else
		return 0;
	return 1;
}

/* Of two simulators, which stand beside each other, those that are used here. */
static size_t check_simulator(const char *hash, const char *path, const char *bochs)
{
	size_t length = strlen(path);
	bool all = length >= 4 && strcmp(path + length - 4, "-all") == 0;
	char *ours;
	size_t other;

	if (asprintf(&ours, "%s%s", bochs ? bochs : "laplace-bochs", all ? "-all" : "") < 0)
		return 1;
	other = check_file(hash, ours);
	free(ours);
	return other;
}

static size_t check_below(const char *hash, const char *path, const char *directory)
{
	char *whole;
	size_t other;

	if (path[0] == '/')
		return check_file(hash, path);
	if (asprintf(&whole, "%s/%s", directory ? directory : "", path) < 0)
		return 1;
	other = check_file(hash, whole);
	free(whole);
	return other;
}

static bool is_package(const char *kernel)
{
	static const char begin[] = "linux-image-";
	size_t length = strlen(begin);

	return strncmp(kernel, begin, length) == 0 && kernel[length] &&
	       kernel[length + strspn(kernel + length, SMALL ".+-")] == '\0';
}

size_t rerun_check(const struct rerun *rerun, const char *bochs, bool *untrusted)
{
	char **file = rerun->files.word;
	size_t others = 0;
	struct stat about;

	for (size_t i = 0; i < rerun->files.count; i += 3) {
		if (strcmp(file[i], "simulator") == 0)
			others += check_simulator(file[i + 1], file[i + 2], bochs);
		else
			others += check_below(file[i + 1], file[i + 2], rerun->directory);
	}
	if (rerun->version && strcmp(rerun->version, PACKAGE_VERSION) != 0) {
		cli_say(stdout, "  not as it was: this is laplace %s, and that was %s",
			PACKAGE_VERSION, rerun->version);
		others++;
	}
	if (rerun->directory && (stat(rerun->directory, &about) < 0 || !S_ISDIR(about.st_mode))) {
		cli_say(stdout, "  not as it was: the directory %s is not there", rerun->directory);
		others++;
	}
	/* what is in its directory runs here when the guest's module is built for it */
	*untrusted = rerun->kernel && !is_package(rerun->kernel);
	if (*untrusted) {
		cli_say(stdout, "  not as it was: the kernel is of the directory %s, which only you can "
			"trust: --kernel names it", rerun->kernel);
		others++;
	}
	return others;
}
