/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that come and go for as long as is asked for, two at a time, each with one of the other
 * workloads, which see that their data are what they should be.  Each minute it is said what the log and the
 * memory are; and, as that depends on what runs then, also when nothing does: after a third of the time, and at
 * the end.
 */
#include <laplace/kvmtrace_record.h>

#include "workload.h"

#define CALL_time	((enum call)13)
#define MINUTE		60

/* Files in /tmp are those of one workload, so it is in one lane alone. */
static int (*const first_lane[])(void) = { copy_run, crowd_run, locality_run };
static int (*const second_lane[])(void) = { tree_run, sort_run, locality_run };

/* The last word of the kernel's command line. */
static u32 seconds_asked(void)
{
	static char text[256];
	long fd = must("cmdline", CALL3(open, "/proc/1/cmdline", O_RDONLY, 0));
	long length = must("cmdline", CALL3(read, fd, text, sizeof(text) - 1));
	u32 value = 0;
	long i = length - 1;

	CALL1(close, fd);
	while (i > 0 && text[i - 1])
		i--;
	for (; i >= 0 && i < length && text[i] >= '0' && text[i] <= '9'; i++)
		value = 10 * value + (u32)(text[i] - '0');
	if (!value)
		fail("for how many seconds?", 0);
	return value;
}

/* KiB of /proc/meminfo's line that begins so, with its colon. */
static u32 memory_of(const char *text, const char *name)
{
	u32 length = length_of(name), i, value = 0;

	for (; *text; text++) {
		for (i = 0; i < length && text[i] == name[i]; i++)
			;
		if (i == length)
			break;
	}
	if (!*text)
		fail(name, 0);
	for (text += length; *text == ' '; text++)
		;
	for (; *text >= '0' && *text <= '9'; text++)
		value = 10 * value + (u32)(*text - '0');
	return value;
}

/* What is neither free nor can be had at once. */
static u32 memory_used(void)
{
	static char text[2048];
	long fd = must("meminfo", CALL3(open, "/proc/meminfo", O_RDONLY, 0));
	long length = must("meminfo", CALL3(read, fd, text, sizeof(text) - 1));

	CALL1(close, fd);
	text[length] = '\0';
	return memory_of(text, "MemTotal:") - memory_of(text, "MemFree:") - memory_of(text, "Buffers:") -
	       memory_of(text, "Cached:");
}

static void say_number(const char *name, u32 value)
{
	say(name);
	say_decimal(value);
}

static void report(const char *when, u32 number)
{
	struct kvmtrace_status status;
	long device = must(DEVICE, CALL3(open, DEVICE, O_WRONLY, 0));

	must("status", CALL3(ioctl, device, KVMTRACE_IOC_STATUS, &status));
	CALL1(close, device);
	say_number(when, number);
	say_number(" used ", memory_used());
	say_number(" records ", status.records);
	say_number(" lost ", status.lost);
	say_number(" waits ", status.waits);
	say("\n");
}

static int lane(int (*const work[])(void), u32 kinds, u32 seed, u32 end)
{
	u32 random = seed;

	while ((u32)CALL1(time, 0) < end) {
		int pid = (int)must("fork", CALL0(fork));

		if (pid == 0)
			CALL1(exit, work[next_random(&random) % kinds]() != 0);
		(void)next_random(&random);
		if (wait_for(pid) != 0)
			return wrong("one of those that come and go");
	}
	return 0;
}

#define LANE(work, seed, end) lane(work, sizeof(work) / sizeof(*(work)), seed, end)

/* Both lanes until then; returns 0 when all was well. */
static int both_lanes(u32 seed, u32 end, u32 begin)
{
	u32 minute = ((u32)CALL1(time, 0) - begin) / MINUTE;
	int pid[2], result = 0, i;

	for (i = 0; i < 2; i++) {
		pid[i] = (int)must("fork", CALL0(fork));
		if (pid[i] == 0)
			CALL1(exit, i ? LANE(second_lane, seed, end) : LANE(first_lane, seed, end));
	}
	for (; (u32)CALL1(time, 0) < end; nap())
		if ((u32)CALL1(time, 0) >= begin + (minute + 1) * MINUTE)
			report("minute ", ++minute);
	for (i = 0; i < 2; i++)
		result |= wait_for(pid[i]);
	return result;
}

int churn_run(void)
{
	u32 begin = (u32)CALL1(time, 0), seconds = seconds_asked(), part;
	int result = 0;

	for (part = 1; part <= 2 && !result; part++) {
		result = both_lanes(part, begin + (part == 1 ? seconds / 3 : seconds), begin);
		report("calm ", part);
	}
	return result;
}
