/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reclaim FILE: make a guest of little memory reclaim what it has, and say what its kernel counted
 * meanwhile.  FILE, which is larger than memory, is read several times; so is anonymous memory of the
 * same size, which goes to swap; some of it is given up with MADV_FREE, and some is shared.
 *
 * Some is not used for a while, the kernel is advised that some is not needed, and a child is killed for its memory.
 *
 * Prints "reclaim: NAME BEFORE AFTER" for each count of /proc/vmstat, for "generation", the youngest of
 * them (/sys/kernel/debug/lru_gen), and for "stalled", the microseconds in which a task waited for memory
 * (/proc/pressure/memory).  And "watermark ZONE MIN LOW HIGH" for each zone that has pages: its marks
 * (/proc/zoneinfo).  Counts were read between the marks reclaim-0 and reclaim-1, and between
 * reclaim-2 and reclaim-3: in both of these nothing should happen.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 3, COUNTS = 32768 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void say_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

static void mark(const char *text)
{
	char command[64];

	snprintf(command, sizeof(command), "mark %s", text);
	say_to("/dev/laplace", command);
}

static size_t read_text(const char *path, char *text)
{
	size_t used = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return 0;
	while ((got = read(fd, text + used, COUNTS - 1 - used)) > 0)
		used += (size_t)got;
	if (got < 0)
		die(path);
	text[used] = '\0';
	close(fd);
	return used;
}

/* Microseconds in which at least one task was stalled; 0 if that is not counted. */
static uint64_t stalled(void)
{
	static char text[COUNTS];
	const char *total = read_text("/proc/pressure/memory", text) ? strstr(text, "total=") : NULL;

	return total ? strtoull(total + 6, NULL, 10) : 0;
}

/* What each processor counted by itself counts, too. */
static void count(char *counts, char *generations, uint64_t *stalled_for)
{
	say_to("/proc/sys/vm/stat_refresh", "1");
	if (read_text("/proc/vmstat", counts) == 0)
		die("/proc/vmstat");
	generations[0] = '\0';
	read_text("/sys/kernel/debug/lru_gen", generations);
	*stalled_for = stalled();
}

/* The last line is that of the youngest: its number, its age, and how many pages it has. */
static uint64_t youngest(const char *generations)
{
	const char *line = generations + strlen(generations);
	uint64_t number = 0;

	while (line > generations && (line[-1] != '\n' || line[0] == '\0'))
		line--;
	sscanf(line, "%ju", (uintmax_t *)&number);
	return number;
}

static void read_file(const char *path, size_t size)
{
	static char data[16 * PAGE];
	int fd = open(path, O_RDONLY);
	ssize_t got = 1;

	if (fd < 0)
		die(path);
	for (size_t at = 0; at < size && got > 0; at += (size_t)got)
		got = read(fd, data, sizeof(data));
	close(fd);
}

static unsigned char *map(size_t size, int kind)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	return memory;
}

static void write_pages(unsigned char *memory, size_t size, unsigned char value)
{
	for (size_t at = 0; at < size; at += PAGE)
		memset(memory + at, (int)(value + at / PAGE % 251), PAGE / 4);
}

static unsigned int read_pages(const unsigned char *memory, size_t size)
{
	unsigned int sum = 0;

	for (size_t at = 0; at < size; at += PAGE)
		sum += *(volatile const unsigned char *)(memory + at);
	return sum;
}

/* Parts of what is in memory: it is used, and the kernel is asked to take that before others. */
static void advise(const char *path, unsigned char *own, size_t size)
{
	int fd = open(path, O_RDONLY);
	unsigned char *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (fd < 0 || file == MAP_FAILED)
		die(path);
	read_pages(own, size);
	madvise(own, size, MADV_COLD);
	read_file(path, size);
	read_file(path, size);
	read_pages(file, size);
	madvise(file, size, MADV_COLD);
	munmap(file, size);
	posix_fadvise(fd, 0, (off_t)size, POSIX_FADV_DONTNEED);
	close(fd);
}

static void press(const char *path, size_t size)
{
	unsigned char *own = map(size, MAP_PRIVATE), *shared = map(size / 4, MAP_SHARED);
	unsigned char *free_ones = map(size / 4, MAP_PRIVATE);
	unsigned int sum = 0;

	for (int round = 0; round < ROUNDS; round++) {
		write_pages(free_ones, size / 4, 3);
		madvise(free_ones, size / 4, MADV_FREE);
		if (round == 1)
			write_pages(own, size, 1);
		write_pages(shared, size / 4, 2);
		read_file(path, size);
		sum += read_pages(own, size) + read_pages(shared, size / 4);
		/* part of it again, as what is used often */
		for (int again = 0; again < 3; again++) {
			sum += read_pages(own, size / 8);
			read_file(path, size / 16);
		}
	}
	advise(path, own, size / 16);
	printf("reclaim: sum %u 0\n", sum);
}

/* The kernel is asked to kill the process that is best killed, and that is this child. */
static void be_killed(void)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child == 0) {
		say_to("/proc/self/oom_score_adj", "1000");
		say_to("/proc/sysrq-trigger", "f");
		for (;;)
			pause();
	}
	if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		die("the child was not killed");
	printf("reclaim: killed %d 0\n", child);
}

/* What is still to be done in the background. */
static void settle(void)
{
	sync();
	sleep(1);
}

static void print_counts(const char *before, const char *after)
{
	char name[64];
	uint64_t value, then;
	const char *old;
	int length;

	while (sscanf(after, "%63s %ju%n", name, (uintmax_t *)&value, &length) == 2) {
		char wanted[80];

		snprintf(wanted, sizeof(wanted), "\n%s ", name);
		old = strstr(before, wanted);
		if (old && sscanf(old + strlen(wanted), "%ju", (uintmax_t *)&then) == 1)
			printf("reclaim: %s %ju %ju\n", name, (uintmax_t)then, (uintmax_t)value);
		after += length;
	}
}

static void print_watermarks(void)
{
	static char zones[COUNTS];
	unsigned long min = 0, low = 0, high = 0, present;
	char *line, *rest = zones;
	int zone = -1;

	if (read_text("/proc/zoneinfo", zones) == 0)
		die("/proc/zoneinfo");
	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, "Node 0, zone %*s") == 0 && strncmp(line, "Node", 4) == 0)
			zone++;
		sscanf(line, " min %lu", &min);
		sscanf(line, " low %lu", &low);
		sscanf(line, " high %lu", &high);
		if (sscanf(line, " present %lu", &present) == 1 && present != 0)
			printf("watermark %d %lu %lu %lu\n", zone, min, low, high);
	}
}

int main(int argc, char **argv)
{
	static char before[COUNTS], after[COUNTS], young[COUNTS], younger[COUNTS];
	uint64_t stalled_before, stalled_after;
	struct stat st;

	if (argc != 2 || stat(argv[1], &st) < 0)
		die("usage: reclaim FILE");
	/* What is needed then stays here: to bring it in again would be counted, too. */
	if (mlockall(MCL_CURRENT) < 0)
		die("mlockall");
	count(after, younger, &stalled_after);
	settle();
	mark("reclaim-0");
	count(before, young, &stalled_before);
	mark("reclaim-1");
	be_killed();
	press(argv[1], (size_t)st.st_size);
	/* the child had a part in these pages, too */
	count(after, younger, &stalled_after);
	settle();
	mark("reclaim-2");
	count(after, younger, &stalled_after);
	mark("reclaim-3");
	print_counts(before, after);
	print_watermarks();
	printf("reclaim: generation %ju %ju\n", (uintmax_t)youngest(young), (uintmax_t)youngest(younger));
	printf("reclaim: stalled %ju %ju\n", (uintmax_t)stalled_before, (uintmax_t)stalled_after);
	return 0;
}
