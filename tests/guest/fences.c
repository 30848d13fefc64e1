/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fences: gives a few addresses one meaning after the other, with as little as can
 * be between a reference to the old and one to the new; and checks at each step
 * that it sees what it should.
 *
 * usage: fences DIRECTORY	where to make its files
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define HOME ((void *)0x300000000000UL)
#define AWAY ((void *)0x310000000000UL)

enum { FILES = 3, FILE_PAGES = 2, ROUNDS = 24 };

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "fences: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void require(int condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "fences: %s\n", what);
		exit(1);
	}
}

/* A file with pages that begin with `value`. */
static int make_file(const char *directory, unsigned char value)
{
	unsigned char page[PAGE];
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/fences", directory);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || unlink(path) < 0)
		fail(path);
	memset(page, value, sizeof page);
	for (int i = 0; i < FILE_PAGES; i++)
		if (write(fd, page, sizeof page) != sizeof page)
			fail("write");
	return fd;
}

static volatile unsigned char *map(void *where, int flags, int fd)
{
	void *base = mmap(where, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
			  fd, 0);

	if (base == MAP_FAILED)
		fail("mmap");
	return base;
}

static void unmap(volatile unsigned char *base)
{
	if (munmap((void *)base, FILE_PAGES * PAGE) < 0)
		fail("munmap");
}

/* File after file at one address: unmapped first, or mapped over. */
static void one_address(const int *fd)
{
	for (int i = 0; i < ROUNDS; i++) {
		volatile unsigned char *base = map(HOME, MAP_SHARED, fd[i % FILES]);

		require(base[0] == i % FILES, "another file is there");
		if (i % 2 == 0)
			unmap(base);
	}
	unmap(HOME);
}

/* A private mapping is the file's page until it is written, and then its own. */
static void private_pages(const int *fd)
{
	for (int i = 0; i < ROUNDS; i++) {
		volatile unsigned char *base = map(HOME, MAP_PRIVATE, fd[i % FILES]);

		require(base[0] == i % FILES, "not the file's page");
		base[0] = 77;
		require(base[0] == 77, "the page forgets");
	}
	unmap(HOME);
}

/* Two files go round three places. */
static void moves(const int *fd)
{
	volatile unsigned char *home = map(HOME, MAP_SHARED, fd[0]);

	for (int i = 0; i < ROUNDS; i++) {
		require(home[0] == i % FILES, "what is at home moved");
		if (mremap(HOME, FILE_PAGES * PAGE, FILE_PAGES * PAGE,
			   MREMAP_MAYMOVE | MREMAP_FIXED, AWAY) != AWAY)
			fail("mremap");
		require(*(volatile unsigned char *)AWAY == i % FILES, "what moved is lost");
		home = map(HOME, MAP_SHARED, fd[(i + 1) % FILES]);
	}
	unmap(HOME);
	unmap(AWAY);
}

/* Children that write what is shared, and children that only read it; then the parent does. */
static void forks(void)
{
	volatile unsigned char *base = map(HOME, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (int i = 0; i < ROUNDS; i++) {
		pid_t child;
		int status;

		base[0] = (unsigned char)i;
		base[0] = (unsigned char)(i + 1);
		child = fork();
		if (child < 0)
			fail("fork");
		if (child == 0) {
			int good = base[0] == i + 1;

			if (i % 3 != 0)
				base[0] = 99;
			_exit(good && base[0] == (i % 3 != 0 ? 99 : i + 1) ? 0 : 1);
		}
		if (i % 2 == 0)
			require(base[0] == i + 1, "the parent's page changed");
		else
			base[0] = (unsigned char)(i + 1);
		if (waitpid(child, &status, 0) < 0)
			fail("waitpid");
		require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child failed");
		require(base[0] == i + 1, "the parent's page changed");
	}
	unmap(base);
}

/* Segment after segment at one address. */
static void segments(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		int segment = shmget(IPC_PRIVATE, FILE_PAGES * PAGE, IPC_CREAT | 0600);
		volatile unsigned char *base;

		if (segment < 0)
			fail("shmget");
		base = shmat(segment, HOME, 0);
		if (base == (void *)-1 || shmctl(segment, IPC_RMID, NULL) < 0)
			fail("shmat");
		require(base[0] == 0, "a new segment is not empty");
		base[0] = (unsigned char)(i + 1);
		if (shmdt((void *)base) < 0)
			fail("shmdt");
	}
}

/* Frames that are used again: the kernel sees one file's page where another's was. */
static void frames(const char *directory)
{
	for (int i = 0; i < ROUNDS; i++) {
		unsigned char byte;
		int fd = make_file(directory, (unsigned char)i);

		if (pread(fd, &byte, 1, PAGE) != 1)
			fail("pread");
		require(byte == i, "a file's page is another's");
		close(fd);
	}
}

/* The heap's pages come and go. */
static void heap(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		volatile unsigned char *base = sbrk(4 * PAGE);

		if (base == (void *)-1)
			fail("sbrk");
		require(base[3 * PAGE] == 0, "new memory is not empty");
		base[3 * PAGE] = 1;
		if (sbrk(-(long)(4 * PAGE)) == (void *)-1)
			fail("sbrk back");
	}
}

int main(int argc, char *argv[])
{
	int fd[FILES];

	require(argc == 2, "usage: fences DIRECTORY");
	for (int i = 0; i < FILES; i++)
		fd[i] = make_file(argv[1], (unsigned char)i);
	one_address(fd);
	private_pages(fd);
	moves(fd);
	forks();
	segments();
	frames(argv[1]);
	heap();
	printf("fences: ok\n");
	return 0;
}
