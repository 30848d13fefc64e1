/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The depths in a region of OPT's line (opt_stack.h) ahead of its front: which there are, not
 * which page has which.  They are kept as a log of what happened, from which the depths of both
 * halves can be found when the region is halved; depth_log.c says how.
 */
#ifndef LAPLACE_SIM_DEPTH_LOG_H
#define LAPLACE_SIM_DEPTH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LPL_NO_DEPTH UINT32_MAX

/*
 * An event: a page was inserted, with depth 1, and this is its position; or a depth arrived,
 * LPL_ARRIVAL | depth; or what stood here was erased.
 */
#define LPL_ARRIVAL (UINT32_C(1) << 31)
#define LPL_ERASED 0

/* A depth that is in the region: depth << 32 | the index of the event of its arrival. */
typedef uint64_t lpl_arrived;

struct lpl_depth_log {
	uint32_t *event;		/* in the order of time */
	uint32_t events, erased;
	lpl_arrived *sorted;		/* depths there since the last halving, rising: */
	uint32_t first, sorteds;	/* sorted[first ... sorteds - 1] are left */
	lpl_arrived *heap;		/* depths that arrived since, the least in front */
	uint32_t heaped;
	bool one;			/* a page there has depth 1 */
	size_t event_room, sorted_room, heap_room;
};

/* What halving needs, by event or by word of 64 events; all regions share it. */
struct lpl_halving {
	uint64_t *free;		/* bits: arrivals at which nothing is evicted yet */
	uint32_t *skip;		/* by word without such bits: one further on */
	uint32_t *evicted;	/* the depth evicted from the right half; 0: none */
	uint32_t *kept;		/* 1: the depth that arrived is kept in the right half */
	uint32_t *to_left, *to_right;	/* the event's index in the half's log */
	lpl_arrived *spare;	/* for sorting */
	size_t free_room, skip_room, evicted_room, kept_room, left_room, right_room, spare_room;
};

void lpl_depth_log_clear(struct lpl_depth_log *log);	/* keeps its memory */
void lpl_depth_log_free(struct lpl_depth_log *log);
void lpl_halving_free(struct lpl_halving *halving);

/* The least depth there; LPL_NO_DEPTH: there is no page. */
uint32_t lpl_depth_log_least(const struct lpl_depth_log *log);

/* All below: false when there is no memory. */

/* A page is inserted at a position, with depth 1. */
bool lpl_depth_log_insert(struct lpl_depth_log *log, uint32_t position);
/* A depth arrives that is greater than the least there, which is evicted. */
bool lpl_depth_log_arrive(struct lpl_depth_log *log, uint32_t depth, struct lpl_halving *halving);
/* Cut a region, which is empty then, in two at position `middle`. */
bool lpl_depth_log_halve(struct lpl_halving *halving, struct lpl_depth_log *log, uint32_t middle,
			 struct lpl_depth_log *left, struct lpl_depth_log *right);

#endif
