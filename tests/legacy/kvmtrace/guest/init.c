/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Process 1 of the guests that try kVMTrace: runs a workload, traced or not.
 *
 *	init WORKLOAD [traced]
 *
 * (from the kernel's command line) says how many cycles the workload took and, of
 * a traced one, what the kernel says of it at the end.  The log goes to /dev/hdb.
 */
#include <laplace/kvmtrace_record.h>

#include "workload.h"

#define READER "/bin/kvmtrace"
#define O_SYNC 010000

static long steer(int command, void *argument)
{
	long device = must(DEVICE, CALL3(open, DEVICE, O_WRONLY, 0));
	long result = CALL3(ioctl, device, command, argument);

	CALL1(close, device);
	return result;
}

static int start_reader(const struct workload *workload)
{
	static char *const arguments[] = { READER, "read", "/dev/hdb", NULL };
	static char *const none[] = { NULL };
	struct kvmtrace_status status;
	int pid = (int)must("fork", CALL0(fork));
	u32 tries = 0;

	if (pid == 0 && workload->how & SLOW_READER)
		CALL1(exit, slow_reader());
	if (pid == 0) {
		CALL3(execve, READER, arguments, none);
		CALL1(exit, 1);
	}
	do {
		if (tries++ == 1000)
			fail("the reader does not start", 0);
		nap();
		must("status", steer(KVMTRACE_IOC_STATUS, &status));
	} while (!status.tracing);
	return pid;
}

static void report(const char *name, u32 value)
{
	say(name);
	say_decimal(value);
	say("\n");
}

static int end_reader(int pid)
{
	struct kvmtrace_status status;
	int result;

	must("status", steer(KVMTRACE_IOC_STATUS, &status));
	must("stop", steer(KVMTRACE_IOC_STOP, NULL));
	result = wait_for(pid);
	report("records ", status.records);
	report("lost ", status.lost);
	report("waits ", status.waits);
	report("wrong ", status.wrong);
	report("reader ", (u32)result);
	return result != 0 || status.lost || status.wrong;
}

/* Run it in a process of its own.  Returns its status. */
static int run(const struct workload *workload)
{
	unsigned long long began = cycles();
	int pid = (int)must("fork", CALL0(fork)), status;

	if (pid == 0)
		CALL1(exit, workload->run() != 0);
	status = wait_for(pid);
	/* 32 bits are what can be said */
	report("kilocycles ", (u32)((cycles() - began) >> 10));
	report("status ", (u32)status);
	return status;
}

/* A page of a device's memory, the text screen's. */
static volatile u32 *device_page(void)
{
	long fd;

	CALL3(mknod, "/dev/mem", 020600, 1 << 8 | 1);
	fd = must("mem", CALL3(open, "/dev/mem", O_RDWR | O_SYNC, 0));
	return (u32 *)must("screen", map(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0xb8000));
}

int main(int argc, char **argv)
{
	volatile u32 *screen;
	const struct workload *workload = argc > 1 ? find_workload(argv[1]) : NULL;
	int traced = argc > 2 && same(argv[2], "traced"), reader = 0, result = 0, rounds;

	if (!workload)
		fail("no such workload", 0);
	if (workload->how & RUNS_AS_PROGRAM)
		return workload->run();
	CALL3(mknod, DEVICE, 020600, KVMTRACE_MAJOR << 8);
	CALL3(mknod, "/dev/hdb", 060600, 3 << 8 | 64);
	must("proc", CALL5(mount, "proc", "/proc", "proc", 0, 0));
	must("tmp", CALL5(mount, "tmpfs", "/tmp", "tmpfs", 0, 0));
	if (workload->how & WANTS_SWAP)
		must("swap", CALL2(swapon, "/dev/hda", 0));
	screen = device_page();
	for (rounds = workload->how & RUNS_TWICE ? 2 : 1; rounds; rounds--) {
		if (traced)
			reader = start_reader(workload);
		/* which makes its entry anew */
		must("mprotect", CALL3(mprotect, screen, PAGE, PROT_READ));
		result |= run(workload);
		if (traced)
			result |= end_reader(reader);
		/* it must not be left protected, and fault for ever */
		(void)*screen;
	}
	return result;
}
