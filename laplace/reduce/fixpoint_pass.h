/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside sad2-fix:K: one pass over the array (fixpoint_pass.c), and what it need not look
 * at (fixpoint_range.c).
 */
#ifndef LAPLACE_REDUCE_FIXPOINT_PASS_H
#define LAPLACE_REDUCE_FIXPOINT_PASS_H

#include "fixpoint_state.h"

/* What a reference is to a pass, see fixpoint.c. */
enum lpl_fix_state { FIX_KEPT, FIX_OPEN, FIX_DROPPED };

/* Two lists of recency: of all references that may be there, of those that are. */
enum lpl_fix_order { FIX_POSSIBLE, FIX_CERTAIN };

/* A residency's place in such a list. */
struct lpl_fix_recency {
	uint32_t newer, older;	/* residencies; the sentinel ends the list */
	uint32_t at;		/* its latest reference; LPL_NO_REF: not in the list */
};

/*
 * What is known of a reference; and of a residency, in the mark of its first reference
 * in the array.  The residency is named by that reference's number.
 */
struct lpl_fix_mark {
	enum lpl_fix_state state;
	uint32_t residency;
	uint32_t prev, next;	/* in the residency, of those not dropped; what was dropped
				 * keeps its `next` */
	/* of a residency */
	uint32_t next_residency;	/* the one fetched next; LPL_NO_REF: none so far */
	uint32_t first_possible, first_certain;	/* reference, before this pass */
	uint32_t scan;		/* the last scan that has met it */
	struct lpl_fix_recency recency[2];
};

/* ---- passes ---- */

/* What a pass has to know. */
struct lpl_fix_pass {
	struct lpl_fix_ref *array;
	uint32_t number;
	uint32_t decided;	/* what becomes of so many is known */
	bool ended;		/* nothing comes after the array */
	struct lpl_fix_changes *changes;	/* that it makes */
};

/* One pass, over all, or where the two before have changed something. */
void lpl_fix_pass_over(struct lpl_fixpoint *fix, const struct lpl_fix_pass *pass, bool all);

/* ---- ranges ---- */

/* Back from reference i, left out, over so many residencies; 0: there are no more. */
uint32_t lpl_fix_back(struct lpl_fixpoint *fix, uint32_t i, uint32_t residencies);

/* References that are to be judged, and as far after them as that has to look. */
struct lpl_fix_range {
	uint32_t from, to;
	uint32_t end;
};

/* What makes them: the changes of two passes, and what is due. */
enum { FIX_SOURCES = 3 };
struct lpl_fix_ranges {
	const struct lpl_fix_changes *changes[FIX_SOURCES];
	uint32_t used[FIX_SOURCES];	/* of each */
};

/* The next range, which is after `end` and takes in all that would overlap; false: none. */
bool lpl_fix_next_range(struct lpl_fixpoint *fix, struct lpl_fix_ranges *ranges,
			struct lpl_fix_range *range);

#endif
