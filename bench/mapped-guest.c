/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mapped-guest FILE FIRST MEBIBYTES: reads a part of a file through a mapping, word by word, and prints their sum; for
 * bench/reclaim, which compiles it statically and runs it in a guest.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MEBIBYTE = 1024 * 1024 };

int main(int argc, char **argv)
{
	uint64_t sum = 0, *word = MAP_FAILED;
	size_t first, length;
	struct stat stat;
	int file;

	if (argc != 4) {
		fputs("usage: mapped-guest FILE FIRST MEBIBYTES\n", stderr);
		return 2;
	}
	first = strtoul(argv[2], NULL, 10) * MEBIBYTE;
	length = strtoul(argv[3], NULL, 10) * MEBIBYTE;
	file = open(argv[1], O_RDONLY);
	if (file >= 0 && fstat(file, &stat) == 0 && (size_t)stat.st_size < first + length) {
		fprintf(stderr, "%s: has no %zu bytes\n", argv[1], first + length);
		return 1;
	}
	if (file >= 0)
		word = mmap(NULL, length, PROT_READ, MAP_SHARED, file, (off_t)first);
	if (word == MAP_FAILED) {
		perror(argv[1]);
		return 1;
	}
	for (size_t i = 0; i < length / sizeof(*word); i++)
		sum += word[i];
	printf("%" PRIx64 "\n", sum);
	return 0;
}
