/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pressure PAGES ROUNDS: more memory than there is, of a process and its child: its
 * own, shared by fork and parted by writes; and shared for good.
 */
#include "busy.h"

#include <sys/mman.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

enum { SEED = 77000, CHILD = 88000, SHARED = 99000 };

struct memory {
	volatile unsigned char *own, *shared;
	unsigned int pages, both;
};

static struct memory memory;

static uint64_t word(volatile unsigned char *at, unsigned int i)
{
	return *(volatile uint64_t *)(at + i * PAGE);
}

/* The child writes every third page, and sees the parent's others. */
static void child(uint64_t round)
{
	for (unsigned int i = 0; i < memory.pages; i += 3)
		fill(memory.own + i * PAGE, 1, CHILD + round + i);
	for (unsigned int i = 0; i < memory.pages; i++)
		require(word(memory.own, i) == scramble((i % 3 ? SEED : CHILD) + round + i),
			"a child's memory");
	for (unsigned int i = 0; i < memory.both; i += 2)
		fill(memory.shared + i * PAGE, 1, SHARED + round + i);
}

static void one_round(uint64_t round)
{
	pid_t pid;

	fill(memory.own, memory.pages, SEED + round);
	/* These go now, whatever else there is; the others when memory is short. */
	call(madvise((void *)memory.own, memory.pages / 8 * PAGE, MADV_PAGEOUT), "madvise");
	pid = start(child, round);
	for (unsigned int i = 1; i < memory.both; i += 2)
		fill(memory.shared + i * PAGE, 1, SHARED + round + i);
	for (unsigned int i = 0; i < memory.pages; i += 5)
		fill(memory.own + i * PAGE, 1, SEED + round + i);
	verify(memory.own, memory.pages, SEED + round, "a parent's memory");
	join(pid);
	verify(memory.shared, memory.both, SHARED + round, "shared memory");
	verify(memory.own, memory.pages, SEED + round, "a parent's memory, later");
}

void pressure(int argc, char *argv[])
{
	require(argc == 3, "pressure PAGES ROUNDS");
	memory.pages = (unsigned int)atoi(argv[1]);
	memory.both = memory.pages / 4;
	memory.own = map(NULL, memory.pages * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memory.shared = map(NULL, memory.both * PAGE, MAP_SHARED | MAP_ANONYMOUS, -1);
	for (int round = 0; round < atoi(argv[2]); round++)
		one_round((uint64_t)round);
}
