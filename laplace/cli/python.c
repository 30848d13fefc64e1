/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Subcommands that are written in Python; see python.h.  The interpreter looks at nothing of
 * the user's (-I), and leaves no files beside the modules (-B).
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "find.h"
#include "python.h"
#include "say.h"

void python_add(struct python_words *words, const char *name, const char *value,
		struct argp_state *state)
{
	if (!lpl_reach(words->word, words->room, words->count) ||
	    asprintf(&words->word[words->count], "%s=%s", name, value) < 0)
		argp_failure(state, CLI_FAILED, 0, "no memory");
	else
		words->count++;
}

void python_take(struct argp_state *state, const struct cli_option *option, const char *value, void *config)
{
	python_add(config, option->name, value ? value : "", state);
}

/* `modules` is the file to be run. */
static int become(const char *name, char *program, char *modules, const struct python_words *words)
{
	char *const first[] = {
		(char[]){ "python3" }, (char[]){ "-I" }, (char[]){ "-B" }, (char[]){ "-X" },
		(char[]){ "utf8" }, modules, (char *)(uintptr_t)name, program,
		(char[]){ PACKAGE_VERSION }
	};
	const size_t before = sizeof(first) / sizeof(first[0]);
	char **argv = calloc(before + words->count + 1, sizeof(*argv));
	int status;

	if (!argv)
		return cli_complain(CLI_FAILED, "no memory");
	memcpy(argv, first, sizeof(first));
	if (words->count)
		memcpy(argv + before, words->word, words->count * sizeof(*argv));
	execvp(argv[0], argv);
	status = cli_complain(CLI_FAILED, "python3: %s; it is needed (Debian's python3-laplace brings "
			      "it)", strerror(errno));
	free(argv);
	return status;
}

void python_free(struct python_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	free(words->word);
	*words = (struct python_words){ .count = 0 };
}

void python_add_bochs(struct python_words *words)
{
	char *bochs = find_bochs_quietly();

	if (bochs)
		python_add(words, "bochs", bochs, NULL);
	free(bochs);
}

int python_become(const char *name, struct python_words *words)
{
	char program[PATH_MAX], *modules = find_modules("laplace/__main__.py");
	int status;

	if (!modules)
		status = cli_complain(CLI_FAILED, "the Python modules that it needs are not installed "
				      "with laplace (Debian has them in python3-laplace)");
	else if (!find_self(program))
		status = cli_complain(CLI_FAILED, "/proc/self/exe: %s", strerror(errno));
	else
		status = become(name, program, modules, words);
	free(modules);
	python_free(words);
	return status;
}
