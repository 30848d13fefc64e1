/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Huge pages: transparent ones, and those of hugetlbfs. */
#include "guest.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25	/* of Linux 6.1, later than some C libraries */
#endif

static void expect_huge(const char *event, const volatile void *at)
{
	say("expect %s - %lx %" PRIx64 " 200", event, (uintptr_t)at & ~(HUGE - 1),
	    frame((void *)((uintptr_t)at & ~(HUGE - 1))));
}

static void transparent(void)
{
	char *zero = map(NULL, 2 * HUGE, RW, PRIVATE, -1, 0);
	char *written = map(NULL, 2 * HUGE, RW, PRIVATE, -1, 0);
	volatile char *page = huge_in(zero);
	uint64_t before;
	pid_t child;

	mark("huge, read");
	(void)page[5 * PAGE];
	expect_huge("HUGE_MAP", page);
	mark("huge, read and written");
	page[5 * PAGE] = 1;
	/* Which page of zeros is replaced is the kernel's affair. */
	say("expect COW_BREAK - %lx - %" PRIx64, (uintptr_t)page + 5 * PAGE,
	    frame(page + 5 * PAGE));

	mark("huge, written");
	page = huge_in(written);
	page[9 * PAGE] = 1;
	before = frame(page + 9 * PAGE);
	if (frame(page + 10 * PAGE) != before + 1)
		die("not huge");
	expect_huge("HUGE_MAP", page);
	mark("huge, forked");
	child = fork_or_die();
	if (!child) {
		page[9 * PAGE] = 2;
		expect_cow(page + 9 * PAGE, before, frame(page + 9 * PAGE));
		_exit(frame(page + 9 * PAGE) == before);
	}
	join(child, "huge");
	mark("huge, the last sharer writes");
	page[9 * PAGE] = 3;
	expect_cow(page + 9 * PAGE, before, frame(page + 9 * PAGE));
	mark("huge, split");
	page = huge_in(map(NULL, 2 * HUGE, RW, PRIVATE, -1, 0));
	page[0] = 1;
	expect_huge("HUGE_MAP", page);
	call(madvise((void *)(page + 7 * PAGE), PAGE, MADV_DONTNEED), "madvise");
	expect_huge("HUGE_SPLIT", page);
	munmap(zero, 2 * HUGE);
	munmap(written, 2 * HUGE);
	list_maps();
}

/* Whether the pages are one huge page now: at once, or soon, where the kernel cannot be made to. */
static bool collapsed(volatile char *page)
{
	if (!madvise((void *)page, HUGE, MADV_COLLAPSE))
		return frame(page + PAGE) == frame(page) + 1;
	if (errno != EINVAL)
		die("collapse");
	set("/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_shared", "511");
	set("/sys/kernel/mm/transparent_hugepage/khugepaged/alloc_sleep_millisecs", "0");
	set("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "1");
	for (int i = 0; i < 10000; i++) {
		if (frame(page + PAGE) == frame(page) + 1 && frame(page + 511 * PAGE) == frame(page) + 511)
			return true;
		usleep(1000);
	}
	return false;
}

/* A child's pages, which the parent shares, are copied into a huge one. */
static void collapse(void)
{
	char *area = map(NULL, 2 * HUGE, RW, PRIVATE, -1, 0);
	volatile char *page = (char *)(((uintptr_t)area + HUGE - 1) & ~(HUGE - 1));
	pid_t child;

	call(madvise(area, 2 * HUGE, MADV_NOHUGEPAGE), "madvise");
	for (size_t i = 0; i < 512; i++)
		page[i * PAGE] = 1;
	mark("collapse");
	child = fork_or_die();
	if (!child) {
		uint64_t before = frame(page);

		huge_in(area);
		/* What is all read-only is left alone. */
		page[PAGE] = 2;
		if (!collapsed(page) || frame(page) == before)
			die("not collapsed");
		expect_huge("PAGE_OWN", page);
		expect_huge("HUGE_MAP", page);
		_exit(0);
	}
	join(child, "collapse");
	munmap(area, 2 * HUGE);
}

static void hugetlb(void)
{
	volatile char *private, *shared;
	uint64_t before;
	pid_t child;

	mark("hugetlbfs");
	set("/proc/sys/vm/nr_hugepages", "6");
	private = map(NULL, 2 * HUGE, RW, PRIVATE | MAP_HUGETLB, -1, 0);
	say("expect MAP - %lx %lx 3 %x - - 0 %lx", (uintptr_t)private,
	    (uintptr_t)private + 2 * HUGE, KTR_MAP_FILE_PRIVATE, HUGE);
	private[HUGE + 3 * PAGE] = 1;
	/* It is no other's, whatever the file it is said to be of. */
	expect_huge("PAGE_OWN", private + HUGE);
	mark("hugetlbfs, forked");
	before = frame(private + HUGE + 3 * PAGE);
	child = fork_or_die();
	if (!child) {
		private[HUGE + 3 * PAGE] = 2;
		if (frame(private + HUGE + 3 * PAGE) == before)
			die("not copied");
		expect_cow(private + HUGE + 3 * PAGE, before, frame(private + HUGE + 3 * PAGE));
		_exit(0);
	}
	join(child, "hugetlbfs");
	mark("hugetlbfs, the last sharer writes");
	private[HUGE] = 3;
	expect_cow(private + HUGE + 3 * PAGE, before, before);
	mark("hugetlbfs, dropped");
	/* Since Linux 5.18. */
	if (!madvise((void *)(private + HUGE), HUGE, MADV_DONTNEED))
		expect_range("DISCARD", private + HUGE, HUGE);
	else if (errno != EINVAL)
		die("madvise");

	mark("hugetlbfs, shared");
	shared = map(NULL, 2 * HUGE, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	shared[HUGE] = 1;
	say("expect CACHE_ADD - - 200 %" PRIx64 " 200", frame(shared + HUGE));
	munmap((void *)private, 2 * HUGE);
	munmap((void *)shared, 2 * HUGE);
	set("/proc/sys/vm/nr_hugepages", "0");
	list_maps();
}

void huge(void)
{
	transparent();
	collapse();
	hugetlb();
}
