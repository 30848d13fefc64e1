/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * truth: a family of processes that do to memory what changes which of them share
 * a page, in an order drawn from a seed; and now and then what the kernel itself
 * says of it, for a reader of the trace to be held against.
 *
 *	truth [SEED [ROUNDS [OPERATIONS [REST]]]]
 *		as many samples as rounds, that many operations before each;
 *		with REST there are no samples, but after that round the head
 *		stops itself (SIGSTOP), and so all rest
 *
 * A sample is a mark "truth N" in the trace, when everybody rests, and lines on
 * the standard output, N decimal and the rest hexadecimal:
 *
 *	truth N PID START TOKEN...	pages of a mapping from START on
 *	truth N end
 *
 *	-COUNT				that many pages are absent
 *	KIND FRAME[+MORE]		a page in FRAME, and MORE in the next frames;
 *					without a blank between KIND and FRAME
 *	KIND	a: anonymous, f: of a file or of shared memory, z: the kernel's
 *		page of zeros, s: anonymous, in swap: FRAME is the entry
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096UL

static inline _Noreturn void die(const char *what)
{
	fprintf(stderr, "truth: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static inline int call(int result, const char *what)
{
	if (result < 0)
		die(what);
	return result;
}

/* What members of the family do (members.c). */
enum operation {
	READ, WRITE, DROP, DROP_LATER, RENEW, PROTECT, MOVE, MOVE_ALL_BUT_MAPPING, SHRINK,
	FILE_PRIVATE, TRUNCATE, PUNCH, DEEP, HEAP, HUGE, SEGMENT,
	OPERATIONS,
	/* and what changes the family */
	FORK = OPERATIONS, EXECUTE, EXIT
};

enum { MEMBERS = 8, AREAS = 4 };

/* Which pages of which area; of FORK: which member the child is. */
struct order {
	uint8_t operation;
	uint8_t area;
	uint8_t first, count;
};

void map_areas(void);
void obey(const struct order *order);
unsigned int area_pages(unsigned int area);

/* Print which process has which frame now (sample.c). */
void sample(unsigned int number);

#endif
