/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * copied: process 1 of a guest in which fork has to wait for memory, and others do not sleep
 * meanwhile: a thread writes to the space that is being copied, and a process truncates a
 * file of which the space has pages of its own.  There are hundreds of page tables to be
 * copied between the thread's first pages and the file, after which are its last ones.
 */
#include "guest.h"

enum {
	FIRST = 0x0c000000, SPARSE = 0x10000000, TABLES = 256, TABLE_MAPS = 0x400000,
	FILE = 0x58000000, FILE_PAGES = 8, FILL = 0x60000000, FILL_PAGES = 16 * 256,
	LAST = 0x70000000, THREAD_PAGES = 8, STACK = 0x74000000, SEGMENT = 0x78000000,
	ROUNDS = 24
};

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD)
#define RW (PROT_READ | PROT_WRITE)
#define OWN (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED)

static volatile u32 *at(u32 address)
{
	return (volatile u32 *)address;
}

static void write_pages(u32 address, u32 pages, u32 step)
{
	u32 i;

	for (i = 0; i < pages; i++)
		*at(address + i * step) = i + 1;
}

static void map_at(u32 address, u32 pages)
{
	must("mmap", map(address, pages * PAGE, RW, OWN, -1, 0));
}

/* Once, and longer again, for each 1 in the segment: a 0 says that it is done. */
static void truncate(long fd)
{
	for (;;) {
		while (*at(SEGMENT) == 0)
			CALL0(sched_yield);
		must("ftruncate", CALL2(ftruncate, fd, 0));
		must("ftruncate", CALL2(ftruncate, fd, FILE_PAGES * PAGE));
		*at(SEGMENT) = 0;
	}
}

static void wait_until_truncated(void)
{
	while (*at(SEGMENT) != 0)
		CALL0(sched_yield);
}

static void thread(void)
{
	for (;;) {
		write_pages(LAST, THREAD_PAGES, PAGE);
		write_pages(FIRST, THREAD_PAGES, PAGE);
		CALL0(sched_yield);
	}
}

/* A thread on a stack of its own, where it returns into `run`. */
static long spawn(void (*run)(void))
{
	u32 *stack = (u32 *)(STACK + PAGE) - 4;
	long result;

	*stack = (u32)run;
	__asm__ volatile("int $0x80\n"
			 "	testl %%eax, %%eax\n"
			 "	jnz 1f\n"
			 "	ret\n"
			 "1:"
			 : "=a"(result)
			 : "0"(CALL_clone), "b"(THREAD), "c"(stack)
			 : "memory");
	return result;
}

/* What the child finds in the file's pages: the parent's copies, or what is in the file. */
static const char *found(void)
{
	u32 i, copies = 0;

	for (i = 0; i < FILE_PAGES; i++)
		copies += *at(FILE + i * PAGE) == i + 1;
	return copies == 0 ? "mark file" : copies == FILE_PAGES ? "mark copies" : "mark both";
}

static void copy_once(void)
{
	int pid;

	write_pages(FILE, FILE_PAGES, PAGE);
	*at(SEGMENT) = 1;
	pid = (int)must("fork", CALL0(fork));
	if (pid == 0) {
		wait_until_truncated();
		must("mark", store("/proc/laplace", found()));
		CALL1(exit, 0);
	}
	wait_until_truncated();
	if (wait_for(pid) != 0)
		fail("a child did not end well", 0);
}

int main(int argc, char **argv)
{
	long file, truncating, writing;
	u32 i, where;
	int segment;

	(void)argc;
	(void)argv;
	must("mount", CALL5(mount, "proc", "/proc", "proc", 0, 0));
	must("swapon", CALL2(swapon, "/dev/hda", 0));
	file = must("open", CALL3(open, "/tmp/data", O_RDWR | O_CREAT, 0600));
	must("ftruncate", CALL2(ftruncate, file, FILE_PAGES * PAGE));
	segment = (int)must("shmget", shm_get(IPC_PRIVATE, PAGE));
	must("shmat", shm_attach(segment, SEGMENT, &where));
	truncating = must("fork", CALL0(fork));
	if (truncating == 0)
		truncate(file);

	for (i = 0; i < TABLES; i++)
		map_at(SPARSE + i * TABLE_MAPS, 1);
	write_pages(SPARSE, TABLES, TABLE_MAPS);
	must("mmap", map(FILE, FILE_PAGES * PAGE, RW, MAP_PRIVATE | MAP_FIXED, (int)file, 0));
	map_at(FILL, FILL_PAGES);
	map_at(FIRST, THREAD_PAGES);
	map_at(LAST, THREAD_PAGES);
	map_at(STACK, 1);
	writing = must("clone", spawn(thread));
	must("syscalls", store("/proc/laplace", "syscalls 2"));
	for (i = 0; i < ROUNDS; i++) {
		write_pages(FILL, FILL_PAGES, PAGE);
		copy_once();
	}
	must("kill", CALL2(kill, writing, SIGKILL));
	must("kill", CALL2(kill, truncating, SIGKILL));
	wait_for((int)writing);
	wait_for((int)truncating);
	must("shmdt", shm_detach(SEGMENT));
	must("shmctl", shm_remove(segment));
	return 0;
}
