/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kvmtrace: in a guest of 2.4.20 with kVMTrace, start, steer and read it.
 *
 *	kvmtrace read FILE	trace until somebody stops it; the log goes to FILE, a
 *				disk (/dev/hdb) or a file that no other program uses
 *	kvmtrace stop
 *	kvmtrace pool PAGES
 *	kvmtrace policy fifo|clock
 *	kvmtrace status
 *
 * `laplace import --from kvmtrace` makes a trace of the log.  Exit status: 0, 1 when
 * it failed or a record was lost, 2 usage.
 */
#include <laplace/kvmtrace_record.h>

#include "guest.h"

#define DEVICE "/dev/kvmtrace"
#define BLOCK PAGE
/* whole pages of whole records: a disk is written without reading it first */
#define BUFFER (1024 * sizeof(struct kvmtrace_record))

static unsigned char buffer[BUFFER];

static int complain(const char *what, long result)
{
	say("kvmtrace: ");
	say(what);
	say(": error ");
	say_decimal((u32)-result);
	say("\n");
	return 1;
}

static int usage(void)
{
	say("usage: kvmtrace read FILE | stop | pool PAGES | policy fifo|clock | status\n");
	return 2;
}

static int is(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static int write_all(long fd, u32 length)
{
	u32 done = 0;

	while (done < length) {
		long n = CALL3(write, fd, buffer + done, length - done);

		if (n <= 0)
			return complain("the log cannot be written", n);
		done += (u32)n;
	}
	return 0;
}

static int read_log(const char *path)
{
	struct kvmtrace_record last = { 0 };
	long device, out = CALL3(open, path, O_WRONLY | O_CREAT | O_TRUNC, 0600), n;
	u32 used = 0, i;

	if (out < 0)
		return complain(path, out);
	device = CALL3(open, DEVICE, O_RDONLY, 0);
	if (device < 0)
		return complain(DEVICE, device);
	n = CALL3(ioctl, device, KVMTRACE_IOC_START, 0);
	if (n < 0)
		return complain("it cannot be started", n);
	while ((n = CALL3(read, device, buffer + used, BUFFER - used)) > 0) {
		used += (u32)n;
		for (i = 0; i < sizeof(last); i++)
			((unsigned char *)&last)[i] = buffer[used - sizeof(last) + i];
		if (used == BUFFER) {
			if (write_all(out, used))
				return 1;
			used = 0;
		}
	}
	if (n < 0)
		return complain("the log cannot be read", n);
	for (; used % BLOCK; used++)
		buffer[used] = 0;
	if (write_all(out, used))
		return 1;
	n = CALL1(fsync, out);
	if (n < 0)
		return complain("the log cannot be written", n);
	if (last.kind != KVMTRACE_STOP || last.is.word[0])
		return complain("records were lost", 0);
	if (last.is.word[3])
		return complain("tracing ended by itself, for the log was not read", 0);
	return 0;
}

static u32 number(const char *text)
{
	u32 value = 0;

	while (*text >= '0' && *text <= '9' && value < 100000000)
		value = 10 * value + (u32)(*text++ - '0');
	return *text ? 0 : value;	/* which the kernel refuses */
}

static void print_number(const char *name, u32 value)
{
	say(name);
	say_decimal(value);
}

static int steer(const char *what, const char *argument)
{
	struct kvmtrace_status status;
	long device = CALL3(open, DEVICE, O_WRONLY, 0), result;

	if (device < 0)
		return complain(DEVICE, device);
	if (is(what, "stop")) {
		result = CALL3(ioctl, device, KVMTRACE_IOC_STOP, 0);
	} else if (is(what, "pool") && argument) {
		result = CALL3(ioctl, device, KVMTRACE_IOC_POOL, number(argument));
	} else if (is(what, "policy") && argument && is(argument, "fifo")) {
		result = CALL3(ioctl, device, KVMTRACE_IOC_POLICY, KVMTRACE_FIFO);
	} else if (is(what, "policy") && argument && is(argument, "clock")) {
		result = CALL3(ioctl, device, KVMTRACE_IOC_POLICY, KVMTRACE_CLOCK);
	} else if (is(what, "status")) {
		result = CALL3(ioctl, device, KVMTRACE_IOC_STATUS, &status);
		if (result == 0) {
			print_number("tracing ", status.tracing);
			say(status.policy == KVMTRACE_CLOCK ? " policy clock" : " policy fifo");
			print_number(" pool ", status.pool);
			print_number(" open ", status.open);
			print_number(" records ", status.records);
			print_number(" lost ", status.lost);
			print_number(" waits ", status.waits);
			print_number(" wrong ", status.wrong);
			say("\n");
		}
	} else {
		return usage();
	}
	return result < 0 ? complain(what, result) : 0;
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3)
		return usage();
	if (is(argv[1], "read"))
		return argc == 3 ? read_log(argv[2]) : usage();
	return steer(argv[1], argc == 3 ? argv[2] : NULL);
}
