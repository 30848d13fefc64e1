/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a member of the family does with its memory: four areas, at the same
 * addresses in all, and its heap and stack.
 */
#include "family.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25	/* of Linux 6.1, later than some C libraries */
#endif

#define RW (PROT_READ | PROT_WRITE)
#define FILE_NAME "/tmp/truth-file"
#define HUGE_HOME 0x350000000000UL
#define HUGE_PAGE (2UL << 20)
#define SEGMENT_HOME 0x360000000000UL
#define SEGMENT_KEY 0x7472

/* A place to move to is beside each area. */
#define AWAY 0x8000000000UL

enum { ANONYMOUS, PRIVATE_FILE, SHARED_FILE, SHARED };

static const struct {
	uint64_t home;
	unsigned int pages;
	int flags;
} area[AREAS] = {
	[ANONYMOUS] = { 0x300000000000UL, 48, MAP_PRIVATE | MAP_ANONYMOUS },
	[PRIVATE_FILE] = { 0x310000000000UL, 24, MAP_PRIVATE },
	[SHARED_FILE] = { 0x320000000000UL, 24, MAP_SHARED },
	[SHARED] = { 0x330000000000UL, 16, MAP_SHARED | MAP_ANONYMOUS },
};

enum { FILE_PAGES = 24 };

static int file;

unsigned int area_pages(unsigned int number)
{
	return area[number].pages;
}

static volatile unsigned char *page_of(const struct order *order, unsigned int i)
{
	return (unsigned char *)(area[order->area].home + (order->first + i) * PAGE);
}

static void map_pages(unsigned int number, unsigned int first, unsigned int count)
{
	void *at = (void *)(area[number].home + first * PAGE);

	if (mmap(at, count * PAGE, RW, area[number].flags | MAP_FIXED,
		 area[number].flags & MAP_ANONYMOUS ? -1 : file, (off_t)(first * PAGE)) != at)
		die("mmap");
}

void map_areas(void)
{
	file = call(open(FILE_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600), FILE_NAME);
	call(ftruncate(file, FILE_PAGES * PAGE), "ftruncate");
	for (unsigned int i = 0; i < AREAS; i++)
		map_pages(i, 0, area[i].pages);
}

static void write_pages(const struct order *order)
{
	for (unsigned int i = 0; i < order->count; i++)
		(*page_of(order, i))++;
}

static void move(const struct order *order, int flags)
{
	void *from = (void *)page_of(order, 0);
	size_t size = order->count * PAGE;

	if (mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED | flags,
		   (char *)from + AWAY) == MAP_FAILED) {
		/* It has to be one mapping, and what was done may have made it two. */
		if (errno == EFAULT)
			return;
		die("mremap");
	}
	if (!flags)
		map_pages(order->area, order->first, order->count);
}

static __attribute__((noinline)) unsigned int descend(unsigned int depth)
{
	volatile unsigned char frame[PAGE];

	frame[0] = (unsigned char)depth;
	return depth ? descend(depth - 1) + frame[0] : frame[0];
}

/* A huge page; or small ones, which become a huge one of this process alone. */
static void huge(const struct order *order)
{
	volatile unsigned char *home = (unsigned char *)HUGE_HOME;
	unsigned int at = order->first % 8;

	/* The first member makes it, for itself and all that it forks. */
	if (mmap((void *)home, HUGE_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		 -1, 0) == (void *)home) {
		call(madvise((void *)home, HUGE_PAGE, at & 1 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE),
		     "madvise");
		home[0] = home[PAGE] = 1;
		return;
	}
	switch (at) {
	case 0:
	case 1:
		call(madvise((void *)home, HUGE_PAGE, MADV_HUGEPAGE), "madvise");
		home[PAGE] = 2;
		/* There may be no huge page to be had. */
		madvise((void *)home, HUGE_PAGE, MADV_COLLAPSE);
		break;
	case 2:
		call(madvise((void *)(home + 3 * PAGE), PAGE, MADV_DONTNEED), "madvise");
		break;
	case 3:
		call(munmap((void *)home, HUGE_PAGE), "munmap");
		break;
	default:
		home[at * PAGE]++;
	}
}

static void segment(const struct order *order)
{
	enum { SIZE = 8 };
	int id = call(shmget(SEGMENT_KEY, SIZE * PAGE, IPC_CREAT | 0600), "shmget");
	unsigned char *at = (unsigned char *)(SEGMENT_HOME + (order->first & 1) * AWAY);
	void *got = shmat(id, at, SHM_REMAP);

	if (got != at)
		die("shmat");
	at[order->first % SIZE * PAGE]++;
	if (order->count & 1)
		call(shmdt(at), "shmdt");
}

void obey(const struct order *order)
{
	void *start = (void *)page_of(order, 0);
	size_t size = order->count * PAGE;
	volatile unsigned char *heap;

	switch ((enum operation)order->operation) {
	case READ:
		for (unsigned int i = 0; i < order->count; i++)
			(void)*page_of(order, i);
		break;
	case WRITE:
		write_pages(order);
		break;
	case DROP:
		call(madvise(start, size, MADV_DONTNEED), "MADV_DONTNEED");
		break;
	case DROP_LATER:
		if (order->area == ANONYMOUS) {
			call(madvise(start, size, MADV_FREE), "MADV_FREE");
			call(madvise(start, size, MADV_PAGEOUT), "MADV_PAGEOUT");
		}
		break;
	case RENEW:
		map_pages(order->area, order->first, order->count);
		break;
	case PROTECT:
		call(mprotect(start, size, PROT_READ), "mprotect");
		call(mprotect(start, size, RW), "mprotect");
		write_pages(order);
		break;
	case MOVE:
		move(order, 0);
		break;
	case MOVE_ALL_BUT_MAPPING:
		if (order->area == ANONYMOUS)
			move(order, MREMAP_DONTUNMAP);
		break;
	case SHRINK:
		call(munmap(start, size), "munmap");
		map_pages(order->area, order->first, order->count);
		break;
	case FILE_PRIVATE:
		map_pages(PRIVATE_FILE, order->first / 2, order->count / 2 + 1);
		break;
	case TRUNCATE:
		call(ftruncate(file, (off_t)(order->first / 2 * PAGE)), "ftruncate");
		call(ftruncate(file, FILE_PAGES * PAGE), "ftruncate");
		break;
	case PUNCH:
		call(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			       (off_t)(order->first / 2 * PAGE), (off_t)PAGE), "fallocate");
		break;
	case DEEP:
		descend(order->count * 4);
		break;
	case HEAP:
		heap = sbrk((intptr_t)size);
		heap[0] = heap[size - 1] = 1;
		break;
	case HUGE:
		huge(order);
		break;
	case SEGMENT:
		segment(order);
		break;
	default:
		die("no such operation");
	}
}
