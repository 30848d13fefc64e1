/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is mapped where: anonymous memory, the heap, mremap, segments, the stack. */
#include "guest.h"

#include <sys/ipc.h>
#include <sys/shm.h>

static void anonymous(void)
{
	char *a, *b;

	mark("anonymous");
	/* Two that the kernel merges: each event is of its own range. */
	a = map(NULL, 8 * PAGE, RW, PRIVATE, -1, 0);
	expect_map(a, 8 * PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	b = map(a - 4 * PAGE, 4 * PAGE, RW, PRIVATE | MAP_FIXED_NOREPLACE, -1, 0);
	expect_map(b, 4 * PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	list_maps();

	mark("hole");
	munmap(a + PAGE, 2 * PAGE);
	expect_unmap(a + PAGE, 2 * PAGE);
	list_maps();

	mark("overmap");
	map(a + 5 * PAGE, PAGE, PROT_READ, PRIVATE | MAP_FIXED, -1, 0);
	expect_unmap(a + 5 * PAGE, PAGE);
	expect_map(a + 5 * PAGE, PAGE, 1, KTR_MAP_ANONYMOUS, NULL, 0, "");
	list_maps();

	mark("shared anonymous");
	a = map(NULL, 2 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect_map(a, 2 * PAGE, 3, KTR_MAP_ANONYMOUS_SHARED, NULL, 0, "dev/zero");
	list_maps();
}

static void heap(void)
{
	char *old, *now;

	mark("brk");
	old = (char *)(((uintptr_t)sbrk(0) + PAGE - 1) & ~(PAGE - 1));
	if (brk(old + 5 * PAGE + 17))
		die("brk");
	expect_map(old, 6 * PAGE, 3, KTR_MAP_HEAP, NULL, 0, "[heap]");
	say("expect BRK - %lx %lx", (uintptr_t)old, (uintptr_t)old + 6 * PAGE);
	list_maps();
	mark("brk back");
	now = old + PAGE;
	if (brk(now))
		die("brk");
	expect_unmap(now, 5 * PAGE);
	say("expect BRK - %lx %lx", (uintptr_t)old + 6 * PAGE, (uintptr_t)now);
	list_maps();
}

static void remap(void)
{
	char *a, *b, *c;

	mark("mremap grows in place");
	a = map(NULL, 8 * PAGE, RW, PRIVATE, -1, 0);
	munmap(a + 2 * PAGE, 6 * PAGE);
	if (mremap(a, 2 * PAGE, 4 * PAGE, 0) != a)
		die("mremap in place");
	expect_map(a + 2 * PAGE, 2 * PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	list_maps();

	mark("mremap shrinks");
	if (mremap(a, 4 * PAGE, 3 * PAGE, 0) != a)
		die("mremap shrinks");
	expect_unmap(a + 3 * PAGE, PAGE);
	list_maps();

	mark("mremap moves");
	a[0] = 1;
	b = map(NULL, 16 * PAGE, PROT_NONE, PRIVATE, -1, 0);
	c = mremap(a, 3 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, b + 4 * PAGE);
	if (c != b + 4 * PAGE)
		die("mremap moves");
	expect_unmap(c, 5 * PAGE);
	say("expect REMAP - %lx %lx %lx %lx", (uintptr_t)a, (uintptr_t)a + 3 * PAGE,
	    (uintptr_t)c, (uintptr_t)c + 3 * PAGE);
	expect_unmap(a, 3 * PAGE);
	expect_map(c + 3 * PAGE, 2 * PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	list_maps();

	mark("mremap leaves its source");
	a = mremap(c, 5 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
	if (a == MAP_FAILED)
		die("mremap leaves");
	say("expect REMAP - %lx %lx %lx %lx", (uintptr_t)c, (uintptr_t)c + 5 * PAGE,
	    (uintptr_t)a, (uintptr_t)a + 5 * PAGE);
	expect_map(c, 5 * PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	list_maps();
}

static void segments(void)
{
	int id = shmget(IPC_PRIVATE, 3 * PAGE, IPC_CREAT | 0600);
	char *at;

	mark("shmat");
	if (id < 0)
		die("shmget");
	at = shmat(id, NULL, 0);
	if (at == (void *)-1)
		die("shmat");
	expect_map(at, 3 * PAGE, 3, KTR_MAP_SHM, NULL, 0, "SYSV00000000");
	say("expect SHM_ATTACH - %lx %lx %x", (uintptr_t)at,
	    (uintptr_t)at + 3 * PAGE, (unsigned int)id);
	at[PAGE] = 1;
	say("expect CACHE_ADD - %llx 1 %" PRIx64 " 1", 1ULL << 63 | (unsigned int)id,
	    frame(at + PAGE));
	list_maps();
	mark("shmdt");
	if (shmdt(at))
		die("shmdt");
	say("expect SHM_DETACH - %lx", (uintptr_t)at);
	expect_unmap(at, 3 * PAGE);
	shmctl(id, IPC_RMID, NULL);
	list_maps();
}

static void calls32(void)
{
	char *a = map(NULL, 8 * PAGE, RW, PRIVATE | MAP_32BIT, -1, 0);
	uintptr_t old = (uintptr_t)call32(45, 0, 0, 0, 0);

	mark("32-bit mremap");
	munmap(a + 2 * PAGE, 6 * PAGE);
	if (call32(163, (uintptr_t)a, 2 * PAGE, 3 * PAGE, 0) != (long)(uintptr_t)a)
		die("32-bit mremap");
	expect_map(a + 2 * PAGE, PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	mark("32-bit brk");
	old = (old + PAGE - 1) & ~(PAGE - 1);
	if (call32(45, old + PAGE, 0, 0, 0) != (long)(old + PAGE))
		die("32-bit brk");
	expect_map((void *)old, PAGE, 3, KTR_MAP_HEAP, NULL, 0, "[heap]");
	say("expect BRK - %lx %lx", old, old + PAGE);
	list_maps();
}

static void deep(int depth)
{
	volatile char page[PAGE];

	page[0] = (char)depth;
	if (depth)
		deep(depth - 1);
	page[PAGE - 1] = page[0];
}

static void stack(void)
{
	mark("stack grows");
	deep(200);
	say("expect MAP - - - 3 %x - - - \"[stack]\"", KTR_MAP_STACK);
	list_maps();
}

void memory(void)
{
	anonymous();
	heap();
	remap();
	segments();
	calls32();
	stack();
}
