/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernel says of all processes but ours: /proc/PID/maps and pagemap. */
#include "family.h"

#include <dirent.h>

#define PRESENT (1ULL << 63)
#define SWAPPED (1ULL << 62)
#define FRAME ((1ULL << 55) - 1)

/* Bits of /proc/kpageflags. */
#define KPF_ANON (1ULL << 12)
#define KPF_ZERO_PAGE (1ULL << 24)

enum { CHUNK = 512, LINE = 120 };

/* A line that is being written. */
struct line {
	unsigned int number;
	int pid;
	unsigned int length;	/* of its tokens; 0: none begun */
	char kind;		/* of the token that may grow; 0: none */
	uint64_t value, more;
};

static int kpageflags;

static void end_token(struct line *line)
{
	if (line->kind == '-')
		line->length += (unsigned int)printf(" -%" PRIx64, line->more + 1);
	else if (line->kind && line->more)
		line->length += (unsigned int)printf(" %c%" PRIx64 "+%" PRIx64, line->kind,
						     line->value, line->more);
	else if (line->kind)
		line->length += (unsigned int)printf(" %c%" PRIx64, line->kind, line->value);
	line->kind = 0;
}

static void end_line(struct line *line)
{
	end_token(line);
	if (line->length)
		putchar('\n');
	line->length = 0;
}

static void add(struct line *line, uint64_t address, char kind, uint64_t value)
{
	if (line->kind == kind && kind != 's' &&
	    (kind == '-' || value == line->value + line->more + 1)) {
		line->more++;
		return;
	}
	end_token(line);
	if (line->length > LINE)
		end_line(line);
	/* Nothing is worth a line of its own. */
	if (!line->length && kind == '-')
		return;
	if (!line->length)
		line->length = (unsigned int)printf("truth %u %x %" PRIx64, line->number,
						    (unsigned int)line->pid, address);
	line->kind = kind;
	line->value = value;
	line->more = 0;
}

static char kind_of(uint64_t frame)
{
	uint64_t flags;

	if (pread(kpageflags, &flags, 8, (off_t)(frame * 8)) != 8)
		die("/proc/kpageflags");
	if (flags & KPF_ZERO_PAGE)
		return 'z';
	return flags & KPF_ANON ? 'a' : 'f';
}

static void sample_mapping(struct line *line, int pagemap, uint64_t start, uint64_t end)
{
	uint64_t entry[CHUNK];

	while (start < end) {
		uint64_t left = (end - start) / PAGE;
		size_t count = left < CHUNK ? (size_t)left : CHUNK;

		if (pread(pagemap, entry, count * 8, (off_t)(start / PAGE * 8)) !=
		    (ssize_t)(count * 8))
			die("pagemap");
		for (size_t i = 0; i < count; i++, start += PAGE) {
			uint64_t value = entry[i] & FRAME;

			if (entry[i] & PRESENT)
				add(line, start, kind_of(value), value);
			else if (entry[i] & SWAPPED)
				add(line, start, 's', value);
			else
				add(line, start, '-', 0);
		}
	}
	end_line(line);
}

static void sample_process(unsigned int number, int pid)
{
	struct line line = { .number = number, .pid = pid };
	char path[64], text[512];
	FILE *maps;
	int pagemap;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		die(path);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	/* The kernel's own tasks have none. */
	if (pagemap < 0 && errno != ESRCH)
		die(path);
	while (fgets(text, sizeof(text), maps)) {
		uint64_t start, end;

		/* [vsyscall] is no mapping of any space. */
		if (sscanf(text, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && !(start >> 63))
			sample_mapping(&line, pagemap, start, end);
	}
	fclose(maps);
	if (pagemap >= 0)
		close(pagemap);
}

void sample(unsigned int number)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	char mark[32];
	int fd = open("/dev/laplace", O_WRONLY | O_CLOEXEC);
	int length = snprintf(mark, sizeof(mark), "mark truth %u", number);

	kpageflags = call(open("/proc/kpageflags", O_RDONLY | O_CLOEXEC), "/proc/kpageflags");
	if (!processes)
		die("/proc");
	if (fd < 0 || write(fd, mark, (size_t)length) != length)
		die("/dev/laplace");
	while ((entry = readdir(processes))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && pid != getpid())
			sample_process(number, pid);
	}
	closedir(processes);
	printf("truth %u end\n", number);
	fflush(stdout);
}
