/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is passed on through pipes, as a trace is taken apart: which tasks' data may be among what a
 * task takes.  For each pipe its givers, the latest first, each with the number of its latest give; a
 * task that takes needs those since its take before.
 */
#ifndef LAPLACE_SCHEDULE_PASSES_H
#define LAPLACE_SCHEDULE_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct lpl_giver {
	uint64_t serial;
	uint64_t number;		/* of its latest give */
	uint64_t newer, older;		/* givers; 0: there is none */
};

struct lpl_passes {
	struct lpl_map newest;		/* device, inode -> giver */
	struct lpl_map by_giver;	/* device, inode, serial -> giver */
	struct lpl_map taken;		/* device, inode, serial -> the newest number at its latest take */
	struct lpl_giver *giver;	/* from 1 on */
	size_t giver_room;
	uint64_t givers;
};

void lpl_passes_init(struct lpl_passes *passes);
void lpl_passes_free(struct lpl_passes *passes);

/* The task has given; `number` is larger than any before.  false: no memory. */
bool lpl_passes_give(struct lpl_passes *passes, uint64_t device, uint64_t inode, uint64_t serial,
		     uint64_t number);
/*
 * The task takes: *giver is the newest of the pipe, 0 if there is none, and those that it needs,
 * itself among them, are from there on to the older ones, as long as their numbers are above *since.
 * false: no memory.
 */
bool lpl_passes_take(struct lpl_passes *passes, uint64_t device, uint64_t inode, uint64_t serial,
		     uint64_t *giver, uint64_t *since);

#endif
