/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What we ask the machine that we run on; see host.h. */
#include "host.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

uint64_t lpl_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

unsigned int lpl_processors(void)
{
	cpu_set_t set;
	long online;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned int)CPU_COUNT(&set);
	online = sysconf(_SC_NPROCESSORS_ONLN);	/* more than a cpu_set_t has room for */
	return online > 0 ? (unsigned int)online : 1;
}

void lpl_add_unless_ignored(sigset_t *mask, int number)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
		sigaddset(mask, number);
}
