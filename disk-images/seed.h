/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the guest's kernel has instead of entropy.  A simulated machine that repeats has none: its
 * kernel would try for a second to find some, when the first program asks for random bytes, and
 * that would be in the trace.  So it is given a seed, and the same random bytes in each run: 64
 * bytes, which are the digits of a number, 0 unless another is asked for, and null bytes.
 */
#ifndef SEED_H
#define SEED_H

#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* -1: errno says why. */
static inline int seed_random(unsigned long number)
{
	struct {	/* a struct rand_pool_info */
		int entropy_count, size;
		char bytes[64];
	} seed = { .entropy_count = 512, .size = 64 };
	int random = open("/dev/urandom", O_RDWR | O_CLOEXEC), result;

	if (random < 0)
		return -1;
	snprintf(seed.bytes, sizeof(seed.bytes), "%lu", number);
	result = ioctl(random, RNDADDENTROPY, &seed);
	/* and not only the next time that the kernel would take it from there */
	if (result == 0)
		result = ioctl(random, RNDRESEEDCRNG);
	close(random);
	return result;
}

#endif
