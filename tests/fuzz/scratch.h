/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory of a fuzzer's own in $TMPDIR, for what is opened by its name.  It is removed when the
 * fuzzer ends well; whoever starts fuzzers removes all of that directory.
 */
#ifndef LAPLACE_TESTS_FUZZ_SCRATCH_H
#define LAPLACE_TESTS_FUZZ_SCRATCH_H

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static char scratch_directory[400];

/* Its path; `name` in it, if that is not NULL.  Valid until the call after next. */
static inline const char *scratch_path(const char *name)
{
	static char path[2][700];
	static unsigned int next;

	next = !next;
	(void)snprintf(path[next], sizeof(path[next]), "%s%s%s", scratch_directory,
		       name ? "/" : "", name ? name : "");
	return path[next];
}

/* Remove all files in it. */
static inline void scratch_clear(void)
{
	DIR *directory = opendir(scratch_directory);
	const struct dirent *entry;

	require(directory != NULL);
	while ((entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.')
			require(unlink(scratch_path(entry->d_name)) == 0);
	require(closedir(directory) == 0);
}

static inline void scratch_remove(void)
{
	scratch_clear();
	(void)rmdir(scratch_directory);
}

/* There is one, and it is empty. */
static inline void scratch_begin(void)
{
	const char *temporary = getenv("TMPDIR");

	if (scratch_directory[0] != '\0') {
		scratch_clear();
		return;
	}
	(void)snprintf(scratch_directory, sizeof(scratch_directory), "%s/laplace-fuzz-XXXXXX",
		       temporary ? temporary : "/tmp");
	require(mkdtemp(scratch_directory) != NULL && atexit(scratch_remove) == 0);
}

struct bytes {
	uint8_t *data;		/* owned; NULL: there is no such file */
	size_t size;
};

static inline struct bytes scratch_load(const char *name)
{
	struct bytes bytes = { NULL, 0 };
	FILE *file = fopen(scratch_path(name), "rb");
	struct stat status;

	if (!file)
		return bytes;
	require(fstat(fileno(file), &status) == 0);
	bytes.size = (size_t)status.st_size;
	bytes.data = malloc(bytes.size + 1);
	require(bytes.data && fread(bytes.data, 1, bytes.size, file) == bytes.size);
	require(fclose(file) == 0);
	return bytes;
}

static inline void scratch_store(const char *name, const struct bytes *bytes)
{
	FILE *file;

	if (!bytes->data)
		return;
	file = fopen(scratch_path(name), "wb");
	require(file && fwrite(bytes->data, 1, bytes->size, file) == bytes->size);
	require(fclose(file) == 0);
}

#endif
