/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fences: which pages does an event give another meaning?
 *
 * What a page means is its canonical page (merge.h).  A reducer that respects
 * fences knows a page by (space, page, generation): an event that may give it
 * another meaning ends its generation, and the next reference is to a page that
 * was never seen before.  The old one remains in its place, a page like others.
 *
 * Two things must not happen within one generation, whatever the stream:
 *
 *	the meaning of (space, page) changes: a reference dropped would stand
 *		for another page than the references around it;
 *	the page becomes shared, so that a write would part it: a reducer lets a
 *		later reference of the generation take the place of a write, and
 *		there it must part nothing.
 *
 * Event by event, against laplace/merge, with [start, end) cut to whole pages:
 *
 *	map, unmap, shm-attach, discard, present
 *				the range in its space
 *	remap			both ranges in their space
 *	brk			what lies between the two ends, rounded up to pages
 *	shm-detach		all from its start on, in its space: the length is
 *				not reported
 *	exec			the space; merge leaves it as it is and waits for the
 *				mappings to be reported, but it is the kernel's word
 *				that everything is new
 *	space-end		the space
 *	space-duplicate		the child's space, which is replaced, and the
 *				parent's: its pages become shared
 *	cow-break		the page in that space.  Equal frames too: the page
 *				of a private file becomes anonymous all the same
 *				when it was copied before the trace began
 *	page-own		the pages in that space
 *	cache-add		the kernel's pages at its address, and those at
 *				which the frames were seen before
 *	cache-remove		the kernel's pages at which the frames were seen
 *	tracing, gap		everything: it is not known what happened meanwhile
 *	state			everything: what was known is replaced
 *	shared			the range in both spaces
 *
 * Nothing else changes a meaning, but for references (see sad.c), as long as the
 * kernel's word is true: an inode's number is given to another file (KTR_FILE) only
 * when no mapping shows the file before any more, and a page that a snapshot finds in
 * two spaces (KTR_PRESENT) was not written by the first since it was found there.
 * "The space" is its lower half, for the kernel's pages belong to no space.  (If the
 * kernel's half begins above bit 63, a merge need not be exact.)
 *
 * The kernel's pages of a frame.  Kernels map all memory at one offset.  It is
 * known from the first cache-add on, and with it the kernel's page of each frame.
 * Before that, merge knows no kernel page of a frame either.  Once two offsets
 * were reported, an event of the page cache concerns everything.
 */
#ifndef LAPLACE_REDUCE_FENCE_H
#define LAPLACE_REDUCE_FENCE_H

#include "pages.h"

/* Pages first, first + 1 ... first + count - 1, modulo 2^64. */
struct lpl_fence_range {
	bool any_space;
	uint64_t space;		/* unless any_space */
	uint64_t first, count;
};

enum { LPL_FENCE_RANGES = 2 };

/* What is known from the events so far; starts as all zeros. */
struct lpl_fence {
	unsigned int offsets;	/* reported: 0, 1, or 2 for "several" */
	uint64_t offset;	/* kernel page - frame */
};

/* The pages that `event` gives another meaning.  Returns how many ranges, 0 for most events. */
unsigned int lpl_fence_ranges(struct lpl_fence *fence, const struct lpl_event *event,
			      struct lpl_fence_range range[LPL_FENCE_RANGES]);

/*
 * End the generation of those among `pages` that `event` gives another meaning
 * (lpl_pages_retire).  These are of 2^shift bytes, up to 4096: all that are part of one that has
 * another meaning.  Costs O(pages) at most, O(length) for short ranges.
 */
void lpl_fence_pages(struct lpl_fence *fence, const struct lpl_event *event,
		     struct lpl_pages *pages, unsigned int shift);

#endif
