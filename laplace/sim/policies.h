/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policies that come with the library: `lpl_policy_NAME`, a struct lpl_one_pass_policy or a
 * struct lpl_policy (simulation.h).  A new one is a file policy_NAME.c, and its name here.
 */
#ifndef LAPLACE_SIM_POLICIES_H
#define LAPLACE_SIM_POLICIES_H

#define LPL_ONE_PASS_POLICIES(POLICY) POLICY(lru) POLICY(opt) POLICY(ws) POLICY(vmin)
#define LPL_DEMAND_POLICIES(POLICY) \
	POLICY(fifo) POLICY(clock) POLICY(segq) POLICY(fbr) POLICY(glru) POLICY(eelru) POLICY(seq) \
	POLICY(2q) POLICY(arc) POLICY(car) POLICY(lirs) POLICY(clockpro) \
	POLICY(sieve) POLICY(s3fifo) POLICY(lfu) POLICY(mru) POLICY(random)

#endif
