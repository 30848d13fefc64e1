/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SAD2 and SAD in turn, pass after pass, until nothing changes, on an array of references
 * of which the future is not known yet: what will each pass drop, whatever comes?
 *
 * Used by sad2-fix:K, whose file says what all this is for.
 */
#ifndef LAPLACE_REDUCE_FIXPOINT_H
#define LAPLACE_REDUCE_FIXPOINT_H

#include <laplace/error.h>

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

void lpl_fixpoint_init(struct lpl_fixpoint *fix, uint32_t pages);
void lpl_fixpoint_free(struct lpl_fixpoint *fix);

/*
 * Run passes over array[0, count) until nothing changes any more.  What became of
 * the first `*decided` is known from earlier runs (`dropped` says it); on return
 * it is known of the first *decided again, of more than before.  With `ended`
 * nothing comes after the array, and all is decided.  Writes that were dropped are
 * passed on.  LPL_ERR_MEMORY.
 */
enum lpl_error lpl_fixpoint_run(struct lpl_fixpoint *fix, struct lpl_fix_ref *array,
				uint32_t count, uint32_t *decided, bool ended,
				struct lpl_report *report);

/* After a run: the first reference that later runs have to see. */
uint32_t lpl_fixpoint_context(struct lpl_fixpoint *fix, const struct lpl_fix_ref *array,
			      uint32_t decided);

#endif
