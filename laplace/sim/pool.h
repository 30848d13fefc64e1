/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pool: players at work, on several threads.
 *
 * Who has the stream fills a batch of touches and deals it; each player plays each batch,
 * in order.  A thread without work takes the player that is furthest behind and that no
 * other thread works for, so a heavy player holds up nobody until the batches run out,
 * and no result depends on the threads.  The next batch is filled meanwhile.
 *
 * Threads begin with the first full batch: a trace that is shorter needs none.
 */
#ifndef LAPLACE_SIM_POOL_H
#define LAPLACE_SIM_POOL_H

#include "player.h"

enum { LPL_BATCH = 4096 };	/* touches: 96 KiB, to stay in a core's cache */

struct lpl_pool;

/*
 * The players are not the pool's, the array neither.  `jobs` threads at most; 1: the
 * caller's alone.  NULL: no memory.
 */
struct lpl_pool *lpl_pool_new(struct lpl_player *const *players, size_t count,
			      unsigned int jobs);

/* Where the next batch goes, room for LPL_BATCH touches; waits for it.  Never NULL. */
struct lpl_touch *lpl_pool_room(struct lpl_pool *pool);
/* Deal it.  Fails with what any player has failed with. */
enum lpl_error lpl_pool_deal(struct lpl_pool *pool, size_t touches, struct lpl_report *report);
/* All is dealt: returns when all players have finished, or one has failed. */
enum lpl_error lpl_pool_finish(struct lpl_pool *pool, struct lpl_report *report);

/* Ends the threads, wherever they are; then players may be closed.  NULL is fine. */
void lpl_pool_close(struct lpl_pool *pool);

#endif
