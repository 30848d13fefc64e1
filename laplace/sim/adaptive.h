/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What ARC and CAR have in common: two queues of pages in memory, T1 and T2, each with one of pages
 * that left memory from there, B1 and B2; and the size that T1 should have, p.
 *
 * p is a real number in the papers.  Here it has 32 binary places, and the quotients that are added to
 * it and subtracted from it are rounded down to as many.
 */
#ifndef LAPLACE_SIM_ADAPTIVE_H
#define LAPLACE_SIM_ADAPTIVE_H

#include "directory.h"
#include "simulation.h"

enum { LPL_T1, LPL_T2, LPL_B1, LPL_B2 };	/* queues */

struct lpl_adaptive {
	struct lpl_directory directory;
	uint64_t target;		/* p, times 2^32 */
};

static inline uint64_t lpl_adaptive_count(const struct lpl_adaptive *adaptive, uint32_t queue)
{
	return lpl_directory_count(&adaptive->directory, queue);
}

/* The pages in T1 times 2^32, to be compared with the target: a memory that is full has fewer than 2^32. */
static inline uint64_t lpl_adaptive_t1(const struct lpl_adaptive *adaptive)
{
	return lpl_adaptive_count(adaptive, LPL_T1) << 32;
}

/* How far the target goes when a page in B1, or B2, is wanted: |other| / |own|, 1 at least. */
static inline uint64_t lpl_adaptive_step(const struct lpl_adaptive *adaptive, uint32_t own,
					 uint32_t other)
{
	const uint64_t step = (lpl_adaptive_count(adaptive, other) << 32) /
		lpl_adaptive_count(adaptive, own);

	return step > UINT64_C(1) << 32 ? step : UINT64_C(1) << 32;
}

/* A page of B1 is wanted, of a directory for `size` pages of memory. */
static inline void lpl_adaptive_raise(struct lpl_adaptive *adaptive, uint64_t size)
{
	const uint64_t step = lpl_adaptive_step(adaptive, LPL_B1, LPL_B2);
	const uint64_t most = size << 32;

	adaptive->target = step < most - adaptive->target ? adaptive->target + step : most;
}

/* A page of B2 is. */
static inline void lpl_adaptive_lower(struct lpl_adaptive *adaptive)
{
	const uint64_t step = lpl_adaptive_step(adaptive, LPL_B2, LPL_B1);

	adaptive->target = step < adaptive->target ? adaptive->target - step : 0;
}

/* The oldest page of a queue is forgotten: its frame, if it was in memory. */
static inline uint32_t lpl_adaptive_forget(struct lpl_adaptive *adaptive, uint32_t queue)
{
	return lpl_directory_forget(&adaptive->directory,
				    lpl_directory_oldest(&adaptive->directory, queue));
}

/* The oldest page of T1, or T2, leaves memory for B1, or B2: its frame. */
static inline uint32_t lpl_adaptive_evict(struct lpl_adaptive *adaptive, uint32_t from, uint32_t to)
{
	return lpl_directory_evict(&adaptive->directory,
				   lpl_directory_oldest(&adaptive->directory, from), to);
}

#endif
