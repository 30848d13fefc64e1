/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See workload.h. */
#include "workload.h"

static const struct workload workloads[] = {
	{ "locality", locality_run, 0 },
	{ "calls", calls_run, 0 },
	{ "executed", executed_run, RUNS_AS_PROGRAM },
	{ "stress", stress_run, WANTS_SWAP },
	{ "stops", stops_run, WANTS_SWAP },
	{ "threads-read", threads_read_run, 0 },
	{ "executes", executes_run, 0 },
	{ "reads-on", reads_on_run, RUNS_AS_PROGRAM },
	{ "stalled", stalled_run, 0 },
	{ "crowd", crowd_run, 0 },
	{ "forks", forks_run, 0 },
	{ "journal", journal_run, 0 },
	{ "steer", steer_run, RUNS_TWICE },
	{ "slow", slow_run, SLOW_READER },
	{ "sort", sort_run, 0 },
	{ "tree", tree_run, 0 },
	{ "copy", copy_run, 0 },
	{ "churn", churn_run, 0 },
};

const struct workload *find_workload(const char *name)
{
	u32 i;

	for (i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		if (same(workloads[i].name, name))
			return &workloads[i];
	return NULL;
}

int same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

void nap(void)
{
	u32 time[2] = { 0, 10000000 };

	CALL2(nanosleep, time, NULL);
}

unsigned long long cycles(void)
{
	u32 low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (unsigned long long)high << 32 | low;
}

u32 next_random(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

u32 *pages_of(u32 count)
{
	return (u32 *)must("mmap", map(0, count * PAGE, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/* The child of clone() has a stack of its own, on which nothing lies but its number. */
int start_thread(void (*work)(u32), u32 number, u32 *stack)
{
	long pid;

	*--stack = number;
	*--stack = 0;		/* where it would return to */
	__asm__ volatile("int $0x80\n"
			 "	testl %%eax, %%eax\n"
			 "	jnz 1f\n"
			 "	jmp *%%esi\n"
			 "1:"
			 : "=a"(pid)
			 : "0"(CALL_clone), "b"(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD),
			   "c"(stack), "S"(work)
			 : "memory");
	return (int)must("clone", pid);
}

int wrong(const char *what)
{
	say("wrong: ");
	say(what);
	say("\n");
	return 1;
}
