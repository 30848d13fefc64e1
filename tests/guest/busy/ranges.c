/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ranges ROUNDS: memory that is moved, grown, cut, protected, dropped. */
#include "busy.h"

#include <signal.h>
#include <sys/mman.h>

enum { PAGES = 40, SEED = 31000 };

static volatile unsigned char *guarded;
static volatile sig_atomic_t faults;

static unsigned char *anonymous(void *at, unsigned int pages)
{
	return map(at, pages * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static unsigned char *move(unsigned char *at, unsigned int pages, unsigned int to, int flags)
{
	unsigned char *got = mremap(at, pages * PAGE, to * PAGE, MREMAP_MAYMOVE | flags);

	if (got == MAP_FAILED)
		die("mremap");
	return got;
}

static void moves(uint64_t seed)
{
	/* with a page after it, so that they cannot grow where they are */
	unsigned char *at = anonymous(NULL, PAGES + 1), *left = at;

	fill(at, PAGES, seed);
	at = move(at, PAGES, 2 * PAGES, 0);
	call(munmap(left + PAGES * PAGE, PAGE), "munmap");
	verify(at, PAGES, seed, "moved pages");
	require(at[PAGES * PAGE] == 0, "what was added");
	at = move(at, 2 * PAGES, PAGES / 2, 0);
	verify(at, PAGES / 2, seed, "pages that are left");
	left = at;
	at = move(at, PAGES / 2, PAGES / 2, MREMAP_DONTUNMAP);
	verify(at, PAGES / 2, seed, "pages that moved without their mapping");
	require(left[0] == 0, "the mapping that they left");
	call(munmap(at + 3 * PAGE, 2 * PAGE), "munmap");
	verify(at + 5 * PAGE, PAGES / 2 - 5, seed + 5, "pages beyond a hole");
	anonymous(at + 3 * PAGE, 2);
	call(munmap(at, PAGES / 2 * PAGE), "munmap");
	call(munmap(left, PAGES / 2 * PAGE), "munmap");
}

static void give_back(int number)
{
	(void)number;
	faults++;
	if (mprotect((void *)guarded, PAGES * PAGE, PROT_READ | PROT_WRITE) < 0)
		_exit(1);
}

static void protects(uint64_t seed)
{
	struct sigaction action = { .sa_handler = give_back };

	faults = 0;
	guarded = anonymous(NULL, PAGES);
	call(sigaction(SIGSEGV, &action, NULL), "sigaction");
	fill(guarded, PAGES, seed);
	call(mprotect((void *)guarded, PAGES * PAGE, PROT_READ), "mprotect");
	verify(guarded, PAGES, seed, "protected pages");
	guarded[PAGE] = 1;
	require(faults == 1 && guarded[PAGE] == 1, "protection");
	call(mprotect((void *)(guarded + 2 * PAGE), PAGE, PROT_NONE), "mprotect");
	guarded[2 * PAGE] = 2;
	require(faults == 2, "no access");
	verify(guarded + 3 * PAGE, PAGES - 3, seed + 3, "pages that were protected");
	call(munmap((void *)guarded, PAGES * PAGE), "munmap");
}

static void drops(uint64_t seed)
{
	unsigned char *at = anonymous(NULL, PAGES);

	fill(at, PAGES, seed);
	call(madvise(at, 10 * PAGE, MADV_DONTNEED), "MADV_DONTNEED");
	require(at[0] == 0 && at[9 * PAGE] == 0, "dropped pages");
	call(madvise(at + 10 * PAGE, 10 * PAGE, MADV_FREE), "MADV_FREE");
	fill(at + 10 * PAGE, 10, seed + 10);
	call(madvise(at + 10 * PAGE, 20 * PAGE, MADV_PAGEOUT), "MADV_PAGEOUT");
	call(madvise(at + 10 * PAGE, 10 * PAGE, MADV_WILLNEED), "MADV_WILLNEED");
	verify(at + 10 * PAGE, PAGES - 10, seed + 10, "pages that left and were read again");
	call(munmap(at, PAGES * PAGE), "munmap");
}

static __attribute__((noinline)) unsigned int descend(unsigned int depth)
{
	volatile unsigned char frame[PAGE];

	frame[0] = (unsigned char)depth;
	return depth ? descend(depth - 1) + frame[0] : frame[0];
}

static void heap(uint64_t seed)
{
	unsigned char *at = sbrk(PAGES * PAGE);

	require(at != (void *)-1, "sbrk");
	fill(at, PAGES - 1, seed);
	verify(at, PAGES - 1, seed, "the heap");
	require(sbrk(-(intptr_t)(PAGES * PAGE)) != (void *)-1, "sbrk back");
}

static void one_round(uint64_t seed)
{
	moves(seed);
	protects(seed);
	drops(seed);
	heap(seed);
}

void ranges(int argc, char *argv[])
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int round = 0; round < rounds; round++) {
		pid_t child = start(one_round, SEED + 1000U * (unsigned int)round);

		one_round(SEED + (uint64_t)round);
		join(child);
	}
	require(descend(60) == 60 * 61 / 2, "the stack");
}
