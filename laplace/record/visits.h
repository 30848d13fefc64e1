/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits of a pattern (laplace/trace.h) that repeat. */
#ifndef LAPLACE_RECORD_VISITS_H
#define LAPLACE_RECORD_VISITS_H

#include <laplace/trace.h>

#define LPL_VISIT_AGAIN_MOST 1023

static inline bool lpl_same_visit(const struct lpl_visit *one, const struct lpl_visit *other)
{
	return one->page == other->page && one->space == other->space && one->write == other->write &&
	       one->reads == other->reads;
}

/*
 * The last of these visits will not change any more.  If the two last ones are the two before them once more, they become
 * that.  Returns how many visits there are then.
 */
static inline size_t lpl_visits_fold(struct lpl_visit *visit, size_t count)
{
	struct lpl_visit *const end = visit + count;

	if (count < 4 || !lpl_same_visit(&end[-1], &end[-3]) || !lpl_same_visit(&end[-2], &end[-4]) ||
	    end[-1].again != 0 || end[-2].again != 0 || end[-3].again == LPL_VISIT_AGAIN_MOST)
		return count;
	end[-3].again++;
	return count - 2;
}

#endif
