/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an output may replace; see replace.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/trace.h>

#include "replace.h"
#include "say.h"

int cli_refuse_existing(const char *path, bool overwrite)
{
	struct stat existing;

	/* a link to nothing is something, too */
	if (overwrite || strcmp(path, "-") == 0 || lstat(path, &existing) != 0)
		return CLI_DONE;
	return cli_complain(CLI_USAGE, "%s: exists; --overwrite replaces it", path);
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Is the file below the directory?  Links are followed first: a name may lie. */
static bool holds(const struct stat *directory, const char *file)
{
	char path[PATH_MAX], *slash;
	struct stat above;

	if (!realpath(strcmp(file, "-") == 0 ? "/dev/stdin" : file, path))
		return false;
	while ((slash = strrchr(path, '/')) && slash != path) {
		*slash = '\0';
		if (stat(path, &above) == 0 && is_same(&above, directory))
			return true;
	}
	return false;
}

/* `output` as it is named; *in is the input. */
static int refuse_one(const char *output, const char *input, const struct stat *in)
{
	bool standard = strcmp(output, "-") == 0;
	struct stat out;

	if ((standard ? fstat(STDOUT_FILENO, &out) : stat(output, &out)) != 0)
		return CLI_DONE;
	if (is_same(&out, in))
		return cli_complain(CLI_USAGE, "%s: is the input (%s): the output needs another "
				    "name", standard ? "standard output" : output, input);
	if (S_ISDIR(out.st_mode) && holds(&out, input))
		return cli_complain(CLI_USAGE, "%s: holds the input (%s): the output needs "
				    "another name", output, input);
	return CLI_DONE;
}

struct question {
	const char *output, *part;	/* NULL: it has none */
	const char *input;
};

/* Of one file of the input. */
static int refuse_file(void *context, const char *file)
{
	const struct question *question = context;
	struct stat in;
	int status;

	/* a device or a pipe may be both at once: its user knows what that does */
	if ((strcmp(file, "-") == 0 ? fstat(STDIN_FILENO, &in) : stat(file, &in)) != 0 ||
	    !S_ISREG(in.st_mode))
		return CLI_DONE;
	status = refuse_one(question->output, question->input, &in);
	return status || !question->part ? status : refuse_one(question->part, question->input, &in);
}

int cli_refuse_input(const char *output, const char *input)
{
	struct question question = { .output = output, .input = input };
	size_t length = strlen(output);
	char *part = NULL;
	int status;

	while (length > 1 && output[length - 1] == '/')
		length--;
	if (strcmp(output, "-") != 0 && asprintf(&part, "%.*s.part", (int)length, output) < 0)
		return cli_complain(CLI_FAILED, "no memory");
	question.part = part;
	status = lpl_trace_files(input, refuse_file, &question);
	free(part);
	return status < 0 ? cli_complain(CLI_FAILED, "no memory") : status;
}

/* Two names in one directory.  "-" is no name. */
static bool is_same_name(const char *one, const char *other)
{
	const char *last = strrchr(one, '/'), *other_last = strrchr(other, '/');
	char directory[PATH_MAX];
	struct stat in, other_in;

	last = last ? last + 1 : one;
	other_last = other_last ? other_last + 1 : other;
	if (strcmp(last, other_last) != 0)
		return false;
	snprintf(directory, sizeof(directory), "%.*s.", (int)(last - one), one);
	if (stat(directory, &in) != 0)
		return false;
	snprintf(directory, sizeof(directory), "%.*s.", (int)(other_last - other), other);
	return stat(directory, &other_in) == 0 && is_same(&in, &other_in);
}

/* Is the ".part" of the one the other? */
static bool is_part_of(const char *one, const char *other)
{
	char part[PATH_MAX];

	return snprintf(part, sizeof(part), "%s.part", one) < (int)sizeof(part) && is_same_name(part, other);
}

bool cli_is_same_output(const char *one, const char *other)
{
	struct stat is, other_is;

	if (strcmp(one, "-") == 0 || strcmp(other, "-") == 0)
		return strcmp(one, other) == 0;
	return is_same_name(one, other) || is_part_of(one, other) || is_part_of(other, one) ||
	       (stat(one, &is) == 0 && stat(other, &other_is) == 0 && S_ISREG(is.st_mode) &&
		is_same(&is, &other_is));
}
