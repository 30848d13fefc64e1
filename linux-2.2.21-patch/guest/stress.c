/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stress: process 1 of a guest with less memory than it uses.  A parent and the child that
 * it forks write 24 MB and a System V segment of 2 MB, and each finds what it wrote, half of
 * it after the other has written there: all that went to swap was read back, and nothing that
 * was shared by fork was mixed up.  The disk that is swapped on is read before, and a file, so
 * that there are buffers and cached pages to give up.
 */
#include "guest.h"
#include "memory.h"

enum {
	AREA = 0x50000000, PAGES = 24 * 256, SEGMENT = 0x60000000, SEGMENT_PAGES = 2 * 256
};

/* A page's words depend on the page and on the process that wrote it last. */
static u32 word(u32 page, u32 writer, u32 i)
{
	return (page * 2654435761U) ^ (writer << 28) ^ (i * 40503U);
}

static void write_pages(u32 area, u32 first, u32 step, u32 pages, u32 writer)
{
	u32 page, i, *at;

	for (page = first; page < pages; page += step) {
		at = (u32 *)(area + page * PAGE);
		for (i = 0; i < PAGE / 4; i += 64)
			at[i] = word(page, writer, i);
	}
}

static void check_pages(u32 area, u32 first, u32 step, u32 pages, u32 writer)
{
	u32 page, i;
	const u32 *at;

	for (page = first; page < pages; page += step) {
		at = (const u32 *)(area + page * PAGE);
		for (i = 0; i < PAGE / 4; i += 64)
			if (at[i] != word(page, writer, i)) {
				say_hex((u32)(at + i));
				fail(" holds something else", 0);
			}
	}
}

/* 2 MB each. */
static void fill_caches(void)
{
	static char block[PAGE];
	long disk = must("open", CALL3(open, "/dev/hda", O_RDONLY, 0));
	long file = must("open", CALL3(open, "/tmp/file", O_RDWR | O_CREAT, 0600));
	u32 i;

	for (i = 0; i < 512; i++) {
		must("read", CALL3(read, disk, block, PAGE));
		must("write", CALL3(write, file, block, PAGE));
	}
	must("lseek", CALL3(lseek, file, 0, 0));
	for (i = 0; i < 512; i++)
		must("read", CALL3(read, file, block, PAGE));
	CALL1(close, disk);
	CALL1(close, file);
	mark_memory();
}

int main(int argc, char **argv)
{
	u32 where;
	int pid, segment;

	(void)argc;
	(void)argv;
	must("mount", CALL5(mount, "proc", "/proc", "proc", 0, 0));
	fill_caches();
	must("swapon", CALL2(swapon, "/dev/hda", 0));
	must("mmap", map(AREA, PAGES * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	segment = (int)must("shmget", shm_get(IPC_PRIVATE, SEGMENT_PAGES * PAGE));
	must("shmat", shm_attach(segment, SEGMENT, &where));

	write_pages(AREA, 0, 1, PAGES, 1);
	write_pages(SEGMENT, 0, 1, SEGMENT_PAGES, 1);
	pid = (int)must("fork", CALL0(fork));
	if (pid == 0) {
		check_pages(AREA, 0, 1, PAGES, 1);
		write_pages(AREA, 0, 2, PAGES, 2);
		write_pages(SEGMENT, 0, 2, SEGMENT_PAGES, 2);
		check_pages(AREA, 0, 2, PAGES, 2);
		check_pages(AREA, 1, 2, PAGES, 1);
		CALL1(exit, 0);
	}
	write_pages(AREA, 1, 2, PAGES, 3);
	check_pages(AREA, 0, 2, PAGES, 1);
	if (wait_for(pid) != 0)
		fail("the child did not end well", 0);
	check_pages(AREA, 0, 2, PAGES, 1);
	check_pages(AREA, 1, 2, PAGES, 3);
	check_pages(SEGMENT, 0, 2, SEGMENT_PAGES, 2);
	check_pages(SEGMENT, 1, 2, SEGMENT_PAGES, 1);
	mark_memory();
	must("shmdt", shm_detach(SEGMENT));
	must("shmctl", shm_remove(segment));
	return 0;
}
