/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * swap-guest PAGES TOUCHES TEXT PROGRAM ZRAM DISK: a program whose memory does not fit into its guest's, for
 * bench/zram, which compiles it statically and runs it there.
 *
 * Its PAGES lie at BUFFER.  They are filled in order, of 16 in turn: three with one word (two of them with
 * zero), five with a part of the file TEXT, four of PROGRAM, three with small numbers, and one at random; all
 * but those of one word begin with their number, so that no two are the same.  Then TOUCHES references
 * to pages, nine of ten to a half of them, a third of which also write.
 *
 * At the end tracing is switched off, and when Linux has reclaimed what it was about to, this prints what
 * it counted, copies the swap device /dev/ZRAM to DISK as it is, and prints again what Linux counted: the copy
 * should have changed nothing.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER ((uint8_t *)0x100000000000)

enum { PAGE = 4096, WORDS = PAGE / 8, COPIED = 256 * 1024, READ = 64, SETTLED = 500000 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* The numbers of Knuth's MMIX. */
static uint64_t next_random(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005U + 1442695040888963407U;
	return state >> 33;
}

/* ---- what pages hold ---- */

struct source {
	const uint8_t *bytes;
	uint64_t size;
};

static struct source open_source(const char *path)
{
	struct stat about;
	const int fd = open(path, O_RDONLY);
	void *bytes = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &about) == 0)
		bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED || about.st_size < 2 * PAGE)
		die(path);
	close(fd);
	return (struct source){ bytes, (uint64_t)about.st_size };
}

/* Each copy of the source is cut into pages at other places. */
static void fill_from(uint64_t *page, uint64_t number, const struct source *source)
{
	memcpy(page, source->bytes + number * (PAGE + 24) % (source->size - PAGE), PAGE);
}

static void fill(uint64_t *page, uint64_t number, const struct source *text, const struct source *program)
{
	const unsigned int kind = number % 16;

	if (kind < 3) {
		for (int i = 0; i < WORDS; i++)
			page[i] = kind < 2 ? 0 : number;
		return;
	}
	if (kind < 8)
		fill_from(page, number, text);
	else if (kind < 12)
		fill_from(page, number, program);
	else
		for (int i = 0; i < WORDS; i++)
			page[i] = kind < 15 ? next_random() % 1000 : next_random() << 33 ^ next_random() << 11 ^
								     next_random();
	page[0] = number << 8 | 1;
}

/* ---- the work ---- */

/* A page of one word stays one. */
static uint64_t touch(uint64_t *page, bool write)
{
	uint64_t sum = 0;

	for (int i = 0; i < READ; i++)
		sum += page[i];
	if (write)
		page[1] += page[0] != page[1] && page[0] != 0;
	return sum;
}

static uint64_t work(uint8_t *buffer, uint64_t pages, uint64_t touches)
{
	const uint64_t some = pages / 2;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < touches; i++) {
		const bool usual = next_random() % 10 != 0;
		/* of two pages at least: NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
		const uint64_t page = usual ? next_random() % some * 2 + 1 : next_random() % pages;

		sum += touch((uint64_t *)(buffer + page % pages * PAGE), next_random() % 3 == 0);
	}
	return sum;
}

/* ---- what Linux says ---- */

static char said[16384];

static char *read_file(const char *path)
{
	const int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, said, sizeof(said) - 1);

	if (got < 0)
		die(path);
	close(fd);
	said[got] = '\0';
	return said;
}

/* The lines that begin so. */
static void show_lines(const char *path, const char *const *names)
{
	read_file(path);
	for (char *line = strtok(said, "\n"); line != NULL; line = strtok(NULL, "\n"))
		for (const char *const *name = names; *name != NULL; name++)
			if (strncmp(line, *name, strlen(*name)) == 0)
				printf("%s\n", line);
}

static uint64_t resident(uint8_t *buffer, uint64_t pages)
{
	static unsigned char in_core[4096];
	uint64_t count = 0;

	for (uint64_t i = 0; i < pages; i += sizeof(in_core)) {
		const uint64_t some = pages - i < sizeof(in_core) ? pages - i : sizeof(in_core);

		if (mincore(buffer + i * PAGE, some * PAGE, in_core) < 0)
			die("mincore");
		for (uint64_t j = 0; j < some; j++)
			count += in_core[j] & 1;
	}
	return count;
}

static void show(const char *when, const char *zram, uint8_t *buffer, uint64_t pages)
{
	static const char *const swaps[] = { "pswp", "pgfault", "pgmajfault", "pgsteal", "swap_ra", NULL };
	char path[64];

	printf("at %s\nresident %" PRIu64 "\n", when, resident(buffer, pages));
	snprintf(path, sizeof(path), "/sys/block/%s/mm_stat", zram);
	printf("mm_stat %s", read_file(path));
	show_lines("/proc/vmstat", swaps);
	fflush(stdout);
}

/* ---- the copy ---- */

static void steer(const char *command)
{
	const int fd = open("/dev/laplace", O_WRONLY);

	if (fd < 0 || write(fd, command, strlen(command)) < 0)
		die("/dev/laplace");
	close(fd);
}

/* Past the page cache, through memory that is there already: that needs no memory, so nothing is swapped. */
static void copy(uint8_t *through, const char *from, const char *to)
{
	const int in = open(from, O_RDONLY | O_DIRECT), out = open(to, O_WRONLY | O_DIRECT);
	uint64_t bytes = 0;
	ssize_t got;

	if (in < 0 || out < 0)
		die(in < 0 ? from : to);
	while ((got = read(in, through, COPIED)) > 0) {
		if (write(out, through, (size_t)got) != got)
			die(to);
		bytes += (uint64_t)got;
	}
	if (got < 0)
		die(from);
	printf("copied %" PRIu64 "\n", bytes);
}

int main(int argc, char **argv)
{
	uint64_t pages, touches;
	struct source text, program;
	uint8_t *buffer, *through;
	char device[32];

	if (argc != 7)
		return 2;
	pages = strtoull(argv[1], NULL, 10);
	touches = strtoull(argv[2], NULL, 10);
	text = open_source(argv[3]);
	program = open_source(argv[4]);
	snprintf(device, sizeof(device), "/dev/%s", argv[5]);
	buffer = mmap(BUFFER, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	through = mmap(NULL, COPIED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
	if (buffer == MAP_FAILED || through == MAP_FAILED)
		die("mmap");
	for (uint64_t i = 0; i < pages; i++)
		fill((uint64_t *)(buffer + i * PAGE), i, &text, &program);
	show("filled", argv[5], buffer, pages);
	printf("sum %" PRIu64 "\n", work(buffer, pages, touches));
	steer("stop");
	usleep(SETTLED);
	show("end", argv[5], buffer, pages);
	copy(through, device, argv[6]);
	show("copied", argv[5], buffer, pages);
	return 0;
}
