/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Run files through a fuzzer's entry point, where there is no libFuzzer: FILE or DIRECTORY ...,
 * of a directory every file.  Whatever the fuzzer finds ends the program; so a corpus that was
 * found once is a regression test with any compiler.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fuzz.h"

#define LARGEST_INPUT (1 << 20)

static bool run_file(const char *path)
{
	static uint8_t bytes[LARGEST_INPUT];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file) {
		perror(path);
		return false;
	}
	size = fread(bytes, 1, sizeof(bytes), file);
	if (ferror(file) || fclose(file) != 0) {
		perror(path);
		return false;
	}
	(void)LLVMFuzzerTestOneInput(bytes, size);
	return true;
}

/* The files in it, by name; how many, -1: it cannot be read. */
static int run_directory(const char *path)
{
	struct dirent **entry;
	int count = scandir(path, &entry, NULL, alphasort), files = 0;
	char name[4096];

	for (int i = 0; i < count; i++) {
		(void)snprintf(name, sizeof(name), "%s/%s", path, entry[i]->d_name);
		if (entry[i]->d_name[0] != '.' && files >= 0)
			files = run_file(name) ? files + 1 : -1;
		free(entry[i]);
	}
	if (count < 0)
		perror(path);
	else
		free(entry);
	return count < 0 ? -1 : files;
}

int main(int argc, char **argv)
{
	int files = 0;

	for (int i = 1; i < argc; i++) {
		struct stat status;
		int more = 0;

		if (stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode))
			more = run_directory(argv[i]);
		else
			more = run_file(argv[i]) ? 1 : -1;
		if (more < 0)
			return 1;
		files += more;
	}
	if (files == 0) {
		fprintf(stderr, "%s: there is no input\n", argv[0]);
		return 1;
	}
	printf("%d inputs\n", files);
	return 0;
}
