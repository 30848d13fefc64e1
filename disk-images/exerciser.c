/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exerciser: does once, in a known order, each thing that makes memory shared,
 * moved, copied or grown, checks that memory is right then, and ends with the
 * beacon (beacon.h).  It is deterministic: what it does depends on nothing but
 * this file.  Each part is announced by a user mark of its name.
 *
 * usage: exerciser [DIRECTORY]	where to make its files; default /tmp
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beacon.h"

#define PAGE 4096UL
#define DEVICE "/dev/laplace"

/* Where things are mapped, apart from each other and from what the kernel picks. */
#define FIRST_HOME	0x200000000000UL
#define SECOND_HOME	0x210000000000UL
#define CHILD_HOME	0x220000000000UL
#define SHM_HOME	0x230000000000UL
#define SHM_SECOND	0x231000000000UL
#define SHM_CHILD	0x232000000000UL
#define REMAP_HOME	0x240000000000UL
#define REMAP_TARGET	0x241000000000UL

enum { FILE_PAGES = 16, PRIVATE_PAGES = 32, SHM_PAGES = 8, THREADS = 3, STACK_PAGES = 40 };

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "exerciser: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void require(int condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "exerciser: %s\n", what);
		exit(1);
	}
}

/* Without a tracer there is nothing to mark. */
static void mark(const char *text)
{
	char line[64];
	int length = snprintf(line, sizeof line, "mark %s", text);
	int fd = open(DEVICE, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, line, (size_t)length) != length)
		fail(DEVICE);
	close(fd);
}

static volatile unsigned char *map_at(unsigned long where, size_t pages, int flags, int fd)
{
	void *base = mmap((void *)where, pages * PAGE, PROT_READ | PROT_WRITE,
			  flags | MAP_FIXED_NOREPLACE, fd, 0);

	if (base == MAP_FAILED)
		fail("mmap");
	return base;
}

static void unmap(volatile unsigned char *base, size_t pages)
{
	if (munmap((void *)base, pages * PAGE) < 0)
		fail("munmap");
}

static void write_pages(volatile unsigned char *base, size_t pages, unsigned char value)
{
	for (size_t i = 0; i < pages; i++)
		base[i * PAGE + i] = (unsigned char)(value + i);
}

static int pages_hold(const volatile unsigned char *base, size_t pages, unsigned char value)
{
	int good = 1;

	for (size_t i = 0; i < pages; i++)
		good &= base[i * PAGE + i] == (unsigned char)(value + i);
	return good;
}

static pid_t fork_or_fail(void)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		fail("fork");
	return child;
}

static void join(pid_t child, const char *what)
{
	int status;

	if (waitpid(child, &status, 0) < 0)
		fail("waitpid");
	require(WIFEXITED(status) && WEXITSTATUS(status) == 0, what);
}

static int make_file(const char *directory, size_t pages)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/exerciser.%d", directory, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		fail(path);
	unlink(path);
	if (ftruncate(fd, (off_t)(pages * PAGE)) < 0)
		fail("ftruncate");
	return fd;
}

/* One file at two addresses: first one after the other, then both at once. */
static void file_twice(int fd)
{
	volatile unsigned char *first, *second;

	first = map_at(FIRST_HOME, FILE_PAGES, MAP_SHARED, fd);
	write_pages(first, FILE_PAGES, 10);
	unmap(first, FILE_PAGES);
	second = map_at(SECOND_HOME, FILE_PAGES, MAP_SHARED, fd);
	require(pages_hold(second, FILE_PAGES, 10), "file lost between two mappings");

	first = map_at(FIRST_HOME, FILE_PAGES, MAP_SHARED, fd);
	write_pages(first, FILE_PAGES, 20);
	require(pages_hold(second, FILE_PAGES, 20), "two mappings of a file differ");
	unmap(first, FILE_PAGES);
	unmap(second, FILE_PAGES);
}

/* One file in two processes, at different addresses. */
static void file_in_child(int fd)
{
	volatile unsigned char *ours = map_at(FIRST_HOME, FILE_PAGES, MAP_SHARED, fd);
	pid_t child;

	write_pages(ours, FILE_PAGES, 30);
	child = fork_or_fail();
	if (child == 0) {
		volatile unsigned char *theirs;

		unmap(ours, FILE_PAGES);
		theirs = map_at(CHILD_HOME, FILE_PAGES, MAP_SHARED, fd);
		require(pages_hold(theirs, FILE_PAGES, 30), "child does not see the file");
		write_pages(theirs, FILE_PAGES, 40);
		_exit(0);
	}
	join(child, "child with a shared file failed");
	require(pages_hold(ours, FILE_PAGES, 40), "parent does not see the child's writes");
	unmap(ours, FILE_PAGES);
}

/*
 * Copy-on-write after fork.  Both write while the other still has the page, so
 * the child breaks the sharing; the parent, left alone, is the last sharer.
 */
static void break_sharing(volatile unsigned char *pages, const char *what)
{
	pid_t child;

	write_pages(pages, PRIVATE_PAGES, 50);
	child = fork_or_fail();
	if (child == 0) {
		require(pages_hold(pages, PRIVATE_PAGES, 50), what);
		write_pages(pages, PRIVATE_PAGES, 60);
		require(pages_hold(pages, PRIVATE_PAGES, 60), what);
		_exit(0);
	}
	join(child, what);
	require(pages_hold(pages, PRIVATE_PAGES, 50), what);
	write_pages(pages, PRIVATE_PAGES, 70);
	unmap(pages, PRIVATE_PAGES);
}

static void copy_on_write(const char *directory)
{
	int fd = make_file(directory, PRIVATE_PAGES);

	break_sharing(map_at(FIRST_HOME, PRIVATE_PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1),
		      "copy-on-write of anonymous memory");
	break_sharing(map_at(FIRST_HOME, PRIVATE_PAGES, MAP_PRIVATE, fd),
		      "copy-on-write of a private file mapping");
	close(fd);
}

static volatile unsigned char *attach(int segment, unsigned long where)
{
	void *base = shmat(segment, (void *)where, 0);

	if (base == (void *)-1)
		fail("shmat");
	return base;
}

/* One SysV segment, attached twice in this process and once in another. */
static void system_v(void)
{
	int segment = shmget(IPC_PRIVATE, SHM_PAGES * PAGE, IPC_CREAT | 0600);
	volatile unsigned char *first, *second;
	pid_t child;

	if (segment < 0)
		fail("shmget");
	first = attach(segment, SHM_HOME);
	second = attach(segment, SHM_SECOND);
	write_pages(first, SHM_PAGES, 80);
	require(pages_hold(second, SHM_PAGES, 80), "two attachments differ");

	child = fork_or_fail();
	if (child == 0) {
		volatile unsigned char *third = attach(segment, SHM_CHILD);

		require(pages_hold(third, SHM_PAGES, 80), "child sees another segment");
		write_pages(third, SHM_PAGES, 90);
		_exit(shmdt((void *)third) != 0);
	}
	join(child, "child with a segment failed");
	require(pages_hold(first, SHM_PAGES, 90), "parent does not see the child's segment");
	if (shmdt((void *)first) < 0 || shmdt((void *)second) < 0)
		fail("shmdt");
	if (shmctl(segment, IPC_RMID, NULL) < 0)
		fail("shmctl");
}

struct share {
	volatile unsigned char *base;	/* the pages all threads write to */
	unsigned int number;		/* which byte of each page is ours */
};

static void *write_share(void *argument)
{
	struct share *share = argument;

	for (size_t page = 0; page < FILE_PAGES; page++)
		share->base[page * PAGE + share->number] = (unsigned char)(page + share->number);
	return NULL;
}

static void threads(void)
{
	volatile unsigned char *base = map_at(FIRST_HOME, FILE_PAGES,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1);
	pthread_t thread[THREADS];
	struct share share[THREADS];

	for (unsigned int i = 0; i < THREADS; i++) {
		share[i] = (struct share){ base, i };
		errno = pthread_create(&thread[i], NULL, write_share, &share[i]);
		if (errno)
			fail("pthread_create");
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (size_t page = 0; page < FILE_PAGES; page++)
		for (unsigned int i = 0; i < THREADS; i++)
			require(base[page * PAGE + i] == (unsigned char)(page + i),
				"a thread's write is missing");
	unmap(base, FILE_PAGES);
}

/* Move, shrink, and move while growing. */
static void remap(void)
{
	volatile unsigned char *base = map_at(REMAP_HOME, FILE_PAGES,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1);
	void *moved;

	write_pages(base, FILE_PAGES, 100);
	moved = mremap((void *)base, FILE_PAGES * PAGE, FILE_PAGES * PAGE,
		       MREMAP_MAYMOVE | MREMAP_FIXED, (void *)REMAP_TARGET);
	if (moved == MAP_FAILED)
		fail("mremap");
	require(pages_hold(moved, FILE_PAGES, 100), "mremap lost what it moved");
	if (mremap(moved, FILE_PAGES * PAGE, FILE_PAGES / 2 * PAGE, 0) != moved)
		fail("mremap to a smaller size");
	moved = mremap(moved, FILE_PAGES / 2 * PAGE, FILE_PAGES * PAGE,
		       MREMAP_MAYMOVE | MREMAP_FIXED, (void *)REMAP_HOME);
	if (moved == MAP_FAILED)
		fail("mremap to a larger size");
	require(pages_hold(moved, FILE_PAGES / 2, 100), "mremap lost what it grew");
	write_pages(moved, FILE_PAGES, 110);
	unmap(moved, FILE_PAGES);
}

static void heap(void)
{
	volatile unsigned char *start = sbrk(PRIVATE_PAGES * PAGE);

	if (start == (void *)-1)
		fail("sbrk");
	write_pages(start, PRIVATE_PAGES - 1, 120);
	require(pages_hold(start, PRIVATE_PAGES - 1, 120), "the heap forgets");
	if (sbrk(-(long)(PRIVATE_PAGES * PAGE)) == (void *)-1)
		fail("sbrk back");
}

static __attribute__((noinline)) unsigned int descend(unsigned int depth)
{
	volatile unsigned char frame[PAGE];

	frame[depth] = (unsigned char)depth;
	if (depth == 0)
		return frame[0];
	return descend(depth - 1) + frame[depth];
}

static void stack(void)
{
	require(descend(STACK_PAGES) == STACK_PAGES * (STACK_PAGES + 1) / 2,
		"the stack forgets");
}

int main(int argc, char *argv[])
{
	const char *directory = argc > 1 ? argv[1] : "/tmp";
	int fd = make_file(directory, FILE_PAGES);

	mark("file-twice");
	file_twice(fd);
	mark("file-in-child");
	file_in_child(fd);
	mark("copy-on-write");
	copy_on_write(directory);
	mark("system-v");
	system_v();
	mark("threads");
	threads();
	mark("remap");
	remap();
	mark("heap");
	heap();
	mark("stack");
	stack();
	mark(BEACON_MARK_BEGIN);
	if (beacon_run() < 0)
		fail("beacon");
	mark(BEACON_MARK_END);
	close(fd);
	printf("exerciser: ok\n");
	return 0;
}
