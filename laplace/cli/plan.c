/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recipe, as a command that can be run again; see plan.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plan.h"
#include "recipe.h"
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
	"seed", "print-limit", "root", "env", "keep", "with", "take", "kernel", NULL
};
static const char *const without_value[] = { "clear-env", "here", "init", "walks", "whole", NULL };
static const char *const hashed[] = { "simulator", "firmware", "program", "root", "file", NULL };

static bool is_one_of(const char *const names[], const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* A word that is ours to free. */
static int take(struct plan_words *words, char *word)
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

static int take_copy(struct plan_words *words, const char *text)
{
	return take(words, strdup(text));
}

static int take_option(struct plan *plan, const char *name, const char *value)
{
	char *word;

	if (is_one_of(without_value, name))
		value = NULL;
	else if (!is_one_of(with_value, name))
		return cli_complain(CLI_DAMAGED, "%s: its recipe has an option that is none of "
				    "laplace run's: %s", plan->trace, name);
	if (strcmp(name, "kernel") == 0) {
		plan->kernel = value;
		return CLI_DONE;
	}
	if (value && strcmp(name, "swap") == 0 && strcmp(value, "0") == 0)
		return CLI_DONE;
	if (asprintf(&word, "--%s%s%s", name, value ? "=" : "", value ? value : "") < 0)
		word = NULL;
	return take(&plan->options, word);
}

static int take_file(struct plan *plan, const char *key, const char *hash, const char *path)
{
	int status;

	if (plan->files.count >= 3 * PLAN_FILES_MAX)
		return cli_complain(CLI_DAMAGED, "%s: its recipe names more files than laplace "
				    "run writes (%d)", plan->trace, PLAN_FILES_MAX);
	status = take_copy(&plan->files, key);
	status = status ? status : take_copy(&plan->files, hash);
	return status ? status : take_copy(&plan->files, path);
}

static int read_line(struct plan *plan, char *line)
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
		return take_file(plan, line, first, second);
	if (strcmp(line, "option") == 0)
		return take_option(plan, first, second);
	if (strcmp(line, "argument") == 0)
		return take_copy(&plan->arguments, first);
	if (strcmp(line, "too-long") == 0)
		return cli_complain(CLI_DAMAGED, "%s: its recipe was too long for a header",
				    plan->trace);
	if (strcmp(line, "directory") == 0 && first[0] != '/')
		return cli_complain(CLI_DAMAGED, "%s: its recipe has a directory that is no whole "
				    "path: %s", plan->trace, first);
	if (strcmp(line, "directory") == 0)
		plan->directory = first;
	else if (strcmp(line, "version") == 0)
		plan->version = first;
	else if (strcmp(line, "input") == 0 && strcmp(first, "0") != 0) {
		plan->input_bytes = first;
		plan->input_hash = second;
	}
	return CLI_DONE;
}

int plan_read(struct plan *plan, char *recipe, const char *trace)
{
	size_t length = strlen(recipe);
	int status;
	char *line;

	*plan = (struct plan){ .trace = trace };
	if (length > PLAN_BYTES_MAX)
		return cli_complain(CLI_DAMAGED, "%s: its recipe has %zu bytes, more than laplace "
				    "run writes (%d)", trace, length, PLAN_BYTES_MAX);
	status = take_copy(&plan->options, "run");
	while (!status && (line = strsep(&recipe, "\n"))) {
		if (line[strspn(line, known)] != '\0')
			return cli_complain(CLI_DAMAGED, "%s: its recipe is damaged", trace);
		status = read_line(plan, line);
	}
	if (!status && !plan->arguments.count)
		status = cli_complain(CLI_DAMAGED, "%s: its recipe names no program", trace);
	return status;
}

static void free_words(struct plan_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	free(words->word);
}

void plan_free(struct plan *plan)
{
	free_words(&plan->options);
	free_words(&plan->arguments);
	free_words(&plan->files);
}

int plan_choose_kernel(struct plan *plan, const char *kernel)
{
	char *word;

	if (!kernel && !plan->kernel)
		return CLI_DONE;
	if (asprintf(&word, "--kernel=%s", kernel ? kernel : plan->kernel) < 0)
		word = NULL;
	if (kernel)
		plan->kernel = NULL;
	return take(&plan->options, word);
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

void plan_show(const struct plan *plan)
{
	if (plan->directory)
		cli_say(stdout, "what would be run, in %s:", plan->directory);
	else
		puts("what would be run:");
	fputs("  laplace", stdout);
	for (size_t i = 0; i < plan->options.count; i++)
		show_word(plan->options.word[i]);
	fputs(" --", stdout);
	for (size_t i = 0; i < plan->arguments.count; i++)
		show_word(plan->arguments.word[i]);
	putchar('\n');
	if (plan->input_bytes)
		cli_say(stdout, "  with standard input of %s bytes, SHA-256 %s", plan->input_bytes,
			plan->input_hash);
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

size_t plan_check(const struct plan *plan, const char *bochs, bool *untrusted)
{
	char **file = plan->files.word;
	size_t others = 0;
	struct stat about;

	for (size_t i = 0; i < plan->files.count; i += 3) {
		if (strcmp(file[i], "simulator") == 0)
			others += check_simulator(file[i + 1], file[i + 2], bochs);
		else
			others += check_below(file[i + 1], file[i + 2], plan->directory);
	}
	if (plan->version && strcmp(plan->version, PACKAGE_VERSION) != 0) {
		cli_say(stdout, "  not as it was: this is laplace %s, and that was %s",
			PACKAGE_VERSION, plan->version);
		others++;
	}
	if (plan->directory && (stat(plan->directory, &about) < 0 || !S_ISDIR(about.st_mode))) {
		cli_say(stdout, "  not as it was: the directory %s is not there", plan->directory);
		others++;
	}
	/* what is in its directory runs here when the guest's module is built for it */
	*untrusted = plan->kernel && !is_package(plan->kernel);
	if (*untrusted) {
		cli_say(stdout, "  not as it was: the kernel is of the directory %s, which only you can "
			"trust: --kernel names it", plan->kernel);
		others++;
	}
	return others;
}
