/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simulations: each is one policy at one size of memory (demand.c), or at all sizes in one
 * pass (policy_lru.c, policy_opt.c, policy_ws.c).  It is given the references in order, in
 * batches, and notified of the end; its results stand then.  One thread at a time works for it.
 *
 * Pages are numbered from 1 in the order of their first references.  A page_ref is a reference,
 * or several to one page with nothing in between and no further apart than the smallest tau.
 * They count as one, a write if any of them is: no memory can have lost the page since the
 * first of them, so the others neither fault nor change an order, and whether it is the first
 * or a later one that writes cannot be seen from outside.  Still, a page_ref may be to the same
 * page as the one before it.
 *
 * Where faults are charged to owners, a page_ref of page 0 is no reference, and reaches no
 * simulation: the owner of what follows is in its `write`.
 */
#ifndef LAPLACE_SIM_SIMULATION_H
#define LAPLACE_SIM_SIMULATION_H

#include <laplace/simulator.h>

#include "page_names.h"
#include "policies.h"
#include "shares.h"

struct lpl_page_ref {
	uint64_t first, last;	/* reference times; the same when it is one reference, and
				 * 0 where no simulation of the pass asks for times */
	uint32_t page;
	uint32_t write;		/* 0 or 1 */
};

struct lpl_simulation {
	enum lpl_error (*run)(struct lpl_simulation *simulation,
			      const struct lpl_page_ref *ref, size_t count,
			      struct lpl_report *report);
	/* the trace is over: make the results, but for `references` and `exact` */
	enum lpl_error (*finish)(struct lpl_simulation *simulation, struct lpl_report *report);
	void (*close)(struct lpl_simulation *simulation);
	/*
	 * Another owner runs.  NULL: lpl_shares_charge() will do, as each reference is
	 * simulated when it comes.  false: no memory.
	 */
	bool (*charge)(struct lpl_simulation *simulation, uint32_t owner);
	struct lpl_curve *curve;	/* that has its faults; NULL: it charges them itself */
	struct lpl_shares *shares;	/* to which; NULL: none.  Its request's */
	const struct lpl_page_names *names;	/* of pages, of a policy that is given them */
	struct lpl_result *result;	/* after finish(); the simulation's to free */
	size_t results;
};

/* Which of a reduction's sizes (reducer.h) a policy's results are exact from. */
enum lpl_exact_as { LPL_EXACT_AS_LRU, LPL_EXACT_AS_OPT, LPL_EXACT_AS_WS, LPL_EXACT_AS_DEMAND };

/* A policy of which one simulation gives all sizes. */
struct lpl_one_pass_policy {
	const char *name;
	enum lpl_exact_as exact_as;
	/*
	 * NULL: no memory.  `sizes` is not moved until close().  `largest` is the largest
	 * of them, LPL_DEPTH_NONE for all: results may be wrong above.
	 */
	struct lpl_simulation *(*open)(const struct lpl_sizes *sizes, uint32_t largest);
};

/* One memory under a policy; `option` are its options' numbers, as long-lived as it is. */
enum lpl_error lpl_demand_open(struct lpl_simulation **simulation,
			       const struct lpl_policy *policy, uint64_t size,
			       const uint64_t *option, struct lpl_report *report);
/* Evictions so far, where it is kept. */
const uint64_t *lpl_demand_evictions(const struct lpl_simulation *simulation);
/* Its memory, for whoever makes references one by one. */
struct lpl_frames *lpl_demand_frames(struct lpl_simulation *simulation);

#define LPL_DECLARE_ONE_PASS(name) extern const struct lpl_one_pass_policy lpl_policy_##name;
#define LPL_DECLARE_DEMAND(name) extern const struct lpl_policy lpl_policy_##name;
LPL_ONE_PASS_POLICIES(LPL_DECLARE_ONE_PASS)
LPL_DEMAND_POLICIES(LPL_DECLARE_DEMAND)

/* `percent` of `size`, rounded down. */
static inline uint64_t lpl_percent(uint64_t size, uint64_t percent)
{
	return size / 100 * percent + size % 100 * percent / 100;
}

#endif
