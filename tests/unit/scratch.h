/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory of a test's own: made before its first case, removed with all that is in it
 * after the last one, by cmocka_run_group_tests(tests, make_directory, remove_directory).
 */
#ifndef LAPLACE_TESTS_SCRATCH_H
#define LAPLACE_TESTS_SCRATCH_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char directory[] = "/tmp/laplace-test-XXXXXX";

/* A path in it; the caller's until the call after next. */
static inline const char *in_directory(const char *name)
{
	static char paths[2][128];
	static int turn;

	turn = !turn;
	(void)snprintf(paths[turn], sizeof(paths[turn]), "%s/%s", directory, name);
	return paths[turn];
}

static inline bool exists(const char *name)
{
	return access(in_directory(name), F_OK) == 0;
}

static inline int make_directory(void **unused)
{
	(void)unused;
	return mkdtemp(directory) ? 0 : -1;
}

static inline int remove_directory(void **unused)
{
	DIR *files = opendir(directory);
	struct dirent *file;

	(void)unused;
	if (!files)
		return -1;
	while ((file = readdir(files)))
		(void)unlinkat(dirfd(files), file->d_name, 0);
	(void)closedir(files);
	return rmdir(directory);
}

#endif
