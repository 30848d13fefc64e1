/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a reducer knows that a flush does not make it forget: what its stages have learned from
 * events about the kernel's pages (fence.h).  A stream that is reduced in parts, each by a
 * reducer of its own (laplace/collect, at the end of a segment), needs it handed on: without it an
 * event of the page cache would not part a page that the kernel knows by another address.
 */
#ifndef LAPLACE_REDUCE_LEARNED_H
#define LAPLACE_REDUCE_LEARNED_H

#include <laplace/reducer.h>

#include "fence.h"

/* All stages that learn get all events, so one stands for all; all zeros: none learns. */
struct lpl_fence lpl_reducer_learned(const struct lpl_reducer *reducer);
/* Before anything is sent to it: this was learned. */
void lpl_reducer_learn(struct lpl_reducer *reducer, const struct lpl_fence *learned);

#endif
