/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a job is made from: a trace; or the simulator, and the program with the files that its
 * command names and the place where it runs, or the bochsrc with the files that this names.  Of what else a program needs,
 * such as shared libraries, nothing is looked at: the key `inputs' names what shall count.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/record.h>

#include "cli/find.h"
#include "cli/say.h"
#include "job_inputs.h"

static bool is_there(const char *path)
{
	struct stat about;

	return *path && stat(path, &about) == 0 &&
	       (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

/*
 * A kernel's directory (linux-module/fetch-kernel), by what names its files and by the kernel itself:
 * the other ten thousand, modules and headers, came with it.
 */
static int tell_kernel(struct inputs *inputs, FILE *about, const char *directory)
{
	static const char key[] = "KERNEL_IMAGE=";
	char *path = NULL, *line = NULL;
	FILE *file = asprintf(&path, "%s/kernel.env", directory) < 0 ? NULL : fopen(path, "re");
	int status = file ? inputs_tell(inputs, about, path, path) :
		cli_complain(CLI_FAILED, "%s: %s", path ? path : directory, strerror(errno));
	size_t size = 0;

	while (!status && file && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, key, strlen(key)) == 0)
			status = inputs_tell(inputs, about, line + strlen(key), "kernel");
	}
	if (file)
		fclose(file);
	free(line);
	free(path);
	return status;
}

/* The value of an option, if that is a path. */
static int tell_option(struct inputs *inputs, FILE *about, const char *word)
{
	static const char kernel[] = "--kernel=";
	const char *value = strchr(word, '=');

	if (!value || !is_there(value + 1))
		return CLI_DONE;
	return strncmp(word, kernel, strlen(kernel)) == 0 ?
		tell_kernel(inputs, about, value + 1) :
		inputs_tell(inputs, about, value + 1, value + 1);
}

/* A word that is a path, or has one behind its first = or a letter (-I/usr/include). */
static int tell_word(struct inputs *inputs, FILE *about, const char *word)
{
	const char *value = strchr(word, '=');
	const char *const path[] = {
		word, value ? value + 1 : "",
		word[0] == '-' && isalpha((unsigned char)word[1]) ? word + 2 : ""
	};
	int status = CLI_DONE;

	for (size_t i = 0; !status && i < sizeof(path) / sizeof(path[0]); i++) {
		if (is_there(path[i]))
			status = inputs_tell_word(inputs, about, path[i]);
	}
	return status;
}

static int tell_simulator(struct inputs *inputs, FILE *about)
{
	char *bochs = find_bochs_quietly(), *all = NULL;
	int status;

	if (!bochs)
		return cli_complain(CLI_FAILED, "laplace-bochs is neither installed with laplace nor in "
				    "$PATH; LAPLACE_BOCHS names it");
	status = inputs_tell(inputs, about, bochs, "laplace-bochs");
	/* which takes its place where every reference is recorded */
	if (!status && asprintf(&all, "%s-all", bochs) >= 0 && access(all, F_OK) == 0)
		status = inputs_tell(inputs, about, all, "laplace-bochs-all");
	free(all);
	free(bochs);
	return status;
}

/* ---- programs ---- */

/* The guest has them as here; they are in its memory, and so in the trace. */
static int tell_place(FILE *about, bool of_root)
{
	mode_t mask = umask(0);
	char *directory = getcwd(NULL, 0);
	size_t size = directory ? 4 * strlen(directory) + 1 : 1;
	char *shown = malloc(size);
	int status = CLI_DONE;

	umask(mask);
	fprintf(about, "umask %03o\n", (unsigned int)mask);
	if (!directory || !shown)
		status = cli_complain(CLI_FAILED, "the directory of the campaign: %s",
				      strerror(errno));
	else if (!of_root)
		fprintf(about, "user %u:%u\ndirectory %s\n", (unsigned int)geteuid(),
			(unsigned int)getegid(),
			lpl_text_escape(shown, size, directory, strlen(directory)));
	free(directory);
	free(shown);
	return status;
}

static int tell_program(struct inputs *inputs, FILE *about, const char *name)
{
	char *path = strchr(name, '/') ? strdup(name) : find_in_path(name);
	int status = path ? inputs_tell(inputs, about, path, name) :
		cli_complain(CLI_FAILED, "%s: there is no such program", name);

	free(path);
	return status;
}

/* With --root the program and the paths in its command are of that root. */
static int tell_command(struct inputs *inputs, FILE *about, const struct campaign_words *words,
			bool of_root)
{
	size_t i = 0;
	int status = CLI_DONE;

	for (; i < words->count && strcmp(words->word[i], "--") != 0; i++)
		if (!status && strncmp(words->word[i], "--", 2) == 0)
			status = tell_option(inputs, about, words->word[i]);
	if (status || of_root || ++i >= words->count)
		return status;
	status = tell_program(inputs, about, words->word[i]);
	while (!status && ++i < words->count)
		status = tell_word(inputs, about, words->word[i]);
	return status;
}

/* `laplace run --root=...' */
static bool has_root(const struct campaign_words *words)
{
	for (size_t i = 0; i < words->count && strcmp(words->word[i], "--") != 0; i++) {
		if (strncmp(words->word[i], "--root=", strlen("--root=")) == 0)
			return true;
	}
	return false;
}

static int tell_run(struct inputs *inputs, FILE *about, const struct campaign_words *words)
{
	bool of_root = has_root(words);
	int status = tell_place(about, of_root);

	return status ? status : tell_command(inputs, about, words, of_root);
}

/* ---- images ---- */

/* path=, file= and image= of a line; quotes may be around what follows. */
static int tell_bochsrc_line(struct inputs *inputs, FILE *about, char *line)
{
	static const char *const key[] = { "path=", "file=", "image=" };
	int status = CLI_DONE;

	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		for (char *at = strstr(line, key[i]); !status && at; at = strstr(at, key[i])) {
			char *value = at + strlen(key[i]), *end, was;
			bool begins = at == line || strchr(" \t,:", at[-1]);
			bool quoted = *value == '"';

			at = value;
			value += quoted;
			end = value + strcspn(value, quoted ? "\"" : ", \t\r\n");
			was = *end;
			*end = '\0';
			if (begins && is_there(value))
				status = inputs_tell(inputs, about, value, value);
			*end = was;
		}
	}
	return status;
}

static int tell_bochsrc(struct inputs *inputs, FILE *about, const char *path)
{
	int status = inputs_tell(inputs, about, path, "bochsrc");
	FILE *file;
	char *line = NULL;
	size_t size = 0;

	if (status)
		return status;
	file = fopen(path, "re");
	if (!file)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	while (!status && getline(&line, &size, file) >= 0) {
		if (line[0] != '#')
			status = tell_bochsrc_line(inputs, about, line);
	}
	free(line);
	fclose(file);
	return status;
}

/* ---- a job ---- */

int job_inputs_tell(struct inputs *inputs, FILE *about, const struct job *job)
{
	const struct campaign_words *words = &job->words;
	int status;

	if (job->trace)
		return inputs_tell(inputs, about, job->trace, NULL);
	status = tell_simulator(inputs, about);
	if (!status && job->kind == JOB_RUN)
		status = tell_run(inputs, about, words);
	else if (!status)
		status = tell_bochsrc(inputs, about, words->word[words->count - 1]);
	for (size_t i = 0; !status && i < job->inputs.count; i++)
		status = inputs_tell(inputs, about, job->inputs.word[i], job->inputs.word[i]);
	return status;
}
