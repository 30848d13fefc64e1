/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The moments at which pages were evicted: how many of the pages resident at each were not used
 * since, and how many OPT keeps over it (regret.c says why).
 *
 * Moments count from 1.  Boundary k lies after moment k, and before the next; a time is
 * known by the boundary that it falls in, and (a, b] are the moments between two.  What is
 * not needed any more is given up (lpl_moments_are_full()), so that numbers change.
 */
#ifndef LAPLACE_REGRET_MOMENTS_H
#define LAPLACE_REGRET_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_BOUNDARY UINT32_MAX

struct moments {
	uint32_t count;		/* so far: the boundary now */
	uint32_t room;		/* a power of two, or 0 */
	uint64_t *resident;	/* at each moment */
	uint64_t *used;		/* and how many of these since: a Fenwick tree, to which ranges are
				 * added, modulo 2^64, and which is asked for points */
	/* a segment tree over what is free for OPT: the least of each node, and what is added
	 * to all below it */
	int64_t *least, *added;
	uint32_t *renumbered;	/* while it is being compacted: 1 where a boundary is needed; then new numbers */
};

/* false: no memory; lpl_moments_free() may be called all the same. */
bool lpl_moments_init(struct moments *moments);
void lpl_moments_free(struct moments *moments);

/* Is there no room for another one?  Then compact, or there is none to be added. */
static inline bool lpl_moments_are_full(const struct moments *moments)
{
	return moments->count == moments->room;
}
/*
 * First say which boundaries are still needed, and of which moments the pages will be asked for; then
 * the new number of a boundary is known, until lpl_moments_compacted().  The last boundary is always needed.
 */
bool lpl_moments_compact_begin(struct moments *moments);		/* false: no memory */
static inline void lpl_moments_need(struct moments *moments, uint32_t boundary)
{
	moments->renumbered[boundary] = 1;
}
static inline void lpl_moments_need_pages(struct moments *moments, uint32_t moment)
{
	moments->renumbered[moment - 1] = moments->renumbered[moment] = 1;
}
bool lpl_moments_compact(struct moments *moments, size_t least);	/* with room for so many; false: no memory */
static inline uint32_t lpl_moments_renumbered(const struct moments *moments, uint32_t boundary)
{
	return moments->renumbered[boundary];
}
void lpl_moments_compacted(struct moments *moments);

/* A moment, with so many pages resident. */
void lpl_moments_add(struct moments *moments, uint64_t resident);
/* One that was resident at the moments of (first, last] is used. */
void lpl_moments_use(struct moments *moments, uint32_t first, uint32_t last);
/* How many that were resident then were not used since. */
uint64_t lpl_moments_unused(const struct moments *moments, uint32_t moment);
/* OPT keeps a page at the moments of (first, last], if it has room for it at each.  Has it? */
bool lpl_moments_keep(struct moments *moments, uint32_t first, uint32_t last);

#endif
