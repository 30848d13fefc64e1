/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which checkpoint a recording is taken up at; see checkpoint.h. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"
#include "say.h"

static const char MARK[] = ".checkpoint.";

/* The number after the mark; 0: that is none. */
static unsigned long number_of(const char *digits)
{
	size_t length = strspn(digits, "0123456789");

	return length >= 6 && length <= 15 && digits[length] == '\0' ? strtoul(digits, NULL, 10) : 0;
}

/* The newest checkpoint of `base` in this directory; 0: there is none. */
static unsigned long newest(const char *folder, const char *base)
{
	DIR *directory = opendir(folder);
	size_t length = strlen(base);
	unsigned long most = 0;
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		const char *name = entry->d_name;
		unsigned long number = 0;

		if (strncmp(name, base, length) == 0 &&
		    strncmp(name + length, MARK, strlen(MARK)) == 0)
			number = number_of(name + length + strlen(MARK));
		most = number > most ? number : most;
	}
	if (directory)
		closedir(directory);
	return most;
}

/* Cut off what says that this is a checkpoint, or a trace that is not complete. */
static unsigned long cut(char *path)
{
	char *mark = strstr(path, MARK), *next;
	size_t length = strlen(path);
	unsigned long number;

	while (mark && (next = strstr(mark + 1, MARK)))
		mark = next;
	number = mark ? number_of(mark + strlen(MARK)) : 0;
	if (number)
		*mark = '\0';
	else if (length > 5 && strcmp(path + length - 5, ".part") == 0)
		path[length - 5] = '\0';
	return number;
}

/* Is there a trace of this name, or what of one was recorded before it was cut off? */
static bool was_begun(const char *trace)
{
	char part[PATH_MAX];

	return access(trace, F_OK) == 0 ||
	       (snprintf(part, sizeof(part), "%s.part", trace) < (int)sizeof(part) &&
		access(part, F_OK) == 0);
}

int cli_find_checkpoint(const char *given, char trace[PATH_MAX], char checkpoint[PATH_MAX])
{
	char folder[PATH_MAX], path[PATH_MAX];
	const char *slash, *base;
	unsigned long number;
	struct stat about;
	size_t length = strlen(given);

	while (length > 1 && given[length - 1] == '/')
		length--;
	if (snprintf(path, sizeof(path), "%.*s", (int)length, given) >= (int)sizeof(path))
		return cli_complain(CLI_USAGE, "--resume: the path is too long");
	number = cut(path);
	slash = strrchr(path, '/');
	base = slash ? slash + 1 : path;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1,
		 slash ? path : ".");
	if (!*base || !realpath(folder, trace))
		return cli_complain(CLI_FAILED, "%s: cannot be resumed: %s", given,
				    *base ? strerror(errno) : "it names no trace");
	if (!number)
		number = newest(trace, base);
	if (!number && !was_begun(path))
		return cli_complain(CLI_FAILED, "%s: no recording of that name was begun", given);
	if (!number)
		return cli_complain(CLI_FAILED, "%s: has no checkpoint to go on from (record "
				    "--checkpoint makes them); a run repeats exactly, so record it "
				    "once more, with --overwrite", given);
	length = strlen(trace);
	if (snprintf(trace + length, PATH_MAX - length, "%s%s", strcmp(trace, "/") ? "/" : "",
		     base) >= (int)(PATH_MAX - length) ||
	    snprintf(checkpoint, PATH_MAX, "%s%s%06lu", trace, MARK, number) >= PATH_MAX)
		return cli_complain(CLI_USAGE, "--resume: the path is too long");
	if (snprintf(path, sizeof(path), "%s/place", checkpoint) >= (int)sizeof(path) ||
	    stat(path, &about) != 0 || !S_ISREG(about.st_mode))
		return cli_complain(CLI_FAILED, "%s: is no checkpoint", checkpoint);
	return CLI_DONE;
}
