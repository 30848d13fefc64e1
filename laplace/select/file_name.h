/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files by the names that people give them. */
#ifndef LAPLACE_SELECT_FILE_NAME_H
#define LAPLACE_SELECT_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Is `path`, of that length, what `name` means: all of it if the name has a slash, or its last part? */
static inline bool lpl_is_file(const char *name, const char *path, size_t length)
{
	const char *slash = strchr(name, '/') == NULL ? memrchr(path, '/', length) : NULL;
	const size_t before = slash != NULL ? (size_t)(slash + 1 - path) : 0;

	return length - before == strlen(name) && memcmp(path + before, name, length - before) == 0;
}

#endif
