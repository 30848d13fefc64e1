/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SAD2 and SAD in turn, pass after pass, until nothing changes, on an array of references,
 * while those after it are not known yet: what will each pass drop, whatever follows?
 *
 * Used by sad2-fix:K; sad2_fix.c says what all this is for.
 */
#ifndef LAPLACE_REDUCE_FIXPOINT_H
#define LAPLACE_REDUCE_FIXPOINT_H

#include <laplace/error.h>

#include "fixpoint_state.h"

void lpl_fixpoint_init(struct lpl_fixpoint *fix, uint32_t pages);
void lpl_fixpoint_free(struct lpl_fixpoint *fix);

/*
 * Run passes over array[0, count) until nothing changes any more.  The first
 * `*decided` references were decided by earlier runs (`dropped` says how); on return
 * *decided is larger, or as it was.  With `ended` nothing follows the array, and all
 * of it is decided.  Writes that were dropped are passed on.  LPL_ERR_MEMORY.
 */
enum lpl_error lpl_fixpoint_run(struct lpl_fixpoint *fix, struct lpl_fix_ref *array,
				uint32_t count, uint32_t *decided, bool ended,
				struct lpl_report *report);

/* After a run: the first reference that later runs have to see. */
uint32_t lpl_fixpoint_context(struct lpl_fixpoint *fix, const struct lpl_fix_ref *array,
			      uint32_t decided);

#endif
