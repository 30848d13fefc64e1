/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A region of OPT's line (line.h) ahead of its front: which numbers it has, not where.
 * region.c tells why that is enough.
 */
#ifndef LAPLACE_SIM_DEPTH_LOG_H
#define LAPLACE_SIM_DEPTH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LPL_NOBODY UINT32_MAX

/* In a region's log: a number that arrived, or else a position that a page came to. */
#define LPL_ARRIVAL (UINT32_C(1) << 31)
#define LPL_FORGOTTEN 0

/* A number that is in a region: its size << 32 | the event of its arrival. */
typedef uint64_t lpl_number;

struct lpl_region {
	uint32_t *event;	/* the log: LPL_ARRIVAL | number, or a position */
	lpl_number *old, *young;	/* there since it was cut off: sorted; arrived since: a heap */
	size_t event_room, old_room, young_room;
	uint32_t events, forgotten;
	uint32_t first, olds;	/* old[first ... olds - 1] are left */
	uint32_t youngs;
	bool vacant;		/* has a place of depth 1 */
};

/* What halving needs, by event or by word of 64 events; the regions of a line share it. */
struct lpl_scratch {
	uint64_t *free;		/* at these arrivals nothing goes out yet */
	uint32_t *skip;		/* from a word without any, on */
	uint32_t *out;		/* the number that goes out at an arrival; 0: none */
	uint32_t *stays;	/* 1: the arrival's number does */
	uint32_t *to_left, *to_right;	/* an event's place in the half's log */
	lpl_number *sorted;
	size_t free_room, skip_room, out_room, stays_room, left_room, right_room, sorted_room;
};

void lpl_region_clear(struct lpl_region *region);	/* keeps its memory */
void lpl_region_free(struct lpl_region *region);
void lpl_scratch_free(struct lpl_scratch *scratch);

/* The least depth there; LPL_NOBODY: there is no page. */
uint32_t lpl_region_least(const struct lpl_region *region);

/* All below: false when there is no memory. */

/* A page comes to a position, with depth 1. */
bool lpl_region_come(struct lpl_region *region, uint32_t position);
/* A number arrives that is greater than the least there, which goes out instead. */
bool lpl_region_arrive(struct lpl_region *region, uint32_t size, struct lpl_scratch *scratch);
/* Cut a region, which is empty then, in two at position `middle`. */
bool lpl_region_halve(struct lpl_scratch *scratch, struct lpl_region *region, uint32_t middle,
		      struct lpl_region *left, struct lpl_region *right);

#endif
