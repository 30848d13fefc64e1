/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A work queue: pieces of a stream (chunks, buffers) that several threads work on at once,
 * while their order is kept.
 *
 * There are a few slots, numbered from 0 and used in turn; what is in them is the owner's.
 * The owner fills the next one and puts it into the queue; threads work on what was put there,
 * in any order; and the owner takes out the oldest when the work on it is done.  So memory is
 * that of the slots, and no result depends on the threads.  All functions are the owner's: one
 * thread calls them.
 *
 * The owner's thread is one of the jobs: while it would have to wait it works, too.  Other
 * threads begin with the second piece: a stream of one needs none.
 */
#ifndef LAPLACE_BASE_WORK_QUEUE_H
#define LAPLACE_BASE_WORK_QUEUE_H

#include <stdbool.h>

/* More would wait for the one that has the stream. */
#define LPL_QUEUE_MOST_JOBS 8
#define LPL_QUEUE_MOST_SLOTS (LPL_QUEUE_MOST_JOBS + 1)

struct lpl_work_queue;

/*
 * `jobs` threads at most, the owner's included; 0: one for each processor.  `work` is
 * called once for each slot that is put into the queue, on any thread.  NULL: no memory.
 */
struct lpl_work_queue *lpl_work_queue_new(unsigned int jobs,
					  void (*work)(void *context, unsigned int slot),
					  void *context);
/* Ends the threads; what is in the queue and not begun is not worked on.  NULL is fine. */
void lpl_work_queue_free(struct lpl_work_queue *queue);

/* How many jobs and slots that makes, to be asked before there is a queue. */
unsigned int lpl_work_queue_jobs(unsigned int jobs);
unsigned int lpl_work_queue_slots(unsigned int jobs);

/* Are all slots in the queue, or none? */
bool lpl_work_queue_full(const struct lpl_work_queue *queue);
bool lpl_work_queue_empty(const struct lpl_work_queue *queue);
/* The slot to be filled next, unless it is full; and: it is filled. */
unsigned int lpl_work_queue_next(const struct lpl_work_queue *queue);
void lpl_work_queue_put(struct lpl_work_queue *queue);
/* The oldest slot in the queue, when the work on it is done; and: take it out. */
unsigned int lpl_work_queue_oldest(struct lpl_work_queue *queue);
void lpl_work_queue_take(struct lpl_work_queue *queue);

#endif
