/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stack of LRU, with the fault curve that comes of it (policy_lru.c), for those that know more of their references
 * than what they are one by one (lru_patterns.c).
 */
#ifndef LAPLACE_SIM_LRU_H
#define LAPLACE_SIM_LRU_H

#include "curve.h"
#include "simulation.h"

#define LPL_LRU_FRONT	16

struct lru {
	struct lpl_simulation simulation;
	struct lpl_curve curve;
	const struct lpl_sizes *sizes;
	uint32_t front[LPL_LRU_FRONT];	/* the most recent pages, the newest first */
	uint32_t fronts;
	uint64_t *mark;		/* by word: its slots' bits */
	uint32_t *sum;		/* Fenwick tree: [i] sums words (i - (i & -i), i] from 1 */
	uint32_t *page;		/* by slot: the page that it stands for, if marked */
	size_t words;
	size_t next;		/* the first slot not used yet */
	uint32_t *slot;		/* by page */
	size_t slot_room;
	uint32_t pages;
};

/* A reference, to a page that is the next number or has come before. */
enum lpl_error lpl_lru_reference(struct lru *lru, uint32_t page, bool write, struct lpl_report *report);

#endif
