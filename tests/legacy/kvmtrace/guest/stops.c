/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tracing begins and ends while entries of page tables are on their way.  On a machine
 * that swaps, one process moves a mapping to and fro, and its page tables have to be made
 * anew while it is moved; another touches more pages than there is memory for.  After
 * each end all that was moved has to be found again, and while it traces the reader
 * looks whether the log has each page that was moved.
 */
#include <laplace/kvmtrace_record.h>

#include "workload.h"

#define MAP_NORESERVE	0x4000
enum { MAYMOVE = 1, FIXED = 2 };

#define STOPS		60
/* More tables than the kernel keeps at hand, with one page in each. */
#define TABLES		128
#define TABLE_SPAN	(4 << 20)
#define SPAN		(TABLES * TABLE_SPAN)
#define HERE		0x20000000
#define THERE		0x48000000
#define TOUCHED		6000
#define TOUCHED_AT	0x70000000
#define WORDS		(PAGE / 4)

static struct shared {
	volatile u32 filled;		/* both have written all their pages */
	volatile u32 moves;		/* made, and found whole */
	volatile u32 rounds;		/* of tracing that may begin */
	volatile u32 over;		/* or somebody found something wrong */
} *shared;

static void map_at(u32 address, u32 length)
{
	must("mmap", map(address, length, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0));
}

/* ---- the two processes ---- */

static volatile u32 *page_in(u32 at, u32 table)
{
	return (u32 *)(at + table * TABLE_SPAN);
}

static int move(void)
{
	u32 at = HERE, to, i;

	map_at(at, SPAN);
	for (i = 0; i < TABLES; i++)
		*page_in(at, i) = i;
	shared->filled++;
	for (; !shared->over; shared->moves++, at = to) {
		to = HERE + THERE - at;
		must("mremap", CALL5(mremap, at, SPAN, SPAN, MAYMOVE | FIXED, to));
		for (i = 0; i < TABLES; i++)
			if ((*page_in(to, i))++ != i + shared->moves)
				return wrong("a page that was moved");
	}
	return 0;
}

static int touch(void)
{
	volatile u32 *pages = (u32 *)TOUCHED_AT;
	u32 random = 1, round, i;

	map_at(TOUCHED_AT, TOUCHED * PAGE);
	for (i = 0; i < TOUCHED; i++)
		pages[i * WORDS] = i;
	shared->filled++;
	for (round = 0; !shared->over; round++) {
		i = next_random(&random) % TOUCHED;
		if (pages[i * WORDS] != i)
			return wrong("a page that was touched");
		/* mostly reads, so that pages are in swap and need not be written */
		if (round % 4 == 0)
			pages[i * WORDS] = i;
	}
	return 0;
}

/* ---- the reader ---- */

/* What was moved, and which of its pages are logged since. */
struct moved {
	u32 to;			/* 0: nothing yet */
	u32 logged;
	unsigned char page[TABLES];
};

static int look(const struct kvmtrace_record *record, struct moved *moved)
{
	int missing;
	u32 i;

	switch (record->kind) {
	case KVMTRACE_REMAP:
		missing = moved->to && moved->logged != TABLES;
		moved->to = record->is.word[0];
		moved->logged = 0;
		for (i = 0; i < TABLES; i++)
			moved->page[i] = 0;
		return missing ? wrong("a page was moved and referenced, and is not logged") : 0;
	case KVMTRACE_REFERENCE:
		i = (record->address - moved->to) / TABLE_SPAN;
		if (moved->to && record->address >= moved->to && i < TABLES && !moved->page[i]) {
			moved->page[i] = 1;
			moved->logged++;
		}
		if (record->flags & KVMTRACE_FRESH && record->address >= TOUCHED_AT &&
		    record->address < TOUCHED_AT + TOUCHED * PAGE)
			return wrong("a page that was written before is said to be fresh");
		break;
	}
	return 0;
}

static int read_rounds(void)
{
	static struct kvmtrace_record records[256];
	long device = must(DEVICE, CALL3(open, DEVICE, O_RDONLY, 0)), n;
	u32 round, next, whole, i;
	int result = 0;

	for (round = 1; round <= STOPS && !result; round++) {
		struct moved moved = { 0 };

		while (shared->rounds < round && !shared->over)
			nap();
		must("start", CALL3(ioctl, device, KVMTRACE_IOC_START, 0));
		next = whole = 0;
		while ((n = must("read", CALL3(read, device, records, sizeof(records)))) > 0)
			for (i = 0; i < (u32)n / sizeof(*records); i++) {
				whole = records[i].kind == KVMTRACE_STOP && !records[i].is.word[0];
				if (records[i].sequence != next++)
					result = wrong("a gap in the log");
				result |= look(&records[i], &moved);
			}
		if (!whole)
			result |= wrong("the end of the log");
	}
	return result;
}

/* ---- the process that ends it again and again ---- */

static int tracing(long device)
{
	struct kvmtrace_status status;

	must("status", CALL3(ioctl, device, KVMTRACE_IOC_STATUS, &status));
	return status.tracing != 0;
}

static int start(int (*what)(void))
{
	int pid = (int)must("fork", CALL0(fork)), result;

	if (pid == 0) {
		result = what();
		if (result)
			shared->over = 1;
		CALL1(exit, result);
	}
	return pid;
}

int stops_run(void)
{
	long device = must(DEVICE, CALL3(open, DEVICE, O_WRONLY, 0));
	int mover, toucher, reader, result;
	u32 round, moves;

	shared = (struct shared *)must("mmap", map(0, PAGE, PROT_READ | PROT_WRITE,
						   MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	mover = start(move);
	toucher = start(touch);
	while (shared->filled < 2)
		nap();
	reader = start(read_rounds);
	for (round = 1; round <= STOPS && !shared->over; round++) {
		shared->rounds = round;
		while (!tracing(device) && !shared->over)
			nap();
		nap();
		CALL3(ioctl, device, KVMTRACE_IOC_STOP, 0);
		/* all is moved, and looked at, before it begins again */
		moves = shared->moves;
		while (shared->moves - moves < 2 && !shared->over)
			nap();
	}
	shared->over = 1;
	result = wait_for(reader);
	result |= wait_for(mover);
	result |= wait_for(toucher);
	return result != 0;
}
