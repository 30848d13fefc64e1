/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a replacement policy is to the simulator: something that is told page
 * references and draws a fault curve.
 *
 * Pages are numbered from 1 in the order of their first references.  References
 * to one page in a row are told as one, a write if any of them is: the later ones
 * are at depth 1, where nothing faults, and nothing comes in between.
 */
#ifndef LAPLACE_SIM_POLICY_H
#define LAPLACE_SIM_POLICY_H

#include "curve.h"

struct lpl_policy {
	enum lpl_error (*reference)(struct lpl_policy *policy, uint32_t page, bool write,
				    struct lpl_report *report);
	/* the trace is over: complete the curve */
	enum lpl_error (*finish)(struct lpl_policy *policy, struct lpl_report *report);
	void (*close)(struct lpl_policy *policy);
	struct lpl_curve curve;
};

/*
 * `largest` is the largest size of memory asked for, LPL_DEPTH_NONE for all; a
 * curve may be wrong above it.  NULL: no memory.
 */
struct lpl_policy *lpl_lru_new(uint32_t largest);
struct lpl_policy *lpl_opt_new(uint32_t largest);

#endif
