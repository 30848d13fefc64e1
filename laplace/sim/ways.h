/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which way of a full set leaves, of a cache or a TLB. */
#ifndef LAPLACE_SIM_WAYS_H
#define LAPLACE_SIM_WAYS_H

#include <stdint.h>

/*
 * LRU is the order in which the ways are kept.  PLRU is a binary tree over the ways: node 1 is the root,
 * 2n and 2n + 1 are the halves of node n, and its bit is the half that was used less recently.
 */
enum lpl_ways_order { LPL_WAYS_LRU, LPL_WAYS_PLRU, LPL_WAYS_RANDOM };

enum { LPL_WAYS_MOST = 65536, LPL_WAYS_MOST_TREE = 64 };	/* of a tree a power of two */

/* `way` was used: on the way to its leaf each node's bit becomes the other half. */
void lpl_ways_turn(uint64_t *tree, uint32_t ways, uint32_t way);
/* Where the nodes lead. */
uint32_t lpl_ways_lead(uint64_t tree, uint32_t ways);

/* The next number of SplitMix64, of which this is the state. */
static inline uint64_t lpl_split_mix(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

/* Any way: the upper 32 bits of a number, times the number of ways, divided by 2^32. */
static inline uint32_t lpl_ways_draw(uint64_t *state, uint32_t ways)
{
	return (uint32_t)((lpl_split_mix(state) >> 32) * ways >> 32);
}

#endif
