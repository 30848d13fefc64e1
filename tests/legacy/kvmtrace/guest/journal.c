/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log goes to a file on ext3, where programs write, too.  The disk is slow to read:
 *
 *	the writer	changes a part of a block that is not in memory, so that the kernel
 *			reads it, within a handle of the journal, before it copies what is
 *			written; by then the writer's pages have left the pool
 *	the committer	has the journal close its transaction, which waits for the writer,
 *			and for which every writer waits: the reader, too
 *	the filler	fills the ring, which is not emptied, in the meantime
 *
 * Should the writer's fault wait for the reader, none of them goes on.
 */
#include <laplace/kvmtrace_record.h>

#include "workload.h"

#define WORDS		(PAGE / 4)
#define PAGES		300
#define BLOCKS		30	/* that the disk's file "data" has at least */
#define LENGTH		2000
#define OFFSET		100	/* in the block */

#define SEEK_SET	0

static volatile u32 *over;

static long file(const char *path, int mode)
{
	return must(path, CALL3(open, path, mode, 0600));
}

static int in_process(int (*work)(void))
{
	int pid = (int)must("fork", CALL0(fork));

	if (pid == 0)
		CALL1(exit, work());
	return pid;
}

static int reader(void)
{
	static char *const arguments[] = { "/bin/kvmtrace", "read", "/tmp/log", NULL };
	static char *const none[] = { NULL };

	CALL3(execve, arguments[0], arguments, none);
	return 1;
}

static int write_blocks(void)
{
	/* in two pages */
	u8 *buffer = (u8 *)pages_of(2) + PAGE - LENGTH / 2;
	long data = file("/tmp/data", O_RDWR);
	u32 block, i;

	for (block = 0; block < BLOCKS; block++) {
		for (i = 0; i < LENGTH; i++)
			buffer[i] = (u8)(block + i);
		must("lseek", CALL3(lseek, data, block * PAGE + OFFSET, SEEK_SET));
		if (must("write", CALL3(write, data, buffer, LENGTH)) != LENGTH)
			return wrong("a write is short");
	}
	for (block = 0; block < BLOCKS; block++) {
		must("lseek", CALL3(lseek, data, block * PAGE + OFFSET, SEEK_SET));
		must("read", CALL3(read, data, buffer, LENGTH));
		for (i = 0; i < LENGTH; i++)
			if (buffer[i] != (u8)(block + i))
				return wrong("a file's data");
	}
	return 0;
}

static int commit(void)
{
	long own = file("/tmp/own", O_RDWR | O_CREAT);

	while (!*over) {
		must("write", CALL3(write, own, "", 1));
		must("fsync", CALL1(fsync, own));
	}
	return 0;
}

static int fill(void)
{
	volatile u32 *pages = pages_of(PAGES);
	u32 rounds = 0, i;

	/* when there is room again, the writer and the committer come first */
	must("nice", CALL1(nice, 19));
	while (!*over) {
		for (i = 0; i < PAGES; i++)
			pages[i * WORDS]++;
		/* more than there are in the ring, but no log of hundreds of MB */
		if (++rounds % 4 == 0)
			nap();
	}
	return 0;
}

/* To the second disk, where it can be imported from. */
static void copy_log(void)
{
	static u8 buffer[16 * PAGE];
	long from = file("/tmp/log", O_RDONLY), to = file("/dev/hdb", O_WRONLY), n;

	while ((n = must("read", CALL3(read, from, buffer, sizeof(buffer)))) > 0)
		if (must("write", CALL3(write, to, buffer, n)) != n)
			fail("the log is not copied", 0);
	must("fsync", CALL1(fsync, to));
}

int journal_run(void)
{
	long device = must(DEVICE, CALL3(open, DEVICE, O_WRONLY, 0));
	struct kvmtrace_status status;
	int reading, writing, committing, filling, result;

	over = (volatile u32 *)must("mmap", map(0, PAGE, PROT_READ | PROT_WRITE,
						MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	must("ext3", CALL5(mount, "/dev/hda", "/tmp", "ext3", 0, 0));
	reading = in_process(reader);
	do {
		nap();
		must("status", CALL3(ioctl, device, KVMTRACE_IOC_STATUS, &status));
	} while (!status.tracing);
	committing = in_process(commit);
	filling = in_process(fill);
	writing = in_process(write_blocks);
	result = wait_for(writing);
	*over = 1;
	result |= wait_for(committing) | wait_for(filling);
	must("status", CALL3(ioctl, device, KVMTRACE_IOC_STATUS, &status));
	say("records ");
	say_decimal(status.records);
	say("\nwaits ");
	say_decimal(status.waits);
	say("\n");
	if (!status.tracing)
		return wrong("the reader and the writer have waited for each other");
	must("stop", CALL3(ioctl, device, KVMTRACE_IOC_STOP, 0));
	if (status.lost || status.wrong || wait_for(reading))
		result = wrong("the log is not whole");
	copy_log();
	return result;
}
