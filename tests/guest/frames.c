/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frames: pages of all kinds, and where they are by the kernel's own word.
 *
 * Pages are used, /proc/self/pagemap says which frames they are in, and marks say so in the trace:
 * "frames VIRTUAL=FRAME ...", in hexadecimal, page numbers both.  What is written to is used again after that.
 * Runs as root.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 2 << 20, A_LINE = 8 };

static int pagemap, tracer;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t frame_of(const volatile char *at)
{
	uint64_t entry;

	if (pread(pagemap, &entry, sizeof(entry), (off_t)((uintptr_t)at / PAGE * sizeof(entry))) !=
	    (ssize_t)sizeof(entry))
		die("pagemap");
	if (!(entry >> 63))
		die("a page that is used is not there");
	return entry & ((UINT64_C(1) << 55) - 1);
}

static void say(const volatile char *pages, size_t count, size_t step)
{
	char line[256];

	for (size_t i = 0; i < count; i += A_LINE) {
		int length = snprintf(line, sizeof(line), "mark frames");

		for (size_t j = i; j < count && j < i + A_LINE; j++)
			length += snprintf(line + length, sizeof(line) - (size_t)length, " %lx=%lx",
					   (unsigned long)((uintptr_t)(pages + j * step) / PAGE),
					   (unsigned long)frame_of(pages + j * step));
		if (write(tracer, line, (size_t)length) != length)
			die("mark");
	}
}

static void use(volatile char *pages, size_t count, int writes)
{
	for (size_t i = 0; i < count; i++)
		if (writes)
			pages[i * PAGE]++;
		else
			(void)pages[i * PAGE];
}

static volatile char *map(size_t bytes, int flags, int fd)
{
	void *at = mmap(NULL, bytes, fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ, flags, fd, 0);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

/* A child has the pages of its parent until one of them writes. */
static void in_child(volatile char *private_pages, volatile char *shared, size_t count)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		pagemap = open("/proc/self/pagemap", O_RDONLY);
		use(private_pages, count, 0);
		say(private_pages, count, PAGE);
		use(private_pages, count / 2, 1);
		use(shared, count, 1);
		say(private_pages, count, PAGE);
		say(shared, count, PAGE);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		die("child");
	use(private_pages, count, 1);
	use(shared, count, 0);
	say(private_pages, count, PAGE);
	say(shared, count, PAGE);
}

/* As large pages, if the kernel has any to give; what is given back in part is small ones. */
static void large(void)
{
	volatile char *pages = map(3 * LARGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	const size_t off = (uintptr_t)pages % LARGE;

	pages += off ? LARGE - off : 0;
	if (madvise((void *)(uintptr_t)pages, 2 * LARGE, MADV_HUGEPAGE))
		perror("madvise");
	use(pages, 2 * LARGE / PAGE, 1);
	say(pages, 32, 2 * LARGE / 32);
	if (madvise((void *)(uintptr_t)(pages + LARGE), PAGE, MADV_DONTNEED))
		die("madvise");
	use(pages, 2 * LARGE / PAGE, 1);
	say(pages, 32, 2 * LARGE / 32);
	say(pages + LARGE, 8, PAGE);
}

int main(int argc, char **argv)
{
	const size_t count = 24;
	volatile char *private_pages, *shared, *in_file;
	int file = open("/bin/busybox", O_RDONLY);

	(void)argc, (void)argv;
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	tracer = open("/dev/laplace", O_WRONLY);
	if (pagemap < 0 || tracer < 0 || file < 0)
		die("open");
	private_pages = map(count * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	shared = map(count * PAGE, MAP_SHARED | MAP_ANONYMOUS, -1);
	use(private_pages, count, 0);	/* the page of zeros */
	say(private_pages, count, PAGE);
	use(private_pages, count, 1);
	use(shared, count, 1);
	say(private_pages, count, PAGE);
	say(shared, count, PAGE);
	in_child(private_pages, shared, count);
	in_file = map(count * PAGE, MAP_PRIVATE, file);
	use(in_file, count, 0);
	say(in_file, count, PAGE);
	large();
	/* elsewhere, in the same frames */
	private_pages = mremap((void *)(uintptr_t)private_pages, count * PAGE, count * PAGE,
			       MREMAP_MAYMOVE | MREMAP_FIXED, (char *)0x7000000000);
	if (private_pages == MAP_FAILED)
		die("mremap");
	use(private_pages, count, 1);
	say(private_pages, count, PAGE);
	return 0;
}
