/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that come and go for as long as is asked for, three at a time: two with one of the
 * other workloads, which see that their data are what they should be, and one that executes a
 * program.  Each minute it is said what the log and the memory are; and, as that depends on what
 * runs then, also when nothing does: before, after a third of the time, and at the end.  What is
 * in use even then is more than what the kernel needs, for it keeps what describes the log's pages as
 * long as these are in memory.  So it is said once more when a process has taken all memory that
 * can be had.
 *
 *	init churn traced|untraced|written ... SECONDS
 *
 * The last two are for comparison: nothing is traced; and nothing is, but a process writes to the
 * log's disk.
 */
#include <laplace/kvmtrace_record.h>

#include "memory.h"
#include "workload.h"

#define MINUTE		60
#define WRITTEN		(48 * 1024)
#define DISK		"/dev/hdb"
#define HDIO_SET_MULTCOUNT	0x321

/* What is executed instead of this. */
static int execute_run(void)
{
	static char *const arguments[] = { "/init", "executed", NULL };
	static char *const none[] = { NULL };

	CALL3(execve, "/init", arguments, none);
	return wrong("a program that is executed");
}

/* Files in /tmp are those of one workload, so it is in one lane alone. */
static int (*const first_lane[])(void) = { copy_run, crowd_run, locality_run };
static int (*const second_lane[])(void) = { tree_run, sort_run, locality_run };
static int (*const third_lane[])(void) = { execute_run };

#define LANES		3

/* ---- what was asked for ---- */

static char words[256];		/* of the kernel's command line, each with a 0 at its end */
static u32 words_length;

static void read_words(void)
{
	long fd = must("cmdline", CALL3(open, "/proc/1/cmdline", O_RDONLY, 0));

	words_length = (u32)must("cmdline", CALL3(read, fd, words, sizeof(words) - 1));
	CALL1(close, fd);
}

/* The last of them. */
static u32 seconds_asked(void)
{
	u32 value = 0, i = words_length ? words_length - 1 : 0;

	while (i > 0 && words[i - 1])
		i--;
	for (; words[i] >= '0' && words[i] <= '9'; i++)
		value = 10 * value + (u32)(words[i] - '0');
	if (!value)
		fail("for how many seconds?", 0);
	return value;
}

static int asked(const char *word)
{
	u32 i;

	for (i = 0; i < words_length; i += length_of(words + i) + 1)
		if (same(words + i, word))
			return 1;
	return 0;
}

/* ---- what time it is ---- */

static u32 clock_byte(u8 number)
{
	u8 value;

	__asm__ volatile("outb %1, $0x70\n"
			 "	inb $0x71, %0"
			 : "=a"(value)
			 : "a"(number));
	return value;
}

static u32 clock_number(u8 number)
{
	u32 value = clock_byte(number);

	return 10 * (value >> 4) + (value & 15);
}

/*
 * Seconds of this month by the battery's clock, which in QEMU is that of the machine that it runs
 * on.  The kernel's own lags when QEMU does not get the processor for each tick; and the rate of
 * the time stamp counter, which the kernel measures, may be wrong for the same reason.
 */
static u32 now(void)
{
	u32 seconds, value = 0;

	do {	/* until it does not change while it is read */
		seconds = value;
		value = (clock_number(7) - 1) * 24 + clock_number(4);
		value = (value * 60 + clock_number(2)) * 60 + clock_number(0);
	} while (value != seconds);
	return value;
}

/* ---- what is said ---- */

static void say_number(const char *name, u32 value)
{
	say(name);
	say_decimal(value);
}

static void report(const char *when, u32 number)
{
	struct kvmtrace_status status;
	struct memory memory;
	long device = must(DEVICE, CALL3(open, DEVICE, O_WRONLY, 0));

	must("status", CALL3(ioctl, device, KVMTRACE_IOC_STATUS, &status));
	CALL1(close, device);
	read_memory(&memory);
	say_number(when, number);
	say_number(" clock ", now());
	say_number(" up ", seconds_up());
	say_number(" used ", memory.used);
	say_number(" slab ", memory.slab);
	say_number(" heads ", memory.buffer_heads);
	say_number(" objects ", memory.objects);
	say_number(" buffers ", memory.buffers);
	say_number(" cached ", memory.cached);
	say_number(" processes ", processes_made());
	say_number(" records ", status.records);
	say_number(" lost ", status.lost);
	say_number(" waits ", status.waits);
	say("\n");
}

/* When nothing runs, and when nothing is kept that need not be. */
static int report_calm(u32 number)
{
	int result;

	report("calm ", number);
	result = squeeze();
	report("squeezed ", number);
	return result;
}

/* ---- what runs ---- */

/* 16 sectors to an interrupt: with one to each, the log's disk is what the log waits for. */
static void set_up_disk(void)
{
	long disk = must("disk", CALL3(open, DISK, O_RDONLY, 0));

	must("multiple sectors", CALL3(ioctl, disk, HDIO_SET_MULTCOUNT, 16));
	CALL1(close, disk);
}

/* To the log's disk, as its reader would. */
static int write_on(void)
{
	u32 *block = pages_of(WRITTEN / PAGE), i;
	long disk = must("disk", CALL3(open, DISK, O_WRONLY, 0));

	for (;;) {
		if (must("write", CALL3(write, disk, block, WRITTEN)) != WRITTEN)
			return wrong("a write to the disk");
		for (i = 0; i < 4; i++)
			nap();
	}
}

static int lane(int (*const work[])(void), u32 kinds, u32 seed, u32 end)
{
	u32 random = seed;

	while (now() < end) {
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

static int run_lane(int number, u32 seed, u32 end)
{
	switch (number) {
	case 0:
		return LANE(first_lane, seed, end);
	case 1:
		return LANE(second_lane, seed, end);
	default:
		return LANE(third_lane, seed, end);
	}
}

/* All lanes until then; returns 0 when all was well. */
static int all_lanes(u32 seed, u32 end, u32 begin)
{
	u32 minute = (now() - begin) / MINUTE;
	int pid[LANES], result = 0, i;

	for (i = 0; i < LANES; i++) {
		pid[i] = (int)must("fork", CALL0(fork));
		if (pid[i] == 0)
			CALL1(exit, run_lane(i, seed, end));
	}
	for (; now() < end; nap())
		if (now() >= begin + (minute + 1) * MINUTE)
			report("minute ", ++minute);
	for (i = 0; i < LANES; i++)
		result |= wait_for(pid[i]);
	return result;
}

int churn_run(void)
{
	u32 begin, seconds, part;
	int writer = 0, result;

	must("iopl", CALL1(iopl, 3));
	begin = now();
	read_words();
	seconds = seconds_asked();
	set_up_disk();
	if (asked("written")) {
		writer = (int)must("fork", CALL0(fork));
		if (writer == 0)
			CALL1(exit, write_on());
	}
	result = report_calm(0);
	for (part = 1; part <= 2 && !result; part++) {
		result = all_lanes(part, begin + (part == 1 ? seconds / 3 : seconds), begin);
		result |= report_calm(part);
	}
	if (writer) {
		must("kill", CALL2(kill, writer, SIGKILL));
		wait_for(writer);
	}
	return result;
}
