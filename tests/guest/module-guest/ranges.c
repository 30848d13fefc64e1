/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What changes where something is still mapped: protection, and pages dropped. */
#include "guest.h"

static void protection(void)
{
	char *a = map(NULL, 6 * PAGE, RW, PRIVATE, -1, 0);

	mark("protection");
	call(mprotect(a + PAGE, 2 * PAGE, PROT_READ), "mprotect");
	say("expect MPROTECT - %lx %lx 1", (uintptr_t)a + PAGE, (uintptr_t)a + 3 * PAGE);
	list_maps();
	mark("protection of two mappings");
	call(mprotect(a, 4 * PAGE, PROT_NONE), "mprotect");
	say("expect MPROTECT - %lx %lx 0", (uintptr_t)a, (uintptr_t)a + PAGE);
	say("expect MPROTECT - %lx %lx 0", (uintptr_t)a + PAGE, (uintptr_t)a + 3 * PAGE);
	say("expect MPROTECT - %lx %lx 0", (uintptr_t)a + 3 * PAGE, (uintptr_t)a + 4 * PAGE);
	mark("protection that is there already");
	call(mprotect(a, 2 * PAGE, PROT_NONE), "mprotect");
	say("refuse MPROTECT");
	munmap(a, 6 * PAGE);
}

/* A page of its own in a space that has no relatives needs no event. */
static void discards(void)
{
	volatile char *a = map(NULL, 4 * PAGE, RW, PRIVATE, -1, 0);
	volatile char *s = map(NULL, 4 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	mark("dropped");
	for (size_t i = 0; i < 4; i++)
		a[i * PAGE] = s[i * PAGE] = 1;
	call(madvise((void *)(a + PAGE), 2 * PAGE, MADV_DONTNEED), "madvise");
	if (frame(a + PAGE) || !frame(a))
		die("MADV_DONTNEED");
	expect_range("DISCARD", a + PAGE, 2 * PAGE);
	/* The pages of shared memory stay what they are. */
	call(madvise((void *)s, 4 * PAGE, MADV_DONTNEED), "madvise");
	refuse_range("DISCARD", s, 4 * PAGE);
	list_maps();

	mark("dropped later");
	a[0] = 1;
	call(madvise((void *)a, PAGE, MADV_FREE), "madvise");
	if (!frame(a))
		die("MADV_FREE at once");
	refuse_range("DISCARD", a, PAGE);
	mark("dropped now");
	call(madvise((void *)a, PAGE, MADV_PAGEOUT), "madvise");
	if (pagemap(a) >> 62)
		die("MADV_FREE not at all");
	expect_range("DISCARD", a, PAGE);
	say("refuse SWAP_OUT - %lx", (uintptr_t)a);
	munmap((void *)a, 4 * PAGE);
	munmap((void *)s, 4 * PAGE);
}

void ranges(void)
{
	protection();
	discards();
}
