/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What exists before and is used after: each prop is a mapping or a file that two
 * processes, an elder and a younger that it forked, come to share in another way.
 */
#include "midrun.h"

#include <pthread.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

#define SWAP "/dev/ram0"	/* where the run script has made them */
#define DISK "/dev/ram1"
#define HUGE_PAGE (2UL << 20)

enum { PAGES = 16 };

/* Which one's turn it is, shown by bytes. */
static int to_elder[2], to_younger[2], to_director[2];

static void give_turn(const int pipe_ends[2])
{
	if (write(pipe_ends[1], "", 1) != 1)
		die("write");
}

static void await(const int pipe_ends[2])
{
	char byte;

	if (read(pipe_ends[0], &byte, 1) != 1)
		die("read");
}

static char *map(size_t pages, int flags, int fd)
{
	char *at = mmap(NULL, pages * PAGE, RW, flags, fd, 0);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

static int make_file(const char *name, size_t pages)
{
	int fd = call(open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), name);
	static char page[PAGE];

	for (size_t i = 0; i < pages; i++) {
		page[0] = (char)i;
		if (write(fd, page, sizeof(page)) != (ssize_t)sizeof(page))
			die(name);
	}
	return fd;
}

static void write_pages(volatile char *at, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++)
		at[i * PAGE]++;
}

static void read_pages(const volatile char *at, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++)
		(void)at[i * PAGE];
}

/* What read() alone knows. */
static void read_file(int fd, size_t pages)
{
	static char page[PAGE];

	for (size_t i = 0; i < pages; i++)
		if (pread(fd, page, sizeof(page), (off_t)(i * PAGE)) != (ssize_t)sizeof(page))
			die("pread");
}

static __attribute__((noinline)) int descend(unsigned int depth)
{
	volatile char frame[PAGE];

	frame[0] = (char)depth;
	return depth ? descend(depth - 1) + frame[0] : frame[0];
}

/* ---- props ---- */

static struct {
	char *anonymous;	/* written, then shared by fork */
	char *touched;		/* read only: nothing but zeros */
	char *file[2];		/* one file at two addresses */
	char *private_file;	/* partly written */
	char *segment, *shared, *memfd, *deleted;
	char *moved, *moved_file;
	char *huge;
	char *swapped, *swapped_shared;
	char *reborn;		/* of a file with an inode number that another one had */
	int segment_id, detached_id;
	int read_only, memfd_read, memfd_left, deleted_read, reborn_read;
} prop;

static void make_files(void)
{
	int fd = make_file("/tmp/twice", PAGES);

	prop.file[0] = map(PAGES, MAP_SHARED, fd);
	prop.file[1] = map(PAGES, MAP_SHARED, fd);
	prop.private_file = map(PAGES, MAP_PRIVATE, fd);
	write_pages(prop.private_file, 0, 4);
	read_pages(prop.private_file, 4, 8);
	prop.read_only = make_file("/tmp/read", PAGES);
	read_file(prop.read_only, PAGES);
	prop.deleted = map(PAGES, MAP_SHARED, make_file("/tmp/deleted", PAGES));
	read_pages(prop.deleted, 0, PAGES);
	call(unlink("/tmp/deleted"), "unlink");
	prop.deleted_read = make_file("/tmp/deleted-read", PAGES);
	call(unlink("/tmp/deleted-read"), "unlink");
}

static int memory_file(const char *name)
{
	int fd = call(memfd_create(name, MFD_CLOEXEC), name);

	call(ftruncate(fd, (off_t)(PAGES * PAGE)), name);
	return fd;
}

static void make_shared_memory(void)
{
	char *at;

	prop.segment_id = call(shmget(IPC_PRIVATE, PAGES * PAGE, 0600), "shmget");
	prop.segment = shmat(prop.segment_id, NULL, 0);
	write_pages(prop.segment, 0, PAGES);
	prop.detached_id = call(shmget(IPC_PRIVATE, PAGES * PAGE, 0600), "shmget");
	at = shmat(prop.detached_id, NULL, 0);
	write_pages(at, 0, PAGES);
	call(shmdt(at), "shmdt");

	prop.shared = map(PAGES, MAP_SHARED | MAP_ANONYMOUS, -1);
	write_pages(prop.shared, 0, PAGES);
	prop.memfd = map(PAGES, MAP_SHARED, memory_file("mapped"));
	write_pages(prop.memfd, 0, PAGES);
	prop.memfd_read = memory_file("read");
	if (pwrite(prop.memfd_read, "x", 1, 0) != 1)
		die("memfd");
	read_file(prop.memfd_read, PAGES);
	prop.memfd_left = memory_file("left");
	at = map(PAGES, MAP_SHARED, prop.memfd_left);
	write_pages(at, 0, PAGES);
	munmap(at, PAGES * PAGE);
}

static char *move(char *from, size_t pages)
{
	char *to = map(pages + 2, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	to = mremap(from, pages * PAGE, pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to + PAGE);
	if (to == MAP_FAILED)
		die("mremap");
	return to;
}

static void make_private_memory(void)
{
	uintptr_t at;

	prop.anonymous = map(4 * PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	write_pages(prop.anonymous, 0, 3 * PAGES);
	prop.touched = map(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	read_pages(prop.touched, 0, PAGES);

	prop.moved = map(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	write_pages(prop.moved, 0, PAGES);
	prop.moved = move(prop.moved, PAGES);
	prop.moved_file = map(PAGES, MAP_PRIVATE, prop.read_only);
	write_pages(prop.moved_file, 0, PAGES / 2);
	prop.moved_file = move(prop.moved_file, PAGES);

	prop.huge = map(2 * HUGE_PAGE / PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	at = ((uintptr_t)prop.huge + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	prop.huge = (char *)at;
	call(madvise(prop.huge, HUGE_PAGE, MADV_HUGEPAGE), "madvise");
	prop.huge[0] = 1;
}

static void page_out(char *at)
{
	call(madvise(at, PAGES * PAGE, MADV_PAGEOUT), "MADV_PAGEOUT");
}

static void make_swapped(void)
{
	call(swapon(SWAP, 0), "swapon");
	prop.swapped = map(2 * PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	write_pages(prop.swapped, 0, 2 * PAGES);
	page_out(prop.swapped);
	prop.swapped_shared = map(PAGES, MAP_SHARED | MAP_ANONYMOUS, -1);
	write_pages(prop.swapped_shared, 0, PAGES);
	page_out(prop.swapped_shared);
}

/* On a disk numbers of inodes are used again. */
static void make_reborn(void)
{
	struct stat first, second;
	char *at;
	int fd;

	call(mkdir("/tmp/disk", 0700), "mkdir");
	call(mount(DISK, "/tmp/disk", "ext2", 0, NULL), "mount");
	fd = make_file("/tmp/disk/first", PAGES);
	at = map(PAGES, MAP_SHARED, fd);
	read_pages(at, 0, PAGES);
	call(fstat(fd, &first), "fstat");
	munmap(at, PAGES * PAGE);
	close(fd);
	call(unlink("/tmp/disk/first"), "unlink");
	prop.reborn_read = make_file("/tmp/disk/second", PAGES);
	call(fstat(prop.reborn_read, &second), "fstat");
	if (first.st_ino != second.st_ino)
		die("the inode's number was not used again");
	prop.reborn = map(PAGES, MAP_SHARED, prop.reborn_read);
	read_pages(prop.reborn, 0, PAGES / 2);
}

/*
 * ---- threads: the first one ends; another one becomes the process by exec ----
 */

static int to_threads[2];

static void *thread(void *which)
{
	static char *const argv[] = { "true", NULL };
	volatile char frame[2 * PAGE];

	frame[0] = 1;
	await(to_threads);
	frame[PAGE] = frame[0];
	write_pages(prop.shared, 0, PAGES);
	if (*(int *)which)
		execv("/bin/true", argv);
	return NULL;
}

static _Noreturn void be_threads(void)
{
	static int which[2] = { 0, 1 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, thread, &which[i]))
			die("pthread_create");
	for (;;)
		syscall(SYS_exit, 0);
}

/* ---- the two ---- */

/* Part half of what the two share, each another quarter. */
static void part(size_t first)
{
	write_pages(prop.anonymous, first, first + PAGES / 2);
	write_pages(prop.moved, first % PAGES, first % PAGES + 2);
	write_pages(prop.private_file, 2 + first % PAGES, 4 + first % PAGES);
	write_pages(prop.swapped, PAGES - 2 + first % PAGES, PAGES - 1 + first % PAGES);
	prop.huge[(first + 3) * PAGE]++;
}

static void use(bool elder)
{
	size_t first = elder ? 0 : PAGES;
	char *at;

	read_pages(prop.anonymous, 0, 4 * PAGES);
	read_pages(prop.touched, 0, PAGES);
	read_pages(prop.file[elder], 0, PAGES);
	read_pages(prop.private_file, 0, PAGES);
	read_pages(prop.moved, 0, PAGES);
	read_pages(prop.moved_file, 0, PAGES);
	read_pages(prop.huge, 0, HUGE_PAGE / PAGE);
	read_pages(prop.swapped, 0, 2 * PAGES);
	read_pages(prop.swapped_shared, 0, PAGES);
	read_pages(prop.deleted, 0, PAGES);
	read_pages(prop.memfd, 0, PAGES);
	read_pages(prop.reborn, 0, PAGES);
	read_file(prop.read_only, PAGES);
	read_file(prop.deleted_read, PAGES);
	read_file(prop.memfd_read, PAGES);
	read_file(prop.memfd_left, PAGES);
	read_file(prop.reborn_read, PAGES);
	at = map(PAGES, MAP_SHARED, prop.memfd_left);
	read_pages(at, 0, PAGES);
	at = shmat(prop.detached_id, NULL, 0);
	write_pages(at, 0, PAGES);

	write_pages(prop.anonymous, first, first + 3 * PAGES / 2);
	write_pages(prop.file[!elder], 0, PAGES);
	write_pages(prop.private_file, 0, PAGES);
	write_pages(prop.moved, 0, PAGES);
	write_pages(prop.moved_file, 0, PAGES);
	write_pages(prop.huge, 0, 3 * PAGES);
	write_pages(prop.swapped, 0, 2 * PAGES);
	write_pages(prop.segment, 0, PAGES);
	write_pages(prop.shared, 0, PAGES);
	descend(64);
}

static _Noreturn void be_younger(void)
{
	part(PAGES);
	descend(32);
	give_turn(to_elder);
	await(to_younger);
	use(false);
	give_turn(to_elder);
	_exit(0);
}

static void join(pid_t child, const char *what)
{
	int status;

	if (waitpid(child, &status, 0) != child || status)
		die(what);
}

static _Noreturn void be_elder(void)
{
	pid_t younger, threads, late;

	call(pipe(to_younger), "pipe");
	call(pipe(to_threads), "pipe");
	make_files();
	make_shared_memory();
	make_private_memory();
	make_swapped();
	make_reborn();
	younger = call(fork(), "fork");
	if (!younger)
		be_younger();
	await(to_elder);
	part(0);
	threads = call(fork(), "fork");
	if (!threads)
		be_threads();
	/* those that are not woken: the scheduler lets them come to rest */
	usleep(20000);

	give_turn(to_director);
	await(to_elder);

	use(true);
	late = call(fork(), "fork");
	if (!late) {
		use(true);
		_exit(0);
	}
	give_turn(to_younger);
	await(to_elder);
	join(younger, "younger");
	join(late, "late");
	use(true);
	give_turn(to_threads);
	give_turn(to_threads);
	join(threads, "threads");
	_exit(0);
}

pid_t actors_begin(void)
{
	pid_t actors;

	call(pipe(to_elder), "pipe");
	call(pipe(to_director), "pipe");
	actors = call(fork(), "fork");
	if (!actors)
		be_elder();
	await(to_director);
	return actors;
}

void actors_go_on(pid_t actors)
{
	give_turn(to_elder);
	join(actors, "actors");
}
