/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files: their pages in the cache, their names, and block devices. */
#include "guest.h"

static int data_file(struct stat *st)
{
	int fd = call(open(DATA, O_RDWR | O_CLOEXEC | O_CREAT | O_TRUNC, 0644), DATA);

	for (int i = 0; i < 6; i++) {
		char page[PAGE];

		memset(page, 'a' + i, sizeof(page));
		if (write(fd, page, sizeof(page)) != sizeof(page))
			die("write");
	}
	call(fstat(fd, st), "stat");
	return fd;
}

static void expect_file(uint64_t device_number, uint64_t inode, enum ktr_file kind,
			uint64_t disk, const char *name)
{
	say("expect FILE %" PRIx64 " %" PRIx64 " %x - %" PRIx64 " - - - - \"%s\"", device_number,
	    inode, kind, disk, name);
}

static void cached(void)
{
	volatile char *private, *shared, *again;
	struct stat st;
	uint64_t frame_2, frame_3, number;
	int fd;

	mark("page cache");
	fd = data_file(&st);
	number = device(st.st_dev);
	shared = map(NULL, 4 * PAGE, RW, MAP_SHARED, fd, (off_t)PAGE);
	(void)shared[PAGE];
	frame_2 = frame(shared + PAGE);
	expect_file(number, st.st_ino, KTR_FILE_REGULAR, 0, DATA);
	say("expect CACHE_ADD %" PRIx64 " %lx 2 %" PRIx64 " 1", number, (unsigned long)st.st_ino,
	    frame_2);

	mark("file");
	shared = map(NULL, 4 * PAGE, RW, MAP_SHARED, fd, (off_t)PAGE);
	expect_map((void *)shared, 4 * PAGE, 3, KTR_MAP_FILE_SHARED, &st, 1, "data");
	private = map(NULL, 3 * PAGE, RW, MAP_PRIVATE, fd, (off_t)(2 * PAGE));
	expect_map((void *)private, 3 * PAGE, 3, KTR_MAP_FILE_PRIVATE, &st, 2, "data");
	(void)shared[PAGE];
	(void)shared[2 * PAGE];
	frame_3 = frame(shared + 2 * PAGE);
	list_maps();
	/* Its name is reported with its first page, and that was before. */
	say("refuse FILE %" PRIx64 " %lx", number, (unsigned long)st.st_ino);

	mark("copy of a file's page, first access a write");
	private[0] = 'z';
	expect_cow(private, frame_2, frame(private));
	/* One event is enough. */
	say("refuse PAGE_OWN - %lx", (uintptr_t)private);
	if (frame(private) == frame_2)
		die("not copied");

	mark("copy of a file's page, read before");
	again = map(NULL, PAGE, RW, MAP_PRIVATE, fd, (off_t)(2 * PAGE));
	(void)again[0];
	if (frame(again) != frame_2)
		die("not shared");
	again[0] = 'y';
	expect_cow(again, frame_2, frame(again));

	mark("hole");
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(3 * PAGE),
		      (off_t)PAGE)) {
		/* The first file system of a machine may not know how. */
		if (errno != EOPNOTSUPP)
			die("fallocate");
	} else {
		say("expect CACHE_REMOVE %" PRIx64 " %lx 3 %" PRIx64 " 1", number,
		    (unsigned long)st.st_ino, frame_3);
		say("refuse DISCARD");
	}

	mark("truncation");
	call(ftruncate(fd, (off_t)PAGE), "truncate");
	say("expect CACHE_REMOVE %" PRIx64 " %lx 2 %" PRIx64 " 1", number,
	    (unsigned long)st.st_ino, frame_2);
	/* What private mappings had copied is dropped as well. */
	expect_range("DISCARD", private, 3 * PAGE);
	expect_range("DISCARD", again, PAGE);
	refuse_range("DISCARD", shared, 4 * PAGE);
	close(fd);
	list_maps();
}

/* Compaction moves pages, from the low frames to the high ones. */
static void moved(void)
{
	enum { PAGES = 512 };
	volatile char *pages;
	struct stat st;
	uint64_t before[PAGES];
	int fd, any = 0;

	fd = call(open(DATA, O_RDWR | O_CLOEXEC | O_CREAT | O_TRUNC, 0644), DATA);
	call(ftruncate(fd, (off_t)(PAGES * PAGE)), "ftruncate");
	call(fstat(fd, &st), "stat");
	pages = map(NULL, PAGES * PAGE, RW, MAP_SHARED, fd, 0);
	for (int i = 0; i < PAGES; i++) {
		pages[i * PAGE] = 1;
		before[i] = frame(pages + i * PAGE);
	}
	mark("compaction");
	set("/proc/sys/vm/compact_memory", "1");
	for (int i = 0; i < PAGES && any < 3; i++) {
		uint64_t now;

		(void)pages[i * PAGE];
		now = frame(pages + i * PAGE);
		if (now == before[i])
			continue;
		say("expect CACHE_REMOVE %" PRIx64 " %lx %x %" PRIx64 " 1", device(st.st_dev),
		    (unsigned long)st.st_ino, i, before[i]);
		say("expect CACHE_ADD %" PRIx64 " %lx %x %" PRIx64 " 1", device(st.st_dev),
		    (unsigned long)st.st_ino, i, now);
		any++;
	}
	if (!any)
		die("nothing moved");
	munmap((void *)pages, PAGES * PAGE);
	call(ftruncate(fd, 0), "ftruncate");
	close(fd);
}

/* The buffer cache: pages of a disk, with the same identity when it is mapped. */
static void buffers(void)
{
	volatile char *disk;
	char page[PAGE];
	struct stat st;
	uint64_t number;
	int fd;

	mark("block device");
	fd = call(open(DISK, O_RDWR | O_CLOEXEC), DISK);
	call(fstat(fd, &st), "stat");
	number = device(st.st_rdev);
	if (pread(fd, page, sizeof(page), (off_t)(5 * PAGE)) != sizeof(page))
		die(DISK);
	disk = map(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, (off_t)(5 * PAGE));
	(void)disk[0];
	say("expect FILE - - %x - %" PRIx64 " - - - - \"ram0\"", KTR_FILE_BLOCK, number);
	/* The kernel numbers these inodes by their devices. */
	say("expect CACHE_ADD - %" PRIx64 " 5 %" PRIx64 " 1", number, frame(disk));
	say("expect MAP - %lx %lx 1 %x - %" PRIx64 " 5 - \"ram0\"", (uintptr_t)disk,
	    (uintptr_t)disk + 2 * PAGE, KTR_MAP_FILE_SHARED, number);
	munmap((void *)disk, 2 * PAGE);
	close(fd);
}

void files(void)
{
	cached();
	moved();
	buffers();
}
