/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each way by which entries of page tables come, go and change: fork, threads,
 * exec, mprotect, mremap, System V, files mapped and read and written, mlock, a
 * debugger's look, /dev/zero, memory given back and taken anew.  Data are checked
 * at every step, often with more pages than the pool has between write and look.
 */
#include "workload.h"

#define CALL_mlock	((enum call)150)
#define CALL_munlock	((enum call)151)

enum { TRACEME = 0, PEEK = 1, POKE = 4, CONTINUE = 7 };

enum { MAYMOVE = 1, FIXED = 2 };

#define MOVES	4000	/* more than the least ring holds */
#define PAGES	120
#define WORDS	(PAGE / 4)

static void fill(volatile u32 *pages, u32 count, u32 mark)
{
	u32 i;

	for (i = 0; i < count; i++)
		pages[i * WORDS] = i + mark;
}

static int check(volatile u32 *pages, u32 count, u32 mark)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (pages[i * WORDS] != i + mark)
			return 1;
	return 0;
}

/* ---- fork: copies, broken from both sides ---- */

static int forks(volatile u32 *pages)
{
	int child = (int)must("fork", CALL0(fork)), result;

	if (child == 0) {
		result = check(pages, PAGES, 100);
		fill(pages, PAGES / 2, 5000);
		result |= check(pages, PAGES / 2, 5000);
		result |= check(pages + PAGES / 2 * WORDS, PAGES / 2, 100 + PAGES / 2);
		CALL1(exit, result);
	}
	fill(pages + PAGES / 2 * WORDS, PAGES / 2, 7000);
	result = check(pages, PAGES / 2, 100);
	result |= wait_for(child) != 0;
	result |= check(pages, PAGES / 2, 100);
	result |= check(pages + PAGES / 2 * WORDS, PAGES / 2, 7000);
	fill(pages, PAGES, 100);
	return result;
}

/* ---- threads: one space, faults of several tasks ---- */

struct team {
	volatile u32 *pages;
	volatile u32 done[3];
};
static struct team team;

static void work(u32 number)
{
	u32 round, i;

	for (round = 0; round < 40; round++) {
		for (i = number; i < PAGES; i += 3)
			team.pages[i * WORDS + 8 + number]++;
		if (round % 8 == 0)
			CALL0(sched_yield);
	}
	team.done[number] = 1;
	CALL1(exit, 0);
}

static int threads(volatile u32 *pages)
{
	u32 *stacks = pages_of(12), number, i;
	int pid[3], result = 0;

	team.pages = pages;
	for (number = 0; number < 3; number++)
		pid[number] = start_thread(work, number, stacks + (number + 1) * 4 * WORDS);
	for (number = 0; number < 3; number++)
		result |= wait_for(pid[number]) != 0 || !team.done[number];
	for (i = 0; i < PAGES; i++)
		result |= pages[i * WORDS + 8 + i % 3] != 40;
	CALL2(munmap, stacks, 12 * PAGE);
	return result;
}

/* ---- exec ---- */

int executed_run(void)
{
	volatile u32 *pages = pages_of(PAGES);

	fill(pages, PAGES, 31);
	return check(pages, PAGES, 31);
}

static int executes(void)
{
	static char *const arguments[] = { "/init", "executed", NULL };
	static char *const none[] = { NULL };
	int child = (int)must("fork", CALL0(fork));

	if (child == 0) {
		CALL3(execve, "/init", arguments, none);
		CALL1(exit, 1);
	}
	return wait_for(child);
}

/* ---- protection ---- */

static int protects(volatile u32 *pages)
{
	u32 bytes = PAGES * PAGE;
	int child, result;

	must("mprotect", CALL3(mprotect, pages, bytes, 0));
	/* what the program forbade itself is forbidden, traced or not */
	child = (int)must("fork", CALL0(fork));
	if (child == 0) {
		(void)pages[3 * WORDS];
		CALL1(exit, 0);
	}
	result = (wait_for(child) & 0x7f) != 11;
	must("mprotect", CALL3(mprotect, pages, bytes, PROT_READ));
	result |= check(pages, PAGES, 100);
	child = (int)must("fork", CALL0(fork));
	if (child == 0) {
		pages[3 * WORDS] = 0;
		CALL1(exit, 0);
	}
	result |= (wait_for(child) & 0x7f) != 11;
	must("mprotect", CALL3(mprotect, pages, bytes, PROT_READ | PROT_WRITE));
	result |= check(pages, PAGES, 100);
	fill(pages, PAGES, 300);
	result |= check(pages, PAGES, 300);
	fill(pages, PAGES, 100);
	return result;
}

/* ---- moves ---- */

static int moves(void)
{
	volatile u32 *pages = pages_of(PAGES), *hole, *moved;
	int result;

	fill(pages, PAGES, 400);
	/* what lies after it keeps it from growing in place */
	hole = (u32 *)must("mmap", map((u32)pages + PAGES * PAGE, PAGE, PROT_READ,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	moved = (u32 *)must("mremap", CALL4(mremap, pages, PAGES * PAGE, 2 * PAGES * PAGE, 1));
	result = moved == pages || check(moved, PAGES, 400);
	fill(moved, 2 * PAGES, 500);
	result |= check(moved, 2 * PAGES, 500);
	CALL2(munmap, hole, PAGE);
	CALL2(munmap, moved, 2 * PAGES * PAGE);
	/* the same addresses again: other pages, of zeros */
	pages = pages_of(PAGES);
	result |= pages[0] != 0 || pages[(PAGES - 1) * WORDS] != 0;
	fill(pages, PAGES, 600);
	result |= check(pages, PAGES, 600);
	CALL2(munmap, pages, PAGES * PAGE);
	return result;
}

/* Moved to and fro, many times, with no fault between: each move is a record. */
static int moves_often(void)
{
	volatile u32 *pages = pages_of(2);
	u32 i, from = (u32)pages;
	int result;

	pages[0] = 700;
	must("munmap", CALL2(munmap, from + PAGE, PAGE));
	for (i = 0; i < MOVES; i++, from ^= (u32)pages ^ ((u32)pages + PAGE))
		must("mremap", CALL5(mremap, from, PAGE, PAGE, MAYMOVE | FIXED,
				     (u32)pages + ((u32)pages + PAGE - from)));
	result = *(volatile u32 *)from != 700;
	CALL2(munmap, from, PAGE);
	return result;
}

/* ---- System V ---- */

static int attaches(void)
{
	int id = (int)must("shmget", shm_get(IPC_PRIVATE, PAGES * PAGE)), child, result;
	u32 at, again;

	must("shmat", shm_attach(id, 0, &at));
	fill((u32 *)at, PAGES, 800);
	child = (int)must("fork", CALL0(fork));
	if (child == 0) {
		must("shmat", shm_attach(id, 0, &again));
		result = again == at || check((u32 *)again, PAGES, 800) ||
			 check((u32 *)at, PAGES, 800);
		fill((u32 *)again, PAGES, 900);
		CALL1(exit, result);
	}
	result = wait_for(child);
	result |= check((u32 *)at, PAGES, 900);
	must("shmdt", shm_detach(at));
	must("shmctl", shm_remove(id));
	return result;
}

/* ---- files ---- */

static int maps_files(void)
{
	static u32 buffer[3 * WORDS];
	long fd = must("open", CALL3(open, "/tmp/file", O_RDWR | O_CREAT | O_TRUNC, 0600)), again;
	volatile u32 *shared, *own;
	int result = 0;
	u32 i;

	for (i = 0; i < 3 * WORDS; i++)
		buffer[i] = i;
	for (i = 0; i < 10; i++)
		result |= must("write", CALL3(write, fd, buffer, sizeof(buffer))) != sizeof(buffer);
	shared = (u32 *)must("mmap", map(0, 30 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0));
	own = (u32 *)must("mmap", map(0, 30 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd, 0));
	for (i = 0; i < 30; i++)
		result |= shared[i * WORDS + 5] != i % 3 * WORDS + 5 ||
			  own[i * WORDS + 5] != i % 3 * WORDS + 5;
	for (i = 0; i < 30; i++) {
		shared[i * WORDS + 5] = 4000 + i;
		own[i * WORDS + 6] = 6000 + i;
	}
	for (i = 0; i < 30; i++)
		result |= shared[i * WORDS + 6] != i % 3 * WORDS + 6 || own[i * WORDS + 6] != 6000 + i;
	again = must("open", CALL3(open, "/tmp/file", O_RDONLY, 0));
	for (i = 0; i < 10; i++) {
		result |= must("read", CALL3(read, again, buffer, sizeof(buffer))) != sizeof(buffer);
		result |= buffer[5] != 4000 + 3 * i || buffer[WORDS + 5] != 4000 + 3 * i + 1;
	}
	CALL2(munmap, shared, 30 * PAGE);
	CALL2(munmap, own, 30 * PAGE);
	CALL1(close, fd);
	CALL1(close, again);
	CALL1(unlink, "/tmp/file");
	/* a file of ext2, and a device that maps the page of zeros */
	fd = must("open", CALL3(open, "/init", O_RDONLY, 0));
	result |= must("read", CALL3(read, fd, buffer, sizeof(buffer))) <= 4 || buffer[0] != 0x464c457f;
	own = (u32 *)must("mmap", map(0, PAGE, PROT_READ, MAP_PRIVATE, (int)fd, 0));
	result |= own[0] != 0x464c457f;
	CALL2(munmap, own, PAGE);
	CALL1(close, fd);
	fd = must("open", CALL3(open, "/dev/zero", O_RDWR, 0));
	own = (u32 *)must("mmap", map(0, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd, 0));
	for (i = 0; i < PAGES; i++)
		result |= own[i * WORDS] != 0;
	fill(own, PAGES, 50);
	result |= check(own, PAGES, 50);
	result |= must("read", CALL3(read, fd, own, PAGES * PAGE)) != PAGES * PAGE;
	for (i = 0; i < PAGES; i++)
		result |= own[i * WORDS] != 0;
	CALL2(munmap, own, PAGES * PAGE);
	CALL1(close, fd);
	return result;
}

/* ---- by frames: a lock, a debugger ---- */

static int locks(void)
{
	volatile u32 *pages = pages_of(40);
	int result = 0;
	u32 i;

	must("mlock", CALL2(mlock, pages, 40 * PAGE));
	for (i = 0; i < 40; i++)
		result |= pages[i * WORDS] != 0;
	fill(pages, 40, 60);
	result |= check(pages, 40, 60);
	must("munlock", CALL2(munlock, pages, 40 * PAGE));
	result |= check(pages, 40, 60);
	CALL2(munmap, pages, 40 * PAGE);
	return result;
}

static int debugs(volatile u32 *pages)
{
	int child = (int)must("fork", CALL0(fork)), result = 0;
	u32 i, word;

	if (child == 0) {
		must("traceme", CALL4(ptrace, TRACEME, 0, 0, 0));
		CALL2(kill, CALL0(getpid), SIGSTOP);
		for (i = 0; i < PAGES; i++)
			result |= pages[i * WORDS + 3] != i + 11;
		CALL1(exit, result);
	}
	wait_for(child);
	for (i = 0; i < PAGES; i++) {
		must("peek", CALL4(ptrace, PEEK, child, pages + i * WORDS, &word));
		result |= word != i + 100;
		must("poke", CALL4(ptrace, POKE, child, pages + i * WORDS + 3, i + 11));
	}
	must("continue", CALL4(ptrace, CONTINUE, child, 0, 0));
	return result | (wait_for(child) != 0) | check(pages, PAGES, 100);
}

int calls_run(void)
{
	volatile u32 *pages = pages_of(PAGES);
	int result = 0;

	fill(pages, PAGES, 100);
	if (forks(pages))
		result = wrong("forks");
	if (threads(pages))
		result = wrong("threads");
	if (executes())
		result = wrong("executes");
	if (protects(pages))
		result = wrong("protects");
	if (moves())
		result = wrong("moves");
	if (attaches())
		result = wrong("attaches");
	if (maps_files())
		result = wrong("maps_files");
	if (locks())
		result = wrong("locks");
	if (debugs(pages))
		result = wrong("debugs");
	return result;
}

/* What waits for the reader by itself, and what must be made to. */
int slow_run(void)
{
	return moves_often() ? wrong("moves_often") : calls_run();
}
