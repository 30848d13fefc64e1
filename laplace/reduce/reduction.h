/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a reduction makes of a trace: what is exact on it, and what may follow. */
#ifndef LAPLACE_REDUCE_REDUCTION_H
#define LAPLACE_REDUCE_REDUCTION_H

#include "spec.h"

struct lpl_reduction {
	struct lpl_exactness exact;
	uint64_t any_order;	/* pages; see lpl_reduction_any_order() */
	uint64_t page_size;	/* 0: references are to bytes as yet */
	bool fenced;		/* methods that follow respect changes of mapping */
	bool fenced_throughout;	/* see lpl_reduction_fenced() */
	uint64_t behaviour;	/* it is a behaviour sequence of that many pages; 0: none */
	bool records;		/* it is records of active periods (`in-out:N`) */
	uint64_t annotated;	/* with the evictions of that many pages; 0: without any */
	bool synthetic;		/* references were added, which repeat the clocks of others */
};

/* Bytes come in pages of 4096 to whatever knows pages. */
static inline uint64_t lpl_page_bytes(const struct lpl_reduction *reduction)
{
	return reduction->page_size != 0 ? reduction->page_size : LPL_PAGE_BYTES;
}

/* What DESCRIPTION (LPL_META_REDUCTION; NULL counts as "none") left; false: as far as known. */
bool lpl_reduction_read(struct lpl_reduction *reduction, const char *description);
/* What `step` makes of it. */
void lpl_reduction_apply(struct lpl_reduction *reduction, const struct lpl_step *step);
/* The same for all steps; LPL_ERR_USAGE if they cannot follow. */
enum lpl_error lpl_reduction_follow(struct lpl_reduction *reduction,
				    const struct lpl_steps *steps, struct lpl_report *report);
/* REDUCTION without its `annotated:K`, which drop nothing; both are shorter than LPL_SPEC_SIZE. */
void lpl_reduction_unannotated(const char *reduction, char without[LPL_SPEC_SIZE]);

#endif
