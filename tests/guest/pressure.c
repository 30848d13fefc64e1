/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pressure FILE [child]: use more memory than there is, of every kind that reclaim takes, in every way in which
 * a page comes to be a program's, or no longer is: what a fork shares and what is written afterwards, what is
 * moved, dropped, given up, read from a file or changed in a private mapping of one, shared memory with a name
 * and without, files that are truncated and removed (regret-check.c).  FILE is made, and removed.
 *
 * What is used when is always the same: an order that looks random, by which some is used often, most now and then.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	/* pages */
	LOCKED = 5500, OWN = 1600, MORE = 200, HOLE = 700, SHARED = 400, SEGMENT = 200, FREE = 200, LARGE = 1024,
	PAGES_OF_FILE = 1500,
	USES = 3000
};

static uint64_t state = 1;
static volatile unsigned char seen;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* One of `pages`; the first eighth is half of all. */
static size_t any(size_t pages)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (state >> 33) % (state >> 63 ? pages : pages / 8);
}

static unsigned char *map(size_t pages, int kind)
{
	void *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	return memory;
}

static void fill(unsigned char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		memset(memory + i * PAGE, (int)(i % 251 + 1), 64);
}

static void use(unsigned char *memory, size_t pages, int uses)
{
	for (; uses > 0; uses--) {
		unsigned char *page = memory + any(pages) * PAGE;

		seen = *page;
		if (uses % 4 == 0)
			page[8] = seen;
	}
}

static void make_file(const char *path)
{
	static unsigned char data[PAGE];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < PAGES_OF_FILE; i++) {
		memset(data, i % 255 + 1, sizeof(data));
		if (fd < 0 || write(fd, data, sizeof(data)) != sizeof(data))
			die(path);
	}
	fsync(fd);
	close(fd);
}

static void use_file(const char *path, int uses)
{
	static unsigned char data[PAGE];
	int fd = open(path, O_RDWR);
	unsigned char *shared = mmap(NULL, PAGES_OF_FILE * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned char *private = mmap(NULL, PAGES_OF_FILE * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	if (fd < 0 || shared == MAP_FAILED || private == MAP_FAILED)
		die(path);
	for (; uses > 0; uses -= 3) {
		if (pread(fd, data, sizeof(data), (off_t)any(PAGES_OF_FILE) * PAGE) < 0)
			die(path);
		seen = shared[any(PAGES_OF_FILE) * PAGE];
		if (uses % 2 == 0)
			private[any(PAGES_OF_FILE) / 4 * PAGE] = seen;
	}
	munmap(shared, PAGES_OF_FILE * PAGE);
	munmap(private, PAGES_OF_FILE * PAGE);
	close(fd);
}

static void wait_for(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || status != 0)
		die("the child did not end well");
}

int main(int argc, char **argv)
{
	unsigned char *own, *shared, *segment, *lazy, *large;
	int id;
	pid_t child;

	if (argc < 2)
		die("usage: pressure FILE");
	own = map(OWN, MAP_PRIVATE);
	if (argc > 2) {	/* a program of its own, which shares nothing but the file */
		fill(own, OWN / 4);
		use(own, OWN / 4, USES / 4);
		use_file(argv[1], USES / 8);
		return 0;
	}
	/* out of the way: there is less to be filled, and nothing is a use of these */
	map(LOCKED, MAP_PRIVATE | MAP_LOCKED);
	make_file(argv[1]);
	shared = map(SHARED, MAP_SHARED);
	lazy = map(FREE, MAP_PRIVATE);
	large = map(LARGE, MAP_PRIVATE);
	madvise(large, LARGE * PAGE, MADV_HUGEPAGE);
	id = shmget(IPC_PRIVATE, SEGMENT * PAGE, IPC_CREAT | 0600);
	segment = shmat(id, NULL, 0);
	if (id < 0 || segment == (void *)-1)
		die("shmget");
	shmctl(id, IPC_RMID, NULL);
	fill(own, OWN - 100);	/* the others are touched after the fork, or never */
	fill(shared, SHARED);
	fill(segment, SEGMENT);
	fill(lazy, FREE);
	fill(large, LARGE / 2);
	madvise(lazy, FREE * PAGE, MADV_FREE);
	use_file(argv[1], USES / 4);
	child = fork();
	if (child < 0)
		die("fork");
	use(own, OWN, child ? USES : USES / 2);
	use(shared, SHARED, USES / 4);
	use(segment, SEGMENT, USES / 4);
	use_file(argv[1], child ? USES / 2 : USES / 8);
	use(lazy, FREE, USES / 16);
	if (child == 0) {
		fill(own, OWN / 2);
		use(large, LARGE / 2, USES / 8);
		if (fork() == 0) {
			use(own, OWN, USES / 8);
			_exit(0);
		}
		wait(NULL);
		execl("/proc/self/exe", argv[0], argv[1], "child", NULL);
		die("exec");
	}
	use(large, LARGE, USES / 4);
	wait_for(child);
	/* a part is moved, one dropped, one ends */
	own = mremap(own, OWN * PAGE, (OWN + MORE) * PAGE, MREMAP_MAYMOVE);
	if (own == MAP_FAILED)
		die("mremap");
	madvise(own + MORE * PAGE, MORE * PAGE, MADV_DONTNEED);
	munmap(own + HOLE * PAGE, MORE * PAGE);
	use(own, HOLE, USES / 2);
	use(own + (HOLE + MORE) * PAGE, OWN - HOLE, USES / 2);
	if (truncate(argv[1], PAGES_OF_FILE / 2 * PAGE) < 0 || truncate(argv[1], PAGES_OF_FILE * PAGE) < 0)
		die("truncate");
	use_file(argv[1], USES / 4);
	unlink(argv[1]);
	make_file(argv[1]);
	use_file(argv[1], USES / 8);
	use(own, HOLE, USES / 4);
	unlink(argv[1]);
	return 0;
}
