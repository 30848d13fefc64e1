/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Players: what the simulator deals the stream of pages to.
 *
 * A player plays one policy at one size of memory (demand.c), or at all of them in one
 * pass (lru.c, opt.c, ws.c).  It is handed the touches in order, in batches, and
 * told the end; its results stand then.  One thread at a time works for a player.
 *
 * Pages are numbered from 1 in the order of their first references.  A touch is a run of
 * references to one page with nothing in between: one reference, or several no
 * further apart than the smallest tau.  They count as one, a write if any of
 * them is: no memory can have lost the page since the first of them, so the others
 * neither fault nor change an order, and whether it is the first or a later one that
 * writes cannot be told from outside.  Still, a touch may be to the same page as the one
 * before it.
 */
#ifndef LAPLACE_SIM_PLAYER_H
#define LAPLACE_SIM_PLAYER_H

#include <laplace/simulator.h>

struct lpl_touch {
	uint64_t first, last;	/* reference times; the same when it is one reference */
	uint32_t page;
	uint32_t write;		/* 0 or 1 */
};

struct lpl_player {
	enum lpl_error (*play)(struct lpl_player *player, const struct lpl_touch *touch,
			       size_t count, struct lpl_report *report);
	/* the trace is over: make the results, but for `references` and `exact` */
	enum lpl_error (*finish)(struct lpl_player *player, struct lpl_report *report);
	void (*close)(struct lpl_player *player);
	struct lpl_result *result;	/* after finish(); the player's to free */
	size_t results;
};

/*
 * One constructor a kind; NULL: no memory.  `sizes` stays where it is until close().
 * `largest` is the largest of them, LPL_DEPTH_NONE for all: results may be wrong above.
 */
struct lpl_player *lpl_lru_new(const struct lpl_sizes *sizes, uint32_t largest);
struct lpl_player *lpl_opt_new(const struct lpl_sizes *sizes, uint32_t largest);
struct lpl_player *lpl_ws_new(const struct lpl_sizes *sizes, uint32_t largest);
struct lpl_player *lpl_vmin_new(const struct lpl_sizes *sizes, uint32_t largest);

/* One memory under a policy; `option` are its options' numbers, as long-lived as it is. */
enum lpl_error lpl_demand_open(struct lpl_player **player, const struct lpl_policy *policy,
			       uint64_t size, const uint64_t *option,
			       struct lpl_report *report);

/* The demand-paging policies that come with the library. */
extern const struct lpl_policy lpl_policy_clock, lpl_policy_segq, lpl_policy_fbr,
	lpl_policy_glru, lpl_policy_eelru;

#endif
