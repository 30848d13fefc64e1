/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The array of sad2-fix:K, and what its passes know of it from one to the next: for
 * fixpoint.c, which makes the passes, and fixpoint_pass.c, which is one.
 */
#ifndef LAPLACE_REDUCE_FIXPOINT_STATE_H
#define LAPLACE_REDUCE_FIXPOINT_STATE_H

#include "pages.h"

#define LPL_NO_REF UINT32_MAX

/*
 * A reference in the array, which SAD has been over already.  The residency of a page
 * is the time from its fetch into an LRU memory of K pages to its eviction.
 */
struct lpl_fix_ref {
	struct lpl_ref ref;
	uint32_t before;	/* the one before in the same residency, if it is here */
	uint32_t dropped;	/* by which pass, counted from 1; 0: by none */
	bool fetches;		/* it is the first of its residency */
	bool leaves;		/* it is the last */
};

struct lpl_fix_mark;

/* References changed by a pass, in order once it is over. */
struct lpl_fix_changes {
	uint32_t *ref;
	size_t capacity;
	uint32_t count;
};

struct lpl_fixpoint {
	uint32_t pages;		/* K */
	struct lpl_fix_mark *mark;	/* by reference, and a sentinel */
	size_t capacity;
	uint32_t count;		/* references in this run */
	uint32_t listed[2];	/* elements of the lists of recency */
	uint32_t scans;		/* so far, to know what each has met */
	struct lpl_fix_changes changes[3];	/* of this pass and the two before, in turn */
	struct lpl_fix_changes due;	/* known from earlier runs to be dropped by this pass */
	uint64_t *known;	/* pass << 32 | reference, of all of them, in order */
	size_t known_capacity;
	uint32_t known_count, known_used;
};

#endif
