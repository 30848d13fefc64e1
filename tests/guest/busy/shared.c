/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shared DIRECTORY: System V segments, and a file that several processes map, write,
 * read, cut short, rename and delete.
 */
#include "busy.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { PAGES = 24, CHILDREN = 3, ROUNDS = 2, SEED = 5000, WRITTEN = 6000, OWN = 7000 };

static int segment;
static char name[200], other_name[210];

/* Each child has a third of the segment, wherever it is attached. */
static void write_third(uint64_t number)
{
	unsigned char *at = shmat(segment, NULL, 0);

	if (at == (void *)-1)
		die("shmat");
	fill(at + number * (PAGES / CHILDREN) * PAGE, PAGES / CHILDREN,
	     SEED + number * (PAGES / CHILDREN));
	/* the last child leaves it to exit */
	if (number != CHILDREN - 1)
		call(shmdt(at), "shmdt");
}

static void segments(void)
{
	pid_t child[CHILDREN];
	unsigned char *at, *again;

	segment = call(shmget(IPC_PRIVATE, PAGES * PAGE, IPC_CREAT | 0600), "shmget");
	for (uint64_t i = 0; i < CHILDREN; i++)
		child[i] = start(write_third, i);
	at = shmat(segment, NULL, 0);
	again = shmat(segment, NULL, SHM_RDONLY);
	if (at == (void *)-1 || again == (void *)-1)
		die("shmat");
	call(shmctl(segment, IPC_RMID, NULL), "shmctl");
	for (unsigned int i = 0; i < CHILDREN; i++)
		join(child[i]);
	verify(again, PAGES, SEED, "a segment");
	fill(at, PAGES, WRITTEN);
	verify(again, PAGES, WRITTEN, "a segment, by its other address");
	call(shmdt(at), "shmdt");
	call(shmdt(again), "shmdt");
}

/* Through a mapping, and back by read(). */
static void rewrite(uint64_t unused)
{
	int fd = call(open(name, O_RDWR | O_CLOEXEC), name);
	unsigned char *at = map(NULL, PAGES * PAGE, MAP_SHARED, fd);

	(void)unused;
	verify(at, PAGES, SEED, "a file that another process wrote");
	fill(at, PAGES, WRITTEN);
	call(msync(at, PAGES * PAGE, MS_SYNC), "msync");
	call(munmap(at, PAGES * PAGE), "munmap");
	close(fd);
}

static void read_back(int fd, uint64_t seed, const char *what)
{
	uint64_t word;

	for (unsigned int i = 0; i < PAGES; i++) {
		if (pread(fd, &word, sizeof(word), (off_t)(i * PAGE)) != sizeof(word))
			die("pread");
		require(word == scramble(seed + i), what);
	}
}

static void files(void)
{
	int fd = make_file(other_name, PAGES, SEED);
	unsigned char *own, *both;

	call(rename(other_name, name), "rename");
	own = map(NULL, PAGES * PAGE, MAP_PRIVATE, fd);
	fill(own + PAGE, 4, OWN);	/* as a linker relocates */
	join(start(rewrite, 0));
	read_back(fd, WRITTEN, "a file that a child wrote");
	verify(own, 1, WRITTEN, "a private page that was not written");
	verify(own + PAGE, 4, OWN, "a private page that was");
	verify(own + 5 * PAGE, PAGES - 5, WRITTEN + 5, "private pages that were not written");

	/* Out of the page cache, and in again from the disk. */
	call(fdatasync(fd), "fdatasync");
	call(munmap(own, PAGES * PAGE), "munmap");
	errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (errno)
		die("fadvise");
	read_back(fd, WRITTEN, "a file that left memory");

	both = map(NULL, PAGES * PAGE, MAP_SHARED, fd);
	call(unlink(name), "unlink");
	verify(both, PAGES, WRITTEN, "a deleted file");
	call(ftruncate(fd, PAGES / 2 * PAGE), "ftruncate");
	call(ftruncate(fd, PAGES * PAGE), "ftruncate");
	verify(both, PAGES / 2, WRITTEN, "what is left of a file");
	require(both[(PAGES - 1) * PAGE] == 0, "what is new of a file");
	call(munmap(both, PAGES * PAGE), "munmap");
	close(fd);
}

void shared(int argc, char *argv[])
{
	require(argc == 2, "shared DIRECTORY");
	snprintf(name, sizeof(name), "%s/shared.%d", argv[1], (int)getpid());
	snprintf(other_name, sizeof(other_name), "%s.new", name);
	for (int round = 0; round < ROUNDS; round++) {
		segments();
		files();
	}
}
