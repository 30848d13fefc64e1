/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See memory.h. */
#include "memory.h"
#include "workload.h"

#define KIB_OF_PAGE	(PAGE / 1024)
#define STEP		64		/* pages that are taken at a time */
#define LEFT_ALONE	8192		/* KiB: files in /tmp are cached, but cannot be given */

static char text[16384];

static void read_text(const char *path)
{
	long fd = must(path, CALL3(open, path, O_RDONLY, 0)), n;
	u32 length = 0;

	while ((n = must(path, CALL3(read, fd, text + length, sizeof(text) - 1 - length))) > 0)
		length += (u32)n;
	CALL1(close, fd);
	text[length] = '\0';
}

static int begins(const char *line, const char *name)
{
	while (*name && *line == *name)
		line++, name++;
	return !*name;
}

/* NULL: it was the last. */
static const char *next_line(const char *line)
{
	while (*line && *line != '\n')
		line++;
	return *line && line[1] ? line + 1 : NULL;
}

static u32 number_at(const char **at)
{
	u32 value = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++)
		value = 10 * value + (u32)(**at - '0');
	return value;
}

/* What stands in the line of this name, which includes what follows the word. */
static u32 number_of(const char *name)
{
	const char *line = text;

	while (line && !begins(line, name))
		line = next_line(line);
	if (!line)
		fail(name, 0);
	for (line += length_of(name); *line == ' '; line++)
		;
	return number_at(&line);
}

/* What ends a cache's line. */
enum { OBJECTS, ALL_OBJECTS, BYTES, USED_SLABS, SLABS, PAGES, FIELDS };

static void read_cache(const char *line, u32 *field)
{
	u32 i;

	for (i = 0; i < FIELDS; i++)
		field[i] = 0;
	while (*line && *line != '\n') {
		for (i = 1; i < FIELDS; i++)
			field[i - 1] = field[i];
		field[PAGES] = number_at(&line);
		while (*line && *line != ' ' && *line != '\n')
			line++;
		while (*line == ' ')
			line++;
	}
}

static void read_slabs(struct memory *memory)
{
	const char *line;
	u32 field[FIELDS], bytes = 0;

	memory->slab = memory->buffer_heads = 0;
	read_text("/proc/slabinfo");
	for (line = next_line(text); line; line = next_line(line)) {
		read_cache(line, field);
		memory->slab += field[SLABS] * field[PAGES] * KIB_OF_PAGE;
		if (begins(line, "buffer_head "))
			memory->buffer_heads = field[SLABS] * field[PAGES] * KIB_OF_PAGE;
		else
			bytes += field[OBJECTS] * field[BYTES];
	}
	memory->objects = bytes / 1024;
}

void read_memory(struct memory *memory)
{
	read_text("/proc/meminfo");
	memory->buffers = number_of("Buffers:");
	memory->cached = number_of("Cached:");
	memory->used = number_of("MemTotal:") - number_of("MemFree:") - memory->buffers -
		       memory->cached;
	read_slabs(memory);
}

u32 processes_made(void)
{
	read_text("/proc/stat");
	return number_of("processes ");
}

u32 seconds_up(void)
{
	const char *at = text;

	read_text("/proc/uptime");
	return number_at(&at);
}

static u32 to_be_had(void)
{
	read_text("/proc/meminfo");
	return number_of("MemFree:") + number_of("Buffers:") + number_of("Cached:");
}

static int take(void)
{
	u32 *pages, i;

	do {
		pages = pages_of(STEP);
		for (i = 0; i < STEP; i++)
			pages[i * PAGE / 4] = i;
	} while (to_be_had() > LEFT_ALONE);
	return 0;
}

int squeeze(void)
{
	int pid = (int)must("fork", CALL0(fork));

	if (pid == 0)
		CALL1(exit, take());
	return wait_for(pid) ? wrong("taking all memory") : 0;
}
