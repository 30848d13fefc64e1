/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The symbols of a guest's kernel.
 *
 * The recipe in a trace's header names what the guest booted from, by its SHA-256, and the list of
 * its kernel's symbols has that in its name.  So a list is of exactly that kernel, or it is not found.
 */
#include "symbols.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/recipe.h"
#include "cli/say.h"

#define HASH_LENGTH	64
#define KEY		"guest "

/*
 * What the guest booted from.  It becomes a part of a path, so it is hexadecimal digits, whoever made
 * the trace.
 */
static bool find_hash(const struct lpl_meta *meta, char hash[HASH_LENGTH + 1])
{
	char *text = recipe_text(meta), *rest = NULL;
	bool found = false;

	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && !found;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *value = line + strlen(KEY);

		if (strncmp(line, KEY, strlen(KEY)) != 0 || strlen(value) != HASH_LENGTH ||
		    strspn(value, "0123456789abcdef") != HASH_LENGTH)
			continue;
		memcpy(hash, value, HASH_LENGTH + 1);
		found = true;
	}
	free(text);
	return found;
}

/* As guest-program/guest finds the cache; NULL: there is none, or no memory. */
static char *list_path(const char *hash)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const bool named = cache && *cache;
	char *path;

	if (!named && !(home && *home))
		return NULL;
	if (asprintf(&path, "%s%s/laplace/symbols-%s", named ? cache : home,
		     named ? "" : "/.cache", hash) < 0)
		return NULL;
	return path;
}

struct symbols *guest_symbols(const char *path, const struct lpl_meta *meta)
{
	struct symbols *symbols = NULL;
	char hash[HASH_LENGTH + 1], *list;
	struct stat about;

	if (!find_hash(meta, hash))
		return NULL;
	list = list_path(hash);
	if (list && stat(list, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
		(void)symbols_read(&symbols, list);
	else
		(void)cli_complain(CLI_DONE, "%s: the symbols of its guest's kernel are not here; --symbols "
				   "names a file that has them", path);
	free(list);
	return symbols;
}
