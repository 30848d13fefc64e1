/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * While it is traced, a workload that changes the pool and the policy, and tries what
 * is refused; and a reader that lets the ring run full.
 */
#include <laplace/kvmtrace_record.h>

#include "workload.h"

#define PAGES	300
#define WORDS	(PAGE / 4)
#define SLOWLY	256		/* records at a time */

enum { EPERM = 1, EBUSY = 16, EINVAL = 22, ENOTTY = 25 };

static int refused(long device, int command, u32 argument, long error)
{
	return CALL3(ioctl, device, command, argument) == -error ? 0 : wrong("a command is not refused");
}

static int check(volatile u32 *pages)
{
	u32 i;

	for (i = 0; i < PAGES; i++)
		if (pages[i * WORDS] != i)
			return wrong("a page's data");
	return 0;
}

int steer_run(void)
{
	static const u32 sizes[] = { KVMTRACE_POOL_MIN, 200, 17, 1000, KVMTRACE_POOL_MAX, 20 };
	volatile u32 *pages = pages_of(PAGES);
	struct kvmtrace_status status;
	long device = must(DEVICE, CALL3(open, DEVICE, O_WRONLY, 0));
	int result = 0;
	u32 i;

	if (CALL3(open, DEVICE, O_RDONLY, 0) != -EBUSY)
		result = wrong("there are two readers");
	result |= refused(device, KVMTRACE_IOC_START, 0, EPERM);
	result |= refused(device, KVMTRACE_IOC_POOL, 0, EINVAL);
	result |= refused(device, KVMTRACE_IOC_POOL, KVMTRACE_POOL_MIN - 1, EINVAL);
	result |= refused(device, KVMTRACE_IOC_POOL, KVMTRACE_POOL_MAX + 1, EINVAL);
	result |= refused(device, KVMTRACE_IOC_POOL, 0xffffffff, EINVAL);
	result |= refused(device, KVMTRACE_IOC_POLICY, 7, EINVAL);
	result |= refused(device, 0x6bff, 0, ENOTTY);
	for (i = 0; i < PAGES; i++)
		pages[i * WORDS] = i;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		must("pool", CALL3(ioctl, device, KVMTRACE_IOC_POOL, sizes[i]));
		must("policy", CALL3(ioctl, device, KVMTRACE_IOC_POLICY, i % 2));
		result |= check(pages);
		must("status", CALL3(ioctl, device, KVMTRACE_IOC_STATUS, &status));
		if (!status.tracing || status.pool != sizes[i] || status.policy != i % 2 ||
		    status.open > sizes[i] || status.open < (sizes[i] < PAGES ? sizes[i] : PAGES))
			result = wrong("the status");
	}
	return result;
}

int slow_reader(void)
{
	static struct kvmtrace_record records[SLOWLY];
	long device = must(DEVICE, CALL3(open, DEVICE, O_RDONLY, 0)), n;
	u32 next = 0, last = 0, i;

	must("start", CALL3(ioctl, device, KVMTRACE_IOC_START, 0));
	do {
		nap();
		n = must("read", CALL3(read, device, records, sizeof(records)));
		for (i = 0; i < (u32)n / sizeof(*records); i++) {
			last = records[i].kind;
			if (records[i].sequence != next++)
				return wrong("a gap in the log");
		}
	} while (n);
	return last != KVMTRACE_STOP;
}
