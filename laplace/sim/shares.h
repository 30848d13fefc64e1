/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Faults by owner: to which process or task each fault of a simulation is charged.
 *
 * An owner is a number, from 0 on, to which the simulator's caller gives a meaning.  A fault at one
 * size is one at all smaller sizes, so for each owner there is one count for each size: of the
 * faults at that size and those below it, but none above.
 */
#ifndef LAPLACE_SIM_SHARES_H
#define LAPLACE_SIM_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "depth.h"

struct lpl_shares {
	const uint64_t *size;	/* the simulation's, rising; NULL: depths are numbers of sizes */
	size_t sizes;
	uint64_t *fault;	/* of owner o at the first c sizes alone: [o * sizes + c - 1] */
	size_t room;
	uint32_t owner;		/* that runs now */
};

/* NULL: no memory.  `size` is not copied. */
struct lpl_shares *lpl_shares_new(const uint64_t *size, size_t sizes);
void lpl_shares_free(struct lpl_shares *shares);		/* NULL is fine */

/* Whom the faults from here on are charged to.  false: no memory. */
bool lpl_shares_charge(struct lpl_shares *shares, uint32_t owner);

/* A reference at this depth (depth.h): a fault at all sizes below it. */
void lpl_shares_count(struct lpl_shares *shares, uint32_t depth);

/* The faults of an owner at one of the sizes, by its place among them. */
uint64_t lpl_shares_faults(const struct lpl_shares *shares, uint32_t owner, size_t place);

#endif
