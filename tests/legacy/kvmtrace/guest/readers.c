/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a reader may do: read with two threads at once, leave its descriptor to another
 * process, execute another program while a thread goes on, be stopped.  Each of these
 * starts and ends tracing by itself.
 */
#include <laplace/kvmtrace_record.h>

#include "workload.h"

#define WORDS		(PAGE / 4)
#define PAGES		300
#define RECORDS		(2 * PAGE / sizeof(struct kvmtrace_record))	/* of each read */
#define SEEN		60000

#define CALL_dup2	((enum call)63)

#define EXECUTED_READS	9	/* the descriptor that the executed program has */

enum { EPERM = 1 };

static struct shared {
	volatile u32 over;
	volatile unsigned char seen[SEEN];	/* of each record, how often it was read */
} *shared;

static void share(void)
{
	shared = (struct shared *)must("mmap", map(0, sizeof(*shared), PROT_READ | PROT_WRITE,
						   MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

static long open_device(int mode)
{
	return must(DEVICE, CALL3(open, DEVICE, mode, 0));
}

static void wait_until_it_traces(long device)
{
	struct kvmtrace_status status;

	do {
		nap();
		must("status", CALL3(ioctl, device, KVMTRACE_IOC_STATUS, &status));
	} while (!status.tracing);
}

/* More pages than are in the pool, again and again: each round is PAGES records. */
static int work(u32 rounds)
{
	volatile u32 *pages = pages_of(PAGES);
	u32 round, i;

	for (round = 0; round < rounds; round++)
		for (i = 0; i < PAGES; i++)
			if (pages[i * WORDS]++ != round)
				return wrong("a page's data");
	must("munmap", CALL2(munmap, pages, PAGES * PAGE));
	return 0;
}

/* ---- two threads, and a process that inherits the descriptor ---- */

static struct {
	long device;
	u32 at[2];		/* where each reads to */
	volatile u32 done[2];
} threads;

/*
 * To pages of a disk that were not touched yet, so that the kernel sleeps each time
 * while it copies.
 */
static void read_all(u32 number)
{
	struct kvmtrace_record *records;
	u32 i;
	long n;

	do {
		records = (struct kvmtrace_record *)threads.at[number];
		threads.at[number] += 2 * PAGE;
		n = must("read", CALL3(read, threads.device, records, RECORDS * sizeof(*records)));
		for (i = 0; i < (u32)n / sizeof(*records); i++)
			if (records[i].sequence < SEEN)
				shared->seen[records[i].sequence]++;
	} while (n);
	threads.done[number] = 1;
}

static void second_thread(u32 number)
{
	read_all(number);
	CALL1(exit, 0);
}

static int inherits(long device)
{
	static struct kvmtrace_record record;
	int child = (int)must("fork", CALL0(fork));

	if (child == 0)
		CALL1(exit, CALL3(read, device, &record, sizeof(record)) != -EPERM ||
			    CALL3(ioctl, device, KVMTRACE_IOC_START, 0) != -EPERM);
	return wait_for(child) ? wrong("another process may read") : 0;
}

static int read_by_threads(void)
{
	u32 *stack = pages_of(4), length = 16 << 20;
	long disk = must("disk", CALL3(open, "/dev/hda", O_RDWR, 0));
	int pid, result;
	u32 i;

	threads.device = open_device(O_RDONLY);
	for (i = 0; i < 2; i++)
		threads.at[i] = (u32)must("mmap", map(0, length, PROT_READ | PROT_WRITE,
						      MAP_PRIVATE, (int)disk, (i + 1) * length));
	result = inherits(threads.device);
	must("start", CALL3(ioctl, threads.device, KVMTRACE_IOC_START, 0));
	pid = start_thread(second_thread, 1, stack + 4 * WORDS);
	read_all(0);
	result |= wait_for(pid);
	return result;
}

static int check_seen(u32 records)
{
	u32 i;

	for (i = 0; i < records && i < SEEN; i++)
		if (shared->seen[i] != 1)
			return wrong(shared->seen[i] ? "a record is read twice"
						     : "a record is missing");
	return records > SEEN ? wrong("there are more records than can be counted") : 0;
}

static int trace_for(int (*reader)(void), struct kvmtrace_status *status)
{
	long device = open_device(O_WRONLY);
	int pid = (int)must("fork", CALL0(fork)), result;

	if (pid == 0)
		CALL1(exit, reader());
	wait_until_it_traces(device);
	result = work(60);
	must("status", CALL3(ioctl, device, KVMTRACE_IOC_STATUS, status));
	must("stop", CALL3(ioctl, device, KVMTRACE_IOC_STOP, 0));
	shared->over = 1;
	return wait_for(pid) | result;
}

int threads_read_run(void)
{
	struct kvmtrace_status status;
	int result;

	share();
	result = trace_for(read_by_threads, &status);
	return result | check_seen(status.records);
}

/* ---- another program, while a thread goes on ---- */

static void stay(u32 number)
{
	(void)number;
	while (!shared->over)
		nap();
	CALL1(exit, 0);
}

static int execute(void)
{
	static char *const arguments[] = { "/init", "reads-on", NULL };
	static char *const none[] = { NULL };
	long device = open_device(O_RDONLY);

	must("dup2", CALL2(dup2, device, EXECUTED_READS));
	must("start", CALL3(ioctl, device, KVMTRACE_IOC_START, 0));
	start_thread(stay, 0, pages_of(4) + 4 * WORDS);
	return (int)CALL3(execve, "/init", arguments, none);
}

/* The program that is executed: it reads the log, and is not in it. */
int reads_on_run(void)
{
	static struct kvmtrace_record records[256];
	u32 self = (u32)CALL0(getpid), next = 0, i;
	int result = 0;
	long n;

	while ((n = must("read", CALL3(read, EXECUTED_READS, records, sizeof(records)))) > 0)
		for (i = 0; i < (u32)n / sizeof(*records); i++) {
			if (records[i].sequence != next++)
				result = wrong("a gap in the log");
			if (records[i].pid == self && records[i].kind == KVMTRACE_REFERENCE)
				result = wrong("the reader is traced");
		}
	return result;
}

int executes_run(void)
{
	struct kvmtrace_status status;

	share();
	return trace_for(execute, &status);
}

/* ---- a reader that is stopped ---- */

int stalled_run(void)
{
	static char *const arguments[] = { "/bin/kvmtrace", "read", "/dev/hdb", NULL };
	static char *const none[] = { NULL };
	long device = open_device(O_WRONLY);
	struct kvmtrace_status status;
	int pid = (int)must("fork", CALL0(fork)), result;

	if (pid == 0) {
		CALL3(execve, arguments[0], arguments, none);
		CALL1(exit, 1);
	}
	wait_until_it_traces(device);
	must("kill", CALL2(kill, pid, SIGSTOP));
	result = work(60);
	must("status", CALL3(ioctl, device, KVMTRACE_IOC_STATUS, &status));
	if (status.tracing || status.lost)
		result = wrong("it traces on, or has lost something");
	must("kill", CALL2(kill, pid, SIGCONT));
	/* which says that the log is not what was wished */
	if (wait_for(pid) != 1 << 8)
		result = wrong("what the reader says");
	return result;
}
