/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * More memory than there is: parent and forked child write 24 MB each on a machine
 * of 16 MB, with their data checked, and at the end swap is taken away while a part
 * of it is in use.
 */
#include "workload.h"

#define PAGES	6144		/* 24 MB */
#define KEPT	1024

static int check(volatile u32 *pages, u32 first, u32 last, u32 mark)
{
	u32 i;

	for (i = first; i < last; i++)
		if (pages[i * PAGE / 4] != i * 7 + mark || pages[i * PAGE / 4 + 1023] != ~i)
			return wrong("a page's data");
	return 0;
}

static void fill(volatile u32 *pages, u32 mark)
{
	u32 i;

	for (i = 0; i < PAGES; i++) {
		pages[i * PAGE / 4] = i * 7 + mark;
		pages[i * PAGE / 4 + 1023] = ~i;
	}
}

static int jump_about(volatile u32 *pages, u32 mark)
{
	u32 random = mark, i, page;

	for (i = 0; i < 2000; i++) {
		page = next_random(&random) % PAGES;
		if (check(pages, page, page + 1, mark))
			return 1;
	}
	return 0;
}

/* Pages of memory that are free or can be had at once, of swap in use. */
static u32 number_after(const char *text, const char *word)
{
	u32 value = 0, i;

	for (; *text; text++) {
		for (i = 0; word[i] && text[i] == word[i]; i++)
			;
		if (!word[i])
			break;
	}
	while (*text && (*text < '0' || *text > '9'))
		text++;
	while (*text >= '0' && *text <= '9')
		value = value * 10 + (u32)(*text++ - '0');
	return value / 4;
}

static u32 free_pages(void)
{
	static char text[2048];
	long fd = must("/proc/meminfo", CALL3(open, "/proc/meminfo", O_RDONLY, 0));
	long n = must("/proc/meminfo", CALL3(read, fd, text, sizeof(text) - 1));

	CALL1(close, fd);
	text[n] = '\0';
	return number_after(text, "\nMemFree:") + number_after(text, "\nBuffers:") +
	       number_after(text, "\nCached:") - number_after(text, "\nSwapCached:") +
	       number_after(text, "\nSwapFree:");
}

int stress_run(void)
{
	u32 before = free_pages(), after;
	volatile u32 *pages = pages_of(PAGES);
	int child, result;

	fill(pages, 1);
	child = (int)must("fork", CALL0(fork));
	if (child == 0) {
		result = check(pages, 0, PAGES, 1);
		fill(pages, 2);
		CALL1(exit, result || jump_about(pages, 2) || check(pages, 0, PAGES, 2));
	}
	result = jump_about(pages, 1) || check(pages, 0, PAGES, 1);
	if (wait_for(child) != 0)
		result = wrong("the child's end");
	must("munmap", CALL2(munmap, pages + KEPT * PAGE / 4, (PAGES - KEPT) * PAGE));
	result |= check(pages, 0, KEPT, 1);
	must("swapoff", CALL1(swapoff, "/dev/hda"));
	result |= check(pages, 0, KEPT, 1);
	must("swapon", CALL2(swapon, "/dev/hda", 0));
	must("munmap", CALL2(munmap, pages, KEPT * PAGE));
	after = free_pages();
	say("free ");
	say_decimal(before);
	say(" then ");
	say_decimal(after);
	say("\n");
	/* some pages for tables and caches of the kernel; a leak would be thousands */
	if (after + 256 < before)
		result = wrong("memory is missing at the end");
	return result;
}
