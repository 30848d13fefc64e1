/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many tasks: more than the ring was made for, and forks by one thread while another
 * one writes.
 */
#include <laplace/kvmtrace_record.h>

#include "workload.h"

#define WORDS		(PAGE / 4)

static struct shared {
	volatile u32 there, over;
} *shared;

static void share(void)
{
	shared = (struct shared *)must("mmap", map(0, PAGE, PROT_READ | PROT_WRITE,
						   MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

/* ---- all alive at once, each with a few faults now and then ---- */

#define CROWD		150
#define OWN		20

static int live(u32 number)
{
	volatile u32 *pages = pages_of(OWN);
	u32 i, round;

	shared->there++;
	while (shared->there < CROWD)
		nap();
	for (round = 0; round < 20; round++)
		for (i = 0; i < OWN; i++) {
			if (pages[i * WORDS] != round * number)
				return wrong("a page's data");
			pages[i * WORDS] += number;
		}
	return 0;
}

int crowd_run(void)
{
	static int pid[CROWD];
	int result = 0;
	u32 i;

	share();
	for (i = 0; i < CROWD; i++) {
		pid[i] = (int)must("fork", CALL0(fork));
		if (pid[i] == 0)
			CALL1(exit, live(i));
	}
	for (i = 0; i < CROWD; i++)
		result |= wait_for(pid[i]);
	return result;
}

/* ---- a copy of a page is broken after the fork that made it ---- */

#define CALL_setuid	((enum call)23)
#define CLONE_NEWNS	0x20000

#define FORKS		150
#define PAGES		16	/* fewer than in the pool */
#define SLOWLY		4	/* records at a time, so that the ring is full, and all wait */

static volatile u32 *written;

static void write_on(u32 number)
{
	u32 i;

	(void)number;
	for (; !shared->over; CALL0(sched_yield))
		for (i = 0; i < PAGES; i++)
			written[i * WORDS]++;
	CALL1(exit, 0);
}

/* A fork that fails late, when the space is copied already: not everybody may do this. */
static int forks_in_vain(void)
{
	int child = (int)must("fork", CALL0(fork));

	if (child == 0) {
		must("setuid", CALL1(setuid, 1));
		CALL1(exit, !failed(CALL2(clone, CLONE_NEWNS | SIGCHLD, 0)));
	}
	return wait_for(child) ? wrong("a fork that is not permitted") : 0;
}

/*
 * A page of the space that is written to parts from the child's once for each fork, and
 * what was forked ends.
 */
static int read_slowly(void)
{
	static struct kvmtrace_record records[SLOWLY];
	static u32 parted[PAGES];		/* at which of the forks */
	long device = must(DEVICE, CALL3(open, DEVICE, O_RDONLY, 0)), n;
	/* this process was forked first */
	u32 forks = 1, space = 0, breaks = 0, alive = 0, page, i;
	int result = 0;

	must("start", CALL3(ioctl, device, KVMTRACE_IOC_START, 0));
	do {
		nap();
		n = must("read", CALL3(read, device, records, sizeof(records)));
		for (i = 0; i < (u32)n / sizeof(*records); i++) {
			const struct kvmtrace_record *record = &records[i];

			if (record->kind == KVMTRACE_FORK && !(record->is.word[3] & CLONE_VM)) {
				forks++;
				alive++;
				if (!space)
					space = record->space;
			}
			if (record->kind == KVMTRACE_EXIT && record->is.word[1])
				alive--;
			page = (record->address - (u32)written) / PAGE;
			if (record->kind != KVMTRACE_REFERENCE || page >= PAGES ||
			    (space && record->space != space) ||
			    !(record->flags & (KVMTRACE_COPIED | KVMTRACE_KEPT)))
				continue;
			breaks++;
			if (parted[page] == forks)
				result = wrong("a page parts from a copy that was not made");
			parted[page] = forks;
		}
	} while (n);
	if (alive)
		result = wrong("somebody was forked and did not end");
	return result || (breaks < FORKS ? wrong("nearly nothing was copied") : 0);
}

int forks_run(void)
{
	long device = must(DEVICE, CALL3(open, DEVICE, O_WRONLY, 0));
	struct kvmtrace_status status;
	int reader, thread, child, result = 0;
	u32 i;

	share();
	written = pages_of(PAGES);
	for (i = 0; i < PAGES; i++)
		written[i * WORDS] = i;
	reader = (int)must("fork", CALL0(fork));
	if (reader == 0)
		CALL1(exit, read_slowly());
	do {
		nap();
		must("status", CALL3(ioctl, device, KVMTRACE_IOC_STATUS, &status));
	} while (!status.tracing);
	thread = start_thread(write_on, 0, pages_of(4) + 4 * WORDS);
	/* the one that writes is first when both have waited for the reader */
	must("nice", CALL1(nice, 19));
	for (i = 0; i < FORKS; i++) {
		child = (int)must("fork", CALL0(fork));
		if (child == 0)
			CALL1(exit, 0);
		result |= wait_for(child);
	}
	result |= forks_in_vain();
	shared->over = 1;
	result |= wait_for(thread);
	must("stop", CALL3(ioctl, device, KVMTRACE_IOC_STOP, 0));
	return result | wait_for(reader);
}
