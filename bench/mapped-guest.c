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

enum { MEBIBYTE = 1024 * 1024 };

int main(int argc, char **argv)
{
	uint64_t sum = 0, *word;
	size_t length;
	int file;

	if (argc != 4) {
		fputs("usage: mapped-guest FILE FIRST MEBIBYTES\n", stderr);
		return 2;
	}
	length = strtoul(argv[3], NULL, 10) * MEBIBYTE;
	file = open(argv[1], O_RDONLY);
	word = mmap(NULL, length, PROT_READ, MAP_SHARED, file, (off_t)strtoul(argv[2], NULL, 10) * MEBIBYTE);
	if (file < 0 || word == MAP_FAILED) {
		perror(argv[1]);
		return 1;
	}
	for (size_t i = 0; i < length / sizeof(*word); i++)
		sum += word[i];
	printf("%" PRIx64 "\n", sum);
	return 0;
}
