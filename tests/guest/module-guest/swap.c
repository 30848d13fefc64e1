/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Swap: pages that leave and come back, of one process, of two, of shared memory. */
#include "guest.h"

#include <sys/mount.h>
#include <sys/swap.h>

#define GROUP "/sys/fs/cgroup/test"

/* A swap area of 2 MB on the disk in memory. */
static void make_area(void)
{
	static uint32_t page[PAGE / 4];
	int fd = call(open(DISK, O_WRONLY | O_CLOEXEC), DISK);

	page[256] = 1;		/* version */
	page[257] = 511;	/* last page */
	memcpy((char *)page + PAGE - 10, "SWAPSPACE2", 10);
	if (write(fd, page, sizeof(page)) != sizeof(page))
		die(DISK);
	call(fsync(fd), DISK);
	close(fd);
	call(swapon(DISK, 0), "swapon");
}

/* Where the page is in swap, as events report it; or 0. */
static uint64_t swapped(const volatile void *address)
{
	uint64_t entry = pagemap(address);

	if (!(entry >> 62 & 1))
		return 0;
	return KTR_SWAP_ENTRY(entry & 31, entry >> 5 & ((1ULL << 50) - 1));
}

static void private_pages(void)
{
	volatile char *page = map(NULL, 2 * PAGE, RW, PRIVATE, -1, 0);
	uint64_t before, entry;

	mark("swap out");
	page[0] = page[PAGE] = 1;
	before = frame(page + PAGE);
	call(madvise((void *)(page + PAGE), PAGE, MADV_PAGEOUT), "madvise");
	entry = swapped(page + PAGE);
	if (!entry)
		die("not swapped out");
	say("expect SWAP_OUT @%d %lx %" PRIx64 " %" PRIx64 " 1", getpid(),
	    (uintptr_t)page + PAGE, entry, before);
	say("refuse SWAP_OUT @%d %lx", getpid(), (uintptr_t)page);
	mark("swap in");
	(void)page[PAGE];
	say("expect SWAP_IN @%d %lx %" PRIx64 " %" PRIx64 " 1", getpid(),
	    (uintptr_t)page + PAGE, entry, frame(page + PAGE));
	munmap((void *)page, 2 * PAGE);
}

static void shared_memory(void)
{
	volatile char *page = map(NULL, 2 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t before;

	mark("shared memory, swap out");
	page[PAGE] = 1;
	before = frame(page + PAGE);
	call(madvise((void *)(page + PAGE), PAGE, MADV_PAGEOUT), "madvise");
	if (frame(page + PAGE))
		die("not paged out");
	say("expect CACHE_REMOVE - - 1 %" PRIx64 " 1", before);
	say("expect SWAP_OUT 0 0 - %" PRIx64 " 1 - - 1", before);
	mark("shared memory, swap in");
	(void)page[PAGE];
	say("expect SWAP_IN 0 0 - %" PRIx64 " 1 - - 1", frame(page + PAGE));
	say("expect CACHE_ADD - - 1 %" PRIx64 " 1", frame(page + PAGE));
	munmap((void *)page, 2 * PAGE);
}

/* Only what is charged to a group can be taken from it, by name. */
static void join_group(void)
{
	char number[16];

	call(mount("cgroup", "/sys/fs/cgroup", "cgroup2", 0, NULL), "cgroup2");
	set("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	call(mkdir(GROUP, 0755), GROUP);
	snprintf(number, sizeof(number), "%d", getpid());
	set(GROUP "/cgroup.procs", number);
}

/* Since Linux 5.19 pages can be asked for; before, by a limit that they are above. */
static void reclaim_some(void)
{
	int fd = open(GROUP "/memory.reclaim", O_WRONLY | O_CLOEXEC);

	if (fd < 0) {
		set(GROUP "/memory.high", "0");
		set(GROUP "/memory.high", "max");
		return;
	}
	if (write(fd, "1M", 2) < 0 && errno != EAGAIN)
		die("memory.reclaim");
	close(fd);
}

/* The kernel takes what it likes, until it takes this page. */
static uint64_t reclaim(const volatile char *page)
{
	for (int i = 0; i < 200; i++) {
		reclaim_some();
		if (swapped(page))
			return swapped(page);
	}
	die("not reclaimed");
}

static void forked(void)
{
	volatile char *page = map(NULL, PAGE, RW, PRIVATE, -1, 0);
	int ask[2], answer[2];
	uint64_t before, entry;
	char byte = 0;
	pid_t child;

	join_group();
	call(pipe(ask), "pipe");
	call(pipe(answer), "pipe");
	mark("swap out, shared by fork");
	page[0] = 1;
	before = frame(page);
	child = fork_or_die();
	if (!child) {
		if (read(ask[0], &byte, 1) != 1)
			die("child");
		(void)page[0];
		say("expect SWAP_IN @%d %lx - %" PRIx64 " 1", getpid(), (uintptr_t)page,
		    frame(page));
		if (write(answer[1], &byte, 1) != 1 || read(ask[0], &byte, 1) != 1)
			die("child");
		_exit(0);
	}
	entry = reclaim(page);
	say("expect SWAP_OUT @%d %lx %" PRIx64 " %" PRIx64 " 1", getpid(), (uintptr_t)page,
	    entry, before);
	say("expect SWAP_OUT @%d %lx %" PRIx64 " %" PRIx64 " 1", child, (uintptr_t)page, entry,
	    before);
	mark("swap in, shared by fork");
	if (write(ask[1], &byte, 1) != 1 || read(answer[0], &byte, 1) != 1)
		die("parent");
	mark("swap in, shared by fork, by a write");
	page[0] = 2;
	/* To the page that the other one has, too; then it is copied. */
	say("expect SWAP_IN @%d %lx %" PRIx64 " - 1", getpid(), (uintptr_t)page, entry);
	say("expect COW_BREAK @%d %lx - %" PRIx64, getpid(), (uintptr_t)page, frame(page));
	if (write(ask[1], &byte, 1) != 1)
		die("parent");
	join(child, "swap");
}

void swapping(void)
{
	make_area();
	private_pages();
	shared_memory();
	forked();
	mark("swapoff");
	call(swapoff(DISK), "swapoff");
	list_maps();
}
