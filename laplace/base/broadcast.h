/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A broadcast: many consumers get one stream, on several threads.
 *
 * The owner fills a batch and sends it; every consumer gets every batch, in order, on one
 * thread at a time.  A thread without work takes the consumer that is furthest behind and that
 * no other thread works for, so that one that takes long holds up no other until the batches
 * run out, and no result depends on the threads.  The next batch is filled meanwhile.
 *
 * The owner's thread is one of the jobs: while it would have to wait it works, too.  A stream
 * that ends with its first batch needs no other threads, and none begin.
 */
#ifndef LAPLACE_BASE_BROADCAST_H
#define LAPLACE_BASE_BROADCAST_H

#include <laplace/error.h>

#include <stdbool.h>
#include <stddef.h>

struct lpl_broadcast;

/*
 * A consumer, from 0 on, gets a batch of `count` items; `last`: nothing comes after it.
 * Fails with lpl_fail().
 */
typedef enum lpl_error lpl_consume(void *context, size_t consumer, const void *items,
				   size_t count, bool last, struct lpl_report *report);

/*
 * Batches have room for `bytes` each.  `jobs` threads at most, the caller's included; 1: the
 * caller's alone.  NULL: no memory.
 */
struct lpl_broadcast *lpl_broadcast_new(size_t consumers, lpl_consume *consume, void *context,
					size_t bytes, unsigned int jobs);
/* Ends the threads, wherever they are.  NULL is fine. */
void lpl_broadcast_free(struct lpl_broadcast *broadcast);

/* Where the next batch goes; waits for it.  Never NULL. */
void *lpl_broadcast_batch(struct lpl_broadcast *broadcast);
/* Send it: `count` items.  Fails with what a consumer has failed with before. */
enum lpl_error lpl_broadcast_send(struct lpl_broadcast *broadcast, size_t count,
				  struct lpl_report *report);
/* The same for the last one, which may be empty: returns when all consumers have had it. */
enum lpl_error lpl_broadcast_send_last(struct lpl_broadcast *broadcast, size_t count,
				       struct lpl_report *report);

#endif
