/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * huge-guest always|never PROGRAM [ARGUMENT...]: with transparent huge pages as the guest's kernel gives
 * them, or without any.  It needs no rights: what prctl(PR_SET_THP_DISABLE) says of a process holds for all
 * that it begins.  By another name it is one of the programs that bench/huge runs so:
 *
 *	walk	16 MB, once through each page and then eight times through each line
 *	hash	a table of 16 MB, a million random keys, half of them looked up again
 *	heap	100,000 nodes of some 80 bytes, each of its own malloc(), linked at random: five times through
 *	maps	256 mappings of 64 KB with as much between them: 500,000 random bytes
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { BYTES = 16 << 20, ROUNDS = 8, LINE = 64, SLOTS = BYTES / sizeof(uint64_t), KEYS = 1000000,
       NODES = 100000, CHASES = 5, MAPS = 256, MAP = 65536, BYTES_DRAWN = 500000 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t draw(void)
{
	static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Wherever the kernel puts it. */
static void *map(size_t bytes, int protection)
{
	void *memory = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	return memory;
}

static uint64_t walk(void)
{
	volatile uint8_t *memory = map(BYTES, PROT_READ | PROT_WRITE);
	uint64_t sum = 0;

	for (size_t i = 0; i < BYTES; i += 4096)
		memory[i] = (uint8_t)(i >> 12);
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < BYTES; i += LINE)
			sum += memory[i];
	return sum;
}

static uint64_t hash(void)
{
	uint64_t *slot = map(BYTES, PROT_READ | PROT_WRITE), found = 0;

	for (int i = 0; i < KEYS; i++) {
		const uint64_t key = draw() % (KEYS / 2) + 1;
		size_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (SLOTS - 1);

		while (slot[at] != 0 && slot[at] != key)
			at = (at + 1) & (SLOTS - 1);
		found += slot[at] == key;
		slot[at] = key;
	}
	return found;
}

struct node {
	struct node *next;
	uint64_t number, rest[7];
};

static uint64_t heap(void)
{
	static struct node *all[NODES];
	uint64_t sum = 0;

	for (size_t i = 0; i < NODES; i++) {
		all[i] = malloc(sizeof(struct node));
		if (all[i] == NULL)
			die("malloc");
		all[i]->number = draw();
	}
	for (size_t i = NODES - 1; i > 0; i--) {
		const size_t other = draw() % i;
		struct node *node = all[i];

		all[i] = all[other];
		all[other] = node;
	}
	for (size_t i = 0; i < NODES; i++)
		all[i]->next = all[(i + 1) % NODES];
	for (struct node *node = all[0]; sum < (uint64_t)CHASES * NODES; node = node->next)
		sum += 1 + (node->number == 0);
	return sum;
}

static uint64_t maps(void)
{
	uint8_t *memory = map((size_t)MAPS * 2 * MAP, PROT_NONE);
	uint64_t sum = 0;

	for (size_t i = 0; i < MAPS; i++)
		if (mprotect(memory + 2 * i * MAP, MAP, PROT_READ | PROT_WRITE) != 0)
			die("mprotect");
	for (int i = 0; i < BYTES_DRAWN; i++)
		sum += ++memory[draw() % MAPS * 2 * MAP + draw() % MAP];
	return sum;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t (*run)(void);
	} programs[] = { { "walk", walk }, { "hash", hash }, { "heap", heap }, { "maps", maps } };
	const char *slash = strrchr(argv[0], '/'), *name = slash != NULL ? slash + 1 : argv[0];

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(name, programs[i].name) != 0)
			continue;
		printf("%s %llu\n", name, (unsigned long long)programs[i].run());
		return 0;
	}
	if (argc < 3 || (strcmp(argv[1], "always") != 0 && strcmp(argv[1], "never") != 0)) {
		fprintf(stderr, "usage: huge-guest always|never PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	if (prctl(PR_SET_THP_DISABLE, strcmp(argv[1], "never") == 0, 0, 0, 0) != 0)
		die("prctl");
	execvp(argv[2], argv + 2);
	die(argv[2]);
	return 1;
}
