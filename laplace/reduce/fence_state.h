/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a reducer's fences (fence.h): what its stages know from events about the kernel's
 * pages, which a flush does not make them forget.  A stream that is reduced in parts, each by a
 * reducer of its own (laplace/collect, at the end of a segment), needs it passed on to the next
 * reducer: without it an event of the page cache would not part a page that the kernel knows by
 * another address.
 */
#ifndef LAPLACE_REDUCE_FENCE_STATE_H
#define LAPLACE_REDUCE_FENCE_STATE_H

#include <laplace/reducer.h>

#include "fence.h"

/* All stages with fences get all events, so one stands for all; all zeros: none has fences. */
struct lpl_fence lpl_reducer_fence(const struct lpl_reducer *reducer);
/* To be called before anything is sent to the reducer. */
void lpl_reducer_set_fence(struct lpl_reducer *reducer, const struct lpl_fence *fence);

#endif
